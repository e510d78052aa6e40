#include "caffe2_core/runtime/predictor.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/net_copies.h"

namespace caffe2rt {
namespace {

// Blob names that operators of the net write. What is written through an alias counts.
std::unordered_set<std::string> WrittenBy(const NetDef& net) {
  std::unordered_set<std::string> written, aliases;
  std::unordered_multimap<std::string, std::string> sources;  // of aliases
  for (const OperatorDef& op : net.op()) {
    const bool is_alias = op.type() == "Alias" && op.input_size() == 1 && op.output_size() == 1;
    if (is_alias) sources.emplace(op.output(0), op.input(0));
    (is_alias ? aliases : written).insert(op.output().begin(), op.output().end());
  }
  std::vector<std::string> to_follow(written.begin(), written.end());
  while (!to_follow.empty()) {
    const auto [begin, end] = sources.equal_range(to_follow.back());
    to_follow.pop_back();
    for (auto it = begin; it != end; ++it) {
      if (written.insert(it->second).second) to_follow.push_back(it->second);
    }
  }
  written.merge(aliases);
  return written;
}

// A parent that somebody else keeps alive.
std::shared_ptr<Workspace> Unowned(Workspace* parent) {
  return std::shared_ptr<Workspace>(parent, [](Workspace*) {});
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

NetDef Named(NetDef net, const char* fallback) {
  if (net.name().empty()) net.set_name(fallback);
  return net;
}

}  // namespace

// The shared part: weights, net, names, and the instances.
class Predictor::Model {
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
    Lease(Model* model, Instance* instance) : model_(model), instance_(instance) {}
    ~Lease() { model_->Release(instance_); }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Instance* operator->() const { return instance_; }
    Instance& operator*() const { return *instance_; }

   private:
    Model* const model_;
    Instance* const instance_;
  };

  Model(std::shared_ptr<Workspace> parent, const NetDef& run_net, const PredictorOptions& options)
      : parent_(std::move(parent)),
        weights(parent_.get()),
        def(Named(run_net, "predict")),
        options(options) {
    CAFFE_ENFORCE(options.max_instances >= 1 && options.max_instances <= kMaxInstances,
                  "max_instances of a predictor is ", options.max_instances, ", want 1 to ",
                  kMaxInstances);
    if (options.device_fallback) FallBackToCPU(&def);
    // The instances' workspaces follow this one.
    if (options.file_access.has_value()) {
      weights.SetFileAccess(*options.file_access);
    } else if (parent_ == nullptr) {
      weights.SetFileAccess(FileAccessWithoutParent());
    }
  }

  void RunInit(const NetDef& init_net) {
    NetDef net = Named(init_net, "init");
    if (options.device_fallback) FallBackToCPU(&net);
    weights.RunNetOnce(net);
  }

  // After the weights are there: fixes names, makes the first instance.
  void Finish(std::vector<std::string> inputs, std::vector<std::string> outputs) {
    for (const std::string& name : weights.LocalBlobs()) {
      Blob* blob = weights.GetBlob(name);
      if (blob->IsType<Tensor>()) blob->GetMutable<Tensor>()->MarkReadOnly();
    }
    input_names = std::move(inputs);
    output_names = std::move(outputs);
    AddDeviceCopies();
    Lease warm(this, Acquire());
  }

  Instance* Acquire();
  void Release(Instance* instance);
  void SetInput(Instance* instance, size_t i, const Tensor& value);
  size_t InputIndex(const std::string& name) const;
  void RunInto(Instance* instance, TensorList* outputs);

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

  // The older form's own instance.
  std::unique_ptr<Instance> own;
  Instance* Own() {
    if (own == nullptr) own = MakeInstance();
    return own.get();
  }

 private:
  std::unique_ptr<Instance> MakeInstance();
  Instance* TakeIdle();
  Instance* Grow(std::unique_lock<std::mutex>* lock);

