// The fake cuBLAS, compared with hand-computed values and with naive loops.

#include <cublas_v2.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "element/on_device.h"
#include "fake_cuda/fake_cuda.h"

namespace {

using fakecuda::OnDevice;

class CublasTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cublasCreate(&handle_), CUBLAS_STATUS_SUCCESS); }
  void TearDown() override {
    EXPECT_EQ(cublasDestroy(handle_), CUBLAS_STATUS_SUCCESS);
    fakecuda_reset(nullptr);
  }
  std::vector<float> Random(size_t size) {
    std::vector<float> values(size);
    std::uniform_real_distribution<float> distribution(-1, 1);
    for (float& value : values) value = distribution(generator_);
    return values;
  }

  cublasHandle_t handle_ = nullptr;
  std::mt19937 generator_{7};
  const float one_ = 1, zero_ = 0;
};

// A handle takes memory of the device, as on hardware, where that may wait.
TEST_F(CublasTest, AllocatesForAHandleWhereAllocationsWait) {
  cublasHandle_t handle = nullptr;
  fakecuda_reset_calls();
  for (const long waits : {0L, 1L}) {
    fakecuda_set("allocation_waits", waits);
    ASSERT_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(fakecuda_calls("memory_wait"), waits);
    ASSERT_EQ(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
    EXPECT_EQ(fakecuda_calls("memory_wait"), 2 * waits);
  }
}

TEST_F(CublasTest, MultipliesColumnMajorMatrices) {
  // [1 3; 2 4] * [5 7; 6 8] = [23 31; 34 46]
  OnDevice<float> a({1, 2, 3, 4}), b({5, 6, 7, 8}), c({1, 1, 1, 1});
  const float alpha = 2, beta = 10;
  ASSERT_EQ(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &alpha, a.get(), 2, b.get(), 2,
                        &beta, c.get(), 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.Read(), (std::vector<float>{56, 78, 72, 102}));
}

TEST_F(CublasTest, HonoursTransposesAndLeadingDimensions) {
  const int m = 3, n = 4, k = 5, lda = 7, ldb = 8, ldc = 6;
  const std::vector<float> a = Random(7 * 7), b = Random(8 * 8), c = Random(6 * 4);
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      OnDevice<float> da(a), db(b), dc(c);
      const float alpha = 0.5f, beta = -2;
      ASSERT_EQ(cublasSgemm(handle_, ta ? CUBLAS_OP_T : CUBLAS_OP_N, tb ? CUBLAS_OP_T : CUBLAS_OP_N,
                            m, n, k, &alpha, da.get(), lda, db.get(), ldb, &beta, dc.get(), ldc),
                CUBLAS_STATUS_SUCCESS);
      std::vector<float> want = c;
      for (int i = 0; i < m; ++i) {
        for (int j = 0; j < n; ++j) {
          float sum = 0;
          for (int l = 0; l < k; ++l) {
            sum += (ta ? a[l + i * lda] : a[i + l * lda]) * (tb ? b[j + l * ldb] : b[l + j * ldb]);
          }
          want[i + j * ldc] = alpha * sum + beta * c[i + j * ldc];
        }
      }
      const std::vector<float> got = dc.Read();
      for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5) << i;
    }
  }
}

TEST_F(CublasTest, DoesNotReadTheResultWithBetaZero) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  OnDevice<float> a({2}), b({3}), c({nan});
  ASSERT_EQ(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, a.get(), 1, b.get(), 1,
                        &zero_, c.get(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.Read()[0], 6);
}

