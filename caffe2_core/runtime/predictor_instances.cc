#include "caffe2_core/runtime/predictor_instances.h"

#include <algorithm>
#include <exception>
#include <unordered_set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/runtime/init_net.h"
#include "caffe2_core/runtime/net_copies.h"

namespace caffe2rt {
namespace {

// Blobs that are outputs of operators, and blobs that share memory with one that is written.
std::unordered_set<std::string> WrittenBy(const NetDef& net) {
  const NetDependencies blobs(net);
  std::unordered_set<std::string> written;
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    const bool is_output = blobs.first_writer(blob) != NetBlobs::kNone;
    if (is_output || blobs.is_memory_written(blob)) written.insert(blobs.name(blob));
  }
  return written;
}

// Whether nobody else holds the tensor's memory. Letting go of the second reference is an acquire
// operation on the count: what other threads did with the memory before they let go of theirs is
// over.
bool IsSoleUser(const Tensor& tensor) {
  const std::shared_ptr<Storage> second = tensor.storage();
  return second.use_count() == 2;
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
      options(options) {
  CAFFE_ENFORCE(options.max_instances >= 1 && options.max_instances <= kMaxInstances,
                "max_instances of a predictor is ", options.max_instances, ", want 1 to ",
                kMaxInstances);
  NameNet(&def, "predict");
  if (options.device_fallback) FallBackToCPU(&def);
  // The instances' workspaces follow this one.
  if (options.file_access.has_value()) {
    weights.SetFileAccess(*options.file_access);
  } else if (parent_ == nullptr) {
    weights.SetFileAccess(FileAccessWithoutParent());
  }
}

void Predictor::Instances::RunInit(NetDef&& init_net) {
  NameNet(&init_net, "init");
  if (options.device_fallback) FallBackToCPU(&init_net);
  RunInitNet(std::move(init_net), &weights);
}

void Predictor::Instances::Finish(std::vector<std::string> inputs,
                                  std::vector<std::string> outputs) {
  for (const std::string& name : weights.LocalBlobs()) {
    Blob* blob = weights.GetBlob(name);
    if (blob->IsType<Tensor>()) blob->GetMutable<Tensor>()->MarkReadOnly();
  }
  input_names = std::move(inputs);
  output_names = std::move(outputs);
  AddDeviceCopies();
  Lease warm(this, Acquire());
}

// Once for all instances, so that all know the copies for blobs of their own.
void Predictor::Instances::AddDeviceCopies() {
  instance_def_ = WithDeviceCopies(std::make_shared<const NetDef>(def), weights);
  NetDef final_def = *instance_def_;
  GetMutableArgument("inject_copies", true, &final_def)->set_i(0);
  instance_def_ = std::make_shared<const NetDef>(std::move(final_def));
}

Predictor::Instances::Instance* Predictor::Instances::Own() {
  if (own_ == nullptr) own_ = MakeInstance();
  return own_.get();
}

std::unique_ptr<Predictor::Instances::Instance> Predictor::Instances::MakeInstance() {
  auto instance = std::make_unique<Instance>(&weights);
  // Blobs the net writes or callers fill are the instance's own; what the init net gave them is
  // shared until then.
  std::unordered_set<std::string> own_names = WrittenBy(*instance_def_);
  const std::unordered_set<std::string> written = own_names;
  own_names.insert(input_names.begin(), input_names.end());
  for (const std::string& name : own_names) {
    const std::shared_ptr<Blob> initial = weights.FindBlob(name);
    Blob* local = instance->ws.CreateLocalBlob(name);
    if (initial != nullptr && initial->IsType<Tensor>()) {
      const Tensor& value = initial->Get<Tensor>();
      // A tensor of the parent's is not read-only: the instance would write into it.
      const bool shares =
          !written.contains(name) || value.storage() == nullptr || value.storage()->read_only();
      local->Reset(new Tensor(shares ? value : value.Clone()));
    }
  }
  const std::unordered_set<std::string> outputs(output_names.begin(), output_names.end());
  for (const std::string& name : input_names) {
    Blob* blob = instance->ws.CreateLocalBlob(name);
    if (blob->IsEmpty()) blob->GetMutableTensor(CPU);
    instance->inputs.push_back(blob);
    instance->input_written.push_back(written.contains(name));
  }
  instance->net = instance->ws.CreateNet(instance_def_);
  CAFFE_ENFORCE(instance->net != nullptr, "net \"", def.name(), "\" has type \"", def.type(),
                "\", which is not known");
  const std::vector<std::string> read = InputsOf(def);
  for (const std::string& name : output_names) {
    instance->outputs.push_back(instance->ws.CreateBlob(name));
    instance->output_read.push_back(std::find(read.begin(), read.end(), name) != read.end());
  }
  return instance;
}

// Null when every instance is leased.
Predictor::Instances::Instance* Predictor::Instances::TakeIdle() {
  const int count = num_instances.load(std::memory_order_acquire);
  for (int slot = 0; slot < count; ++slot) {
    if (idle_[slot].load() == nullptr) continue;
    if (Instance* instance = idle_[slot].exchange(nullptr, std::memory_order_acquire))
      return instance;
  }
  return nullptr;
}

Predictor::Instances::Instance* Predictor::Instances::Acquire() {
  if (Instance* idle = TakeIdle()) return idle;
  std::unique_lock<std::mutex> lock(mutex_);
  const auto may_grow = [this] {
    return !growing_ && static_cast<int>(all_.size()) < options.max_instances;
  };
  waiting_.fetch_add(1);
  Instance* instance = TakeIdle();
  while (instance == nullptr && !may_grow()) {
    may_proceed_.wait(lock);
    instance = TakeIdle();
  }
  waiting_.fetch_sub(1);
  return instance != nullptr ? instance : Grow(&lock);
}

// One thread makes an instance at a time. It does so without the mutex, so that meanwhile others
// can give instances back and take them. When making one fails, the next thread may try.
Predictor::Instances::Instance* Predictor::Instances::Grow(std::unique_lock<std::mutex>* lock) {
  growing_ = true;
  lock->unlock();
  std::unique_ptr<Instance> fresh;
  std::exception_ptr error;
  try {
    fresh = MakeInstance();
  } catch (...) {
    error = std::current_exception();
  }
  lock->lock();
  growing_ = false;
  may_proceed_.notify_all();
  if (error != nullptr) std::rethrow_exception(error);
  fresh->slot = static_cast<int>(all_.size());
  all_.push_back(std::move(fresh));
  num_instances.store(static_cast<int>(all_.size()), std::memory_order_release);
  return all_.back().get();
}

// No wake-up is lost. A waiter adds itself to waiting_ and then looks at idle_; this stores into
// idle_ and then looks at waiting_. The four accesses are sequentially consistent, so at least one
// of the two sees the other: either the waiter takes the instance, or this notifies. The waiter
// holds the mutex from before its look until it sleeps, so a notification under the mutex cannot
// fall in between.
void Predictor::Instances::Release(Instance* instance) {
  idle_[instance->slot].store(instance);
  if (waiting_.load() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  may_proceed_.notify_one();
}

void Predictor::Instances::SetInput(Instance* instance, size_t i, const Tensor& value) {
  CAFFE_ENFORCE(value.IsShaped(), "input ", i, " (\"", input_names[i], "\") has no shape");
  Tensor* tensor = instance->inputs[i]->GetMutableTensor(value.GetDeviceType());
  if (instance->input_written[i]) {
    tensor->CopyFrom(value);
  } else {
    *tensor = value;  // shares the storage
  }
}

size_t Predictor::Instances::InputIndex(const std::string& name) const {
  for (size_t i = 0; i < input_names.size(); ++i) {
    if (input_names[i] == name) return i;
  }
  const std::string close = Join(", ", NearestNames(name, input_names));
  CAFFE_THROW("Blob does not exist: ", name, "; the predictor's inputs are ",
              Join(", ", input_names), close.empty() ? "" : "; close: ", close);
}

void Predictor::Instances::RunInto(Instance* instance, TensorList* outputs) {
  // Results of an earlier call give their memory back; one that somebody still holds keeps it.
  outputs->resize(output_names.size());
  for (Tensor& tensor : *outputs) tensor.FreeMemory();
  for (size_t i = 0; i < instance->outputs.size(); ++i) {
    if (!instance->outputs[i]->IsType<Tensor>()) continue;
    Tensor* tensor = instance->outputs[i]->GetMutable<Tensor>();
    if (tensor->storage() == nullptr || IsSoleUser(*tensor)) continue;
    if (instance->output_read[i]) {
      *tensor = tensor->Clone();
    } else {
      tensor->FreeMemory();
    }
  }
  CAFFE_ENFORCE(instance->net->Run(), "net \"", def.name(), "\" failed");
  for (size_t i = 0; i < output_names.size(); ++i) {
    const Blob& blob = *instance->outputs[i];
    CAFFE_ENFORCE(blob.IsType<Tensor>(), "output \"", output_names[i],
                  "\" is not a tensor: it holds ",
                  blob.meta().IsSet() ? blob.meta().name() : "nothing");
    const Tensor& tensor = blob.Get<Tensor>();
    // Memory that another blob of the instance shares would be written by the next run.
    const bool shared = tensor.storage() != nullptr && tensor.storage().use_count() > 1;
    if (shared) {
      (*outputs)[i] = tensor.Clone();
    } else {
      (*outputs)[i] = tensor;  // into the dimensions it has: no allocation
    }
  }
}

}  // namespace caffe2rt
