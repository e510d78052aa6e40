#include "binaries/commands/train_progress.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "binaries/commands/number_text.h"
#include "binaries/terminal.h"
#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"

namespace caffe2rt {
namespace {

std::string Thousands(double number) {
  std::string digits = FixedText(number, 0);
  for (auto at = static_cast<int>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(static_cast<size_t>(at), ",");
  return digits;
}

// Three digits: 0.00980, 2.31, 104.
std::string ThreeDigits(double value) {
  if (value == 0 || !std::isfinite(value)) return FixedText(value, 0);
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  std::string text = FixedText(value, std::clamp(2 - before, 0, 12));
  if (text.find('.') == std::string::npos) return text;
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string TwoDigits(int64_t value) { return MakeString(value < 10 ? "0" : "", value); }

}  // namespace

std::string DurationText(double seconds) {
  constexpr double kMost = 1e9;
  const auto all = static_cast<int64_t>(std::lround(std::clamp(seconds, 0.0, kMost)));
  const int64_t hours = all / 3600, minutes = all / 60 % 60;
  const std::string rest = TwoDigits(all % 60);
  if (hours > 0) return MakeString(hours, ":", TwoDigits(minutes), ":", rest);
  return MakeString(minutes, ":", rest);
}

std::string TrainProgressText(const TrainingProgress& progress, int epochs) {
  std::string text = MakeString("epoch ", progress.epoch, "/", epochs, "  ",
                                FixedText(std::floor(progress.share * 100), 0), " %  loss ",
                                ThreeDigits(progress.loss));
  if (progress.has_accuracy)
    text += MakeString("  accuracy ", FixedText(progress.accuracy * 100, 1), " %");
  text +=
      MakeString("  ", Thousands(progress.images_per_second), " images/s  rate ",
                 ThreeDigits(progress.rate), "  ", DurationText(progress.seconds_left), " left");
  return text;
}

TrainProgressLine::TrainProgressLine(int epochs)
    : epochs_(epochs), shown_(isatty(STDERR_FILENO) != 0) {}

void TrainProgressLine::Show(const TrainingProgress& progress) {
  constexpr float kSecondsBetween = 0.1f;
  if (!shown_ || timer_.Seconds() < next_seconds_) return;
  next_seconds_ = timer_.Seconds() + kSecondsBetween;
  // std::cerr would escape the sequences.
  std::fprintf(stderr, "\r\033[K  %s",
               ShortenedInMiddle(TrainProgressText(progress, epochs_), OutputWidth() - 3).c_str());
  printed_ = true;
}

void TrainProgressLine::Clear() {
  if (printed_) std::fputs("\r\033[K", stderr);
  printed_ = false;
}

}  // namespace caffe2rt
