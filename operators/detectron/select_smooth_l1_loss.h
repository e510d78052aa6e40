#pragma once
// SelectSmoothL1Loss: scale / max(1, normalizer) * the sum of SmoothL1(Y_hat - Y) over selected
// boxes, where SmoothL1 is that of SmoothL1Loss.
//   Y_hat [N, C, H, W] float, Y [M, 4] float, locations float [M, 4], normalizer: scalar
//   ->  loss: scalar
// Box i is in four adjacent channels of Y_hat: locations[i] are its image, first channel, row and
// column. The loss of no boxes is 0.
//
// SelectSmoothL1LossGradient: the inputs, the gradient of the loss  ->  the gradient of Y_hat

#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/detectron/detectron_kernels.h"
#include "operators/detectron/input_checks.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kSelectSmoothL1Beta{
    "beta",
    1.0f,
    "the loss is quadratic for differences below beta",
    {[](float beta) { return beta > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kSelectSmoothL1Scale{
    "scale", 1.0f, "factor of the loss", {[](float scale) { return scale >= 0; }, "at least 0"}};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// THROWS if the shapes do not match.
SelectedBoxes SelectedBoxesOf(float beta, const Tensor& Y_hat, const Tensor& Y,
                              const Tensor& locations);
#pragma GCC visibility pop

template <class Context>
class SelectSmoothL1LossOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SelectSmoothL1LossOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        beta_(this->ReadArgument(kSelectSmoothL1Beta)),
        scale_(this->ReadArgument(kSelectSmoothL1Scale)) {}

  bool RunOnDevice() override {
    const SelectedBoxes boxes = SelectedBoxesOf(beta_, Input(0), Input(1), Input(2));
    const LossFactor factor = {.scale = scale_, .normalizer = OneFloat(Input(3), 3, "normalizer")};
    SelectedSum(context_, boxes, factor, &scratch_, this->template OutputData<float>(0, {}));
    return true;
  }

 private:
  const float beta_, scale_;
  Tensor scratch_{Context::GetDeviceType()};
};

template <class Context>
class SelectSmoothL1LossGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SelectSmoothL1LossGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        beta_(this->ReadArgument(kSelectSmoothL1Beta)),
        scale_(this->ReadArgument(kSelectSmoothL1Scale)) {}

  bool RunOnDevice() override {
    const Tensor& Y_hat = Input(0);
    const SelectedBoxes boxes = SelectedBoxesOf(beta_, Y_hat, Input(1), Input(2));
    const LossFactor factor = {.scale = scale_, .normalizer = OneFloat(Input(3), 3, "normalizer")};
    const float* const dloss = OneFloat(Input(4), 4, "d_loss");
    float* const dx = this->template OutputData<float>(0, Y_hat.sizes());
    FillZeros(context_, static_cast<size_t>(Y_hat.numel()) * sizeof(float), dx);
    SelectedGradients(context_, boxes, factor, dloss, {&keys_, &places_, &temporary_}, dx);
    return true;
  }

 private:
  const float beta_, scale_;
  Tensor keys_{Context::GetDeviceType()}, places_{Context::GetDeviceType()},
      temporary_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
