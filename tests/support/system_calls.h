#pragma once
// Records the system calls of one action, to prove that a warm run makes none.
//
//   const SystemCalls calls = RecordSystemCalls([&] {
//     NetBase* const net = ws.CreateNet(def);      // in a child process, not recorded
//     for (int i = 0; i < 3; ++i) net->Run();
//     return [net] { net->Run(); };                // recorded
//   });
//   if (!calls.skip_reason.empty()) GTEST_SKIP() << calls.skip_reason;
//   EXPECT_THAT(calls.names, testing::IsEmpty());
//
// The action runs in a child process, because a filter of system calls (seccomp) cannot be removed.
// A recorded call is not executed; it fails with ENOSYS. Only calls of the thread that runs the
// action are recorded, and not those that the vDSO answers without the kernel (clock_gettime). The
// child has no other threads than the calling one, so `prepare` must create all objects whose
// threads it needs.

#include <functional>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct SystemCalls {
  // The calls in their order, "futex" or "system call 412". The action was stopped after 64.
  std::vector<std::string> names;
  std::string error;        // what `prepare` or the action threw, or how the child ended
  std::string skip_reason;  // why nothing could be recorded
};

// Calls `prepare` and then the function that it returns, and records the calls of the latter.
SystemCalls RecordSystemCalls(const std::function<std::function<void()>()>& prepare);

}  // namespace caffe2rt::test
