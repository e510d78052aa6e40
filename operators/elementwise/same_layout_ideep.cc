#include "operators/elementwise/same_layout_ideep.h"

#include "operators/common/onednn_planes.h"

namespace caffe2rt {

void SameLayoutInputs::PlanLike(const Tensor& like) {
  for (Place& input : inputs_) input.place.Forget();
  layout_ = SharedLayout(like);
  desc_ = DescOf(like);
  floats_ = FloatsOf(like);
}

void SameLayoutInputs::PlanInput(size_t i, const Tensor& x) {
  Place& input = inputs_[i];
  const dnnl::memory::desc desc = DescOf(x);
  input.converts = desc != desc_;
  if (input.converts) {
    input.reorder.Plan(desc, desc_);
    input.converted.Resize(floats_);
  }
  input.place.Remember(x);
}

const float* SameLayoutInputs::Read(int i, const Tensor& x) {
  Place& input = inputs_[static_cast<size_t>(i)];
  const float* const data = OnednnData(x);
  if (!input.converts) return data;
  float* const converted = input.converted.mutable_data<float>();
  input.reorder.Run(data, converted);
  return converted;
}

}  // namespace caffe2rt
