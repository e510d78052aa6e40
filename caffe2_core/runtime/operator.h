#pragma once
// OperatorBase and Operator<Context>: the base classes of all operators. An operator is one step of
// a net. It is constructed once, from an OperatorDef, and then run any number of times.
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
// The constructor reads the arguments, finds the input blobs, creates the output blobs and sets up
// the device context. Running the operator looks nothing up by name.
//
// Ownership: the operator shares ownership of its blobs. A blob that is removed from the workspace
// stays alive as long as an operator uses it.
//
// Thread safety: an operator may be used by only one thread at a time.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/random_stream.h"
#include "caffe2_core/device/event.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/observer.h"
#include "caffe2_core/tensor/blob.h"
#include "caffe2_core/tensor/tensor.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class Workspace;

class OperatorBase : public Observable<OperatorBase> {
 public:
  static constexpr int kNoNetPositionSet = -1;

  // Creates the output blobs that do not exist. Copies `def`, unless a SharedOperatorDef shares it
  // (shared_operator_def.h). THROWS if an input blob does not exist, or if `def` lists an output
  // twice. REQUIRES: `ws` outlives the operator.
  OperatorBase(const OperatorDef& def, Workspace* ws);
  ~OperatorBase() override;

  // --- arguments ---
  // ArgumentHelper (caffe2_core/graph/arguments.h) lists the supported types and the errors.
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
  // The value of a declared argument, or its declared default. THROWS if a required argument is
  // missing, or if the value fails the declared check.
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
  // All functions with an index THROW if it is out of range, unless stated otherwise.

  // The object in input `i`. THROWS if the blob does not hold a T; the message names the blob.
  template <class T>
  const T& Input(int i) const {
    const Blob& blob = InputBlob(i);
    if (__builtin_expect(!blob.IsType<T>(), 0)) ThrowWrongInput(i, TypeMeta::Make<T>());
    return *static_cast<const T*>(blob.GetRaw());
  }
  // The tensor in input `i`. THROWS if the blob does not hold a tensor of this device type.
  template <class T>
  const T& Input(int i, DeviceType device) const {
    static_assert(std::is_same_v<T, Tensor>, "only a Tensor has a device");
    return InputTensor(i, device);
  }
  // The object in output `i`. If the blob does not hold a T, its content is first replaced by a
  // default-constructed T.
  template <class T>
  T* Output(int i) {
    return OutputBlob(i)->template GetMutable<T>();
  }
  // Replaces the content of output `i` by `allocated`, which the blob then owns.
  template <class T>
  T* Output(int i, T* allocated) {
    return OutputBlob(i)->Reset(allocated);
  }
  // The tensor in output `i`. If the blob does not hold a tensor of this device type, its content
  // is first replaced by a tensor without a shape.
  template <class T>
  T* Output(int i, DeviceType device) {
    static_assert(std::is_same_v<T, Tensor>, "only a Tensor has a device");
    return OutputBlob(i)->GetMutableTensor(device);
  }
  // Input<Tensor>(i, device) and Output<Tensor>(i, device) under Caffe2's names. With `dims` and
  // `type`, the output is also resized and its memory allocated.
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
  // The device and the type as one object: at::dtype<float>().device(CPU) of Caffe2 sources.
  template <class Options>
  Tensor* OutputTensor(int i, IntArrayRef dims, const Options& options) {
    return OutputTensor(i, options.device().type(), dims, options.dtype());
  }
  // SetOutputTensor moves `tensor` into output `i`. OutputTensorAlias makes the output share the
  // memory of `src`. OutputTensorCopyFrom copies the elements of `src` to an output on `device`.
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
  // Whether a blob holds a T, or a tensor of the given device type.
  template <class T>
  bool InputIsType(int i) const {
    return InputBlob(i).IsType<T>();
  }
  bool InputIsTensorType(int i, DeviceType device) const { return InputBlob(i).IsTensor(device); }
  template <class T>
  bool OutputIsType(int i) {
    return OutputBlob(i)->IsType<T>();
  }
  bool OutputIsTensorType(int i, DeviceType device) { return OutputBlob(i)->IsTensor(device); }
  // Whether input `i` and output `o` are the same blob. False if an index is out of range.
  bool IsInputOutputAlias(int i, int o) {
    return static_cast<size_t>(i) < inputs_.size() && static_cast<size_t>(o) < outputs_.size() &&
           inputs_[static_cast<size_t>(i)] == outputs_[static_cast<size_t>(o)];
  }
  int InputSize() const { return static_cast<int>(inputs_.size()); }
  int OutputSize() const { return static_cast<int>(outputs_.size()); }
  const std::vector<const Blob*>& Inputs() const { return inputs_; }
  const std::vector<Blob*>& Outputs() { return outputs_; }
  // The shape and type of each input. `unknown_shape` is set for an input that does not hold a
  // tensor with a shape.
  std::vector<TensorShape> InputTensorShapes() const;

  // --- running ---
  // Run, RunAsync and Enqueue return false if the operator reports a failure, and pass on its
  // exceptions. A net turns both kinds of failure into EnforceNotMet.

  // Runs the operator, waits for the device, and calls the observers.
  virtual bool Run(int stream_id = 0) = 0;
  // Starts the operator without waiting and without calling observers. event() reports when the
  // work has finished and whether it failed.
  virtual bool RunAsync(int stream_id = 0);
  // Starts the operator without waiting, and without observers or an event. Nets call this for
  // operators that have no observers. The default is for operators that define only Run.
  virtual bool Enqueue(int stream_id) { return Run(stream_id); }
  // Waits for the work that Enqueue started. THROWS if the work failed on the device.
  virtual void FinishDevice() {}
  // Whether work may continue on the device after Enqueue has returned.
  virtual bool HasAsyncPart() const { return false; }
  // Whether the operator can wait for events on its device, without blocking the calling thread.
  virtual bool SupportsAsyncScheduling() const { return false; }
  // Whether all work on this stream of the calling thread has finished.
  virtual bool IsStreamFree(int) const { return true; }

