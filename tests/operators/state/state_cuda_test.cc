// The operators of this folder that behave differently on CUDA.
#include "contexts/cuda/cuda_allocator.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::state_cuda_test {
namespace {

TEST(GetGPUMemoryUsageCudaTest, ReturnsBytesInUseAndTheirPeakOfEachDevice) {
  Workspace ws;
  RunOp(&ws, "type: 'GetGPUMemoryUsage' output: 'usage'");
  const std::vector<int64_t> usage = Fetch<int64_t>(ws, "usage");
  const int64_t devices = static_cast<int64_t>(TotalMemoryByGpu().size());
  ASSERT_GT(devices, 0);
  EXPECT_EQ(DimsOf(ws, "usage"), (std::vector<int64_t>{2, devices}));
  for (int64_t i = 0; i < devices; ++i) {
    EXPECT_GE(usage[static_cast<size_t>(i)], 0);
    EXPECT_LE(usage[static_cast<size_t>(i)], usage[static_cast<size_t>(devices + i)]);
  }
}

}  // namespace
}  // namespace caffe2rt::test::state_cuda_test
