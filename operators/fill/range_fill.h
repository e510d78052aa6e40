#pragma once
// RangeFill: the floats 0, 1, 2, ... in row-major order.

#include "operators/fill/filler.h"

namespace caffe2rt {

template <class Context>
class RangeFillOp final : public Filler<Context> {
 public:
  RangeFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {}

 private:
  void Fill(Tensor* output) override {
    float* data = output->template mutable_data<float>();
    for (int64_t i = 0; i < output->numel(); ++i) data[i] = static_cast<float>(i);
  }
};

}  // namespace caffe2rt
