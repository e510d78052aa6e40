#pragma once
// Whether an operator gives on CUDA what it gives on the CPU.
//
//   Workspace ws;
//   FeedRandom(&ws, "X", {3, 5});
//   ExpectDevicesAgree(&ws, R"(type: "Relu" input: "X" output: "Y")");

#include <string>

#include "caffe2_core/runtime/dispatch.h"
#include "tests/support/device_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

// Runs the operator over CPU tensors of `ws`, of a copy of them on CUDA, and compares types, dims
// and values; floats as ExpectTensor does.
inline void ExpectDevicesAgree(Workspace* ws, const std::string& text, double tolerance = 0) {
  SCOPED_TRACE(text);
  const OperatorDef def = ParseOp(text);
  Workspace other;
  for (const std::string& name : def.input()) {
    const Tensor& input = ws->GetBlob(name)->Get<Tensor>();
    Tensor* const copy = other.CreateBlob(name)->GetMutableTensor(CPU);
    if (copy->IsShaped()) continue;  // an input twice
    copy->CopyFrom(input);
  }
  ASSERT_TRUE(ws->RunOperatorOnce(def));
  ASSERT_TRUE(RunOperatorOn(CUDA, def, &other));
  for (const std::string& name : def.output()) {
    const Tensor& want = ws->GetBlob(name)->Get<Tensor>();
    DispatchByType<float, double, int32_t, int64_t, bool, uint8_t, int8_t, uint16_t, int16_t>(
        want.dtype(), "the output", [&](auto element) {
          using T = decltype(element);
          const T* const values = want.data<T>();
          ExpectTensor<T>(other, name, want.dims(), std::vector<T>(values, values + want.numel()),
                          tolerance);
        });
  }
}

}  // namespace caffe2rt::test
