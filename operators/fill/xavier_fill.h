#pragma once
// XavierFill: draws floats uniformly between -sqrt(3 / fan_in) and sqrt(3 / fan_in), where fan_in =
// elements / dim 0 (Glorot and Bengio 2010).

#include <cmath>

#include "operators/fill/filler.h"
#include "operators/fill/random_fill.h"

namespace caffe2rt {

template <class Context>
class XavierFillOp final : public Filler<Context> {
 public:
  XavierFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {}

 private:
  void Fill(Tensor* output) override {
    CAFFE_ENFORCE_GE(output->dim(), 1,
                     "rank of the output, want at least 1: dim 0 is the number of outputs");
    CAFFE_ENFORCE_GT(output->numel(), 0, "elements of the output of shape ", output->sizes());
    const float scale = std::sqrt(3.0f / static_cast<float>(output->numel() / output->dim(0)));
    FillUniform(this->context_, &draws_, output->numel(), -scale, scale,
                output->template mutable_data<float>());
  }

  uint64_t draws_ = 0;
};

}  // namespace caffe2rt
