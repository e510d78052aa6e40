#pragma once
// LRN: local response normalization over channels (Krizhevsky et al. 2012, section 3.3).
//   X [N, C, H, W] or [N, H, W, C]  ->  Y = X * scale^-beta, optional scale of the same shape,
//   scale[c] = bias + alpha / size * sum of X[j]^2 over j = c - p .. c - p + size - 1, p =
//   floor((size - 1) / 2)

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"

namespace caffe2rt {

class CUDAContext;

struct LRNWindow {
  int64_t before = 0, after = 0;  // channels on either side; after is -1 for an empty window
  float alpha = 0;                // over the size already
  float beta = 0;
  float bias = 1;
};

// scale may be null. `scratch` keeps its memory from run to run.
void NormalizeLocally(CPUContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);
// `scratch` is not needed.
void NormalizeLocally(CUDAContext& context, const Channels& shape, const LRNWindow& window,
                      const float* x, std::vector<float>* scratch, float* y, float* scale);

// Our own kernels. Another class in its place is an engine: made for an operator, called each run.
class NativeLRN {
 public:
  explicit NativeLRN(const OperatorBase&) {}
  template <class Context>
  void operator()(Context& context, const Channels& shape, const LRNWindow& window, const float* x,
                  float* y, float* scale) {
    NormalizeLocally(context, shape, window, x, &scratch_, y, scale);
  }

 private:
  std::vector<float> scratch_;
};

template <class Context, class Kernel = NativeLRN>
class LRNOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LRNOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        order_(
            StringToStorageOrder(this->template GetSingleArgument<std::string>("order", "NCHW"))),
        kernel_(*this) {
    const int size = this->template GetSingleArgument<int>("size", 0);
    // The original takes size 0 in NHWC: an empty window.
    const int least = order_ == StorageOrder::NHWC ? 0 : 1;
    CAFFE_ENFORCE_GE(size, least, "argument size, want at least ", least);
    window_.before = size > 0 ? (size - 1) / 2 : 0;
    window_.after = size - window_.before - 1;
    window_.alpha = this->template GetSingleArgument<float>("alpha", 0) / static_cast<float>(size);
    window_.beta = this->template GetSingleArgument<float>("beta", 0);
    window_.bias = this->template GetSingleArgument<float>("bias", 1);
  }

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
  LRNWindow window_;
  Kernel kernel_;
};

}  // namespace caffe2rt
