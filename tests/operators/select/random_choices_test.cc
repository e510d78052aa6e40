// Operators that select rows and elements, on random masks and shapes, compared with lists of rows.

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "tests/support/operator_test.h"

namespace caffe2rt::random_choices_test {
namespace {

using test::ExpectTensor;
using test::Feed;

class RandomChoicesTest : public testing::Test {
 protected:
  int64_t Int(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  std::vector<bool> Mask(int64_t n) {
    std::vector<bool> mask(static_cast<size_t>(n));
    const int64_t of = Int(0, 3);  // never, seldom, often or always
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = of == 3 || Int(0, 2) < of;
    return mask;
  }
  static std::string Number(const std::string& name, int64_t value) {
    return " arg { name: '" + name + "' i: " + std::to_string(value) + " }";
  }
  void Run(const std::string& op) { test::RunOp(&ws_, op + " device_option {}"); }

  std::mt19937 random_{17};
  Workspace ws_;
};

TEST_F(RandomChoicesTest, KeepsTheRowsOfAMask) {
  for (int i = 0; i < 100; ++i) {
    const int64_t rows = Int(0, 9), block = Int(1, 5);
    std::vector<int64_t> x(static_cast<size_t>(rows * block)), kept, places;
    std::iota(x.begin(), x.end(), int64_t{1});
    const std::vector<bool> mask = Mask(rows);
    std::vector<int64_t> gradient(x.size(), 0);
    for (int64_t r = 0; r < rows; ++r) {
      if (!mask[static_cast<size_t>(r)]) continue;
      places.push_back(r);
      for (int64_t k = 0; k < block; ++k) {
        kept.push_back(x[static_cast<size_t>(r * block + k)]);
        gradient[static_cast<size_t>(r * block + k)] = kept.back();
      }
    }
    const auto count = static_cast<int64_t>(places.size());
    Feed<int64_t>(&ws_, "X", {rows, block}, x);
    Feed<bool>(&ws_, "M", {rows}, mask);
    Run("type: 'BooleanMask' input: 'X' input: 'M' output: 'Y' output: 'I'");
    ExpectTensor<int64_t>(ws_, "Y", {count, block}, kept);
    ExpectTensor<int64_t>(ws_, "I", {count}, places);
    Run("type: 'BooleanMaskGradient' input: 'M' input: 'Y' output: 'D'");
    ExpectTensor<int64_t>(ws_, "D", {rows, block}, gradient);
    Run("type: 'Compress' input: 'X' input: 'M' output: 'Y'" + Number("axis", 0));
    ExpectTensor<int64_t>(ws_, "Y", {count, block}, kept);
    // Columns instead of rows, and the rest of a shorter condition is not taken.
    const std::vector<bool> few = Mask(Int(0, block));
    std::vector<int64_t> columns;
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t k = 0; k < few.size(); ++k) {
        if (few[k]) columns.push_back(x[static_cast<size_t>(r * block) + k]);
      }
    }
    Feed<bool>(&ws_, "C", {static_cast<int64_t>(few.size())}, few);
    Run("type: 'Compress' input: 'X' input: 'C' output: 'Y'" + Number("axis", -1));
    ExpectTensor<int64_t>(ws_, "Y", {rows, std::count(few.begin(), few.end(), true)}, columns);
  }
}

// The first mask that is true at a position gives its next value.
TEST_F(RandomChoicesTest, MergesTheValuesOfMasks) {
  for (int i = 0; i < 80; ++i) {
    const int64_t n = Int(1, 9);
    std::vector<bool> taken(static_cast<size_t>(n), false);
    std::vector<int32_t> want(taken.size());
    std::string op = "type: 'BooleanUnmask' output: 'Y'";
    int32_t number = 0;
    for (int m = 0; m < 3; ++m) {
      const std::vector<bool> mask = m < 2 ? Mask(n) : std::vector<bool>(taken.size(), true);
      std::vector<int32_t> values;
      for (size_t k = 0; k < mask.size(); ++k) {
        if (!mask[k] || taken[k]) continue;
        taken[k] = true;
        values.push_back(want[k] = ++number);
      }
      const std::string name = std::to_string(m);
      Feed<bool>(&ws_, "M" + name, {n}, mask);
      Feed<int32_t>(&ws_, "V" + name, {static_cast<int64_t>(values.size())}, values);
      op += " input: 'M" + name + "' input: 'V" + name + "'";
    }
    Run(op);
    ExpectTensor<int32_t>(ws_, "Y", {n}, want);
  }
}

TEST_F(RandomChoicesTest, FindsTheIndicesOfElements) {
  for (int i = 0; i < 80; ++i) {
    const std::vector<int64_t> dims = {Int(1, 3), Int(1, 4), Int(1, 4)};
    const std::vector<bool> set = Mask(dims[0] * dims[1] * dims[2]);
    std::vector<int64_t> indices[3], want;
    for (size_t k = 0; k < set.size(); ++k) {
      if (!set[k]) continue;
      const auto at = static_cast<int64_t>(k);
      indices[0].push_back(at / dims[2] / dims[1]);
      indices[1].push_back(at / dims[2] % dims[1]);
      indices[2].push_back(at % dims[2]);
    }
    for (const auto& list : indices) want.insert(want.end(), list.begin(), list.end());
    Feed<bool>(&ws_, "X", dims, set);
    Run("type: 'NonZero' input: 'X' output: 'Y'");
    ExpectTensor<int64_t>(ws_, "Y", {3, static_cast<int64_t>(indices[0].size())}, want);
  }
}

// The largest elements along the last dimension, the first of equal ones before the others.
TEST_F(RandomChoicesTest, FindsTheLargestOfEachRow) {
  for (int i = 0; i < 80; ++i) {
    const int64_t rows = Int(1, 4), size = Int(1, Int(0, 3) == 0 ? 60 : 8), k = Int(1, size);
    std::vector<float> x(static_cast<size_t>(rows * size)), values, g, gradient(x.size(), 0);
    for (float& value : x) value = static_cast<float>(Int(-5, 5));
    std::vector<int64_t> places, flat;
    for (int64_t r = 0; r < rows; ++r) {
      const float* const row = x.data() + r * size;
      std::vector<int64_t> order(static_cast<size_t>(size));
      std::iota(order.begin(), order.end(), int64_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [row](int64_t a, int64_t b) { return row[a] > row[b]; });
      for (int64_t j = 0; j < k; ++j) {
        const int64_t place = order[static_cast<size_t>(j)];
        values.push_back(row[place]);
        places.push_back(place);
        flat.push_back(r * size + place);
        g.push_back(static_cast<float>(Int(-5, 5)));
        gradient[static_cast<size_t>(flat.back())] = g.back();
      }
    }
    SCOPED_TRACE(MakeString(rows, " ", size, " ", k));
    Feed<float>(&ws_, "X", {rows, size}, x);
    Run("type: 'TopK' input: 'X' output: 'V' output: 'I' output: 'F'" + Number("k", k));
    ExpectTensor<float>(ws_, "V", {rows, k}, values);
    ExpectTensor<int64_t>(ws_, "I", {rows, k}, places);
    ExpectTensor<int64_t>(ws_, "F", {rows * k}, flat);
    Feed<float>(&ws_, "G", {rows, k}, g);
    Run("type: 'TopKGradient' input: 'G' input: 'I' input: 'X' output: 'D'");
    ExpectTensor<float>(ws_, "D", {rows, size}, gradient);
  }
}

// Each n-gram is looked for at each place, with up to max_skip_count elements between two of it.
TEST_F(RandomChoicesTest, CountsEachGram) {
  const std::vector<std::vector<int32_t>> grams = {{0}, {2}, {0, 1}, {1, 1}, {2, 0}, {0, 1, 2}};
  const int columns[] = {3, 0, 5, 2, 1, 6};  // none is in column 4
  const float weights[] = {2, 3, 5, 7, 11, 13};
  const std::string known =
      " arg { name: 'ngram_counts' ints: 0 ints: 2 ints: 8 } arg { name: 'pool_int64s' ints: 0 "
      "ints: 2 ints: 0 ints: 1 ints: 1 ints: 1 ints: 2 ints: 0 ints: 0 ints: 1 ints: 2 } arg { "
      "name: 'ngram_indexes' ints: 3 ints: 0 ints: 5 ints: 2 ints: 1 ints: 6 }";
  const std::string weighted =
      " arg { name: 'weights' floats: 2 floats: 3 floats: 5 floats: 7 floats: 11 floats: 13 }";
  const char* const modes[] = {"TF", "IDF", "TFIDF"};
  for (int i = 0; i < 90; ++i) {
    const int64_t rows = Int(1, 3), length = Int(1, 9), skips = Int(0, 4);
    const auto least = static_cast<size_t>(Int(1, 3)), most = static_cast<size_t>(Int(least, 3));
    const std::string mode = modes[i % 3];
    const bool with_weights = Int(0, 2) > 0;
    std::vector<int32_t> x(static_cast<size_t>(rows * length));
    for (int32_t& value : x) value = static_cast<int32_t>(Int(0, 2));
    std::vector<float> want(static_cast<size_t>(rows * 7), 0);
    for (int64_t r = 0; r < rows; ++r) {
      for (size_t g = 0; g < grams.size(); ++g) {
        const std::vector<int32_t>& gram = grams[g];
        if (gram.size() < least || gram.size() > most) continue;
        int count = 0;
        for (int64_t apart = 1; apart <= (gram.size() == 1 ? 1 : skips + 1); ++apart) {
          for (int64_t first = 0; first < length; ++first) {
            bool found = true;
            for (size_t k = 0; k < gram.size(); ++k) {
              const int64_t at = first + static_cast<int64_t>(k) * apart;
              found = found && at < length && x[static_cast<size_t>(r * length + at)] == gram[k];
            }
            count += found ? 1 : 0;
          }
        }
        const float weight = with_weights ? weights[g] : 1;
        float& to = want[static_cast<size_t>(r * 7 + columns[g])];
        if (mode == "TF") to = static_cast<float>(count);
        if (mode == "IDF") to = count > 0 ? weight : 0;
        if (mode == "TFIDF") to = weight * static_cast<float>(count);
      }
    }
    Feed<int32_t>(&ws_, "X", {rows, length}, x);
    Run("type: 'TfIdfVectorizer' input: 'X' output: 'Y' arg { name: 'mode' s: '" + mode + "' }" +
        Number("min_gram_length", static_cast<int64_t>(least)) +
        Number("max_gram_length", static_cast<int64_t>(most)) + Number("max_skip_count", skips) +
        known + (with_weights ? weighted : ""));
    ExpectTensor<float>(ws_, "Y", {rows, 7}, want);
  }
}

}  // namespace
}  // namespace caffe2rt::random_choices_test
