#include "caffe2_core/model/predictor_instances.h"

#include <absl/cleanup/cleanup.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net_copies.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/memory_range.h"

namespace caffe2rt {
namespace {

// The blobs that the net may change.
std::unordered_set<std::string> WrittenBy(const NetDef& net) {
  const NetDependencies blobs(net);
  std::unordered_set<std::string> written;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    if (blobs.is_changed(blob)) written.insert(blobs.name(blob));
  }
  return written;
}

// The blobs whose first value the net reads and which it changes, except `inputs`: the weights that
// differ from run to run.
std::vector<std::string> ChangingWeights(const NetDef& net, const std::vector<std::string>& inputs,
                                         const Workspace& weights) {
  const NetDependencies blobs(net);
  std::vector<std::string> names;
  for (const uint32_t blob : blobs.read_first()) {
    const std::string& name = blobs.name(blob);
    const bool is_input = std::find(inputs.begin(), inputs.end(), name) != inputs.end();
    if (!is_input && blobs.is_changed(blob) && weights.HasBlob(name)) names.push_back(name);
  }
  return names;
}

// The memory of the weights `names`.
class WeightMemory {
 public:
  WeightMemory(const std::vector<std::string>& names, const Workspace& weights)
      : weights_(weights) {
    for (const std::string& name : names) {
      const Storage* const storage = StorageOf(name);
      if (storage == nullptr) continue;
      storages_.insert(storage);
      ranges_.Add(RangeOf(storage));
    }
    ranges_.Merge();
  }
  // Whether the weight is in this memory. THROWS if it is a view of a part of it.
  bool Contains(const std::string& name) const {
    const Storage* const storage = StorageOf(name);
    const MemoryRange* const range = ranges_.Find(RangeOf(storage));
    CAFFE_ENFORCE(
        range == nullptr || (storages_.contains(storage) && *range == RangeOf(storage)),
        "weight \"", name,
        "\" is a view of a part of a weight that the net changes, want weights that share "
        "their whole memory, or none of it");
    return range != nullptr;
  }

 private:
  const Storage* StorageOf(const std::string& name) const {
    const std::shared_ptr<Blob> blob = weights_.FindBlob(name);
    const Tensor* const tensor = blob == nullptr ? nullptr : FindTensor(*blob);
    return tensor == nullptr ? nullptr : tensor->storage().get();
  }

  const Workspace& weights_;
  std::set<const Storage*> storages_;
  MergedRanges ranges_;
};

// The blobs that the net may change, and the weights in their memory, to which an init net has given
// two names.
std::unordered_set<std::string> ChangedBy(const NetDef& net, const Workspace& weights) {
  std::unordered_set<std::string> changed = WrittenBy(net);
  const std::vector<std::string> changing = ChangingWeights(net, {}, weights);
  if (changing.empty()) return changed;
  const WeightMemory memory(changing, weights);
  const NetBlobs blobs(net);
  for (const uint32_t blob : blobs.read_first()) {
    if (memory.Contains(blobs.name(blob))) changed.insert(blobs.name(blob));
  }
  return changed;
}

// The values with which an instance begins, for blobs that the net changes. They are copied before
// the net runs: read-only memory is copied when it is written first, but by then other blobs of the
// net may share it. Weights in one memory get copies in one memory.
class InitialValues {
 public:
  Tensor CopyOf(const Tensor& value) {
    if (value.storage() == nullptr) return value;
    const auto [known, is_new] = copies_.try_emplace(value.storage().get());
    if (is_new) known->second = value.Clone();
    Tensor copy = known->second;
    if (copy.numel() != value.numel() || copy.dtype() != value.dtype()) return value.Clone();
    copy.Reshape(value.sizes());
    return copy;
  }

 private:
  std::map<const Storage*, Tensor> copies_;
};

bool ForbidsCopies(const NetDef& net) {
  const Argument* const wish = GetArgumentPtr(net, "inject_copies");
  return wish != nullptr && wish->i() == 0;
}

[[noreturn]] void ThrowCancelledWhileWaiting() {
  throw RunStopped(__FILE__, __LINE__, "",
                   "the run was stopped while it waited for an instance of the predictor");
}

FileAccess FileAccessWithoutParent() {
  return FileAccess::Off("PredictorOptions::file_access allows it");
}

}  // namespace

