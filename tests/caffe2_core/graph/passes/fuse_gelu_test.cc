#include "caffe2_core/graph/passes/fuse_gelu.h"

#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::fuse_gelu_test {
namespace {

using ::testing::ElementsAre;

class FuseGeluTest : public testing::Test {
 protected:
  FuseGeluTest() {
    test::Feed<float>(&run_.ws, "root", {}, {1.41421354f});
    test::Feed<float>(&run_.ws, "inverse", {}, {0.707106769f});
    test::Feed<float>(&run_.ws, "one", {}, {1});
    test::Feed<float>(&run_.ws, "half", {}, {0.5f});
    test::Feed<float>(&run_.ws, "vector", {2}, {0.5f, 0.5f});
  }
  std::vector<std::string> Lines(const std::string& text) { return run_(FuseGelu, text); }
  // Lines of the net with the replacement `with` for `what`.
  std::vector<std::string> LinesWith(const std::string& what, const std::string& with) {
    return Lines(test::Replaced(kNet, what, with));
  }

  static constexpr char kNet[] = R"(
    op { type: "Div" input: "x" input: "root" output: "a" }
    op { type: "Erf" input: "a" output: "b" }
    op { type: "Add" input: "b" input: "one" output: "c" }
    op { type: "Mul" input: "x" input: "c" output: "d" }
    op { type: "Mul" input: "d" input: "half" output: "y" })";
  test::PassRun run_;
};

TEST_F(FuseGeluTest, ReplacesTheArithmetic) {
  EXPECT_THAT(Lines(kNet), ElementsAre("Gelu(x) -> y"));
}

TEST_F(FuseGeluTest, AcceptsEveryOrderOfOperandsAndFactors) {
  EXPECT_THAT(
      LinesWith(R"("Div" input: "x" input: "root")", R"("Mul" input: "inverse" input: "x")"),
      ElementsAre("Gelu(x) -> y"));
  EXPECT_THAT(LinesWith(R"(input: "b" input: "one")", R"(input: "one" input: "b")"),
              ElementsAre("Gelu(x) -> y"));
  EXPECT_THAT(LinesWith(R"(input: "x" input: "c")", R"(input: "c" input: "x")"),
              ElementsAre("Gelu(x) -> y"));
  EXPECT_THAT(Lines(R"(
    op { type: "Mul" input: "x" input: "half" output: "h" }
    op { type: "Div" input: "x" input: "root" output: "a" }
    op { type: "Erf" input: "a" output: "b" }
    op { type: "Add" input: "b" input: "one" output: "c" }
    op { type: "Mul" input: "h" input: "c" output: "y" })"),
              ElementsAre("Gelu(x) -> y"));
  EXPECT_THAT(Lines(R"(
    op { type: "Mul" input: "x" input: "inverse" output: "a" }
    op { type: "Erf" input: "a" output: "b" }
    op { type: "Add" input: "b" input: "one" output: "c" }
    op { type: "Mul" input: "half" input: "c" output: "d" }
    op { type: "Mul" input: "d" input: "x" output: "y" })"),
              ElementsAre("Gelu(x) -> y"));
}

TEST_F(FuseGeluTest, AcceptsResultsThatOverwriteEachOther) {
  EXPECT_THAT(Lines(R"(
    op { type: "Div" input: "x" input: "root" output: "a" }
    op { type: "Erf" input: "a" output: "b" }
    op { type: "Add" input: "b" input: "one" output: "b" }
    op { type: "Mul" input: "b" input: "x" output: "b" }
    op { type: "Mul" input: "b" input: "half" output: "y" })"),
              ElementsAre("Gelu(x) -> y"));
}

TEST_F(FuseGeluTest, LeavesOtherArithmeticAlone) {
  EXPECT_EQ(LinesWith("\"root\"", "\"one\"").size(), 5u);  // erf(x)
  EXPECT_EQ(LinesWith("input: \"one\"", "input: \"half\"").size(), 5u);
  EXPECT_EQ(LinesWith("input: \"half\"", "input: \"one\"").size(), 5u);
  EXPECT_EQ(LinesWith("input: \"half\"", "input: \"vector\"").size(), 5u);
  EXPECT_EQ(LinesWith(R"(input: "x" input: "c")", R"(input: "z" input: "c")").size(), 5u);
  EXPECT_EQ(LinesWith("\"Mul\" input: \"d\"", "\"Add\" input: \"d\"").size(), 5u);
  EXPECT_EQ(LinesWith(R"(input: "x" input: "root")", R"(input: "root" input: "x")").size(), 5u);
  EXPECT_EQ(LinesWith("input: \"one\"", "input: \"z\"").size(), 5u);  // not a constant
  EXPECT_EQ(LinesWith(R"("Div" input: "x" input: "root")", R"("Tanh" input: "x")").size(), 5u);
  EXPECT_EQ(LinesWith("\"Erf\" input: \"a\"", "\"Erf\" input: \"z\"").size(), 5u);
  for (const char* const type : {"Add", "Sub"}) {
    EXPECT_EQ(LinesWith(R"("Div" input: "x" input: "root")",
                        MakeString("\"", type, "\" input: \"x\" input: \"inverse\""))
                  .size(),
              5u)
        << type;
  }
  EXPECT_EQ(LinesWith("input: \"root\"", R"(input: "root" arg { name: "broadcast" i: 1 }
                                          arg { name: "axis" i: 0 })")
                .size(),
            5u);
}

