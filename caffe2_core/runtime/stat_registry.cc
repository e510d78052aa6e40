#include "caffe2_core/runtime/stat_registry.h"

namespace caffe2rt {

ExportedStatMap toMap(const ExportedStatList& stats) {
  ExportedStatMap map;
  for (const ExportedStatValue& stat : stats) map[stat.key] += stat.value;
  return map;
}

StatRegistry& StatRegistry::get() {
  static auto* const registry = new StatRegistry;
  return *registry;
}

StatValue* StatRegistry::add(const std::string& name) {
  const MutexLock lock(mutex_);
  std::unique_ptr<StatValue>& value = values_[name];
  if (value == nullptr) value = std::make_unique<StatValue>();
  return value.get();
}

void StatRegistry::publish(ExportedStatList& stats, bool reset) {
  const MutexLock lock(mutex_);
  stats.clear();
  stats.reserve(values_.size());
  const auto now = std::chrono::high_resolution_clock::now();
  for (const auto& [name, value] : values_) {
    stats.push_back({name, reset ? value->reset() : value->get(), now});
  }
}

ExportedStatList StatRegistry::publish(bool reset) {
  ExportedStatList stats;
  publish(stats, reset);
  return stats;
}

void StatRegistry::update(const ExportedStatList& stats) {
  for (const ExportedStatValue& stat : stats) add(stat.key)->increment(stat.value);
}

}  // namespace caffe2rt
