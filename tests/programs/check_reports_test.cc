// What `caffe2 check` reports of many operators, of several missing types, and of the values and shapes of inputs.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::check_reports_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

class CheckReportsTest : public ProgramFolder {
 protected:
  // A net of `count` operators of a type that is not known.
  std::string NetOfUnknown(int count) const {
    std::string net = "name: \"n\" external_input: \"x\" ";
    for (int i = 0; i < count; ++i)
      net += "op { type: \"Yolo\" input: \"x\" output: \"y" + std::to_string(i) + "\" } ";
    dir_.Write("net.pbtxt", net);
    return "DIR/net.pbtxt";
  }
  std::string Longs(const std::string& name, const std::vector<int64_t>& values) const {
    Tensor tensor({static_cast<int64_t>(values.size())}, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<int64_t>());
    dir_.Write(name, "");
    WriteNpy(dir_.path(name), tensor);
    return "DIR/" + name;
  }
};

TEST_F(CheckReportsTest, AFindingNamesAtMostTwelveOperators) {
  const std::string eleven = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10";
  for (const auto& [count, operators] : {std::pair(1, "operator 0"s),
                                         {2, "operators 0, 1"s},
                                         {11, "operators " + eleven},
                                         {12, "operators " + eleven + ", 11"},
                                         {13, "operators " + eleven + ", 11 and 1 more"},
                                         {20, "operators " + eleven + ", 11 and 8 more"}}) {
    const ProgramResult result = Run({"check", NetOfUnknown(count)});
    EXPECT_EQ(result.code, 1);
    EXPECT_EQ(result.out, "DIR/net.pbtxt: net \"n\": 1 error\n  error: " + operators +
                              ": operator type \"Yolo\" is not known\n");
    const std::string json = Run({"check", "DIR/net.pbtxt", "--json"}).out;
    EXPECT_EQ(JsonSize(json, "/0/findings/0/operators"), static_cast<size_t>(count));
  }
}

TEST_F(CheckReportsTest, EachMissingTypeIsListedOnce) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x"
      op { type: "Yolo" input: "x" output: "y" } op { type: "Relu" input: "y" output: "r" }
      op { type: "Flow" input: "r" output: "z" } op { type: "Yolo" input: "z" output: "u" })");
  const ProgramResult result = Run({"check", "DIR/net.pbtxt", "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/0/missing_operators"), R"(["Flow","Yolo"])");
  EXPECT_EQ(JsonAt(result.out, "/0/errors"), "2");
  EXPECT_EQ(JsonAt(result.out, "/0/findings/0/operators"), "[0,3]");
  EXPECT_EQ(JsonAt(result.out, "/0/findings/0/missing_operator"), "\"Yolo\"");
  EXPECT_EQ(JsonAt(result.out, "/0/findings/1/operators"), "[2]");
  EXPECT_EQ(JsonAt(result.out, "/0/findings/1/missing_operator"), "\"Flow\"");
}

// One file that fails does not hide the others; the exit code is that of any error.
TEST_F(CheckReportsTest, EveryFileHasItsEntry) {
  const std::string bad = NetOfUnknown(1);
  dir_.Write("fine.pbtxt",
             R"(name: "f" external_input: "x" op { type: "Relu" input: "x" output: "y" })");
  const std::string fine = "DIR/fine.pbtxt", absent = "DIR/absent.pbtxt";
  for (const Words& files : {Words{bad, fine}, Words{fine, bad}, Words{absent, fine},
                             Words{fine, absent}, Words{bad, absent}}) {
    const ProgramResult text = Run(Joined({"check"}, files));
    const ProgramResult result = Run(Joined(Joined({"check"}, files), {"--json"}));
    EXPECT_EQ(text.code, 1);
    EXPECT_EQ(result.code, 1);
    ASSERT_EQ(JsonSize(result.out, ""), 2u);
    for (size_t i = 0; i < 2; ++i) {
      const std::string entry = "/" + std::to_string(i);
      EXPECT_EQ(JsonAt(result.out, entry + "/file").find(files[i].substr(4)) == std::string::npos,
                false);
      const std::string json = JsonAt(result.out, entry);
      EXPECT_EQ(json.find("\"error\":") != std::string::npos, files[i] == absent) << json;
      if (files[i] != absent) {
        EXPECT_EQ(JsonAt(result.out, entry + "/errors"), files[i] == bad ? "1" : "0");
      }
    }
    EXPECT_EQ(text.out.find("\"f\": fine\n") != std::string::npos,
              files[0] == fine || files[1] == fine);
    EXPECT_EQ(text.err.empty(), files[0] != absent && files[1] != absent) << text.err;
  }
  EXPECT_EQ(Run({"check", fine, fine}).code, 0);
}