Predictor::Instances::Instances(std::shared_ptr<Workspace> parent, NetDef&& run_net,
                                const PredictorOptions& options)
    : parent_(std::move(parent)),
      weights(parent_.get()),
      def(std::move(run_net)),
      options(options),
      arenas_(options.plan_memory ? std::make_shared<ArenaStock>(options.idle_arenas) : nullptr) {
  CAFFE_ENFORCE(options.max_instances >= 1 && options.max_instances <= kMaxInstances,
                "max_instances of a predictor is ", options.max_instances, ", want 1 to ",
                kMaxInstances);
  CAFFE_ENFORCE(options.idle_arenas >= 0 && options.idle_arenas <= kMaxInstances,
                "idle_arenas of a predictor is ", options.idle_arenas, ", want 0 to ",
                kMaxInstances);
  NameNet(&def, "predict");
  if (options.device_fallback) FallBackToCPU(&def);
  // The workspaces of the instances inherit the seed and this policy.
  weights.SetRandomSeed(options.random_seed);
  if (options.file_access.has_value()) {
    weights.SetFileAccess(*options.file_access);
  } else if (parent_ == nullptr) {
    weights.SetFileAccess(FileAccessWithoutParent());
  }
}

void Predictor::Instances::RunInit(NetWithWeights&& init_net) {
  NameNet(&init_net.net, "init");
  if (options.device_fallback) FallBackToCPU(&init_net.net);
  RunInitNet(std::move(init_net), &weights);
}

void Predictor::Instances::Finish(std::vector<std::string> inputs,
                                  const std::vector<std::string>& expected,
                                  std::vector<std::string> outputs) {
  MarkWeights();
  FindWeightsOfOthers();
  input_names = std::move(inputs);
  output_names = std::move(outputs);
  if (const std::vector<std::string> names = ChangingWeights(def, expected, weights);
      !names.empty()) {
    LOG(WARNING)
        << "net \"" << def.name() << "\" changes its weights " << absl::StrJoin(names, ", ")
        << ": each instance of the predictor keeps values of its own, so results depend on "
           "its earlier runs";
  }
  may_copy_ = !ForbidsCopies(def);
  instance_def_ = WithCopies(Prepare(expected));
  MarkWeights();  // those that optimization has added
  Lease warm(this, Acquire(cancels()));
  if (options.plan_ahead) warm->net->PlanAhead(preparation);
  ReleaseWeights();
}

// If a caller may give a weight as an input, all weights stay, because the net as it was written
// needs them then.
NetDef Predictor::Instances::Prepare(const std::vector<std::string>& expected) {
  PreparationOptions with{.optimize = options.optimize,
                          .without_passes = options.without_passes,
                          .inputs = {expected.begin(), expected.end()},
                          .kept = options.kept_blobs,
                          .input_shapes = options.input_shapes,
                          .deterministic = options.deterministic,
                          .precision = options.precision,
                          .min_snr_db = options.min_snr_db,
                          .winograd_filter_bytes = options.winograd_filter_bytes,
                          .threads = options.threads,
                          .tuning = options.tuning,
                          .isa = options.isa,
                          .packed = packed};
  with.kept.insert(output_names.begin(), output_names.end());
  if (options.optimize) with.free_constants = !FindConstantInputs(with.inputs);
  preparation = PrepareNet(NetDef(def), with, &weights);
  return std::exchange(preparation.net, NetDef());
}

// Returns whether a caller may give a weight as an input.
bool Predictor::Instances::FindConstantInputs(const std::set<std::string>& expected) {
  const std::vector<std::string> filled = weights.LocalBlobs();
  for (const std::string& name : input_names) {
    constant_inputs_.push_back(!expected.contains(name) &&
                               std::binary_search(filled.begin(), filled.end(), name));
  }
  const bool may_be_given =
      std::find(constant_inputs_.begin(), constant_inputs_.end(), true) != constant_inputs_.end();
  if (may_be_given) plain_def_ = WithCopies(NetDef(def));
  return may_be_given;
}