  // Once for all instances, so that all know the copies for blobs of their own.
  void AddDeviceCopies() {
    instance_def_ = WithDeviceCopies(std::make_shared<const NetDef>(def), weights);
    NetDef final_def = *instance_def_;
    GetMutableArgument("inject_copies", true, &final_def)->set_i(0);
    instance_def_ = std::make_shared<const NetDef>(std::move(final_def));
  }

  std::shared_ptr<const NetDef> instance_def_;  // `def` with copies; the instances' nets share it
  std::atomic<Instance*> idle_[kMaxInstances] = {};  // by slot; null while leased
  std::atomic<int> waiting_{0};                      // threads that found no instance; see Release
  std::mutex mutex_;                                 // guards growing_ and all_
  std::condition_variable may_proceed_;  // an instance came back, or a thread stopped growing
  bool growing_ = false;                 // a thread makes an instance, without the mutex
  std::vector<std::unique_ptr<Instance>> all_;
};

std::unique_ptr<Predictor::Model::Instance> Predictor::Model::MakeInstance() {
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
Predictor::Model::Instance* Predictor::Model::TakeIdle() {
  const int count = num_instances.load(std::memory_order_acquire);
  for (int slot = 0; slot < count; ++slot) {
    if (idle_[slot].load() == nullptr) continue;
    if (Instance* instance = idle_[slot].exchange(nullptr, std::memory_order_acquire))
      return instance;
  }
  return nullptr;
}

Predictor::Model::Instance* Predictor::Model::Acquire() {
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
Predictor::Model::Instance* Predictor::Model::Grow(std::unique_lock<std::mutex>* lock) {
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
void Predictor::Model::Release(Instance* instance) {
  idle_[instance->slot].store(instance);
  if (waiting_.load() == 0) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  may_proceed_.notify_one();
}

void Predictor::Model::SetInput(Instance* instance, size_t i, const Tensor& value) {
  CAFFE_ENFORCE(value.IsShaped(), "input ", i, " (\"", input_names[i], "\") has no shape");
  Tensor* tensor = instance->inputs[i]->GetMutableTensor(value.GetDeviceType());
  if (instance->input_written[i]) {
    tensor->CopyFrom(value);
  } else {
    *tensor = value;  // shares the storage
  }
}

size_t Predictor::Model::InputIndex(const std::string& name) const {
  for (size_t i = 0; i < input_names.size(); ++i) {
    if (input_names[i] == name) return i;
  }
  const std::string close = Join(", ", NearestNames(name, input_names));
  CAFFE_THROW("Blob does not exist: ", name, "; the predictor's inputs are ",
              Join(", ", input_names), close.empty() ? "" : "; close: ", close);
}

void Predictor::Model::RunInto(Instance* instance, TensorList* outputs) {
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
    CAFFE_ENFORCE(blob.IsType<Tensor>(), "output \"", output_names[i], "\" is no tensor: it holds ",
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

Predictor::Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
                     bool run_init, int)
    : Predictor(init_net, run_net, parent, PredictorOptions{.run_init = run_init}) {}

Predictor::Predictor(const NetDef& init_net, const NetDef& run_net, Workspace* parent,
                     const PredictorOptions& options) try
    : model_(std::make_shared<Model>(Unowned(parent), run_net, options)) {
  if (options.run_init) model_->RunInit(init_net);
  // As in the original every declared input may be fed, weights too.
  model_->Finish(InputsOf(model_->def), OutputsOf(model_->def));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(const MetaNetDef& net, Workspace* parent, const PredictorOptions& options)
    : Predictor(net, Unowned(parent), options) {}

Predictor::Predictor(const MetaNetDef& net, std::shared_ptr<Workspace> parent,
                     const PredictorOptions& options) try
    : model_(std::make_shared<Model>(std::move(parent), GetNet(net, "PREDICT_NET_TYPE"), options)) {
  for (const NetsMap& entry : net.nets()) {
    if (entry.key() == "GLOBAL_INIT_NET_TYPE" && options.run_init) model_->RunInit(entry.value());
  }
  for (const NetsMap& entry : net.nets()) {
    if (entry.key() == "PREDICT_INIT_NET_TYPE" && options.run_init) model_->RunInit(entry.value());
  }
  std::vector<std::string> inputs = GetBlobs(net, "INPUTS_BLOB_TYPE");
  std::vector<std::string> outputs = GetBlobs(net, "OUTPUTS_BLOB_TYPE");
  if (inputs.empty()) inputs = InputsOf(model_->def);
  if (outputs.empty()) outputs = OutputsOf(model_->def);
  model_->Finish(std::move(inputs), std::move(outputs));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::Predictor(const PredictorConfig& config) try {
  CAFFE_ENFORCE(config.predict_net != nullptr && config.ws != nullptr,
                "a predictor's config needs predict_net and ws");
  model_ = std::make_shared<Model>(config.ws, *config.predict_net, PredictorOptions{});
  model_->Finish(config.input_names.empty() ? InputsOf(model_->def) : config.input_names,
                 config.output_names.empty() ? OutputsOf(model_->def) : config.output_names);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Predictor::~Predictor() = default;

bool Predictor::operator()(const TensorList& inputs, TensorList* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  CAFFE_ENFORCE_LE(inputs.size(), model_->input_names.size(),
                   "inputs.size() <= external_input_size");
  Model::Lease instance(model_.get(), model_->Acquire());
  for (size_t i = 0; i < inputs.size(); ++i) model_->SetInput(&*instance, i, inputs[i]);
  model_->RunInto(&*instance, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::operator()(const TensorMap& inputs, TensorList* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  Model::Lease instance(model_.get(), model_->Acquire());
  for (const auto& [name, tensor] : inputs) {
    model_->SetInput(&*instance, model_->InputIndex(name), tensor);
  }
  model_->RunInto(&*instance, outputs);
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::operator()(const TensorMap& inputs, TensorMap* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  TensorList list;
  if (!operator()(inputs, &list)) return false;
  outputs->clear();
  for (size_t i = 0; i < list.size(); ++i) {
    outputs->emplace(model_->output_names[i], std::move(list[i]));
  }
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::run(const TensorVector& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  CAFFE_ENFORCE_LE(inputs.size(), model_->input_names.size(),
                   "inputs.size() <= external_input_size");
  Model::Instance* const instance = model_->Own();
  for (size_t i = 0; i < inputs.size(); ++i) {
    CAFFE_ENFORCE(inputs[i] != nullptr, "input ", i, " is null");
    model_->SetInput(instance, i, *inputs[i]);
  }
  CAFFE_ENFORCE(instance->net->Run(), "net \"", model_->def.name(), "\" failed");
  outputs->clear();
  for (Blob* blob : instance->outputs) outputs->push_back(blob->GetMutable<Tensor>());
  return true;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::run_map(const TensorPointerMap& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  Model::Instance* const instance = model_->Own();
  for (const auto& [name, tensor] : inputs) {
    CAFFE_ENFORCE(tensor != nullptr, "input \"", name, "\" is null");
    model_->SetInput(instance, model_->InputIndex(name), *tensor);
  }
  return run({}, outputs);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool Predictor::run_map(const TensorMap& inputs, TensorVector* outputs) try {
  CAFFE_ENFORCE(outputs != nullptr, "argument outputs of a predictor is null");
  Model::Instance* const instance = model_->Own();
  for (const auto& [name, tensor] : inputs) {
    model_->SetInput(instance, model_->InputIndex(name), tensor);
  }
  return run({}, outputs);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

const NetDef& Predictor::def() const { return model_->def; }
Workspace* Predictor::ws() try { return &model_->Own()->ws; } catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}
const Workspace* Predictor::ws() const { return &model_->Own()->ws; }
const std::vector<std::string>& Predictor::input_names() const { return model_->input_names; }
const std::vector<std::string>& Predictor::output_names() const { return model_->output_names; }
int Predictor::num_instances() const { return model_->num_instances.load(); }

}  // namespace caffe2rt
