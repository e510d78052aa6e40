#include "operators/distributed/store.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <thread>

#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

// How long to wait before the store is asked again: a store may be a folder on another machine.
constexpr std::chrono::milliseconds kFirstPause{1};
constexpr std::chrono::milliseconds kLongestPause{10};

}  // namespace

void Store::Wait(const std::vector<std::string>& keys, Duration timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  std::chrono::milliseconds pause = kFirstPause;
  std::vector<std::string> missing = keys;
  while (true) {
    std::erase_if(missing, [this](const std::string& key) { return Find(key).has_value(); });
    if (missing.empty()) return;
    if (Clock::now() >= deadline) {
      throw StoreTimeout(__FILE__, __LINE__, "",
                         MakeString("keys did not appear in ", Describe(), " within ",
                                    timeout.count(), " ms: ", absl::StrJoin(missing, ", ")));
    }
    ThrowIfStopped();
    const WaitingThread waiting;
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

std::string Store::Get(const std::string& key, Duration timeout) {
  const Clock::time_point deadline = Clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<Duration>(deadline - Clock::now());
    Wait({key}, std::max(left, Duration(0)));
    // Another process may have erased it in between.
    if (std::optional<std::string> value = Find(key)) return *std::move(value);
  }
}

}  // namespace caffe2rt
