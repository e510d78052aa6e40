// Operators on CUDA compute long calls as on the CPU, whose loops are divided and vectorized.
#include <gtest/gtest.h>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/devices_agree.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::long_calls_cuda_test {
namespace {

using LongCallsOnCudaTest = OnDeviceTest;  // skips the tests if the machine has no CUDA device

TEST_F(LongCallsOnCudaTest, AgreeWithTheCpu) {
  int compared = 0;
  for (const LongCall& call : LongCalls()) {
    const std::vector<OperatorDef> operators = OperatorsOf(call);
    const OperatorDef& last = operators.back();
    if (call.device_tolerance < 0 || !HasOperator(CUDA, last.type())) continue;
    SCOPED_TRACE(call.operators);
    ++compared;
    Workspace ws;
    FeedInputs(call, &ws);
    for (size_t i = 0; i + 1 < operators.size(); ++i) RunOp(&ws, operators[i]);
    ExpectDevicesAgree(&ws, last.DebugString(), {.tolerance = call.device_tolerance});
  }
  EXPECT_GT(compared, 90);
}

}  // namespace
}  // namespace caffe2rt::test::long_calls_cuda_test
