#pragma once
// GaussianFill: draws floats from the normal distribution given by the arguments mean and std.

#include "operators/fill/filler.h"
#include "operators/fill/random_fill.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kGaussianMean{"mean", 0, "mean of the distribution"};
inline constexpr ArgumentSpec<float> kGaussianStd{
    "std", 1, "standard deviation", {[](float std) { return std >= 0; }, "at least 0"}};

template <class Context>
class GaussianFillOp final : public Filler<Context> {
 public:
  GaussianFillOp(const OperatorDef& def, Workspace* ws)
      : Filler<Context>(def, ws),
        mean_(this->ReadArgument(kGaussianMean)),
        std_(this->ReadArgument(kGaussianStd)) {}

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
