#include "operators/primitives/reduced_gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::reduced_gemm_test {
namespace {

using test::RandomValues;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

bool CpuHasVnni() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512vnni");
#else
  return false;
#endif
}

// Those that this machine has.
std::vector<ReducedKernel> ByteKernels() {
  std::vector<ReducedKernel> kernels = {ReducedKernel::kWordsPlain};
  if (CpuIsa() != Isa::kPlain) kernels.push_back(ReducedKernel::kWordsAvx2);
  if (CpuIsa() == Isa::kAvx512) kernels.push_back(ReducedKernel::kWordsAvx512);
  if (CpuIsa() == Isa::kAvx512 && CpuHasVnni()) kernels.push_back(ReducedKernel::kVnni);
  return kernels;
}

struct Matrix {
  int64_t rows, columns;
  std::vector<float> data;
  float at(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * columns + j)]; }
};

Matrix Random(int64_t rows, int64_t columns, uint32_t seed, float low = -1, float high = 1) {
  return {rows, columns, RandomValues(rows * columns, low, high, seed)};
}

Matrix Transposed(const Matrix& x) {
  Matrix result = {x.columns, x.rows, {}};
  for (int64_t j = 0; j < x.columns; ++j) {
    for (int64_t i = 0; i < x.rows; ++i) result.data.push_back(x.at(i, j));
  }
  return result;
}

std::unique_ptr<float[], decltype(&std::free)> Aligned(size_t nbytes) {
  const size_t whole = (nbytes + 63) / 64 * 64 + 64;
  void* const memory = std::aligned_alloc(64, whole);
  std::memset(memory, 0xff, whole);  // as from other work: NaN, and -1 as bytes
  return {static_cast<float*>(memory), &std::free};
}

struct Task {
  const Matrix& a;
  const Matrix& b;
  const std::vector<float>* bias = nullptr;
  Activation activation = {};
  bool transposed = false;
  int pieces = 1;
};

std::vector<float> Multiply(ReducedKernel kernel, const Task& run) {
  const ReducedGemm gemm(kernel, run.b.rows, run.b.columns);
  const auto form = Aligned(gemm.nbytes());
  const Matrix b = run.transposed ? Transposed(run.b) : run.b;
  gemm.Pack(run.transposed, b.data.data(), b.columns, form.get());
  const int64_t m = run.a.rows, n = run.b.columns;
  std::vector<float> c(static_cast<size_t>(m * n), -77);
  const ReducedProduct product = {.m = m,
                                  .a = run.a.data.data(),
                                  .lda = run.b.rows,
                                  .b = form.get(),
                                  .bias = run.bias != nullptr ? run.bias->data() : nullptr,
                                  .activation = run.activation,
                                  .c = c.data(),
                                  .ldc = n};
  const auto scratch = Aligned(static_cast<size_t>(gemm.ScratchFloats(m)) * sizeof(float));
  for (int piece = 0; piece < run.pieces; ++piece) {
    gemm.MultiplyPiece(product, piece, run.pieces, scratch.get());
  }
  return c;
}

// The definition in reduced_gemm.h, element by element.
std::vector<float> DefinitionOfBytes(const Matrix& a, const Matrix& b,
                                     const std::vector<float>& bias) {
  std::vector<float> c;
  for (int64_t i = 0; i < a.rows; ++i) {
    float low = 0, high = 0;
    for (int64_t p = 0; p < b.rows; ++p) {
      low = std::min(low, a.at(i, p));
      high = std::max(high, a.at(i, p));
    }
    const float scale = high / 255 - low / 255, inverse = 1 / scale;
    const float zero = std::nearbyint(-low / scale);
    for (int64_t j = 0; j < b.columns; ++j) {
      float largest = 0;
      for (int64_t p = 0; p < b.rows; ++p) largest = std::max(largest, std::fabs(b.at(p, j)));
      const float column_scale = largest / 127;
      int64_t sum = 0;
      for (int64_t p = 0; p < b.rows; ++p) {
        const float q = std::nearbyint(a.at(i, p) * inverse) + zero;
        const float w = std::nearbyint(b.at(p, j) / column_scale);
        sum += static_cast<int64_t>(std::clamp(q, 0.0f, 255.0f) - zero) * static_cast<int64_t>(w);
      }
      volatile const float product = static_cast<float>(sum) * (column_scale * scale);
      c.push_back(product + bias[static_cast<size_t>(j)]);
    }
  }
  return c;
}

