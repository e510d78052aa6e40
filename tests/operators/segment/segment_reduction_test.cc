#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/device_run.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::segment_reduction_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Values = std::vector<double>;
// Reduces one column of a segment: the values, and their weights.
using Reducer = std::function<double(const Values&, const Values&)>;

double Sum(const Values& x, const Values&) { return std::accumulate(x.begin(), x.end(), 0.0); }
double Mean(const Values& x, const Values& w) {
  return x.empty() ? 0 : Sum(x, w) / static_cast<double>(x.size());
}
double WeightedSum(const Values& x, const Values& w) {
  return std::inner_product(x.begin(), x.end(), w.begin(), 0.0);
}
double Max(const Values& x, const Values&) {
  return x.empty() ? 0 : *std::max_element(x.begin(), x.end());
}
double LogSumExp(const Values& x, const Values&) {
  double sum = 0;
  for (const double value : x) sum += std::exp(value);
  return std::log(sum);
}
double LogMeanExp(const Values& x, const Values& w) {
  return LogSumExp(x, w) - std::log(static_cast<double>(x.size()));
}

struct Case {
  std::string type;
  Reducer reduce;
  bool weighted = false;
};
const std::vector<Case>& CasesOf(const std::string& prefix) {
  static const std::vector<Case> plain = {
      {"Sum", Sum}, {"Mean", Mean}, {"WeightedSum", WeightedSum, true}};
  static const std::vector<Case> lengths = {
      {"Sum", Sum}, {"Mean", Mean}, {"WeightedSum", WeightedSum, true}, {"Max", Max}};
  static const std::vector<Case> range = {{"Sum", Sum},
                                          {"Mean", Mean},
                                          {"Max", Max},
                                          {"LogSumExp", LogSumExp},
                                          {"LogMeanExp", LogMeanExp}};
  return prefix == "SortedSegmentRange" ? range : prefix == "Lengths" ? lengths : plain;
}

// A type that the test's device does not have runs on the CPU.
std::string Op(const std::string& type, bool weighted, bool sparse) {
  return MakeString(R"(type: ")", type, R"(" input: "X")", weighted ? R"( input: "W")" : "",
                    sparse ? R"( input: "I")" : "", R"( input: "S" output: "Y")",
                    HasOperator(TestDevice(), type) ? "" : " device_option {}");
}

// Feeds X, W, and I if sparse. Returns the rows to reduce.
std::vector<int64_t> FeedRows(Workspace* ws, bool sparse, int64_t rows, int64_t count,
                              int64_t block) {
  FeedRandom(ws, "X", {rows, block});
  FeedRandom(ws, "W", {count}, -1, 1, 2);
  std::vector<int64_t> selected(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    selected[static_cast<size_t>(i)] = sparse ? (i * 7 + 3) % rows : i;
  }
  Feed<int64_t>(ws, "I", {count}, selected);
  return selected;
}

// Runs the operator and compares Y with the reduction of the segments, lists of positions.
void ExpectReduced(Workspace* ws, const std::string& op, const Case& reduction,
                   const std::vector<std::vector<size_t>>& segments,
                   const std::vector<int64_t>& rows, size_t block) {
  SCOPED_TRACE(op);
  RunOp(ws, op);
  const std::vector<float> x = Fetch<float>(*ws, "X"), w = Fetch<float>(*ws, "W");
  std::vector<float> want;
  for (const std::vector<size_t>& segment : segments) {
    for (size_t c = 0; c < block; ++c) {
      Values values, weights;
      for (const size_t position : segment) {
        values.push_back(x[static_cast<size_t>(rows[position]) * block + c]);
        weights.push_back(w[position]);
      }
      want.push_back(static_cast<float>(reduction.reduce(values, weights)));
    }
  }
  ExpectTensor<float>(
      *ws, "Y", {static_cast<int64_t>(segments.size()), static_cast<int64_t>(block)}, want, 1e-5);
  ExpectShapeInferred(ws, op, true);
}

