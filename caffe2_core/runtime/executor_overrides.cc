#include "caffe2_core/runtime/executor_overrides.h"

#include <absl/strings/str_split.h>

#include <map>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {
namespace {

struct Overrides {
  Mutex mutex;
  std::map<std::string, std::string> types ABSL_GUARDED_BY(mutex);
};
Overrides& TheOverrides() {
  static Overrides* const overrides = new Overrides;
  return *overrides;
}

}  // namespace

void SetExecutorOverrides(const std::string& pairs) {
  std::map<std::string, std::string> types;
  const std::vector<std::string> names = absl::StrSplit(pairs, ',', absl::SkipEmpty());
  CAFFE_ENFORCE(names.size() % 2 == 0, "executor overrides are \"", pairs,
                "\", want pairs of net types, such as dag,simple");
  for (size_t i = 0; i < names.size(); i += 2) {
    for (const std::string& name : {names[i], names[i + 1]}) {
      CAFFE_ENFORCE(IsKnownNetType(name), "executor overrides name the net type \"", name,
                    "\", which is not known");
    }
    types[names[i]] = names[i + 1];
  }
  const MutexLock lock(TheOverrides().mutex);
  TheOverrides().types = std::move(types);
}

std::shared_ptr<const NetDef> WithOverriddenType(const std::shared_ptr<const NetDef>& def) {
  std::string type = def->type().empty() ? "simple" : def->type();
  {
    const MutexLock lock(TheOverrides().mutex);
    const auto found = TheOverrides().types.find(type);
    if (found == TheOverrides().types.end() || found->second == type) return def;
    type = found->second;
  }
  NetDef changed = *def;
  changed.set_type(type);
  return std::make_shared<const NetDef>(std::move(changed));
}

}  // namespace caffe2rt
