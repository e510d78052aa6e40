// Reductions of a CUDAContext that share the work of one result among many blocks.

#include <gtest/gtest.h>

#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/math/reductions.h"
#include "tests/contexts/cuda/cuda_testing.h"

extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::math::reductions_cuda_test {
namespace {

using ReductionsCudaTest = test::CudaTest;

// One block would leave most of the device idle: a long sum has a kernel for the pieces, and one for
// their sums. The numbers are integers, so that the results do not depend on the order.
TEST_F(ReductionsCudaTest, SumsLongVectorsInPieces) {
  CUDAContext context;
  const bool counts = &fakecuda_calls != nullptr;
  for (const int64_t n : {8191, 8192, 100003, 5000000}) {
    SCOPED_TRACE(n);
    std::vector<double> x(static_cast<size_t>(n)), ones(static_cast<size_t>(n), 1);
    for (int64_t i = 0; i < n; ++i) x[static_cast<size_t>(i)] = static_cast<double>(i % 1000);
    const double whole = static_cast<double>(n / 1000), rest = static_cast<double>(n % 1000);
    const double want = whole * 499500 + rest * (rest - 1) / 2;
    Tensor on_device(CUDA), dones(CUDA), y(CUDA);
    on_device.CopyFrom(x);
    dones.CopyFrom(ones);
    const double *const dev_x = on_device.data<double>(), *const dev_ones = dones.data<double>();
    y.Resize(3);
    double* const to = y.mutable_data<double>();
    const long before = counts ? fakecuda_calls("kernel") : 0;
    Dot<double, CUDAContext>(n, dev_x, dev_ones, to, &context);
    Sum<double, CUDAContext>(static_cast<int>(n), dev_x, to + 1, &context);
    const int dims[] = {static_cast<int>(n)}, gone[] = {1};
    ReduceMax<double, CUDAContext>(1, dims, gone, 1.0, dev_x, to + 2, &context);
    if (counts) {
      EXPECT_EQ(fakecuda_calls("kernel") - before, n < 8192 ? 3 : 6);
    }
    double got[3];
    context.CopyItemsToCPU(TypeMeta::Make<double>(), 3, to, got);
    context.FinishDeviceComputation();
    EXPECT_EQ(got[0], want);
    EXPECT_EQ(got[1], want);
    EXPECT_EQ(got[2], 999);
  }
}

}  // namespace
}  // namespace caffe2rt::math::reductions_cuda_test
