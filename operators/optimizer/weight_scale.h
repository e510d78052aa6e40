#pragma once
// WeightScale: multiplies a parameter by a constant every `stepsize` iterations.
//   w, iter, int64, on the CPU for every device  ->  w * scale or w (may be in place)
//
// It multiplies if iter + 1 is a multiple of stepsize and less than upper_bound_iter.

#include <limits>

#include "operators/common/element_type.h"
#include "operators/optimizer/update_checks.h"
#include "operators/optimizer/update_loops.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int64_t> kWeightScaleStep{
    "stepsize",
    std::numeric_limits<int64_t>::max(),
    "iterations between two multiplications; not 0",
    {[](int64_t step) { return step != 0; }, "a number of iterations"}};
inline constexpr ArgumentSpec<int64_t> kWeightScaleBound{
    "upper_bound_iter", std::numeric_limits<int64_t>::max(), "the iteration at which it ends"};
inline constexpr ArgumentSpec<float> kWeightScaleFactor{"scale", 1.0f, "the factor"};

template <class Context>
class WeightScaleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  WeightScaleOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        step_(this->ReadArgument(kWeightScaleStep)),
        bound_(this->ReadArgument(kWeightScaleBound)),
        scale_(this->ReadArgument(kWeightScaleFactor)) {}

  bool RunOnDevice() override {
    const Tensor& w = Input(0);
    RequireElements<float>(w);
    const int64_t iteration = ReadIteration(*this, 1, &iteration_);
    const float* const from = w.data<float>();
    float* const to = this->template OutputData<float>(0, w.sizes());
    const bool scales = iteration < std::numeric_limits<int64_t>::max() && iteration + 1 < bound_ &&
                        (iteration + 1) % step_ == 0;
    if (scales || from != to) {
      UpdateAll(context_, w.numel(), ScaleRule{from, to, scales ? scale_ : 1.0f});
    }
    return true;
  }

 private:
  const int64_t step_, bound_;
  const float scale_;
  HostInput iteration_;
};

}  // namespace caffe2rt
