#include "binaries/commands/progress.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <utility>

namespace caffe2rt {

Progress::Progress(int64_t total, std::string unit)
    : total_(total), unit_(std::move(unit)), shown_(isatty(STDERR_FILENO) != 0) {}

void Progress::Show(int64_t done) {
  constexpr float kSecondsBetween = 0.1f;
  if (!shown_) return;
  const float seconds = timer_.Seconds();
  if (seconds < next_seconds_) return;
  next_seconds_ = seconds + kSecondsBetween;
  // std::cerr would escape "\r".
  if (total_ > 0) {
    std::fprintf(stderr, "\r%" PRId64 " of %" PRId64 " %s", done, total_, unit_.c_str());
  } else {
    std::fprintf(stderr, "\r%" PRId64 " %s", done, unit_.c_str());
  }
  printed_ = true;
}

void Progress::Clear() {
  if (printed_) std::fputs("\r\033[K", stderr);
  printed_ = false;
}

}  // namespace caffe2rt
