#pragma once
// One operator object on inputs that change from run to run computes what a new one computes from them: nothing of an
// earlier run is left in its tables, its scratch memory or its outputs.
//
//   ExpectRunsAsNew({"Relu X -> Y", {"X f 2,3", "X f 1", "X f 0"}});
//
// The texts are those of long_calls.h. Each row has all inputs. The operators run on the CPU.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/failed_runs.h"
#include "tests/operators/common/long_calls.h"

namespace caffe2rt::test {

struct ChangedRuns {
  std::string op;
  std::vector<std::string> inputs;
};

// Runs the rows of inputs forwards and backwards.
inline void ExpectRunsAsNew(const ChangedRuns& runs) {
  OperatorDef def = OperatorsOf({runs.op.c_str(), ""}).back();
  def.mutable_device_option()->set_device_type(PROTO_CPU);
  std::vector<std::string> order = runs.inputs;
  order.insert(order.end(), runs.inputs.rbegin() + 1, runs.inputs.rend());
  Workspace ws;
  FeedInputs({"", order[0].c_str()}, &ws);
  const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
  for (size_t i = 0; i < order.size(); ++i) {
    SCOPED_TRACE(MakeString(runs.op, ", run ", i, " on ", order[i]));
    Workspace once;
    FeedInputs({"", order[i].c_str()}, &once);
    FeedInputs({"", order[i].c_str()}, &ws);
    try {
      ASSERT_TRUE(once.RunOperatorOnce(def));
      ASSERT_TRUE(op->Run());
    } catch (const EnforceNotMet& error) {
      FAIL() << error.message();
    }
    EXPECT_TRUE(ContentsOfBlobs(ws) == ContentsOfBlobs(once));
  }
}

inline void ExpectRunsAsNew(const std::vector<ChangedRuns>& table) {
  for (const ChangedRuns& runs : table) ExpectRunsAsNew(runs);
}

}  // namespace caffe2rt::test
