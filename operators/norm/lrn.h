#pragma once
// LRN: local response normalization over channels (Krizhevsky et al. 2012, section 3.3).
//   X [N, C, H, W] or [N, H, W, C]  ->  Y = X * scale^-beta, optional scale of the same shape
//   scale[c] = bias + alpha / size * sum of X[j]^2 over j = c - p .. c - p + size - 1,
//   p = floor((size - 1) / 2)
//
// LRNGradient: X, Y, dY  ->  dX. In order NHWC with an even size, dX differs from the gradient, as in
// Caffe2 (GradientOfLocal).

#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/order_argument.h"
#include "operators/norm/lrn_kernels.h"

namespace caffe2rt {

// Engine policy: constructed once for each operator, invoked on every run. This one runs the
// library's own kernels.
class NativeLRN {
 public:
  explicit NativeLRN(const OperatorBase&) {}
  template <class Context>
  void operator()(Context& context, const Channels& shape, const LRNWindow& window, const float* x,
                  float* y, float* scale) {
    NormalizeLocally(context, shape, window, x, &scratch_, y, scale);
  }
  template <class Context>
  void operator()(Context& context, const Channels& shape, const LRNWindow& window, const float* x,
                  const float* y, const float* dy, float* scratch, float* dx) {
    GradientOfLocal(context, shape, window, x, y, dy, scratch, dx);
  }

 private:
  std::vector<float> scratch_;
};

inline constexpr ArgumentSpec<int> kLrnSize{
    "size",
    0,
    "number of channels in a window",
    {[](int size) { return size >= 0; }, "at least 1, or 0 in order NHWC"}};
inline constexpr ArgumentSpec<float> kLrnAlpha{"alpha", 0,
                                               "factor of the mean of the squares in the window"};
inline constexpr ArgumentSpec<float> kLrnBeta{"beta", 0, "exponent of the divisor"};
inline constexpr ArgumentSpec<float> kLrnBias{"bias", 1, "added to the scaled mean of the squares"};

// THROWS if size is 0 in order NCHW.
inline LRNWindow ReadLrnWindow(const ArgumentHelper& args, StorageOrder order) {
  const int size = args.Read(kLrnSize);
  // Like Caffe2, allow an empty window in NHWC.
  CAFFE_ENFORCE(size > 0 || order == StorageOrder::NHWC,
                "argument \"size\" is 0 in order NCHW, want at least 1");
  LRNWindow window;
  window.before = size > 0 ? (size - 1) / 2 : 0;
  window.after = size - window.before - 1;
  window.alpha = args.Read(kLrnAlpha) / static_cast<float>(size);
  window.beta = args.Read(kLrnBeta);
  window.bias = args.Read(kLrnBias);
  return window;
}

template <class Context, class Kernel = NativeLRN>
class LRNOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LRNOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        order_(ReadStorageOrder(this->args())),
        window_(ReadLrnWindow(this->args(), order_)),
        kernel_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const float* x = X.template data<float>();
    float* y = this->template OutputData<float>(0, X.sizes());
    float* scale =
        this->OutputSize() > 1 ? this->template OutputData<float>(1, X.sizes()) : nullptr;
    if (X.numel() == 0) return true;
    kernel_(context_, ChannelsOf(X, order_), window_, x, y, scale);
    return true;
  }

 private:
  const StorageOrder order_;
  const LRNWindow window_;
  Kernel kernel_;
};

template <class Context, class Kernel = NativeLRN>
class LRNGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LRNGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        order_(ReadStorageOrder(this->args())),
        window_(ReadLrnWindow(this->args(), order_)),
        kernel_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes(), ", want 4");
    const float* x = X.template data<float>();
    const float* y = SameSize(1, "Y");
    const float* dy = SameSize(2, "dY");
    float* dx = this->template OutputData<float>(0, X.sizes());
    if (X.numel() == 0) return true;
    const Channels shape = ChannelsOf(X, order_);
    scratch_.Resize(LocalGradientScratch(context_, shape));
    kernel_(context_, shape, window_, x, y, dy, scratch_.template mutable_data<float>(), dx);
    return true;
  }

 private:
  const float* SameSize(int i, const char* name) const {
    CAFFE_ENFORCE_EQ(Input(i).numel(), Input(0).numel(), "elements of input ", i, " (", name,
                     ") of shape ", Input(i).sizes(), ", want as many as input 0 (X) of shape ",
                     Input(0).sizes());
    return Input(i).template data<float>();
  }

  const StorageOrder order_;
  const LRNWindow window_;
  Kernel kernel_;
  Tensor scratch_{Context::GetDeviceType()};
};

}  // namespace caffe2rt
