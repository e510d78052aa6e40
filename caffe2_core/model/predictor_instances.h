#pragma once
// The state that the copies of a Predictor share: the weights, the net, and the instances that
// calls lease. Internal to predictor.cc.

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "caffe2_core/base/condition_variable.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"

namespace caffe2rt {

// Owned by a predictor and its copies. Thread safe after Finish, except for Own().
class Predictor::Instances {
 public:
  // One net with its own activations.
  struct Instance {
    explicit Instance(const Workspace* weights) : ws(weights) {}
    // Whether the next run writes the memory of the value.
    bool Overwrites(const Tensor& value) const;
    // Whether the value is the tensor of another input than i, which may be an output, too.
    bool IsOtherInput(const Tensor* value, size_t i) const;

    Workspace ws;
    std::vector<Blob*> inputs;
    std::vector<bool> input_written;  // the net writes this input, so the caller's data is copied
    std::vector<std::shared_ptr<const Blob>> written;  // the blobs that the net writes
    // The device type on which the net reads this input first; nullopt if no operator lists it.
    std::vector<std::optional<int>> input_devices;
    bool misplaced = false;  // an input is on another device
    std::vector<Blob*> outputs;
    std::vector<bool> output_read;  // the net reads this output before it writes it: it is state
    bool has_run = false;
    bool plain = false;                  // it runs the net as it was written
    int slot = 0;                        // index into idle_ and all_
    std::shared_ptr<ArenaStock> arenas;  // of `net`; may be null
    std::optional<PreparedNet> net;      // destroyed before the workspace
    uint64_t cancels_before = 0;         // cancels() when the call began that runs it
    std::atomic<bool> cancelled{false};  // set by Cancel
  };

