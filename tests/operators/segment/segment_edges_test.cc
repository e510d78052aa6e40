// Segment operators at bounds that other tests leave out: half floats, wide rows, second runs with other sizes, and
// trains of tensors whose sizes all differ. Expected values are by hand or by the definition.

#include <cmath>
#include <memory>
#include <utility>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::segment_edges_test {
namespace {

// The operators run on the CPU.
std::string Sparse(const std::string& type, bool weighted) {
  return "type: '" + type + "' input: 'X' " + (weighted ? "input: 'W' " : "") +
         "input: 'I' input: 'S' output: 'Y' device_option {}";
}

TEST(HalfSegmentsTest, CheckTheirIndices) {
  Workspace ws;
  Feed<float16>(&ws, "X", {3, 1}, {float16(1.f), float16(2.f), float16(3.f)});
  Feed<float>(&ws, "W", {2}, {1, 1});
  Feed<int32_t>(&ws, "S", {1}, {2});
  for (const std::string type :
       {"SparseLengthsSum", "SparseLengthsMean", "SparseLengthsWeightedSum",
        "SparseLengthsPositionalWeightedSum"}) {
    const std::string op = Sparse(type, type.ends_with("WeightedSum"));
    for (const int bad : {-1, 3, 1000000}) {
      const std::string message =
          MakeString("element 1 of input INDICES is ", bad, ", want at least 0 and below 3");
      Feed<int32_t>(&ws, "I", {2}, {2, bad});
      ExpectThrows([&] { RunOp(&ws, op); }, message);
      Feed<int64_t>(&ws, "I", {2}, {2, bad});
      ExpectThrows([&] { RunOp(&ws, op); }, message);
    }
    Feed<int64_t>(&ws, "I", {2}, {2, int64_t{1} << 32});
    ExpectThrows([&] { RunOp(&ws, op); }, "is 4294967296, want at least 0 and below 3");
  }
}

TEST(HalfSegmentsTest, AreReducedByPositionsAndMeans) {
  Workspace ws;
  Feed<float16>(
      &ws, "X", {3, 2},
      {float16(1.f), float16(2.f), float16(3.f), float16(4.f), float16(5.f), float16(-6.f)});
  Feed<int64_t>(&ws, "I", {4}, {2, 0, 1, 1});
  Feed<int32_t>(&ws, "S", {3}, {1, 0, 3});
  Feed<float>(&ws, "W", {3}, {2, 10, 100});
  RunOp(&ws, Sparse("SparseLengthsPositionalWeightedSum", true));
  ExpectTensor<float>(ws, "Y", {3, 2}, {10, -12, 0, 0, 332, 444});
  RunOp(&ws, Sparse("SparseLengthsMean", false));
  ExpectTensor<float>(ws, "Y", {3, 2}, {5, -6, 0, 0, 7.0f / 3, 10.0f / 3}, 1e-6);
  // No indices: the lengths are not read, and all rows are zeros.
  Feed<int64_t>(&ws, "I", {0}, {});
  RunOp(&ws, Sparse("SparseLengthsSum", false));
  ExpectTensor<float>(ws, "Y", {3, 2}, {0, 0, 0, 0, 0, 0});
}

// Rows of one to 40 columns: whole vectors, four columns, and single ones. Enough elements for several threads.
TEST(WideSegmentsTest, SumEveryColumn) {
  SetNumThreads(3);
  for (const int64_t block : {1, 3, 4, 15, 16, 17, 31, 33, 40, 67, 1024 + 5}) {
    SCOPED_TRACE(block);
    const int64_t rows = 6, positions = 240;
    Workspace ws;
    FeedRange<float>(&ws, "X", {rows, block});
    std::vector<int32_t> index(positions), lengths = {0, 17, 1, 0, 150, 72, 0};
    for (size_t i = 0; i < index.size(); ++i) index[i] = static_cast<int32_t>(i * i % 6);
    std::vector<float> weight(positions);
    for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i % 3) - 1;
    Feed<int32_t>(&ws, "I", {positions}, index);
    Feed<int32_t>(&ws, "S", {7}, lengths);
    Feed<float>(&ws, "W", {positions}, weight);
    std::vector<float> sums(static_cast<size_t>(7 * block)), weighted(sums), means(sums);
    size_t at = 0;
    for (size_t s = 0; s < lengths.size(); ++s) {
      for (int32_t i = 0; i < lengths[s]; ++i, ++at) {
        for (int64_t c = 0; c < block; ++c) {
          const auto x = static_cast<float>(index[at] * block + c);
          const size_t to = s * static_cast<size_t>(block) + static_cast<size_t>(c);
          sums[to] += x;
          weighted[to] += x * weight[at];
          means[to] += x / static_cast<float>(lengths[s]);
        }
      }
    }
    const std::vector<int64_t> dims = {7, block};
    RunOp(&ws, Sparse("SparseLengthsSum", false));
    ExpectTensor<float>(ws, "Y", dims, sums);
    RunOp(&ws, Sparse("SparseLengthsWeightedSum", true));
    ExpectTensor<float>(ws, "Y", dims, weighted);
    RunOp(&ws, Sparse("SparseLengthsMean", false));
    ExpectTensor<float>(ws, "Y", dims, means, 1e-5);
  }
  SetNumThreads(1);
}

