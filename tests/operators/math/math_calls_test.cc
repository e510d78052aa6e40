// Whole messages of the functions on arrays, each function and each element type once, and sizes of zero.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "contexts/cpu/cpu_context.h"
#include "operators/math/binary.h"
#include "operators/math/blas.h"
#include "operators/math/images.h"
#include "operators/math/random_vectors.h"
#include "operators/math/reductions.h"
#include "operators/math/unary.h"
#include "tests/support/refusals.h"

namespace caffe2rt::math::math_calls_test {
namespace {

using test::ExpectRefusals;
using ::testing::Each;
using ::testing::ElementsAre;

TEST(MathRefusalsTest, NameSizesAndIndices) {
  CPUContext context;
  static float x[64] = {}, y[64] = {};
  const int two[] = {2}, three[] = {3}, bad_axis[] = {0, 2}, negative[] = {-1, 0}, dims[] = {2, 2};
  const int none[] = {0}, at[] = {2, 0}, below[] = {0, -1};
  ExpectRefusals({
      {[&] { (Gemm<float, CPUContext>(7, kNoTrans, 1, 1, 1, 1, x, x, 0, y, &context)); },
       "transpositions are 7 and 111, want CblasNoTrans or CblasTrans"},
      {[&] { (Gemm<float, CPUContext>(kTrans, 113, 1, 1, 1, 1, x, x, 0, y, &context)); },
       "transpositions are 112 and 113, want CblasNoTrans or CblasTrans"},
      {[&] { (CopyMatrix<float, CPUContext>(2, 4, x, 3, y, 4, &context)); },
       "rows of 4 items are 3 and 4 apart"},
      {[&] { (CopyMatrix<float, CPUContext>(2, 4, x, 4, y, 3, &context)); },
       "rows of 4 items are 4 and 3 apart"},
      {[&] { (Add<float, CPUContext>(1, two, 1, three, x, x, y, &context)); },
       "dims 2 and 3 do not broadcast"},
      {[&] { (ReduceMin<float, CPUContext>(0, x, y, nullptr, &context)); },
       "number of values to take the minimum of: got 0, want more than 0"},
      {[&] { (ReduceMax<float, CPUContext>(0, x, y, nullptr, &context)); },
       "number of values to take the maximum of: got 0, want more than 0"},
      {[&] { (Select<float, CPUContext>(2, 2, x, at, y, &context)); },
       "index 2 of row 0, want 0 to 1"},
      {[&] { (Select<float, CPUContext>(2, 2, x, below, y, &context)); },
       "index -1 of row 1, want 0 to 1"},
      {[&] { (Transpose<float, CPUContext>(2, dims, bad_axis, x, y, &context)); },
       "axis 2 of a tensor of rank 2"},
      {[&] { (Transpose<float, CPUContext>(2, dims, negative, x, y, &context)); },
       "axis -1 of a tensor of rank 2"},
      {[&] {
         (Im2Col<float, CPUContext, NCHW>(1, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, x, y, &context));
       },
       "strides are 0 and 1"},
      {[&] {
         (Col2Im<float, CPUContext, NCHW>(1, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, -1, x, y, &context));
       },
       "strides are 1 and -1"},
      {[&] {
         int r[4];
         (RandUniformUnique<int, CPUContext>(3, 0, 2, r, 1, none, &context));
       },
       "cannot draw 3 different values from [0, 2] without 1 of them"},
      {[&] {
         int r[4];
         (RandUniformUnique<int, CPUContext>(0, 1, 0, r, 0, none, &context));
       },
       "cannot draw 0 different values from [1, 0] without 0 of them"},
  });
}

// c = f(a, b) for one pair of numbers on either side of equality.
TEST(BinaryCallsTest, ComputesEachFunction) {
  CPUContext context;
  const int a[] = {6, 3, 5}, b[] = {3, 6, 5};
  std::array<int, 3> c;
  std::array<bool, 3> t;
  const auto arithmetic = [&](void (*f)(int64_t, const int*, const int*, int*, CPUContext*)) {
    f(3, a, b, c.data(), &context);
    return c;
  };
  EXPECT_THAT(arithmetic(Add<int, CPUContext>), ElementsAre(9, 9, 10));
  EXPECT_THAT(arithmetic(Sub<int, CPUContext>), ElementsAre(3, -3, 0));
  EXPECT_THAT(arithmetic(Mul<int, CPUContext>), ElementsAre(18, 18, 25));
  EXPECT_THAT(arithmetic(Div<int, CPUContext>), ElementsAre(2, 0, 1));
  EXPECT_THAT(arithmetic(Min<int, CPUContext>), ElementsAre(3, 3, 5));
  EXPECT_THAT(arithmetic(Max<int, CPUContext>), ElementsAre(6, 6, 5));
  EXPECT_THAT(arithmetic(BitwiseAnd<int, CPUContext>), ElementsAre(2, 2, 5));
  EXPECT_THAT(arithmetic(BitwiseOr<int, CPUContext>), ElementsAre(7, 7, 5));
  EXPECT_THAT(arithmetic(BitwiseXor<int, CPUContext>), ElementsAre(5, 5, 0));
  const auto comparison = [&](void (*f)(int64_t, const int*, const int*, bool*, CPUContext*)) {
    f(3, a, b, t.data(), &context);
    return t;
  };
  EXPECT_THAT(comparison(EQ<int, CPUContext>), ElementsAre(false, false, true));
  EXPECT_THAT(comparison(NE<int, CPUContext>), ElementsAre(true, true, false));
  EXPECT_THAT(comparison(LT<int, CPUContext>), ElementsAre(false, true, false));
  EXPECT_THAT(comparison(LE<int, CPUContext>), ElementsAre(false, true, true));
  EXPECT_THAT(comparison(GT<int, CPUContext>), ElementsAre(true, false, false));
  EXPECT_THAT(comparison(GE<int, CPUContext>), ElementsAre(true, false, true));
  const bool p[] = {true, true, false}, q[] = {true, false, false};
  And<bool, CPUContext>(3, p, q, t.data(), &context);
  EXPECT_THAT(t, ElementsAre(true, false, false));
  Or<bool, CPUContext>(3, p, q, t.data(), &context);
  EXPECT_THAT(t, ElementsAre(true, true, false));
  Xor<bool, CPUContext>(3, p, q, t.data(), &context);
  EXPECT_THAT(t, ElementsAre(false, true, false));
}

TEST(BinaryCallsTest, CombinesMatricesThatAreNotSquare) {
  CPUContext context;
  const float m[] = {1, 2, 3, 4, 5, 6}, row[] = {10, 20, 30}, column[] = {100, 200};
  std::array<float, 6> c;
  RowwiseSub<float, CPUContext>(2, 3, m, row, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(-9, -18, -27, -6, -15, -24));
  RowwiseSub<float, CPUContext, true>(2, 3, row, m, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(9, 18, 27, 6, 15, 24));
  ColwiseSub<float, CPUContext>(2, 3, m, column, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(-99, -98, -97, -196, -195, -194));
  ColwiseSub<float, CPUContext, true>(2, 3, column, m, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(99, 98, 97, 196, 195, 194));
  std::copy_n(m, 6, c.begin());
  DivToRow<float, CPUContext>(2, 3, row, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(0.1f, 0.1f, 0.1f, 0.4f, 0.25f, 0.2f));
  std::copy_n(m, 6, c.begin());
  SubToCol<float, CPUContext>(2, 3, column, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(-99, -98, -97, -196, -195, -194));
  AddToCol<float, CPUContext>(2, 3, column, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(1, 2, 3, 4, 5, 6));
  MulToRow<float, CPUContext>(2, 3, row, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(10, 40, 90, 40, 100, 180));
  DivToCol<float, CPUContext>(2, 3, column, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(0.1f, 0.4f, 0.9f, 0.2f, 0.5f, 0.9f));
  // A scalar and an empty array.
  const int dims[] = {2, 3}, empty[] = {2, 0}, one[] = {1};
  Sub<float, CPUContext>(0, nullptr, 2, dims, row, m, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(9, 8, 7, 6, 5, 4));
  Sub<float, CPUContext>(2, empty, 1, one, nullptr, row, c.data(), &context);
  EXPECT_THAT(c, ElementsAre(9, 8, 7, 6, 5, 4));
}

TEST(UnaryCallsTest, ComputesEachFunction) {
  CPUContext context;
  const double x = 0.3;
  double y = 0;
  using Function = void (*)(int64_t, const double*, double*, CPUContext*);
  const struct {
    Function function;
    double want;
  } rows[] = {{Exp<double, CPUContext>, 1.3498588075760032},
              {Log<double, CPUContext>, -1.2039728043259361},
              {Log1p<double, CPUContext>, 0.26236426446749106},
              {Sin<double, CPUContext>, 0.29552020666133955},
              {Cos<double, CPUContext>, 0.955336489125606},
              {Tan<double, CPUContext>, 0.30933624960962325},
              {Asin<double, CPUContext>, 0.3046926540153975},
              {Acos<double, CPUContext>, 1.2661036727794992},
              {Atan<double, CPUContext>, 0.2914567944778671},
              {Sinh<double, CPUContext>, 0.3045202934471426},
              {Cosh<double, CPUContext>, 1.0453385141288605},
              {Tanh<double, CPUContext>, 0.2913126124515909},
              {Sqrt<double, CPUContext>, 0.5477225575051661},
              {Rsqrt<double, CPUContext>, 1.8257418583505538},
              {Cbrt<double, CPUContext>, 0.6694329500821695},
              {Neg<double, CPUContext>, -0.3},
              {CdfNorm<double, CPUContext>, 0.6179114221889526}};
  for (const auto& row : rows) {
    row.function(1, &x, &y, &context);
    EXPECT_NEAR(y, row.want, 1e-14) << row.want;
  }
  const bool flags[] = {true, false};
  std::array<bool, 2> no;
  Not<bool, CPUContext>(2, flags, no.data(), &context);
  EXPECT_THAT(no, ElementsAre(false, true));
  float s = 0.5f, c = 0;
  SinCos<float, CPUContext>(1, &s, &s, &c, &context);  // in place of the sine
  EXPECT_FLOAT_EQ(s, std::sin(0.5f));
  EXPECT_FLOAT_EQ(c, std::cos(0.5f));
  c = 0.5f;
  SinCos<float, CPUContext>(1, &c, &s, &c, &context);
  EXPECT_FLOAT_EQ(s, std::sin(0.5f));
  EXPECT_FLOAT_EQ(c, std::cos(0.5f));
}

TEST(BlasCallsTest, MultipliesOtherElementsAndBatches) {
  CPUContext context;
  // alpha 2, beta 3, and rows that are wider than the matrices.
  const int a[] = {1, 2, 9, 3, 4, 9}, b[] = {1, 0, 2, 1};
  std::array<int, 6> c = {1, 1, 7, 1, 1, 7};
  GemmEx<int, CPUContext>(kNoTrans, kNoTrans, 2, 2, 2, 2, a, 3, b, 2, 3, c.data(), 3, &context);
  EXPECT_THAT(c, ElementsAre(13, 7, 7, 25, 11, 7));
  const double x[] = {1, 10}, m[] = {1, 2, 3, 4, 5, 6};
  std::array<double, 3> y = {1, 1, 1};
  Gemv<double, CPUContext>(kTrans, 2, 3, 2, m, x, 0.5, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(82.5, 104.5, 126.5));
  // Batches with distances: the second matrices begin two and one elements later.
  const float p[] = {1, 2, 3, 4}, q[] = {5, 6};
  std::array<float, 4> r = {0, 0, 0, 0};
  GemmStridedBatched<float, CPUContext>(kNoTrans, kNoTrans, 2, 1, 1, 1, 1, p, 2, q, 1, 0, r.data(),
                                        3, &context);
  EXPECT_THAT(r, ElementsAre(5, 0, 0, 18));
  // NaN in C has no effect without beta.
  std::array<double, 1> nan = {NAN};
  Gemm<double, CPUContext>(kNoTrans, kNoTrans, 1, 1, 1, 1, x, x, 0, nan.data(), &context);
  EXPECT_EQ(nan[0], 1);
  // One row may be narrower than it is wide, and there may be none.
  std::array<float, 2> copy = {0, 0};
  CopyMatrix<float, CPUContext>(1, 2, p, 0, copy.data(), 0, &context);
  EXPECT_THAT(copy, ElementsAre(1, 2));
  CopyMatrix<float, CPUContext>(0, 2, nullptr, 0, nullptr, 0, &context);
}

// Each batch is alpha op(A) op(B) + beta C, however the matrices are given.
TEST(BlasCallsTest, EachMatrixOfABatchIsScaledAndAdded) {
  CPUContext context;
  constexpr int64_t kBatch = 3, kM = 2, kN = 4, kK = 3, kGap = 5;
  constexpr int64_t kA = kM * kK, kB = kK * kN, kC = kM * kN;
  std::vector<float> a, b, c;
  for (int64_t i = 0; i < kBatch * (kA + kGap); ++i) a.push_back(static_cast<float>(i * 5 % 7 - 3));
  for (int64_t i = 0; i < kBatch * (kB + kGap); ++i)
    b.push_back(static_cast<float>(i * 3 % 11 - 5));
  for (int64_t i = 0; i < kBatch * (kC + kGap); ++i) c.push_back(static_cast<float>(i % 13 - 6));
  for (const int trans_a : {kNoTrans, kTrans}) {
    for (const int trans_b : {kNoTrans, kTrans}) {
      for (const float beta : {0.f, 1.f, -2.f}) {
        for (const int64_t gap : {int64_t{0}, kGap}) {
          SCOPED_TRACE(MakeString(trans_a, " ", trans_b, " ", beta, " ", gap));
          std::vector<float> want = c;
          for (int64_t i = 0; i < kBatch * kC; ++i) {
            const int64_t batch = i / kC, row = i % kC / kN, column = i % kN;
            const auto at = [&](const std::vector<float>& x, int64_t size, int64_t place) {
              return x[static_cast<size_t>(batch * (size + gap) + place)];
            };
            float sum = 0;
            for (int64_t k = 0; k < kK; ++k) {
              sum += at(a, kA, trans_a == kTrans ? k * kM + row : row * kK + k) *
                     at(b, kB, trans_b == kTrans ? column * kK + k : k * kN + column);
            }
            float& y = want[static_cast<size_t>(batch * (kC + gap) + i % kC)];
            y = 0.5f * sum + beta * y;
          }
          std::vector<float> strided = c, pointed = c;
          GemmStridedBatched<float, CPUContext>(trans_a, trans_b, kBatch, kM, kN, kK, 0.5f,
                                                a.data(), kA + gap, b.data(), kB + gap, beta,
                                                strided.data(), kC + gap, &context);
          EXPECT_EQ(strided, want);
          const float *as[kBatch], *bs[kBatch];
          float* cs[kBatch];
          for (int64_t i = 0; i < kBatch; ++i) {
            as[i] = a.data() + i * (kA + gap);
            bs[i] = b.data() + i * (kB + gap);
            cs[i] = pointed.data() + i * (kC + gap);
          }
          GemmBatched<float, CPUContext>(trans_a, trans_b, kBatch, kM, kN, kK, 0.5f, as, bs, beta,
                                         cs, &context);
          EXPECT_EQ(pointed, want);
          if (gap != 0) continue;
          std::vector<float> adjacent = c;
          GemmBatched<float, CPUContext>(trans_a, trans_b, kBatch, kM, kN, kK, 0.5f, a.data(),
                                         b.data(), beta, adjacent.data(), &context);
          EXPECT_EQ(adjacent, want);
        }
      }
    }
  }
}

TEST(BroadcastCallsTest, SizesAreEqualOrOne) {
  CPUContext context;
  static float x[36] = {}, y[36] = {};
  for (int a = 0; a <= 6; ++a) {
    for (int b = 0; b <= 6; ++b) {
      const int first[] = {2, a}, second[] = {b};
      const std::string error =
          a == b || a == 1 || b == 1 ? "" : MakeString("dims ", a, " and ", b, " do not broadcast");
      std::string message;
      try {
        Add<float, CPUContext>(2, first, 1, second, x, x, y, &context);
      } catch (const EnforceNotMet& caught) {
        message = caught.message();
      }
      EXPECT_EQ(message.empty(), error.empty()) << a << " " << b << ": " << message;
      EXPECT_NE(message.find(error), std::string::npos) << message;
    }
  }
}

TEST(ReductionCallsTest, ReducesOtherElementsAndEmptyArrays) {
  CPUContext context;
  const int x[] = {1, -2, 3, 4, 5, -6};
  const int dims[] = {2, 3}, rows[] = {2, 1}, columns[] = {1, 3}, empty[] = {0, 3};
  std::array<int, 3> y = {9, 9, 9};
  ReduceSum<int, CPUContext>(2, dims, columns, 1, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(5, 3, -3));
  ReduceMax<int, CPUContext>(2, dims, rows, 10, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(30, 50, -3));
  ReduceMin<int, CPUContext>(2, dims, rows, 1, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(-2, -6, -3));
  ReduceSum<int, CPUContext>(2, empty, columns, 1, x, y.data(), &context);
  EXPECT_THAT(y, Each(0));
  std::array<float, 3> f = {9, 9, 9};
  const float v[] = {3, -4, 0, 0, 0, 2};
  ReduceL2<float, CPUContext>(2, dims, rows, 2, v, f.data(), &context);
  EXPECT_THAT(f, ElementsAre(10, 4, 9));
  ReduceL1<float, CPUContext>(2, dims, columns, 1, v, f.data(), &context);
  EXPECT_THAT(f, ElementsAre(3, 4, 2));
  ReduceMean<float, CPUContext>(2, dims, rows, 3, v, f.data(), &context);
  EXPECT_THAT(f, ElementsAre(-1, 2, 2));
  int sum = 0;
  Sum<int, CPUContext>(6, x, &sum, &context);
  EXPECT_EQ(sum, 5);
  Sum<int, CPUContext>(0, x, &sum, &context);
  EXPECT_EQ(sum, 0);
  Dot<int, CPUContext>(2, x, x + 3, &sum, &context);
  EXPECT_EQ(sum, -6);
  // No rows and no columns leave the result as it is.
  RowwiseMax<int, CPUContext>(2, 0, x, y.data(), &context);
  ColwiseMax<int, CPUContext>(0, 3, x, y.data(), &context);
  EXPECT_THAT(y, Each(0));
  ColwiseMax<int, CPUContext>(2, 3, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(4, 5, 3));
  RowwiseMax<int, CPUContext>(3, 2, x, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 4, 5));
  y = {0, 0, 0};
  AddStripedBatch<int, CPUContext>(2, x, y.data(), 2, 3, &context);
  EXPECT_THAT(y, ElementsAre(9, -4, 0));
  // A vector that is repeated along a new axis.
  std::array<int, 6> wide;
  const int three[] = {3};
  Broadcast<int, CPUContext>(1, three, 2, dims, 2, x, wide.data(), &context);
  EXPECT_THAT(wide, ElementsAre(2, -4, 6, 2, -4, 6));
  std::array<float, 1> mean = {9}, var = {9};
  const int none[] = {0}, single[] = {1};
  Moments<float, CPUContext>(1, none, single, v, mean.data(), var.data(), &context);
  EXPECT_EQ(mean[0], 9);
}

TEST(ImageCallsTest, PadsAndStepsDifferentlyAlongTheAxes) {
  CPUContext context;
  const float image[] = {1, 2, 3, 4, 5, 6};  // [2, 3]
  // Windows of 1 x 2 with dilation 2, stride 1 along the width, one column of padding on the left.
  std::array<float, 8> col;
  Im2Col<float, CPUContext, NCHW>(1, 2, 3, 1, 2, 1, 2, 0, 1, 0, 0, 1, 1, image, col.data(),
                                  &context);
  EXPECT_THAT(col, ElementsAre(0, 1, 0, 4, 2, 3, 5, 6));
  std::array<float, 6> back;
  Col2Im<float, CPUContext, NCHW>(1, 2, 3, 1, 2, 1, 2, 0, 1, 0, 0, 1, 1, col.data(), back.data(),
                                  &context);
  EXPECT_THAT(back, ElementsAre(1, 2, 3, 4, 5, 6));
  // One row of padding below, and every second row.
  std::array<float, 6> rows;
  Im2Col<float, CPUContext, NHWC>(1, 2, 3, 1, 1, 1, 1, 0, 0, 1, 0, 2, 1, image, rows.data(),
                                  &context);
  EXPECT_THAT(rows, ElementsAre(1, 2, 3, 0, 0, 0));
  std::array<float, 6> y;
  NCHW2NHWC<float, CPUContext>(2, 3, 1, image, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 2, 3, 4, 5, 6));
  NHWC2NCHW<float, CPUContext>(1, 2, 3, image, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 3, 5, 2, 4, 6));
  const int dims[] = {1, 2, 3}, axes[] = {2, 0, 1};
  Transpose<float, CPUContext>(3, dims, axes, image, y.data(), &context);
  EXPECT_THAT(y, ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(RandomCallsTest, DrawsIntegersUpToBothEnds) {
  DeviceOption option;
  option.set_random_seed(3);
  CPUContext context(option);
  std::array<int64_t, 200> r;
  RandUniform<int64_t, CPUContext>(r.size(), -1, 1, r.data(), &context);
  EXPECT_EQ(*std::min_element(r.begin(), r.end()), -1);
  EXPECT_EQ(*std::max_element(r.begin(), r.end()), 1);
  std::array<double, 200> d;
  RandUniform<double, CPUContext>(d.size(), 2, 3, d.data(), &context);
  EXPECT_GE(*std::min_element(d.begin(), d.end()), 2);
  EXPECT_LT(*std::max_element(d.begin(), d.end()), 3);
  std::array<int, 2> all;
  const int avoid[] = {5};
  RandUniformUnique<int, CPUContext>(2, 4, 6, all.data(), 1, avoid, &context);
  EXPECT_EQ(all[0] + all[1], 10);
  EXPECT_EQ(std::abs(all[0] - all[1]), 2);
}

}  // namespace
}  // namespace caffe2rt::math::math_calls_test
