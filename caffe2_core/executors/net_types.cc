#include "caffe2_core/executors/net_types.h"

#include <memory>
#include <set>

#include "caffe2_core/executors/simple_net.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {
namespace {

// Net types of Caffe2 whose executors are not implemented.
const std::set<std::string>& TypesRunAsSimple() {
  static const std::set<std::string> types = {
      "dag",      "async_dag", "async_scheduling", "async_polling", "async_simple",
      "prof_dag", "rnn",       "simple_refcount",  "parallel"};
  return types;
}

}  // namespace

bool RunsAsSimple(const std::string& type) { return TypesRunAsSimple().contains(type); }

void internal::RegisterBuiltinNets(NetRegistry* registry) {
  const auto simple = [](const std::shared_ptr<const NetDef>& def, Workspace* ws) {
    return NewSimpleNet(def, ws);
  };
  registry->Register("simple", simple, __FILE__);
  for (const std::string& type : TypesRunAsSimple()) registry->Register(type, simple, __FILE__);
}

}  // namespace caffe2rt
