#include "caffe2_core/graph/op_schema.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/graph/builtin_operators.h"

namespace caffe2rt {
namespace {

struct Schemas {
  Mutex mutex;
  // Map nodes never move, so references stay valid.
  std::map<std::string, OpSchema> by_type ABSL_GUARDED_BY(mutex);
  std::unordered_set<const OpSchema*> builtin ABSL_GUARDED_BY(mutex);
  std::vector<std::string> conflicts ABSL_GUARDED_BY(mutex);
  // Those of types that others took over: references stay valid.
  std::vector<std::map<std::string, OpSchema>::node_type> replaced ABSL_GUARDED_BY(mutex);
  // Receives the declarations of a second schema of a type.
  OpSchema discarded ABSL_GUARDED_BY(mutex);
};

Schemas& AllSchemas() {
  static Schemas* const schemas = new Schemas;
  return *schemas;
}

bool Contains(const std::set<std::pair<int, int>>& set, int a, int b) {
  return set.contains({a, b});
}

// The outputs [first, second) that the rules of EnforceInplace compare with an input: an operator
// may have a hundred thousand inputs and outputs, so they are at most 64 positions away.
std::pair<int, int> OutputsNear(int input, int num_outputs) {
  return {std::max(input - 64, 0), std::min(input + 65, num_outputs)};
}

}  // namespace

OpSchema& OpSchema::NumInputs(int min, int max) {
  min_input_ = min;
  max_input_ = max;
  return *this;
}
OpSchema& OpSchema::NumInputs(std::set<int> allowed) {
  return NumInputs([allowed = std::move(allowed)](int n) { return allowed.contains(n); });
}
OpSchema& OpSchema::NumInputs(std::function<bool(int)> allowed) {
  inputs_allowed_ = std::move(allowed);
  return *this;
}
OpSchema& OpSchema::NumOutputs(int min, int max) {
  min_output_ = min;
  max_output_ = max;
  return *this;
}
OpSchema& OpSchema::NumOutputs(std::set<int> allowed) {
  return NumOutputs([allowed = std::move(allowed)](int n) { return allowed.contains(n); });
}
OpSchema& OpSchema::NumOutputs(std::function<bool(int)> allowed) {
  outputs_allowed_ = std::move(allowed);
  return *this;
}
OpSchema& OpSchema::NumInputsOutputs(std::function<bool(int, int)> allowed) {
  both_allowed_ = std::move(allowed);
  return *this;
}
OpSchema& OpSchema::OutputCalculator(std::function<int(int)> calculator) {
  output_calculator_ = std::move(calculator);
  return *this;
}
OpSchema& OpSchema::SameNumberOfOutput() {
  return OutputCalculator([](int n) { return n; });
}

OpSchema& OpSchema::AllowInplace(std::function<bool(int, int)> allowed) {
  inplace_allowed_ = std::move(allowed);
  return *this;
}
OpSchema& OpSchema::AllowInplace(std::set<std::pair<int, int>> allowed) {
  return AllowInplace(
      [allowed = std::move(allowed)](int in, int out) { return Contains(allowed, in, out); });
}
OpSchema& OpSchema::AllowOneToOneInplace() {
  return AllowInplace([](int in, int out) { return in == out; });
}
OpSchema& OpSchema::EnforceInplace(std::function<bool(int, int)> enforced) {
  inplace_enforced_ = std::move(enforced);
  return *this;
}
OpSchema& OpSchema::EnforceInplace(std::set<std::pair<int, int>> enforced) {
  return EnforceInplace(
      [enforced = std::move(enforced)](int in, int out) { return Contains(enforced, in, out); });
}
OpSchema& OpSchema::EnforceOneToOneInplace() {
  return EnforceInplace([](int in, int out) { return in == out; });
}

OpSchema::TensorInference OpSchema::NeedsAllInputShapes(TensorInference function) {
  return [function = std::move(function)](const OperatorDef& def,
                                          const std::vector<TensorShape>& inputs) {
    if (std::ranges::none_of(inputs, &TensorShape::unknown_shape)) return function(def, inputs);
    return std::vector<TensorShape>(static_cast<size_t>(def.output_size()), UnknownShape());
  };
}

OpSchema& OpSchema::TensorInferenceFunction(TensorInference function) {
  tensor_inference_ = std::move(function);
  return *this;
}
OpSchema& OpSchema::IdenticalTypeAndShape() {
  return TensorInferenceFunction(
      [](const OperatorDef&, const std::vector<TensorShape>& in) { return in; });
}
OpSchema& OpSchema::IdenticalTypeAndShapeOfInput(int index) {
  return IdenticalTypeAndShapeOfMultipleInputs({index});
}
OpSchema& OpSchema::IdenticalTypeAndShapeOfMultipleInputs(const std::vector<int>& indices) {
  return TensorInferenceFunction([indices](const OperatorDef&, const std::vector<TensorShape>& in) {
    std::vector<TensorShape> out;
    for (const int index : indices) out.push_back(in.at(static_cast<size_t>(index)));
    return out;
  });
}
OpSchema& OpSchema::IdenticalTypeAndShapeOfInputDim(int index, int dim) {
  return TensorInferenceFunction([index, dim](const OperatorDef&,
                                              const std::vector<TensorShape>& in) {
    const TensorShape& input = in.at(static_cast<size_t>(index));
    if (input.unknown_shape() || dim >= input.dims_size()) return std::vector{UnknownShape()};
    return std::vector{CreateTensorShape(std::vector<int64_t>{input.dims(dim)}, input.data_type())};
  });
}
OpSchema& OpSchema::ScalarType(TensorProto_DataType type) {
  return TensorInferenceFunction([type](const OperatorDef& def, const std::vector<TensorShape>&) {
    return std::vector<TensorShape>(static_cast<size_t>(def.output_size()),
                                    CreateTensorShape(std::vector<int64_t>{}, type));
  });
}
OpSchema& OpSchema::CostInferenceFunction(CostInference function) {
  cost_inference_ = std::move(function);
  return *this;
}
OpSchema& OpSchema::DeviceInferenceFunction(DeviceInference function) {
  device_inference_ = std::move(function);
  return *this;
}
OpSchema& OpSchema::InputsCanCrossDevices() {
  inputs_can_cross_devices_ = true;
  return *this;
}

OpSchema& OpSchema::SetDoc(std::string_view doc) {
  doc_ = doc;
  return *this;
}
OpSchema& OpSchema::Arg(std::string_view name, std::string_view doc, bool required) {
  args_.push_back({.name = std::string(name), .doc = std::string(doc), .required = required});
  return *this;
}
OpSchema& OpSchema::Arg(std::string_view name, std::string_view doc, const char* default_value) {
  return ArgWithDefault(name, doc, default_value);
}
OpSchema& OpSchema::ArgWithDefault(std::string_view name, std::string_view doc, std::string text) {
  args_.push_back({.name = std::string(name),
                   .doc = std::string(doc),
                   .required = false,
                   .default_value = std::move(text)});
  return *this;
}
std::string OpSchema::DefaultText(double value) { return MakeString(value); }
std::string OpSchema::DefaultText(float value) {
  char text[32];  // the shortest text that reads back as the same float
  return {text, std::to_chars(text, text + sizeof(text), value).ptr};
}

#define CAFFE2RT_INSTANTIATE(T)                             \
  template OpSchema& OpSchema::Arg(const ArgumentSpec<T>&); \
  template OpSchema& OpSchema::Arg(const RepeatedArgumentSpec<T>&);
CAFFE2RT_DECLARED_ARGUMENT_TYPES(CAFFE2RT_INSTANTIATE)
#undef CAFFE2RT_INSTANTIATE

OpSchema& OpSchema::Input(int index, std::string_view name, std::string_view doc) {
  if (static_cast<size_t>(index) >= input_docs_.size())
    input_docs_.resize(static_cast<size_t>(index) + 1);
  input_docs_[static_cast<size_t>(index)] = {std::string(name), std::string(doc)};
  return *this;
}
OpSchema& OpSchema::Output(int index, std::string_view name, std::string_view doc) {
  if (static_cast<size_t>(index) >= output_docs_.size())
    output_docs_.resize(static_cast<size_t>(index) + 1);
  output_docs_[static_cast<size_t>(index)] = {std::string(name), std::string(doc)};
  return *this;
}
OpSchema& OpSchema::FillUsing(std::function<void(OpSchema&)> fill) {
  fill(*this);
  return *this;
}
OpSchema& OpSchema::InheritOnnxSchema(std::string_view onnx_name) {
  onnx_schema_ = onnx_name.empty() ? std::string_view(type_) : onnx_name;
  return *this;
}
OpSchema& OpSchema::Private() {
  private_ = true;
  return *this;
}
OpSchema& OpSchema::AcceptsAnyArgument() {
  any_argument_ = true;
  return *this;
}
OpSchema& OpSchema::AccessesFiles() {
  accesses_files_ = true;
  return *this;
}
OpSchema& OpSchema::SynchronizedInputs(std::set<int> indices) {
  synchronized_inputs_ = std::move(indices);
  return *this;
}
OpSchema& OpSchema::SynchronizedOutputs(std::set<int> indices) {
  synchronized_outputs_ = std::move(indices);
  return *this;
}
OpSchema& OpSchema::ModifiesInputs(std::set<int> indices) {
  modified_inputs_ = std::move(indices);
  return *this;
}
OpSchema& OpSchema::OutputSharesInput(int input, int output) {
  shared_memory_.emplace(input, output);
  return *this;
}
OpSchema& OpSchema::AccessesUnlistedBlobs(std::function<bool(const OperatorDef&)> accesses) {
  accesses_unlisted_blobs_ = std::move(accesses);
  return *this;
}
OpSchema& OpSchema::HasEffect(Effect effect, std::function<bool(const OperatorDef&)> when) {
  effects_.emplace_back(effect, std::move(when));
  return *this;
}
OpSchema& OpSchema::TypesOfInput(int input, InputTypes types) {
  input_types_[input] = std::move(types);
  return *this;
}
OpSchema& OpSchema::FloatInputs(int count) {
  for (int i = 0; i < count; ++i) TypesOfInput(i, {.accepted = {TensorProto::FLOAT}});
  return *this;
}
const InputTypes* OpSchema::types_of_input(int input) const {
  const auto found = input_types_.find(input);
  return found == input_types_.end() ? nullptr : &found->second;
}
OpSchema& OpSchema::Traits(const OperatorTraits& traits) { return traits_ = traits, *this; }
OpSchema& OpSchema::Memory(MemoryTraits traits) { return memory_ = std::move(traits), *this; }
OpSchema& OpSchema::NotAvailable(std::string_view missing) {
  missing_ = missing;
  return *this;
}
bool OpSchema::has_effect(Effect effect, const OperatorDef& def) const {
  if (effect == Effect::kFiles && accesses_files_) return true;
  for (const auto& [declared, when] : effects_) {
    if (declared != effect) continue;
    try {
      if (!when || when(def)) return true;
    } catch (...) {  // invalid arguments, which the constructor will reject as well
      return true;
    }
  }
  return false;
}
std::vector<std::string> OpSchema::ArgumentProblems(const OperatorDef& def) const {
  std::vector<std::string> problems;
  const auto note = [&problems](const auto& function) {
    try {
      function();
    } catch (const EnforceNotMet& error) {
      problems.push_back(error.message());
    }
  };
  note([&] {
    const ArgumentHelper args(def);
    for (const Argument& argument : args_) {
      if (argument.read != nullptr) note([&] { argument.read(args); });
    }
  });
  return problems;
}
int OpSchema::CalculateOutput(int num_inputs) const {
  if (min_output_ == max_output_) return min_output_;
  if (output_calculator_) return output_calculator_(num_inputs);
  return kCannotComputeNumOutputs;
}

bool OpSchema::VerifyCounts(const OperatorDef& def, std::string* why) const {
  const int in = def.input_size(), out = def.output_size();
  const auto range = [](int min, int max) {
    return min == max         ? MakeString(min)
           : max == INT32_MAX ? MakeString("at least ", min)
                              : MakeString(min, " to ", max);
  };
  if (in < min_input_ || in > max_input_ || !inputs_allowed_(in)) {
    *why = MakeString("it has ", CountText(in, "input"), ", want ", range(min_input_, max_input_));
    return false;
  }
  if (out < min_output_ || out > max_output_ || !outputs_allowed_(out)) {
    *why =
        MakeString("it has ", CountText(out, "output"), ", want ", range(min_output_, max_output_));
    return false;
  }
  if (!both_allowed_(in, out)) {
    *why = MakeString("it has ", CountText(in, "input"), " and ", CountText(out, "output"),
                      ", which is not an allowed combination");
    return false;
  }
  if (output_calculator_) {
    const int want = CalculateOutput(in);
    if (want != kCannotComputeNumOutputs && want != out) {
      *why = MakeString("it has ", CountText(out, "output"), ", want ", want, " for ",
                        CountText(in, "input"));
      return false;
    }
  }
  return true;
}

void OpSchema::EnforceCounts(const OperatorDef& def) const {
  std::string why;
  CAFFE_ENFORCE(VerifyCounts(def, &why), why);
}

bool OpSchema::input_is_enforced_in_place(int in, int num_outputs) const {
  const auto [first, last] = OutputsNear(in, num_outputs);
  for (int out = first; out < last; ++out) {
    if (inplace_enforced(in, out)) return true;
  }
  return false;
}

bool OpSchema::Verify(const OperatorDef& def, std::string* why) const {
  std::string unused;
  std::string& reason = why != nullptr ? *why : unused;
  if (!VerifyCounts(def, &reason)) return false;
  const int in = def.input_size(), out = def.output_size();
  // Visit only pairs of equal names: an operator may have a hundred thousand inputs and outputs.
  std::multimap<std::string, int> input_positions;
  for (int i = 0; i < in; ++i) input_positions.emplace(def.input(i), i);
  for (int o = 0; o < out; ++o) {
    const auto [first, last] = input_positions.equal_range(def.output(o));
    for (auto it = first; it != last; ++it) {
      if (!inplace_allowed_(it->second, o) && !inplace_enforced(it->second, o)) {
        reason = MakeString("input ", it->second, " and output ", o, " (\"", def.output(o),
                            "\") are the same blob, but may not be in place");
        return false;
      }
    }
  }
  for (int i = 0; inplace_enforced_ && i < in; ++i) {
    const auto [first, last] = OutputsNear(i, out);
    for (int o = first; o < last; ++o) {
      if (inplace_enforced_(i, o) && def.input(i) != def.output(o)) {
        reason = MakeString("input ", i, " (\"", def.input(i), "\") and output ", o, " (\"",
                            def.output(o), "\") must be the same blob");
        return false;
      }
    }
  }
  for (const Argument& arg : args_) {
    if (arg.required && GetArgumentPtr(def, arg.name) == nullptr) {
      reason = MakeString("argument \"", arg.name, "\" is required but missing");
      return false;
    }
  }
  return true;
}

std::vector<TensorShape> OpSchema::InferTensor(const OperatorDef& def,
                                               const std::vector<TensorShape>& inputs) const {
  EnforceCounts(def);
  if (!tensor_inference_) return {static_cast<size_t>(def.output_size()), UnknownShape()};
  if (std::ssize(inputs) >= def.input_size()) return tensor_inference_(def, inputs);
  std::vector<TensorShape> all = inputs;
  all.resize(static_cast<size_t>(def.input_size()), UnknownShape());
  return tensor_inference_(def, all);
}

OpSchema::Cost OpSchema::InferCost(const OperatorDef& def,
                                   const std::vector<TensorShape>& inputs) const {
  CAFFE_ENFORCE(cost_inference_, "operator type \"", type_, "\" has no cost inference");
  EnforceCounts(def);
  try {
    return cost_inference_(def, inputs);
  } catch (const EnforceNotMet&) {
    return {};  // the operator reports it when it runs
  }
}

std::pair<std::vector<DeviceOption>, std::vector<DeviceOption>> OpSchema::InferDevice(
    const OperatorDef& def) const {
  if (device_inference_) return device_inference_(def);
  return {std::vector<DeviceOption>(static_cast<size_t>(def.input_size()), def.device_option()),
          std::vector<DeviceOption>(static_cast<size_t>(def.output_size()), def.device_option())};
}

OpSchema& RegisterSchema(std::string_view type, const char* file) {
  OpSchema& schema = OpSchemaRegistry::NewSchema(type, file);
  Schemas& schemas = AllSchemas();
  const MutexLock lock(schemas.mutex);
  schemas.builtin.insert(&schema);
  return schema;
}

bool IsBuiltinOperator(const std::string& type) {
  RegisterBuiltinOperatorsOnce();
  Schemas& schemas = AllSchemas();
  const MutexLock lock(schemas.mutex);
  const auto found = schemas.by_type.find(type);
  return found != schemas.by_type.end() && schemas.builtin.contains(&found->second);
}

bool HasSchemaAlready(const std::string& type) {
  const MutexLock lock(AllSchemas().mutex);
  return AllSchemas().by_type.contains(type);
}

const OpSchema* OpSchemaRegistry::Schema(const std::string& type) {
  RegisterBuiltinOperatorsOnce();
  Schemas& schemas = AllSchemas();
  const MutexLock lock(schemas.mutex);
  const auto it = schemas.by_type.find(type);
  return it == schemas.by_type.end() ? nullptr : &it->second;
}

const OperatorTraits& TraitsOf(const std::string& type) {
  static constexpr OperatorTraits kNothingKnown = {};
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  return schema == nullptr ? kNothingKnown : schema->traits();
}

OpSchema& OpSchemaRegistry::NewSchema(std::string_view type, const char* file, int line) {
  Schemas& schemas = AllSchemas();
  const MutexLock lock(schemas.mutex);
  const std::string key(type);
  auto it = schemas.by_type.lower_bound(key);
  bool exists = it != schemas.by_type.end() && it->first == key;
  if (exists && !it->second.missing().empty()) {
    schemas.replaced.push_back(schemas.by_type.extract(it++));
    exists = false;
  }
  if (!exists) return schemas.by_type.try_emplace(it, key, key, file, line)->second;
  schemas.conflicts.push_back(MakeString("schema of operator type \"", type,
                                         "\" is registered twice: in ", it->second.file(),
                                         " and in ", file, line > 0 ? MakeString(":", line) : ""));
  schemas.discarded = OpSchema(key, file, line);
  return schemas.discarded;
}

std::vector<std::string> OpSchemaRegistry::Types() {
  RegisterBuiltinOperatorsOnce();
  Schemas& schemas = AllSchemas();
  const MutexLock lock(schemas.mutex);
  std::vector<std::string> types;
  for (const auto& [type, schema] : schemas.by_type) types.push_back(type);
  return types;
}

void OpSchemaRegistry::ThrowConflicts() {
  std::vector<std::string> conflicts;
  {
    Schemas& schemas = AllSchemas();
    const MutexLock lock(schemas.mutex);
    conflicts.swap(schemas.conflicts);
  }
  ThrowAny(conflicts);
}

TensorShape CreateTensorShape(const std::vector<int64_t>& dims, TensorProto_DataType type) {
  TensorShape shape;
  for (const int64_t d : dims) shape.add_dims(d);
  shape.set_data_type(type);
  return shape;
}
TensorShape CreateTensorShape(const std::vector<int>& dims, TensorProto_DataType type) {
  return CreateTensorShape(std::vector<int64_t>(dims.begin(), dims.end()), type);
}
TensorShape UnknownShape() {
  TensorShape shape;
  shape.set_unknown_shape(true);
  return shape;
}
std::vector<int64_t> GetDimsVector(const TensorShape& shape) {
  return {shape.dims().begin(), shape.dims().end()};
}
uint64_t NumElements(const TensorShape& shape) {
  return static_cast<uint64_t>(CheckedProduct(GetDimsVector(shape)));
}

}  // namespace caffe2rt
