#include "caffe2_core/base/logging.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {
std::atomic<int> g_threshold{internal::kLogError};
}  // namespace

void SetLogThreshold(int severity) { g_threshold.store(severity, std::memory_order_relaxed); }
int LogThreshold() { return g_threshold.load(std::memory_order_relaxed); }

namespace internal {
LogMessage::LogMessage(const char* file, int line, int severity) : severity_(severity) {
  const char* slash = std::strrchr(file, '/');
  const char letter = severity < 0 ? 'V' : "IWEF"[severity > 3 ? 3 : severity];
  stream_ << '[' << letter << ' ' << (slash != nullptr ? slash + 1 : file) << ':' << line << "] ";
}

LogMessage::~LogMessage() {
  stream_ << '\n';
  // Messages can contain names from files, and stderr may be a terminal.
  const std::string text = EscapeControls(stream_.str());
  std::fwrite(text.data(), 1, text.size(), stderr);
  if (severity_ >= kLogFatal) {
    std::fflush(stderr);
    std::abort();
  }
}
}  // namespace internal
}  // namespace caffe2rt
