#include "operators/io/image_input.h"

#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test::image_input_test {
namespace {

using ::testing::ElementsAre;

// A record of one pixel, blue, green and red, and its label.
std::string Record(const std::string& pixel, int label) {
  TensorProtos record;
  TensorProto* const data = record.add_protos();
  data->set_data_type(TensorProto::BYTE);
  for (const int64_t dim : {1, 1, 3}) data->add_dims(dim);
  data->set_byte_data(pixel);
  TensorProto* const proto = record.add_protos();
  proto->set_data_type(TensorProto::INT32);
  proto->add_dims(1);
  proto->add_int32_data(label);
  return record.SerializeAsString();
}

class ImageInputTest : public ::testing::Test {
 protected:
  void Write(const std::vector<std::string>& records) {
    const auto database = db::CreateDB("minidb", dir_.path("m"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (size_t i = 0; i < records.size(); ++i) transaction->Put(MakeString("key ", i), records[i]);
    transaction->Commit();
  }
  OperatorDef Def(const std::string& more) const {
    return ParseOp(
        "type: 'ImageInput' output: 'data' output: 'label' arg { name: 'db_type' s: 'minidb' }" +
        (more.find("'db'") == std::string::npos && more.find("input:") == std::string::npos
             ? " arg { name: 'db' s: '" + dir_.path("m") + "' }"
             : std::string()) +
        " arg { name: 'crop' i: 1 } " + more);
  }
  std::unique_ptr<OperatorBase> Create(const std::string& more) {
    return CreateOperator(Def(more), &ws_);
  }
  std::vector<float> Data() const {
    const Tensor& data = ws_.GetBlob("data")->Get<Tensor>();
    return {data.data<float>(), data.data<float>() + data.numel()};
  }
  std::vector<int> Labels() const {
    const Tensor& label = ws_.GetBlob("label")->Get<Tensor>();
    return {label.data<int32_t>(), label.data<int32_t>() + label.numel()};
  }
  const TempDir dir_;
  Workspace ws_;
};

constexpr char kTwoOfOne[] =
    "arg { name: 'batch_size' i: 2 } arg { name: 'scale' i: 1 } arg { name: 'is_test' i: 1 }";

TEST_F(ImageInputTest, ReadsBatchesAndBeginsAgain) {
  Write({Record("\1\2\3", 7), Record("\4\5\6", 8), Record("\7\x8\x9", 9)});
  const auto op = Create(std::string(kTwoOfOne) +
                         " arg { name: 'mean_per_channel' floats: 1 floats: 0 floats: 0 }"
                         " arg { name: 'std' f: 2 }");
  ASSERT_TRUE(op->Run());
  EXPECT_THAT(ws_.GetBlob("data")->Get<Tensor>().dims(), ElementsAre(2, 3, 1, 1));
  EXPECT_THAT(Data(), ElementsAre(0, 1, 1.5f, 1.5f, 2.5f, 3));
  EXPECT_THAT(Labels(), ElementsAre(7, 8));
  ASSERT_TRUE(op->Run());
  EXPECT_THAT(Labels(), ElementsAre(9, 7));
}

TEST_F(ImageInputTest, ReadsFromAReader) {
  Write({Record("\1\2\3", 7), Record("\4\5\6", 8), Record("\7\x8\x9", 9)});
  ws_.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"));
  const auto op = Create(std::string("input: 'reader' ") + kTwoOfOne);
  ASSERT_TRUE(op->Run());
  std::string key, value;
  ws_.GetBlob("reader")->Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(key, "key 2");
}

TEST_F(ImageInputTest, GivesTheSameOnSeveralThreads) {
  std::vector<std::string> records;
  for (int i = 0; i < 40; ++i) records.push_back(Record(std::string(3, static_cast<char>(i)), i));
  Write(records);
  std::vector<float> results[2];
  for (const int threads : {1, 3}) {
    SetNumThreads(threads);
    const auto op = Create(
        "arg { name: 'batch_size' i: 40 } arg { name: 'scale' i: 1 } arg { name: 'color_jitter' i: "
        "1 }"
        "arg { name: 'color_lighting' i: 1 } device_option { random_seed: 5 }");
    ASSERT_TRUE(op->Run());
    results[threads / 2] = Data();
  }
  SetNumThreads(1);
  EXPECT_EQ(results[0], results[1]);
}

// How often each thread of the process has gone to sleep, by its number. One that ends meanwhile has
// no file any more.
std::map<std::string, long> SleepsOfThreads() {
  std::map<std::string, long> sleeps;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    const std::string field = "voluntary_ctxt_switches:";
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(field))
        sleeps[thread.path().filename().string()] = std::stol(line.substr(field.size()));
    }
  }
  return sleeps;
}