  // --- properties ---
  const OperatorDef& debug_def() const { return *def_; }
  bool has_debug_def() const { return true; }
  const std::string& type() const { return def_->type(); }
  const DeviceOption& device_option() const { return def_->device_option(); }
  // The first 10 characters of the engine's name, or "" for the default engine.
  const std::string& engine() const { return engine_; }
  void annotate_engine(const std::string& engine) { engine_ = engine; }
  // The position in the net, or kNoNetPositionSet.
  int net_position() const { return net_position_; }
  void set_net_position(int position) { net_position_ = position; }
  Workspace* workspace() const { return ws_; }
  // Where the operator's random numbers come from, and those of the nets that it runs. The context of
  // an Operator<Context> uses it, unless the device option has a random_seed.
  RandomPlace& random_place() const { return random_place_; }

  // --- event ---
  // The event that RunAsync records. It is created on first use. THROWS if DisableEvent was called.
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
  // Makes later work on the stream wait for the event. Has no effect in this base class.
  virtual void WaitEvent(const Event&, int = 0) {}
  void WaitEvents(const std::vector<const Event*>& events, int stream_id = 0) {
    for (const Event* event : events) WaitEvent(*event, stream_id);
  }

  // A description for error messages. It lists at most 8 inputs and 8 outputs:
  //
  //   Conv, inputs "x" float [1, 3, 8, 8], "w" float [4, 3, 3, 3], output "y"
  std::string Describe() const;

  // Shared ownership of an input blob, for callers that keep the blob longer than the operator.
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
  const std::shared_ptr<const OperatorDef> def_;  // may be shared with the caller, see constructor
  const ArgumentHelper args_;
  Workspace* const ws_;
  std::vector<std::shared_ptr<Blob>> owners_;  // inputs, then outputs
  std::string engine_;
  mutable RandomPlace random_place_;
  int net_position_ = kNoNetPositionSet;
  bool event_disabled_ = false;
  std::unique_ptr<Event> event_;
};

// Base class of the operators of one device type. `Context` is the concrete context, such as
// CPUContext. Inputs and outputs are on the device type of the context unless stated otherwise.
template <class Context>
class Operator : public OperatorBase {
 public:
  Operator(const OperatorDef& def, Workspace* ws)
      : OperatorBase(def, ws), context_(def.device_option()) {
    if constexpr (requires { context_.SetRandomPlace(&random_place()); }) {
      context_.SetRandomPlace(&random_place());
    }
    context_.SwitchToDevice(0);
  }

  using OperatorBase::Input;
  using OperatorBase::Output;
  const Tensor& Input(int i) const { return InputTensor(i, Context::GetDeviceType()); }
  // The tensor in input `i`, on the given device type. An example is a shape on the CPU.
  const Tensor& Input(int i, DeviceType device) const { return InputTensor(i, device); }
  Tensor* Output(int i) { return OutputTensor(i, Context::GetDeviceType()); }
  // Also resizes the tensor and allocates its memory. A call that repeats the shape and the type
  // allocates nothing.
  Tensor* Output(int i, IntArrayRef dims, TypeMeta type) {
    return OutputTensor(i, Context::GetDeviceType(), dims, type);
  }
  // The same, but returns the elements of the tensor.
  template <class T>
  T* OutputData(int i, IntArrayRef dims) {
    Tensor* tensor = Output(i);
    tensor->Resize(dims);
    return tensor->template mutable_data<T>();
  }

  // Does the operator's work. The device and the stream of `context_` are already selected. Returns
  // false, or throws, to report a failure.
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

// Caffe2's macros for operators that are class templates. They declare the names that such an
// operator uses from its dependent base class.
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

// A constructor that only calls the base class, and a destructor.
#define USE_SIMPLE_CTOR_DTOR(name)                                    \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2rt::Operator<Context>(def, ws) {}                     \
  virtual ~name() noexcept {}

#define USE_SIMPLE_BASE_CTOR_DTOR(name)                               \
  name(const ::caffe2rt::OperatorDef& def, ::caffe2rt::Workspace* ws) \
      : ::caffe2rt::OperatorBase(def, ws) {}                          \
  virtual ~name() noexcept {}

// A member initializer that reads the argument `name` into `variable`.
#define OP_SINGLE_ARG(type, name, variable, default_value) \
  variable(::caffe2rt::OperatorBase::GetSingleArgument<type>(name, (default_value)))

// Names for input and output indices: after INPUT_TAGS(X, W), X is 0 and W is 1.
#define INPUT_TAGS(first, ...) enum _InputTags { first = 0, __VA_ARGS__ }
#define OUTPUT_TAGS(first, ...) enum _OutputTags { first = 0, __VA_ARGS__ }

// Thrown by an operator's constructor if its engine does not support the def. CreateOperator then
// tries the next engine.
class UnsupportedOperatorFeature : public std::exception {
 public:
  explicit UnsupportedOperatorFeature(std::string message) : message_(std::move(message)) {}
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};
// Throws UnsupportedOperatorFeature unless the condition is true.
#define OPERATOR_NEEDS_FEATURE(condition, ...)                                           \
  do {                                                                                   \
    if (!(condition)) {                                                                  \
      throw ::caffe2rt::UnsupportedOperatorFeature(::caffe2rt::MakeString(__VA_ARGS__)); \
    }                                                                                    \
  } while (false)

}  // namespace caffe2rt
#pragma GCC visibility pop
