#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::mat_mul_test {

namespace {

class MatMulTransposeTest : public testing::TestWithParam<std::tuple<bool, bool>> {};

TEST_P(MatMulTransposeTest, MultipliesWhatItTransposed) {
  const auto [trans_a, trans_b] = GetParam();
  Workspace ws;
  // [[1 2 3] [4 5 6]] times [[1 0] [0 1] [1 1]]
  if (trans_a) {
    Feed<float>(&ws, "A", {3, 2}, {1, 4, 2, 5, 3, 6});
  } else {
    Feed<float>(&ws, "A", {2, 3}, {1, 2, 3, 4, 5, 6});
  }
  if (trans_b) {
    Feed<float>(&ws, "B", {2, 3}, {1, 0, 1, 0, 1, 1});
  } else {
    Feed<float>(&ws, "B", {3, 2}, {1, 0, 0, 1, 1, 1});
  }
  const std::string args =
      MakeString(R"( input: "A" input: "B" output: "Y" arg { name: "trans_a" i: )", trans_a,
                 R"( } arg { name: "trans_b" i: )", trans_b, " }");
  for (const char* type : {"MatMul", "BatchMatMul"}) {
    const std::string op = MakeString("type: \"", type, "\"", args);
    RunOp(&ws, op);
    ExpectTensor<float>(ws, "Y", {2, 2}, {4, 5, 10, 11});
    ExpectShapeInferred(&ws, op);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, MatMulTransposeTest,
                         testing::Combine(testing::Bool(), testing::Bool()));

TEST(MatMulTest, FlattensAtItsAxes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 1, 2}, 1);
  Feed<float>(&ws, "B", {1, 2, 1}, {1, 10});
  const char* op =
      R"(type: "MatMul" input: "A" input: "B" output: "Y" arg { name: "axis_a" i: -1 } arg { name: "axis_b" i: 2 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {21, 43});
  ExpectShapeInferred(&ws, op);
}

TEST(MatMulTest, GivesZerosForAnEmptySumAndNothingForNoRows) {
  Workspace ws;
  Feed<float>(&ws, "A", {2, 0}, {});
  Feed<float>(&ws, "B", {0, 2}, {});
  RunOp(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
  Feed<float>(&ws, "A", {0, 3}, {});
  Feed<float>(&ws, "B", {3, 1}, {1, 2, 3});
  RunOp(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 1}, {});
}

TEST(MatMulTest, ReportsIncompatibleShapes) {
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3});
  FeedRandom(&ws, "B", {4, 5});
  ExpectThrows([&] { RunOp(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y")"); },
               "columns of input 0 (A)");
  FeedRandom(&ws, "B", {3, 5});
  Feed<float>(&ws, "like", {1}, {0});
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "MatMul" input: "A" input: "B" input: "like" output: "Y")"); },
      "elements of input 2");
  FeedRange<double>(&ws, "B", {3, 5});
  ExpectThrows([&] { RunOp(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y")"); },
               "double");
}

struct Batches {
  std::vector<int64_t> a, b, y;
  std::vector<float> want;
};
class BatchMatMulBroadcastTest : public testing::TestWithParam<Batches> {};

TEST_P(BatchMatMulBroadcastTest, RepeatsAxesOfOneAndMissingAxes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", GetParam().a, 1);
  FeedRange<float>(&ws, "B", GetParam().b, 1);
  const char* op =
      R"(type: "BatchMatMul" input: "A" input: "B" output: "Y" arg { name: "broadcast" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", GetParam().y, GetParam().want);
  ExpectShapeInferred(&ws, op);
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BatchMatMulBroadcastTest,
    testing::Values(Batches{{2, 1, 2}, {2, 2, 1}, {2, 1, 1}, {5, 25}},
                    Batches{{2, 1, 2}, {2, 1}, {2, 1, 1}, {5, 11}},
                    Batches{{1, 2}, {2, 2, 1}, {2, 1, 1}, {5, 11}},
                    Batches{{2, 1, 1, 1}, {1, 2, 1, 1}, {2, 2, 1, 1}, {1, 2, 2, 4}},
                    Batches{{2}, {2}, {1}, {5}}, Batches{{2}, {2, 2, 1}, {2, 1}, {5, 11}},
                    Batches{{2, 1, 2}, {2}, {2, 1}, {5, 11}}));

TEST(BatchMatMulTest, NeedsNoBroadcastForVectorsAndLeadingOnes) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 1, 2}, 1);
  Feed<float>(&ws, "B", {2}, {1, 10});
  const char* op = R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 1}, {21, 43});
  ExpectShapeInferred(&ws, op);
  Feed<float>(&ws, "A", {1, 2}, {1, 2});
  Feed<float>(&ws, "B", {1, 2, 1}, {1, 10});
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {1, 1, 1}, {21});
}

TEST(BatchMatMulTest, KeepsEmptyBatchesAndEmptySums) {
  Workspace ws;
  Feed<float>(&ws, "A", {0, 2, 3}, {});
  Feed<float>(&ws, "B", {0, 3, 1}, {});
  RunOp(&ws, R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {0, 2, 1}, {});
  Feed<float>(&ws, "A", {1, 2, 0}, {});
  Feed<float>(&ws, "B", {1, 0, 1}, {});
  RunOp(&ws, R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")");
  ExpectTensor<float>(ws, "Y", {1, 2, 1}, {0, 0});
}

