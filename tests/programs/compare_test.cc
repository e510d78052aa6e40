// `caffe2 compare`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::compare_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kFirst[] = R"(
name: "first" external_input: "x" external_output: "z"
op { type: "Abs" input: "x" output: "y" name: "size" }
op { type: "Sqrt" input: "y" output: "z" name: "root" })";
constexpr char kSecond[] = R"(
name: "second" external_input: "x" external_output: "z"
op { type: "Abs" input: "x" output: "y" }
op { type: "Sqr" input: "y" output: "z" })";

class CompareTest : public ::testing::Test {
 protected:
  Tensor Vector(const std::vector<float>& values) {
    Tensor tensor({static_cast<int64_t>(values.size())}, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
    return tensor;
  }
  std::string Write(const std::string& name, const std::vector<float>& values) {
    std::filesystem::create_directories(std::filesystem::path(dir_.path(name)).parent_path());
    WriteNpy(dir_.path(name), Vector(values));
    return dir_.path(name);
  }
  ProgramResult Compare(std::vector<std::string> args, std::vector<std::string> more = {}) {
    args.insert(args.begin(), "compare");
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  ProgramResult CompareNets(const std::vector<std::string>& more) {
    return Compare({dir_.Write("first.pbtxt", kFirst), dir_.Write("second.pbtxt", kSecond),
                    "--input", "x=" + Write("x.npy", {0, -4})},
                   more);
  }
  TempDir dir_;
};

TEST_F(CompareTest, NamesTheFirstOperatorWhereTwoNetsPart) {
  const ProgramResult result = CompareNets({});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("1 of 2 blobs differ"),
                    HasSubstr("first difference: blob \"z\", operator 1 (Sqrt \"root\")")));
  const ProgramResult json = CompareNets({"--json"});
  EXPECT_EQ(json.code, 1);
  EXPECT_EQ(JsonAt(json.out, "/within"), "false");
  EXPECT_EQ(JsonAt(json.out, "/blobs/1"),
            R"({"name":"z","within":false,"first_operator":1,"second_operator":1,)"
            R"("type":"float [2]","elements":2,"beyond":1,"max_absolute":14,"max_relative":0.875,)"
            R"("largest":16,"snr_db":1.1598389395537347})");  // 10 log10(16^2 / 14^2)
  EXPECT_EQ(JsonAt(json.out, "/first_difference"),
            R"({"name":"z","operator":1,"operator_text":"Sqrt \"root\""})");
}

TEST_F(CompareTest, AcceptsDifferencesWithinTheTolerance) {
  EXPECT_EQ(CompareNets({"--tol", "14"}).code, 0);
  EXPECT_EQ(CompareNets({"--tol", "0,0.874"}).code, 1);
  EXPECT_EQ(CompareNets({"--tol", "0,0.876"}).code, 0);
}

TEST_F(CompareTest, ComparesOptimizedNetsByTheBlobsThatRemain) {
  const ProgramResult result =
      Compare({DemoFile("predict_net.pb"), DemoFile("predict_net.pb"), "--init-net",
               DemoFile("init_net.pb"), "--input", "data=1,3,64,64", "--optimize", "second"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("agree (tolerance: |first - second| <= 0.0001 + 0.0001 * |second|)\n"));
}

// The first value of y, which the passes fuse away, is no output.
TEST_F(CompareTest, ComparesTheLastValuesOfOutputsThatAreFused) {
  const std::string init = dir_.Write("init.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 ints: 2 ints: 1 ints: 1 }
           arg { name: "value" f: 0.5 } })");
  for (const char* end : {"Relu", "LeakyRelu", "Clip"}) {
    const std::string net = dir_.Write("net.pbtxt", std::string(R"(
        external_input: "x" external_input: "w" external_output: "y"
        op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } }
        op { type: ")") + end + R"(" input: "y" output: "y" })");
    const ProgramResult result = Compare(
        {net, net, "--init-net", init, "--input", "x=1,2,3,3", "--optimize", "second", "--json"});
    EXPECT_EQ(result.code, 0) << end << result.out << result.err;
    EXPECT_EQ(JsonAt(result.out, "/within"), "true") << end;
    EXPECT_EQ(JsonAt(result.out, "/only_in_first"), R"(["y after operator 0"])") << end;
  }
}

