// Tests that the helpers of operator tests report failures.
#include "tests/support/operator_test.h"

#include <gtest/gtest-spi.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/other_inputs.h"
#include "tests/support/other_types.h"
#include "tests/support/repeated_run.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::operator_test_test {
namespace {

TEST(FeedTest, MakesATensorOfThatTypeAndShape) {
  Workspace ws;
  Feed<int64_t>(&ws, "X", {2, 1}, {3, 4});
  ExpectTensor<int64_t>(ws, "X", {2, 1}, {3, 4});
  EXPECT_THROW(Feed<float>(&ws, "Y", {3}, {1, 2}), EnforceNotMet);
}

TEST(ExpectTensorTest, ReportsWhatDiffers) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  ExpectTensor<float>(ws, "X", {2}, {1, 2.1f}, 0.1);
  static Workspace* shared = &ws;
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {2}, {1, 3}), "element 1 is 2, want 3");
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {1, 2}, {1, 2}), "tensor.dims()");
  EXPECT_FATAL_FAILURE(ExpectTensor<int>(*shared, "X", {2}, {1, 2}), "elements are float");
  EXPECT_FATAL_FAILURE(ExpectTensor<float>(*shared, "no", {2}, {1, 2}), "not in the workspace");
}

TEST(ExpectTensorTest, AcceptsOnlyInfinityWhereItIsExpected) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, kInfinity});
  ExpectTensor<float>(ws, "X", {2}, {1, kInfinity}, 0.1);
  static Workspace* shared = &ws;
  EXPECT_NONFATAL_FAILURE(ExpectTensor<float>(*shared, "X", {2}, {kInfinity, kInfinity}, 0.1),
                          "element 0 is 1, want inf");
}

TEST(ExpectThrowsTest, ChecksTheTextAndTheType) {
  ExpectThrows([] { CAFFE_THROW("argument group is 0"); }, "group is 0");
  EXPECT_NONFATAL_FAILURE(ExpectThrows([] {}, "any"), "nothing was thrown");
  EXPECT_NONFATAL_FAILURE(ExpectThrows([] { CAFFE_THROW("a"); }, "b"), "has substring \"b\"");
}

TEST(ParseNetTest, RejectsTextThatDoesNotParse) {
  EXPECT_EQ(ParseNet("name: \"n\" op { type: \"Relu\" }").op(0).type(), "Relu");
  EXPECT_THROW(ParseNet("nam: 1"), EnforceNotMet);
}

TEST(TempDirTest, GoesWithItsContent) {
  std::string path;
  {
    TempDir dir;
    path = dir.path();
    EXPECT_TRUE(std::filesystem::exists(dir.Write("a/b.txt", "text")));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(SharedPathTest, FollowsTheEnvironment) {
  ASSERT_EQ(setenv("CAFFE2_TEST_SHARED", "/elsewhere", 1), 0);
  EXPECT_EQ(SharedPath("models"), "/elsewhere/models");
  unsetenv("CAFFE2_TEST_SHARED");
  EXPECT_THAT(SharedPath("models"), testing::EndsWith("/../shared/models"));
  EXPECT_TRUE(std::filesystem::exists(SourcePath("CMakeLists.txt")));
}

// Y = X, except in a run that follows one on more than three elements: it plans for none of them.
class StalePlanOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    float* const y = Output(0, {X.numel()}, TypeMeta::Make<float>())->mutable_data<float>();
    for (int64_t i = 0; i < X.numel(); ++i) y[i] = i < size_ ? X.data<float>()[i] : -1;
    size_ = X.numel() > 3 ? 0 : 2;
    return true;
  }

 private:
  int64_t size_ = 2;
};
REGISTER_CPU_OPERATOR(OtherInputsTestStalePlan, StalePlanOp);
OPERATOR_SCHEMA(OtherInputsTestStalePlan).NumInputs(1).NumOutputs(1);

TEST(OtherInputsTest, ReportsAnOperatorThatKeepsItsPlan) {
  static Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  static const OperatorDef op =
      ParseOp(R"(type: "OtherInputsTestStalePlan" input: "X" output: "Y")");
  NetDef def;
  def.set_name("stale_plan");
  *def.add_op() = op;
  static NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  EXPECT_NONFATAL_FAILURE(
      ExpectSameAfterOtherInputs(&ws, net, op,
                                 [] {
                                   EXPECT_EQ(Fetch<float>(ws, "Y"), std::vector<float>({1, 2}));
                                 }),
      "after a run with twice as many rows of \"X\"");
  EXPECT_EQ(Fetch<float>(ws, "X"), std::vector<float>({1, 2}));
}

class FirstPlanOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    if (size_ == 0) size_ = X.numel();
    float* const y = Output(0, {X.numel()}, TypeMeta::Make<float>())->mutable_data<float>();
    const bool fits = X.numel() == size_ || size_ == 3;  // so that only one change shows
    for (int64_t i = 0; i < X.numel(); ++i) y[i] = fits ? X.data<float>()[i] : -1;
    return true;
  }

 private:
  int64_t size_ = 0;
};
REGISTER_CPU_OPERATOR(OtherInputsTestFirstPlan, FirstPlanOp);
OPERATOR_SCHEMA(OtherInputsTestFirstPlan).NumInputs(1).NumOutputs(1);

