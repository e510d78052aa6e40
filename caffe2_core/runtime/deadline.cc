#include "caffe2_core/runtime/deadline.h"

#include <algorithm>

#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

// The end of a very long limit is not representable.
constexpr std::chrono::nanoseconds kLongest = std::chrono::hours(24 * 365 * 10);

}  // namespace

DeadlineScope::DeadlineScope(std::chrono::nanoseconds limit)
    : limit_(limit),
      end_(Clock::now() + std::min(limit, kLongest)),
      scope_([this] { return IsOver(); }) {}

void DeadlineScope::Rethrow(const RunStopped& stopped) const {
  if (!IsOver()) throw;
  DeadlineExceeded exceeded(stopped);
  const auto milliseconds = std::chrono::duration<double, std::milli>(limit_).count();
  exceeded.AppendMessage("the time of the run, " + ShortText(milliseconds) + " ms, was over");
  throw exceeded;
}

}  // namespace caffe2rt
