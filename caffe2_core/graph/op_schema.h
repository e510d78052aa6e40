#pragma once
// OpSchema: the declaration of an operator type: arity, in-place rules, arguments, shape inference,
// documentation.
//
//   RegisterSchema("ChannelShuffle", __FILE__)          // built-in operators
//       .NumInputs(1).NumOutputs(1)
//       .Args(kShuffleGroup, kStorageOrder)             // declarations (argument_spec.h)
//       .Input(0, "X", "[N, C, *]")
//       .Output(0, "Y", "the shape of X")
//       .IdenticalTypeAndShape()
//       .SetDoc("Splits C channels into groups and interleaves them.");
//
//   OPERATOR_SCHEMA(MyOp)                               // users' operators, at namespace scope
//       .NumInputs(1).NumOutputs(1).Arg("group", "number of groups", 1);   // 1 is the default
//
// Schemas are registered before nets are created and never change afterwards. Reading them is
// thread safe.

#include <climits>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/operator_traits.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The name of an argument type in documentation.
template <class T>
constexpr const char* ArgumentTypeName() {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_floating_point_v<T>)
    return "float";
  else if constexpr (std::is_integral_v<T>)
    return "int";
  else
    return "string";
}

// State that operators change although no blob shows it. Operators of a net with a common effect
// run in the order of the net (dependencies.h).
enum class Effect : unsigned {
  kFiles = 1,   // opens files; AccessesFiles declares it too
  kOutput = 2,  // prints
  kRandom = 4,  // draws random numbers, from the generator of its context; imposes no order
  // Depends on everything that ran before, such as a timer. Such an operator runs after all earlier
  // operators and before all later ones.
  kEverything = 8,
  // Communicates with other processes (operators/distributed). In a common order, all ranks of a run start
  // such operators alike; two worlds whose operators were started in opposite orders would wait for each other.
  kCommunication = 16,
};

class OpSchema {
 public:
  static constexpr int kCannotComputeNumOutputs = -1;

  struct Argument {
    std::string name;
    std::string doc;
    bool required = false;
    std::string default_value{};  // as text; empty when not stated
    std::string type{};           // "float", "ints", ...; empty when not stated
    // Reads the argument as the operator does, and throws the same errors. Null if the argument was
    // not declared by an ArgumentSpec.
    std::function<void(const ArgumentHelper&)> read{};
  };
  struct NamedDoc {
    std::string name;
    std::string doc;
  };
  struct Cost {
    uint64_t flops = 0;
    uint64_t bytes_moved = 0;  // bytes_read + bytes_written
    uint64_t params_bytes = 0;
    uint64_t bytes_read = 0;
    uint64_t bytes_written = 0;
  };
  using TensorInference =
      std::function<std::vector<TensorShape>(const OperatorDef&, const std::vector<TensorShape>&)>;
  using CostInference = std::function<Cost(const OperatorDef&, const std::vector<TensorShape>&)>;
  using TensorInferenceFunctionType = TensorInference;
  using CostInferenceFunctionType = CostInference;
  using DeviceInference =
      std::function<std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>>(
          const OperatorDef&)>;
  using DeviceInferenceFunctionType = DeviceInference;

  OpSchema() : OpSchema("", "") {}
  OpSchema(std::string type, std::string file, int line = 0)
      : type_(std::move(type)), file_(std::move(file)), line_(line) {}

  // --- Arity ---
  OpSchema& NumInputs(int n) { return NumInputs(n, n); }
  OpSchema& NumInputs(int min, int max);
  OpSchema& NumInputs(std::set<int> allowed);
  OpSchema& NumInputs(std::function<bool(int)> allowed);
  OpSchema& NumOutputs(int n) { return NumOutputs(n, n); }
  OpSchema& NumOutputs(int min, int max);
  OpSchema& NumOutputs(std::set<int> allowed);
  OpSchema& NumOutputs(std::function<bool(int)> allowed);
  OpSchema& NumInputsOutputs(std::function<bool(int, int)> allowed);
  OpSchema& OutputCalculator(std::function<int(int)> calculator);
  OpSchema& SameNumberOfOutput();

