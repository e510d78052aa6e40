#pragma once
// OperatorBase and Operator<Context>: one step of a net, built once from an OperatorDef. Section 15
// of Caffe2's core.
//
//   template <class Context>
//   class ScaleByTwoOp final : public Operator<Context> {
//    public:
//     USE_OPERATOR_CONTEXT_FUNCTIONS;
//     ScaleByTwoOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}
//     bool RunOnDevice() override {
//       const Tensor& X = Input(0);
//       Tensor* Y = Output(0, X.sizes(), X.dtype());
//       ...
//       return true;
//     }
//   };
//
// Construction resolves everything: arguments, input and output blobs, device, context. The
// operator shares ownership of its blobs, so that a name may be removed from the workspace while a
// net uses it. Run is used by one thread at a time.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {

class Workspace;

class OperatorBase : public Observable<OperatorBase> {
 public:
  static constexpr int kNoNetPositionSet = -1;

  // Keeps a copy of `def`, or shares it (shared_operator_def.h). THROWS when an input blob does not
  // exist; makes the output blobs.
  OperatorBase(const OperatorDef& def, Workspace* ws);
  ~OperatorBase() override;

  // --- arguments ---
  bool HasArgument(const std::string& name) const { return args_.HasArgument(name); }
  template <class T>
  T GetSingleArgument(const std::string& name, const T& default_value) const {
    return args_.GetSingleArgument<T>(name, default_value);
  }
  template <class T>
  bool HasSingleArgumentOfType(const std::string& name) const {
    return args_.HasSingleArgumentOfType<T>(name);
  }
  template <class T>
  std::vector<T> GetRepeatedArgument(const std::string& name,
                                     const std::vector<T>& default_value = {}) const {
    return args_.GetRepeatedArgument<T>(name, default_value);
  }
  // A declared argument's value. THROWS where it is missing and required, or fails its check.
  template <class T>
  T ReadArgument(const ArgumentSpec<T>& spec) const {
    return args_.Read(spec);
  }
  template <class T>
  std::vector<T> ReadArgument(const RepeatedArgumentSpec<T>& spec) const {
    return args_.Read(spec);
  }
  template <class Spec>
  requires requires(const Spec& spec) { spec.required; }
  bool HasArgument(const Spec& spec) const { return args_.HasArgument(spec); }
  const ArgumentHelper& args() const { return args_; }

  // --- blobs ---
  // THROWS when the blob holds another type; the message names the blob.
  template <class T>
  const T& Input(int i) const {
    const Blob& blob = InputBlob(i);
    if (__builtin_expect(!blob.IsType<T>(), 0)) ThrowWrongInput(i, TypeMeta::Make<T>());
    return *static_cast<const T*>(blob.GetRaw());
  }
  template <class T>
  const T& Input(int i, DeviceType device) const {
    static_assert(std::is_same_v<T, Tensor>, "a device is asked of tensors only");
    return InputTensor(i, device);
  }
  template <class T>
  T* Output(int i) {
    return OutputBlob(i)->template GetMutable<T>();
  }
  template <class T>
  T* Output(int i, T* allocated) {
    return OutputBlob(i)->Reset(allocated);
  }
  template <class T>
  T* Output(int i, DeviceType device) {
    static_assert(std::is_same_v<T, Tensor>, "a device is asked of tensors only");
    return OutputBlob(i)->GetMutableTensor(device);
  }
  const Tensor& InputTensor(int i, DeviceType device) const {
    const Blob& blob = InputBlob(i);
    if (__builtin_expect(!blob.IsTensor(device), 0)) ThrowWrongDevice(i, device);
    return *static_cast<const Tensor*>(blob.GetRaw());
  }
  Tensor* OutputTensor(int i, DeviceType device) { return OutputBlob(i)->GetMutableTensor(device); }
  Tensor* OutputTensor(int i, DeviceType device, IntArrayRef dims, TypeMeta type) {
    Tensor* tensor = OutputTensor(i, device);
    tensor->Resize(dims);
    tensor->raw_mutable_data(type);
    return tensor;
  }
  // Makes the output share `tensor`, or hold a copy of `src`.
  void SetOutputTensor(int i, Tensor tensor) { BlobSetTensor(OutputBlob(i), std::move(tensor)); }
  Tensor* OutputTensorAlias(int i, const Tensor& src) {
    return BlobSetTensor(OutputBlob(i), Tensor(src));
  }
  Tensor* OutputTensorCopyFrom(int i, DeviceType device, const Tensor& src) {
    Tensor* tensor = OutputTensor(i, device);
    tensor->CopyFrom(src);
    return tensor;
  }
  const Blob& InputBlob(int i) const {
    if (__builtin_expect(static_cast<size_t>(i) >= inputs_.size(), 0)) ThrowBadIndex("input", i);
    return *inputs_[static_cast<size_t>(i)];
  }
  Blob* OutputBlob(int i) {
    if (__builtin_expect(static_cast<size_t>(i) >= outputs_.size(), 0)) ThrowBadIndex("output", i);
    return outputs_[static_cast<size_t>(i)];
  }
  template <class T>
  bool InputIsType(int i) const {
    return InputBlob(i).IsType<T>();
  }
  bool InputIsTensorType(int i, DeviceType device) const { return InputBlob(i).IsTensor(device); }
  template <class T>
  bool OutputIsType(int i) {
    return OutputBlob(i)->IsType<T>();
  }
  bool IsInputOutputAlias(int i, int o) {
    return static_cast<size_t>(i) < inputs_.size() && static_cast<size_t>(o) < outputs_.size() &&
           inputs_[static_cast<size_t>(i)] == outputs_[static_cast<size_t>(o)];
  }
  int InputSize() const { return static_cast<int>(inputs_.size()); }
  int OutputSize() const { return static_cast<int>(outputs_.size()); }
  const std::vector<const Blob*>& Inputs() const { return inputs_; }
  const std::vector<Blob*>& Outputs() { return outputs_; }
  // Shapes of the tensor inputs; unknown_shape for others.
  std::vector<TensorShape> InputTensorShapes() const;