TEST_F(ImageInputTest, DecodesOnItsThreadsAlsoWhileItReadsAhead) {
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "there is one CPU";
  Write({Record("\1\2\3", 7), Record("\4\5\6", 8)});
  const auto others = SleepsOfThreads();  // this one, and that of a sanitizer
  const auto op = Create(
      "arg { name: 'batch_size' i: 64 } arg { name: 'scale' i: 1 } arg { name: 'decode_threads' i: "
      "2 "
      "}");
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(op->Run());
  const auto before = SleepsOfThreads();
  int used = 0;
  // A thread that has work counts only when it has slept again: that is up to the system.
  WaitFor([&] {
    EXPECT_TRUE(op->Run());
    used = 0;
    for (const auto& [thread, sleeps] : SleepsOfThreads()) {
      if (others.count(thread) == 1 || before.count(thread) == 0) continue;
      if (sleeps > before.at(thread)) ++used;
    }
    return used >= 2;
  });
  EXPECT_EQ(used, 2) << "want the thread that reads ahead and another one that decodes";
}

// With the same seed, an image depends on its record's place in the reader's order alone.
TEST_F(ImageInputTest, GoesOnWithTheSameRandomNumbersAfterARestart) {
  std::vector<std::string> records;
  for (int i = 0; i < 7; ++i) records.push_back(Record(std::string(3, static_cast<char>(i)), i));
  Write(records);
  const std::string def =
      "input: 'reader' arg { name: 'batch_size' i: 3 } arg { name: 'scale' i: 1 } "
      "arg { name: 'color_jitter' i: 1 } arg { name: 'color_lighting' i: 1 }";
  ws_.SetRandomSeed(5);
  ws_.CreateBlob("reader")->GetMutable<db::DBReader>()->Open("minidb", dir_.path("m"),
                                                             {.shuffle = true, .shuffle_seed = 1});
  std::string saved;
  std::vector<std::vector<float>> want, got;
  const auto op = Create(def);
  for (int run = 0; run < 8; ++run) {
    if (run == 4) saved = SerializeBlob(*ws_.GetBlob("reader"), "reader");
    ASSERT_TRUE(op->Run());
    if (run >= 4) want.push_back(Data());
  }
  DeserializeBlob(saved, ws_.GetBlob("reader"));
  for (const char* const threads : {"1", "2", "3", "1"}) {
    const auto fresh = Create(def + " arg { name: 'decode_threads' i: " + threads + " }");
    ASSERT_TRUE(fresh->Run());
    got.push_back(Data());
  }
  EXPECT_EQ(got, want);
  EXPECT_NE(want[0], want[1]);
  ws_.SetRandomSeed(6);
  DeserializeBlob(saved, ws_.GetBlob("reader"));
  ASSERT_TRUE(Create(def)->Run());
  EXPECT_NE(Data(), want[0]);
}

TEST_F(ImageInputTest, ADamagedRecordFailsInItsBatchAlsoWhenReadAhead) {
  std::vector<std::string> records(9, Record("\1\2\3", 7));
  records[5] = Record("\1\2", 8);
  Write(records);
  const auto op = Create(kTwoOfOne);
  ASSERT_TRUE(op->Run());
  ASSERT_TRUE(op->Run());
  ExpectThrows([&] { op->Run(); }, "record \"key 5\"");
  EXPECT_TRUE(op->Run());
}

TEST_F(ImageInputTest, ReportsRecordsWithoutImagesAndEmptyDatabases) {
  TensorProtos floats;
  for (int i = 0; i < 2; ++i) {
    floats.add_protos()->set_data_type(TensorProto::FLOAT);
    floats.mutable_protos(i)->add_float_data(1);
  }
  Write({floats.SerializeAsString()});
  ExpectThrows([&] { Create(kTwoOfOne)->Run(); },
               "record \"key 0\": image is of type FLOAT, want STRING (an encoded image) or BYTE");
  Write({});
  ExpectThrows([&] { Create(kTwoOfOne)->Run(); }, "has no records");
}

