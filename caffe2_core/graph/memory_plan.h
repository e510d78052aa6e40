#pragma once
// Memory planning: gives the intermediate values of a net places in one block of memory, the arena,
// so that values that are never needed at the same time share memory.
//
//   operator            live after it                arena (bytes)
//   0: Conv x -> a      a (400)                      a: 0 to 400
//   1: Relu a -> b      b (400), in the place of a   b: 0 to 400
//   2: Conv b -> c      c (200)                      c: 448 to 648, because operator 2 still reads b
//   3: Conv c -> d      d (100)                      d: 0 to 100
//
// The planner knows nothing about operators and tensors. memory_demand.h describes a net to it.
//
// Placements avoid copies. If the memory of the inputs of a Concat lies inside that of its output,
// at the right offsets, the Concat has nothing to copy. The same holds for the outputs of a Split
// and for an operator that may work in place. The planner realizes a placement only if no operator
// then overwrites a value that another operator still needs, and reports which ones it realized.
//
// The result depends only on the request. Time is O(n log n) in the number of items and accesses,
// apart from up to kBySizeLimit items, which are placed with a better method in O(n^2).

#include <cstddef>
#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

inline constexpr size_t kArenaAlignment = 64;

// A value that needs memory. Several blobs that share one memory are one item.
struct MemoryItem {
  size_t bytes = 0;
  // The positions of the operators that write and that read it. Not empty together.
  std::vector<uint32_t> writes;
  std::vector<uint32_t> reads;
};

// Operator `op` copies nothing if `inner` begins `offset` bytes after the beginning of `outer`.
struct MemoryPlacement {
  enum class Kind {
    kInPlace,  // `op` reads `outer` and may write `inner` into the same memory; offset is 0
    kJoin,     // `op` reads `inner` and writes it as a part of `outer` (Concat)
    kSplit,    // `op` reads `outer` and writes a part of it as `inner` (Split)
  };
  Kind kind = Kind::kInPlace;
  uint32_t op = 0;
  uint32_t inner = 0;  // items
  uint32_t outer = 0;
  size_t offset = 0;
  // `op` may copy although `inner` is at its place, because layouts are known only when it runs. It
  // then keeps the values of `inner` and `outer`, but of nothing else in their memory.
  bool may_copy = false;
};

struct MemoryRequest {
  uint32_t operators = 0;  // their number
  std::vector<MemoryItem> items;
  std::vector<MemoryPlacement> placements;  // in order of preference
  // If empty, the operators run one after the other, in the order of their positions. Otherwise
  // predecessors[op] contains the operators that must end before `op` starts, all at positions
  // below `op`; operators may then run in any order, or at the same time, that respects this. In
  // that case, nets of more than kMostAnyOrder operators share no memory.
  std::vector<std::vector<uint32_t>> predecessors;
};

struct MemoryPlan {
  std::vector<size_t> offsets;  // by item; multiples of kArenaAlignment
  std::vector<bool> placed;     // by placement: whether it is realized
  size_t arena_bytes = 0;
  // The largest sum of bytes that are in use at the same operator. With the same placements, no
  // plan for operators that run one after the other needs fewer bytes.
  size_t live_bytes = 0;
};

inline constexpr size_t kBySizeLimit = 2048;
inline constexpr uint32_t kMostAnyOrder = 8192;

// THROWS if the request names operators or items that do not exist, or if the sum of all sizes
// overflows.
MemoryPlan PlanMemory(const MemoryRequest& request);

}  // namespace caffe2rt
#pragma GCC visibility pop
