#include "caffe2_core/runtime/shared_operator_def.h"

#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_state.h"

namespace caffe2rt {

SharedOperatorDef::SharedOperatorDef(std::shared_ptr<const OperatorDef> def)
    : def_(std::move(def)), outer_(t_thread_state.shared_operator_def) {
  CAFFE_ENFORCE(def_ != nullptr, "argument def of SharedOperatorDef is null");
  t_thread_state.shared_operator_def = this;
}

SharedOperatorDef::~SharedOperatorDef() { t_thread_state.shared_operator_def = outer_; }

std::shared_ptr<const OperatorDef> SharedOperatorDef::ShareOrCopy(const OperatorDef& def) {
  for (const SharedOperatorDef* scope = t_thread_state.shared_operator_def; scope != nullptr;
       scope = scope->outer_) {
    if (scope->def_.get() == &def) return scope->def_;
  }
  return std::make_shared<const OperatorDef>(def);
}

}  // namespace caffe2rt
