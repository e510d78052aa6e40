#pragma once
// Runs that are rejected: they leave inputs, outputs and states as they were, and the same operator computes as before
// when it gets the good inputs again.
//
//   ExpectLeftAsTheyWere({"ScatterAssign X I S -> X", "X f 3; I i 2 = 0,1; S f 2",
//                         {{"I i 2 = 0,3", "index 3 in input 1 (INDICES) is out of range"}}});
//
// The texts are those of long_calls.h. The operators run on the CPU.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test {

struct FailedRun {
  const char* op;
  const char* good;
  // What replaces some of the good inputs, and a part of the message.
  std::vector<std::pair<const char*, const char*>> bad;
};

// Shape, type and bytes of each tensor.
inline std::map<std::string, std::string> ContentsOfBlobs(const Workspace& ws) {
  std::map<std::string, std::string> blobs;
  for (const std::string& name : ws.Blobs()) {
    if (!ws.GetBlob(name)->IsType<Tensor>()) continue;  // an output before its first run
    const Tensor& tensor = ws.GetBlob(name)->Get<Tensor>();
    std::string bytes(tensor.nbytes(), 0);
    if (!bytes.empty()) std::memcpy(bytes.data(), tensor.raw_data(), bytes.size());
    blobs[name] = MakeString(tensor.dtype().name(), " ", tensor.sizes(), " ", bytes);
  }
  return blobs;
}

inline void ExpectLeftAsTheyWere(const FailedRun& row) {
  OperatorDef def = OperatorsOf({row.op, ""}).back();
  def.mutable_device_option()->set_device_type(PROTO_CPU);
  Workspace once;
  FeedInputs({"", row.good}, &once);
  ASSERT_TRUE(once.RunOperatorOnce(def)) << row.op;
  const std::map<std::string, std::string> want = ContentsOfBlobs(once);
  for (const auto& [bad, message] : row.bad) {
    SCOPED_TRACE(MakeString(row.op, " with ", bad));
    Workspace ws;
    FeedInputs({"", row.good}, &ws);
    const std::unique_ptr<OperatorBase> op = CreateOperator(def, &ws);
    FeedInputs({"", bad}, &ws);
    const std::map<std::string, std::string> before = ContentsOfBlobs(ws);
    EXPECT_THAT(MessageOf([&] { op->Run(); }), testing::HasSubstr(message));
    const std::map<std::string, std::string> after = ContentsOfBlobs(ws);
    for (const auto& [name, content] : before) EXPECT_EQ(after.at(name), content) << name;
    FeedInputs({"", row.good}, &ws);
    ASSERT_TRUE(op->Run());
    EXPECT_EQ(ContentsOfBlobs(ws), want) << "after the rejected run";
  }
}

struct RejectedWith {
  const char* op;
  const char* inputs;
  const char* message;  // a part of it
};
inline void ExpectRejectedWith(const std::vector<RejectedWith>& rows) {
  for (const RejectedWith& row : rows) {
    SCOPED_TRACE(MakeString(row.op, " with ", row.inputs));
    OperatorDef def = OperatorsOf({row.op, ""}).back();
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    Workspace ws;
    FeedInputs({"", row.inputs}, &ws);
    EXPECT_THAT(MessageOf([&] { ws.RunOperatorOnce(def); }), testing::HasSubstr(row.message));
  }
}

}  // namespace caffe2rt::test
