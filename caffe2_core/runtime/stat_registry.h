#pragma once
// Statistics: named counters that can be read while a program runs. Operators count under Caffe2's
// names: "QUEUE/queue_balance", "TIMER/time_ns/sum" ...
//
//   StatValue* const records = StatRegistry::get().add("reader/records");   // once
//   records->increment(1);                                                  // no lock
//   for (const ExportedStatValue& stat : StatRegistry::get().publish()) ... stat.key, stat.value
//
// The operators StatRegistryCreate, StatRegistryUpdate and StatRegistryExport work on registries in
// blobs. Thread safe. A counter lives as long as its registry, that of the process as long as the
// process.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/base/mutex.h"

// Visible everywhere, because modules use the registry of the program.
#pragma GCC visibility push(default)
namespace caffe2rt {

class StatValue {
 public:
  // Returns the new value.
  int64_t increment(int64_t by) { return value_.fetch_add(by, std::memory_order_relaxed) + by; }
  // Returns the old value.
  int64_t reset(int64_t value = 0) { return value_.exchange(value); }
  int64_t get() const { return value_.load(); }

 private:
  std::atomic<int64_t> value_{0};
};

struct ExportedStatValue {
  std::string key;
  int64_t value;
  std::chrono::time_point<std::chrono::high_resolution_clock> ts;  // when it was read
};
using ExportedStatList = std::vector<ExportedStatValue>;
using ExportedStatMap = std::unordered_map<std::string, int64_t>;

// The values by key; those of one key are added.
ExportedStatMap toMap(const ExportedStatList& stats);

class StatRegistry {
 public:
  StatRegistry() = default;
  StatRegistry(const StatRegistry&) = delete;
  StatRegistry& operator=(const StatRegistry&) = delete;

  // The registry of the process.
  static StatRegistry& get();
  // Returns the counter of that name, which the first call creates with the value 0. The registry
  // owns it.
  StatValue* add(const std::string& name);
  // The values of all counters in the order of their names. `reset` also sets them to 0.
  void publish(ExportedStatList& stats, bool reset = false);
  ExportedStatList publish(bool reset = false);
  // Adds values to the counters of their names.
  void update(const ExportedStatList& stats);

 private:
  Mutex mutex_;
  std::map<std::string, std::unique_ptr<StatValue>> values_ ABSL_GUARDED_BY(mutex_);
};

// The sum of values and their number: counters "NAME/sum" and "NAME/count".
class AverageStat {
 public:
  explicit AverageStat(const std::string& name, StatRegistry& registry = StatRegistry::get())
      : sum_(registry.add(name + "/sum")), count_(registry.add(name + "/count")) {}
  void Add(int64_t value) const {
    sum_->increment(value);
    count_->increment(1);
  }

 private:
  StatValue* const sum_;
  StatValue* const count_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
