// Names, patterns and records beside the usual ones: prefixes that make two names one, all conversions
// of file patterns, weights of labels, Caffe's records, and readers of several databases.
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2rt/caffe2_legacy.pb.h"
#include "operators/io/checkpoint.h"
#include "operators/io/image_record.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::io_neighbours_test {
namespace {

struct IterationText {
  const char* pattern;
  int64_t value;
  const char* want;
};

// As printf writes them.
TEST(FilePatternNeighboursTest, FlagsWidthsAndPrecisionsAreThoseOfPrintf) {
  const IterationText rows[] = {{"%+d", 7, "+7"},        {"%+d", -7, "-7"},
                                {"% d", 7, " 7"},        {"%+5d|", 7, "   +7|"},
                                {"%-+5d|", 7, "+7   |"}, {"%++d", 7, "+7"},
                                {"%005d", 42, "00042"},  {"%.4d", 42, "0042"},
                                {"%6.4d", 42, "  0042"}, {"%-6.4d|", 42, "0042  |"},
                                {"%#x", 255, "0xff"},    {"%#o", 8, "010"},
                                {"%X", 255, "FF"},       {"%o", 8, "10"},
                                {"%i", -3, "-3"},        {"%u", 3, "3"},
                                {"%hd", 3, "3"},         {"%jd", 3, "3"},
                                {"%zd", 3, "3"},         {"%td", 3, "3"},
                                {"%qd", 3, "3"},         {"%%%d%%", 3, "%3%"},
                                {"%%d", 3, "%d"},        {"%3d%%", 1, "  1%"},
                                {"a%db", 0, "a0b"},      {"", 5, ""},
                                {"%.0d|", 1, "1|"}};
  for (const IterationText& row : rows)
    EXPECT_EQ(FormatIteration(row.pattern, row.value), row.want) << row.pattern;
  EXPECT_EQ(FormatIteration("%999d", 1).size(), 999u);
  EXPECT_EQ(FormatIteration("%.999d", 1).size(), 999u);
}

TEST(FilePatternNeighboursTest, PatternsThatAreNotForOneIntegerAreNamed) {
  const auto not_integer = [](const std::string& pattern) {
    return "the file pattern \"" + pattern +
           "\" has a conversion that is not for an integer, want one like %d or %06d";
  };
  for (const char* pattern : {"%", "a%", "%l", "%5", "%.", "%5.", "%e", "%p", "%C", "%-", "%d%s"}) {
    const std::string got = MessageOf([&] { (void)FormatIteration(pattern, 1); });
    EXPECT_EQ(got, pattern == std::string("%d%s")
                       ? "the file pattern \"%d%s\" has more than one conversion, want one, for "
                         "the iteration"
                       : not_integer(pattern));
  }
  for (const char* pattern : {"%1000d", "%.1000d", "%5.1000d"}) {
    EXPECT_EQ(MessageOf([&] { (void)FormatIteration(pattern, 1); }),
              MakeString("digits of a width in the file pattern \"", pattern,
                         "\": got 4, want at most 3"));
  }
}

class IoNeighboursTest : public testing::Test {
 protected:
  IoNeighboursTest() {
    Feed<float>(&ws_, "p/a", {1}, {1});
    Feed<float>(&ws_, "a", {1}, {2});
    Feed<float>(&ws_, "q/p/a", {1}, {3});
    Feed<int64_t>(&ws_, "it", {1}, {4});
  }
  std::string Save(const std::string& inputs, const std::string& more) {
    return MessageOf([&] {
      ASSERT_TRUE(ws_.RunOperatorOnce(
          ParseOp("type: 'Save' arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'm' } " +
                  inputs + more)));
    });
  }
  std::vector<std::string> KeysOf(const std::string& file) const {
    std::vector<std::string> keys;
    const auto database = db::CreateDB("minidb", dir_.path(file), db::READ);
    for (const auto cursor = database->NewCursor(); cursor->Valid(); cursor->Next())
      keys.push_back(cursor->key());
    return keys;
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

constexpr char kNoError[] = "(nothing was thrown)";

// Without the prefix, two inputs may have one name.
TEST_F(IoNeighboursTest, NamesThatAreOneWithoutThePrefixAreNotSaved) {
  const std::string prefix = "arg { name: 'strip_prefix' s: 'p/' }";
  for (const auto& [inputs, second] : std::vector<std::pair<std::string, std::string>>{
           {"input: 'p/a' input: 'a' ", "a"},
           {"input: 'a' input: 'p/a' ", "p/a"},
           {"input: 'p/a' input: 'q/p/a' ", "q/p/a"},  // what follows the prefix remains
           {"input: 'it' input: 'a' input: 'a' ", "a"}}) {
    const std::string got = Save(inputs, prefix);
    EXPECT_TRUE(got.ends_with("Duplicated input: " + second)) << got;
    EXPECT_FALSE(std::filesystem::exists(dir_.path("m")));
  }
  EXPECT_EQ(Save("input: 'q/p/a' input: 'it' ", prefix), kNoError);
  EXPECT_EQ(KeysOf("m"), (std::vector<std::string>{"a#%0", "it#%0"}));
  // Overrides are written as they are.
  EXPECT_EQ(Save("input: 'p/a' input: 'a' ",
                 "arg { name: 'blob_name_overrides' strings: 'q' strings: 'p/q' }"),
            kNoError);
  EXPECT_EQ(KeysOf("m"), (std::vector<std::string>{"q#%0", "p/q#%0"}));
}

// Names, chunks and the place of the file are those of Save.
TEST_F(IoNeighboursTest, CheckpointsHaveTheArgumentsOfSave) {
  for (const char* type : {"Checkpoint", "Snapshot"}) {
    Feed<float>(&ws_, "p/a", {3}, {1, 2, 3});
    ASSERT_TRUE(ws_.RunOperatorOnce(
        ParseOp(MakeString("type: '", type, "' input: 'it' input: 'p/a' ",
                           "arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'c%d' } ",
                           "arg { name: 'every' i: 4 } arg { name: 'chunk_size' i: 2 } ",
                           "arg { name: 'strip_prefix' s: 'p/' }"))));
    EXPECT_EQ(KeysOf("c4"), (std::vector<std::string>{"it#%0", "a#%0", "a#%1"}));
    std::filesystem::remove(dir_.path("c4"));
    ASSERT_TRUE(ws_.RunOperatorOnce(
        ParseOp(MakeString("type: '", type, "' input: 'it' input: 'p/a' ",
                           "arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'c%d' } ",
                           "arg { name: 'blob_name_overrides' strings: 'i' strings: 'x' }"))));
    EXPECT_EQ(KeysOf("c4"), (std::vector<std::string>{"i#%0", "x#%0"}));
    std::filesystem::remove(dir_.path("c4"));
    ASSERT_TRUE(ws_.RunOperatorOnce(
        ParseOp(MakeString("type: '", type, "' input: 'it' input: 'p/a' ",
                           "arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'c%d' } ",
                           "arg { name: 'every' i: 3 }"))));
    EXPECT_FALSE(std::filesystem::exists(dir_.path("c4")));
  }
}

// Of the blobs that are asked for, those that are whole count; one that is missing is named.
TEST_F(IoNeighboursTest, OneMissingBlobOfSeveralIsAnError) {
  ASSERT_EQ(Save("input: 'p/a' input: 'a' ", ""), kNoError);
  const auto load = [&](const std::string& outputs, const std::string& more = "") {
    return MessageOf([&] {
      ASSERT_TRUE(ws_.RunOperatorOnce(
          ParseOp("type: 'Load' arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'm' } " +
                  outputs + more)));
    });
  };
  const std::string got = load("output: 'a' output: 'none' output: 'p/a' ");
  EXPECT_TRUE(got.ends_with("Expected to load 3 blobs, got 2 only; missing: none")) << got;
  EXPECT_EQ(
      load("output: 'a' output: 'none' output: 'p/a' ", "arg { name: 'allow_incomplete' i: 1 }"),
      kNoError);
  EXPECT_EQ(load("output: 'p/a' "), kNoError);
  // Two records that are one name without the prefix belong to one blob, which has too many parts.
  const std::string both = load("output: 'a' ", "arg { name: 'strip_prefix' s: 'p/' }");
  EXPECT_EQ(both, kNoError);  // the first one is whole
  const std::string all =
      load("", "arg { name: 'load_all' i: 1 } arg { name: 'strip_prefix' s: 'p/' }");
  EXPECT_TRUE(all.ends_with("Found an extra part for an already filled tensor: a")) << all;
}

TensorProto LabelPart(const std::vector<int>& ints, const std::vector<float>& floats) {
  TensorProto proto;
  proto.set_data_type(floats.empty() ? TensorProto::INT32 : TensorProto::FLOAT);
  for (const int value : ints) proto.add_int32_data(value);
  for (const float value : floats) proto.add_float_data(value);
  return proto;
}

// A weight for each index, not fewer and not more.
TEST(LabelNeighboursTest, WeightsAreAsManyAsIndices) {
  const ImageRecordForm form = {.labels = ImageLabels::kWeightedSparse, .num_labels = 3};
  for (const size_t weights : {1u, 2u, 3u}) {
    TensorProtos protos;
    TensorProto* const pixel = protos.add_protos();
    pixel->set_data_type(TensorProto::BYTE);
    for (int i = 0; i < 2; ++i) pixel->add_dims(1);
    pixel->set_byte_data("a");
    *protos.add_protos() = LabelPart({0, 2}, {});
    *protos.add_protos() = LabelPart({}, std::vector<float>(weights, 0.5f));
    Tensor label(CPU);
    const std::string got = MessageOf([&] {
      SetRecordOutputs(ParseImageRecord("k", protos.SerializeAsString(), form), form, 0, 1,
                       {&label});
    });
    if (weights == 2) {
      EXPECT_EQ(got, kNoError);
      EXPECT_EQ(label.data<float>()[2], 0.5f);
    } else {
      EXPECT_EQ(got, MakeString("label of record \"k\": weights, want one for each index (got ",
                                weights, ", want 2)"));
    }
  }
}

// A database that Caffe's tools wrote is named as such, with what to do.
TEST(CaffeRecordNeighboursTest, ADatumIsNamedWhereTensorsAreWanted) {
  const TempDir dir;
  CaffeDatum datum;
  datum.set_channels(1);
  datum.set_height(1);
  datum.set_width(2);
  datum.set_data("ab");
  datum.set_label(3);
  {
    const auto database = db::CreateDB("minidb", dir.path("m"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("k7", datum.SerializeAsString());
    transaction->Commit();
  }
  for (const int batch : {0, 1}) {
    Workspace ws;
    ws.CreateBlob("r")->GetMutable<db::DBReader>()->Open("minidb", dir.path("m"));
    for (const char* name : {"x", "y"}) ws.CreateBlob(name);
    const auto op = CreateOperator(
        ParseOp(MakeString("type: 'TensorProtosDBInput' input: 'r' output: 'x' output: 'y' arg { "
                           "name: 'batch_size' i: ",
                           batch, " }")),
        &ws);
    EXPECT_EQ(MessageOf([&] { op->Run(); }),
              "record k7 is a Datum of Caffe, want TensorProtos; caffe2 convert DB --to lmdb "
              "--output NEW converts them");
  }
}

}  // namespace
}  // namespace caffe2rt::test::io_neighbours_test
