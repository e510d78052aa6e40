#pragma once
// GaussianFill: floats of a normal distribution with the arguments mean and std.

#include "operators/fill/filler.h"
#include "operators/fill/random_fill.h"

namespace caffe2rt {

template <class Context>
class GaussianFillOp final : public Filler<Context> {
 public:
  GaussianFillOp(const OperatorDef& def, Workspace* ws)
      : Filler<Context>(def, ws),
        mean_(this->template GetSingleArgument<float>("mean", 0.0f)),
        std_(this->template GetSingleArgument<float>("std", 1.0f)) {
    CAFFE_ENFORCE_GE(std_, 0.0f, "argument std, want at least 0");
  }

 private:
  void Fill(Tensor* output) override {
    FillNormal(this->context_, &draws_, output->numel(), mean_, std_,
               output->template mutable_data<float>());
  }

  const float mean_;
  const float std_;
  uint64_t draws_ = 0;
};

}  // namespace caffe2rt