// The copies are inserted once, before any instance is created. MakeInstance then knows their
// outputs and creates them as blobs of the instance.
std::shared_ptr<const NetDef> Predictor::Instances::WithCopies(NetDef net) const {
  NetDef with_copies = *WithDeviceCopies(std::make_shared<const NetDef>(std::move(net)), weights);
  GetMutableArgument("inject_copies", true, &with_copies)->set_i(0);
  return std::make_shared<const NetDef>(std::move(with_copies));
}

Predictor::Instances::Instance* Predictor::Instances::Own() {
  // Its caller may read every blob after a run, so its memory is not planned.
  if (own_ != nullptr) return own_.get();
  {
    const MutexLock lock(mutex_);
    has_own_ = true;
  }
  std::unique_ptr<Instance> fresh = MakeInstance(nullptr);
  const MutexLock lock(mutex_);
  own_ = std::move(fresh);
  return own_.get();
}

std::unique_ptr<Predictor::Instances::Instance> Predictor::Instances::MakeInstance(
    std::shared_ptr<ArenaStock> arenas) {
  auto instance = std::make_unique<Instance>(&weights);
  instance->arenas = std::move(arenas);
  CreateOwnBlobs(*instance_def_, instance.get());
  for (const std::string& name : input_names) {
    Blob* blob = instance->ws.CreateLocalBlob(name);
    if (blob->IsEmpty()) blob->GetMutableTensor(CPU);
    instance->inputs.push_back(blob);
  }
  CreateNet(instance_def_, instance.get());
  const std::vector<std::string> read = InputsOf(def);
  for (const std::string& name : output_names) {
    instance->outputs.push_back(instance->ws.CreateBlob(name));
    instance->output_read.push_back(std::find(read.begin(), read.end(), name) != read.end());
  }
  return instance;
}

// An instance has its own blobs for those that the net changes and for the inputs. What the net does
// not change shares the initial value with `weights`.
void Predictor::Instances::CreateOwnBlobs(const NetDef& net, Instance* instance) const {
  const std::unordered_set<std::string> written = ChangedBy(net, weights);
  std::unordered_set<std::string> own_names = written;
  own_names.insert(input_names.begin(), input_names.end());
  InitialValues values;
  for (const std::string& name : own_names) {
    const std::shared_ptr<Blob> initial = weights.FindBlob(name);
    Blob* local = instance->ws.CreateLocalBlob(name);
    if (initial == nullptr || !local->IsEmpty()) continue;
    const bool copies = written.contains(name);
    if (initial->IsType<Tensor>()) {
      const Tensor& value = initial->Get<Tensor>();
      local->Reset(new Tensor(copies ? values.CopyOf(value) : value));
    } else if (initial->IsType<Int8TensorCPU>()) {
      auto value = std::make_unique<Int8TensorCPU>(initial->Get<Int8TensorCPU>());
      if (copies) value->t = values.CopyOf(value->t);
      local->Reset(value.release());
    }
  }
}

void Predictor::Instances::CreateNet(const std::shared_ptr<const NetDef>& net,
                                     Instance* instance) const {
  std::set<std::string> kept(output_names.begin(), output_names.end());
  kept.insert(input_names.begin(), input_names.end());
  instance->net.reset();  // it refers to the net that is replaced
  instance->net.emplace(net, std::move(kept), instance->arenas, &instance->ws, "simple",
                        preparation.options);
  const std::unordered_set<std::string> written = WrittenBy(*net);
  instance->written.clear();
  for (const std::string& name : written) {
    if (std::shared_ptr<Blob> blob = instance->ws.FindBlob(name))
      instance->written.push_back(std::move(blob));
  }
  instance->input_written.clear();
  instance->input_devices.clear();
  for (const std::string& name : input_names) {
    instance->input_written.push_back(written.contains(name));
    const std::optional<DeviceOption> device = DeviceOfFirstReader(*net, name);
    instance->input_devices.push_back(device.has_value() ? std::optional<int>(device->device_type())
                                                         : std::nullopt);
  }
}