// Segments of 3, 1, 0, 8 and 2 rows; with ids there is no empty one.
TEST(SegmentReductionTest, ReducesConsecutiveRows) {
  for (const int64_t block : {1, 3, 4, 7, 16, 37, 64, 130, 300}) {
    for (const std::string prefix : {"Lengths", "SparseLengths", "SortedSegment",
                                     "SortedSegmentRange", "SparseSortedSegment"}) {
      Workspace ws;
      const bool sparse = prefix.starts_with("Sparse"), by_length = prefix.ends_with("Lengths");
      const std::vector<int64_t> rows = FeedRows(&ws, sparse, sparse ? 9 : 14, 14, block);
      std::vector<std::vector<size_t>> segments = {
          {0, 1, 2}, {3}, {}, {4, 5, 6, 7, 8, 9, 10, 11}, {12, 13}};
      if (by_length) {
        Feed<int32_t>(&ws, "S", {5}, {3, 1, 0, 8, 2});
      } else {
        segments.erase(segments.begin() + 2);
        Feed<int32_t>(&ws, "S", {14}, {0, 0, 0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3});
      }
      for (const Case& c : CasesOf(prefix)) {
        ExpectReduced(&ws, Op(prefix + c.type, c.weighted, sparse), c, segments, rows,
                      static_cast<size_t>(block));
      }
    }
  }
}

TEST(SegmentReductionTest, ReducesRowsInAnyOrder) {
  for (const int64_t block : {1, 5, 20}) {
    for (const std::string prefix : {"UnsortedSegment", "SparseUnsortedSegment"}) {
      Workspace ws;
      const bool sparse = prefix.starts_with("Sparse");
      const std::vector<int64_t> rows = FeedRows(&ws, sparse, sparse ? 4 : 6, 6, block);
      Feed<int32_t>(&ws, "S", {6}, {2, 0, 2, 2, 4, 0});
      std::vector<std::vector<size_t>> segments = {{1, 5}, {}, {0, 2, 3}, {}, {4}};
      for (const Case& c : CasesOf(prefix)) {
        const std::string op = Op(prefix + c.type, c.weighted, sparse);
        ExpectReduced(&ws, op, c, segments, rows, static_cast<size_t>(block));
        std::vector<std::vector<size_t>> more = segments;
        more.resize(7);
        ExpectReduced(&ws, op + R"( arg { name: "num_segments" i: 7 })", c, more, rows,
                      static_cast<size_t>(block));
      }
    }
  }
}

TEST(SegmentReductionTest, WeighsPositionsOfSegments) {
  Workspace ws;
  FeedRange<float>(&ws, "X", {4, 2}, 1);
  Feed<float>(&ws, "W", {2}, {1, 10});
  Feed<int32_t>(&ws, "I", {3}, {0, 3, 1});
  Feed<int32_t>(&ws, "S", {2}, {1, 2});
  const std::string op = Op("SparseLengthsPositionalWeightedSum", true, true);
  RunOp(&ws, op);
  ExpectTensor<float>(ws, "Y", {2, 2}, {1, 2, 37, 48});
  Feed<int32_t>(&ws, "S", {1}, {3});
  ExpectThrows([&] { RunOp(&ws, op); }, "elements of input 1 (WEIGHT), want those of the longest");
}

TEST(SegmentReductionTest, ReducesFloat16ToFloat) {
  Workspace ws;
  Feed<float16>(
      &ws, "X", {3, 2},
      {float16(1.f), float16(-2.f), float16(3.5f), float16(4.f), float16(5.f), float16(6.f)});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  Feed<int64_t>(&ws, "I", {3}, {2, 0, 1});
  Feed<int32_t>(&ws, "S", {3}, {1, 0, 2});
  RunOp(&ws, Op("SparseLengthsSum", false, true));
  ExpectTensor<float>(ws, "Y", {3, 2}, {5, 6, 0, 0, 4.5, 2});
  RunOp(&ws, Op("SparseLengthsMean", false, true));
  ExpectTensor<float>(ws, "Y", {3, 2}, {5, 6, 0, 0, 2.25, 1});
  RunOp(&ws, Op("SparseLengthsWeightedSum", true, true));
  ExpectTensor<float>(ws, "Y", {3, 2}, {5, 6, 0, 0, 12.5, 8});
  ExpectThrows([&] { RunOp(&ws, Op("LengthsSum", false, false)); }, "want float");
}

