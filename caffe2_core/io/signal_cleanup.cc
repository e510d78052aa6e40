#include "caffe2_core/io/signal_cleanup.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/io/temporary.h"

namespace caffe2rt {
namespace {

// Null, or a path from strdup. The signal handler takes a path out without freeing it, because it may
// have interrupted the allocator.
using Slots = std::array<std::atomic<char*>, 256>;
Slots& TrackedPaths() {
  static Slots paths{};  // constant initialization: the handler may read it at any time
  return paths;
}

// Held to put paths in, and to free them. The handler does not take it.
Mutex& TrackingMutex() {
  static Mutex* const mutex = new Mutex;
  return *mutex;
}

// A record of getdents64.
struct FolderRecord {
  uint64_t inode;
  int64_t next;
  uint16_t size;
  uint8_t type;
  char name[1];
};

// Removes a folder of files with functions that a signal handler may call; readdir is not among them.
void RemoveFolderOfFiles(const char* path) {
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  alignas(FolderRecord) char bytes[4096];
  for (long count; (count = syscall(SYS_getdents64, folder, bytes, sizeof(bytes))) > 0;) {
    for (long at = 0; at < count;) {
      const auto* const entry = reinterpret_cast<const FolderRecord*>(bytes + at);
      (void)unlinkat(folder, entry->name, 0);  // fails for "." and ".."
      at += entry->size;
    }
  }
  close(folder);
  (void)rmdir(path);
}

void RemoveAndEnd(int signal) {
  const int error = errno;
  for (std::atomic<char*>& slot : TrackedPaths()) {
    const char* const path = slot.exchange(nullptr);
    if (path != nullptr && unlink(path) != 0 && errno == EISDIR) RemoveFolderOfFiles(path);
  }
  errno = error;
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // takes effect when this function returns
}

}  // namespace

void RemoveTemporariesOnSignals() {
  (void)TrackedPaths();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) continue;
    action.sa_handler = &RemoveAndEnd;
    sigemptyset(&action.sa_mask);
    (void)sigaction(signal, &action, nullptr);
  }
}

namespace internal {

void RememberTemporary(const std::string& path) {
  const MutexLock lock(TrackingMutex());
  char* const copy = strdup(path.c_str());
  if (copy == nullptr) return;
  for (std::atomic<char*>& slot : TrackedPaths()) {
    char* empty = nullptr;
    if (slot.compare_exchange_strong(empty, copy)) return;
  }
  std::free(copy);
}

void ForgetTemporary(const std::string& path) {
  const MutexLock lock(TrackingMutex());
  for (std::atomic<char*>& slot : TrackedPaths()) {
    char* tracked = slot.load();
    if (tracked == nullptr || path != tracked) continue;
    if (slot.compare_exchange_strong(tracked, nullptr)) std::free(tracked);
    return;
  }
}

}  // namespace internal
}  // namespace caffe2rt
