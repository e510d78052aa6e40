#pragma once
// LayerNorm: normalizes the elements from `axis` on by their mean and standard deviation (Ba, Kiros
// and Hinton 2016).
//   X [M.., N..]; with elementwise_affine also gamma and beta of N elements
//   ->  Y = (X - mean) / std * gamma + beta, mean [M.., 1], std = sqrt(var + epsilon) [M.., 1]
// Supports float and double.
//
// LayerNormGradient: dY, Y (not used), mean, std, X; with elementwise_affine also gamma
//   ->  dX; with elementwise_affine also dgamma, dbeta
// Supports float.

#include <vector>

#include "caffe2_core/base/text.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/norm/layer_norm_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kLayerNormAxis{
    "axis", 1, "first of the axes to normalize; a negative axis counts from the end"};
inline constexpr ArgumentSpec<float> kLayerNormEpsilon{"epsilon", 1e-5f, "added to the variance"};
inline constexpr ArgumentSpec<bool> kLayerNormAffine{"elementwise_affine", false,
                                                     "1: multiply by gamma and add beta"};

template <class Context>
class LayerNormOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LayerNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->ReadArgument(kLayerNormAxis)),
        epsilon_(this->ReadArgument(kLayerNormEpsilon)),
        affine_(this->ReadArgument(kLayerNormAffine)) {
    CAFFE_ENFORCE(!affine_ || this->InputSize() == 3, "the operator has ",
                  CountText(this->InputSize(), "input"),
                  ", want 3 with elementwise_affine: X, gamma, beta");
  }

  bool RunOnDevice() override {
    return DispatchByType<float, double>(Input(0).dtype(), "input 0 (X)", [this](auto element) {
      return this->template Normalize<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool Normalize() {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GE(X.dim(), 2, "rank of input 0 (X) of shape ", X.sizes(), ", want at least 2");
    const int axis = X.canonical_axis_index(axis_);
    const int64_t rows = X.size_to_dim(axis), n = X.size_from_dim(axis);
    const T* gamma = affine_ ? Parameter<T>(1, "gamma", n) : nullptr;
    const T* beta = affine_ ? Parameter<T>(2, "beta", n) : nullptr;
    statistics_dims_.assign(X.dims().begin(), X.dims().begin() + axis);
    statistics_dims_.push_back(1);
    T* y = this->template OutputData<T>(0, X.sizes());
    T* mean = this->template OutputData<T>(1, statistics_dims_);
    T* std = this->template OutputData<T>(2, statistics_dims_);
    NormalizeLayers(context_, rows, n, epsilon_, X.template data<T>(), gamma, beta, y, mean, std);
    return true;
  }

  template <class T>
  const T* Parameter(int i, const char* name, int64_t n) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), n, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", want those of input 0 (X) from axis on");
    return tensor.template data<T>();
  }

  const int axis_;
  const float epsilon_;
  const bool affine_;
  std::vector<int64_t> statistics_dims_;
};

template <class Context>
class LayerNormGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LayerNormGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        axis_(this->ReadArgument(kLayerNormAxis)),
        affine_(this->ReadArgument(kLayerNormAffine)) {
    CAFFE_ENFORCE(!affine_ || (this->InputSize() == 6 && this->OutputSize() == 3),
                  "the operator has ", CountText(this->InputSize(), "input"), " and ",
                  CountText(this->OutputSize(), "output"),
                  ", want 6 and 3 with elementwise_affine");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(4);
    const int axis = X.canonical_axis_index(axis_);
    const int64_t rows = X.size_to_dim(axis), n = X.size_from_dim(axis);
    LayerGradient gradient{.x = X.template data<float>(),
                           .dy = Elements(0, "dY", X.numel()),
                           .mean = Elements(2, "mean", rows),
                           .std = Elements(3, "std", rows)};
    if (affine_) gradient.gamma = Elements(5, "gamma", n);
    gradient.dx = this->template OutputData<float>(0, X.sizes());
    if (affine_) {
      gradient.dgamma = this->template OutputData<float>(1, Input(5).sizes());
      gradient.dbeta = this->template OutputData<float>(2, Input(5).sizes());
    }
    GradientOfLayers(context_, rows, n, gradient);
    return true;
  }

 private:
  const float* Elements(int i, const char* name, int64_t count) const {
    const Tensor& tensor = Input(i);
    CAFFE_ENFORCE_EQ(tensor.numel(), count, "elements of input ", i, " (", name, ") of shape ",
                     tensor.sizes(), ", for input 4 (X) of shape ", Input(4).sizes(), " and axis ",
                     axis_);
    return tensor.template data<float>();
  }

  const int axis_;
  const bool affine_;
};

}  // namespace caffe2rt
