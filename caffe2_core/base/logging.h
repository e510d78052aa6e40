#pragma once
// Logging, with the macro names of Caffe2 and glog.
//
//   LOG(WARNING) << "net \"" << name << "\" runs on the CPU";
//   VLOG(1) << "...";
//
// Messages below the threshold (ERROR by default; SetLogThreshold) cost one comparison. Messages go
// to stderr, or to the function that a program sets:
//
//   SetLogSink([&](const LogEntry& entry) {
//     my_log.Write(entry.severity >= 2 ? "error" : "info", entry.file, entry.line, entry.text);
//   });
//   ...
//   SetLogSink(nullptr);  // before my_log is destroyed
//
// FATAL logs and aborts; library code does not use it. Thread safe: a message is one write, or one
// call of the sink. The LOG, CHECK and DCHECK macros are defined only if no other library has
// defined them.

#include <functional>
#include <string_view>

#include "caffe2_core/base/classic_string_stream.h"
#include "caffe2_core/base/enforce.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The lowest severity that is logged: INFO is 0, WARNING 1, ERROR 2, FATAL 3, and VLOG(n) -n. The
// default is 2.
void SetLogThreshold(int severity);
int LogThreshold();

// One message. Valid only during the call of the sink.
struct LogEntry {
  int severity;           // as for SetLogThreshold
  std::string_view file;  // the source file, without its folders
  int line;
  // Without a final newline; may have several lines. Names from files are part of it, so control
  // characters, except line feed and tab, and bytes that are not UTF-8 are written as \xNN.
  std::string_view text;
};
using LogSink = std::function<void(const LogEntry&)>;

// Sends what the library logs and prints (LogOutput) to `sink` instead of stderr. An empty `sink`
// restores stderr, which is the default. Thread safe.
//
// The thread that logs calls the sink, and several threads may call it at the same time, so it must
// be thread safe. SetLogSink waits for calls of the previous sink: after it returns, objects that
// the previous sink refers to may be destroyed. What a sink itself logs goes to stderr. If a sink
// throws, the exception is discarded and the message goes to stderr. A FATAL message goes to the
// sink and to stderr, and the process then aborts.
//
// THROWS if a sink calls it.
void SetLogSink(LogSink sink);

// Logs `text`, which the program has requested (the operator Print, Workspace::PrintBlobSizes).
// A sink receives it as INFO, whatever the threshold is; stderr receives the text alone, on a line.
void LogOutput(const char* file, int line, std::string_view text);

namespace internal {
inline constexpr int kLogInfo = 0, kLogWarning = 1, kLogError = 2, kLogFatal = 3;

class LogMessage {
 public:
  LogMessage(const char* file, int line, int severity)
      : file_(file), line_(line), severity_(severity) {}
  ~LogMessage();  // logs; aborts for FATAL
  LogMessage(const LogMessage&) = delete;
  LogMessage& operator=(const LogMessage&) = delete;
  std::ostream& stream() { return stream_; }

 private:
  ClassicStringStream stream_;
  const char* const file_;
  const int line_;
  const int severity_;
};

struct LogVoidify {
  void operator&(const std::ostream&) const {}
};
}  // namespace internal
}  // namespace caffe2rt
#pragma GCC visibility pop

#define CAFFE2RT_SEVERITY_INFO ::caffe2rt::internal::kLogInfo
#define CAFFE2RT_SEVERITY_WARNING ::caffe2rt::internal::kLogWarning
#define CAFFE2RT_SEVERITY_ERROR ::caffe2rt::internal::kLogError
#define CAFFE2RT_SEVERITY_FATAL ::caffe2rt::internal::kLogFatal
#define CAFFE2RT_LOG_AT(severity)            \
  ((severity) < ::caffe2rt::LogThreshold())  \
      ? (void)0                              \
      : ::caffe2rt::internal::LogVoidify() & \
            ::caffe2rt::internal::LogMessage(__FILE__, __LINE__, (severity)).stream()
#define CAFFE2RT_CHECK(condition) \
  (condition) ? (void)0           \
              : CAFFE2RT_LOG_AT(CAFFE2RT_SEVERITY_FATAL) << "Check failed: " #condition " "

// Each of the macros below is defined only if no other library has defined it.
#ifndef LOG
#define LOG(severity) CAFFE2RT_LOG_AT(CAFFE2RT_SEVERITY_##severity)
#endif
#ifndef LOG_IF
#define LOG_IF(severity, condition) \
  !(condition) ? (void)0 : CAFFE2RT_LOG_AT(CAFFE2RT_SEVERITY_##severity)
#endif
#ifndef VLOG
#define VLOG(n) CAFFE2RT_LOG_AT(-(n))
#endif
#ifndef VLOG_IS_ON
#define VLOG_IS_ON(n) (-(n) >= ::caffe2rt::LogThreshold())
#endif
#ifndef VLOG_IF
#define VLOG_IF(n, condition) !(condition) ? (void)0 : CAFFE2RT_LOG_AT(-(n))
#endif
#ifndef CHECK
#define CHECK(condition) CAFFE2RT_CHECK(condition)
#endif
#ifndef DCHECK
#ifdef NDEBUG
#define DCHECK(condition) \
  while (false) CHECK(condition)
#else
#define DCHECK(condition) CHECK(condition)
#endif
#endif
#ifndef CHECK_EQ
#define CHECK_EQ(a, b) CHECK((a) == (b))
#endif
#ifndef DCHECK_EQ
#define DCHECK_EQ(a, b) DCHECK((a) == (b))
#endif
#ifndef CHECK_NE
#define CHECK_NE(a, b) CHECK((a) != (b))
#endif
#ifndef DCHECK_NE
#define DCHECK_NE(a, b) DCHECK((a) != (b))
#endif
#ifndef CHECK_LE
#define CHECK_LE(a, b) CHECK((a) <= (b))
#endif
#ifndef DCHECK_LE
#define DCHECK_LE(a, b) DCHECK((a) <= (b))
#endif
#ifndef CHECK_LT
#define CHECK_LT(a, b) CHECK((a) < (b))
#endif
#ifndef DCHECK_LT
#define DCHECK_LT(a, b) DCHECK((a) < (b))
#endif
#ifndef CHECK_GE
#define CHECK_GE(a, b) CHECK((a) >= (b))
#endif
#ifndef DCHECK_GE
#define DCHECK_GE(a, b) DCHECK((a) >= (b))
#endif
#ifndef CHECK_GT
#define CHECK_GT(a, b) CHECK((a) > (b))
#endif
#ifndef DCHECK_GT
#define DCHECK_GT(a, b) DCHECK((a) > (b))
#endif
