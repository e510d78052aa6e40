#include "tests/support/operator_test.h"

namespace caffe2rt::test::get_gpu_memory_usage_test {
namespace {

TEST(GetGPUMemoryUsageTest, DoesNotRunOnTheCPU) {
  Workspace ws;
  ExpectThrows([&] { ws.RunOperatorOnce(ParseOp("type: 'GetGPUMemoryUsage' output: 'usage'")); },
               "Cannot create operator of type 'GetGPUMemoryUsage' on the device 'CPU'");
}

}  // namespace
}  // namespace caffe2rt::test::get_gpu_memory_usage_test