// Three nets fill weights, three read them. In each, the inputs of the options count.
constexpr char kSixNets[] = R"(
    nets { key: "GLOBAL_INIT_NET_TYPE" value { name: "fill" op { type: "ConstantFill" output: "w"
           arg { name: "shape" ints: [3, 2] } } } }
    nets { key: "PREDICT_INIT_NET_TYPE" value { name: "more" op { type: "ConstantFill" output: "b"
           arg { name: "shape" ints: 3 } } } }
    nets { key: "OTHER_INIT" value { name: "loads" external_input: "!!PREDICTOR_DBREADER"
           op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "v" } } }
    nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["x", "w", "b"]
           op { type: "FC" input: ["x", "w", "b"] output: "y" } } }
    nets { key: "OTHER" value { name: "o" external_input: ["x", "w"]
           op { type: "MatMul" input: ["x", "w"] output: "z" } } }
    nets { key: "LAST" value { name: "l" external_input: "x"
           op { type: "Relu" input: "x" output: "u" arg { name: "q" i: 1 } }
           op { type: "Abs" input: "x" output: "u" } } }
    blobs { key: "INPUTS_BLOB_TYPE" value: "x" })";

TEST_F(CheckReportsTest, EachNetOfAFileIsChecked) {
  dir_.Write("meta.pbtxt", kSixNets);
  const std::string
      first =
          "DIR/meta.pbtxt: GLOBAL_INIT_NET_TYPE: net \"fill\": fine\n"
          "DIR/meta.pbtxt: PREDICT_INIT_NET_TYPE: net \"more\": fine\n"
          "DIR/meta.pbtxt: OTHER_INIT: net \"loads\": fine\n"
          "DIR/meta.pbtxt: PREDICT_NET_TYPE: net \"p\": ",
      last =
          "DIR/meta.pbtxt: LAST: net \"l\": 1 warning, 1 note\n"
          "  warning: operator 0: operator Relu: argument \"q\" is not known and has "
          "no effect\n"
          "  note: operator 0: output \"u\" is overwritten by operator 1 (Abs) before "
          "any operator reads it\n",
      other = "DIR/meta.pbtxt: OTHER: net \"o\": ",
      error = "1 error\n  error: operator 0: operator ";
  // A warning is no error.
  EXPECT_EQ(Out({"check", "DIR/meta.pbtxt"}), first + "fine\n" + other + "fine\n" + last);
  // FC has the transposed matrix.
  const ProgramResult two = Run({"check", "DIR/meta.pbtxt", "--input", "x=4,2"});
  EXPECT_EQ(two.code, 1);
  EXPECT_TRUE(two.out.starts_with(first + "fine\n" + other + error + "MatMul rejects")) << two.out;
  EXPECT_TRUE(two.out.ends_with("\n" + last)) << two.out;
  const ProgramResult three = Run({"check", "DIR/meta.pbtxt", "--input", "x=4,3"});
  EXPECT_EQ(three.code, 1);
  EXPECT_TRUE(three.out.starts_with(first + error + "FC rejects")) << three.out;
  EXPECT_TRUE(three.out.ends_with("\n" + other + "fine\n" + last)) << three.out;
  const std::string json = Run({"check", "DIR/meta.pbtxt", "--input", "x=4,2", "--json"}).out;
  std::string errors, findings, kinds;
  for (size_t i = 0; i < JsonSize(json, ""); ++i) {
    const std::string entry = "/" + std::to_string(i);
    errors += JsonAt(json, entry + "/errors");
    findings += std::to_string(JsonSize(json, entry + "/findings"));
  }
  for (const char* at : {"/4/findings/0", "/5/findings/0", "/5/findings/1"})
    kinds += JsonAt(json, at + "/kind"s);
  EXPECT_EQ(errors, "000010");
  EXPECT_EQ(findings, "000012");
  EXPECT_EQ(kinds, R"("error""warning""note")");
}

