#pragma once
// Predictor's shared part: the weights, the net, and the instances that calls lease. For
// predictor.cc.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/predictor.h"

namespace caffe2rt {

// Owned by a predictor, its copies and the calls in flight. Thread safe after Finish, but for
// Own().
class Predictor::Instances {
 public:
  // One net with its own activations.
  struct Instance {
    explicit Instance(const Workspace* weights) : ws(weights) {}
    Workspace ws;
    NetBase* net = nullptr;
    std::vector<Blob*> inputs;
    std::vector<bool> input_written;  // the net writes into this input: the caller's data is copied
    std::vector<Blob*> outputs;
    std::vector<bool> output_read;  // the net reads this output before it writes it: it is state
    int slot = 0;
  };

  // Gives the instance back when it goes.
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

  // Fills the weights. Before Finish.
  void RunInit(NetDef&& init_net);
  // After the weights are there: fixes names, makes the first instance.
  void Finish(std::vector<std::string> inputs, std::vector<std::string> outputs);

  // An instance for one call, made when there is none to spare; waits at the limit.
  Instance* Acquire();
  void Release(Instance* instance);
  void SetInput(Instance* instance, size_t i, const Tensor& value);
  // THROWS for a name that is no input.
  size_t InputIndex(const std::string& name) const;
  void RunInto(Instance* instance, TensorList* outputs);
  // The older form's own instance, made on first use. One thread at a time.
  Instance* Own();

  static constexpr int kMaxInstances = 1024;

 private:
  const std::shared_ptr<Workspace> parent_;  // of `weights`, which outlives nothing it points to

 public:
  Workspace weights;
  NetDef def;
  const PredictorOptions options;
  std::vector<std::string> input_names;
  std::vector<std::string> output_names;
  std::atomic<int> num_instances{0};

 private:
  std::unique_ptr<Instance> MakeInstance();
  Instance* TakeIdle();
  Instance* Grow(std::unique_lock<std::mutex>* lock);
  void AddDeviceCopies();

  std::shared_ptr<const NetDef> instance_def_;  // `def` with copies; the instances' nets share it
  std::unique_ptr<Instance> own_;
  std::atomic<Instance*> idle_[kMaxInstances] = {};  // by slot; null while leased
  std::atomic<int> waiting_{0};                      // threads that found no instance; see Release
  std::mutex mutex_;                                 // guards growing_ and all_
  std::condition_variable may_proceed_;  // an instance came back, or a thread stopped growing
  bool growing_ = false;                 // a thread makes an instance, without the mutex
  std::vector<std::unique_ptr<Instance>> all_;
};

}  // namespace caffe2rt
