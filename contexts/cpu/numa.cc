#include "contexts/cpu/numa.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/processor_list.h"

namespace caffe2rt {
namespace {

// Constants of the kernel's interface (set_mempolicy(2), mbind(2)).
constexpr int kPolicyBind = 2;
constexpr unsigned kFlagNode = 1, kFlagAddress = 2;
constexpr unsigned kMoveStrict = 1, kMovePages = 2;
constexpr int kMaxNodes = 64;

// Returns "" if the file cannot be read.
std::string ReadList(const std::string& path) {
  try {
    return ReadWholeFile(path);
  } catch (const EnforceNotMet&) {
    return "";
  }
}

// Returns -1 if the file cannot be read.
int HighestInList(const std::string& path) {
  int highest = -1;
  for (const auto& [first, last] : ParseProcessorList(ReadList(path))) {
    highest = std::max({highest, first, last});
  }
  return highest;
}

int NodeCount() {
  static const int count = HighestInList("/sys/devices/system/node/online") + 1;
  return count > kMaxNodes ? kMaxNodes : count;
}

void CheckNode(int node) {
  CAFFE_ENFORCE_LT(node, NodeCount(), "NUMA node, want less than the number of nodes");
}

// Adds the processors of "0-3,8" to the set.
void AddCPUs(const std::string& path, cpu_set_t* set) {
  for (const auto& [first, last] : ParseProcessorList(ReadList(path))) {
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, set);
  }
}

}  // namespace

bool IsNUMAEnabled() { return GlobalCPUMemoryOptions().numa_enabled && NodeCount() > 0; }

void NUMABind(int node) {
  if (!IsNUMAEnabled() || node < 0) return;
  CheckNode(node);
  cpu_set_t set;
  CPU_ZERO(&set);
  AddCPUs(MakeString("/sys/devices/system/node/node", node, "/cpulist"), &set);
  CAFFE_ENFORCE(CPU_COUNT(&set) == 0 || sched_setaffinity(0, sizeof(set), &set) == 0,
                "cannot bind the thread to NUMA node ", node);
  const uint64_t mask = uint64_t{1} << node;
  CAFFE_ENFORCE(syscall(SYS_set_mempolicy, kPolicyBind, &mask, kMaxNodes + 1) == 0,
                "cannot set the memory policy to NUMA node ", node);
}

int GetNUMANode(const void* pointer) {
  if (!IsNUMAEnabled() || pointer == nullptr) return -1;
  int node = -1;
  const long failed =
      syscall(SYS_get_mempolicy, &node, nullptr, 0, pointer, kFlagNode | kFlagAddress);
  CAFFE_ENFORCE(failed == 0, "cannot query the NUMA node of ", pointer);
  return node;
}

int GetNumNUMANodes() { return IsNUMAEnabled() ? NodeCount() : -1; }

void NUMAMove(void* pointer, size_t size, int node) {
  if (!IsNUMAEnabled() || node < 0 || size == 0) return;
  CheckNode(node);
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(pointer) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(pointer) + size;
  const uint64_t mask = uint64_t{1} << node;
  const long failed = syscall(SYS_mbind, begin, end - begin, kPolicyBind, &mask, kMaxNodes + 1,
                              kMovePages | kMoveStrict);
  CAFFE_ENFORCE(failed == 0, "cannot move ", size, " bytes to NUMA node ", node);
}

int GetCurrentNUMANode() {
  if (!IsNUMAEnabled()) return -1;
  unsigned cpu = 0, node = 0;
  return syscall(SYS_getcpu, &cpu, &node, nullptr) == 0 ? static_cast<int>(node) : -1;
}

}  // namespace caffe2rt