class ByteGemmTest : public testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(ByteGemmTest, ReturnsTheProductOfQuantizedMatricesBitForBit) {
  const auto [m, n, k] = GetParam();
  const Matrix a = Random(m, k, 1, -1, 2), b = Random(k, n, 2);
  const std::vector<float> bias = RandomValues(n, -1, 1, 3);
  const std::vector<float> want = DefinitionOfBytes(a, b, bias);
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    for (const bool transposed : {false, true}) {
      EXPECT_EQ(Multiply(kernel, {.a = a, .b = b, .bias = &bias, .transposed = transposed}), want);
    }
    for (const int pieces : {2, 3, 7}) {
      EXPECT_EQ(Multiply(kernel, {.a = a, .b = b, .bias = &bias, .pieces = pieces}), want);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, ByteGemmTest,
                         testing::Combine(testing::Values(1, 2, 7, 12, 13, 29),
                                          testing::Values(1, 8, 15, 16, 33, 70),
                                          testing::Values(1, 2, 3, 5, 17, 130)));

// All products have the same sign and the largest magnitude: a sum of 255 * 127 * k, which pairs in 16
// bits, or floats, could not hold.
TEST(ByteGemmTest, SumsOfTheLargestBytesAreExact) {
  constexpr int64_t kTerms = ReducedGemm::kMaxByteTerms;
  const Matrix a = {1, kTerms, std::vector<float>(kTerms, 255.0f)};
  const Matrix b = {kTerms, 1, std::vector<float>(kTerms, -127.0f)};
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    EXPECT_EQ(Multiply(kernel, {.a = a, .b = b})[0], -255.0f * 127.0f * kTerms);
  }
  EXPECT_THROW(ReducedGemm(ReducedKernel::kWordsPlain, kTerms + 1, 1), EnforceNotMet);
}

// With tall matrices, rows are converted in several blocks.
TEST(ByteGemmTest, ManyRowsGiveWhatTheyGiveAlone) {
  const Matrix a = Random(300, 2000, 4), b = Random(2000, 40, 5);
  const std::vector<float> bias = RandomValues(40, -1, 1, 6);
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    if (kernel == ReducedKernel::kWordsPlain) continue;  // slow
    const std::vector<float> all = Multiply(kernel, {.a = a, .b = b, .bias = &bias});
    for (const int64_t row : {0, 127, 299}) {
      const auto from = a.data.begin() + row * 2000;
      const Matrix one = {1, 2000, {from, from + 2000}};
      const auto want = all.begin() + row * 40;
      EXPECT_EQ(Multiply(kernel, {.a = one, .b = b, .bias = &bias}),
                std::vector<float>(want, want + 40));
    }
  }
}

// A function that is no bound is applied to each result, in panels that are not whole and in every row.
TEST(ByteGemmTest, AppliesFunctionsToAllRowsAndColumns) {
  for (const int64_t m : {1, 13, 40}) {
    for (const int64_t n : {5, 32, 70}) {
      const Matrix a = Random(m, 24, 8), b = Random(24, n, 9);
      const std::vector<float> bias = RandomValues(n, -1, 1, 10);
      for (const ReducedKernel kernel : ByteKernels()) {
        SCOPED_TRACE(testing::Message() << ReducedKernelName(kernel) << " " << m << " x " << n);
        const std::vector<float> sums = Multiply(kernel, {.a = a, .b = b, .bias = &bias});
        for (const int pieces : {1, 3}) {
          const std::vector<float> got = Multiply(
              kernel,
              {.a = a, .b = b, .bias = &bias, .activation = Elu{.alpha = 0.5f}, .pieces = pieces});
          ASSERT_EQ(got.size(), sums.size());
          for (size_t i = 0; i < got.size(); ++i) {
            const float x = sums[i];
            ASSERT_NEAR(got[i], x > 0 ? x : 0.5f * std::expm1(x), 1e-6f) << i;
          }
        }
      }
    }
  }
}