  // --- running ---
  // Runs and waits; observers fire. False and exceptions become EnforceNotMet in nets; here false
  // is returned.
  virtual bool Run(int stream_id = 0) = 0;
  // Starts without waiting; the event tells the end.
  virtual bool RunAsync(int stream_id = 0);
  // Starts without waiting, observers or events: what a net calls.
  virtual bool Enqueue(int stream_id) = 0;
  // Waits for what Enqueue started.
  virtual void FinishDevice() {}
  virtual bool HasAsyncPart() const { return false; }
  virtual bool SupportsAsyncScheduling() const { return false; }
  virtual bool IsStreamFree(int) const { return true; }

  // --- facts ---
  const OperatorDef& debug_def() const { return *def_; }
  bool has_debug_def() const { return true; }
  const std::string& type() const { return def_->type(); }
  const DeviceOption& device_option() const { return def_->device_option(); }
  // The engine it was built for; "" for the default one.
  const std::string& engine() const { return engine_; }
  void annotate_engine(const std::string& engine) { engine_ = engine; }
  int net_position() const { return net_position_; }
  void set_net_position(int position) { net_position_ = position; }
  Workspace* workspace() const { return ws_; }

  // Made on first use.
  Event& event();
  bool HasEvent() const { return event_ != nullptr; }
  void ResetEvent() {
    if (event_ != nullptr) event_->Reset();
  }
  void DisableEvent() { event_disabled_ = true; }
  bool IsEventDisabled() const { return event_disabled_; }
  void Finish() {
    if (event_ != nullptr) event_->Finish();
  }
  virtual void WaitEvent(const Event&, int = 0) {}
  void WaitEvents(const std::vector<const Event*>& events, int stream_id = 0) {
    for (const Event* event : events) WaitEvent(*event, stream_id);
  }

  // "Conv, inputs "x" float [1, 3, 8, 8], "w" ..., output "y"": for error frames.
  std::string Describe() const;

  // Shared ownership of an input's blob, for those who keep it beyond the operator.
  const std::shared_ptr<Blob>& input_owner(int i) const {
    return owners_.at(static_cast<size_t>(i));
  }

 protected:
  virtual void RecordEvent(const char* error = nullptr);

 private:
  [[noreturn]] void ThrowWrongInput(int i, TypeMeta wanted) const;
  [[noreturn]] void ThrowWrongDevice(int i, DeviceType device) const;
  [[noreturn]] void ThrowBadIndex(const char* what, int i) const;

  std::vector<const Blob*> inputs_;
  std::vector<Blob*> outputs_;
  const std::shared_ptr<const OperatorDef> def_;  // shared: who made the operator may keep it too
  const ArgumentHelper args_;
  Workspace* const ws_;
  std::vector<std::shared_ptr<Blob>> owners_;  // inputs, then outputs
  std::string engine_;
  int net_position_ = kNoNetPositionSet;
  bool event_disabled_ = false;
  std::unique_ptr<Event> event_;
};

template <class Context>
class Operator : public OperatorBase {
 public:
  Operator(const OperatorDef& def, Workspace* ws)
      : OperatorBase(def, ws), context_(def.device_option()) {
    context_.SwitchToDevice(0);
  }

