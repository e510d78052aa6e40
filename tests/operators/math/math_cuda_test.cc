// Compares the math:: functions for a CUDAContext with those for a CPUContext, which have their own
// tests.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/math/binary.h"
#include "operators/math/blas.h"
#include "operators/math/images.h"
#include "operators/math/reductions.h"
#include "operators/math/unary.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::math::math_cuda_test {
namespace {

template <class C>
using Of = std::remove_pointer_t<C>;

class MathCudaTest : public test::CudaTest {
 protected:
  // Returns random numbers: in [0, 2) for floating-point types, from 1 to 7 for integers.
  template <class T>
  std::vector<T> Numbers(int64_t n) {
    std::vector<T> values(static_cast<size_t>(n));
    for (T& value : values) {
      const double unit = static_cast<double>(engine_()) / 4294967296.0;
      value = std::is_integral_v<T> ? static_cast<T>(1 + unit * 7) : static_cast<T>(unit * 2);
    }
    return values;
  }

  // Calls f(context, x, y, z) on both devices with the same inputs, and expects the same z.
  // Initially all elements of z are 3.
  template <class Out, class T, class F>
  void ExpectSame(const std::vector<T>& x, const std::vector<T>& y, int64_t out, const F& f,
                  double tolerance = 1e-5) {
    Tensor host(CPU), device(CUDA), dx(CUDA), dy(CUDA);
    host.Resize(out);
    Out* const z = host.mutable_data<Out>();
    std::fill_n(z, out, Out(3));
    device.Resize(out);
    Out* const dz = device.mutable_data<Out>();
    cuda_.CopyItemsFromCPU(TypeMeta::Make<Out>(), static_cast<size_t>(out), z, dz);
    f(&cuda_, Give(x, &dx), Give(y, &dy), dz);
    f(&cpu_, x.data(), y.data(), z);
    Tensor back(CPU);
    back.Resize(out);
    Out* const got = back.mutable_data<Out>();
    cuda_.CopyItemsToCPU(TypeMeta::Make<Out>(), static_cast<size_t>(out), dz, got);
    cuda_.FinishDeviceComputation();
    for (int64_t i = 0; i < out; ++i) {
      const double want = static_cast<double>(z[i]);
      ASSERT_NEAR(static_cast<double>(got[i]), want, tolerance * (1 + std::abs(want)))
          << "element " << i;
    }
  }
  template <class T>
  const T* Give(const std::vector<T>& x, Tensor* to) {
    to->Resize(static_cast<int64_t>(x.size()));
    T* const data = to->mutable_data<T>();
    cuda_.CopyItemsFromCPU(TypeMeta::Make<T>(), x.size(), x.data(), data);
    return data;
  }