TEST_F(CompareTest, ComparesTwoInitNets) {
  const auto weight = [&](const std::string& name, const std::string& value) {
    return dir_.Write(name, R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 }
                                    arg { name: "value" f: )" +
                                value + " } }");
  };
  const std::string net = dir_.Write("net.pbtxt", R"(
      external_input: "x" external_input: "w" op { type: "Add" input: "x" input: "w" output: "y" })");
  const ProgramResult result =
      Compare({net, net, "--init-net", weight("a.pbtxt", "1"), "--init-net2",
               weight("b.pbtxt", "3"), "--input", "x=" + Write("x.npy", {1}), "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/first_difference"), R"({"name":"w"})");
  EXPECT_EQ(JsonAt(result.out, "/blobs/1/max_absolute"), "2");
}

TEST_F(CompareTest, ComparesANetWithGoldenFiles) {
  const std::string net = dir_.Write("first.pbtxt", kFirst);
  const std::string input = "x=" + Write("x.npy", {0, -4});
  Write("golden/z.npy", {0, 2});
  Write("golden/y.npy", {0, 4});
  EXPECT_EQ(Compare({net, dir_.path("golden"), "--input", input}).code, 0);
  EXPECT_EQ(Compare({net, Write("any_name.npy", {0, 2}), "--input", input}).code, 0);
  WriteNpz(dir_.path("golden.npz"), {{"z", Vector({0, 3})}, {"other", Vector({1})}});
  const ProgramResult result = Compare({net, dir_.path("golden.npz"), "--input", input});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("operator 1 (Sqrt \"root\")"), ContainsRegex("1 +2 +float"),
                    HasSubstr("golden.npz: \"other\"\n")));
}

TEST_F(CompareTest, ComparesWhatRunHasSaved) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      external_input: "x" external_output: "a/b"
      op { type: "Abs" input: "x" output: "a/b" } op { type: "Sqr" input: "a/b" output: "a/b" })");
  const std::string input = "x=" + Write("x.npy", {1, -2});
  for (const char* output : {"saved", "saved.npz"}) {
    ASSERT_EQ(RunCaffe2({"run", "--predict-net", net, "--input", input, "--fetch", "all",
                         "--output", dir_.path(output)})
                  .code,
              0);
    const ProgramResult result = Compare({net, dir_.path(output), "--input", input});
    EXPECT_EQ(result.code, 0) << result.out << result.err;
    EXPECT_THAT(result.out, HasSubstr("3 blobs agree"));
  }
  EXPECT_EQ(Compare({dir_.path("saved"), dir_.path("saved.npz")}).code, 0);
}

TEST_F(CompareTest, ListsFilesThatAreMissingOrHaveAnotherShape) {
  Write("a/x.npy", {1, 2});
  Write("b/x.npy", {1, 2, 3});
  Write("a/only.npy", {1});
  Write("b/same.npy", {1});
  Write("a/same.npy", {1});
  const ProgramResult result = Compare({dir_.path("a"), dir_.path("b")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.out, AllOf(HasSubstr("shape [2] instead of [3]"),
                                HasSubstr("only in the first, " + dir_.path("a") + ": \"only\"\n"),
                                HasSubstr("2 of 3 blobs differ")));
}

TEST_F(CompareTest, TheFirstDifferenceIsOneOfValuesThatBothHave) {
  Write("a/at_first.npy", {1});
  Write("a/later.npy", {1});
  Write("b/later.npy", {2});
  const ProgramResult result = Compare({dir_.path("a"), dir_.path("b")});
  EXPECT_THAT(result.out, AllOf(HasSubstr("2 of 2 blobs differ"),
                                HasSubstr("first difference: blob \"later\"\n")));
  const ProgramResult json = Compare({dir_.path("a"), dir_.path("b"), "--json"});
  EXPECT_EQ(JsonAt(json.out, "/first_difference"), R"({"name":"later"})");
  Write("b/later.npy", {1});  // only the first blob is left, which has no values to compare
  const ProgramResult missing = Compare({dir_.path("a"), dir_.path("b")});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, AllOf(HasSubstr("1 of 2 blobs differ"),
                                 ::testing::Not(HasSubstr("first difference"))));
}

