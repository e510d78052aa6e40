#pragma once
// GroupNorm: normalizes groups of channels of each image by their mean and variance (Wu and He
// 2018).
//   X [N, C, *] or [N, *, C], gamma, beta [C]
//   ->  Y, optional mean [N, group], optional 1 / sqrt(var + epsilon) [N, group]
//
// GroupNormGradient: dY, X, gamma, beta (only its shape is used), mean, 1 / sqrt(var + epsilon)
//   ->  dX, dgamma, dbeta

#include "operators/norm/instance_norm.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kGroupNormGroup{
    "group",
    32,
    "number of groups, a divisor of the number of channels",
    {[](int group) { return group > 0; }, "above 0"}};
inline constexpr ArgumentSpec<float> kGroupNormEpsilon{"epsilon", 1e-5f, "added to the variance"};

template <class Context>
class GroupNormOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GroupNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        group_(this->ReadArgument(kGroupNormGroup)),
        epsilon_(this->ReadArgument(kGroupNormEpsilon)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_EQ(shape.count % group_, 0, "remainder of the channels of input 0 (X) of shape ",
                     X.sizes(), " divided by argument group ", group_, ", want 0");
    const float* x = X.template data<float>();
    const float* gamma = ChannelVector(Input(1), 1, "gamma", shape.count);
    const float* beta = ChannelVector(Input(2), 2, "beta", shape.count);
    const int64_t dims[] = {shape.batch, group_};
    float* mean = this->OutputSize() > 1 ? this->template OutputData<float>(1, dims) : nullptr;
    float* inv_std = this->OutputSize() > 2 ? this->template OutputData<float>(2, dims) : nullptr;
    float* y = Output(0, X.sizes(), X.dtype())->template mutable_data<float>();
    NormalizeGroups(context_, shape, group_, epsilon_, x, gamma, beta, &scratch_, y, mean, inv_std);
    return true;
  }

 private:
  const int group_;
  const float epsilon_;
  const StorageOrder order_;
  NormScratch scratch_;
};

template <class Context>
class GroupNormGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GroupNormGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        group_(this->ReadArgument(kGroupNormGroup)),
        order_(ReadStorageOrder(this->args())) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    const Tensor& X = Input(1);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 1 (X) of shape ", X.sizes(), ", want at least 2");
    const Channels shape = ChannelsOf(X, order_);
    CAFFE_ENFORCE_EQ(shape.count % group_, 0, "remainder of the channels of input 1 (X) of shape ",
                     X.sizes(), " divided by argument group ", group_, ", want 0");
    CAFFE_ENFORCE_EQ(dY.numel(), X.numel(), "elements of input 0 (dY) of shape ", dY.sizes(),
                     ", want as many as input 1 (X) of shape ", X.sizes());
    CAFFE_ENFORCE_EQ(Input(2).numel(), shape.count, "elements of input 2 (gamma) of shape ",
                     Input(2).sizes(), ", want one for each channel of input 1 (X)");
    CAFFE_ENFORCE_EQ(Input(3).numel(), shape.count, "elements of input 3 (beta) of shape ",
                     Input(3).sizes(), ", want one for each channel of input 1 (X)");
    GroupNormGradient gradient{.x = X.template data<float>(),
                               .dy = dY.template data<float>(),
                               .gamma = Input(2).template data<float>(),
                               .mean = Statistics(4, "mean", shape),
                               .inv_std = Statistics(5, "inv_std", shape)};
    gradient.dx = this->template OutputData<float>(0, X.sizes());
    gradient.dgamma = this->template OutputData<float>(1, Input(2).sizes());
    gradient.dbeta = this->template OutputData<float>(2, Input(3).sizes());
    sums_.Resize(GroupGradientScratch(shape));
    GradientOfGroups(context_, shape, group_, gradient, sums_.template mutable_data<float>());
    return true;
  }

 private:
  const float* Statistics(int i, const char* name, const Channels& shape) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), shape.batch * group_, "elements of input ", i, " (", name,
                     ") of shape ", tensor.sizes(), ", want ", group_,
                     " for each image of input 1 (X)");
    return tensor.template data<float>();
  }

  const int group_;
  const StorageOrder order_;
  Tensor sums_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
