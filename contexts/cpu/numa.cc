#include "contexts/cpu/numa.h"

#include <numa.h>
#include <numaif.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "contexts/cpu/cpu_allocator.h"

namespace caffe2rt {
namespace {

// Memory policies are set with the functions of numaif.h: those of numa.h with the same effect
// print an error to stderr where they fail, or report nothing.

// Returns 0 if the kernel has no NUMA nodes. libnuma counts one node then, in an empty set.
int NodeCount() {
  static const int count = numa_bitmask_weight(numa_nodes_ptr) > 0 ? numa_max_node() + 1 : 0;
  return count;
}

void CheckNode(int node) {
  CAFFE_ENFORCE_LT(node, NodeCount(), "NUMA node, want less than the number of nodes");
}

// A set of nodes as the kernel reads it.
class NodeSet {
 public:
  explicit NodeSet(int node) : words_(static_cast<size_t>(node) / kWordBits + 1) {
    words_.back() = 1ul << (static_cast<size_t>(node) % kWordBits);
  }
  const unsigned long* words() const { return words_.data(); }
  // The kernel reads one bit less than this number.
  unsigned long size() const { return words_.size() * kWordBits + 1; }

 private:
  static constexpr size_t kWordBits = sizeof(unsigned long) * CHAR_BIT;
  std::vector<unsigned long> words_;
};

struct BitmaskFree {
  void operator()(bitmask* mask) const { numa_bitmask_free(mask); }
};

}  // namespace

bool IsNUMAEnabled() { return GlobalCPUMemoryOptions().numa_enabled && NodeCount() > 0; }

void NUMABind(int node) {
  if (!IsNUMAEnabled() || node < 0) return;
  CheckNode(node);
  const std::unique_ptr<bitmask, BitmaskFree> cpus(numa_allocate_cpumask());
  // The thread stays where it is if the node has memory but no processors.
  if (numa_node_to_cpus(node, cpus.get()) == 0 && numa_bitmask_weight(cpus.get()) > 0) {
    CAFFE_ENFORCE(numa_sched_setaffinity(0, cpus.get()) >= 0,
                  "cannot bind the thread to NUMA node ", node);
  }
  const NodeSet nodes(node);
  CAFFE_ENFORCE(set_mempolicy(MPOL_BIND, nodes.words(), nodes.size()) == 0,
                "cannot set the memory policy to NUMA node ", node);
}

int GetNUMANode(const void* pointer) {
  if (!IsNUMAEnabled() || pointer == nullptr) return -1;
  int node = -1;
  CAFFE_ENFORCE(
      get_mempolicy(&node, nullptr, 0, const_cast<void*>(pointer), MPOL_F_NODE | MPOL_F_ADDR) == 0,
      "cannot query the NUMA node of ", pointer);
  return node;
}

int GetNumNUMANodes() { return IsNUMAEnabled() ? NodeCount() : -1; }

void NUMAMove(void* pointer, size_t size, int node) {
  if (!IsNUMAEnabled() || node < 0 || size == 0) return;
  CheckNode(node);
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t begin = reinterpret_cast<uintptr_t>(pointer) & ~(page - 1);
  const uintptr_t end = reinterpret_cast<uintptr_t>(pointer) + size;
  const NodeSet nodes(node);
  CAFFE_ENFORCE(mbind(reinterpret_cast<void*>(begin), end - begin, MPOL_BIND, nodes.words(),
                      nodes.size(), MPOL_MF_MOVE | MPOL_MF_STRICT) == 0,
                "cannot move ", size, " bytes to NUMA node ", node);
}

int GetCurrentNUMANode() {
  if (!IsNUMAEnabled()) return -1;
  unsigned cpu = 0, node = 0;
  return getcpu(&cpu, &node) == 0 ? static_cast<int>(node) : -1;
}

}  // namespace caffe2rt
