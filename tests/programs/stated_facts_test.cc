// What commands know from options and files beside the first: several init nets, several nets of a plan, records of
// several tensors, columns of a table.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::stated_facts_test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class StatedFactsTest : public ProgramFolder {};

// Without the shapes of both weights, that of y would be unknown.
TEST_F(StatedFactsTest, EachInitNetStatesTheShapesThatItLoads) {
  const auto database = [](const char* blob) {
    return MakeString("arg { name: 'db' s: '", blob, ".minidb' } arg { name: 'db_type' s: 'minidb' } ");
  };
  const auto filled = [&](const char* blob, const char* dims) {
    return MakeString("op { type: 'ConstantFill' output: '", blob, "' arg { name: 'shape' ", dims,
                      " } } op { type: 'Save' input: '", blob, "' ", database(blob),
                      "arg { name: 'absolute_path' i: 0 } } ");
  };
  dir_.Write("save.pbtxt", "name: 's' " + filled("v", "ints: 3") + filled("w", "ints: 2 ints: 3"));
  Out({"run", "--predict-net", "DIR/save.pbtxt", "--root", "DIR/"});
  for (const char* blob : {"v", "w"}) {
    dir_.Write(MakeString("init_", blob, ".pbtxt"),
               MakeString("name: 'i' op { type: 'Load' output: '", blob, "' ", database(blob), "}"));
  }
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "v" external_input: "w"
      op { type: "Add" input: "w" input: "v" output: "y" })");
  const std::string json = Out({"inspect", "DIR/net.pbtxt", "--init-net", "DIR/init_v.pbtxt",
                                "--init-net", "DIR/init_w.pbtxt", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/0/output_shapes"), R"([{"type":"FLOAT","dims":[2,3]}])");
  EXPECT_EQ(JsonAt(json, "/nets/0/parameters"), "9");
}

// The second net reads the input on IDEEP, but the first that reads it, on the CPU, decides.
TEST_F(StatedFactsTest, AnInputOfAPlanIsWhereItsFirstReaderWantsIt) {
  dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "a" op { type: "Relu" input: "x" output: "y" } }
      network { name: "b" device_option { device_type: 5 }
                op { type: "Relu" input: "x" output: "z" } }
      execution_step { network: "a" })");
  EXPECT_THAT(Out({"plan", "DIR/plan.pbtxt", "--input", "x=[1,-2]", "--fetch", "y"}),
              HasSubstr("y  float [2]\n  1 0\n"));
}

TEST_F(StatedFactsTest, APlanMayHaveSeveralInputs) {
  dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "a" op { type: "Sub" input: "x" input: "w" output: "y" } }
      execution_step { network: "a" })");
  EXPECT_THAT(
      Out({"plan", "DIR/plan.pbtxt", "--input", "x=[5,7]", "--input", "w=[1,4]", "--fetch", "y"}),
      HasSubstr("y  float [2]\n  4 3\n"));
}

TEST_F(StatedFactsTest, RecordsNameTheirTensorsBesideTheKey) {
  TensorProtos protos;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "protos { dims: 2 data_type: FLOAT float_data: 1 float_data: 2 } "
      "protos { dims: 1 data_type: INT32 int32_data: 3 name: 'label' }",
      &protos));
  {
    const std::unique_ptr<db::DB> records = db::OpenDB("minidb", dir_.path("r.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = records->NewTransaction();
    transaction->Put("k", protos.SerializeAsString());
    transaction->Commit();
  }
  const std::string text = Out({"inspect", "DIR/r.minidb"});
  EXPECT_THAT(text, ContainsRegex("k:  +float \\[2\\]"));
  EXPECT_THAT(text, ContainsRegex("k: label +int32 \\[1\\]"));
}

TEST_F(StatedFactsTest, InputsOfOnnxModelsHaveTheirTypes) {
  onnx::ModelProto model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 17 } graph { name: 'g' input { name: 'x' type { "
      "tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } } output { name: 'y' type { "
      "tensor_type { elem_type: 7 shape { dim { dim_value: 2 } } } } } "
      "node { op_type: 'Neg' input: 'x' output: 'y' } }",
      &model));
  WriteFileAtomically(dir_.path("m.onnx"), model.SerializeAsString());
  const std::string json = Out({"inspect", "DIR/m.onnx", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/0/output_shapes"), R"([{"type":"INT64","dims":[2]}])");
}

// The memory is that of the net that would run, with the sizes that the command line gives: h and y are two blobs.
TEST_F(StatedFactsTest, MemoryOfOnnxModelsCountsTheGivenSizes) {
  onnx::ModelProto model;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      "ir_version: 8 opset_import { version: 17 } graph { name: 'g' input { name: 'x' type { "
      "tensor_type { elem_type: 1 shape { dim { dim_param: 'n' } dim { dim_value: 16 } } } } } "
      "output { name: 'y' type { tensor_type { elem_type: 1 } } } "
      "node { op_type: 'Neg' input: 'x' output: 'h' } node { op_type: 'Exp' input: 'h' output: 'y' "
      "} }",
      &model));
  WriteFileAtomically(dir_.path("m.onnx"), model.SerializeAsString());
  for (const int64_t n : {2, 5}) {
    const std::string json =
        Out({"inspect", "DIR/m.onnx", "--memory", "--dim", MakeString("n=", n), "--json"});
    EXPECT_EQ(JsonAt(json, "/nets/0/memory/prepared"), "true") << json;
    EXPECT_EQ(JsonAt(json, "/nets/0/memory/activation_bytes"), std::to_string(2 * n * 16 * 4))
        << json;
  }
  // The last size of a dimension counts, as the last value of any other option does.
  EXPECT_EQ(
      JsonAt(Out({"inspect", "DIR/m.onnx", "--memory", "--dim", "n=5", "--dim", "n=3", "--json"}),
             "/nets/0/memory/activation_bytes"),
      std::to_string(2 * 3 * 16 * 4));
}

// 2 and 3 floats of weights.
TEST_F(StatedFactsTest, MemoryCountsTheWeightsOfAllInitNets) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "v", "w"] external_output: "y"
      op { type: "Add" input: ["x", "v"] output: "t" arg { name: "broadcast" i: 1 } }
      op { type: "Concat" input: ["t", "w"] output: ["y", "s"] arg { name: "axis" i: 0 } })");
  dir_.Write("v.pbtxt", "op { type: 'ConstantFill' output: 'v' arg { name: 'shape' ints: 2 } }");
  dir_.Write("w.pbtxt", "op { type: 'ConstantFill' output: 'w' arg { name: 'shape' ints: 3 } }");
  for (const auto& [first, second] : {std::pair("v", "w"), {"w", "v"}}) {
    const std::string json = Out({"inspect", "DIR/net.pbtxt", "--memory", "--input", "x=2",
                                  "--init-net", MakeString("DIR/", first, ".pbtxt"), "--init-net",
                                  MakeString("DIR/", second, ".pbtxt"), "--json"});
    EXPECT_EQ(JsonAt(json, "/nets/0/memory/weight_bytes"), "20");
  }
}

