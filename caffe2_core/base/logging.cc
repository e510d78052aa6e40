#include "caffe2_core/base/logging.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

std::atomic<int> g_threshold{internal::kLogError};

struct SinkSlot {
  SharedMutex mutex;  // held shared while the sink runs
  LogSink sink ABSL_GUARDED_BY(mutex);
};

SinkSlot& TheSinkSlot() {
  static SinkSlot* const slot = new SinkSlot;
  return *slot;
}

thread_local bool t_is_in_sink = false;

std::string_view WithoutFolders(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// Returns false if there is no sink, the sink throws, or this thread is inside the sink.
bool SendToSink(const LogEntry& entry) {
  if (t_is_in_sink) return false;
  SinkSlot& slot = TheSinkSlot();
  const ReaderLock lock(slot.mutex);
  if (!slot.sink) return false;
  t_is_in_sink = true;
  bool sent = true;
  try {
    slot.sink(entry);
  } catch (...) {
    sent = false;
  }
  t_is_in_sink = false;
  return sent;
}

void PrintLine(std::string text) {
  text += '\n';
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace

void SetLogThreshold(int severity) { g_threshold.store(severity, std::memory_order_relaxed); }
int LogThreshold() { return g_threshold.load(std::memory_order_relaxed); }

void SetLogSink(LogSink sink) {
  CAFFE_ENFORCE(!t_is_in_sink, "a log sink calls SetLogSink, want a call outside any sink");
  SinkSlot& slot = TheSinkSlot();
  {
    const WriterLock lock(slot.mutex);
    slot.sink.swap(sink);
  }
  // The previous sink is destroyed here, without the lock: its destructor may log.
}

void LogOutput(const char* file, int line, std::string_view text) {
  std::string escaped = EscapeControls(text);
  if (SendToSink({internal::kLogInfo, WithoutFolders(file), line, escaped})) return;
  PrintLine(std::move(escaped));
}

namespace internal {

LogMessage::~LogMessage() {
  // Messages can contain names from files, and stderr may be a terminal.
  const std::string text = EscapeControls(stream_.str());
  const LogEntry entry{severity_, WithoutFolders(file_), line_, text};
  const bool is_fatal = severity_ >= kLogFatal;
  if (!SendToSink(entry) || is_fatal) {
    const char letter = severity_ < 0 ? 'V' : "IWEF"[is_fatal ? 3 : severity_];
    PrintLine(MakeString('[', letter, ' ', entry.file, ':', line_, "] ", text));
  }
  if (is_fatal) {
    std::fflush(stderr);
    std::abort();
  }
}

}  // namespace internal
}  // namespace caffe2rt
