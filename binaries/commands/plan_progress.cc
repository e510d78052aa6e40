#include "binaries/commands/plan_progress.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "binaries/terminal.h"
#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {

PlanProgress::PlanProgress() {
  if (isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { Show(); });
}

PlanProgress::~PlanProgress() {
  if (!thread_.joinable()) return;
  {
    const MutexLock lock(mutex_);
    end_ = true;
  }
  ended_.NotifyAll();
  thread_.join();
}

void PlanProgress::Enter(const PlanPosition& position) {
  const MutexLock lock(mutex_);
  position_.clear();
  for (const PlanPosition* at = &position; at != nullptr; at = at->outer) position_.push_back(*at);
  for (size_t i = 0; i + 1 < position_.size(); ++i) position_[i].outer = &position_[i + 1];
}

std::string PlanProgress::PositionText() const {
  const MutexLock lock(mutex_);
  return position_.empty() ? "" : PlanPositionText(position_[0]);
}

void PlanProgress::Show() {
  using std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kFirst{2000}, kBetween{200};
  bool printed = false;
  steady_clock::time_point next = steady_clock::now() + kFirst;
  while (true) {
    {
      const MutexLock lock(mutex_);
      while (!end_ && ended_.WaitUntil(mutex_, next)) {
      }
      if (end_) break;
    }
    next += kBetween;
    const std::string position = PositionText();
    const std::string line = MakeString(position.empty() ? "" : OneLine(position) + ", ",
                                        FixedText(timer_.Seconds(), 0), " s");
    // std::cerr would escape the sequences.
    std::fprintf(stderr, "\r\033[K%s", ShortenedInMiddle(line, OutputWidth() - 1).c_str());
    printed = true;
  }
  if (printed) std::fputs("\r\033[K", stderr);
}

}  // namespace caffe2rt