  // --- In-place rules. Functions and pairs have the input first, then the output. ---
  OpSchema& AllowInplace(std::function<bool(int, int)> allowed);
  OpSchema& AllowInplace(std::set<std::pair<int, int>> allowed);
  OpSchema& AllowOneToOneInplace();
  OpSchema& EnforceInplace(std::function<bool(int, int)> enforced);
  OpSchema& EnforceInplace(std::set<std::pair<int, int>> enforced);
  OpSchema& EnforceOneToOneInplace();

  // --- Inference ---
  OpSchema& TensorInferenceFunction(TensorInference function);
  // A function that calls `function` if the shapes of all inputs are known. Otherwise all outputs
  // are unknown.
  static TensorInference NeedsAllInputShapes(TensorInference function);
  OpSchema& IdenticalTypeAndShape();
  OpSchema& IdenticalTypeAndShapeOfInput(int index);
  OpSchema& IdenticalTypeAndShapeOfInputDim(int index, int dim);
  OpSchema& IdenticalTypeAndShapeOfMultipleInputs(const std::vector<int>& indices);
  OpSchema& ScalarType(TensorProto_DataType type);
  OpSchema& CostInferenceFunction(CostInference function);
  OpSchema& DeviceInferenceFunction(DeviceInference function);
  OpSchema& InputsCanCrossDevices();

  // --- Documentation and arguments ---
  OpSchema& SetDoc(std::string_view doc);
  OpSchema& Arg(std::string_view name, std::string_view doc, bool required = false);
  // The default value is given as text. A literal would otherwise convert to bool.
  OpSchema& Arg(std::string_view name, std::string_view doc, const char* default_value);
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, bool>>>
  OpSchema& Arg(std::string_view name, std::string_view doc, T default_value) {
    return ArgWithDefault(name, doc, DefaultText(static_cast<double>(default_value)));
  }
  // Declares the argument by the spec that the operator itself reads.
  template <class T>
  OpSchema& Arg(const ArgumentSpec<T>& spec) {
    Argument& argument = Declare(spec, ArgumentTypeName<T>());
    if (!spec.required) argument.default_value = DefaultText(spec.default_value);
    return *this;
  }
  template <class T>
  OpSchema& Arg(const RepeatedArgumentSpec<T>& spec) {
    Declare(spec, std::string(ArgumentTypeName<T>()) + "s");
    return *this;
  }
  // Several declarations.
  template <class First, class Second, class... Rest>
  OpSchema& Args(const First& first, const Second& second, const Rest&... rest) {
    Arg(first);
    Arg(second);
    (Arg(rest), ...);
    return *this;
  }
  static constexpr const char* Arg_IsTest = "is_test";
  OpSchema& ArgIsTest(std::string_view doc) { return Arg(Arg_IsTest, doc, true); }
  OpSchema& Input(int index, std::string_view name, std::string_view doc);
  OpSchema& Output(int index, std::string_view name, std::string_view doc);
  OpSchema& FillUsing(std::function<void(OpSchema&)> fill);
  OpSchema& InheritOnnxSchema(std::string_view onnx_name = "");
  // Later Caffe2 versions describe here how to fill the inputs of tests. These have no effect.
  OpSchema& DisallowInputFillers() { return *this; }
  OpSchema& ValueLengthInputFillers(size_t /*value*/, size_t /*length*/) { return *this; }
  OpSchema& ValueKeyLengthInputFillers(size_t /*value*/, size_t /*key*/, size_t /*length*/) {
    return *this;
  }
  OpSchema& WeightedValueKeyLengthInputFillers(size_t /*value*/, size_t /*key*/, size_t /*length*/,
                                               size_t /*weight*/) {
    return *this;
  }
  OpSchema& Private();
  // Declares that the operator accepts arguments that the schema does not list: `caffe2 check` does
  // not report them.
  OpSchema& AcceptsAnyArgument();