TEST_F(ImageInputTest, NamesADamagedRecordOrLeavesItOut) {
  Write({Record("\1\2\3", 7), Record("\1\2", 8), Record("\4\5\6", 9)});
  const auto stops = Create(kTwoOfOne);
  ExpectThrows([&] { stops->Run(); }, "record \"key 1\"");
  ExpectThrows([&] { Create(std::string(kTwoOfOne) + "arg { name: 'on_error' s: 'ignore' }"); },
               "want stop or skip");
  const auto skips = Create(std::string(kTwoOfOne) + " arg { name: 'on_error' s: 'skip' }");
  ASSERT_TRUE(skips->Run());
  EXPECT_THAT(Labels(), ElementsAre(7, 9));
  EXPECT_EQ(dynamic_cast<ImageInputOp&>(*skips).skipped(), 1);
}

TEST_F(ImageInputTest, StopsIfAllRecordsAreDamaged) {
  Write({"no record"});
  const auto op = Create(std::string(kTwoOfOne) + " arg { name: 'on_error' s: 'skip' }");
  ExpectThrows([&] { op->Run(); }, "record \"key 0\"");
}

TEST_F(ImageInputTest, ObeysTheFilePolicy) {
  Write({Record("\1\2\3", 7)});
  ws_.SetFileAccess(FileAccess::Off());
  const auto op = Create(kTwoOfOne);
  ExpectThrows([&] { op->Run(); }, dir_.path("m"));
}

TEST_F(ImageInputTest, InfersTheShapeOfTheData) {
  const OperatorDef def = Def("arg { name: 'batch_size' i: 5 } arg { name: 'color' i: 0 }");
  const std::vector<TensorShape> shapes =
      OpSchemaRegistry::Schema("ImageInput")->InferTensor(def, {});
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_THAT(shapes[0].dims(), ElementsAre(5, 1, 1, 1));
  EXPECT_EQ(shapes[0].data_type(), TensorProto::FLOAT);
  EXPECT_TRUE(shapes[1].unknown_shape());
}

// What ReadImageAugmentation and ReadImageRecordForm read from the arguments, as text.
std::string FieldsOf(const OperatorBase& op) {
  const ImageAugmentation how = ReadImageAugmentation(op);
  const ImageRecordForm form = ReadImageRecordForm(op);
  std::string text = MakeString(
      "color ", how.color, " scale ", how.scale, " minsize ", how.min_size, " random [",
      absl::StrJoin(how.random_scale, ","), "] warp ", how.warp, " jitter ",
      how.inception_scale_jitter, " crop ", how.crop, " mirror ", how.mirror, " test ", how.is_test,
      " colours ", how.color_jitter, " ", how.saturation, " ", how.brightness, " ", how.contrast,
      " lighting ", how.color_lighting, " ", how.color_lighting_std);
  text += MakeString(" mean [", absl::StrJoin(how.mean, ","), "] std [",
                     absl::StrJoin(how.std, ","), "]");
  if (how.box.has_value())
    text +=
        MakeString(" box ", how.box->y, " ", how.box->x, " ", how.box->height, " ", how.box->width);
  return text + MakeString(" datum ", form.is_datum, " color ", form.color, " labels ",
                           static_cast<int>(form.labels), " ", form.num_labels, " more [",
                           absl::StrJoin(form.additional_sizes, ","), "]");
}

