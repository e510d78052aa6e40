#include "operators/conv/onednn_built_in.h"

#include <utility>

namespace caffe2rt {

BuiltInConv::BuiltInConv(const ChannelPlanes& x, const ChannelPlanes& y, const Tensor& X,
                         std::string form, int64_t filter_floats, FormRestorer restorer)
    : y_(y), layout_(LayoutOf(y)) {
  input_.PlanIn(x, X);
  filter_.Add(std::move(form), static_cast<size_t>(filter_floats) * sizeof(float),
              std::move(restorer));
}

void BuiltInConv::PrepareFilter(const Tensor& filter) {
  if (y_.size() == 0) return;
  filter_.Update(filter,
                 [&](size_t, void* to) { Prepare(filter.data<float>(), static_cast<float*>(to)); });
}

void BuiltInConv::Run(const Tensor& X, const Tensor& filter, const float* bias, void* y) {
  if (y_.size() == 0) return;
  PrepareFilter(filter);
  Compute(input_.Read(X), filter_.data<float>(0), bias, static_cast<float*>(y));
}

}  // namespace caffe2rt