  // --- Effects that the names of the blobs do not show ---
  // The operator opens files, in its constructor or when it runs. Their names come from its
  // arguments or from the protos in its reader inputs. Such an operator must check the workspace's
  // file policy (caffe2_core/io/file_access.h) before it opens a file. Includes Effect::kFiles.
  OpSchema& AccessesFiles();
  // The objects in these inputs and outputs are internally synchronized (a queue, a mutex), or
  // another input guards them (an iterator with its mutex): concurrent steps of a plan may run
  // operators on them at the same time. An output that the operator replaces does not qualify.
  OpSchema& SynchronizedInputs(std::set<int> indices);
  OpSchema& SynchronizedOutputs(std::set<int> indices);
  // The operator changes the objects in these inputs. Operators of a net that use such an object
  // keep their order. Concurrent steps of a plan may only share it if SynchronizedInputs allows it.
  OpSchema& ModifiesInputs(std::set<int> indices);
  // The output shares the memory of the input, so that writing one changes the other. Example:
  // Alias.
  OpSchema& OutputSharesInput(int input, int output);
  // `accesses` returns whether the operator, given its arguments, accesses blobs that are neither
  // its inputs nor its outputs and that are known only when it runs.
  OpSchema& AccessesUnlistedBlobs(std::function<bool(const OperatorDef&)> accesses);

  // May be called for several effects. With `when`, the operator has the effect only if
  // `when(def)` returns true; if it throws, the operator has the effect.
  OpSchema& HasEffect(Effect effect, std::function<bool(const OperatorDef&)> when = {});

  // The element types that the input may have, and that the first `count` inputs are float.
  OpSchema& TypesOfInput(int input, InputTypes types);
  OpSchema& FloatInputs(int count);

  // --- Facts for passes, memory plans, drawings and reports ---
  // Both replace what was stated before.
  OpSchema& Traits(const OperatorTraits& traits);
  OpSchema& Memory(MemoryTraits traits);

  // The type is known, but the library has no implementation of it. `missing` states what it would
  // need. Errors about the type contain this text.
  OpSchema& NotAvailable(std::string_view missing);

  // --- Use ---
  // Whether `def` conforms to the schema: arity, in-place rules, required arguments. If not, and
  // `why` is not null, stores the reason there.
  bool Verify(const OperatorDef& def, std::string* why = nullptr) const;
  // The problems with the values of the arguments of `def` that ArgumentSpecs declare, one line
  // each.
  std::vector<std::string> ArgumentProblems(const OperatorDef& def) const;
  // The number of outputs for this number of inputs, or kCannotComputeNumOutputs.
  int CalculateOutput(int num_inputs) const;
  // One shape per output, with unknown_shape set if it cannot be inferred. Inputs behind the end of
  // `inputs` have an unknown shape. THROWS if the schema does not allow the numbers of inputs and
  // outputs, and the error of the operator's own checks if they reject the input shapes.
  std::vector<TensorShape> InferTensor(const OperatorDef& def,
                                       const std::vector<TensorShape>& inputs) const;
  bool HasTensorInference() const { return static_cast<bool>(tensor_inference_); }
  bool HasCostInferenceFunction() const { return static_cast<bool>(cost_inference_); }
  // THROWS if the schema has no cost inference or does not allow the numbers of inputs and outputs.
  Cost InferCost(const OperatorDef& def, const std::vector<TensorShape>& inputs) const;
  // The devices of the inputs and of the outputs; by default all are on the operator's device.
  std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> InferDevice(
      const OperatorDef& def) const;

