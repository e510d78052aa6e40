#pragma once
// NetMemory: runs a net with its activations in planned memory (caffe2_core/graph/memory_plan.h).
//
//   NetMemory memory(net, kept, std::make_shared<ArenaStock>());
//   memory.Run();                    // instead of net->Run()
//
// Before a run, the blobs of the plan get places in an arena: each tensor gets a storage with the
// planned capacity, so that the operators' Resize and mutable_data use it. The arena is leased for
// the run; between runs the planned blobs hold nothing that may be read.
//
// Plans: the first run plans from inferred shapes. An operator that needs more than was planned
// allocates memory of its own, which is correct, and the next run has a plan with the sizes that
// were seen. A plan is valid for the shapes of the net's inputs; the last kMostPlans plans are kept.
// The net runs without a plan if it has operators with an asynchronous part, if its type is a user's
// or frees blobs itself (simple_refcount), or if the arena does not fit into the memory limit. Blobs of a net whose operators may run at the
// same time share memory only if the dependencies order all users of one before all of the other.
//
// Steady state: a run with the same input shapes allocates nothing and takes no lock.

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/memory_demand.h"
#include "caffe2_core/graph/memory_plan.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for the program caffe2
// Memory of a blob that is read after a run: an empty tensor with capacity (Tensor::Clear).
struct OutputMemory {
  Blob* blob;
  Tensor tensor;
};

// May be used by one thread at a time.
class NetMemory {
 public:
  static constexpr size_t kMostPlans = 4;

  // `kept` are the names of blobs that are read after a run, besides the outputs of the net. A null
  // `stock` plans nothing: Run is then net->Run(). REQUIRES: `net` outlives this object.
  NetMemory(NetBase* net, std::set<std::string> kept, std::shared_ptr<ArenaStock> stock);
  ~NetMemory();
  NetMemory(const NetMemory&) = delete;
  NetMemory& operator=(const NetMemory&) = delete;

  // Runs the net, as NetBase::Run.
  bool Run();

  // Begin and End enclose a run that the caller does, for example operator by operator in the order
  // of the net. End(false): the run failed.
  void Begin();
  void End(bool success);
  // Maps the pages of the planned memory now instead of when operators write them first. REQUIRES:
  // between Begin and End.
  void MapPages();

  // Keeps memory for outputs of the next run. Its Begin gives it to those blobs that then have none.
  void KeepForOutputs(std::vector<OutputMemory> memory) { for_outputs_ = std::move(memory); }

  // Takes the planned memory away from the blobs, until the next Begin. REQUIRES: not between Begin
  // and End.
  void Release() { Unbind(); }
  // The blobs of the net, and what its operators are bound to, by blob. Null if the net runs without
  // a plan.
  const NetDependencies* blobs() const { return blobs_.get(); }
  const std::vector<Blob*>& objects() const { return objects_; }
  const std::set<std::string>& kept() const { return kept_; }

  // A blob in planned memory, and the first and last operator that use it.
  struct PlannedBlob {
    uint32_t blob;
    void* data;
    size_t bytes;
    uint32_t first_op, last_op;
  };
  // For reports and tests. The blobs of the plan of the current run: valid between Begin and End.
  std::vector<PlannedBlob> planned() const;
  // The bytes of the arena that the last run used, 0 if it had no plan, and
  // the number of its blobs.
  size_t planned_bytes() const;
  size_t planned_blobs() const;
  // The number of plans made so far.
  int plans_made() const { return plans_made_; }

 private:
  struct Place;
  struct InputShape;
  struct Plan;

  bool Matches(const Plan& plan) const;
  Plan* FindPlan();
  std::unique_ptr<Plan> MakePlan(const Plan* previous);
  ShapeMap ShapesOfInputs(Plan* plan) const;
  void AddPlaces(const MemoryDemand& demand, const MemoryPlan& layout, Plan* plan);
  void GiveOutputs();
  void Bind();
  void Unbind();
  void LearnFromRun();
  // `place` is null for a blob that was not planned.
  void Learn(uint32_t blob, const Place* place);

  NetBase* const net_;
  const std::set<std::string> kept_;
  const std::shared_ptr<ArenaStock> stock_;  // shared by all nets that use it; null: no plans
  std::unique_ptr<NetDependencies> blobs_;
  std::vector<Blob*> objects_;                // by blob
  std::vector<OutputMemory> for_outputs_;     // of the next run
  std::vector<std::unique_ptr<Plan>> plans_;  // the most recently used one first
  Plan* bound_ = nullptr;                     // the plan whose places the blobs have
  MemoryArena* arena_ = nullptr;              // leased during a run
  const MemoryArena* last_arena_ = nullptr;   // only compared and preferred
  uint64_t bound_id_ = 0;
  int plans_made_ = 0;
};
#pragma GCC visibility pop

}  // namespace caffe2rt