  // Releases the instance when it is destroyed.
  class Lease {
   public:
    Lease(Instances* owner, Instance* instance) : owner_(owner), instance_(instance) {}
    ~Lease() { owner_->Release(instance_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Instance* operator->() const { return instance_; }
    Instance& operator*() const { return *instance_; }

   private:
    Instances* const owner_;
    Instance* const instance_;
  };

  Instances(std::shared_ptr<Workspace> parent, NetDef&& run_net, const PredictorOptions& options);

  // Runs an init net, which fills the weights. REQUIRES: called before Finish.
  void RunInit(NetWithWeights&& init_net);
  // Call it when all weights are filled. Marks them read-only, sets the names of the inputs and
  // outputs, optimizes the net, and creates the first instance. `expected` are the inputs that
  // callers give; values for other inputs are weights, with which an instance cannot run the
  // optimized net.
  void Finish(std::vector<std::string> inputs, const std::vector<std::string>& expected,
              std::vector<std::string> outputs);

  // The inputs with which a caller may run a small net before its first run (PreparedNet::is_small): zeros of the
  // known shapes. Nothing if the net is not small. REQUIRES: called after Finish, before any other call.
  std::optional<Predictor::TensorMap> InputsForRehearsal();
  // Empties these inputs of the only instance, so that nobody reads the zeros.
  void Clear(const Predictor::TensorMap& inputs);

  // The calls of Cancel so far. To be read when a call of the predictor begins.
  uint64_t cancels() const { return cancels_.load(); }
  // Leases an idle instance, for a call that began after so many calls of Cancel. If there is none,
  // creates one, or waits if the limit is reached. THROWS RunStopped if Cancel is called before the
  // wait ends.
  Instance* Acquire(uint64_t cancels);
  void Release(Instance* instance);
  void SetInput(Instance* instance, size_t i, const Tensor& value);
  // Values for inputs, by their positions. EmptyValues returns a list that keeps its memory, so that
  // calls do not allocate. Not thread safe, as Own().
  using InputValues = std::vector<std::pair<size_t, const Tensor*>>;
  InputValues* EmptyValues();
  // Runs the instance Own() with `values` for a call that began after so many calls of Cancel. The
  // values may be results of its last run; the pointers to those that the next run overwrites are
  // replaced.
  void RunOwn(uint64_t cancels, InputValues* values, TensorVector* outputs);
  // THROWS if no input has this name.
  size_t InputIndex(const std::string& name) const;
  // Call it before the net runs if instance->misplaced: lets the instance run its net with copies
  // of the inputs that are on other devices.
  void UseCopiesOfInputs(Instance* instance) const;
  // Runs the instance's net. THROWS RunStopped if Cancel was called since the call began.
  void RunNet(Instance* instance);
  // Stops the runs in progress, and the calls that wait for an instance.
  void Cancel();
  // Runs the instance's net and stores its outputs.
  void RunInto(Instance* instance, TensorList* outputs);
  // The instance for Predictor::run and run_map, created on first use. Not thread safe.
  Instance* Own();

  static constexpr int kMaxInstances = 1024;

 private:
  const std::shared_ptr<Workspace> parent_;  // parent of `weights`, so declared before it

 public:
  Workspace weights;
  NetDef def;
  const PredictorOptions options;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::atomic<int> num_instances{0};
  std::shared_ptr<const PackedModel> packed;  // from which the weights are; may be null
  Preparation preparation;                    // of the net; its field `net` is empty

 private:
  // `arenas` is null if the activations are not planned.
  std::unique_ptr<Instance> MakeInstance(std::shared_ptr<ArenaStock> arenas);
  Instance* TakeIdle();
  Instance* AcquireIdle(uint64_t cancels);
  void SetOwnInputs(InputValues* values);
  bool MayGrow() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  Instance* Grow() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void MarkWeights();
  // Sets others_hold_. REQUIRES: no instance exists, so that only `weights` and others hold the storages.
  void FindWeightsOfOthers();
  // Whether a reader of the weight would notice that it was rounded.
  bool MustStayExact(const std::string& name, const Storage* storage) const;
  // Releases the memory of weights that prepared forms can restore (Storage::ReleaseData). REQUIRES:
  // nothing runs or is being created, and no caller has a pointer into a weight.
  void ReleaseWeights();
  // Does that once, if the caller's instance is the only one so far.
  void ReleaseWeightsAfterFirstRun();
  // Sets `preparation`, and returns its net.
  NetDef Prepare(const std::vector<std::string>& expected);
  bool FindConstantInputs(const std::set<std::string>& expected);
  std::shared_ptr<const NetDef> WithCopies(NetDef net) const;
  void CreateOwnBlobs(const NetDef& net, Instance* instance) const;
  void CreateNet(const std::shared_ptr<const NetDef>& net, Instance* instance) const;
  // Lets an instance run the net as it was written, on the same blobs.
  void UsePlainNet(Instance* instance) const;

  // The prepared net with device copies; shared by all instances.
  std::shared_ptr<const NetDef> instance_def_;
  // The net as it was written, with device copies. Null if no input can be a constant.
  std::shared_ptr<const NetDef> plain_def_;
  std::unordered_set<const Storage*>
      others_hold_;                    // storages of weights that are not only in `weights`
  bool may_copy_ = true;               // the net does not forbid copies between devices
  std::vector<bool> constant_inputs_;  // by input: whether the optimized net takes it as a constant
  const std::shared_ptr<ArenaStock> arenas_;  // shared by all instances; may be null
  std::unique_ptr<Instance> own_;             // set under the mutex
  InputValues own_values_;                           // of EmptyValues
  std::vector<Tensor> own_copies_;                   // of SetOwnInputs, empty between calls
  std::atomic<Instance*> idle_[kMaxInstances] = {};  // by slot; null while leased
  std::atomic<uint64_t> runs_{0};                    // of all instances, for their random numbers
  std::atomic<int> waiting_{0};                      // threads that found no instance; see Release
  Mutex mutex_;
  ConditionVariable may_proceed_;  // an instance was released, or growing_ became false
  // A thread is creating an instance, without the mutex.
  bool growing_ ABSL_GUARDED_BY(mutex_) = false;
  bool has_own_ ABSL_GUARDED_BY(mutex_) = false;  // Own was called
  std::atomic<uint64_t> cancels_{0};              // the calls of Cancel; written under the mutex
  std::atomic<bool> has_run_{false};              // see ReleaseWeightsAfterFirstRun
  std::vector<std::unique_ptr<Instance>> all_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace caffe2rt
