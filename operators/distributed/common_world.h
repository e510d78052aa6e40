#pragma once
// CommonWorld: a group of processes (ranks) that exchange tensors. The blobs that CreateCommonWorld
// and CloneCommonWorld make hold a CommonWorldBlob.
//
//   WorldOptions options{.engine = "GLOO", .name = "gradients", .rank = 0, .size = 2};
//   const CommonWorldBlob world = CommonWorld::Create(options, store);
//   world->Allreduce({.label = "fc_w_grad"}, values, 1000, TypeMeta::Make<float>());
//
// An engine (collective_engine.h) moves the data. All engines share the rest: the ranks find each other
// through a store, agree on each operation before its data flows, and notice the loss of a rank. For
// this, each rank has a connection to each other one beside those of the engine (control_group.h).
//
// Errors. All ranks must start the operations of a world in the same order, with the same type and
// number of elements; if they do not, every rank throws an EnforceNotMet that states both sides, no
// data flows, and the world stays usable. If a rank is lost, every other rank throws a RanksLost:
// within milliseconds if its process ends, after the timeout if it does not answer. A world that has
// lost a rank fails in every later operation. No function blocks for longer than the timeout, and
// nothing ends the process.
//
// Thread safe. Collectives of one world run one at a time; those of different worlds, also of clones of one, may
// run at the same time.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/type_meta.h"
#include "operators/distributed/store.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Ranks of a world did not answer.
class RanksLost : public EnforceNotMet {
 public:
  RanksLost(std::string world, std::vector<int> ranks, const std::string& message);

  const std::string& world() const { return world_; }
  // The ranks that did not answer, in ascending order, by their numbers in the world. Empty if all
  // ranks answer, but the engine failed, or they wait for each other in different operations.
  const std::vector<int>& ranks() const { return ranks_; }

 private:
  std::string world_;
  std::vector<int> ranks_;
};

struct WorldOptions {
  std::string engine = "";  // "GLOO"; may be empty for a world of one rank
  // Part of the keys in the store: unique among the worlds of a run, the same on all ranks.
  std::string name = "";
  int rank = 0;
  int size = 1;
  // Part of the keys as well. A smaller or larger world that continues the work of a broken one has
  // the next generation.
  int generation = 0;
  // For the ranks to find each other, and for each operation.
  std::chrono::milliseconds timeout{30000};
  std::string transport = "tcp";  // what the engine uses: GLOO has "tcp" only
  // Name of the network interface, or an address of this machine, on which to listen and from which
  // other ranks are reached. Empty: 127.0.0.1, for ranks on one machine.
  std::string interface = "";
};

// What the calling operator is, for agreement and for messages.
struct CollectiveCall {
  // The same on all ranks: the operator's name, or that of its output.
  std::string_view label = "";
  // A hash of what else must be the same, besides type and number of elements.
  uint64_t detail = 0;
};

// A message between two ranks.
struct ReceivedTensor {
  int source;
  int tag;
  TypeMeta type;
  std::vector<int64_t> dims;
};

class CommonWorld;
using CommonWorldBlob = std::shared_ptr<CommonWorld>;  // operators keep it while they use it

class CommonWorld {
 public:
  // Meets the other ranks. All must call it with options that differ in `rank` and, on other machines,
  // `interface`. `store` may be null for a world of one rank. THROWS if the engine is not available;
  // RanksLost if ranks do not come in time, which names them; if sizes or generations differ; and if
  // the store has keys that another process left, which are named.
  static CommonWorldBlob Create(const WorldOptions& options, StoreBlob store);

  // For a program that has started the ranks of a world: the process of rank `options.rank` has ended.
  // Ranks that still wait to meet it throw RanksLost at once instead of after the timeout. Returns the key
  // that it wrote for this, which the caller removes at the end; "" if the rank had one.
  static std::string AnnounceLoss(const WorldOptions& options, Store* store,
                                  const std::string& reason);

  virtual ~CommonWorld() = default;
  CommonWorld(const CommonWorld&) = delete;
  CommonWorld& operator=(const CommonWorld&) = delete;

  virtual const std::string& name() const = 0;
  virtual const std::string& engine() const = 0;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int generation() const = 0;
  // The ranks that this world has lost, as far as this rank knows. Does not wait.
  virtual std::vector<int> lost_ranks() const = 0;

  // Waits for all ranks.
  virtual void Barrier(const CollectiveCall& call) = 0;
  // Replaces data[i] by its sum over the ranks. All ranks get the same bytes, in each run. THROWS if
  // elements of the type cannot be added (element_sum.h).
  virtual void Allreduce(const CollectiveCall& call, void* data, size_t count, TypeMeta type) = 0;
  // Copies the root's elements to all ranks.
  virtual void Broadcast(const CollectiveCall& call, void* data, size_t count, TypeMeta type,
                         int root) = 0;
  // As Allreduce, but only the root gets the sum; the data of the others are unspecified afterwards.
  virtual void Reduce(const CollectiveCall& call, void* data, size_t count, TypeMeta type,
                      int root) = 0;
  // Copies the `count` elements of each rank to `out`, in the order of the ranks. `in` and `out` must
  // not overlap.
  virtual void Allgather(const CollectiveCall& call, const void* in, void* out, size_t count,
                         TypeMeta type) = 0;
  // Adds the data of the ranks. Rank r gets counts[r] elements of the sum, after those of the lower
  // ranks, at the beginning of its data; the rest of the data is unspecified afterwards.
  virtual void ReduceScatter(const CollectiveCall& call, void* data, std::span<const int> counts,
                             TypeMeta type) = 0;
  // Sends a tensor to another rank, which must receive it with the same tag. Returns when the data
  // may change.
  virtual void Send(const CollectiveCall& call, const void* data, std::span<const int64_t> dims,
                    TypeMeta type, int destination, int tag) = 0;
  // Waits for the next tensor from `source` with `tag`; -1 stands for any. `allocate` returns the
  // memory for it.
  virtual ReceivedTensor Receive(const CollectiveCall& call, int source, int tag,
                                 const std::function<void*(const ReceivedTensor&)>& allocate) = 0;

  // Another world of the same ranks, which shares the connections. All ranks must clone with the same
  // name, in any order. Does not communicate. THROWS if the name is taken.
  virtual CommonWorldBlob Clone(const std::string& name) = 0;
  // Leaves the group: this world and its clones fail from then on, on the other ranks with this rank as
  // lost as soon as they wait for it. Removes the keys from the store. Takes at most a second. The
  // destructor of the last clone does the same.
  virtual void Close() = 0;

 protected:
  CommonWorld() = default;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
