// The expected values are worked out in doubles, index by index.
#include <cmath>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/operators/common/call_tables.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::adagrad_fused_test {
namespace {

struct FusedType {
  bool row_wise;
  std::string sum;  // Sum, WeightedSum or Mean
  bool approximate;

  std::string Name() const {
    return (row_wise ? "RowWiseSparseAdagrad" : "SparseAdagrad") +
           ("FusedWithSparseLengths" + sum + "Gradient") + (approximate ? "Approx" : "");
  }
  std::string Op(const std::string& arguments = "") const {
    const bool weighted = sum == "WeightedSum";
    return MakeString("type: '", Name(), "' input: 'P' input: 'M' ", weighted ? "input: 'W' " : "",
                      "input: 'I' input: 'G' input: 'R' input: 'L' output: 'P' output: 'M' ",
                      weighted ? "output: 'D' " : "", arguments);
  }
};

std::vector<FusedType> FusedTypes() {
  std::vector<FusedType> types;
  for (const bool row_wise : {false, true}) {
    for (const char* const sum : {"Sum", "WeightedSum", "Mean"}) {
      for (const bool approximate : {false, true}) types.push_back({row_wise, sum, approximate});
    }
  }
  return types;
}

struct Problem {
  int64_t rows, block;
  std::vector<int32_t> lengths;
  std::vector<int64_t> indices;
  std::vector<float> weights;
};

std::vector<double> Doubles(const std::vector<float>& x) { return {x.begin(), x.end()}; }

// Runs the operator and compares it with a plain loop.
template <class Index>
void ExpectUpdates(const FusedType& type, const Problem& p, double weight_decay) {
  Workspace ws;
  const auto segments = static_cast<int64_t>(p.lengths.size());
  FeedRandom(&ws, "P", {p.rows, p.block}, -1, 1, 1);
  FeedRandom(&ws, "M", type.row_wise ? std::vector<int64_t>{p.rows} : std::vector{p.rows, p.block},
             0, 1, 2);
  FeedRandom(&ws, "G", {segments, p.block}, -1, 1, 3);
  Feed<float>(&ws, "W", {static_cast<int64_t>(p.weights.size())}, p.weights);
  Feed<Index>(&ws, "I", {static_cast<int64_t>(p.indices.size())},
              std::vector<Index>(p.indices.begin(), p.indices.end()));
  Feed<int32_t>(&ws, "L", {segments}, p.lengths);
  Feed<float>(&ws, "R", {1}, {-0.3f});
  std::vector<double> param = Doubles(Fetch<float>(ws, "P")),
                      moment = Doubles(Fetch<float>(ws, "M")),
                      grad = Doubles(Fetch<float>(ws, "G"));
  const std::vector<double> old = param;
  const std::string arguments = MakeString("arg { name: 'epsilon' f: 0.01 } ",
                                           "arg { name: 'weight_decay' f: ", weight_decay, " }");
  ExpectShapeInferred(&ws, type.Op(arguments));
  for (const char* const name : {"P", "M"}) {
    const std::vector<double>& values = name[0] == 'P' ? param : moment;
    Feed<float>(&ws, name, DimsOf(ws, name), std::vector<float>(values.begin(), values.end()));
  }
  RunOp(&ws, type.Op(arguments));

  std::vector<float> weight_gradients;
  const auto block = static_cast<size_t>(p.block);
  size_t j = 0;
  for (size_t s = 0; s < p.lengths.size(); ++s) {
    for (int k = 0; k < p.lengths[s]; ++k, ++j) {
      const size_t row = static_cast<size_t>(p.indices[j]);
      double factor = 1, product = 0, squares = 0;
      if (type.sum == "Mean") factor = 1.0 / p.lengths[s];
      if (type.sum == "WeightedSum") factor = p.weights[static_cast<size_t>(k)];
      std::vector<double> d(block);
      for (size_t c = 0; c < block; ++c) {
        const size_t i = row * block + c;
        const double g = grad[s * block + c];
        product += g * (type.approximate ? param[i] : old[i]);
        d[c] = factor * g + weight_decay * param[i];
        squares += d[c] * d[c];
      }
      weight_gradients.push_back(static_cast<float>(product));
      if (type.row_wise) moment[row] += squares / static_cast<double>(block);
      for (size_t c = 0; c < block; ++c) {
        const size_t i = row * block + c;
        double& m = moment[type.row_wise ? row : i];
        if (!type.row_wise) m += d[c] * d[c];
        param[i] += static_cast<double>(-0.3f) / (std::sqrt(m) + static_cast<double>(0.01f)) * d[c];
      }
    }
  }
  SCOPED_TRACE(type.Name());
  ExpectTensor<float>(ws, "P", {p.rows, p.block}, std::vector<float>(param.begin(), param.end()),
                      1e-5);
  ExpectTensor<float>(ws, "M", DimsOf(ws, "M"), std::vector<float>(moment.begin(), moment.end()),
                      1e-5);
  if (type.sum == "WeightedSum") {
    ExpectTensor<float>(ws, "D", {static_cast<int64_t>(p.indices.size())}, weight_gradients, 1e-5);
  }
}

TEST(FusedSparseAdagradTest, UpdatesRowsOfSegments) {
  const Problem problem{.rows = 5,
                        .block = 3,
                        .lengths = {3, 0, 1, 2},
                        .indices = {4, 1, 4, 0, 1, 1},
                        .weights = {0.5f, -2, 3, 7}};
  for (const FusedType& type : FusedTypes()) {
    ExpectUpdates<int32_t>(type, problem, 0);
    ExpectUpdates<int64_t>(type, problem, 0.25);
  }
}

// Large enough for several threads.
TEST(FusedSparseAdagradTest, UpdatesManyRows) {
  Problem problem{.rows = 61, .block = 67, .lengths = {}, .indices = {}, .weights = {}};
  for (int s = 0; s < 400; ++s) {
    problem.lengths.push_back(s % 9);
    for (int k = 0; k < s % 9; ++k) problem.indices.push_back((s * 7 + k * 13) % 61);
  }
  for (int k = 0; k < 9; ++k) problem.weights.push_back(0.25f * static_cast<float>(k) - 1);
  for (const FusedType& type : FusedTypes()) ExpectUpdates<int64_t>(type, problem, 0);
}

TEST(FusedSparseAdagradTest, AcceptsNoIndicesAndEmptyRows) {
  for (const FusedType& type : FusedTypes()) {
    Workspace ws;
    Feed<float>(&ws, "P", {2, 1}, {10, 20});
    Feed<float>(&ws, "M", {2}, {9, 8});
    Feed<float>(&ws, "W", {0}, {});
    Feed<int64_t>(&ws, "I", {0}, {});
    Feed<float>(&ws, "G", {2, 1}, {3, 4});
    Feed<float>(&ws, "R", {1}, {6});
    Feed<int32_t>(&ws, "L", {2}, {0, 0});
    RunOp(&ws, type.Op());
    ExpectTensor<float>(ws, "P", {2, 1}, {10, 20});
    Feed<float>(&ws, "P", {2, 0}, {});
    Feed<float>(&ws, "M", {type.row_wise ? 2 : 0}, std::vector<float>(type.row_wise ? 2 : 0));
    Feed<float>(&ws, "W", {1}, {3});
    Feed<int64_t>(&ws, "I", {1}, {1});
    Feed<float>(&ws, "G", {2, 0}, {});
    Feed<int32_t>(&ws, "L", {2}, {1, 0});
    RunOp(&ws, type.Op());
    if (type.sum == "WeightedSum") ExpectTensor<float>(ws, "D", {1}, {0});
  }
}

TEST(FusedSparseAdagradTest, RejectsInvalidInputs) {
  const std::string sum = "SparseAdagradFusedWithSparseLengthsSumGradient P M I G R L -> P M";
  const std::string rows = "RowWise" + sum;
  const std::string weighted =
      "SparseAdagradFusedWithSparseLengthsWeightedSumGradientApprox P M W I G R L -> P M D";
  const std::string given = "P f 3,2; M p 3,2; G f 2,2; R f 1; ";
  const std::string given_rows = "P f 3,2; G f 2,2; L i 2 = 1,0; I l 1 = 0; ";
  ExpectRejected({
      {sum, given + "I l 2 = 3,0; L i 2 = 1,1",
       "index 3 at position 0 is out of range, want at least 0 and below 3"},
      {sum, given + "I l 2 = 0,-1; L i 2 = 1,1",
       "index -1 at position 1 is out of range, want at least 0 and below 3"},
      {sum, given + "I l 2 = 0,1; L i 2 = 1,0",
       "sum of the last input (lengths), want one for each index (got 1, want 2)"},
      {sum, given + "I l 2 = 0,1; L i 2 = 3,-1",
       "element 1 of the last input (lengths), want at least 0 (got -1, want at least 0)"},
      {sum, given + "I l 2 = 0,1; L i 1,2 = 1,1",
       "rank of the last input (lengths): got 2, want 1"},
      {sum, given + "I l 2 = 0,1; L i 1 = 2",
       "input 3 (grad) has shape [2, 2], want 1 slices, one for each of the lengths, of 2 "
       "elements, "
       "as a row of input 0 (param) of shape [3, 2]"},
      {sum, "P f 3,2; M p 3,3; G f 2,2; R f 1; I l 1 = 0; L i 2 = 1,0",
       "elements of input 1 (moment) of shape [3, 3], want as many as input 0 (param) of shape [3, "
       "2] (got 9, want 6)"},
      {rows, given_rows + "M p 6; R f 1",
       "elements of input 1 (moment) of shape [6], want one for each row of input 0 (param) of "
       "shape [3, 2] (got 6, want 3)"},
      {rows, given_rows + "M p 3; R f 2", "elements of the input lr of shape [2]: got 2, want 1"},
      {sum, given_rows + "M p 6; R f 0",
       "elements of the input lr of shape [0]: got 0, want at least 1"},
      {weighted, given + "W f 1; I l 2 = 0,1; L i 2 = 2,0",
       "elements of input 2 (aux_param), want one for each position in the longest segment (got 1, "
       "want at least 2)"},
      {sum + " decay=0.5", given_rows + "M p 6; R f 1", "argument \"decay\" is 0.5, want 1"},
  });
}

TEST(FusedSparseAdagradTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  for (const bool row_wise : {false, true}) {
    Workspace ws;
    FeedRandom(&ws, "P", {4, 3});
    FeedRandom(&ws, "M", row_wise ? std::vector<int64_t>{4} : std::vector<int64_t>{4, 3}, 0, 1);
    FeedRandom(&ws, "G", {2, 3});
    Feed<float>(&ws, "W", {2}, {1, 2});
    Feed<int64_t>(&ws, "I", {3}, {3, 0, 3});
    Feed<int32_t>(&ws, "L", {2}, {2, 1});
    Feed<float>(&ws, "R", {1}, {-0.1f});
    std::string text = "name: 'train' ";
    for (const FusedType& type : FusedTypes()) {
      if (type.row_wise == row_wise) text += "op { " + type.Op() + " } ";
    }
    NetBase* const net = ws.CreateNet(ParseNet(text));
    ASSERT_TRUE(net->Run());
    ASSERT_TRUE(net->Run());
    AllocationCounter counter;
    ASSERT_TRUE(net->Run());
    EXPECT_EQ(counter.Counts().allocations, 0);
  }
}

}  // namespace
}  // namespace caffe2rt::test::adagrad_fused_test
