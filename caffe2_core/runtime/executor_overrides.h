#pragma once
// Executor overrides: nets of a type run as nets of another type (--caffe2_override_executor).

#include <memory>
#include <string>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Replaces all overrides by pairs of types, such as "dag,simple,async_dag,simple". An empty text has
// none. THROWS if a type is missing or not known. Thread safe; nets that exist keep their type.
void SetExecutorOverrides(const std::string& pairs);

// `def` itself, or a copy with another type.
std::shared_ptr<const NetDef> WithOverriddenType(const std::shared_ptr<const NetDef>& def);

}  // namespace caffe2rt
#pragma GCC visibility pop
