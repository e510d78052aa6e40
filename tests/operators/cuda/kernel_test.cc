// Kernels over indices and over rows (contexts/cuda/cuda_kernel.cuh), on the fake CUDA and on
// hardware.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "caffe2_core/tensor/tensor.h"
#include "tests/operators/cuda/kernels.h"
#include "tests/support/devices_agree.h"

// Functions of the fake CUDA; undefined on hardware.
extern "C" __attribute__((weak)) void fakecuda_fail(const char* function, int after, int times,
                                                    cudaError_t error, int sticky);
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test::kernel_test {
namespace {

class KernelTest : public OnDeviceTest {
 protected:
  template <class T>
  static Tensor OnDevice(const std::vector<T>& values) {
    Tensor tensor(CUDA);
    tensor.CopyFrom(values);
    return tensor;
  }
  template <class T>
  static std::vector<T> Values(const Tensor& tensor) {
    const Tensor host(tensor, CPU);
    return {host.data<T>(), host.data<T>() + host.numel()};
  }
  // Runs FindRowFacts. Tensors do not support its element type, so the elements are passed as
  // bytes.
  static std::vector<RowFacts> Facts(bool warps, int64_t rows, int64_t cols,
                                     const std::vector<float>& x) {
    std::vector<RowFacts> facts(static_cast<size_t>(rows), RowFacts{9, 9, 9, 0});
    const size_t bytes = facts.size() * sizeof(RowFacts);
    std::vector<char> raw(bytes);
    memcpy(raw.data(), facts.data(), bytes);
    CUDAContext context;
    const Tensor in = OnDevice(x);
    Tensor out = OnDevice(raw);
    FindRowFacts(context, warps, rows, cols, in.data<float>(),
                 reinterpret_cast<RowFacts*>(out.mutable_data<char>()));
    context.FinishDeviceComputation();
    raw = Values<char>(out);
    memcpy(facts.data(), raw.data(), bytes);
    return facts;
  }
};

using Longs = std::vector<int64_t>;
constexpr int64_t kBeyond32Bits = (int64_t{1} << 32) + 5;

TEST_F(KernelTest, GivesEveryIndexOnce) {
  // More elements than the grid of a large device has threads.
  constexpr int64_t kMany = 1 << 20;
  CUDAContext context;
  Tensor y = OnDevice(Longs(kMany, -1));
  WriteIndices(context, 0, kMany, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  Longs want(kMany);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_TRUE(Values<int64_t>(y) == want);
}

TEST_F(KernelTest, CountsIndicesIn64Bits) {
  CUDAContext context;
  Tensor y = OnDevice(Longs(3));
  WriteIndices(context, kBeyond32Bits, 3, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), (Longs{4294967301, 4294967302, 4294967303}));
}

TEST_F(KernelTest, CountsRowsIn64Bits) {
  CUDAContext context;
  Tensor y = OnDevice(Longs(2));
  WriteRows(context, kBeyond32Bits, 2, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), (Longs{4294967301, 4294967302}));
}

TEST_F(KernelTest, GivesEveryRowOnce) {
  constexpr int64_t kRows = 70000;  // more than the second dimension of a grid allows
  CUDAContext context;
  Tensor y = OnDevice(Longs(kRows, -1));
  WriteRows(context, 0, kRows, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  Longs want(kRows);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_TRUE(Values<int64_t>(y) == want);
}

TEST_F(KernelTest, RunsTheLastIndexFirstOnTheFake) {
  if (fakecuda_calls == nullptr) GTEST_SKIP() << "a GPU promises no order";
  CUDAContext context;
  Tensor y = OnDevice(Longs(1));
  WriteToOne(context, 3, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), Longs{0});
}

TEST_F(KernelTest, LaunchesNothingForNothing) {
  const bool counts = &fakecuda_calls != nullptr;
  CUDAContext context;
  Tensor y = OnDevice(Longs{7});
  const long before = counts ? fakecuda_calls("kernel") : 0;
  WriteIndices(context, 0, 0, y.mutable_data<int64_t>());
  WriteIndices(context, 0, -1, y.mutable_data<int64_t>());
  WriteRows(context, 0, 0, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), Longs{7});
  if (counts) {
    EXPECT_EQ(fakecuda_calls("kernel"), before);
  }
}

// The parameter: whether short rows are given to warps.
class RowKernelTest : public KernelTest, public testing::WithParamInterface<bool> {};
INSTANTIATE_TEST_SUITE_P(WarpsOrBlocks, RowKernelTest, testing::Bool());

TEST_P(RowKernelTest, ReducesRowsOfAnyLength) {
  for (const int64_t cols : {1, 2, 31, 32, 33, 255, 256, 257, 1000}) {
    SCOPED_TRACE(cols);
    // Row 0 rises from 1, and row 1 falls to -cols. The values are integers, so that the sum does
    // not depend on the order.
    std::vector<float> x;
    for (int64_t i = 1; i <= cols; ++i) x.push_back(static_cast<float>(i));
    for (int64_t i = 1; i <= cols; ++i) x.push_back(static_cast<float>(-i));
    const std::vector<RowFacts> facts = Facts(GetParam(), 2, cols, x);
    const auto last = static_cast<float>(cols);
    EXPECT_EQ(facts[0].sum, last * (last + 1) / 2);
    EXPECT_EQ(facts[0].largest, last);
    EXPECT_EQ(facts[0].smallest, 1);
    EXPECT_EQ(facts[1].sum, -last * (last + 1) / 2);
    EXPECT_EQ(facts[1].largest, -1);
    EXPECT_EQ(facts[1].smallest, -last);
    EXPECT_EQ(facts[0].once, 1);
    EXPECT_EQ(facts[1].once, 1);
  }
}

