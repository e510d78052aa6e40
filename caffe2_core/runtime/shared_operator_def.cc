#include "caffe2_core/runtime/shared_operator_def.h"

#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

thread_local const SharedOperatorDef* t_innermost = nullptr;

}  // namespace

SharedOperatorDef::SharedOperatorDef(std::shared_ptr<const OperatorDef> def)
    : def_(std::move(def)), outer_(t_innermost) {
  CAFFE_ENFORCE(def_ != nullptr, "argument def of SharedOperatorDef is null");
  t_innermost = this;
}

SharedOperatorDef::~SharedOperatorDef() { t_innermost = outer_; }

std::shared_ptr<const OperatorDef> SharedOperatorDef::ShareOrCopy(const OperatorDef& def) {
  for (const SharedOperatorDef* scope = t_innermost; scope != nullptr; scope = scope->outer_) {
    if (scope->def_.get() == &def) return scope->def_;
  }
  return std::make_shared<const OperatorDef>(def);
}

}  // namespace caffe2rt
