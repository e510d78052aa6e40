#include "caffe2_core/graph/passes/matmul_precisions.h"

#include "caffe2_core/graph/arguments.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::matmul_precisions_test {
namespace {

constexpr char kFusion[] =
    R"(op { type: "FCFusion" input: "x" input: "w" input: "b" output: "y" })";

class MatMulPrecisionsTest : public testing::Test {
 protected:
  MatMulPrecisionsTest() {
    test::FeedRandom(&run_.ws, "w", {512, 256}, -1, 1, 1);
    test::FeedRandom(&run_.ws, "small", {1, 64}, -1, 1, 1);
    test::FeedRandom(&run_.ws, "b", {512}, -1, 1, 2);
    test::Feed<float>(&run_.ws, "empty", {0, 256}, {});
  }
  // The argument `precision` of the only operator after the pass; "" if there is none.
  std::string PrecisionAfter(Precision asked, const std::string& text) {
    run_.precision = asked;
    run_(ChooseMatMulPrecisions, text);
    const Argument* const argument = GetArgumentPtr(run_.net.op(0), "precision");
    return argument == nullptr ? "" : argument->s();
  }
  test::PassRun run_;
};

TEST_F(MatMulPrecisionsTest, StatesWhatIsAskedForAndPossible) {
  const auto possible = [](Precision precision) {
    return WhyNoProductsIn(precision).empty() ? PrecisionName(precision) : "f32";
  };
  const std::string bf16 = possible(Precision::kBfloat16), int8 = possible(Precision::kInt8);
  const auto with = [](const char* arguments) {
    return test::Replaced(kFusion, "output: \"y\"", MakeString("output: \"y\" ", arguments));
  };
  struct Case {
    Precision asked;
    std::string text, want;
  };
  const Case cases[] = {
      {Precision::kFloat32, kFusion, ""},
      {Precision::kBfloat16, kFusion, bf16},
      {Precision::kInt8, kFusion, int8},
      // What a file states is not what was asked for.
      {Precision::kFloat32, with(R"(arg { name: "precision" s: "int8" })"), "f32"},
      {Precision::kInt8, with(R"(arg { name: "least_precision" s: "bf16" })"), bf16},
      {Precision::kInt8, with(R"(arg { name: "least_precision" s: "f32" })"), "f32"},
      {Precision::kInt8, with(R"(arg { name: "least_precision" s: "" })"), int8},
      // An invalid argument is left to the operator.
      {Precision::kInt8, with(R"(arg { name: "axis_w" i: 7 })"), "f32"},
      {Precision::kInt8, test::Replaced(kFusion, "input: \"w\"", "input: \"empty\""), "f32"},
      // Weights that are small, or not constant.
      {Precision::kInt8, test::Replaced(kFusion, "input: \"w\"", "input: \"small\""), "f32"},
      {Precision::kInt8, test::Replaced(kFusion, "input: \"w\"", "input: \"x\""), "f32"},
  };
  for (const Case& c : cases) {
    EXPECT_EQ(PrecisionAfter(c.asked, c.text), c.want)
        << PrecisionName(c.asked) << " for " << c.text;
  }
}

TEST_F(MatMulPrecisionsTest, AttentionMultipliesBf16) {
  const char* const text =
      R"(op { type: "MultiHeadAttention" input: "x" input: "x" input: "x" output: "y" })";
  const std::string lower = WhyNoProductsIn(Precision::kBfloat16).empty() ? "bf16" : "f32";
  EXPECT_EQ(PrecisionAfter(Precision::kFloat32, text), "");
  EXPECT_EQ(PrecisionAfter(Precision::kBfloat16, text), lower);
  EXPECT_EQ(PrecisionAfter(Precision::kInt8, text), lower);
}

TEST_F(MatMulPrecisionsTest, LeavesOtherOperators) {
  EXPECT_EQ(PrecisionAfter(Precision::kInt8,
                           R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" })"),
            "");
}

}  // namespace
}  // namespace caffe2rt::matmul_precisions_test