// The file states that w is a parameter; its dims are those in the database.
TEST_F(CheckReportsTest, ParametersOfAPredictorHaveTheShapesOfItsDatabase) {
  BlobProto nets, weight;
  MetaNetDef meta;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["x", "w"]
             external_output: "y" op { type: "Add" input: ["x", "w"] output: "y" } } }
         blobs { key: "INPUTS_BLOB_TYPE" value: "x" }
         blobs { key: "PARAMETERS_BLOB_TYPE" value: "w" })",
      &meta));
  nets.set_name("!!META_NET_DEF");
  nets.set_type("std::string");
  nets.set_content(meta.SerializeAsString());
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"(name: "w" type: "Tensor"
         tensor { name: "w" dims: 2 data_type: FLOAT float_data: [1, 2] })",
      &weight));
  {
    const auto database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", nets.SerializeAsString());
    transaction->Put("w", weight.SerializeAsString());
    transaction->Commit();
  }
  const std::string head = "DIR/p.minidb: PREDICT_NET_TYPE: net \"p\": ";
  EXPECT_EQ(Out({"check", "DIR/p.minidb"}), head + "fine\n");
  EXPECT_EQ(Out({"check", "DIR/p.minidb", "--input", "x=4,2"}), head + "fine\n");
  const ProgramResult other = Run({"check", "DIR/p.minidb", "--input", "x=4,3"});
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.out, HasSubstr(head + "1 error\n  error: operator 0: operator Add rejects"));
  // A database of weights is enough to know what is missing.
  meta.clear_blobs();
  nets.set_content(meta.SerializeAsString());
  std::filesystem::remove(dir_.path("p.minidb"));
  {
    const auto database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", nets.SerializeAsString());
    transaction->Put("w", weight.SerializeAsString());
    transaction->Commit();
  }
  EXPECT_EQ(Out({"check", "DIR/p.minidb"}),
            head + "1 note\n  note: operator 0: input \"x\" was not given\n");
}

// Zeros that an init net fills stand for the inputs that the file lists, not for the first ones.
TEST_F(CheckReportsTest, ZerosOfListedInputsAreNoData) {
  dir_.Write("meta.pbtxt", R"(
      nets { key: "PREDICT_INIT_NET_TYPE" value { name: "i"
             op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 } }
             op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } } }
      nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["w", "x"]
             op { type: "Add" input: ["w", "x"] output: "y" } } }
      blobs { key: "INPUTS_BLOB_TYPE" value: "x" })");
  const std::string head =
      "DIR/meta.pbtxt: PREDICT_INIT_NET_TYPE: net \"i\": fine\n"
      "DIR/meta.pbtxt: PREDICT_NET_TYPE: net \"p\": ";
  EXPECT_EQ(Out({"check", "DIR/meta.pbtxt"}), head + "fine\n");
  EXPECT_EQ(Out({"check", "DIR/meta.pbtxt", "--input", "x=1"}), head + "fine\n");
  const ProgramResult other = Run({"check", "DIR/meta.pbtxt", "--input", "w=1"});
  EXPECT_EQ(other.code, 1);
  EXPECT_EQ(other.out, head + "1 error\n  error: operator 0: input \"x\" was not given\n");
}

