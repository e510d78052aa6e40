// Operators give the same results on every number of threads, and write all of them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/base/thread_pool.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::divided_work_test {
namespace {

// Copies of the tensors that the last operator of a call writes, in their order.
std::vector<Tensor> ResultsOf(const LongCall& call, const Workspace& inputs, int threads) {
  Workspace ws;
  for (const std::string& name : inputs.Blobs())
    ws.CreateBlob(name)->GetMutableTensor(CPU)->CopyFrom(inputs.GetBlob(name)->Get<Tensor>());
  const std::vector<OperatorDef> operators = OperatorsOf(call);
  SetNumThreads(threads);
  for (const OperatorDef& op : operators) RunOp(&ws, op);
  SetNumThreads(1);
  std::vector<Tensor> results;
  for (const std::string& name : operators.back().output())
    results.emplace_back(ws.GetBlob(name)->Get<Tensor>(), CPU);
  return results;
}

bool IsNear(float got, float want, double tolerance) {
  return std::abs(got - want) <= tolerance * std::max(1.0f, std::abs(want));
}

void ExpectSame(const Tensor& got, const Tensor& want, double tolerance) {
  ASSERT_EQ(got.dims(), want.dims());
  ASSERT_EQ(got.dtype(), want.dtype());
  if (tolerance == 0 || !want.IsType<float>()) {
    EXPECT_EQ(std::memcmp(got.raw_data(), want.raw_data(), want.nbytes()), 0);
    return;
  }
  for (int64_t i = 0; i < want.numel(); ++i)
    ASSERT_TRUE(IsNear(got.data<float>()[i], want.data<float>()[i], tolerance)) << "element " << i;
}

void ExpectSameOnThreads(const LongCall& call) {
  Workspace inputs;
  FeedInputs(call, &inputs);
  const std::vector<Tensor> want = ResultsOf(call, inputs, 1);
  for (const int threads : {2, 3, 7}) {
    SCOPED_TRACE(MakeString(threads, " threads"));
    const std::vector<Tensor> got = ResultsOf(call, inputs, threads);
    for (size_t i = 0; i < want.size(); ++i) ExpectSame(got[i], want[i], call.tolerance);
  }
}

TEST(DividedWorkTest, GivesTheSameOnEveryNumberOfThreads) {
  for (const LongCall& call : LongCalls()) {
    SCOPED_TRACE(call.operators);
    try {
      ExpectSameOnThreads(call);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::divided_work_test