// x is a factor twice, or what is scaled is something else.
TEST_F(FuseGeluTest, LeavesOtherFactors) {
  const auto with = [](const std::string& factor, const std::string& products) {
    return "op { " + factor + R"( output: "h" }
      op { type: "Div" input: "x" input: "root" output: "a" }
      op { type: "Erf" input: "a" output: "b" }
      op { type: "Add" input: "b" input: "one" output: "c" } )" +
           products;
  };
  const std::string half_x = R"(type: "Mul" input: "x" input: "half")",
                    last = R"(op { type: "Mul" input: "h" input: "c" output: "y" })";
  EXPECT_THAT(Lines(with(half_x, last)), ElementsAre("Gelu(x) -> y"));
  EXPECT_EQ(Lines(with(half_x, R"(op { type: "Mul" input: "x" input: "c" output: "d" }
                                  op { type: "Mul" input: "d" input: "h" output: "y" })"))
                .size(),
            6u);
  for (const char* const factor :
       {R"(type: "Mul" input: "z" input: "half")", R"(type: "Tanh" input: "x")",
        R"(type: "Add" input: "x" input: "half")", R"(type: "Mul" input: "x" input: "z")"}) {
    EXPECT_EQ(Lines(with(factor, last)).size(), 5u) << factor;
    EXPECT_EQ(Lines(with(factor, R"(op { type: "Mul" input: "h" input: "c" output: "d" }
                                    op { type: "Mul" input: "d" input: "half" output: "y" })"))
                  .size(),
              6u)
        << factor;
  }
}

TEST_F(FuseGeluTest, LeavesIntermediateResultsThatAreRead) {
  for (const char* const name : {"a", "b", "c", "d"}) {
    run_.kept = {"y", name};
    EXPECT_EQ(Lines(kNet).size(), 5u) << name;
    run_.kept = {"y", "z"};
    const std::string reader =
        std::string(R"(op { type: "Relu" input: ")") + name + R"(" output: "z" })";
    EXPECT_EQ(Lines(kNet + reader).size(), 6u) << name;
  }
}

// A blob that the net writes is not the constant that the workspace holds.
TEST_F(FuseGeluTest, LeavesFactorsThatTheNetWrites) {
  for (const char* const name : {"root", "one", "half"}) {
    const std::string writer =
        MakeString("op { type: \"Relu\" input: \"z\" output: \"", name, "\" }");
    EXPECT_EQ(Lines(writer + kNet).size(), 6u) << name;
  }
}

TEST_F(FuseGeluTest, LeavesAnInputThatIsOverwritten) {
  run_.kept = {"y", "x"};
  EXPECT_EQ(LinesWith(R"(op { type: "Mul" input: "d")",
                      R"(op { type: "Relu" input: "x" output: "x" }
                         op { type: "Mul" input: "d")")
                .size(),
            6u);
}

TEST_F(FuseGeluTest, LeavesOperatorsOnOtherDevices) {
  EXPECT_EQ(LinesWith(R"(op { type: "Erf")", R"(op { device_option { device_type: 1 } type: "Erf")")
                .size(),
            5u);
}

TEST_F(FuseGeluTest, GivesTheSameValues) {
  Lines(kNet);
  test::FeedRange<float>(&run_.ws, "x", {3, 40}, -6, 0.1);
  run_.ws.RunNetOnce(test::ParseNet(kNet));
  const auto want = test::Fetch<float>(run_.ws, "y");
  run_.ws.RunNetOnce(run_.net);
  test::ExpectTensor<float>(run_.ws, "y", {3, 40}, want, 1e-6);
}

}  // namespace
}  // namespace caffe2rt::fuse_gelu_test
