#pragma once
// Arguments of operators and nets, and small builders of OperatorDefs. Caffe2's names; sections 15
// and 28 of its core.
//
//   const ArgumentHelper args(def);
//   const float alpha = args.GetSingleArgument<float>("alpha", 0.01f);
//   const std::vector<int> kernels = args.GetRepeatedArgument<int>("kernels");
//
// T is one of float, double, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
// size_t, std::string, NetDef. A single argument in the wrong field THROWS; a repeated one gives an
// empty list, as the original does. An integer that does not fit THROWS.

#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/argument_spec.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

// Nets in arguments are followed this deep. A proto from a file nests no deeper; one made in memory
// may.
inline constexpr int kMaxNetDepth = 64;

template <class Def>
concept OperatorOrNet = std::is_same_v<Def, OperatorDef> || std::is_same_v<Def, NetDef>;

class ArgumentHelper {
 public:
  // Keeps pointers into `def`, which must outlive the helper. THROWS when a name comes twice with
  // different contents (for a net: at all).
  explicit ArgumentHelper(const OperatorDef& def);
  explicit ArgumentHelper(const NetDef& def);

  bool HasArgument(const std::string& name) const { return args_.contains(name); }
  template <class T>
  T GetSingleArgument(const std::string& name, const T& default_value) const;
  template <class T>
  std::vector<T> GetRepeatedArgument(const std::string& name,
                                     const std::vector<T>& default_value = {}) const;
  // The value of a declared argument. THROWS where it is missing and required, or fails its check.
  template <class T>
  T Read(const ArgumentSpec<T>& spec) const;
  template <class T>
  std::vector<T> Read(const RepeatedArgumentSpec<T>& spec) const;
  template <class Spec>
  requires requires(const Spec& spec) { spec.required; }
  bool HasArgument(const Spec& spec) const { return HasArgument(std::string(spec.name)); }
  // The argument is there and a single one of this type.
  template <class T>
  bool HasSingleArgumentOfType(const std::string& name) const;
  // A message serialized into the string field. THROWS when the argument is missing or does not
  // parse.
  template <class Message>
  Message GetMessageArgument(const std::string& name) const {
    Message message;
    ParseMessage(name, &message);
    return message;
  }
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
  // Whether to read the argument; THROWS where it is missing and required.
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
                "\" is [", Join(", ", values), "], want ", spec.check.want);
  return values;
}

// --- builders ---

// T as above, or std::vector of it; const char* makes a string.
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

// The device option in place of the arguments.
template <class Device, class = std::enable_if_t<std::is_same_v<Device, DeviceOption>>>
OperatorDef CreateOperatorDef(const std::string& type, const std::string& name,
                              const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs, const Device& device_option,
                              const std::string& engine = "") {
  return CreateOperatorDef(type, name, inputs, outputs, {}, device_option, engine);
}
// Names in other containers of strings.
template <class Inputs, class Outputs, class... Rest>
requires(!std::is_same_v<Inputs, std::vector<std::string>> ||
         !std::is_same_v<Outputs, std::vector<std::string>>) OperatorDef
    CreateOperatorDef(const std::string& type, const std::string& name, const Inputs& inputs,
                      const Outputs& outputs, const Rest&... rest) {
  return CreateOperatorDef(type, name, std::vector<std::string>(inputs.begin(), inputs.end()),
                           std::vector<std::string>(outputs.begin(), outputs.end()), rest...);
}

bool HasInput(const OperatorDef& op, const std::string& input);
bool HasOutput(const OperatorDef& op, const std::string& output);
// THROWS when there is none.
const Argument& GetArgument(const OperatorDef& def, const std::string& name);
const Argument& GetArgument(const NetDef& def, const std::string& name);
// Null when there is none.
const Argument* GetArgumentPtr(const OperatorDef& def, const std::string& name);
const Argument* GetArgumentPtr(const NetDef& def, const std::string& name);
// The argument of that name, made when it is not there; with create_if_missing false null then.
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, OperatorDef* def);
Argument* GetMutableArgument(const std::string& name, bool create_if_missing, NetDef* def);
bool GetFlagArgument(const OperatorDef& def, const std::string& name, bool default_value = false);
bool GetFlagArgument(const NetDef& def, const std::string& name, bool default_value = false);

// Same device type, id and NUMA node (the seed and the rest do not matter).
bool IsSameDevice(const DeviceOption& a, const DeviceOption& b);
// The base with the fields that `override_with` sets laid over it.
DeviceOption MergeDeviceOption(const DeviceOption& base, const DeviceOption& override_with);

}  // namespace caffe2rt
