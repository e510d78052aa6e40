#include "contexts/cpu/numa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt::numa_test {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(NUMATest, DoesNothingWhenDisabled) {
  std::vector<char> memory(10000);
  EXPECT_FALSE(IsNUMAEnabled());
  EXPECT_EQ(GetNumNUMANodes(), -1);
  EXPECT_EQ(GetCurrentNUMANode(), -1);
  EXPECT_EQ(GetNUMANode(memory.data()), -1);
  NUMABind(5);
  NUMAMove(memory.data(), memory.size(), 5);
}

// Enables NUMA for a test. Each test binds a thread of its own, because policies are per thread.
class EnabledNUMATest : public ::testing::Test {
 protected:
  void SetUp() override {
    GlobalCPUMemoryOptions().numa_enabled = true;
    if (!IsNUMAEnabled()) GTEST_SKIP() << "the kernel has no NUMA nodes here";
    ::testing::internal::CaptureStderr();
    captures_ = true;
  }
  void TearDown() override {
    GlobalCPUMemoryOptions().numa_enabled = false;
    if (captures_) {
      EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
    }
  }

 private:
  bool captures_ = false;
};

// The error of `call`, or "".
std::string ErrorOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "";
}

TEST_F(EnabledNUMATest, KnowsItsNode) {
  EXPECT_GE(GetNumNUMANodes(), 1);
  const int node = GetCurrentNUMANode();
  EXPECT_GE(node, 0);
  EXPECT_LT(node, GetNumNUMANodes());
  EXPECT_EQ(GetNUMANode(nullptr), -1);
}

TEST_F(EnabledNUMATest, RejectsANodeThatDoesNotExist) {
  const int count = GetNumNUMANodes();
  std::vector<char> memory(10000);
  EXPECT_EQ(ErrorOf([] { NUMABind(-1); }), "");  // has no effect
  EXPECT_EQ(ErrorOf([&] { NUMAMove(memory.data(), memory.size(), -1); }), "");
  for (const int node : {count, 1 << 30}) {
    const std::string want = MakeString("NUMA node, want less than the number of nodes (got ", node,
                                        ", want less than ", count, ")");
    EXPECT_EQ(ErrorOf([&] { NUMABind(node); }), want);
    EXPECT_EQ(ErrorOf([&] { NUMAMove(memory.data(), memory.size(), node); }), want);
  }
}

TEST_F(EnabledNUMATest, PlacesThreadsAndMemoryWhereTheSystemPermits) {
  std::thread([] {
    const int node = GetCurrentNUMANode();
    EXPECT_THAT(ErrorOf([&] {
                  NUMABind(node);
                  EXPECT_EQ(GetCurrentNUMANode(), node);
                  const DataPtr memory(NewCPUMemory(100000));
                  EXPECT_EQ(GetNUMANode(memory.get()), node);
                }),
                AnyOf("", HasSubstr("cannot ")));
  }).join();
}

// Makes the calls of NUMA policies fail with EPERM for this thread, as containers do.
bool RefusePolicies() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_set_mempolicy, 3, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_get_mempolicy, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mbind, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
  };
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(EnabledNUMATest, ThrowsIfTheSystemRejectsTheCall) {
  bool refused = false;
  std::vector<char> memory(10000);
  std::thread([&] {
    refused = RefusePolicies();
    if (!refused) return;
    EXPECT_EQ(ErrorOf([] { NUMABind(0); }), "cannot set the memory policy to NUMA node 0");
    EXPECT_EQ(ErrorOf([&] { NUMAMove(memory.data(), memory.size(), 0); }),
              "cannot move 10000 bytes to NUMA node 0");
    EXPECT_THAT(ErrorOf([&] { GetNUMANode(memory.data()); }),
                StartsWith("cannot query the NUMA node of 0x"));
    EXPECT_GE(GetCurrentNUMANode(), 0);
  }).join();
  if (!refused) GTEST_SKIP() << "the kernel has no system call filters here";
}

}  // namespace
}  // namespace caffe2rt::numa_test
