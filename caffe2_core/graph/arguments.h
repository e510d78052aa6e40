#pragma once
// Reading the arguments of operators and nets, and building OperatorDefs. The names are Caffe2's.
//
//   const ArgumentHelper args(def);
//   const float alpha = args.GetSingleArgument<float>("alpha", 0.01f);
//   const std::vector<int> kernels = args.GetRepeatedArgument<int>("kernels");
//
// T is one of float, double, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
// size_t, std::string, NetDef. As in Caffe2, reading a single argument whose value is in the field
// of another type THROWS, while reading such a repeated argument returns an empty list. An integer
// that is out of range for T THROWS; for bool, every value but 0 is true.

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// The depth to which nets nested in arguments are processed. A proto that is parsed from a file is
// never nested deeper; one built in memory may be.
inline constexpr int kMaxNetDepth = 64;

template <class Def>
concept OperatorOrNet = std::is_same_v<Def, OperatorDef> || std::is_same_v<Def, NetDef>;

class ArgumentHelper {
 public:
  // Keeps pointers into `def`, which must outlive the helper. THROWS if two arguments of an
  // operator have the same name and different contents, or if two arguments of a net have the same
  // name.
  explicit ArgumentHelper(const OperatorDef& def);
  explicit ArgumentHelper(const NetDef& def);

  bool HasArgument(const std::string& name) const { return args_.contains(name); }
  template <class T>
  T GetSingleArgument(const std::string& name, const T& default_value) const;
  template <class T>
  std::vector<T> GetRepeatedArgument(const std::string& name,
                                     const std::vector<T>& default_value = {}) const;
  // The value of a declared argument. THROWS if it is required and missing, or fails its check.
  template <class T>
  T Read(const ArgumentSpec<T>& spec) const;
  template <class T>
  std::vector<T> Read(const RepeatedArgumentSpec<T>& spec) const;
  template <class Spec>
  requires requires(const Spec& spec) { spec.required; }
  bool HasArgument(const Spec& spec) const { return HasArgument(std::string(spec.name)); }
  // Whether the argument is present and holds a single value in the field for T.
  template <class T>
  bool HasSingleArgumentOfType(const std::string& name) const;
  // Parses a message that is serialized in the string field. THROWS if the argument is missing or
  // does not parse.
  template <class Message>
  Message GetMessageArgument(const std::string& name) const {
    Message message;
    ParseMessage(name, &message);
    return message;
  }
  // Parses the messages that are serialized in the strings field; none if the argument is missing.
  // THROWS if one does not parse.
  template <class Message>
  std::vector<Message> GetRepeatedMessageArgument(const std::string& name) const {
    std::vector<Message> messages(CountStrings(name));
    for (size_t i = 0; i < messages.size(); ++i)
      ParseMessage(name, static_cast<int>(i), &messages[i]);
    return messages;
  }

  template <OperatorOrNet Def>
  static bool HasArgument(const Def& def, const std::string& name) {
    return ArgumentHelper(def).HasArgument(name);
  }
  template <OperatorOrNet Def, class T>
  static T GetSingleArgument(const Def& def, const std::string& name, const T& default_value) {
    return ArgumentHelper(def).GetSingleArgument<T>(name, default_value);
  }
  template <class T, OperatorOrNet Def>
  static std::vector<T> GetRepeatedArgument(const Def& def, const std::string& name,
                                            const std::vector<T>& default_value = {}) {
    return ArgumentHelper(def).GetRepeatedArgument<T>(name, default_value);
  }

 private:
  // Whether the argument is present. THROWS if it is required and missing.
  bool IsGiven(const char* name, bool required) const;
  void ParseMessage(const std::string& name, google::protobuf::MessageLite* message) const;
  void ParseMessage(const std::string& name, int index,
                    google::protobuf::MessageLite* message) const;
  size_t CountStrings(const std::string& name) const;
  std::map<std::string, const Argument*> args_;
};

template <class T>
T ArgumentHelper::Read(const ArgumentSpec<T>& spec) const {
  if (!IsGiven(spec.name, spec.required)) return spec.default_value;
  const T value = GetSingleArgument<T>(spec.name, T{});
  if constexpr (std::is_same_v<T, std::string>) {
    CAFFE_ENFORCE(spec.check.holds == nullptr || spec.check.holds(value), "argument \"", spec.name,
                  "\" is \"", value, "\", want ", spec.check.want);
  } else {
    CAFFE_ENFORCE(spec.check.holds == nullptr || spec.check.holds(value), "argument \"", spec.name,
                  "\" is ", value, ", want ", spec.check.want);
  }
  return value;
}
template <class T>
std::vector<T> ArgumentHelper::Read(const RepeatedArgumentSpec<T>& spec) const {
  if (!IsGiven(spec.name, spec.required)) return {};
  std::vector<T> values = GetRepeatedArgument<T>(spec.name);
  CAFFE_ENFORCE(spec.check.holds == nullptr || spec.check.holds(values), "argument \"", spec.name,
                "\" is ", values, ", want ", spec.check.want);
  return values;
}

