// Runs the suite of all contexts on CUDA.
#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/context_suite.h"

namespace caffe2rt::test {
namespace {

// Registers the device before the suites request it.
const bool registered = (RegisterCUDAContext(), true);

std::vector<ContextSuiteDevice> Devices() {
  if (!HasCudaGPU()) return {};
  return {{.type = CUDA, .alignment = 512, .hold = [](BaseContext& context) {
             const auto gate =
                 std::make_shared<Gate>(static_cast<CUDAContext&>(context).cuda_stream());
             return [gate] { gate->Open(); };
           }}};
}

INSTANTIATE_TEST_SUITE_P(Cuda, ContextSuite, testing::ValuesIn(Devices()));
INSTANTIATE_TEST_SUITE_P(Cuda, AsyncContextSuite, testing::ValuesIn(Devices()));

}  // namespace
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ContextSuite);
}  // namespace caffe2rt::test
