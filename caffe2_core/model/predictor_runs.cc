// A run of an instance: its inputs, its net and its outputs.

#include <absl/strings/str_join.h>

#include <algorithm>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/model/predictor_instances.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/memory_range.h"

namespace caffe2rt {
namespace {

// Whether the tensor is the only owner of its memory. The destructor of `second` is an acquire
// operation on the reference count. It therefore happens after everything that other threads did
// with the memory before they released their references.
bool IsSoleUser(const Tensor& tensor) {
  const std::shared_ptr<Storage> second = tensor.storage();
  return second.use_count() == 2;
}

}  // namespace

// An output that shares the memory of an input that the net only reads, as that of Alias does, is
// not written.
bool Predictor::Instances::Instance::Overwrites(const Tensor& value) const {
  const MemoryRange range = RangeOf(value.storage().get());
  if (range.empty()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor* const input = FindTensor(*inputs[i]);
    if (!input_written[i] && input != nullptr && input->storage() == value.storage()) return false;
  }
  return std::any_of(written.begin(), written.end(), [&](const std::shared_ptr<const Blob>& blob) {
    const Tensor* const tensor = FindTensor(*blob);
    const MemoryRange other = RangeOf(tensor == nullptr ? nullptr : tensor->storage().get());
    return !other.empty() && other.begin < range.end && range.begin < other.end;
  });
}

bool Predictor::Instances::Instance::IsOtherInput(const Tensor* value, size_t i) const {
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (k != i && FindTensor(*inputs[k]) == value) return true;
  }
  return false;
}

void Predictor::Instances::SetInput(Instance* instance, size_t i, const Tensor& value) {
  CAFFE_ENFORCE(value.IsShaped(), "input ", i, " (\"", input_names[i], "\") has no shape");
  if (!constant_inputs_.empty() && constant_inputs_[i] && !instance->plain) UsePlainNet(instance);
  Tensor* tensor = instance->inputs[i]->GetMutableTensor(value.GetDeviceType());
  if (instance->input_written[i]) {
    tensor->CopyFrom(value);
  } else {
    *tensor = value;  // shares the storage
  }
  const std::optional<int> device = instance->input_devices[i];
  if (may_copy_ && device.has_value() && *device != value.GetDeviceType())
    instance->misplaced = true;
}

Predictor::Instances::InputValues* Predictor::Instances::EmptyValues() {
  own_values_.clear();
  return &own_values_;
}

// A result of the last run is in memory that the next run overwrites, or already SetInput.
void Predictor::Instances::SetOwnInputs(InputValues* values) {
  Instance* const instance = Own();
  own_copies_.clear();  // of a call that failed
  for (auto& [i, value] : *values) {
    const bool written = instance->Overwrites(*value);
    if (!written && !instance->IsOtherInput(value, i)) continue;
    own_copies_.reserve(values->size());  // the pointers stay valid
    own_copies_.push_back(written ? value->Clone() : *value);
    value = &own_copies_.back();
  }
  for (const auto& [i, value] : *values) SetInput(instance, i, *value);
  own_copies_.clear();  // the inputs alone hold them
}

void Predictor::Instances::RunOwn(uint64_t cancels, InputValues* values, TensorVector* outputs) {
  SetOwnInputs(values);
  Instance* const instance = Own();
  instance->cancels_before = cancels;
  if (instance->misplaced) UseCopiesOfInputs(instance);
  RunNet(instance);
  outputs->clear();
  for (Blob* blob : instance->outputs) outputs->push_back(blob->GetMutable<Tensor>());
}

size_t Predictor::Instances::InputIndex(const std::string& name) const {
  for (size_t i = 0; i < input_names.size(); ++i) {
    if (input_names[i] == name) return i;
  }
  const std::string close = absl::StrJoin(NearestNames(name, input_names), ", ");
  CAFFE_THROW("Blob does not exist: ", name, "; the predictor's inputs are ",
              absl::StrJoin(input_names, ", "), close.empty() ? "" : "; close: ", close);
}

void Predictor::Instances::RunNet(Instance* instance) {
  // Cancel counts before it sets the flags. A call that finds the old count therefore cleared the
  // flag before Cancel sets it.
  instance->cancelled.store(false);
  if (cancels_.load() != instance->cancels_before) {
    throw RunStopped(__FILE__, __LINE__, "", "the run was stopped before its first operator");
  }
  const StopScope scope(instance->cancelled);
  if (weights.random_seed().has_value()) {
    instance->net->net().SetNextRun(runs_.fetch_add(1, std::memory_order_relaxed));
  }
  instance->net->Run();
}

void Predictor::Instances::Cancel() {
  const MutexLock lock(mutex_);
  ++cancels_;
  if (own_ != nullptr) own_->cancelled.store(true);
  for (const std::unique_ptr<Instance>& instance : all_) instance->cancelled.store(true);
  may_proceed_.NotifyAll();
}

void Predictor::Instances::RunInto(Instance* instance, TensorList* outputs) {
  // Release the results of an earlier call. If another owner still holds an output's memory, the
  // instance leaves it that memory and gets new memory for this run.
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
  if (instance->misplaced) UseCopiesOfInputs(instance);
  RunNet(instance);
  if (!has_run_.load(std::memory_order_relaxed)) ReleaseWeightsAfterFirstRun();
  // Making an instance leaves freed memory behind in its thread.
  if (!std::exchange(instance->has_run, true) && num_instances.load() > 1) ReleaseFreedMemory();
  for (size_t i = 0; i < output_names.size(); ++i) {
    const Blob& blob = *instance->outputs[i];
    CAFFE_ENFORCE(blob.IsType<Tensor>(), "output \"", output_names[i],
                  "\" is not a tensor: it holds ",
                  blob.meta().IsSet() ? blob.meta().name() : "nothing");
    const Tensor& tensor = blob.Get<Tensor>();
    // If another blob of the instance shares the memory, the next run would overwrite the result.
    const bool shared = tensor.storage() != nullptr && tensor.storage().use_count() > 1;
    if (shared) {
      (*outputs)[i] = tensor.Clone();
    } else {
      (*outputs)[i] = tensor;  // reuses the capacity for the dimensions, so it does not allocate
    }
  }
}

}  // namespace caffe2rt
