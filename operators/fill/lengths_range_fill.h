#pragma once
// LengthsRangeFill: concatenates the ranges 0, 1, ..., lengths[i] - 1 for each i.
//   lengths [N] int32  ->  [sum of lengths] int32

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

template <class Context>
class LengthsRangeFillOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LengthsRangeFillOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& lengths = lengths_input_.Read(*this, 0);
    CAFFE_ENFORCE_EQ(lengths.dim(), 1, "rank of input 0 (lengths), want a vector");
    const int32_t* length = lengths.template data<int32_t>();
    int64_t total = 0;
    for (int64_t i = 0; i < lengths.numel(); ++i) {
      CAFFE_ENFORCE_GE(length[i], 0, "element ", i, " of input 0 (lengths), want at least 0");
      total = CheckedAdd<int64_t>(total, length[i]);
    }
    Tensor* const result = OnHost(Output(0));
    result->Resize(total);
    int32_t* out = result->template mutable_data<int32_t>();
    for (int64_t i = 0; i < lengths.numel(); ++i) {
      for (int32_t j = 0; j < length[i]; ++j) *out++ = j;
    }
    if (result != Output(0)) Output(0)->CopyFrom(*result, &context_);
    return true;
  }

 private:
  // The tensor that the host writes: the output itself if it is on the CPU.
  Tensor* OnHost(Tensor* output) { return Context::GetDeviceType() == CPU ? output : &on_host_; }

  HostInput lengths_input_;
  Tensor on_host_{CPU};
};

}  // namespace caffe2rt