// Compiled once for the types of most arguments.
#define CAFFE2RT_DECLARED_ARGUMENT_TYPES(DO) DO(bool) DO(int) DO(int64_t) DO(float) DO(std::string)
#define CAFFE2RT_EXTERN(T)                                              \
  extern template T ArgumentHelper::Read(const ArgumentSpec<T>&) const; \
  extern template std::vector<T> ArgumentHelper::Read(const RepeatedArgumentSpec<T>&) const;
CAFFE2RT_DECLARED_ARGUMENT_TYPES(CAFFE2RT_EXTERN)
#undef CAFFE2RT_EXTERN

// --- Builders ---

// T is one of the types above or a std::vector of one.
template <class T>
Argument MakeArgument(const std::string& name, const T& value);
template <class T>
inline void AddArgument(const std::string& name, const T& value, OperatorDef* def) {
  CAFFE_ENFORCE(def != nullptr, "argument def of AddArgument is null");
  *def->add_arg() = MakeArgument(name, value);
}

OperatorDef CreateOperatorDef(const std::string& type, const std::string& name,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<Argument>& args = {},
                              const DeviceOption& device_option = {},
                              const std::string& engine = "");

// Overload with a device option and no arguments.
template <class Device, class = std::enable_if_t<std::is_same_v<Device, DeviceOption>>>
OperatorDef CreateOperatorDef(const std::string& type, const std::string& name,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs, const Device& device_option,
                              const std::string& engine = "") {
  return CreateOperatorDef(type, name, inputs, outputs, {}, device_option, engine);
}
// Overload for names in other containers of strings.
template <class Inputs, class Outputs, class... Rest>
requires(!std::is_same_v<Inputs, std::vector<std::string>> ||
         !std::is_same_v<Outputs, std::vector<std::string>>)
OperatorDef CreateOperatorDef(const std::string& type, const std::string& name,
                              const Inputs& inputs, const Outputs& outputs, const Rest&... rest) {
  return CreateOperatorDef(type, name, std::vector<std::string>(inputs.begin(), inputs.end()),
                           std::vector<std::string>(outputs.begin(), outputs.end()), rest...);
}

bool HasInput(const OperatorDef& op, const std::string& input);
bool HasOutput(const OperatorDef& op, const std::string& output);
// The argument with this name. THROWS if there is none.
const Argument& GetArgument(const OperatorDef& def, const std::string& name);
const Argument& GetArgument(const NetDef& def, const std::string& name);
// The argument with this name, or null if there is none.
const Argument* GetArgumentPtr(const OperatorDef& def, const std::string& name);
const Argument* GetArgumentPtr(const NetDef& def, const std::string& name);
// The argument with this name. If there is none, appends an empty one, or returns null if
// `create_if_missing` is false.
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, OperatorDef* def);
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, NetDef* def);
// RecurrentNetwork operators written in 2017 hold their step nets as text. Parses the text to `net`
// if the name of the argument ends with "step_net". Returns false if there is no text, or it does
// not parse.
bool ParseTextNet(const Argument& arg, NetDef* net);
// Replaces such a text by the net. Leaves any other argument unchanged.
void ReplaceTextNet(Argument* arg);
// Calls `visit` for each net in the arguments of the operator, whose texts are replaced first.
template <class Visit>
void ForEachNetIn(OperatorDef* op, const Visit& visit) {
  for (Argument& arg : *op->mutable_arg()) {
    ReplaceTextNet(&arg);
    if (arg.has_n()) visit(arg.mutable_n());
    for (NetDef& net : *arg.mutable_nets()) visit(&net);
  }
}
// Whether field `i` of the argument is not 0; `default_value` if there is no such argument.
bool GetFlagArgument(const OperatorDef& def, const std::string& name, bool default_value = false);
bool GetFlagArgument(const NetDef& def, const std::string& name, bool default_value = false);

// Whether device type, device id, node name and NUMA node are equal. The other fields, such as the
// random seed, are not compared.
bool IsSameDevice(const DeviceOption& a, const DeviceOption& b);
// `base`, with each field that `override_with` sets replaced by its value. The lists extra_info are
// concatenated.
DeviceOption MergeDeviceOption(const DeviceOption& base, const DeviceOption& override_with);

}  // namespace caffe2rt
#pragma GCC visibility pop