  using OperatorBase::Input;
  using OperatorBase::Output;
  const Tensor& Input(int i) const { return InputTensor(i, Context::GetDeviceType()); }
  // A tensor on another device than the operator's.
  const Tensor& Input(int i, DeviceType device) const { return InputTensor(i, device); }
  Tensor* Output(int i) { return OutputTensor(i, Context::GetDeviceType()); }
  // Shaped and allocated. Steady state: no allocation.
  Tensor* Output(int i, IntArrayRef dims, TypeMeta type) {
    return OutputTensor(i, Context::GetDeviceType(), dims, type);
  }
  template <class T>
  T* OutputData(int i, IntArrayRef dims) {
    Tensor* tensor = Output(i);
    tensor->Resize(dims);
    return tensor->template mutable_data<T>();
  }

  // The work. False is a failure.
  virtual bool RunOnDevice() = 0;

  bool Enqueue(int stream_id) override {
    context_.SwitchToDevice(stream_id);
    return RunOnDevice();
  }
  bool Run(int stream_id = 0) override {
    const bool observed = NumObservers() > 0;
    if (observed) StartAllObservers();
    const bool success = Enqueue(stream_id);
    context_.FinishDeviceComputation();
    if (observed) StopAllObservers();
    return success;
  }
  void FinishDevice() override { context_.FinishDeviceComputation(); }
  bool HasAsyncPart() const override { return Context::HasAsyncPartDefault(); }
  bool SupportsAsyncScheduling() const override { return Context::SupportsAsyncScheduling(); }
  bool IsStreamFree(int stream_id) const override {
    return Context::IsStreamFree(device_option(), stream_id);
  }
  void WaitEvent(const Event& event, int stream_id = 0) override {
    context_.SwitchToDevice(stream_id);
    context_.WaitEvent(event);
  }
  const Context* getContext() const { return &context_; }
  Context* getContext() { return &context_; }

 protected:
  void RecordEvent(const char* error = nullptr) override {
    if (!IsEventDisabled()) context_.Record(&event(), error);
  }
  Context context_;
};

// Names a template operator needs from its dependent base, as Caffe2 has them.
#define USE_OPERATOR_BASE_FUNCTIONS                        \
  using ::caffe2rt::OperatorBase::HasArgument;             \
  using ::caffe2rt::OperatorBase::ReadArgument;            \
  using ::caffe2rt::OperatorBase::GetSingleArgument;       \
  using ::caffe2rt::OperatorBase::HasSingleArgumentOfType; \
  using ::caffe2rt::OperatorBase::GetRepeatedArgument;     \
  using ::caffe2rt::OperatorBase::InputIsType;             \
  using ::caffe2rt::OperatorBase::InputSize;               \
  using ::caffe2rt::OperatorBase::OutputSize;              \
  using ::caffe2rt::OperatorBase::InputBlob;               \
  using ::caffe2rt::OperatorBase::OutputBlob;              \
  using ::caffe2rt::OperatorBase::IsInputOutputAlias;      \
  using ::caffe2rt::OperatorBase::OutputTensorAlias;       \
  using ::caffe2rt::OperatorBase::debug_def

#define USE_OPERATOR_FUNCTIONS(context)          \
  USE_OPERATOR_BASE_FUNCTIONS;                   \
  using ::caffe2rt::Operator<context>::context_; \
  using ::caffe2rt::Operator<context>::Input;    \
  using ::caffe2rt::Operator<context>::Output;   \
  using ::caffe2rt::Operator<context>::OutputData

#define USE_OPERATOR_CONTEXT_FUNCTIONS USE_OPERATOR_FUNCTIONS(Context)

#define USE_SIMPLE_CTOR_DTOR(name)                                    \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2rt::Operator<Context>(def, ws) {}                     \
  virtual ~name() noexcept {}

#define USE_SIMPLE_BASE_CTOR_DTOR(name)                               \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2rt::OperatorBase(def, ws) {}                          \
  virtual ~name() noexcept {}

#define OP_SINGLE_ARG(type, name, variable, default_value) \
  variable(::caffe2rt::OperatorBase::GetSingleArgument<type>(name, (default_value)))

#define INPUT_TAGS(first, ...) enum _InputTags { first = 0, __VA_ARGS__ }
#define OUTPUT_TAGS(first, ...) enum _OutputTags { first = 0, __VA_ARGS__ }

// Thrown by a constructor for an engine that lacks something: the next engine is tried.
class UnsupportedOperatorFeature : public std::exception {
 public:
  explicit UnsupportedOperatorFeature(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};
#define OPERATOR_NEEDS_FEATURE(condition, ...)                                           \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      throw ::caffe2rt::UnsupportedOperatorFeature(::caffe2rt::MakeString(__VA_ARGS__)); \
    }                                                                                    \
  } while (false)

}  // namespace caffe2rt