// The gradient of a weight is the product of two rows: whole parts of 16 columns, and a rest.
TEST(WideSegmentsTest, HaveTheGradientsOfTheirWeights) {
  for (const int64_t block : {15, 16, 17, 35}) {
    SCOPED_TRACE(block);
    Workspace ws;
    FeedRange<float>(&ws, "D", {3, block});
    FeedRange<float>(&ws, "G", {2, block}, 1);
    Feed<float>(&ws, "W", {3}, {2, 3, -1});
    Feed<int32_t>(&ws, "L", {2}, {1, 2});
    Feed<int64_t>(&ws, "I", {3}, {2, 0, 2});
    RunOp(&ws,
          "type: 'SparseLengthsWeightedSumWithMainInputGradient' input: 'W' input: 'G' input: 'L' "
          "input: 'D' input: 'I' output: 'Y' output: 'Z' device_option {}");
    std::vector<float> rows, weights;
    const int64_t segments[] = {0, 1, 1}, data[] = {2, 0, 2};
    const float w[] = {2, 3, -1};
    for (size_t i = 0; i < 3; ++i) {
      float product = 0;
      for (int64_t c = 0; c < block; ++c) {
        const auto g = static_cast<float>(segments[i] * block + c + 1);
        rows.push_back(w[i] * g);
        product += g * static_cast<float>(data[i] * block + c);
      }
      weights.push_back(product);
    }
    ExpectTensor<float>(ws, "Y", {3, block}, rows);
    ExpectTensor<float>(ws, "Z", {3}, weights, 1e-6);
  }
}

// A run of one operator does not see what a longer one left.
TEST(ReusedSegmentsTest, ForgetTheRunBefore) {
  Workspace ws;
  Feed<float>(&ws, "X", {4}, {1, 2, 3, 4});
  Feed<float>(&ws, "W", {4}, {1, 10, 100, 1000});
  Feed<int32_t>(&ws, "I", {4}, {0, 1, 2, 3});
  Feed<int32_t>(&ws, "S", {1}, {4});
  const std::unique_ptr<OperatorBase> positional =
      CreateOperator(ParseOp(Sparse("SparseLengthsPositionalWeightedSum", true)), &ws);
  positional->Run();
  ExpectTensor<float>(ws, "Y", {1}, {4321});
  // The longest segment is shorter now, so that one weight is enough.
  Feed<int32_t>(&ws, "S", {4}, {1, 1, 1, 1});
  Feed<float>(&ws, "W", {1}, {7});
  positional->Run();
  ExpectTensor<float>(ws, "Y", {4}, {7, 14, 21, 28});

  Feed<int32_t>(&ws, "U", {4}, {3, 0, 3, 3});
  const std::unique_ptr<OperatorBase> mean =
      CreateOperator(ParseOp("type: 'UnsortedSegmentMean' input: 'X' input: 'U' output: 'M'"), &ws);
  mean->Run();
  ExpectTensor<float>(ws, "M", {4}, {2, 0, 0, 8.0f / 3}, 1e-6);
  Feed<int32_t>(&ws, "U", {4}, {1, 0, 0, 1});
  mean->Run();
  ExpectTensor<float>(ws, "M", {2}, {2.5f, 2.5f});
  Feed<int32_t>(&ws, "U", {4}, {0, 0, 0, 2});
  mean->Run();
  ExpectTensor<float>(ws, "M", {3}, {2, 0, 4});
}

// A train of tensors whose sizes all differ.
struct Train {
  int64_t rows[3] = {2, 3, 4}, columns[3] = {3, 2, 5}, ranks[4] = {1, 2, 3, 1};
  std::vector<float> cores[3];