TEST(OtherInputsTest, ReportsAnOperatorThatKeepsItsFirstPlan) {
  static Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  static NetDef def;
  def.set_name("first_plan");
  *def.add_op() = ParseOp(R"(type: "OtherInputsTestFirstPlan" input: "X" output: "Y")");
  static const auto expect = [] { EXPECT_EQ(Fetch<float>(ws, "Y"), std::vector<float>({1, 2})); };
  static NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  ExpectSameAfterOtherInputs(&ws, net, def.op(0), expect);
  static const auto create = [] { return ws.CreateNet(def, /*overwrite=*/true); };
  EXPECT_NONFATAL_FAILURE(ExpectSameAfterOthersFirst(&ws, def.op(0), create, expect),
                          "after a first run with twice as many rows of all inputs");
  EXPECT_EQ(Fetch<float>(ws, "X"), std::vector<float>({1, 2}));
}

// Y = X in the shape of X as it was in the first run with as many elements.
class StaleShapeOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(Input(1).dim(0), X.dim(0), "rows");
    if (X.numel() != count_) dims_ = X.dims();
    count_ = X.numel();
    float* const y = Output(0, dims_, TypeMeta::Make<float>())->mutable_data<float>();
    std::copy_n(X.data<float>(), X.numel(), y);
    return true;
  }

 private:
  int64_t count_ = -1;
  std::vector<int64_t> dims_;
};
REGISTER_CPU_OPERATOR(OtherInputsTestStaleShape, StaleShapeOp);
OPERATOR_SCHEMA(OtherInputsTestStaleShape).NumInputs(2).NumOutputs(1);

// Inputs that must fit each other are changed together.
TEST(OtherInputsTest, ReportsAnOperatorThatKeepsAShapeOfAsManyElements) {
  static Workspace ws;
  Feed<float>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<float>(&ws, "Z", {2, 3}, {1, 2, 3, 4, 5, 6});
  static const OperatorDef op =
      ParseOp(R"(type: "OtherInputsTestStaleShape" input: "X" input: "Z" output: "Y")");
  NetDef def;
  def.set_name("stale_shape");
  *def.add_op() = op;
  static NetBase* const net = ws.CreateNet(def);
  ASSERT_TRUE(net->Run());
  EXPECT_NONFATAL_FAILURE(
      ExpectSameAfterOtherInputs(&ws, net, op,
                                 [] {
                                   EXPECT_EQ(DimsOf(ws, "Y"), std::vector<int64_t>({2, 3}));
                                 }),
      "after a run with the dimensions in reverse of \"X\" of \"Z\"");
}

// Y is X in reverse order, of doubles twice that.
class ReverseOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return Input(0).IsType<double>() ? Run<double>(2) : Run<float>(1); }

 private:
  template <class T>
  bool Run(T factor) {
    const Tensor& X = Input(0);
    T* const y = Output(0, X.sizes(), TypeMeta::Make<T>())->template mutable_data<T>();
    for (int64_t i = 0; i < X.numel(); ++i) y[i] = factor * X.data<T>()[X.numel() - 1 - i];
    return true;
  }
};
REGISTER_CPU_OPERATOR(OtherTypesTestReverse, ReverseOp);
OPERATOR_SCHEMA(OtherTypesTestReverse).NumInputs(1).NumOutputs(1);

TEST(OtherTypesTest, ReportsOtherResultsOfDoubles) {
  static Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  static const OperatorDef op = ParseOp(R"(type: "OtherTypesTestReverse" input: "X" output: "Y")");
  static std::map<std::string, Tensor> outputs;
  Feed<float>(&ws, "Y", {2}, {2, 1});
  outputs.emplace("Y", Tensor(ws.GetBlob("Y")->Get<Tensor>(), CPU));
  EXPECT_FATAL_FAILURE(ExpectSameInOtherTypes(ws, op, outputs), "with doubles in place of floats");
}

TEST(RepeatedRunTest, ReportsOtherResultsShapesAndChangedInputs) {
  static Workspace ws;
  Feed<float>(&ws, "X", {}, {2});
  const OperatorDef op = ParseOp(R"(type: "Relu" input: "X" output: "Y")");
  static std::unique_ptr<RepeatedRun> run;
  run = RepeatedRun::Of(ws, op);
  ASSERT_NE(run, nullptr);
  Feed<float>(&ws, "Y", {}, {3});
  EXPECT_NONFATAL_FAILURE(run->ExpectSame(ws), "output \"Y\" differs");
  Feed<float>(&ws, "Y", {}, {2});
  Feed<float>(&ws, "X", {}, {1});
  EXPECT_NONFATAL_FAILURE(run->ExpectSame(ws), "the run changed input \"X\"");
  Feed<float>(&ws, "X", {}, {2});
  run->ExpectSame(ws);
}

TEST(RepeatedRunTest, RepeatsOnlyRunsThatNothingElseShows) {
  Workspace ws;
  Feed<float>(&ws, "X", {2}, {1, 2});
  Feed<float>(&ws, "Large", {4000}, std::vector<float>(4000));
  const std::pair<const char*, bool> cases[] = {
      {R"(type: "Relu" input: "X" output: "Y")", true},
      {R"(type: "Relu" input: "X" output: "X")", true},
      {R"(type: "Relu" input: "Large" output: "Y")", false},
      {R"(type: "Relu" input: "absent" output: "Y")", false},
      {R"(type: "GaussianFill" output: "Y" arg { name: "shape" ints: 2 })", false},
      {R"(type: "Print" input: "X")", false},
      {R"(type: "Relu" input: "X" output: "Y" device_option { device_type: 6 })", false},
  };
  for (const auto& [op, repeated] : cases) {
    const std::unique_ptr<RepeatedRun> run = RepeatedRun::Of(ws, ParseOp(op));
    EXPECT_EQ(run != nullptr && run->repeats(), repeated) << op;
  }
}

}  // namespace
}  // namespace caffe2rt::test::operator_test_test