TEST(ByteGemmTest, RowsAndColumnsThatAreNotFiniteGiveNaN) {
  const Matrix b = Random(20, 3, 6);
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    for (const float bad : {kNaN, kInf, -kInf}) {
      for (const size_t place : {0, 17, 19}) {
        Matrix a = Random(3, 20, 7);
        const std::vector<float> good = Multiply(kernel, {.a = a, .b = b});
        a.data[20 + place] = bad;
        const std::vector<float> c = Multiply(kernel, {.a = a, .b = b});
        Matrix bad_b = b;
        bad_b.data[place * 3 + 1] = bad;
        const std::vector<float> d = Multiply(kernel, {.a = Random(3, 20, 7), .b = bad_b});
        for (size_t i = 0; i < 9; ++i) {
          if (i / 3 == 1) {
            EXPECT_TRUE(std::isnan(c[i])) << i;
          } else {
            EXPECT_EQ(c[i], good[i]) << i;
          }
          if (i % 3 == 1) {
            EXPECT_TRUE(std::isnan(d[i])) << i;
          } else {
            EXPECT_EQ(d[i], good[i]) << i;
          }
        }
      }
    }
  }
}

TEST(ByteGemmTest, RowsOfZerosAndOfExtremesKeepTheirMagnitude) {
  const Matrix b = {2, 2, {1, -1, 1, 1}};
  const Matrix a = {4, 2, {0, 0, 3e38f, 0, -3e38f, 3e38f, 1e-36f, 0}};
  const std::vector<float> bias = {5, 6};
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    const std::vector<float> c = Multiply(kernel, {.a = a, .b = b, .bias = &bias});
    EXPECT_EQ(c[0], 5);
    EXPECT_EQ(c[1], 6);
    EXPECT_NEAR(c[2] / 3e38f, 1, 0.01);
    EXPECT_NEAR(c[3] / 3e38f, -1, 0.01);
    EXPECT_NEAR(c[4] / 3e38f, 0, 0.02);
    EXPECT_EQ(c[6], 5);
    EXPECT_EQ(c[7], 6);
  }
}

// Scales below the smallest normal number would lose digits: such columns count as zeros.
TEST(ByteGemmTest, ColumnsOfTinyWeightsAreZero) {
  constexpr float kLeast = 127 * std::numeric_limits<float>::min();
  const Matrix a = {1, 1, {1}}, b = {1, 3, {1e-38f, 1, kLeast}};
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    const std::vector<float> c = Multiply(kernel, {.a = a, .b = b});
    EXPECT_EQ(c[0], 0);
    EXPECT_NEAR(c[1], 1, 0.01);
    EXPECT_NEAR(c[2] / kLeast, 1, 0.01);
  }
}

TEST(ByteGemmTest, AppliesActivationsAndAllowsSizesOfZero) {
  const Matrix a = {2, 1, {1, -1}}, b = {1, 2, {127, 254}};
  for (const ReducedKernel kernel : ByteKernels()) {
    SCOPED_TRACE(ReducedKernelName(kernel));
    const std::vector<float> relu = Multiply(kernel, {.a = a, .b = b, .activation = Relu()});
    EXPECT_NEAR(relu[0], 127, 1e-4);
    EXPECT_NEAR(relu[1], 254, 1e-4);
    EXPECT_EQ(relu[2], 0);
    EXPECT_EQ(relu[3], 0);
    const std::vector<float> tanh = Multiply(kernel, {.a = a, .b = b, .activation = Tanh()});
    for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(tanh[i], i < 2 ? 1 : -1, 1e-6);
    const std::vector<float> bias = {3, 4};
    EXPECT_EQ(Multiply(kernel, {.a = {2, 0, {}}, .b = {0, 2, {}}, .bias = &bias}),
              (std::vector<float>{3, 4, 3, 4}));
    EXPECT_TRUE(Multiply(kernel, {.a = {0, 1, {}}, .b = b}).empty());
    EXPECT_TRUE(Multiply(kernel, {.a = a, .b = {1, 0, {}}}).empty());
  }
}

float RoundedToBf16(float x) {
  const uint32_t bits = std::bit_cast<uint32_t>(x);
  const uint32_t below = bits & 0xffff0000, half = bits & 0xffff;
  const bool up = half > 0x8000 || (half == 0x8000 && (below & 0x10000) != 0);
  return std::bit_cast<float>(below + (up ? 0x10000 : 0));
}

class Bf16GemmTest : public testing::TestWithParam<std::tuple<int, int, int>> {
 protected:
  void SetUp() override {
    if (!WhyNoBf16Products().empty()) GTEST_SKIP() << WhyNoBf16Products();
  }
};

