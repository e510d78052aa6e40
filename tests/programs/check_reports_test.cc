// What `caffe2 check` reports of many operators, of several missing types, and of the values and shapes of inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
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

}  // namespace
}  // namespace caffe2rt::test::check_reports_test
