// The child writes one frame per case to a pipe: status (1 byte), length of the text (4 bytes),
// text. If it ends early, the case after the last frame ended it; that case fails, and a new child
// continues with the next one. A child that can no longer be used ends after its frame.
#include "tests/oracle/isolate.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <memory>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt::test {
namespace {

// The exit code of a child that has written the result of its last case and can run no others.
constexpr int kUnusable = 4;

bool WriteAll(int fd, const void* data, size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadAll(int fd, void* data, size_t size) {
  char* at = static_cast<char*>(data);
  while (size > 0) {
    const ssize_t n = read(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= static_cast<size_t>(n);
  }
  return true;
}

bool ReadResult(int fd, CaseResult* result) {
  uint8_t status = 0;
  uint32_t size = 0;
  if (!ReadAll(fd, &status, 1) || !ReadAll(fd, &size, sizeof(size))) return false;
  result->status = static_cast<CaseStatus>(status);
  result->what.resize(size);
  return ReadAll(fd, result->what.data(), size);
}

[[noreturn]] void RunChild(const std::vector<CaseEntry>& entries, size_t first, int fd,
                           const IsolationOptions& options) {
  if (options.quiet) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
  for (size_t i = first; i < entries.size(); ++i) {
    alarm(options.timeout_s);
    CaseResult result = entries[i].replay();
    const std::string unusable = options.why_unusable != nullptr ? options.why_unusable() : "";
    alarm(0);
    if (!unusable.empty() && result.status != CaseStatus::kFailed)
      result = CaseResult::Failed("after the case: " + unusable);
    const auto status = static_cast<uint8_t>(result.status);
    const auto size = static_cast<uint32_t>(result.what.size());
    if (!WriteAll(fd, &status, 1) || !WriteAll(fd, &size, sizeof(size)) ||
        !WriteAll(fd, result.what.data(), size)) {
      _exit(3);
    }
    if (!unusable.empty()) _exit(kUnusable);
  }
  _exit(0);
}

std::string Obituary(int wait_status, const IsolationOptions& options) {
  if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM) {
    return MakeString("ran for more than ", options.timeout_s, " s");
  }
  if (WIFSIGNALED(wait_status)) {
    return MakeString("crashed: signal ", WTERMSIG(wait_status), " (",
                      strsignal(WTERMSIG(wait_status)), ")");
  }
  return MakeString("ended the process with code ", WEXITSTATUS(wait_status));
}

}  // namespace

std::string WhyCudaIsUnusable() try {
  const std::unique_ptr<BaseContext> context = GetStaticContext(CUDA)->CreateContext();
  context->SwitchToDevice();
  context->FinishDeviceComputation();
  return "";
} catch (const EnforceNotMet& error) {
  return error.message();
}

std::vector<CaseResult> RunCases(const std::vector<CaseEntry>& entries,
                                 const IsolationOptions& options) {
  GlobalCPUMemoryOptions().limit_bytes = options.memory_limit_bytes;
  std::vector<CaseResult> results;
  if (!options.fork) {
    for (const CaseEntry& entry : entries) results.push_back(entry.replay());
    return results;
  }
  while (results.size() < entries.size()) {
    int ends[2];
    CAFFE_ENFORCE(pipe(ends) == 0, "cannot create a pipe: ", strerror(errno));
    const pid_t child = fork();
    CAFFE_ENFORCE(child >= 0, "cannot create a process: ", strerror(errno));
    if (child == 0) {
      close(ends[0]);
      RunChild(entries, results.size(), ends[1], options);
    }
    close(ends[1]);
    CaseResult result;
    while (results.size() < entries.size() && ReadResult(ends[0], &result)) {
      results.push_back(result);
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    const bool reported = WIFEXITED(status) && WEXITSTATUS(status) == kUnusable;
    if (results.size() < entries.size() && !reported) {
      results.push_back(CaseResult::Failed(Obituary(status, options)));
    }
  }
  return results;
}

}  // namespace caffe2rt::test
