#pragma once
// MSRAFill: draws floats from a normal distribution with mean 0 and standard deviation sqrt(2 /
// fan_out), where fan_out = elements / dim 1 (He et al. 2015).

#include <cmath>

#include "operators/fill/filler.h"
#include "operators/fill/random_fill.h"

namespace caffe2rt {

template <class Context>
class MSRAFillOp final : public Filler<Context> {
 public:
  MSRAFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {}

 private:
  void Fill(Tensor* output) override {
    CAFFE_ENFORCE_GE(output->dim(), 2,
                     "rank of the output, want at least 2: dim 1 is the number of inputs");
    CAFFE_ENFORCE_GT(output->dim(1), 0, "dim 1 of the output of shape ", output->sizes());
    const float std = std::sqrt(2.0f / static_cast<float>(output->numel() / output->dim(1)));
    FillNormal(this->context_, &draws_, output->numel(), 0.0f, std,
               output->template mutable_data<float>());
  }

  uint64_t draws_ = 0;
};

}  // namespace caffe2rt