TEST_F(CublasTest, RunsOnTheStreamOfTheHandle) {
  cudaStream_t stream;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cublasSetStream(handle_, stream), CUBLAS_STATUS_SUCCESS);
  OnDevice<float> a({2}), b({3}), c({0});
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  fakecuda_pause(stream);
  ASSERT_EQ(cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, a.get(), 1, b.get(), 1,
                        &zero_, c.get(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  fakecuda_resume(stream);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(c.Read()[0], 6);
}

TEST_F(CublasTest, MultipliesBatches) {
  OnDevice<float> a({1, 2, 3}), b({10, 20, 30}), c({0, 0, 0, 0, 0});
  ASSERT_EQ(cublasSgemmStridedBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, a.get(), 1,
                                      1, b.get(), 1, 1, &zero_, c.get(), 1, 2, 3),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.Read(), (std::vector<float>{10, 0, 40, 0, 90}));
  OnDevice<const float*> as({a.get() + 2, a.get()}), bs({b.get(), b.get()});
  OnDevice<float*> cs({c.get() + 1, c.get() + 3});
  ASSERT_EQ(cublasSgemmBatched(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, as.get(), 1,
                               bs.get(), 1, &zero_, cs.get(), 1, 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.Read(), (std::vector<float>{10, 30, 40, 10, 90}));
}

TEST_F(CublasTest, MultipliesHalfIntoFloat) {
  OnDevice<__half> a({__float2half(0.5f), __float2half(3)}), b({__float2half(4), __float2half(2)});
  OnDevice<float> c({0});
  ASSERT_EQ(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &one_, a.get(), CUDA_R_16F, 1,
                         b.get(), CUDA_R_16F, 2, &zero_, c.get(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(c.Read()[0], 8);
  EXPECT_EQ(cublasGemmEx(handle_, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 2, &one_, a.get(), CUDA_R_16F, 1,
                         b.get(), CUDA_R_32F, 2, &zero_, c.get(), CUDA_R_32F, 1, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT),
            CUBLAS_STATUS_NOT_SUPPORTED);
}

TEST_F(CublasTest, RejectsWrongArguments) {
  OnDevice<float> a({1, 2, 3, 4});
  float* p = a.get();
  const auto gemm = [&](int m, int lda, int ldc, const float* alpha) {
    return cublasSgemm(handle_, CUBLAS_OP_N, CUBLAS_OP_N, m, 1, 1, alpha, p, lda, p, 1, &zero_, p,
                       ldc);
  };
  EXPECT_EQ(gemm(-1, 1, 1, &one_), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(2, 1, 2, &one_), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(2, 2, 1, &one_), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(2, 2, 2, nullptr), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, 1, 1, &one_), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(
      cublasSgemm(nullptr, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one_, p, 1, p, 1, &zero_, p, 1),
      CUBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_STREQ(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE), "CUBLAS_STATUS_INVALID_VALUE");
}

TEST_F(CublasTest, RejectsPointersOutsideOfAllocations) {
  OnDevice<float> a({1, 2, 3, 4});
  std::vector<float> host(4);
  EXPECT_EQ(cublasSscal(handle_, 4, &one_, host.data(), 1), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cublasSscal(handle_, 5, &one_, a.get(), 1), CUBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_EQ(cublasSscal(handle_, 4, &one_, a.get(), 1), CUBLAS_STATUS_SUCCESS);
}

TEST_F(CublasTest, ComputesWithVectors) {
  OnDevice<float> x({1, -2, 3, -4}), y({10, 20, 30, 40});
  const float two = 2;
  float result = 0;
  ASSERT_EQ(cublasSdot(handle_, 4, x.get(), 1, y.get(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 10 - 40 + 90 - 160);
  ASSERT_EQ(cublasSasum(handle_, 4, x.get(), 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 10);
  ASSERT_EQ(cublasSnrm2(handle_, 2, x.get() + 2, 1, &result), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 5);
  ASSERT_EQ(cublasSaxpy(handle_, 2, &two, x.get(), 2, y.get(), -1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(y.Read(), (std::vector<float>{16, 22, 30, 40}));  // y is traversed from its end
  ASSERT_EQ(cublasScopy(handle_, 2, x.get(), 1, y.get(), 2), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(y.Read(), (std::vector<float>{1, 22, -2, 40}));
}

TEST_F(CublasTest, ReadsAndWritesScalarsOnTheDevice) {
  OnDevice<float> x({1, 2}), scalars({3, 0});
  ASSERT_EQ(cublasSetPointerMode(handle_, CUBLAS_POINTER_MODE_DEVICE), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSscal(handle_, 2, scalars.get(), x.get(), 1), CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(cublasSasum(handle_, 2, x.get(), 1, scalars.get() + 1), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(scalars.Read()[1], 9);
  EXPECT_EQ(cublasSscal(handle_, 2, &one_, x.get(), 1), CUBLAS_STATUS_EXECUTION_FAILED);
}

TEST_F(CublasTest, MultipliesMatricesWithVectors) {
  OnDevice<double> a({1, 2, 3, 4, 5, 6}), x({1, 10, 100}), y({0, 0, 0});  // 2 by 3
  const double one = 1, zero = 0;
  ASSERT_EQ(
      cublasDgemv(handle_, CUBLAS_OP_N, 2, 3, &one, a.get(), 2, x.get(), 1, &zero, y.get(), 1),
      CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(y.Read(), (std::vector<double>{531, 642, 0}));
  ASSERT_EQ(cublasDgemv(handle_, CUBLAS_OP_T, 2, 3, &one, a.get(), 2, x.get(), 1, &one, y.get(), 1),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(y.Read(), (std::vector<double>{552, 685, 65}));
  ASSERT_EQ(cublasDger(handle_, 2, 1, &one, x.get(), 1, x.get() + 1, 1, a.get(), 2),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(a.Read(), (std::vector<double>{11, 102, 3, 4, 5, 6}));
}

TEST_F(CublasTest, ChecksTheWorkspace) {
  OnDevice<char> space(std::vector<char>(1024));
  EXPECT_EQ(cublasSetWorkspace(handle_, space.get(), 1024), CUBLAS_STATUS_SUCCESS);
  EXPECT_EQ(cublasSetWorkspace(handle_, space.get() + 1, 1000), CUBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(cublasSetWorkspace(handle_, space.get(), 2048), CUBLAS_STATUS_INVALID_VALUE);
}

}  // namespace
