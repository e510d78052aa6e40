// Operators that read or write the slices of indices, on random shapes, compared with loops over all slices; and columns
// of images.

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_sparse_test {
namespace {

using test::ExpectTensor;
using test::Feed;

class RandomSparseTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  static std::vector<float> Numbers(int64_t n) {
    std::vector<float> x(static_cast<size_t>(n));
    std::iota(x.begin(), x.end(), 1.0f);
    return x;
  }
  static std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
    std::string text = " arg { name: '" + name + "'";
    for (const int64_t value : values) text += " ints: " + std::to_string(value);
    return text + " }";
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }

  std::mt19937 random_{23};
  Workspace ws_;
};

TEST_F(RandomSparseTest, GathersRowsOfABatchAndTheirGradients) {
  for (int i = 0; i < 80; ++i) {
    const int64_t outer = Int(1, 3), size = Int(1, 5), block = Int(1, 4), count = Int(1, 6);
    const bool own = i % 2 == 0;  // each outer slice has its own indices
    const std::vector<float> x = Numbers(outer * size * block), g = Numbers(outer * count * block);
    std::vector<int64_t> index(static_cast<size_t>(own ? outer * count : count));
    for (int64_t& k : index) k = Int(0, size - 1);
    std::vector<float> y, dx(x.size(), 0);
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t j = 0; j < count; ++j) {
        const int64_t row = index[static_cast<size_t>(own ? o * count + j : j)];
        for (int64_t k = 0; k < block; ++k) {
          const auto at = static_cast<size_t>((o * size + row) * block + k);
          dx[at] += g[y.size()];
          y.push_back(x[at]);
        }
      }
    }
    const std::vector<int64_t> dims = {outer, size, block}, out = {outer, count, block};
    Feed<float>(&ws_, "X", dims, x);
    Feed<float>(&ws_, "G", out, g);
    Feed<int64_t>(&ws_, "I", own ? std::vector<int64_t>{outer, count} : std::vector<int64_t>{count},
                  index);
    const std::string args =
        own ? " arg { name: 'match_outer' i: 1 }" : " arg { name: 'match_outer' i: 0 }";
    Run("type: 'BatchGather' input: 'X' input: 'I' output: 'Y'" + args);
    ExpectTensor<float>(ws_, "Y", out, y);
    Run("type: 'BatchGatherGradient' input: 'X' input: 'I' input: 'G' output: 'D'" + args);
    ExpectTensor<float>(ws_, "D", dims, dx);
  }
}

TEST_F(RandomSparseTest, WritesAndAddsSlices) {
  for (int i = 0; i < 80; ++i) {
    const int64_t size = Int(1, 6), block = Int(1, 9), count = Int(1, 8);
    const std::vector<float> x = Numbers(size * block), slices = Numbers(count * block);
    std::vector<int64_t> index(static_cast<size_t>(count));
    for (int64_t& k : index) k = Int(0, size - 1);
    std::vector<float> assigned = x, dense(x.size(), 0), weighted = x;
    for (size_t j = 0; j < index.size(); ++j) {
      for (int64_t k = 0; k < block; ++k) weighted[static_cast<size_t>(index[j] * block + k)] *= 2;
    }
    for (size_t j = 0; j < index.size(); ++j) {
      for (int64_t k = 0; k < block; ++k) {
        const auto to = static_cast<size_t>(index[j] * block + k);
        const float value = slices[j * static_cast<size_t>(block) + static_cast<size_t>(k)];
        assigned[to] = value;
        dense[to] += value;
        weighted[to] += 3 * value;
      }
    }
    const std::vector<int64_t> dims = {size, block};
    Feed<int64_t>(&ws_, "I", {count}, index);
    Feed<float>(&ws_, "S", {count, block}, slices);
    Feed<float>(&ws_, "X", dims, x);
    Run("type: 'ScatterAssign' input: 'X' input: 'I' input: 'S' output: 'X'");
    ExpectTensor<float>(ws_, "X", dims, assigned);
    Run("type: 'SparseToDense' input: 'I' input: 'S' output: 'Y' "
        "arg { name: 'output_first_dim' i: " +
        std::to_string(size) + " }");
    ExpectTensor<float>(ws_, "Y", dims, dense);
    Feed<float>(&ws_, "X", dims, x);
    Feed<float>(&ws_, "W", {1}, {2});
    Feed<float>(&ws_, "V", {1}, {3});
    // A slice that is named twice is multiplied twice, before anything is added.
    Run("type: 'ScatterWeightedSum' input: 'X' input: 'W' input: 'I' input: 'S' input: 'V' "
        "output: 'X'");
    ExpectTensor<float>(ws_, "X", dims, weighted);
  }
}