  Train() {
    for (size_t c = 0; c < 3; ++c) {
      const int64_t size = rows[c] * ranks[c] * columns[c] * ranks[c + 1];
      for (int64_t i = 0; i < size; ++i)
        cores[c].push_back(static_cast<float>((i * 5 + static_cast<int64_t>(c)) % 7) - 3);
    }
  }
  std::vector<int64_t> Dims(size_t c) const {
    return {rows[c], ranks[c], columns[c], ranks[c + 1]};
  }
  float At(size_t c, int64_t row, int64_t left, int64_t column, int64_t right) const {
    return cores[c][static_cast<size_t>(
        ((row * ranks[c] + left) * columns[c] + column) * ranks[c + 1] + right)];
  }
  // Element `column` of row `row` of the table, by the definition.
  float Element(int64_t row, int64_t column) const {
    const int64_t i[] = {row % rows[0], row / rows[0] % rows[1], row / rows[0] / rows[1]};
    const int64_t j[] = {column / columns[2] / columns[1], column / columns[2] % columns[1],
                         column % columns[2]};
    float sum = 0;
    for (int64_t a = 0; a < ranks[1]; ++a) {
      for (int64_t b = 0; b < ranks[2]; ++b)
        sum += At(0, i[0], 0, j[0], a) * At(1, i[1], a, j[1], b) * At(2, i[2], b, j[2], 0);
    }
    return sum;
  }
  static std::string Arguments(int width) {
    return "arg { name: 'factor_i' ints: 2 ints: 3 ints: 4 } "
           "arg { name: 'factor_j' ints: 3 ints: 2 ints: 5 } "
           "arg { name: 'ranks' ints: 1 ints: 2 ints: 3 ints: 1 } "
           "arg { name: 'emb_size' i: " +
           std::to_string(width) + " } device_option {}";
  }
  void Feed(Workspace* ws) const {
    for (size_t c = 0; c < 3; ++c)
      test::Feed<float>(ws, std::string(1, static_cast<char>('A' + c)), Dims(c), cores[c]);
  }
};

constexpr char kTrainSum[] =
    "type: 'TTSparseLengthsSum' input: 'A' input: 'B' input: 'C' input: 'I' input: 'L' output: 'Y' "
    "output: 'P' output: 'Q' output: 'J' ";
constexpr char kTrainGradient[] =
    "type: 'TTSparseLengthsSumGradient' input: 'A' input: 'B' input: 'C' input: 'L' input: 'P' "
    "input: 'Q' input: 'J' input: 'G' output: 'dA' output: 'dB' output: 'dC' ";

TEST(TrainTest, SumsRowsOfTheTable) {
  const Train train;
  const std::vector<int64_t> index = {23, 0, 13, 13, 6};
  Workspace ws;
  train.Feed(&ws);
  Feed<int64_t>(&ws, "I", {5}, index);
  Feed<int32_t>(&ws, "L", {4}, {2, 0, 2, 1});
  for (const int width : {30, 29, 1}) {
    SCOPED_TRACE(width);
    std::vector<float> want;
    for (const auto& [from, to] : {std::pair{0, 2}, {2, 2}, {2, 4}, {4, 5}}) {
      for (int d = 0; d < width; ++d) {
        float sum = 0;
        for (int i = from; i < to; ++i) sum += train.Element(index[static_cast<size_t>(i)], d);
        want.push_back(sum);
      }
    }
    RunOp(&ws, kTrainSum + Train::Arguments(width));
    ExpectTensor<float>(ws, "Y", {4, width}, want);
    ExpectTensor<int64_t>(ws, "J", {5, 3}, {1, 2, 3, 0, 0, 0, 1, 0, 2, 1, 0, 2, 0, 0, 1});
  }
}

// The sum is linear in each core, so that a difference is the derivative.
TEST(TrainTest, HasTheDerivativesOfTheSum) {
  const Train train;
  const std::vector<int64_t> index = {23, 13, 4};
  const std::vector<int32_t> lengths = {1, 0, 1, 1};
  Workspace ws;
  train.Feed(&ws);
  Feed<int64_t>(&ws, "I", {3}, index);
  Feed<int32_t>(&ws, "L", {4}, lengths);
  std::unique_ptr<OperatorBase> op;
  // The second and the third run have fewer columns than the first: the others do not count.
  for (const int width : {30, 11, 2}) {
    SCOPED_TRACE(width);
    RunOp(&ws, kTrainSum + Train::Arguments(width));
    std::vector<float> g(static_cast<size_t>(4 * width));
    for (size_t i = 0; i < g.size(); ++i) g[i] = static_cast<float>(i % 7) - 3;
    Feed<float>(&ws, "G", {4, width}, g);
    if (op == nullptr) op = CreateOperator(ParseOp(kTrainGradient + Train::Arguments(30)), &ws);
    ASSERT_TRUE(op->Run());
    const auto loss = [&](const Train& of) {
      float sum = 0;
      const size_t segments[] = {0, 2, 3};
      for (size_t i = 0; i < 3; ++i) {
        for (int d = 0; d < width; ++d)
          sum += g[segments[i] * static_cast<size_t>(width) + static_cast<size_t>(d)] *
                 of.Element(index[i], d);
      }
      return sum;
    };
    const float base = loss(train);
    for (size_t c = 0; c < 3; ++c) {
      std::vector<float> want;
      for (size_t i = 0; i < train.cores[c].size(); ++i) {
        Train moved = train;
        moved.cores[c][i] += 1;
        want.push_back(loss(moved) - base);
      }
      ExpectTensor<float>(ws, std::string("d") + static_cast<char>('A' + c), train.Dims(c), want);
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::segment_edges_test
