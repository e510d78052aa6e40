#include "caffe2_core/model/given_values.h"

#include <cstring>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_state.h"

namespace caffe2rt {

GivenValues::GivenValues(const OperatorDef& def, Tensor values)
    : def_(def), values_(std::move(values)), outer_(t_thread_state.given_values) {
  t_thread_state.given_values = this;
}

GivenValues::~GivenValues() { t_thread_state.given_values = outer_; }

Tensor GivenValues::Take(const OperatorDef& def) {
  for (GivenValues* scope = t_thread_state.given_values; scope != nullptr; scope = scope->outer_) {
    if (&scope->def_ != &def || scope->taken_) continue;
    scope->taken_ = true;
    return std::exchange(scope->values_, Tensor());
  }
  return Tensor();
}

void MoveGivenValues(Tensor&& values, Tensor* output) {
  CAFFE_ENFORCE(values.IsShaped() && values.numel() >= output->numel(),
                "elements given for an output of shape ", output->sizes(), ": ", values.numel());
  if (output->storage() == nullptr && values.numel() == output->numel() &&
      output->GetDeviceType() == CPU) {
    values.Reshape(output->sizes());
    *output = std::move(values);
    return;
  }
  void* to = output->raw_mutable_data(values.dtype());
  if (output->nbytes() > 0) std::memcpy(to, values.raw_data(), output->nbytes());
  values = Tensor();
}

}  // namespace caffe2rt