  const std::string& type() const { return type_; }
  const std::string& file() const { return file_; }
  int line() const { return line_; }  // 0 if unknown
  // The maximum of NumInputs and NumOutputs that means "without a limit".
  static int inf() { return INT_MAX; }
  // Null if there is none, as in Caffe2.
  const char* doc() const { return doc_.empty() ? nullptr : doc_.c_str(); }
  const std::string& onnx_schema() const { return onnx_schema_; }
  const std::vector<Argument>& args() const { return args_; }
  const std::vector<NamedDoc>& input_docs() const { return input_docs_; }
  const std::vector<NamedDoc>& output_docs() const { return output_docs_; }
  int min_input() const { return min_input_; }
  int max_input() const { return max_input_; }
  int min_output() const { return min_output_; }
  int max_output() const { return max_output_; }
  bool num_inputs_allowed(int n) const { return inputs_allowed_(n); }
  bool num_outputs_allowed(int n) const { return outputs_allowed_(n); }
  bool inplace_allowed(int in, int out) const { return inplace_allowed_(in, out); }
  bool inplace_enforced(int in, int out) const {
    return inplace_enforced_ && inplace_enforced_(in, out);
  }
  // Whether input `in` must be the same blob as one of `num_outputs` outputs, so that neither may be
  // renamed without the other.
  bool input_is_enforced_in_place(int in, int num_outputs) const;
  bool inputs_can_cross_devices() const { return inputs_can_cross_devices_; }
  bool accesses_files() const { return accesses_files_; }
  bool input_is_synchronized(int i) const { return synchronized_inputs_.contains(i); }
  bool output_is_synchronized(int i) const { return synchronized_outputs_.contains(i); }
  bool modifies_input(int i) const { return modified_inputs_.contains(i); }
  // Pairs (input, output) declared by OutputSharesInput.
  const std::set<std::pair<int, int>>& shared_memory() const { return shared_memory_; }
  bool accesses_unlisted_blobs(const OperatorDef& def) const {
    return accesses_unlisted_blobs_ && accesses_unlisted_blobs_(def);
  }
  bool has_effect(Effect effect, const OperatorDef& def) const;
  // What TypesOfInput declared, or null.
  const InputTypes* types_of_input(int input) const;
  const OperatorTraits& traits() const { return traits_; }
  // Memory plans ask MemoryTraitsOf, which knows that users' operators are not planned.
  const MemoryTraits& memory() const { return memory_; }
  // What the library lacks to run operators of this type; empty if nothing.
  const std::string& missing() const { return missing_; }
  bool is_private() const { return private_; }
  bool accepts_any_argument() const { return any_argument_; }

 private:
  bool VerifyCounts(const OperatorDef& def, std::string* why) const;
  void EnforceCounts(const OperatorDef& def) const;  // THROWS what VerifyCounts returns

  OpSchema& ArgWithDefault(std::string_view name, std::string_view doc, std::string text);
  static std::string DefaultText(double value);
  static std::string DefaultText(float value);
  static std::string DefaultText(const char* value) { return value; }
  template <class T>
  requires std::is_integral_v<T>
  static std::string DefaultText(T value) { return MakeString(+value); }
  template <class Spec>
  Argument& Declare(const Spec& spec, std::string type) {
    return args_.emplace_back(
        Argument{.name = spec.name,
                 .doc = spec.doc,
                 .required = spec.required,
                 .type = std::move(type),
                 .read = [spec](const ArgumentHelper& args) { (void)args.Read(spec); }});
  }

  std::string type_;
  std::string file_;
  int line_ = 0;
  std::string doc_;
  std::string onnx_schema_;
  std::vector<Argument> args_;
  std::vector<NamedDoc> input_docs_;
  std::vector<NamedDoc> output_docs_;
  int min_input_ = 0, max_input_ = INT32_MAX, min_output_ = 0, max_output_ = INT32_MAX;
  bool inputs_can_cross_devices_ = false, private_ = false, any_argument_ = false;
  bool accesses_files_ = false;
  std::set<int> synchronized_inputs_, synchronized_outputs_, modified_inputs_;
  std::set<std::pair<int, int>> shared_memory_;
  std::function<bool(const OperatorDef&)> accesses_unlisted_blobs_;
  std::vector<std::pair<Effect, std::function<bool(const OperatorDef&)>>> effects_;
  std::map<int, InputTypes> input_types_;
  OperatorTraits traits_;
  MemoryTraits memory_;
  std::string missing_;
  std::function<bool(int)> inputs_allowed_ = [](int) { return true; };
  std::function<bool(int)> outputs_allowed_ = [](int) { return true; };
  std::function<bool(int, int)> both_allowed_ = [](int, int) { return true; };
  std::function<int(int)> output_calculator_;
  std::function<bool(int, int)> inplace_allowed_ = [](int, int) { return false; };
  std::function<bool(int, int)> inplace_enforced_;  // null: none
  TensorInference tensor_inference_;
  CostInference cost_inference_;
  DeviceInference device_inference_;
};