TEST_F(ImageInputTest, ReadsEachArgumentIntoItsField) {
  Write({Record("\1\2\3", 7)});
  const std::string common = "arg { name: 'batch_size' i: 1 } ";
  EXPECT_EQ(FieldsOf(*Create(common + "arg { name: 'scale' i: 5 }")),
            "color 1 scale 5 minsize -1 random [] warp 0 jitter 0 crop 1 mirror 0 test 0 colours 0 "
            "0.4 0.4 0.4 lighting "
            "0 0.1 mean [0,0,0] std [1,1,1] datum 0 color 1 labels 0 0 more []");
  EXPECT_EQ(FieldsOf(*Create(
                common +
                "arg { name: 'minsize' i: 6 } arg { name: 'warp' i: 1 } arg { name: 'mirror' i: 1 }"
                "arg { name: 'scale_jitter_type' i: 1 } arg { name: 'is_test' i: 1 }"
                "arg { name: 'color' i: 0 } arg { name: 'color_jitter' i: 1 }"
                "arg { name: 'img_saturation' f: 0.5 } arg { name: 'img_brightness' f: 0.25 }"
                "arg { name: 'img_contrast' f: 0.75 } arg { name: 'mean' f: 3 } arg { name: 'std' "
                "f: 2 }")),
            "color 0 scale -1 minsize 6 random [] warp 1 jitter 1 crop 1 mirror 1 test 1 colours 1 "
            "0.5 0.25 0.75 "
            "lighting 0 0.1 mean [3] std [2] datum 0 color 0 labels 0 0 more []");
  EXPECT_EQ(
      FieldsOf(
          *Create(common +
                  "arg { name: 'random_scale' ints: 2 ints: 9 } arg { name: 'color_lighting' i: 1 }"
                  "arg { name: 'color_lighting_std' f: 0.5 } arg { name: 'use_caffe_datum' i: 1 }"
                  "arg { name: 'mean_per_channel' floats: 1 floats: 2 floats: 3 }"
                  "arg { name: 'std_per_channel' floats: 4 floats: 5 floats: 6 }"
                  "arg { name: 'bounding_ymin' i: 1 } arg { name: 'bounding_xmin' i: 2 }"
                  "arg { name: 'bounding_height' i: 3 } arg { name: 'bounding_width' i: 4 }")),
      "color 1 scale -1 minsize -1 random [2,9] warp 0 jitter 0 crop 1 mirror 0 test 0 colours 0 "
      "0.4 0.4 0.4 "
      "lighting 1 0.5 mean [1,2,3] std [4,5,6] box 1 2 3 4 datum 1 color 1 labels 0 0 more []");
  // What the original writes if no scale is drawn; one number for all channels; the form of labels.
  EXPECT_EQ(FieldsOf(*Create(
                common + "arg { name: 'random_scale' ints: -1 ints: -1 } arg { name: 'scale' i: 5 }"
                         "arg { name: 'mean_per_channel' floats: 7 } output: 'a' output: 'b'"
                         "arg { name: 'label_type' i: 3 } arg { name: 'num_labels' i: 11 }"
                         "arg { name: 'output_sizes' ints: 2 ints: 3 }")),
            "color 1 scale 5 minsize -1 random [] warp 0 jitter 0 crop 1 mirror 0 test 0 colours 0 "
            "0.4 0.4 0.4 lighting "
            "0 0.1 mean [7,7,7] std [1,1,1] datum 0 color 1 labels 3 11 more [2,3]");
  EXPECT_THAT(FieldsOf(*Create(common + "arg { name: 'scale' i: 5 } output: 'a' output: 'b'")),
              ::testing::EndsWith("labels 0 0 more [1,1]"));
}

TEST_F(ImageInputTest, RejectsArgumentsThatContradictEachOther) {
  const std::pair<const char*, const char*> cases[] = {
      {"arg { name: 'scale' i: 1 }", "batch_size"},
      {"arg { name: 'batch_size' i: 0 } arg { name: 'scale' i: 1 }", "above 0"},
      {"arg { name: 'batch_size' i: 1 }", "want one of them above 0"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'minsize' i: 1 }",
       "want one of them"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'random_scale' ints: 3 ints: 2 }",
       "least and the greatest"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'label_type' i: 1 }",
       "num_labels is 0"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'label_type' i: 5 }",
       "0 to 4"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'std' f: 0 }",
       "deviation is 0"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'mean_per_channel' "
       "floats: 1 floats: 2 }",
       "want one for each channel"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'bounding_ymin' i: "
       "1 }",
       "want all four"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'output_type' s: "
       "'float16' }",
       "want float"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } output: 'more' arg { name: "
       "'output_sizes' ints: 1 "
       "ints: 2 }",
       "one for each output after the label"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'random_scale' ints: 0 ints: 2 }",
       "the least of argument random_scale, want at least crop"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'random_scale' ints: 1 ints: 2 ints: 3 }",
       "argument random_scale has 3 values"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'crop' i: 2 }",
       "crop"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } output: 'more' arg { name: "
       "'output_sizes' ints: 0 }",
       "a value of argument output_sizes"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'std_per_channel' "
       "floats: 1 floats: 0 floats: 2 }",
       "deviation is 0"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'decode_threads' i: "
       "0 }",
       "1 to 1024"},
      {"arg { name: 'batch_size' i: 1 } arg { name: 'scale' i: 1 } arg { name: 'scale_jitter_type' "
       "i: 2 }",
       "0 or 1"},
      {"input: 'reader' arg { name: 'db' s: 'x' } arg { name: 'batch_size' i: 1 } arg { name: "
       "'scale' i: 1 }",
       "and not both"},
  };
  ws_.CreateBlob("reader");
  for (const auto& [more, message] : cases) {
    SCOPED_TRACE(more);
    ExpectThrows([&, more = more] { Create(more); }, message);
  }
}

}  // namespace
}  // namespace caffe2rt::test::image_input_test