TEST_F(CheckReportsTest, FindingsOfNestedNetsHaveAPath) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["c", "x"] op { type: "If" input: "c"
      arg { name: "then_net" n { op { type: "Yolo" input: "x" output: "y" }
            external_input: "x" } } })");
  EXPECT_THAT(Run({"check", "DIR/net.pbtxt"}).out,
              HasSubstr("\n  error: operator 0 (If), argument then_net: operator 0: operator type "
                        "\"Yolo\" is not known\n"));
  const std::string json = Run({"check", "DIR/net.pbtxt", "--json"}).out;
  EXPECT_THAT(json, HasSubstr("\"path\": \"operator 0 (If), argument then_net: \""));
}

// --- values and shapes of inputs ---

TEST_F(CheckReportsTest, TheValuesOfInputsAreKnownIfTheyAreGiven) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "s"]
      op { type: "Reshape" input: ["x", "s"] output: ["y", "old"] })");
  const auto check = [&](const Words& inputs) {
    Words words = {"check", "DIR/net.pbtxt"};
    for (const std::string& input : inputs) words = Joined(words, {"--input", input});
    return Run(words).out;
  };
  const std::string head = "DIR/net.pbtxt: net \"n\": ", s = "s=" + Longs("s.npy", {2, 3});
  EXPECT_EQ(check({}), head + "fine\n");
  EXPECT_EQ(check({"x=6", s}), head + "fine\n");
  EXPECT_EQ(check({"x=2,3", s}), head + "fine\n");
  EXPECT_THAT(check({"x=8", s}),
              HasSubstr("rejects its inputs: elements of shape [2, 3], want those of input 0 of "
                        "shape [8] (got 6, want 8)\n"));
  EXPECT_THAT(check({"x=6"}), HasSubstr("error: operator 0: input \"s\" was not given\n"));
  EXPECT_THAT(check({s}), HasSubstr("error: operator 0: input \"x\" was not given\n"));
  EXPECT_THAT(check({"x=6", "s=2"}), HasSubstr("input 1 (shape) has elements of type float"));
}

