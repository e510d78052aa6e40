#pragma once
// InstanceNorm: normalizes each channel of each image by its own mean and variance (Ulyanov et al.
// 2016).
//   X [N, C, *] or [N, *, C], scale, bias [C]
//   ->  Y, optional saved mean [N, C], optional saved 1 / sqrt(var + epsilon) [N, C]
//
// InstanceNormGradient: X, scale, bias (not used), dY, optional saved mean and saved inverse deviation
//   ->  dX, dscale, dbias
// The saved values are used if both are given; otherwise they are computed again.

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/norm/instance_norm_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<float> kInstanceNormEpsilon{
    "epsilon",
    1e-5f,
    "added to the variance",
    {[](float epsilon) { return epsilon >= 0; }, "at least 0"}};

template <class Context>
class InstanceNormOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  InstanceNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->ReadArgument(kInstanceNormEpsilon)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    X.template data<float>();
    const float* scale = ChannelVector(Input(1), 1, "scale", shape.count);
    const float* bias = ChannelVector(Input(2), 2, "bias", shape.count);
    const int64_t dims[] = {shape.batch, shape.count};
    float* mean = Saved(1, dims);
    float* inv_std = Saved(2, dims);
    float* y = Output(0, X.sizes(), X.dtype())->template mutable_data<float>();
    NormalizeGroups(context_, shape, shape.count, epsilon_, X.template data<float>(), scale, bias,
                    &scratch_, y, mean, inv_std);
    return true;
  }

 private:
  // Returns the data of output i, or null if the operator does not have this output.
  float* Saved(int i, IntArrayRef dims) {
    return i < this->OutputSize() ? this->template OutputData<float>(i, dims) : nullptr;
  }

  const float epsilon_;
  const StorageOrder order_;
  NormScratch scratch_;
};

template <class Context>
class InstanceNormGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  InstanceNormGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->ReadArgument(kInstanceNormEpsilon)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& dY = Input(3);
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 3 (dY) of shape ", dY.sizes(),
                     ", want as many as input 0 (X) of shape ", X.sizes());
    GroupNormGradient gradient{.epsilon = epsilon_,
                               .x = X.template data<float>(),
                               .dy = dY.template data<float>(),
                               .gamma = ChannelVector(Input(1), 1, "scale", shape.count)};
    if (this->InputSize() == 6) {
      gradient.mean = Saved(4, "saved_mean", shape);
      gradient.inv_std = Saved(5, "saved_inv_stdev", shape);
    }
    gradient.dx = this->template OutputData<float>(0, X.sizes());
    gradient.dgamma = this->template OutputData<float>(1, Input(1).sizes());
    gradient.dbeta = this->template OutputData<float>(2, Input(1).sizes());
    sums_.Resize(GroupGradientScratch(shape));
    GradientOfGroups(context_, shape, shape.count, gradient, sums_.template mutable_data<float>());
    return true;
  }

 private:
  const float* Saved(int i, const char* name, const Channels& shape) const {
    const Tensor& saved = Input(i);
    CAFFE_ENFORCE_EQ(saved.numel(), shape.batch * shape.count, "elements of input ", i, " (", name,
                     ") of shape ", saved.sizes(),
                     ", want one for each image and channel of input 0 (X)");
    return saved.template data<float>();
  }

  const float epsilon_;
  const StorageOrder order_;
  Tensor sums_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