TEST_P(Bf16GemmTest, AddsProductsOfRoundedNumbers) {
  const auto [m, n, k] = GetParam();
  const Matrix a = Random(m, k, 1), b = Random(k, n, 2);
  const std::vector<float> bias = RandomValues(n, -1, 1, 3);
  const auto c = Multiply(ReducedKernel::kBf16, {.a = a, .b = b, .bias = &bias});
  for (int64_t i = 0; i < m * n; ++i) {
    double want = double{bias[static_cast<size_t>(i % n)]};
    for (int64_t p = 0; p < k; ++p) {
      want += double{RoundedToBf16(a.at(i / n, p))} * RoundedToBf16(b.at(p, i % n));
    }
    ASSERT_NEAR(c[static_cast<size_t>(i)], want, 1e-6 * (1 + k)) << i;
  }
  const auto same = [&](const Task& run) { EXPECT_EQ(Multiply(ReducedKernel::kBf16, run), c); };
  same({.a = a, .b = b, .bias = &bias, .transposed = true});
  for (const int pieces : {2, 3, 7}) same({.a = a, .b = b, .bias = &bias, .pieces = pieces});
}

INSTANTIATE_TEST_SUITE_P(Sizes, Bf16GemmTest,
                         testing::Combine(testing::Values(1, 2, 7, 12, 13, 29),
                                          testing::Values(1, 15, 16, 33, 70),
                                          testing::Values(1, 2, 3, 17, 130)));

TEST(Bf16GemmSpecialTest, KeepsNaNAndInfinityAndAppliesBounds) {
  if (!WhyNoBf16Products().empty()) GTEST_SKIP() << WhyNoBf16Products();
  const Matrix a = {3, 1, {kNaN, kInf, -2}}, b = {1, 1, {3}};
  const auto c = Multiply(ReducedKernel::kBf16, {.a = a, .b = b});
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], kInf);
  EXPECT_EQ(c[2], -6);
  const auto d = Multiply(ReducedKernel::kBf16, {.a = a, .b = b, .activation = Relu()});
  EXPECT_TRUE(std::isnan(d[0]));
  EXPECT_EQ(d[2], 0);
}

// Forms are stored in files: nothing of what their memory held before remains.
TEST(ByteGemmTest, FormsDoNotDependOnTheirMemory) {
  const Matrix b = Random(21, 19, 1);
  for (const ReducedKernel kernel : ByteKernels()) {
    const ReducedGemm gemm(kernel, b.rows, b.columns);
    const auto used = Aligned(gemm.nbytes()), zeros = Aligned(gemm.nbytes());
    std::memset(zeros.get(), 0, gemm.nbytes());
    gemm.Pack(false, b.data.data(), b.columns, used.get());
    gemm.Pack(false, b.data.data(), b.columns, zeros.get());
    EXPECT_EQ(std::memcmp(used.get(), zeros.get(), gemm.nbytes()), 0) << ReducedKernelName(kernel);
  }
}

// Whole and partial vectors and panels.
TEST(ReducedGemmTest, BoundsApplyToEveryColumn) {
  std::vector<ReducedKernel> kernels = ByteKernels();
  if (WhyNoBf16Products().empty()) kernels.push_back(ReducedKernel::kBf16);
  for (const ReducedKernel kernel : kernels) {
    for (const int64_t m : {1, 5, 19}) {
      for (const int64_t n : {1, 7, 16, 31, 32, 50, 70}) {
        const Matrix a = Random(m, 21, 1), b = Random(21, n, 2);
        const std::vector<float> bias = RandomValues(n, -1, 1, 3);
        const std::vector<float> linear = Multiply(kernel, {a, b, &bias});
        const auto bounded = [&](const Activation& activation) {
          return Multiply(kernel, {a, b, &bias, activation});
        };
        const auto clamped = [&](float low, float high) {
          std::vector<float> want;
          for (const float value : linear) want.push_back(std::clamp(value, low, high));
          return want;
        };
        EXPECT_EQ(bounded(Clip{.min = -0.5f, .max = 0.75f}), clamped(-0.5f, 0.75f))
            << m << " x " << n;
        EXPECT_EQ(bounded(ReluN{.n = 0.5f}), clamped(0, 0.5f)) << m << " x " << n;
        EXPECT_EQ(bounded(Relu{}), clamped(0, kInf)) << m << " x " << n;
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::reduced_gemm_test
