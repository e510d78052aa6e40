// The values of blobs in `caffe2 run`: the warning about NaN, --check-finite, --stats, --fetch all.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::values_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// z = relu(log(x) * w), out = z + z. Negative inputs make NaN in operator 0.
constexpr char kLog[] = R"(
name: "logs" type: "dag" external_input: "x" external_input: "w" external_output: "out"
op { type: "Log" input: "x" output: "y" name: "first" }
op { type: "Mul" input: "y" input: "w" output: "z" }
op { type: "Relu" input: "z" output: "z" }
op { type: "Add" input: "z" input: "z" output: "out" })";
constexpr char kWeight[] = R"(
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 }
     arg { name: "values" floats: 1 floats: 2 } })";

class ValuesTest : public ::testing::Test {
 protected:
  ProgramResult Run(const std::string& net, const std::vector<float>& x,
                    std::vector<std::string> more = {}, const std::string& init = kWeight) {
    Tensor tensor({static_cast<int64_t>(x.size())}, CPU);
    std::copy(x.begin(), x.end(), tensor.mutable_data<float>());
    WriteNpy(dir_.path("x.npy"), tensor);
    std::vector<std::string> args = {"run",
                                     "--init-net",
                                     dir_.Write("init.pbtxt", init),
                                     "--predict-net",
                                     dir_.Write("net.pbtxt", net),
                                     "--input",
                                     "x=" + dir_.path("x.npy")};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  TempDir dir_;
};

TEST_F(ValuesTest, WarnsOfNaNAndNamesTheOperatorThatMadeIt) {
  const ProgramResult result = Run(kLog, {1, -1}, {"--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(
      result.err,
      "caffe2: warning: output \"out\" has NaN in 1 of 2 elements; the first is in blob \"y\", "
      "written by operator 0 (Log \"first\")\n");
  EXPECT_EQ(JsonAt(result.out, "/nan"),
            R"({"output":"out","elements":2,"nan":1,"blob":"y","operator":0,)"
            R"("operator_text":"Log \"first\""})");
}

TEST_F(ValuesTest, NamesTheFirstImageOfAFolderWithNaN) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      name: "n" external_input: "data" external_output: "out"
      op { type: "Sub" input: "data" input: "data" output: "zero" }
      op { type: "Div" input: "zero" input: "zero" output: "out" })");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--image", DemoFile("images")});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("  NaN NaN NaN"));
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("output \"out\" for \"" + DemoFile("images/falling_1.png") +
                              "\" has NaN in "),
                    HasSubstr("written by operator 1 (Div); 7 other outputs have NaN")));
}

TEST_F(ValuesTest, ReportsNothingForFiniteOutputs) {
  const ProgramResult result = Run(kLog, {1, 2}, {"--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, Not(HasSubstr("\"nan\"")));
}

TEST_F(ValuesTest, NamesAnInputOrAWeightThatHasNaN) {
  EXPECT_THAT(Run(kLog, {NAN, 1}).err, HasSubstr("elements; input \"x\" has it\n"));
  const std::string weight = R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 }
           arg { name: "values" floats: nan floats: 2 } })";
  EXPECT_THAT(Run(kLog, {1, 1}, {}, weight).err,
              HasSubstr("elements; blob \"w\" has it before the net runs\n"));
}

TEST_F(ValuesTest, FindsTheNaNAfterTheNetHasOverwrittenItsInputAndState) {
  // In run 3, w is 0 and x has become -1.
  const std::string net = R"(
      name: "n" external_input: "x" external_input: "w" external_output: "out"
      op { type: "Sub" input: "x" input: "w" output: "x" }
      op { type: "Sqrt" input: "x" output: "out" name: "root" })";
  const std::string one = R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } })";
  EXPECT_THAT(Run(net, {2}, {"--iterations", "2"}, one).err, IsEmpty());
  EXPECT_THAT(Run(net, {2}, {"--iterations", "3"}, one).err,
              HasSubstr("blob \"out\", written by operator 1 (Sqrt \"root\")"));
  // The overwritten input has NaN now, but the one that was given has none.
  EXPECT_THAT(Run(R"(name: "n" external_input: "x" external_output: "out"
                     op { type: "Sqrt" input: "x" output: "x" name: "root" }
                     op { type: "Relu" input: "x" output: "out" })",
                  {-1}, {}, one)
                  .err,
              HasSubstr("blob \"x\", written by operator 0 (Sqrt \"root\")"));
}

TEST_F(ValuesTest, CheckFiniteFailsAtTheFirstNaNOrInfinity) {
  const ProgramResult nan = Run(kLog, {1, -1}, {"--check-finite"});
  EXPECT_EQ(nan.code, 1);
  EXPECT_THAT(nan.err,
              AllOf(HasSubstr("output \"y\" has 1 NaN and 0 infinite of 2 elements, the first at "
                              "element 1"),
                    HasSubstr("net \"logs\", operator 0 (Log \"first\"")));
  const ProgramResult infinite = Run(kLog, {0, 1}, {"--check-finite"});
  EXPECT_EQ(infinite.code, 1);
  EXPECT_THAT(infinite.err, HasSubstr("output \"y\" has 0 NaN and 1 infinite of 2 elements"));
  const ProgramResult input = Run(kLog, {INFINITY, 1}, {"--check-finite"});
  EXPECT_EQ(input.code, 1);
  EXPECT_THAT(input.err, HasSubstr("caffe2: input \"x\" has 0 NaN and 1 infinite of 2 elements"));
  EXPECT_EQ(Run(kLog, {1, 2}, {"--check-finite"}).code, 0);
}