TEST_F(RandomSparseTest, SpreadsListsOverTheColumnsOfAMask) {
  for (int i = 0; i < 80; ++i) {
    const int64_t rows = Int(1, 4), block = Int(1, 3);
    std::vector<int64_t> mask = {11, 22, 33, 44}, ids;
    mask.resize(static_cast<size_t>(Int(1, 4)));
    std::shuffle(mask.begin(), mask.end(), random_);
    std::vector<int32_t> lengths;
    for (int64_t r = 0; r < rows; ++r) {
      lengths.push_back(static_cast<int32_t>(Int(0, 4)));
      for (int32_t k = lengths.back(); k > 0; --k) ids.push_back(11 * Int(1, 5));
    }
    const auto columns = static_cast<int64_t>(mask.size()), n = static_cast<int64_t>(ids.size());
    const std::vector<float> values = Numbers(n * block), g = Numbers(rows * columns * block);
    std::vector<float> want(g.size()), dvalues(values.size(), 0);
    for (size_t k = 0; k < want.size(); ++k) want[k] = -1 - static_cast<float>(k % block);
    std::vector<bool> present(static_cast<size_t>(rows * columns), false);
    size_t at = 0;
    for (int64_t r = 0; r < rows; ++r) {
      std::vector<int64_t> last(mask.size(), -1);  // only the last value of an id counts
      for (int32_t k = 0; k < lengths[static_cast<size_t>(r)]; ++k, ++at) {
        const auto found = std::find(mask.begin(), mask.end(), ids[at]);
        if (found != mask.end())
          last[static_cast<size_t>(found - mask.begin())] = static_cast<int64_t>(at);
      }
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t from = last[static_cast<size_t>(c)];
        if (from < 0) continue;
        present[static_cast<size_t>(r * columns + c)] = true;
        for (int64_t k = 0; k < block; ++k) {
          const auto to = static_cast<size_t>((r * columns + c) * block + k);
          want[to] = values[static_cast<size_t>(from * block + k)];
          dvalues[static_cast<size_t>(from * block + k)] = g[to];
        }
      }
    }
    std::vector<float> fallback;
    for (int64_t k = 0; k < block; ++k) fallback.push_back(-1 - static_cast<float>(k));
    Feed<int64_t>(&ws_, "I", {n}, ids);
    Feed<float>(&ws_, "V", {n, block}, values);
    Feed<float>(&ws_, "F", {block}, fallback);
    Feed<int32_t>(&ws_, "L", {rows}, lengths);
    Feed<float>(&ws_, "G", {rows, columns, block}, g);
    const std::string args = Ints("mask", mask);
    Run("type: 'SparseToDenseMask' input: 'I' input: 'V' input: 'F' input: 'L' output: 'Y' "
        "output: 'P' arg { name: 'return_presence_mask' i: 1 }" +
        args);
    ExpectTensor<float>(ws_, "Y", {rows, columns, block}, want);
    ExpectTensor<bool>(ws_, "P", {rows, columns}, present);
    Run("type: 'SparseToDenseMaskGradient' input: 'I' input: 'G' input: 'L' output: 'D'" + args);
    ExpectTensor<float>(ws_, "D", {n, block}, dvalues);
  }
}

// Each column holds the pixels of a block; pixels of several blocks are added up.
TEST_F(RandomSparseTest, AddsColumnsUpToImages) {
  for (int i = 0; i < 100; ++i) {
    const int64_t n = Int(1, 2), c = Int(1, 2);
    std::vector<int64_t> image, block, strides, dilations, heads, tails, blocks;
    for (int d = 0; d < 2; ++d) {
      image.push_back(Int(1, 6));
      block.push_back(Int(1, 3));
      strides.push_back(Int(1, 3));
      dilations.push_back(Int(1, 2));
      heads.push_back(Int(0, 2));
      tails.push_back(Int(0, 2));
      const int64_t room = image[d] + heads[d] + tails[d] - dilations[d] * (block[d] - 1) - 1;
      blocks.push_back(room < 0 ? 0 : room / strides[d] + 1);
    }
    const int64_t taps = block[0] * block[1], count = blocks[0] * blocks[1];
    if (count == 0) continue;
    const std::vector<float> columns = Numbers(n * c * taps * count);
    std::vector<float> want(static_cast<size_t>(n * c * image[0] * image[1]), 0);
    for (size_t k = 0; k < columns.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const int64_t b = at % count, tap = at / count % taps, plane = at / count / taps;
      const int64_t row = b / blocks[1] * strides[0] - heads[0] + tap / block[1] * dilations[0];
      const int64_t column = b % blocks[1] * strides[1] - heads[1] + tap % block[1] * dilations[1];
      if (row < 0 || row >= image[0] || column < 0 || column >= image[1]) continue;
      want[static_cast<size_t>((plane * image[0] + row) * image[1] + column)] += columns[k];
    }
    Feed<float>(&ws_, "X", {n, c * taps, count}, columns);
    Run("type: 'ONNXCol2Im' input: 'X' output: 'Y'" + Ints("image_shape", image) +
        Ints("block_shape", block) + Ints("strides", strides) + Ints("dilations", dilations) +
        Ints("pads", {heads[0], heads[1], tails[0], tails[1]}));
    ExpectTensor<float>(ws_, "Y", {n, c, image[0], image[1]}, want);
  }
}

}  // namespace
}  // namespace caffe2rt::random_sparse_test
