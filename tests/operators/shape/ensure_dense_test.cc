#include "caffe2_core/graph/gradient.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::ensure_dense_test {
namespace {

using test::ExpectShapeInferred;
using test::ExpectTensor;
using test::ExpectThrows;
using test::FeedRange;
using test::RunOp;

TEST(EnsureDenseTest, CopiesItsInput) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {2, 1});
  const char* op = R"(type: "EnsureDense" input: "X" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {0, 1});
  ExpectShapeInferred(&ws, op);
  RunOp(&ws, R"(type: "EnsureDense" input: "X" output: "X")");
  ExpectTensor<float>(ws, "X", {2, 1}, {0, 1});
}

TEST(EnsureDenseTest, AcceptsEmptyTensorsAndRejectsScalars) {
  Workspace ws;
  FeedRange<float>(&ws, "E", {0, 3});
  FeedRange<float>(&ws, "S", {});
  RunOp(&ws, R"(type: "EnsureDense" input: "E" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 3}, {});
  ExpectThrows([&] { RunOp(&ws, R"(type: "EnsureDense" input: "S" output: "Y")"); },
               "want at least 1");
}

TEST(EnsureDenseTest, MakesItsGradientDense) {
  const OperatorDef def = test::ParseOp(R"(type: "EnsureDense" input: "X" output: "Y")");
  const GradientOpsMeta dense = GetGradientForOp(def, {{.dense_ = "Y_grad"}});
  EXPECT_TRUE(dense.ops_.empty());
  EXPECT_EQ(dense.g_input_.at(0).dense_, "Y_grad");

  const GradientOpsMeta sparse = GetGradientForOp(def, {{.indices_ = "i", .values_ = "v"}});
  ASSERT_EQ(sparse.ops_.size(), 1u);
  EXPECT_EQ(sparse.g_input_.at(0).dense_, "X_grad");
  Workspace ws;
  FeedRange<float>(&ws, "X", {3, 2});
  test::Feed<int32_t>(&ws, "i", {3}, {2, 0, 2});
  FeedRange<float>(&ws, "v", {3, 2}, 1);
  RunOp(&ws, sparse.ops_[0].ShortDebugString());
  ExpectTensor<float>(ws, "X_grad", {3, 2}, {3, 4, 0, 0, 6, 8});

  ExpectThrows([&] { GetGradientForOp(def, {{}}); }, "the gradient of output Y is not given");
}

}  // namespace
}  // namespace caffe2rt::ensure_dense_test
