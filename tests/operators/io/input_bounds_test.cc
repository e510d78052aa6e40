// Batches of one record, the most records that an input leaves out, what random numbers of images
// depend on, and prefixes that a name contains twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/io/image_augmentation.h"
#include "operators/io/image_input.h"
#include "operators/io/tensor_protos_db_input.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::input_bounds_test {
namespace {

// A record of two int32 tensors: [2] {value, value + 1}, and a scalar.
std::string PairRecord(int value) {
  TensorProtos record;
  for (int i = 0; i < 2; ++i) {
    TensorProto* const proto = record.add_protos();
    proto->set_data_type(TensorProto::INT32);
    if (i == 0) proto->add_dims(2);
    for (int k = 0; k < 2 - i; ++k) proto->add_int32_data(value + k);
  }
  return record.SerializeAsString();
}

// A record of an image of one grey pixel, and its label.
std::string PixelRecord(int grey, int label) {
  TensorProtos record;
  TensorProto* const data = record.add_protos();
  data->set_data_type(TensorProto::BYTE);
  for (const int64_t dim : {1, 1, 3}) data->add_dims(dim);
  data->set_byte_data(std::string(3, static_cast<char>(grey)));
  TensorProto* const proto = record.add_protos();
  proto->set_data_type(TensorProto::INT32);
  proto->add_int32_data(label);
  return record.SerializeAsString();
}

class InputBoundsTest : public testing::Test {
 protected:
  void Write(const std::vector<std::string>& records) {
    const auto database = db::CreateDB("minidb", dir_.path("m"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (size_t i = 0; i < records.size(); ++i) transaction->Put(std::to_string(i), records[i]);
    transaction->Commit();
  }
  void Open(const std::string& reader) {
    ws_.CreateBlob(reader)->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"));
  }
  const TempDir dir_;
  Workspace ws_;
};

TEST_F(InputBoundsTest, ABatchOfOneHasTheNewDimension) {
  Write({PairRecord(3), PairRecord(5)});
  Open("reader");
  for (const char* name : {"x", "y"}) ws_.CreateBlob(name);
  const std::string type =
      "type: 'TensorProtosDBInput' input: 'reader' output: 'x' output: 'y' "
      "arg { name: 'batch_size' i: ";
  const auto one = CreateOperator(ParseOp(type + "1 }"), &ws_);
  for (const int value : {3, 5, 3}) {  // the third batch was read ahead
    ASSERT_TRUE(one->Run());
    ExpectTensor<int32_t>(ws_, "x", {1, 2}, {value, value + 1});
    ExpectTensor<int32_t>(ws_, "y", {1}, {value});
  }
  const auto none = CreateOperator(ParseOp(type + "0 }"), &ws_);
  for (const int value : {5, 3}) {
    ASSERT_TRUE(none->Run());
    ExpectTensor<int32_t>(ws_, "x", {2}, {value, value + 1});
    ExpectTensor<int32_t>(ws_, "y", {}, {value});
  }
}

// Of 1000 damaged records in a row the next one takes the place; one more is an error.
TEST_F(InputBoundsTest, AThousandDamagedRecordsInARowAreLeftOut) {
  const struct {
    const char* op;
    std::string damaged, good;
    const char* output;
  } rows[] = {
      {"type: 'TensorProtosDBInput' input: 'reader' output: 'x' output: 'y'", "\xff", PairRecord(8),
       "y"},
      {"type: 'ImageInput' input: 'reader' output: 'x' output: 'y' arg { name: 'batch_size' i: 1 } "
       "arg { name: 'crop' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'decode_threads' i: 1 }",
       "\xff", PixelRecord(1, 8), "y"}};
  for (const auto& row : rows) {
    for (const size_t count : {1000u, 1001u}) {
      SCOPED_TRACE(MakeString(row.op, " ", count));
      std::vector<std::string> records(count, row.damaged);
      records.push_back(row.good);
      Write(records);
      Open("reader");
      const auto op = CreateOperator(ParseOp(MakeString(row.op,
                                                        " arg { name: 'on_error' s: 'skip' } "
                                                        "arg { name: 'no_prefetch' i: 1 }")),
                                     &ws_);
      testing::internal::CaptureStderr();  // a warning for each record
      const std::string message = MessageOf([&] { EXPECT_TRUE(op->Run()); });
      (void)testing::internal::GetCapturedStderr();
      if (count == 1000) {
        EXPECT_EQ(message, "(nothing was thrown)");
        EXPECT_EQ(Fetch<int32_t>(ws_, row.output)[0], 8);
      } else {
        EXPECT_THAT(message, testing::HasSubstr("record"));
        EXPECT_THAT(message, testing::HasSubstr("1000"));  // its key
      }
    }
  }
}

std::set<std::string> Threads() {
  std::set<std::string> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
    threads.insert(task.path().filename());
  return threads;
}

// One of those before may end meanwhile.
int NewThreads(const std::set<std::string>& before) {
  int count = 0;
  for (const std::string& thread : Threads()) count += before.contains(thread) ? 0 : 1;
  return count;
}

// The second run starts the thread that reads ahead, unless the argument or the database forbids it.
TEST_F(InputBoundsTest, NoThreadReadsAheadWithNoPrefetch) {
  Write({PairRecord(3), PairRecord(5)});
  Open("pairs");
  {
    const auto database = db::CreateDB("minidb", dir_.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const char* key : {"a", "b"}) transaction->Put(key, PixelRecord(1, 8));
    transaction->Commit();
  }
  ws_.CreateBlob("pixels")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("p"));
  for (const char* name : {"x", "y"}) ws_.CreateBlob(name);
  const std::string images =
      "type: 'ImageInput' output: 'x' output: 'y' arg { name: 'batch_size' i: 1 } arg { name: "
      "'crop' "
      "i: 1 } arg { name: 'scale' i: 1 } arg { name: 'decode_threads' i: 1 } ";
  for (const std::string& op :
       {std::string("type: 'TensorProtosDBInput' input: 'pairs' output: 'x' output: 'y' "),
        images + "input: 'pixels' ",
        images + "arg { name: 'db' s: '" + dir_.path("p") +
            "' } arg { name: 'db_type' s: 'minidb' } "}) {
    for (const int no_prefetch : {0, 1}) {
      SCOPED_TRACE(MakeString(op, no_prefetch));
      const std::set<std::string> before = Threads();
      {
        const auto input = CreateOperator(
            ParseOp(MakeString(op, "arg { name: 'no_prefetch' i: ", no_prefetch, " }")), &ws_);
        ASSERT_TRUE(input->Run());
        EXPECT_EQ(NewThreads(before), 0);
        for (int run = 0; run < 2; ++run) ASSERT_TRUE(input->Run());
        EXPECT_EQ(NewThreads(before), 1 - no_prefetch);
      }
      // A thread that was joined may be listed a little longer.
      EXPECT_TRUE(WaitFor([&] { return NewThreads(before) == 0; }));
    }
  }
}

TEST(AugmentationBoundsTest, NothingIsMirroredInTests) {
  ImageRecord record;
  record.image = {.width = 4, .height = 2, .rgb = {}};
  for (int i = 0; i < 8; ++i) {
    for (int c = 0; c < 3; ++c) record.image.rgb.push_back(static_cast<uint8_t>(10 * i + c));
  }
  ImageAugmentation how;
  how.scale = how.crop = 2;
  how.is_test = how.mirror = true;
  how.mean = {0, 0, 0};
  how.std = {1, 1, 1};
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 generator(seed);
    std::vector<float> output(static_cast<size_t>(how.size()));
    AugmentImage(record, how, &generator, output.data());
    // The centre is the columns 1 and 2 of both rows; red is the last plane.
    EXPECT_EQ(std::vector<float>(output.begin() + 8, output.end()),
              (std::vector<float>{10, 20, 50, 60}));
  }
}

// Of three records, an image has the numbers of its record, epoch, output and seed.
TEST_F(InputBoundsTest, RandomNumbersOfImagesDependOnSeedOutputAndEpoch) {
  Write({PixelRecord(90, 1), PixelRecord(90, 1), PixelRecord(90, 1)});
  const auto images = [&](int64_t seed, const std::string& output, const std::string& device,
                          int runs) {
    Workspace ws;
    ws.SetRandomSeed(static_cast<uint64_t>(seed));
    ws.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"));
    ws.CreateBlob(output);
    const auto op = CreateOperator(
        ParseOp("type: 'ImageInput' input: 'reader' output: '" + output +
                "' output: 'label' arg { name: 'batch_size' i: 3 } arg { name: 'crop' i: 1 } "
                "arg { name: 'scale' i: 1 } arg { name: 'color_jitter' i: 1 } "
                "arg { name: 'color_lighting' i: 1 } " +
                device),
        &ws);
    std::vector<float> all;
    for (int run = 0; run < runs; ++run) {
      EXPECT_TRUE(op->Run());
      const std::vector<float> batch = Fetch<float>(ws, output);
      all.insert(all.end(), batch.begin(), batch.end());
    }
    return all;
  };
  const std::vector<float> once = images(1, "data", "", 1);
  EXPECT_EQ(images(1, "data", "", 1), once);
  EXPECT_NE(images(2, "data", "", 1), once);
  EXPECT_NE(images(1, "other", "", 1), once);
  // A seed of the device counts, and that of the workspace does not.
  const std::string five = "device_option { random_seed: 5 }";
  const std::vector<float> of_device = images(1, "data", five, 1);
  EXPECT_EQ(images(2, "data", five, 1), of_device);
  EXPECT_NE(images(1, "data", "device_option { random_seed: 6 }", 1), of_device);
  EXPECT_NE(of_device, once);
  // Each of the nine images of three epochs differs from the others.
  const std::vector<float> epochs = images(1, "data", "", 3);
  std::set<std::vector<float>> different;
  for (size_t i = 0; i + 3 <= epochs.size(); i += 3)
    different.insert({epochs[i], epochs[i + 1], epochs[i + 2]});
  EXPECT_EQ(different.size(), 9u);
}

// The first place of a prefix counts, in databases that are written and in those that are read.
TEST(PrefixBoundsTest, APrefixIsRemovedWhereItComesFirst) {
  const TempDir dir;
  Workspace ws(dir.path());
  Feed<float>(&ws, "root/p/mid/p/x", {1}, {4});
  const std::string database = " arg { name: 'db' s: 'm' } arg { name: 'db_type' s: 'minidb' } ";
  const std::string strip = "arg { name: 'strip_prefix' s: 'p/' }";
  ASSERT_TRUE(
      ws.RunOperatorOnce(ParseOp("type: 'Save' input: 'root/p/mid/p/x'" + database + strip)));
  {
    const auto saved = db::CreateDB("minidb", dir.path("m"), db::READ);
    EXPECT_EQ(saved->NewCursor()->key(), "mid/p/x#%0");
  }
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp("type: 'Save' input: 'root/p/mid/p/x'" + database)));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp("type: 'Load' output: 'mid/p/x'" + database + strip)));
  ExpectTensor<float>(ws, "mid/p/x", {1}, {4});
}

}  // namespace
}  // namespace caffe2rt::test::input_bounds_test
