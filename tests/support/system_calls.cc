#include "tests/support/system_calls.h"

#if defined(__linux__) && defined(__x86_64__) && !defined(CAFFE2RT_SANITIZED)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iterator>
#include <new>

namespace caffe2rt::test {

namespace {

constexpr int kMostCalls = 64;

// Shared by both processes.
struct Record {
  volatile int count;
  volatile int numbers[kMostCalls];
  volatile bool no_filter;
  volatile bool done;
  char error[512];
};
Record* record = nullptr;

// A signal handler, so it only stores numbers.
void OnSystemCall(int, siginfo_t* info, void* context) {
  record->numbers[record->count] = info->si_syscall;
  record->count = record->count + 1;
  if (record->count == kMostCalls) _exit(0);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RAX] = -ENOSYS;
}

// From now on, every call of this thread raises SIGSYS, except returning from the handler and ending
// the process.
bool InstallFilter() {
  struct sigaction action = {};
  action.sa_sigaction = OnSystemCall;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  constexpr unsigned short kLoad = BPF_LD | BPF_W | BPF_ABS, kIf = BPF_JMP | BPF_JEQ | BPF_K;
  sock_filter code[] = {
      BPF_STMT(kLoad, offsetof(seccomp_data, nr)),  BPF_JUMP(kIf, __NR_rt_sigreturn, 2, 0),
      BPF_JUMP(kIf, __NR_exit_group, 1, 0),         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program = {static_cast<unsigned short>(std::size(code)), code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

[[noreturn]] void RunChild(const std::function<std::function<void()>()>& prepare) {
  try {
    const std::function<void()> act = prepare();
    if (InstallFilter()) {
      act();
      record->done = true;
    } else {
      record->no_filter = true;
    }
  } catch (const std::exception& thrown) {
    // Without snprintf, which may allocate memory.
    strncpy(record->error, thrown.what(), sizeof(record->error) - 1);
  }
  _exit(0);
}

std::string NameOf(int number) {
  switch (number) {
#define CAFFE2RT_CALL(name) \
  case __NR_##name:         \
    return #name
    CAFFE2RT_CALL(brk);
    CAFFE2RT_CALL(clock_gettime);
    CAFFE2RT_CALL(clock_nanosleep);
    CAFFE2RT_CALL(futex);
    CAFFE2RT_CALL(getpid);
    CAFFE2RT_CALL(getppid);
    CAFFE2RT_CALL(madvise);
    CAFFE2RT_CALL(mmap);
    CAFFE2RT_CALL(mprotect);
    CAFFE2RT_CALL(mremap);
    CAFFE2RT_CALL(munmap);
    CAFFE2RT_CALL(nanosleep);
    CAFFE2RT_CALL(openat);
    CAFFE2RT_CALL(read);
    CAFFE2RT_CALL(rt_sigprocmask);
    CAFFE2RT_CALL(sched_yield);
    CAFFE2RT_CALL(write);
#undef CAFFE2RT_CALL
    default:
      return "system call " + std::to_string(number);
  }
}

}  // namespace

SystemCalls RecordSystemCalls(const std::function<std::function<void()>()>& prepare) {
  SystemCalls calls;
  void* const shared =
      mmap(nullptr, sizeof(Record), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) {
    calls.error = "cannot map memory";
    return calls;
  }
  record = new (shared) Record();
  fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) RunChild(prepare);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    calls.error = "cannot start a process";
  } else if (!WIFEXITED(status)) {
    calls.error = "signal " + std::to_string(WTERMSIG(status)) + " ended the process";
  } else if (record->no_filter) {
    calls.skip_reason = "the kernel does not allow filters of system calls here";
  } else if (record->error[0] != '\0') {
    calls.error = record->error;
  } else if (!record->done && record->count < kMostCalls) {
    calls.error = "the process ended before the action";
  }
  for (int i = 0; i < record->count; ++i) calls.names.push_back(NameOf(record->numbers[i]));
  munmap(shared, sizeof(Record));
  record = nullptr;
  return calls;
}

}  // namespace caffe2rt::test

#else

namespace caffe2rt::test {

SystemCalls RecordSystemCalls(const std::function<std::function<void()>()>&) {
  SystemCalls calls;
#if defined(CAFFE2RT_SANITIZED)
  calls.skip_reason = "a sanitizer makes system calls of its own";
#else
  calls.skip_reason = "system calls are recorded on Linux for x86-64 only";
#endif
  return calls;
}

}  // namespace caffe2rt::test

#endif