// Zeros that stand for data are not data, also in a packed model.
TEST_F(CheckReportsTest, APlaceholderIsNotFilled) {
  dir_.Write("init.pbtxt", R"(name: "i"
      op { type: "ConstantFill" output: "data" arg { name: "shape" ints: 1 } }
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: 3 } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["data", "w"] external_output: "y"
      op { type: "Add" input: ["data", "w"] output: "y" })");
  Out({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt", "DIR/p.c2"});
  const std::string packed = "DIR/p.c2: net \"n\": ",
                    files = "DIR/init.pbtxt: net \"i\": fine\nDIR/net.pbtxt: net \"n\": ",
                    missing = "1 error\n  error: operator 0: input \"data\" was not given\n";
  const Words check = {"check", "DIR/p.c2"},
              both = {"check", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  EXPECT_EQ(Out(check), packed + "fine\n");
  EXPECT_EQ(Run(both).out, files + "1 note\n  note: operator 0: input \"data\" was not given\n");
  for (const char* input : {"data=1", "data=3"}) {
    EXPECT_EQ(Out(Joined(check, {"--input", input})), packed + "fine\n");
    EXPECT_EQ(Out(Joined(both, {"--input", input})), files + "fine\n");
  }
  EXPECT_EQ(Run(Joined(check, {"--input", "w=1"})).out, packed + missing);
  EXPECT_EQ(Run(Joined(both, {"--input", "w=1"})).out, files + missing);
}

// --- init nets ---

// A database that cannot be read comes before what is wrong with the operators.
TEST_F(CheckReportsTest, WhatAnInitNetCannotLoadComesFirst) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"]
      op { type: "Add" input: ["x", "w"] output: "y" })");
  dir_.Write("init.pbtxt", R"(name: "i" op { type: "Yolo" output: "u" }
      op { type: "Load" output: "w" arg { name: "db" s: "none.minidb" }
           arg { name: "db_type" s: "minidb" } })");
  const Words check = {"check", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  const ProgramResult result = Run(check);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(
      result.out.starts_with("DIR/init.pbtxt: net \"i\": 2 errors\n  error: operator 1: "
                             "operator Load: cannot open \""))
      << result.out;
  EXPECT_TRUE(result.out.ends_with(
      "\n  error: operator 0: operator type \"Yolo\" is not known\n"
      "DIR/net.pbtxt: net \"n\": 1 note\n  note: operator 0: input \"x\" was not given\n"))
      << result.out;
  // Whatever its position.
  dir_.Write("init.pbtxt", R"(name: "i" op { type: "ConstantFill" output: "a" }
      op { type: "ConstantFill" output: "b" } op { type: "ConstantFill" output: "c" }
      op { type: "Load" output: "w" arg { name: "db" s: "none.minidb" }
           arg { name: "db_type" s: "minidb" } })");
  EXPECT_THAT(Run(check).out, HasSubstr("\n  error: operator 3: operator Load: cannot open \""));
  // A Load that has a reader opens nothing.
  dir_.Write("init.pbtxt", R"(name: "i"
      op { type: "CreateDB" output: "r" arg { name: "db" s: "none.minidb" }
           arg { name: "db_type" s: "minidb" } }
      op { type: "Load" input: "r" output: "w" arg { name: "db" s: "none.minidb" }
           arg { name: "db_type" s: "minidb" } })");
  EXPECT_EQ(Out(check),
            "DIR/init.pbtxt: net \"i\": fine\nDIR/net.pbtxt: net \"n\": 1 note\n  note: operator "
            "0: input \"x\" was not given\n");
  EXPECT_THAT(Out({"inspect", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt", "--input", "x=2"}),
              HasSubstr("\ntotal: 0 parameters (0 B), "));
}

// Without init nets all inputs may be weights, so that nothing is known to be missing.
TEST_F(CheckReportsTest, InputsAreMissingBesideWhatFillsOthers) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w", "v"]
      op { type: "Sum" input: ["x", "w", "v"] output: "y" })");
  const auto fill = [](const std::string& name) {
    return "op { type: \"GivenTensorFill\" output: \"" + name +
           "\" arg { name: \"shape\" ints: 1 } arg { name: \"values\" floats: 3 } } ";
  };
  dir_.Write("w.pbtxt", "name: \"w\" " + fill("w"));
  dir_.Write("v.pbtxt", "name: \"v\" " + fill("v"));
  const Words check = {"check", "DIR/net.pbtxt"}, w = {"--init-net", "DIR/w.pbtxt"},
              v = {"--init-net", "DIR/v.pbtxt"};
  const std::string fine_w = "DIR/w.pbtxt: net \"w\": fine\n",
                    fine_v = "DIR/v.pbtxt: net \"v\": fine\n", net = "DIR/net.pbtxt: net \"n\": ";
  EXPECT_EQ(Out(check), net + "fine\n");
  EXPECT_EQ(Out(Joined(check, w)),
            fine_w + net + "1 note\n  note: operator 0: inputs \"x\", \"v\" were not given\n");
  EXPECT_EQ(Out(Joined(Joined(check, v), w)),
            fine_v + fine_w + net + "1 note\n  note: operator 0: input \"x\" was not given\n");
  EXPECT_EQ(Out(Joined(Joined(Joined(check, v), w), {"--input", "x=1"})),
            fine_v + fine_w + net + "fine\n");
  EXPECT_EQ(Run(Joined(Joined(check, v), {"--input", "x=1"})).out,
            fine_v + net + "1 error\n  error: operator 0: input \"w\" was not given\n");
}

}  // namespace
}  // namespace caffe2rt::test::check_reports_test