TEST(SegmentReductionTest, TreatsNaNAndInfinityLikeCaffe2) {
  Workspace ws;
  Feed<float>(&ws, "X", {8}, {kNaN, 1, 2, kNaN, -kInf, -kInf, kInf, 1});
  Feed<int32_t>(&ws, "S", {4}, {2, 2, 2, 2});
  RunOp(&ws, Op("LengthsMax", false, false));
  ExpectTensor<float>(ws, "Y", {4}, {kNaN, 2, -kInf, kInf});
  Feed<int32_t>(&ws, "S", {8}, {0, 0, 1, 1, 2, 2, 3, 3});
  RunOp(&ws, Op("SortedSegmentRangeLogMeanExp", false, false));
  ExpectTensor<float>(ws, "Y", {4}, {kNaN, kNaN, -kInf, kNaN});
  RunOp(&ws, Op("SortedSegmentRangeMax", false, false));
  ExpectTensor<float>(ws, "Y", {4}, {1, 2, std::numeric_limits<float>::lowest(), kInf});
}

TEST(SegmentReductionTest, DoesNotOverflowInExponentials) {
  Workspace ws;
  Feed<float>(&ws, "X", {3}, {-970, -970, 200});
  Feed<int32_t>(&ws, "S", {3}, {0, 0, 1});
  RunOp(&ws, Op("SortedSegmentRangeLogMeanExp", false, false));
  ExpectTensor<float>(ws, "Y", {2}, {-970, 200}, 1e-6);
  RunOp(&ws, Op("SortedSegmentRangeLogSumExp", false, false));
  ExpectTensor<float>(ws, "Y", {2}, {-969.30685f, 200}, 1e-6);
}

TEST(SegmentReductionTest, AcceptsEmptyTensors) {
  for (const std::string prefix : {"Lengths", "SortedSegment", "SortedSegmentRange",
                                   "UnsortedSegment", "SparseLengths", "SparseSortedSegment"}) {
    for (const Case& c : CasesOf(prefix)) {
      Workspace ws;
      const std::string op = Op(prefix + c.type, c.weighted, prefix.starts_with("Sparse"));
      SCOPED_TRACE(op);
      Feed<float>(&ws, "X", {0, 2, 3}, {});
      Feed<float>(&ws, "W", {0}, {});
      Feed<int32_t>(&ws, "I", {0}, {});
      Feed<int32_t>(&ws, "S", {0}, {});
      RunOp(&ws, op);
      ExpectTensor<float>(ws, "Y", {0, 2, 3}, {});
      if (prefix.ends_with("Lengths")) {
        Feed<int32_t>(&ws, "S", {1}, {0});
        RunOp(&ws, op);
        ExpectTensor<float>(ws, "Y", {1, 2, 3}, {0, 0, 0, 0, 0, 0});
      }
    }
  }
  Workspace ws;
  Feed<float>(&ws, "X", {0, 2}, {});
  Feed<int32_t>(&ws, "S", {0}, {});
  RunOp(&ws, Op("UnsortedSegmentMean", false, false) + R"( arg { name: "num_segments" i: 2 })");
  ExpectTensor<float>(ws, "Y", {2, 2}, {0, 0, 0, 0});
  Feed<float>(&ws, "X", {2, 0}, {});
  Feed<int32_t>(&ws, "S", {2}, {1, 0});
  RunOp(&ws, Op("UnsortedSegmentSum", false, false));
  ExpectTensor<float>(ws, "Y", {2, 0}, {});
}

