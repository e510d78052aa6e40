#include "operators/conv/onednn_built_in.h"

#include <utility>

namespace caffe2rt {

BuiltInConv::BuiltInConv(const ChannelPlanes& x, const ChannelPlanes& y, const Tensor& X,
                         std::string form, int64_t filter_floats)
    : y_(y), layout_(LayoutOf(y)), filter_(std::move(form), filter_floats) {
  input_.PlanIn(x, X);
}

void BuiltInConv::Run(const Tensor& X, const Tensor& filter, const float* bias, float* y) {
  if (y_.size() == 0) return;
  const float* const prepared =
      filter_.Get(filter, [this](const float* plain, float* to) { Prepare(plain, to); });
  Compute(input_.Read(X), prepared, bias, y);
}

}  // namespace caffe2rt