TEST(BatchMatMulTest, ReportsIncompatibleShapes) {
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3, 4});
  FeedRandom(&ws, "B", {4, 5});
  const auto run = [&ws](const char* args) {
    return [&ws, args] {
      RunOp(&ws, std::string(R"(type: "BatchMatMul" input: "A" input: "B" output: "Y" )") + args);
    };
  };
  ExpectThrows(run(""), "or the argument broadcast");
  FeedRandom(&ws, "B", {3, 4, 5});
  ExpectThrows(run(R"(arg { name: "broadcast" i: 1 })"), "equal or 1");
  FeedRandom(&ws, "B", {2, 3, 5});
  ExpectThrows(run(""), "rows of input 1 (B)");
}

TEST_P(MatMulTransposeTest, HasProductsAsGradients) {
  const auto [trans_a, trans_b] = GetParam();
  const std::string rest =
      MakeString(R"( input: "A" input: "B" output: "Y" arg { name: "trans_a" i: )", trans_a ? 1 : 0,
                 R"( } arg { name: "trans_b" i: )", trans_b ? 1 : 0, " }");
  Workspace ws;
  const auto feed = [&, ta = trans_a, tb = trans_b](const std::vector<int64_t>& batch) {
    std::vector<int64_t> a = batch, b = batch;
    a.insert(a.end(), {ta ? 3 : 2, ta ? 2 : 3});
    b.insert(b.end(), {tb ? 4 : 3, tb ? 3 : 4});
    FeedRandom(&ws, "A", a, -1, 1, 1);
    FeedRandom(&ws, "B", b, -1, 1, 2);
  };
  feed({});
  ExpectGradientMatches(&ws, R"(type: "MatMul")" + rest);
  feed({2, 1});
  ExpectGradientMatches(&ws, R"(type: "BatchMatMul")" + rest);
}

TEST(MatMulGradientTest, FlattensTheOperandsOfItsGradients) {
  Workspace ws;
  FeedRandom(&ws, "A", {2, 2, 3}, -1, 1, 1);
  FeedRandom(&ws, "B", {6, 1, 2}, -1, 1, 2);
  ExpectGradientMatches(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y")");
  FeedRandom(&ws, "B", {1, 2, 2}, -1, 1, 2);
  ExpectGradientMatches(&ws, R"(type: "MatMul" input: "A" input: "B" output: "Y"
      arg { name: "axis_a" i: 0 } arg { name: "axis_b" i: 0 } arg { name: "trans_a" i: 1 })");
}

// Recorded from the original.
TEST(MatMulGradientTest, TreatsOtherAxesAsOneInItsGradients) {
  const OperatorDef def = ParseOp(R"(type: "MatMul" input: "A" input: "B" output: "Y"
      arg { name: "axis_a" i: 2 } arg { name: "axis_b" i: -3 } arg { name: "trans_b" i: 1 })");
  const GradientOpsMeta meta = GetGradientForOp(def, {{.dense_ = "g"}});
  ASSERT_EQ(meta.ops_.size(), 2u);
  EXPECT_THAT(meta.ops_[0].input(), testing::ElementsAre("g", "B", "A"));
  EXPECT_THAT(meta.ops_[1].input(), testing::ElementsAre("g", "A", "B"));
  EXPECT_EQ(ArgumentHelper(meta.ops_[0]).GetSingleArgument<int>("axis_b", 7), 1);
  EXPECT_EQ(ArgumentHelper(meta.ops_[1]).GetSingleArgument<int>("axis_b", 7), 1);
  EXPECT_EQ(ArgumentHelper(meta.ops_[1]).GetSingleArgument<int>("trans_a", 7), 1);
  EXPECT_FALSE(ArgumentHelper(meta.ops_[1]).HasArgument("axis_a"));
}

// --- gradients with broadcast ---

struct GradientForm {
  std::vector<int64_t> a, b;  // as stored without transposition
};
class BatchMatMulGradientTest : public testing::TestWithParam<GradientForm> {};