  CPUContext cpu_;
  CUDAContext cuda_{0};
  std::mt19937 engine_{7};
};

#define SAME_UNARY(Name, T)                                                                      \
  {                                                                                              \
    SCOPED_TRACE(#Name);                                                                         \
    ExpectSame<T>(Numbers<T>(131), Numbers<T>(0), 131, [](auto* c, const T* x, const T*, T* z) { \
      Name<T, Of<decltype(c)>>(131, x, z, c);                                                    \
    });                                                                                          \
  }
#define SAME_UNARY_FLOATS(Name) SAME_UNARY(Name, float) SAME_UNARY(Name, double)
#define SAME_UNARY_NUMBERS(Name) \
  SAME_UNARY_FLOATS(Name) SAME_UNARY(Name, int32_t) SAME_UNARY(Name, int64_t)

TEST_F(MathCudaTest, MapsAsTheCpu) {
  SAME_UNARY_FLOATS(Exp)
  SAME_UNARY_FLOATS(Log)
  SAME_UNARY_FLOATS(Log1p)
  SAME_UNARY_FLOATS(Sin)
  SAME_UNARY_FLOATS(Cos)
  SAME_UNARY_FLOATS(Tan)
  SAME_UNARY_FLOATS(Atan)
  SAME_UNARY_FLOATS(Sinh)
  SAME_UNARY_FLOATS(Cosh)
  SAME_UNARY_FLOATS(Tanh)
  SAME_UNARY_FLOATS(Sqrt)
  SAME_UNARY_FLOATS(Rsqrt)
  SAME_UNARY_FLOATS(InvSqrt)
  SAME_UNARY_FLOATS(Cbrt)
  SAME_UNARY_FLOATS(Erf)
  SAME_UNARY_FLOATS(CdfNorm)
  SAME_UNARY_FLOATS(Inv)
  SAME_UNARY_NUMBERS(Abs)
  SAME_UNARY_NUMBERS(Sqr)
  SAME_UNARY_NUMBERS(Cube)
  SAME_UNARY_NUMBERS(Neg)
  SAME_UNARY_NUMBERS(Sign)
  // asin and acos are defined for numbers up to 1.
  ExpectSame<float>(std::vector<float>{-1, -0.5f, 0, 0.25f, 1}, {}, 5,
                    [](auto* c, const float* x, const float*, float* z) {
                      using C = Of<decltype(c)>;
                      Asin<float, C>(4, x, z, c);
                      Acos<float, C>(1, x + 4, z + 4, c);
                    });
}

TEST_F(MathCudaTest, MapsWithNumbers) {
  const std::vector<float> x = Numbers<float>(77), y = Numbers<float>(77);
  ExpectSame<float>(x, y, 77, [](auto* c, const float* a, const float*, float* z) {
    Powx<float, Of<decltype(c)>>(77, a, 2.5f, z, c);
  });
  ExpectSame<float>(x, y, 77, [](auto* c, const float* a, const float*, float* z) {
    InvStd<float, Of<decltype(c)>>(77, 0.5f, a, z, c);
  });
  ExpectSame<float>(x, y, 77, [](auto* c, const float* a, const float*, float* z) {
    Maximum<float, Of<decltype(c)>>(77, 0.7f, a, z, c);
  });
  ExpectSame<float>(x, y, 154, [](auto* c, const float* a, const float*, float* z) {
    SinCos<float, Of<decltype(c)>>(77, a, z, z + 77, c);
  });
  ExpectSame<float>(x, y, 77, [](auto* c, const float* a, const float* b, float* z) {
    using C = Of<decltype(c)>;
    Scale<float, C>(77, 0.3f, a, z, c);
    Axpy<float, C>(77, 0.7f, b, z, c);
    Axpby<float, C>(77, 2.f, a, -0.5f, z, c);
    Scale<float, C>(70, b + 3, z, z, c);  // the factor is in the same memory as the vectors
    Axpy<float, C>(70, b + 5, a, z, c);
  });
  ExpectSame<int64_t>(Numbers<int64_t>(9), {}, 9,
                      [](auto* c, const int64_t* a, const int64_t*, int64_t* z) {
                        Axpy<int64_t, Of<decltype(c)>>(9, 3, a, z, c);
                      });
}

template <class T>
class MathCudaSetTest : public MathCudaTest {};
using Elements =
    ::testing::Types<bool, int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, float, double>;
TYPED_TEST_SUITE(MathCudaSetTest, Elements);
TYPED_TEST(MathCudaSetTest, SetsEveryType) {
  this->template ExpectSame<TypeParam>(
      std::vector<int>{}, {}, 9, [](auto* c, const int*, const int*, TypeParam* z) {
        Set<TypeParam, Of<decltype(c)>>(7, TypeParam(1), z + 1, c);
        Set<TypeParam, Of<decltype(c)>>(0, TypeParam(1), nullptr, c);
      });
}

#define SAME_BINARY(Name, T, Result)                                      \
  {                                                                       \
    SCOPED_TRACE(#Name);                                                  \
    const auto forms = [](auto* c, const T* x, const T* y, Result* z) {   \
      using C = Of<decltype(c)>;                                          \
      const int a_dims[] = {5, 1, 7}, b_dims[] = {3, 1};                  \
      Name<T, C>(35, x, y, z, c);                                         \
      Rowwise##Name<T, C, false>(5, 7, x, y, z + 35, c);                  \
      Rowwise##Name<T, C, true>(5, 7, x, y, z + 70, c);                   \
      Colwise##Name<T, C, false>(5, 7, x, y, z + 105, c);                 \
      Colwise##Name<T, C, true>(5, 7, x, y, z + 140, c);                  \
      Name<T, C>(3, a_dims, 2, b_dims, x, y, z + 175, c);                 \
    };                                                                    \
    ExpectSame<Result>(Numbers<T>(35), Numbers<T>(35), 175 + 105, forms); \
  }
#define SAME_BINARY_NUMBERS(Name)   \
  SAME_BINARY(Name, float, float)   \
  SAME_BINARY(Name, double, double) \
  SAME_BINARY(Name, int32_t, int32_t) SAME_BINARY(Name, int64_t, int64_t)
#define SAME_COMPARISON(Name)    \
  SAME_BINARY(Name, float, bool) \
  SAME_BINARY(Name, double, bool) SAME_BINARY(Name, int32_t, bool) SAME_BINARY(Name, int64_t, bool)

TEST_F(MathCudaTest, CombinesAsTheCpuInEveryForm){
    SAME_BINARY_NUMBERS(Add) SAME_BINARY_NUMBERS(Sub) SAME_BINARY_NUMBERS(Mul)
        SAME_BINARY_NUMBERS(Div) SAME_BINARY_NUMBERS(Min) SAME_BINARY_NUMBERS(Max)
            SAME_BINARY(BitwiseAnd, int32_t, int32_t) SAME_BINARY(BitwiseOr, int64_t, int64_t)
                SAME_BINARY(BitwiseXor, int32_t, int32_t) SAME_COMPARISON(EQ) SAME_COMPARISON(NE)
                    SAME_COMPARISON(LT) SAME_COMPARISON(LE) SAME_COMPARISON(GT) SAME_COMPARISON(GE)}

TEST_F(MathCudaTest, CombinesTruths) {
  ExpectSame<bool>(std::vector<int>{}, {}, 24, [](auto* c, const int*, const int*, bool* z) {
    using C = Of<decltype(c)>;
    Set<bool, C>(24, false, z, c);
    Set<bool, C>(2, true, z + 2, c);  // 0 0 1 1
    Set<bool, C>(1, true, z + 5, c);  // 0 1 0 1
    Set<bool, C>(1, true, z + 7, c);
    And<bool, C>(4, z, z + 4, z + 8, c);
    Or<bool, C>(4, z, z + 4, z + 12, c);
    Xor<bool, C>(4, z, z + 4, z + 16, c);
    Not<bool, C>(4, z, z + 20, c);
  });
}

TEST_F(MathCudaTest, RejectsShapesThatDoNotBroadcast) {
  const int a[] = {2, 3}, b[] = {2}, c[] = {6}, none[] = {0};
  const auto error = [&](const int* last) {
    return test::ErrorOf([&] {
      Add<float, CUDAContext>(2, a, 1, last, nullptr, nullptr, static_cast<float*>(nullptr),
                              &cuda_);
    });
  };
  EXPECT_THAT(error(b), testing::HasSubstr("dims 3 and 2 do not broadcast"));
  EXPECT_THAT(error(c), testing::HasSubstr("dims 3 and 6 do not broadcast"));
  EXPECT_THAT(error(none), testing::HasSubstr("dims 3 and 0 do not broadcast"));
}

TEST_F(MathCudaTest, AddsToRowsAndColumnsInPlace) {
  ExpectSame<float>(Numbers<float>(12), {}, 35,
                    [](auto* c, const float* x, const float*, float* z) {
                      using C = Of<decltype(c)>;
                      AddToRow<float, C>(5, 7, x, z, c);
                      MulToCol<float, C>(5, 7, x + 7, z, c);
                    });
}

template <class T, class C>
void Products(C* c, const T* a, const T* b, T* z) {
  for (const int ta : {kNoTrans, kTrans}) {
    for (const int tb : {kNoTrans, kTrans}) {
      Gemm<T, C>(ta, tb, 5, 7, 9, 2, a, b, 0, z, c);
      Gemm<T, C>(ta, tb, 5, 7, 9, 1, a, b, 3, z, c);
      z += 35;
    }
  }
  // Leaves gaps between the rows.
  GemmEx<T, C>(kNoTrans, kTrans, 3, 2, 4, 1, a, 9, b, 5, 1, z, 7, c);
  Gemm<T, C>(kNoTrans, kNoTrans, 2, 2, 0, 1, a, b, 2, z, c);  // doubles the existing values
  Gemm<T, C>(kNoTrans, kNoTrans, 0, 7, 9, 1, a, b, 0, z, c);
  z += 21;
  Gemv<T, C>(kNoTrans, 5, 9, 1, a, b, 0, z, c);
  Gemv<T, C>(kTrans, 5, 9, 1, a, b, 1, z + 5, c);
  z += 14;
  GemmStridedBatched<T, C>(kNoTrans, kTrans, 3, 2, 3, 4, 1, a, 4, b, 0, 0, z, 6, c);
  GemmBatched<T, C>(kTrans, kNoTrans, 2, 2, 3, 4, 1, a, b, 1, z + 18, c);
  const T* as[] = {a, a + 11};
  const T* bs[] = {b + 5, b};
  T* cs[] = {z + 30, z + 36};
  GemmBatched<T, C>(kNoTrans, kNoTrans, 2, 2, 3, 4, 1, as, bs, 0, cs, c);
}
constexpr int64_t kProducts = 4 * 35 + 21 + 14 + 42;

TEST_F(MathCudaTest, MultipliesAsTheCpu) {
  ExpectSame<float>(Numbers<float>(45), Numbers<float>(63), kProducts,
                    [](auto* c, auto... xyz) { Products<float>(c, xyz...); });
  ExpectSame<double>(Numbers<double>(45), Numbers<double>(63), kProducts,
                     [](auto* c, auto... xyz) { Products<double>(c, xyz...); });
  ExpectSame<int32_t>(Numbers<int32_t>(45), Numbers<int32_t>(63), kProducts,
                      [](auto* c, auto... xyz) { Products<int32_t>(c, xyz...); });
}

TEST_F(MathCudaTest, MultipliesTheSameWithItsOwnKernel) {
  const std::vector<float> a = Numbers<float>(45), b = Numbers<float>(63);
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      const auto product = [=](auto* c, const float* x, const float* y, float* z) {
        using C = Of<decltype(c)>;
        if constexpr (internal::kIsCuda<C>) {
          internal::CudaGemm<float>(*c, GemmEngine::kNative,
                                    {.trans_a = ta,
                                     .trans_b = tb,
                                     .m = 5,
                                     .n = 7,
                                     .k = 9,
                                     .lda = ta ? 5 : 9,
                                     .ldb = tb ? 9 : 7,
                                     .ldc = 7},
                                    0.5f, x, y, 2.f, z);
        } else {
          Gemm<float, C>(ta ? kTrans : kNoTrans, tb ? kTrans : kNoTrans, 5, 7, 9, 0.5f, x, y, 2.f,
                         z, c);
        }
      };
      ExpectSame<float>(a, b, 35, product);
    }
  }
}

// Computes 1.5 * 2 + 0.25 * 4 = 4, and 65504, the largest half, with both engines.
TEST_F(MathCudaTest, MultipliesHalves) {
  for (const auto engine : {GemmEngine::kBest, GemmEngine::kNative}) {
    Tensor a(CUDA), b(CUDA), c(CUDA);
    const float16 *x = Give<float16>({1.5f, 0.25f, 0.f, 16376.f}, &a),
                  *y = Give<float16>({2.f, 4.f}, &b);
    c.Resize(2);
    float16* z = c.mutable_data<float16>();
    internal::CudaGemm<float16>(
        cuda_, engine, {.m = 2, .n = 1, .k = 2, .lda = 2, .ldb = 1, .ldc = 1}, 1.f, x, y, 0.f, z);
    float16 got[2];
    cuda_.CopyBytesToCPU(sizeof(got), z, got);
    cuda_.FinishDeviceComputation();
    EXPECT_EQ(static_cast<float>(got[0]), 4.f);
    EXPECT_EQ(static_cast<float>(got[1]), 65504.f);
  }
}

TEST_F(MathCudaTest, RejectsInvalidMatrixMultiplications) {
  EXPECT_THROW((Gemm<float, CUDAContext>(7, kNoTrans, 2, 2, 3, 1, nullptr, nullptr, 0,
                                         static_cast<float*>(nullptr), &cuda_)),
               EnforceNotMet);
  EXPECT_THROW((GemmEx<float, CUDAContext>(kNoTrans, kNoTrans, 2, 2, 3, 1, nullptr, 2, nullptr, 2,
                                           0, static_cast<float*>(nullptr), 2, &cuda_)),
               EnforceNotMet);
}

TEST_F(MathCudaTest, CopiesMatrices) {
  ExpectSame<float>(Numbers<float>(30), {}, 40,
                    [](auto* c, const float* x, const float*, float* z) {
                      using C = Of<decltype(c)>;
                      CopyMatrix<C>(sizeof(float), 3, 4, x, 5, z, 6, c);
                      CopyMatrix<float, C>(3, 2, x + 1, 5, z + 20, 3, c);
                      CopyMatrix<float, C>(2, 3, x, 1, 2, z + 30, 3, 1, c);
                      CopyVector<float, C>(2, x, z + 38, c);
                    });
}

template <class T, class C>
void Reductions(C* c, const T* x, const T* y, T* z) {
  const int dims[] = {4, 3, 5};
  for (const auto& kept :
       {std::array{4, 1, 5}, std::array{1, 3, 1}, std::array{1, 1, 1}, std::array{4, 3, 5}}) {
    ReduceSum<T, C>(3, dims, kept.data(), T(2), x, z, c);
    ReduceMean<T, C>(3, dims, kept.data(), T(1), x, z + 60, c);
    ReduceL1<T, C>(3, dims, kept.data(), T(1), x, z + 120, c);
    ReduceL2<T, C>(3, dims, kept.data(), T(1), x, z + 180, c);
    ReduceMin<T, C>(3, dims, kept.data(), T(1), x, z + 240, c);
    ReduceMax<T, C>(3, dims, kept.data(), T(3), x, z + 300, c);
    z += 360;
  }
  Sum<T, C>(60, x, z, c);
  SumSqr<T, C>(60, x, z + 1, c);
  Dot<T, C>(59, x, y, z + 2, c);
  ReduceMin<T, C>(60, x, z + 3, nullptr, c);
  ReduceMax<T, C>(60, x, z + 4, nullptr, c);
  Sum<T, C>(0, x, z + 5, c);
  RowwiseMax<T, C>(6, 10, x, z + 6, c);
  ColwiseMax<T, C>(6, 10, x, z + 12, c);
  AddStripedBatch<T, C>(7, x, z, 9, 5, c);
  const int row[] = {1, 5}, all[] = {2, 3, 5};
  Broadcast<T, C>(2, row, 3, all, T(2), x, z + 30, c);
}

TEST_F(MathCudaTest, ReducesAsTheCpu) {
  constexpr int64_t kOut = 4 * 360 + 60;
  ExpectSame<float>(Numbers<float>(60), Numbers<float>(60), kOut,
                    [](auto* c, auto... xyz) { Reductions<float>(c, xyz...); });
  ExpectSame<double>(Numbers<double>(60), Numbers<double>(60), kOut,
                     [](auto* c, auto... xyz) { Reductions<double>(c, xyz...); });
  ExpectSame<int32_t>(Numbers<int32_t>(60), Numbers<int32_t>(60), kOut,
                      [](auto* c, auto... xyz) { Reductions<int32_t>(c, xyz...); });
}

TEST_F(MathCudaTest, ReducesNothing) {
  ExpectSame<float>(Numbers<float>(1), {}, 9, [](auto* c, const float* x, const float*, float* z) {
    using C = Of<decltype(c)>;
    const int dims[] = {3, 0}, kept[] = {3, 1}, gone[] = {1, 0};
    ReduceSum<float, C>(2, dims, kept, 1.f, x, z, c);
    ReduceMax<float, C>(2, dims, kept, 1.f, x, z + 3, c);
    ReduceSum<float, C>(2, dims, gone, 1.f, x, z + 6, c);
    RowwiseMax<float, C>(3, 0, x, z + 6, c);
  });
}

TEST_F(MathCudaTest, ComputesMomentsAndSelects) {
  ExpectSame<float>(Numbers<float>(60), {}, 24,
                    [](auto* c, const float* x, const float*, float* z) {
                      const int dims[] = {4, 3, 5}, kept[] = {4, 3, 1};
                      Moments<float, Of<decltype(c)>>(3, dims, kept, x, z, z + 12, c);
                    });
  const std::vector<int> at = {2, 0, 1};
  Tensor indices(CUDA);
  const int* on_device = Give(at, &indices);
  ExpectSame<float>(Numbers<float>(12), {}, 3,
                    [&](auto* c, const float* x, const float*, float* z) {
                      using C = Of<decltype(c)>;
                      Select<float, C>(3, 4, x, internal::kIsCuda<C> ? on_device : at.data(), z, c);
                    });
}

template <StorageOrder kOrder, class C>
void MoveImages(C* c, const float* x, float* z) {
  // 2 channels of 5 x 6, kernel 3 x 2, dilation 1 x 2, pads 1 0 2 1, stride 2 x 1: 3 x 5 positions.
  Im2Col<float, C, kOrder>(2, 5, 6, 3, 2, 1, 2, 1, 0, 2, 1, 2, 1, x, z, c);
  z += 2 * 6 * 3 * 5;
  Col2Im<float, C, kOrder>(2, 5, 6, 3, 2, 1, 2, 1, 0, 2, 1, 2, 1, x, z, c);
  z += 60;
  // Three axes: 2 channels of 3 x 4 x 2, kernel 2 x 3 x 1, pad 1 on the second axis: 2 x 4 x 2
  // positions.
  const int first_img[] = {2, 3, 4, 2}, first_col[] = {12, 2, 4, 2};
  const int last_img[] = {3, 4, 2, 2}, last_col[] = {2, 4, 2, 12};
  const int kernel[] = {2, 3, 1}, ones[] = {1, 1, 1}, pad[] = {0, 1, 0};
  const int* img = kOrder == NCHW ? first_img : last_img;
  const int* col = kOrder == NCHW ? first_col : last_col;
  Im2ColNd<float, C, kOrder>(3, 48, 192, img, col, kernel, ones, ones, pad, x, z, c);
  z += 192;
  Col2ImNd<float, C, kOrder>(3, 48, 192, img, col, kernel, ones, ones, pad, x, z, c);
  z += 48;
  AffineChannel<float, C, kOrder>(2, 3, 7, x, x + 50, x + 60, z, c);
  BiasCHW<float, C>(x, 3, 7, z, c);
}

TEST_F(MathCudaTest, MovesImagesAsTheCpu) {
  constexpr int64_t kOut = 180 + 60 + 192 + 48 + 42;
  ExpectSame<float>(
      Numbers<float>(192), {}, kOut,
      [](auto* c, const float* x, const float*, float* z) { MoveImages<NCHW>(c, x, z); });
  ExpectSame<float>(
      Numbers<float>(192), {}, kOut,
      [](auto* c, const float* x, const float*, float* z) { MoveImages<NHWC>(c, x, z); });
}

TEST_F(MathCudaTest, Transposes) {
  const auto turn = [](auto* c, const auto* x, const auto*, auto* z) {
    using C = Of<decltype(c)>;
    using T = std::remove_const_t<std::remove_pointer_t<decltype(x)>>;
    const int dims[] = {2, 3, 1, 4}, axes[] = {3, 0, 2, 1};
    Transpose<T, C>(4, dims, axes, x, z, c);
    const int64_t none[] = {2, 0}, swapped[] = {0, 0};
    (void)swapped;
    const int order[] = {1, 0};
    Transpose<int64_t, T, C>(2, none, order, x, z, c);
    NCHW2NHWC<T, C>(2, 3, 4, x, z + 24, c);
    NHWC2NCHW<T, C>(2, 3, 4, x, z + 48, c);
  };
  ExpectSame<float>(Numbers<float>(24), Numbers<float>(0), 72, turn);
  ExpectSame<int64_t>(Numbers<int64_t>(24), Numbers<int64_t>(0), 72, turn);
  ExpectSame<uint8_t>(Numbers<uint8_t>(24), Numbers<uint8_t>(0), 72, turn);
}

TEST_F(MathCudaTest, DrawsFromTheSeedAndGoesOn) {
  DeviceOption option;
  option.set_device_type(CUDA);
  option.set_random_seed(5);
  constexpr int kCount = 20001;
  const auto draw = [&](CUDAContext* context, bool normal) {
    Tensor device(CUDA);
    device.Resize(kCount);
    float* const r = device.mutable_data<float>();
    if (normal) {
      RandGaussian<float, CUDAContext>(kCount, 2.f, 3.f, r, context);
    } else {
      RandUniform<float, CUDAContext>(kCount, -1.f, 3.f, r, context);
    }
    std::vector<float> values(kCount);
    context->CopyBytesToCPU(kCount * sizeof(float), r, values.data());
    context->FinishDeviceComputation();
    return values;
  };
  CUDAContext first(option), second(option);
  const std::vector<float> uniform = draw(&first, false), normal = draw(&first, true);
  EXPECT_EQ(uniform, draw(&second, false));
  EXPECT_NE(uniform, draw(&second, false));
  const auto mean = [](const std::vector<float>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  };
  const auto [least, most] = std::minmax_element(uniform.begin(), uniform.end());
  EXPECT_GE(*least, -1.f);
  EXPECT_LT(*most, 3.f);
  // The standard deviation of the mean is (b - a) / sqrt(12 n) = 0.008, and 3 / sqrt(n) = 0.02.
  EXPECT_NEAR(mean(uniform), 1, 0.04);
  EXPECT_NEAR(mean(normal), 2, 0.1);
  double squares = 0;
  for (const float value : normal) squares += (value - 2.) * (value - 2.);
  EXPECT_NEAR(squares / kCount, 9, 0.5);

  Tensor device(CUDA);
  device.Resize(1000);
  RandUniform<int32_t, CUDAContext>(1000, -1, 1, device.mutable_data<int32_t>(), &first);
  std::vector<int32_t> values(1000);
  first.CopyBytesToCPU(1000 * sizeof(int32_t), device.data<int32_t>(), values.data());
  first.FinishDeviceComputation();
  for (const int32_t value : {-1, 0, 1}) {
    EXPECT_GT(std::count(values.begin(), values.end(), value), 250) << value;
  }
  EXPECT_EQ(std::count_if(values.begin(), values.end(), [](int32_t v) { return std::abs(v) > 1; }),
            0);
}

}  // namespace
}  // namespace caffe2rt::math::math_cuda_test
