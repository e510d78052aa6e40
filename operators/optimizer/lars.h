#pragma once
// Lars: the rate by which the gradient of a layer is scaled (You et al. 2017).
//   X, dX, wd, trust, lr_max  ->  lr_rescaled [1]
//
// The rate is trust / (|dX| / |X| + wd + offset) with L2 norms, between lr_min and lr_max, or 1 if
// the norm of X is 0.

#include "operators/optimizer/rate_kernels.h"
#include "operators/optimizer/update_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kLarsOffset{
    "offset",
    0.5f,
    "is added to the ratio of the norms; at least 0",
    {[](float offset) { return offset >= 0; }, "at least 0"}};
inline constexpr ArgumentSpec<float> kLarsMin{"lr_min",
                                              0.02f,
                                              "the least rate; at least 0",
                                              {[](float rate) { return rate >= 0; }, "at least 0"}};

template <class Context>
class LarsOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LarsOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        offset_(this->ReadArgument(kLarsOffset)),
        least_(this->ReadArgument(kLarsMin)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dX = Input(1);
    RequireSameSize({dX, "input 1 (dX)"}, {X, "input 0 (X)"});
    LarsRate rate{.x = X.data<float>(),
                  .dx = dX.data<float>(),
                  .weight_decay = FirstNumber({Input(2), "input 2 (wd)"}),
                  .trust = FirstNumber({Input(3), "input 3 (trust)"}),
                  .most = FirstNumber({Input(4), "input 4 (lr_max)"}),
                  .offset = offset_,
                  .least = least_,
                  .rate = nullptr};
    rate.rate = this->template OutputData<float>(0, {1});
    ComputeLarsRate(context_, X.numel(), rate, &scratch_);
    return true;
  }

 private:
  const float offset_, least_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