TEST_F(CompareTest, TreatsNaNAsEqualOnlyOnDemand) {
  const std::string a = Write("a.npy", {NAN, 1}), b = Write("b.npy", {NAN, 1});
  const ProgramResult result = Compare({a, b, "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/blobs/0/max_absolute"), "\"NaN\"");
  EXPECT_EQ(Compare({a, b, "--equal-nan"}).code, 0);
}

TEST_F(CompareTest, ShowsWholeNamesIn80Columns) {
  const std::string net = R"(external_input: "x"
      op { type: "Abs" input: "x" output: "mixed_3a/branch3x3" }
      op { type: "LAST" input: "mixed_3a/branch3x3" output: "mixed_3a/branch3x3" })";
  const auto write = [&](const std::string& name, const std::string& last) {
    return dir_.Write(name, std::string(net).replace(net.find("LAST"), 4, last));
  };
  const ProgramResult result = Compare({write("a.pbtxt", "Sqrt"), write("b.pbtxt", "Sqr"),
                                        "--input", "x=" + Write("x.npy", {0, -4})});
  EXPECT_THAT(result.out,
              AllOf(ContainsRegex("blob +written by +max abs +max rel +SNR dB +beyond +of\n"),
                    ContainsRegex("     mixed_3a/branch3x3  0 Abs +0 +0 +equal +0 +2\n"),
                    ContainsRegex("  !  mixed_3a/branch3x3  1 Sqrt +14 +0.875 +1.16 +1 +2\n")));
}

TEST_F(CompareTest, NamesATensorWithoutANameAfterItsFile) {
  const ProgramResult result = Compare({Write("a.npy", {1}), Write("b.npy", {2})});
  EXPECT_THAT(result.out, HasSubstr("first difference: blob \"a\"\n"));
}

TEST_F(CompareTest, NamesTheFileThatItCannotRead) {
  const ProgramResult result =
      Compare({dir_.path("missing.pb"), dir_.Write("first.pbtxt", kFirst)});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("missing.pb\": No such file"));
}

TEST_F(CompareTest, NetsWithoutBlobsCannotBeCompared) {
  const std::string net = dir_.Write("empty.pbtxt", "name: 'e'");
  const ProgramResult result = Compare({net, net});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(result.err,
            "caffe2: there is no blob to compare in \"" + net + "\" and \"" + net + "\"\n");
  EXPECT_THAT(result.out, IsEmpty());
}

TEST_F(CompareTest, RejectsAWrongCommandLine) {
  const std::string net = dir_.Write("first.pbtxt", kFirst), file = Write("a.npy", {1});
  EXPECT_EQ(Compare({net}).code, 2);
  EXPECT_EQ(Compare({file, file, file}).code, 2);
  EXPECT_EQ(Compare({file, file, "--tol", "inf"}).code, 2);
  EXPECT_EQ(Compare({file, file, "--tol", "1,inf"}).code, 2);
  EXPECT_EQ(Compare({file, net}).code, 2);
  EXPECT_EQ(Compare({file, file, "--input", "x=1"}).code, 2);
  EXPECT_EQ(Compare({file, file, "--tol", "-1"}).code, 2);
  EXPECT_EQ(Compare({file, file, "--tol", "1,2,3"}).code, 2);
  EXPECT_EQ(Compare({net, net, "--input", "x=1", "--optimize", "all"}).code, 2);
  EXPECT_EQ(Compare({file, dir_.path("missing.npy")}).code, 1);
}

}  // namespace
}  // namespace caffe2rt::test::compare_test