#define CAFFE2RT_EXTERN(T)                                         \
  extern template OpSchema& OpSchema::Arg(const ArgumentSpec<T>&); \
  extern template OpSchema& OpSchema::Arg(const RepeatedArgumentSpec<T>&);
CAFFE2RT_DECLARED_ARGUMENT_TYPES(CAFFE2RT_EXTERN)
#undef CAFFE2RT_EXTERN

// Adds the schema of a built-in operator; `file` is __FILE__. If the type already has a schema,
// ThrowConflicts reports that.
OpSchema& RegisterSchema(std::string_view type, const char* file);

// What is stated about the operator type. For a type without a schema, nothing is. The reference
// stays valid.
const OperatorTraits& TraitsOf(const std::string& type);

// Writes the arguments, inputs, outputs and documentation of the type, and where it is defined.
std::ostream& operator<<(std::ostream& out, const OpSchema& schema);

class OpSchemaRegistry {
 public:
  // The schema of the type, or null if it has none. Registers the built-in operators first. The
  // pointer stays valid. Thread safe.
  static const OpSchema* Schema(const std::string& type);
  // For the macro below. If the type already has a schema, this does not throw: it returns a schema
  // that is discarded, and ThrowConflicts reports the conflict.
  static OpSchema& NewSchema(std::string_view type, const char* file, int line = 0);
  // All types that have a schema, sorted.
  static std::vector<std::string> Types();
  // THROWS an error that lists all conflicts since the last call, if there are any. Static
  // registrations cannot throw, so they leave their errors here.
  static void ThrowConflicts();
};

// For users. Also defines the symbol that the registration macros refer to.
#define OPERATOR_SCHEMA(name)                                                                     \
  extern "C"                                                                                      \
      __attribute__((visibility("default"))) void CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_##name(); \
  extern "C" void CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_##name() {}                               \
  [[maybe_unused]] static ::caffe2rt::OpSchema& caffe2rt_schema_##name =                          \
      ::caffe2rt::OpSchemaRegistry::NewSchema(#name, __FILE__, __LINE__)
#define OPERATOR_SCHEMA_STR(name)                                                                \
  [[maybe_unused]] static ::caffe2rt::OpSchema& CAFFE2RT_CONCAT(caffe2rt_schema_, __COUNTER__) = \
      ::caffe2rt::OpSchemaRegistry::NewSchema(name, __FILE__, __LINE__)
#define CAFFE2RT_CONCAT_INNER(a, b) a##b
#define CAFFE2RT_CONCAT(a, b) CAFFE2RT_CONCAT_INNER(a, b)

// --- Helpers for inference functions ---
TensorShape CreateTensorShape(const std::vector<int64_t>& dims, TensorProto_DataType type);
TensorShape CreateTensorShape(const std::vector<int>& dims, TensorProto_DataType type);
TensorShape UnknownShape();
std::vector<int64_t> GetDimsVector(const TensorShape& shape);
// The product of the dimensions. THROWS on overflow and for negative dimensions.
uint64_t NumElements(const TensorShape& shape);

// The cost of an elementwise operator: flops = elements * kOpsPerPoint, with inputs and one output
// of 4-byte elements and of the size of input 0.
template <uint64_t kOpsPerPoint>
OpSchema::Cost PointwiseCostInference(const OperatorDef&, const std::vector<TensorShape>& inputs) {
  OpSchema::Cost cost;
  if (inputs.empty()) return cost;
  const uint64_t n = NumElements(inputs[0]);
  cost.flops = n * kOpsPerPoint;
  cost.bytes_read = n * 4 * inputs.size();
  cost.bytes_written = n * 4;
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

}  // namespace caffe2rt
#pragma GCC visibility pop