// More rows than the warps of the blocks that a device runs at a time.
TEST_P(RowKernelTest, ReducesManyShortRows) {
  constexpr int64_t kRows = 200001, kCols = 3;
  std::vector<float> x;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kCols; ++j) x.push_back(static_cast<float>(i % 1000 + j));
  }
  const std::vector<RowFacts> facts = Facts(GetParam(), kRows, kCols, x);
  for (int64_t i = 0; i < kRows; ++i) {
    const auto first = static_cast<float>(i % 1000);
    const RowFacts& of = facts[static_cast<size_t>(i)];
    ASSERT_EQ(of.sum, 3 * first + 3) << "row " << i;
    ASSERT_EQ(of.largest, first + 2) << "row " << i;
    ASSERT_EQ(of.smallest, first) << "row " << i;
    ASSERT_EQ(of.once, 1) << "row " << i;
  }
}

TEST_P(RowKernelTest, ReducesARowWithoutColumnsToTheIdentity) {
  const std::vector<RowFacts> facts = Facts(GetParam(), 2, 0, {});
  EXPECT_EQ(facts[1].sum, 0);
  EXPECT_EQ(facts[1].largest, -INFINITY);
  EXPECT_EQ(facts[1].smallest, INFINITY);
  EXPECT_EQ(facts[1].once, 1);
}

// Beside 2^24, a float has no room for a single 1: the sum shows the order. Each thread adds its own
// elements, then lanes are added in pairs, then the block's warps in turn. A warp has 8 elements in a
// lane: 2^24 + 8 + 16 + 32 + 64 + 128. In a block, the first warp's lanes give 2^24 (+ 1, lost) + 2 +
// 4 + 8 + 16, the other seven 32 each.
TEST_P(RowKernelTest, AddsInTheOrderOfTheDevice) {
  std::vector<float> x(256, 1);
  x[0] = 16777216;
  EXPECT_EQ(Facts(GetParam(), 1, 256, x)[0].sum, 16777216 + (GetParam() ? 248 : 254));
}

TEST_P(RowKernelTest, ReducesStructs) {
  CUDAContext context;
  Tensor y = OnDevice(Longs(3));
  Tensor in;
  for (const int64_t cols : {60, 600}) {
    SCOPED_TRACE(cols);
    std::vector<float> x(static_cast<size_t>(3 * cols), 1);
    x[static_cast<size_t>(cols - 1)] = 2;         // the last element
    x[static_cast<size_t>(cols + cols / 2)] = 5;  // the first of two equal elements
    x[static_cast<size_t>(cols + cols / 2 + 1)] = 5;
    in = OnDevice(x);
    FindLargest(context, GetParam(), 3, cols, in.data<float>(), y.mutable_data<int64_t>());
    context.FinishDeviceComputation();
    EXPECT_EQ(Values<int64_t>(y), (Longs{cols - 1, cols / 2, 0}));
  }
  FindLargest(context, GetParam(), 3, 0, in.data<float>(), y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), (Longs{-1, -1, -1}));
}

TEST_P(RowKernelTest, SeesOtherIndicesAfterSync) {
  for (const size_t cols : {size_t{100}, size_t{513}}) {
    SCOPED_TRACE(cols);
    std::vector<float> x(2 * cols), want(2 * cols);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    for (size_t i = 0; i < cols; ++i) {
      want[i] = static_cast<float>(cols - 1 - i);
      want[cols + i] = static_cast<float>(2 * cols - 1 - i);
    }
    CUDAContext context;
    Tensor in = OnDevice(x);
    Tensor scratch = OnDevice(x);
    ReverseRows(context, GetParam(), 2, static_cast<int64_t>(cols), in.mutable_data<float>(),
                scratch.mutable_data<float>());
    context.FinishDeviceComputation();
    EXPECT_EQ(Values<float>(in), want);
  }
}

TEST_F(KernelTest, NamesTheKernelWhoseLaunchFails) {
  if (&fakecuda_fail == nullptr) GTEST_SKIP() << "launches are made to fail on the fake alone";
  CUDAContext context;
  Tensor y = OnDevice(Longs{7});
  for (const bool rows : {false, true}) {
    fakecuda_fail("kernel", 0, 1, cudaErrorLaunchOutOfResources, 0);
    try {
      (rows ? WriteRows : WriteIndices)(context, 0, 1, y.mutable_data<int64_t>());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const CudaError& error) {
      EXPECT_EQ(error.code(), cudaErrorLaunchOutOfResources);
      EXPECT_THAT(error.message(),
                  testing::EndsWith(rows ? ": kernel WriteRows" : ": kernel WriteIndices"));
    }
    EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  }
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), Longs{7});
  WriteIndices(context, 3, 1, y.mutable_data<int64_t>());
  context.FinishDeviceComputation();
  EXPECT_EQ(Values<int64_t>(y), Longs{3});
}

}  // namespace
}  // namespace caffe2rt::test::kernel_test