TEST_F(ValuesTest, StatsListEveryValueOfEveryBlob) {
  const ProgramResult result = Run(kLog, {1, -1}, {"--stats", "--json"});
  EXPECT_EQ(result.code, 0);
  ASSERT_EQ(JsonSize(result.out, "/stats"), 6u);
  EXPECT_EQ(JsonAt(result.out, "/stats/0"),
            R"({"name":"x","type":"float [2]","elements":2,"min":-1,"max":1,"mean":0,)"
            R"("nan":0,"infinite":0})");
  EXPECT_EQ(JsonAt(result.out, "/stats/1/name"), "\"w\"");
  EXPECT_EQ(JsonAt(result.out, "/stats/2"),
            R"({"name":"y","operator":0,"operator_type":"Log","type":"float [2]","elements":2,)"
            R"("min":0,"max":0,"mean":0,"nan":1,"infinite":0})");
  EXPECT_EQ(JsonAt(result.out, "/stats/3/operator"), "1");
  EXPECT_EQ(JsonAt(result.out, "/stats/4/operator"), "2");
  EXPECT_EQ(JsonAt(result.out, "/stats/4/name"), "\"z\"");
  const ProgramResult text = Run(kLog, {1, -1}, {"--stats"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("written by"), HasSubstr("0 Log \"first\"")));
}

TEST_F(ValuesTest, WritesNonFiniteStatisticsAsStrings) {
  const ProgramResult result = Run(kLog, {0, -1}, {"--stats", "--json"});
  EXPECT_EQ(JsonAt(result.out, "/stats/2/min"), "\"-Infinity\"");
  const ProgramResult all = Run(kLog, {-1, -1}, {"--stats", "--json"});
  EXPECT_EQ(JsonAt(all.out, "/stats/2/mean"), "\"NaN\"");
}

TEST_F(ValuesTest, FetchAllShowsEachStepInPlace) {
  const ProgramResult result = Run(kLog, {1, 0.5f}, {"--fetch", "all", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  ASSERT_EQ(JsonSize(result.out, "/outputs"), 6u);
  EXPECT_EQ(JsonAt(result.out, "/outputs/3/name"), "\"z\"");
  EXPECT_EQ(JsonAt(result.out, "/outputs/3/operator"), "1");
  EXPECT_EQ(JsonAt(result.out, "/outputs/3/values"), "[0,-1.3862944]");  // 2 log(1/2)
  EXPECT_EQ(JsonAt(result.out, "/outputs/4/name"), "\"z\"");
  EXPECT_EQ(JsonAt(result.out, "/outputs/4/operator"), "2");
  EXPECT_EQ(JsonAt(result.out, "/outputs/4/values"), "[0,0]");
  const ProgramResult text = Run(kLog, {1, 0.5f}, {"--fetch", "all"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("z after operator 1"), HasSubstr("z after operator 2")));
}

TEST_F(ValuesTest, FetchAllSavesEachStepInAFileOfItsOwn) {
  const std::string folder = dir_.path("all");
  const ProgramResult result = Run(kLog, {1, 0.5f}, {"--fetch", "all", "--output", folder});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_LT(ReadNpy(folder + "/z_after_operator_1.npy").data<float>()[1], -1);
  EXPECT_EQ(ReadNpy(folder + "/z.npy").data<float>()[1], 0);
  EXPECT_EQ(ReadNpy(folder + "/w.npy").data<float>()[1], 2);
  EXPECT_TRUE(std::filesystem::exists(folder + "/out.npy"));
}

TEST_F(ValuesTest, FetchAllRenamesFilesThatWouldCollide) {
  const std::string net = R"(
      external_input: "x" external_output: "a:b"
      op { type: "Abs" input: "x" output: "a/b" } op { type: "Negative" input: "x" output: "a:b" })";
  const std::string folder = dir_.path("all");
  ASSERT_EQ(Run(net, {1}, {"--fetch", "all", "--output", folder}).code, 0);
  EXPECT_EQ(ReadNpy(folder + "/a_b.npy").data<float>()[0], 1);
  EXPECT_EQ(ReadNpy(folder + "/a_b_2.npy").data<float>()[0], -1);
}

TEST_F(ValuesTest, ShowsTheValueOfAnInputBeforeTheNetOverwritesIt) {
  const std::string net = R"(
      external_input: "x" external_output: "x" op { type: "Negative" input: "x" output: "x" })";
  const ProgramResult result = Run(net, {4}, {"--fetch", "all"});
  EXPECT_THAT(result.out, AllOf(HasSubstr("x before the run    float [1]\n  4\n"),
                                HasSubstr("x after operator 0  float [1]\n  -4\n")));
}

}  // namespace
}  // namespace caffe2rt::test::values_test
