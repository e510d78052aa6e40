#include "tests/fuzz/guard.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

// Not null if a sanitizer is linked in.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace caffe2rt::test {
namespace {

// Plain data, because signal handlers read it.
std::string* folder_of_saves = new std::string;  // never destroyed
char path[4096];
const char* data = nullptr;
size_t size = 0;
unsigned timeout = 0;

void Say(const char* text) {
  [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, text, strlen(text));
}

void Save() {
  if (data == nullptr) return;
  const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd < 0) return;
  for (size_t done = 0; done < size;) {
    const ssize_t n = write(fd, data + done, size - done);
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  close(fd);
  Say("\ncaffe2_fuzz: the input is saved as ");
  Say(path);
  Say("\n");
}

void OnAlarm(int) {
  Say("\ncaffe2_fuzz: HANG: an input takes longer than the time limit\n");
  Save();
  // Abort instead of exit, to get a core dump or a stack trace.
  signal(SIGABRT, SIG_DFL);
  abort();
}

void OnCrash(int signal_number) {
  Save();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

}  // namespace

void InstallGuard(const std::string& folder, unsigned timeout_s) {
  *folder_of_saves = folder;
  timeout = timeout_s;
  signal(SIGALRM, OnAlarm);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(Save);
  } else {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) signal(number, OnCrash);
  }
}

void GuardInput(const std::string& name, const std::string& bytes) {
  const std::string full = *folder_of_saves + "/" + name;
  strncpy(path, full.c_str(), sizeof(path) - 1);
  size = bytes.size();
  data = bytes.data();
  alarm(timeout);
}

void ReleaseInput() {
  alarm(0);
  data = nullptr;
}

std::string SaveInput() {
  Save();
  return path;
}

}  // namespace caffe2rt::test