// Two operands with all four transpositions, in which a vector takes no part.
TEST_P(BatchMatMulGradientTest, IsTheDerivative) {
  for (const int trans_a : {0, 1}) {
    for (const int trans_b : {0, 1}) {
      std::vector<int64_t> a = GetParam().a, b = GetParam().b;
      if (trans_a != 0 && a.size() > 1) std::swap(a[a.size() - 1], a[a.size() - 2]);
      if (trans_b != 0 && b.size() > 1) std::swap(b[b.size() - 1], b[b.size() - 2]);
      SCOPED_TRACE(MakeString(IntArrayRef(a), " x ", IntArrayRef(b), trans_a, trans_b));
      Workspace ws;
      FeedRandom(&ws, "A", a, -1, 1, 1);
      FeedRandom(&ws, "B", b, -1, 1, 2);
      ExpectGradientMatches(&ws,
                            MakeString(R"(type: "BatchMatMul" input: "A" input: "B" output: "Y"
              arg { name: "broadcast" i: 1 } arg { name: "broadcast_gradient" i: 1 }
              arg { name: "trans_a" i: )",
                                       trans_a, R"( } arg { name: "trans_b" i: )", trans_b, " }"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Forms, BatchMatMulGradientTest,
    testing::Values(GradientForm{{2, 3}, {3, 4}}, GradientForm{{5, 2, 3}, {3, 4}},
                    GradientForm{{2, 3}, {5, 3, 4}}, GradientForm{{5, 2, 3}, {5, 3, 4}},
                    GradientForm{{5, 2, 3}, {1, 3, 4}}, GradientForm{{1, 2, 3}, {5, 3, 4}},
                    GradientForm{{2, 1, 2, 3}, {1, 3, 3, 2}}, GradientForm{{2, 2, 2, 3}, {2, 3, 2}},
                    GradientForm{{2, 3, 2}, {2, 2, 2, 3}},
                    GradientForm{{3, 1, 2, 2, 2}, {3, 2, 1, 2, 3}},
                    GradientForm{{1, 2, 1, 2}, {2, 2, 2, 1}}, GradientForm{{3}, {3}},
                    GradientForm{{3}, {3, 4}}, GradientForm{{2, 3}, {3}},
                    GradientForm{{3}, {2, 3, 4}}, GradientForm{{2, 2, 3}, {3}},
                    GradientForm{{1, 1, 3}, {3}}, GradientForm{{3}, {1, 1, 3, 2}}));

TEST(BatchMatMulGradientTest, AddsTheRepeatsOfAnOperandUp) {
  Workspace ws;
  FeedRange<float>(&ws, "A", {2, 1, 2}, 1);  // [1 2], [3 4]
  Feed<float>(&ws, "B", {2, 2}, {1, 10, 100, 1000});
  Feed<float>(&ws, "dY", {2, 1, 2}, {5, 6, 7, 8});
  const std::string op = R"(type: "BatchMatMulGradient" input: "A" input: "B" input: "dY"
      output: "d" arg { name: "broadcast" i: 1 })";
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "d", {2, 1, 2}, {65, 6500, 87, 8700});
  ExpectShapeInferred(&ws, op);
  // 1 * 5 + 3 * 7, 1 * 6 + 3 * 8, and 2 * 5 + 4 * 7, 2 * 6 + 4 * 8.
  RunOp(&ws, op + R"( arg { name: "operand" i: 1 })");
  ExpectTensor<float>(ws, "d", {2, 2}, {26, 30, 38, 44});
  ExpectShapeInferred(&ws, op + R"( arg { name: "operand" i: 1 })");
}

TEST(BatchMatMulGradientTest, IsZeroForEmptyBatches) {
  Workspace ws;
  const std::string op = R"(type: "BatchMatMulGradient" input: "A" input: "B" input: "dY"
      output: "d" arg { name: "broadcast" i: 1 })";
  const auto expect = [&](const std::string& operand, const std::vector<int64_t>& dims) {
    RunOp(&ws, op + R"( arg { name: "operand" i: )" + operand + " }");
    ExpectTensor<float>(ws, "d", dims, std::vector<float>(Fetch<float>(ws, "d").size(), 0));
  };
  FeedRandom(&ws, "A", {0, 2, 3});
  FeedRandom(&ws, "B", {3, 1});
  FeedRandom(&ws, "dY", {0, 2, 1});
  expect("0", {0, 2, 3});
  expect("1", {3, 1});
  FeedRandom(&ws, "A", {1, 2, 0});
  FeedRandom(&ws, "B", {4, 0, 1});
  FeedRandom(&ws, "dY", {4, 2, 1});
  expect("0", {1, 2, 0});
  expect("1", {4, 0, 1});
}

// The threads divide matrices, or the rows of few matrices.
TEST(BatchMatMulGradientTest, DoesNotDependOnTheNumberOfThreads) {
  const std::vector<int64_t> forms[][3] = {{{6, 40, 50}, {50, 60}, {6, 40, 60}},
                                           {{40, 50}, {6, 50, 60}, {6, 40, 60}},
                                           {{6, 40, 50}, {6, 50, 60}, {6, 40, 60}}};
  for (const auto& dims : forms) {
    Workspace ws;
    FeedRandom(&ws, "A", dims[0], -1, 1, 1);
    FeedRandom(&ws, "B", dims[1], -1, 1, 2);
    FeedRandom(&ws, "dY", dims[2], -1, 1, 3);
    for (const int operand : {0, 1}) {
      const std::string op =
          MakeString(R"(type: "BatchMatMulGradient" input: "A" input: "B" input: "dY" output: "d"
              arg { name: "broadcast" i: 1 } arg { name: "operand" i: )",
                     operand, " }");
      SetNumThreads(1);
      RunOp(&ws, op);
      const std::vector<float> alone = Fetch<float>(ws, "d");
      SetNumThreads(4);
      RunOp(&ws, op);
      SetNumThreads(1);
      ExpectTensor<float>(ws, "d", dims[operand], alone, 1e-5);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::mat_mul_test
