#pragma once
// Counters that can be read while a program runs.
//
//   struct QueueStats {
//     CAFFE_STAT_CTOR(QueueStats);
//     CAFFE_EXPORTED_STAT(pushes);                        // counter "GROUP/pushes"
//     CAFFE_AVG_EXPORTED_STAT(wait_ns);                   // "GROUP/wait_ns/sum" and ".../count"
//   } stats_{"my_queue"};
//   CAFFE_EVENT(stats_, pushes);                          // adds 1
//   CAFFE_DURATION(stats_, wait_ns) { Wait(); }           // adds the nanoseconds that Wait takes
//   for (auto& stat : StatRegistry::get().publish()) std::cout << stat.key << ' ' << stat.value;
//
// Thread safe. Counters are never removed.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "caffe2/core/logging.h"
#include "caffe2_core/runtime/stat_registry.h"

// Visible everywhere, because modules use the registry of the program.
#pragma GCC visibility push(default)
namespace caffe2 {

using caffe2rt::ExportedStatList;
using caffe2rt::ExportedStatMap;
using caffe2rt::ExportedStatValue;
using caffe2rt::StatRegistry;
using caffe2rt::StatValue;
using caffe2rt::toMap;

// The base class of the counters below. Their `increment` returns the value that was added.
struct Stat {
  std::string groupName;
  std::string name;
  Stat(const std::string& group_name, const std::string& stat_name)
      : groupName(group_name), name(stat_name) {}
  template <class... Args>
  int64_t increment(Args...) {
    return 0;
  }
};

class ExportedStat : public Stat {
 public:
  ExportedStat(const std::string& group_name, const std::string& stat_name)
      : Stat(group_name, stat_name),
        value_(StatRegistry::get().add(group_name + "/" + stat_name)) {}
  int64_t increment(int64_t by = 1) {
    value_->increment(by);
    return by;
  }
  template <class T, class Detail>
  T increment(T by, Detail /*detail*/) {
    return increment(by);
  }

 private:
  StatValue* const value_;
};

// The sum and the number of the values.
class AvgExportedStat : public ExportedStat {
 public:
  AvgExportedStat(const std::string& group_name, const std::string& stat_name)
      : ExportedStat(group_name, stat_name + "/sum"), count_(group_name, stat_name + "/count") {}
  int64_t increment(int64_t by = 1) {
    count_.increment();
    return ExportedStat::increment(by);
  }
  template <class T, class Detail>
  T increment(T by, Detail /*detail*/) {
    return increment(by);
  }

 private:
  ExportedStat count_;
};

// The sum and the number of the values, and the sums of their differences from the first value, and
// of the squares of these differences. The standard deviation follows from them.
class StdDevExportedStat : public ExportedStat {
 public:
  StdDevExportedStat(const std::string& group_name, const std::string& stat_name)
      : ExportedStat(group_name, stat_name + "/sum"),
        count_(group_name, stat_name + "/count"),
        sum_of_squares_(group_name, stat_name + "/sumsqoffset"),
        sum_of_offsets_(group_name, stat_name + "/sumoffset") {}
  int64_t increment(int64_t by = 1) {
    int64_t none = kNoValue;
    first_.compare_exchange_strong(none, by);
    const int64_t offset = by - first_.load();
    sum_of_squares_.increment(offset * offset);
    sum_of_offsets_.increment(offset);
    count_.increment();
    return ExportedStat::increment(by);
  }
  template <class T, class Detail>
  T increment(T by, Detail /*detail*/) {
    return increment(by);
  }

 private:
  static constexpr int64_t kNoValue = INT64_MIN;
  ExportedStat count_;
  ExportedStat sum_of_squares_;
  ExportedStat sum_of_offsets_;
  std::atomic<int64_t> first_{kNoValue};
};

// One counter for each detail, besides their sum.
class DetailedExportedStat : public ExportedStat {
 public:
  using ExportedStat::ExportedStat;
  // Not thread safe.
  void setDetails(const std::vector<std::string>& details) {
    details_.clear();
    for (const std::string& detail : details) details_.emplace_back(groupName, name + "/" + detail);
  }
  template <class T>
  int64_t increment(T by, size_t detail_index) {
    if (detail_index < details_.size()) details_[detail_index].increment(by);
    return ExportedStat::increment(by);
  }

 private:
  std::vector<ExportedStat> details_;
};

namespace detail {

// Adds to a counter the nanoseconds between its construction and its destruction. Converts to false,
// so that it can stand in the condition of an `if` whose `else` branch is measured.
template <class Add>
class DurationScope {
 public:
  explicit DurationScope(Add add) : add_(std::move(add)) {}
  DurationScope(const DurationScope&) = delete;
  DurationScope& operator=(const DurationScope&) = delete;
  ~DurationScope() {
    const auto time = std::chrono::high_resolution_clock::now() - start_;
    add_(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }
  explicit operator bool() const { return false; }

 private:
  Add add_;
  const std::chrono::time_point<std::chrono::high_resolution_clock> start_ =
      std::chrono::high_resolution_clock::now();
};

}  // namespace detail

#define CAFFE_STAT_CTOR(ClassName)                            \
  ClassName(std::string name) : groupName(std::move(name)) {} \
  std::string groupName
#define CAFFE_EXPORTED_STAT(name) \
  ::caffe2::ExportedStat name { groupName, #name }
#define CAFFE_AVG_EXPORTED_STAT(name) \
  ::caffe2::AvgExportedStat name { groupName, #name }
#define CAFFE_STDDEV_EXPORTED_STAT(name) \
  ::caffe2::StdDevExportedStat name { groupName, #name }
#define CAFFE_DETAILED_EXPORTED_STAT(name) \
  ::caffe2::DetailedExportedStat name { groupName, #name }
#define CAFFE_STAT(name) \
  ::caffe2::Stat name { groupName, #name }
#define CAFFE_EVENT(stats, field, ...) (stats).field.increment(__VA_ARGS__)
#define CAFFE_DURATION(stats, field, ...)                                       \
  if (::caffe2::detail::DurationScope caffe2rt_duration{[&](auto caffe2rt_ns) { \
        (stats).field.increment(caffe2rt_ns __VA_OPT__(, ) __VA_ARGS__);        \
      }};                                                                       \
      caffe2rt_duration) {                                                      \
  } else

}  // namespace caffe2
#pragma GCC visibility pop