TEST_F(StatedFactsTest, NetsOfAFileHaveTheirTitlesAndProblems) {
  dir_.Write("meta.pbtxt", R"(
      nets { key: "a" value { name: "one" op { name: "first" type: "Abs" input: "x" output: "y" } } }
      nets { key: "b" value { name: "two" op { type: "Abs" input: "y" output: "z" } } })");
  const std::string memory = Out({"inspect", "DIR/meta.pbtxt", "--memory"});
  EXPECT_THAT(memory, HasSubstr("a: net \"one\", memory before a run\n"));
  EXPECT_THAT(memory, HasSubstr("b: net \"two\", memory before a run\n"));
  const std::string json = Out({"inspect", "DIR/meta.pbtxt", "--json"});
  EXPECT_EQ(JsonAt(json, "/nets/0/operators/0/problem"),
            R"("the shape of input \"x\" is not known")");
  EXPECT_EQ(JsonAt(json, "/nets/1/operators/0/problem"),
            R"("the shape of input \"y\" is not known")");
}

// The document and the description of an operator state the same.
TEST_F(StatedFactsTest, DescriptionsOfOperatorsHaveAllDefaultsAndTypes) {
  for (const char* type : {"FC", "Conv", "Softmax"}) {
    const std::string json = Out({"ops", type, "--json"}), text = Out({"ops", type});
    size_t defaults = 0, types = 0;
    for (size_t i = 0; i < JsonSize(json, "/0/arguments"); ++i) {
      const std::string entry = MakeString("/0/arguments/", i);
      const bool has_default = JsonAt(json, entry).find("\"default\":") != std::string::npos;
      std::string name = JsonAt(json, entry + "/name");
      name = name.substr(1, name.size() - 2);
      const size_t at = text.find("\n  " + name + ": ");
      ASSERT_NE(at, std::string::npos) << type << " " << name;
      const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
      EXPECT_EQ(has_default, line.ends_with(')') && !line.ends_with("(required)")) << line;
      defaults += has_default;
    }
    const size_t inputs = JsonSize(json, "/0/inputs");
    for (size_t i = 0; i < inputs; ++i)
      types += JsonAt(json, MakeString("/0/inputs/", i)).find("\"types\":") != std::string::npos;
    size_t ranks = 0;  // a line for each input
    for (size_t at = text.find("; rank"); at != std::string::npos; at = text.find("; rank", at + 1))
      ++ranks;
    EXPECT_EQ(types, ranks) << type;
    EXPECT_GT(defaults + types, 0u) << type;
  }
}

TEST_F(StatedFactsTest, StatsPrintTheNumberOfNaN) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Log" input: "x" output: "y" })");
  EXPECT_THAT(Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=[1,-1,-2]", "--stats"}).out,
              ContainsRegex("\n *y +0 Log +float \\[3\\] +0 +0 +0 +2\n"));
}

// A list gives numbers and no names of classes.
TEST_F(StatedFactsTest, RecordsWithoutNamesOfClassesHaveNoFileOfThem) {
  dir_.Write("pets/a.png", "");
  SavePng(dir_.path("pets/a.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  dir_.Write("list", "a.png 4\n");
  Out({"db", "make", "images", "DIR/pets", "--list", "DIR/list", "--raw", "--size", "0", "--output",
       "DIR/m.minidb"});
  EXPECT_FALSE(std::filesystem::exists(dir_.path("m.minidb.labels.txt")));
}

}  // namespace
}  // namespace caffe2rt::test::stated_facts_test
