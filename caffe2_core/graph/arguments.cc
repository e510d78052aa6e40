#include "caffe2_core/graph/arguments.h"

#include <limits>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt {
namespace {

bool SameContents(const Argument& a, const Argument& b) {
  return a.SerializeAsString() == b.SerializeAsString();
}

std::map<std::string, const Argument*> IndexArguments(
    const google::protobuf::RepeatedPtrField<Argument>& list, const std::string& owner,
    bool allow_equal) {
  std::map<std::string, const Argument*> index;
  for (const Argument& arg : list) {
    const auto [it, inserted] = index.try_emplace(arg.name(), &arg);
    if (inserted) continue;
    CAFFE_ENFORCE(allow_equal, "found argument \"", arg.name(), "\" twice in ", owner);
    CAFFE_ENFORCE(SameContents(*it->second, arg), "Found argument of the same name ", arg.name(),
                  " but with different contents in ", owner);
    LOG(WARNING) << "argument \"" << arg.name() << "\" is given twice in " << owner;
  }
  return index;
}

template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T>;

// Whether the field that holds a single T is set.
template <class T>
bool HasField(const Argument& arg) {
  if constexpr (std::is_floating_point_v<T>) {
    return arg.has_f();
  } else if constexpr (kIsInteger<T>) {
    return arg.has_i();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return arg.has_s();
  } else {
    return arg.has_n();
  }
}

template <class T>
const char* FieldName() {
  if constexpr (std::is_floating_point_v<T>)
    return "f";
  else if constexpr (kIsInteger<T>)
    return "i";
  else if constexpr (std::is_same_v<T, std::string>)
    return "s";
  else
    return "n";
}

template <class T>
T NarrowInteger(const std::string& name, int64_t value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else {
    CAFFE_ENFORCE(std::in_range<T>(value), "Value ", value, " of argument ", name,
                  " cannot be represented correctly in a target type of ", sizeof(T) * 8, " bits");
    return static_cast<T>(value);
  }
}

template <class T>
T ValueOf(const Argument& arg) {
  if constexpr (std::is_floating_point_v<T>) {
    return arg.f();
  } else if constexpr (kIsInteger<T>) {
    return NarrowInteger<T>(arg.name(), arg.i());
  } else if constexpr (std::is_same_v<T, std::string>) {
    return arg.s();
  } else {
    return arg.n();
  }
}

template <class T>
std::vector<T> ValuesOf(const Argument& arg) {
  std::vector<T> values;
  if constexpr (std::is_floating_point_v<T>) {
    values.assign(arg.floats().begin(), arg.floats().end());
  } else if constexpr (kIsInteger<T>) {
    values.reserve(static_cast<size_t>(arg.ints_size()));
    for (const int64_t value : arg.ints()) values.push_back(NarrowInteger<T>(arg.name(), value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    values.assign(arg.strings().begin(), arg.strings().end());
  } else {
    values.assign(arg.nets().begin(), arg.nets().end());
  }
  return values;
}

template <class Def>
const Argument* FindArgument(const Def& def, const std::string& name) {
  for (const Argument& arg : def.arg()) {
    if (arg.name() == name) return &arg;
  }
  return nullptr;
}

template <class Def>
const Argument& RequireArgument(const Def& def, const std::string& name) {
  const Argument* arg = FindArgument(def, name);
  CAFFE_ENFORCE(arg != nullptr, "argument \"", name, "\" does not exist in \"", def.name(),
                "\" of type \"", def.type(), "\"");
  return *arg;
}

template <class Def>
Argument* MutableArgument(const std::string& name, bool create, Def* def) {
  CAFFE_ENFORCE(def != nullptr, "argument def of GetMutableArgument is null");
  for (Argument& arg : *def->mutable_arg()) {
    if (arg.name() == name) return &arg;
  }
  if (!create) return nullptr;
  Argument* arg = def->add_arg();
  arg->set_name(name);
  return arg;
}

}  // namespace

ArgumentHelper::ArgumentHelper(const OperatorDef& def)
    : args_(IndexArguments(def.arg(), "operator of type \"" + def.type() + "\"", true)) {}
ArgumentHelper::ArgumentHelper(const NetDef& def)
    : args_(IndexArguments(def.arg(), "net \"" + def.name() + "\"", false)) {}

template <class T>
T ArgumentHelper::GetSingleArgument(const std::string& name, const T& default_value) const {
  const auto it = args_.find(name);
  if (it == args_.end()) return default_value;
  CAFFE_ENFORCE(HasField<T>(*it->second), "Argument ", name,
                " does not have the right field: expected field ", FieldName<T>());
  return ValueOf<T>(*it->second);
}

template <class T>
std::vector<T> ArgumentHelper::GetRepeatedArgument(const std::string& name,
                                                   const std::vector<T>& default_value) const {
  const auto it = args_.find(name);
  if (it == args_.end()) return default_value;
  return ValuesOf<T>(*it->second);
}

template <class T>
bool ArgumentHelper::HasSingleArgumentOfType(const std::string& name) const {
  const auto it = args_.find(name);
  return it != args_.end() && HasField<T>(*it->second);
}

size_t ArgumentHelper::CountStrings(const std::string& name) const {
  const auto it = args_.find(name);
  return it == args_.end() ? 0 : static_cast<size_t>(it->second->strings_size());
}

bool ArgumentHelper::IsGiven(const char* name, bool required) const {
  const bool given = HasArgument(std::string(name));
  CAFFE_ENFORCE(given || !required, "argument \"", name, "\" is required but missing");
  return given;
}

void ArgumentHelper::ParseMessage(const std::string& name,
                                  google::protobuf::MessageLite* message) const {
  const auto it = args_.find(name);
  CAFFE_ENFORCE(it != args_.end(), "cannot find argument \"", name, "\"");
  CAFFE_ENFORCE(it->second->has_s() && message->ParseFromString(it->second->s()), "argument \"",
                name, "\" does not hold a ", message->GetTypeName());
}

void ArgumentHelper::ParseMessage(const std::string& name, int index,
                                  google::protobuf::MessageLite* message) const {
  CAFFE_ENFORCE(message->ParseFromString(args_.at(name)->strings(index)), "entry ", index,
                " of argument \"", name, "\" does not hold a ", message->GetTypeName());
}

// g++ takes the visibility of a function template from its definition.
#pragma GCC visibility push(default)
template <class T>
Argument MakeArgument(const std::string& name, const T& value) {
  Argument arg;
  arg.set_name(name);
  if constexpr (std::is_floating_point_v<T>) {
    arg.set_f(static_cast<float>(value));
  } else if constexpr (kIsInteger<T>) {
    arg.set_i(static_cast<int64_t>(value));
  } else if constexpr (std::is_same_v<T, NetDef>) {
    *arg.mutable_n() = value;
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    arg.set_s(value);
  } else {
    for (const auto& item : value) {
      using Item = std::decay_t<decltype(item)>;
      if constexpr (std::is_floating_point_v<Item>)
        arg.add_floats(static_cast<float>(item));
      else if constexpr (kIsInteger<Item>)
        arg.add_ints(static_cast<int64_t>(item));
      else if constexpr (std::is_same_v<Item, NetDef>)
        *arg.add_nets() = item;
      else
        arg.add_strings(item);
    }
  }
  return arg;
}
#pragma GCC visibility pop

#define CAFFE2RT_INSTANTIATE(T)                                                                \
  template T ArgumentHelper::GetSingleArgument<T>(const std::string&, const T&) const;         \
  template std::vector<T> ArgumentHelper::GetRepeatedArgument<T>(const std::string&,           \
                                                                 const std::vector<T>&) const; \
  template bool ArgumentHelper::HasSingleArgumentOfType<T>(const std::string&) const;          \
  template Argument MakeArgument<T>(const std::string&, const T&);                             \
  template Argument MakeArgument<std::vector<T>>(const std::string&, const std::vector<T>&)

CAFFE2RT_INSTANTIATE(float);
CAFFE2RT_INSTANTIATE(double);
CAFFE2RT_INSTANTIATE(bool);
CAFFE2RT_INSTANTIATE(int8_t);
CAFFE2RT_INSTANTIATE(int16_t);
CAFFE2RT_INSTANTIATE(int32_t);
CAFFE2RT_INSTANTIATE(int64_t);
CAFFE2RT_INSTANTIATE(long long);
CAFFE2RT_INSTANTIATE(uint8_t);
CAFFE2RT_INSTANTIATE(uint16_t);
CAFFE2RT_INSTANTIATE(uint32_t);
CAFFE2RT_INSTANTIATE(uint64_t);
CAFFE2RT_INSTANTIATE(std::string);
CAFFE2RT_INSTANTIATE(NetDef);
#undef CAFFE2RT_INSTANTIATE

#define CAFFE2RT_INSTANTIATE(T)                                  \
  template T ArgumentHelper::Read(const ArgumentSpec<T>&) const; \
  template std::vector<T> ArgumentHelper::Read(const RepeatedArgumentSpec<T>&) const;
CAFFE2RT_DECLARED_ARGUMENT_TYPES(CAFFE2RT_INSTANTIATE)
#undef CAFFE2RT_INSTANTIATE

OperatorDef CreateOperatorDef(const std::string& type, const std::string& name,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<Argument>& args, const DeviceOption& device_option,
                              const std::string& engine) {
  OperatorDef def;
  def.set_type(type);
  def.set_name(name);
  for (const std::string& input : inputs) def.add_input(input);
  for (const std::string& output : outputs) def.add_output(output);
  for (const Argument& arg : args) *def.add_arg() = arg;
  if (device_option.ByteSizeLong() > 0) *def.mutable_device_option() = device_option;
  if (!engine.empty()) def.set_engine(engine);
  return def;
}

bool HasInput(const OperatorDef& op, const std::string& input) {
  for (const std::string& name : op.input()) {
    if (name == input) return true;
  }
  return false;
}

bool HasOutput(const OperatorDef& op, const std::string& output) {
  for (const std::string& name : op.output()) {
    if (name == output) return true;
  }
  return false;
}

const Argument& GetArgument(const OperatorDef& def, const std::string& name) {
  return RequireArgument(def, name);
}
const Argument& GetArgument(const NetDef& def, const std::string& name) {
  return RequireArgument(def, name);
}
const Argument* GetArgumentPtr(const OperatorDef& def, const std::string& name) {
  return FindArgument(def, name);
}
const Argument* GetArgumentPtr(const NetDef& def, const std::string& name) {
  return FindArgument(def, name);
}
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, OperatorDef* def) {
  return MutableArgument(name, create_if_missing, def);
}
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, NetDef* def) {
  return MutableArgument(name, create_if_missing, def);
}
bool ParseTextNet(const Argument& arg, NetDef* net) {
  return arg.name().ends_with("step_net") && arg.has_s() && ParseProtoFromText(arg.s(), net);
}

void ReplaceTextNet(Argument* arg) {
  NetDef net;
  if (!ParseTextNet(*arg, &net)) return;
  arg->clear_s();
  arg->mutable_n()->Swap(&net);
}

bool GetFlagArgument(const OperatorDef& def, const std::string& name, bool default_value) {
  const Argument* arg = FindArgument(def, name);
  return arg == nullptr ? default_value : arg->i() != 0;
}
bool GetFlagArgument(const NetDef& def, const std::string& name, bool default_value) {
  const Argument* arg = FindArgument(def, name);
  return arg == nullptr ? default_value : arg->i() != 0;
}

bool IsSameDevice(const DeviceOption& a, const DeviceOption& b) {
  return a.device_type() == b.device_type() && a.device_id() == b.device_id() &&
         a.node_name() == b.node_name() && a.numa_node_id() == b.numa_node_id();
}

DeviceOption MergeDeviceOption(const DeviceOption& base, const DeviceOption& override_with) {
  DeviceOption merged = base;
  merged.MergeFrom(override_with);
  return merged;
}

}  // namespace caffe2rt
