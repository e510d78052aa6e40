// A warm net allocates no memory, acquires no lock and makes no system call.
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/benchmarks/many_relu.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"
#include "tests/support/system_calls.h"

namespace caffe2rt::test::overhead_test {
namespace {

TEST(OverheadTest, WarmNetAllocatesAndLocksNothing) {
  Workspace ws;
  NetBase* net = MakeManyRelu(&ws);
  ASSERT_NE(net, nullptr);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  const AllocationCounts counts = counter.Counts();
  EXPECT_EQ(counts.allocations, 0);
  EXPECT_EQ(counts.locks, 0);
  EXPECT_EQ(counts.in_libraries, 0);
  ExpectTensor<float>(ws, "x" + std::to_string(kManyRelu), {1}, {1});
}

TEST(OverheadTest, WarmNetMakesNoSystemCall) {
  Workspace ws;
  const SystemCalls calls = RecordSystemCalls([&ws] {
    NetBase* const net = MakeManyRelu(&ws);
    for (int i = 0; i < 3; ++i) CAFFE_ENFORCE(net->Run(), "the net returned false");
    return [net] { CAFFE_ENFORCE(net->Run(), "the net returned false"); };
  });
  if (!calls.skip_reason.empty()) GTEST_SKIP() << calls.skip_reason;
  EXPECT_EQ(calls.error, "");
  EXPECT_THAT(calls.names, testing::IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::overhead_test