void Predictor::Instances::UsePlainNet(Instance* instance) const {
  CreateOwnBlobs(*plain_def_, instance);
  CreateNet(plain_def_, instance);
  instance->plain = true;
}

void Predictor::Instances::UseCopiesOfInputs(Instance* instance) const {
  NetDef net = instance->plain ? *plain_def_ : *instance_def_;
  GetMutableArgument("inject_copies", true, &net)->set_i(1);
  NetDef with_copies =
      *WithDeviceCopies(std::make_shared<const NetDef>(std::move(net)), instance->ws);
  GetMutableArgument("inject_copies", true, &with_copies)->set_i(0);
  const auto shared = std::make_shared<const NetDef>(std::move(with_copies));
  CreateOwnBlobs(*shared, instance);
  CreateNet(shared, instance);
  instance->misplaced = false;
}

// Null if all instances are leased.
Predictor::Instances::Instance* Predictor::Instances::TakeIdle() {
  const int count = num_instances.load(std::memory_order_acquire);
  for (int slot = 0; slot < count; ++slot) {
    if (idle_[slot].load() == nullptr) continue;
    if (Instance* instance = idle_[slot].exchange(nullptr, std::memory_order_acquire))
      return instance;
  }
  return nullptr;
}

Predictor::Instances::Instance* Predictor::Instances::Acquire(uint64_t cancels) {
  Instance* const instance = AcquireIdle(cancels);
  instance->cancels_before = cancels;
  return instance;
}

Predictor::Instances::Instance* Predictor::Instances::AcquireIdle(uint64_t cancels) {
  if (Instance* idle = TakeIdle()) return idle;
  const MutexLock lock(mutex_);
  waiting_.fetch_add(1);
  Instance* instance = TakeIdle();
  const absl::Cleanup done = [this] { waiting_.fetch_sub(1); };
  while (instance == nullptr && !MayGrow()) {
    if (cancels_ != cancels) ThrowCancelledWhileWaiting();
    if (StopScope::Innermost() == nullptr) {
      may_proceed_.Wait(mutex_);
    } else {
      may_proceed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kLongestWait);
    }
    // A thread that was woken for an instance takes it, even if it is stopped: no other is woken.
    instance = TakeIdle();
    if (cancels_ != cancels) {
      if (instance != nullptr) idle_[instance->slot].store(instance);
      may_proceed_.NotifyOne();
      ThrowCancelledWhileWaiting();
    }
    if (instance == nullptr) ThrowIfStopped();
  }
  return instance != nullptr ? instance : Grow();
}

bool Predictor::Instances::MayGrow() const {
  return !growing_ && static_cast<int>(all_.size()) < options.max_instances;
}

// Only one thread creates an instance at a time. It does not hold the mutex meanwhile, so that
// other threads can release and acquire instances. If the creation fails, another thread may try.
Predictor::Instances::Instance* Predictor::Instances::Grow() {
  growing_ = true;
  std::unique_ptr<Instance> fresh;
  std::exception_ptr error;
  {
    const MutexUnlock unlocked(mutex_);
    try {
      fresh = MakeInstance(arenas_);
    } catch (...) {
      error = std::current_exception();
    }
  }
  growing_ = false;
  may_proceed_.NotifyAll();
  if (error != nullptr) std::rethrow_exception(error);
  fresh->slot = static_cast<int>(all_.size());
  all_.push_back(std::move(fresh));
  num_instances.store(static_cast<int>(all_.size()), std::memory_order_release);
  return all_.back().get();
}

// No wake-up is lost. A waiter first increments waiting_ and then reads idle_. Release first stores
// into idle_ and then reads waiting_. The four accesses are sequentially consistent, so at least
// one of the two threads sees the other's write: either the waiter takes the instance, or Release
// notifies it. The waiter holds the mutex from before it reads idle_ until it sleeps, and Release
// notifies under the mutex, so the notification cannot come in between.
void Predictor::Instances::Release(Instance* instance) {
  idle_[instance->slot].store(instance);
  if (waiting_.load() == 0) return;
  const MutexLock lock(mutex_);
  may_proceed_.NotifyOne();
}

}  // namespace caffe2rt
