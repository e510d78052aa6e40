#include "caffe2_core/graph/net_transforms.h"

#include <exception>
#include <map>
#include <utility>

#include "caffe2_core/base/mutex.h"

namespace caffe2rt {
namespace {

struct Transforms {
  Mutex mutex;
  std::map<std::string, NetTransform> by_name ABSL_GUARDED_BY(mutex);
};

Transforms& AllTransforms() {
  static auto* const transforms = new Transforms;
  return *transforms;
}

}  // namespace

bool RegisterNetTransform(const std::string& name, NetTransform transform) noexcept try {
  Transforms& all = AllTransforms();
  const MutexLock lock(all.mutex);
  return all.by_name.emplace(name, std::move(transform)).second;
} catch (const std::exception&) {
  return false;
}

const NetTransform* FindNetTransform(const std::string& name) {
  Transforms& all = AllTransforms();
  const MutexLock lock(all.mutex);
  const auto found = all.by_name.find(name);
  return found == all.by_name.end() ? nullptr : &found->second;
}

std::vector<std::string> NetTransformNames() {
  Transforms& all = AllTransforms();
  const MutexLock lock(all.mutex);
  std::vector<std::string> names;
  for (const auto& [name, transform] : all.by_name) names.push_back(name);
  return names;
}

}  // namespace caffe2rt