TEST(SegmentReductionTest, RejectsIndicesAndWeightsThatDoNotFit) {
  Workspace ws;
  const std::string sum = Op("SparseLengthsSum", false, true);
  const std::string weighted = Op("SparseLengthsWeightedSum", true, true);
  FeedRange<float>(&ws, "X", {4, 2});
  Feed<int32_t>(&ws, "S", {1}, {2});
  for (const int64_t bad : {-1, 4}) {
    Feed<int64_t>(&ws, "I", {2}, {0, bad});
    ExpectThrows([&] { RunOp(&ws, sum); },
                 MakeString("of input INDICES is ", bad, ", want at least 0 and below 4"));
  }
  Feed<int64_t>(&ws, "I", {3}, {0, 1, 2});
  ExpectThrows([&] { RunOp(&ws, sum); }, "sum of input 2 (LENGTHS), want the number of indices");
  Feed<int64_t>(&ws, "I", {2, 1}, {0, 1});
  ExpectThrows([&] { RunOp(&ws, sum); }, "rank of input 1 (INDICES) of shape [2, 1]");
  Feed<int64_t>(&ws, "I", {2}, {0, 1});
  Feed<float>(&ws, "W", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, weighted); },
               "elements of input 1 (SCALARS), want one for each row");
  Feed<float>(&ws, "W", {2, 1}, {1, 2});
  ExpectThrows([&] { RunOp(&ws, weighted); }, "rank of input 1 (SCALARS) of shape [2, 1]");
  Feed<int32_t>(&ws, "S", {4}, {0, 1, 0, 1});
  ExpectThrows(
      [&] {
        RunOp(&ws,
              Op("UnsortedSegmentSum", false, false) + R"( arg { name: "num_segments" i: 1 })");
      },
      "SEGMENT_IDS is 1, want at least 0 and below the number of segments, 1");
}

TEST(SegmentReductionTest, HasTheGradientsOfCaffe2) {
  const auto describe = [](const std::string& type, bool weighted, bool sparse, bool on_weights) {
    return DescribeGradient(Op(type, weighted, sparse) +
                            (on_weights ? R"( arg { name: "grad_on_weights" i: 1 })" : ""));
  };
  EXPECT_EQ(describe("SortedSegmentSum", false, false, false),
            "SortedSegmentSumGradient(Y_grad,S)->X_grad | X_grad -");
  EXPECT_EQ(describe("SparseUnsortedSegmentWeightedSum", true, true, false),
            "UnsortedSegmentWeightedSumGradient(W,Y_grad,S)->X_grad_values | "
            "I+X_grad_values - - -");
  EXPECT_EQ(describe("SortedSegmentRangeMax", false, false, false),
            "SortedSegmentRangeMaxGradient(X,Y,Y_grad,S)->X_grad | X_grad -");
  EXPECT_EQ(describe("LengthsSum", false, false, false),
            "LengthsIndicesInGradientSumGradient(Y_grad,S,X)->X_grad | X_grad -");
  EXPECT_EQ(describe("LengthsMax", false, false, false),
            "LengthsMaxWithMainInputAndForwardOutputGradient(Y,Y_grad,S,X)->X_grad | X_grad -");
  EXPECT_EQ(describe("LengthsWeightedSum", true, false, false),
            "LengthsWeightedSumGradient(W,Y_grad,S)->X_grad | X_grad - -");
  EXPECT_EQ(describe("LengthsWeightedSum", true, false, true),
            "LengthsWeightedSumWithMainInputGradient(W,Y_grad,S,X)->X_grad,W_grad "
            "grad_on_weights=1 | X_grad W_grad -");
  // The argument means nothing without weights.
  EXPECT_EQ(describe("LengthsMean", false, false, true),
            "LengthsIndicesInGradientMeanGradient(Y_grad,S,X)->X_grad grad_on_weights=1 | "
            "X_grad -");
  EXPECT_EQ(describe("SparseLengthsMean", false, true, false),
            "SparseLengthsIndicesInGradientMeanGradient(Y_grad,S,I)->X_grad_values | "
            "I+X_grad_values - -");
  EXPECT_EQ(describe("SparseLengthsWeightedSum", true, true, true),
            "SparseLengthsIndicesInGradientWeightedSumWithMainInputGradient(W,Y_grad,S,X,I)->"
            "X_grad_values,W_grad grad_on_weights=1 | I+X_grad_values W_grad - -");
  ExpectThrows([&] { describe("SortedSegmentWeightedSum", true, false, true); },
               "SortedSegmentWeightedSum has no gradient with respect to SCALARS");
}

}  // namespace
}  // namespace caffe2rt::test::segment_reduction_test
