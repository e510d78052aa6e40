#pragma once
// InstanceNorm: normalizes each channel of each image by its own mean and variance (Ulyanov et al.
// 2016).
//   X [N, C, *] or [N, *, C], scale, bias [C]  ->  Y, saved mean [N, C], saved 1 / sqrt(var +
//   epsilon) [N, C]
// The saved outputs are optional.

#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/channels.h"
#include "operators/norm/moments.h"

namespace caffe2rt {

class CUDAContext;

// Memory that lasts from run to run.
struct NormScratch {
  std::vector<Moments> moments;
  std::vector<float> floats;
};

// Groups of shape.count / groups channels share mean and variance: groups == shape.count is
// instance normalization, fewer is group normalization. mean and inv_std get [batch, groups]. x may
// be y.
void NormalizeGroups(CPUContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch* scratch,
                     float* y, float* mean, float* inv_std);
// `scratch` is not needed.
void NormalizeGroups(CUDAContext& context, const Channels& shape, int64_t groups, float epsilon,
                     const float* x, const float* scale, const float* bias, NormScratch* scratch,
                     float* y, float* mean, float* inv_std);

template <class Context>
class InstanceNormOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  InstanceNormOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        epsilon_(this->template GetSingleArgument<float>("epsilon", 1e-5f)),
        order_(
            StringToStorageOrder(this->template GetSingleArgument<std::string>("order", "NCHW"))) {
    CAFFE_ENFORCE(epsilon_ >= 0, "argument epsilon is ", epsilon_, ", want at least 0");
  }

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
  // Null when nobody wants it.
  float* Saved(int i, IntArrayRef dims) {
    return i < this->OutputSize() ? this->template OutputData<float>(i, dims) : nullptr;
  }

  const float epsilon_;
  const StorageOrder order_;
  NormScratch scratch_;
};

}  // namespace caffe2rt
