#pragma once
// Runs of one operator object on changing inputs, as rows of a table, in the text of long_calls.h:
// each run gives its results, or is rejected and leaves nothing behind.
//
//   ExpectRuns("FC X W b -> Y", {{"X f 1,1 = 2; W f 1,1 = 3; b f 1 = 1", "Y f 1,1 = 7"},
//                                {"b f 2", "", "input 2 (b) has shape [2]"}});
//
// Inputs that a row leaves out stay as they are.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

struct RunRow {
  std::string inputs;
  std::string results = {};  // blobs with their dims and values; empty: the run is rejected
  std::string message = {};  // a part of its message
};

inline void ExpectEqualTensors(const Tensor& got, const Tensor& want) {
  ASSERT_EQ(got.dims(), want.dims());
  ASSERT_EQ(got.dtype(), want.dtype()) << got.dtype().name();
  for (int64_t i = 0; i < want.numel(); ++i) {
    if (want.IsType<float>()) {
      EXPECT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-4) << "element " << i;
    } else {
      EXPECT_EQ(got.data<int32_t>()[i], want.data<int32_t>()[i]) << "element " << i;
    }
  }
}

inline void ExpectRuns(const char* text, const std::vector<RunRow>& rows) {
  Workspace ws;
  FeedInputs({"", rows[0].inputs.c_str()}, &ws);
  const auto op = CreateOperator(OperatorsOf({text, ""})[0], &ws);
  for (size_t i = 0; i < rows.size(); ++i) {
    SCOPED_TRACE(MakeString(text, ", run ", i));
    FeedInputs({"", rows[i].inputs.c_str()}, &ws);
    if (rows[i].results.empty()) {
      ExpectThrows([&] { op->Run(); }, rows[i].message);
      continue;
    }
    ASSERT_TRUE(op->Run());
    Workspace want;
    FeedInputs({"", rows[i].results.c_str()}, &want);
    for (const std::string& name : want.Blobs()) {
      SCOPED_TRACE(name);
      ExpectEqualTensors(ws.GetBlob(name)->Get<Tensor>(), want.GetBlob(name)->Get<Tensor>());
    }
  }
}

}  // namespace caffe2rt::test
