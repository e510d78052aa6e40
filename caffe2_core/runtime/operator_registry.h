#pragma once
// Registers operators, and creates them from OperatorDefs.
//
// There is one registry for each device type. Built-in operators are registered by explicit calls
// on first use:
//
//   void RegisterRelu() {
//     RegisterSchema("Relu", __FILE__).NumInputs(1)...;
//     RegisterCpuOperator<ReluOp<CPUContext>>("Relu", __FILE__);
//   }
//
// Users' operators are registered by Caffe2's macros, in an executable or in a module:
//
//   REGISTER_CPU_OPERATOR(MyOp, MyOp<float, CPUContext>);
//
// Registering a type twice for the same device and engine is an error. The message names both
// files.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

using OperatorRegistry =
    Registry<std::string, std::unique_ptr<OperatorBase>, const OperatorDef&, Workspace*>;

// The registry of a device type. THROWS if `type` is out of range. Thread safe.
OperatorRegistry* OperatorRegistryOf(DeviceType type);
inline OperatorRegistry* CPUOperatorRegistry() { return OperatorRegistryOf(CPU); }
inline OperatorRegistry* CUDAOperatorRegistry() { return OperatorRegistryOf(CUDA); }

// Registers the built-in operators, once (caffe2_core/graph/builtin_operators.h). THROWS if static
// registrations conflict, because a static constructor cannot report that itself. Every lookup
// calls this function.
void EnsureBuiltinOperators();

// "Conv" for the default engine, otherwise "Conv_ENGINE_<engine>".
std::string OpRegistryKey(std::string_view op_type, std::string_view engine = "");

// The operator types that are registered for the device, with any engine. Sorted.
std::vector<std::string> RegisteredOperatorTypes(DeviceType type);
// The operator types that are registered for at least one device. Sorted.
std::vector<std::string> GetRegisteredOperators();
// Whether `op_type` is registered for the device, with any engine.
bool HasOperator(DeviceType type, const std::string& op_type);

using OperatorCreator = std::unique_ptr<OperatorBase>(const OperatorDef& def, Workspace* ws);
// Registers a creator, or the class of an operator. `file` is __FILE__; an empty engine is the
// default engine.
void RegisterOperator(DeviceType device, std::string_view op_type, OperatorCreator* creator,
                      const char* file, std::string_view engine = "");
template <class Op>
void RegisterOperator(DeviceType device, std::string_view op_type, const char* file,
                      std::string_view engine = "") {
  OperatorCreator* const creator = [](const OperatorDef& def,
                                      Workspace* ws) -> std::unique_ptr<OperatorBase> {
    return std::make_unique<Op>(def, ws);
  };
  RegisterOperator(device, op_type, creator, file, engine);
}
template <class Op>
void RegisterCpuOperator(std::string_view op_type, const char* file, std::string_view engine = "") {
  RegisterOperator<Op>(CPU, op_type, file, engine);
}

// Creates an operator. Checks the def against its schema, then tries the engines: first those that
// the def lists, then the preferences below, then the default engine. THROWS if the schema rejects
// the def, if no engine implements the type on the device (see ExplainMissingOperator), if the
// device is not available, or if the constructor throws.
std::unique_ptr<OperatorBase> CreateOperator(const OperatorDef& def, Workspace* ws,
                                             int net_position = OperatorBase::kNoNetPositionSet);

// Whether Caffe2 had an operator of this type, even if this library does not implement it.
bool IsKnownCaffe2Operator(const std::string& op_type);
// The error message for an operator that cannot be created. It states whether Caffe2 had the type,
// and names registered types with similar names.
std::string ExplainMissingOperator(const std::string& op_type, DeviceType device);

// --- engine preferences ---
// Lists of engines by device type. They are tried in order, after the engines that the def lists:
// first the list for the operator's type, then the global list.
using EnginePrefType = std::vector<std::string>;
using PerOpEnginePrefType = std::map<int, std::map<std::string, EnginePrefType>>;
using GlobalEnginePrefType = std::map<int, EnginePrefType>;
// The default of the global list comes from the descriptor of each device (device_descriptor.h).
// SetGlobalEnginePref replaces the global lists of all devices. THROWS for an invalid device type.
void SetPerOpEnginePref(const PerOpEnginePrefType& preferences);
void SetGlobalEnginePref(const GlobalEnginePrefType& preferences);
void SetEnginePref(const PerOpEnginePrefType& per_op, const GlobalEnginePrefType& global);
void SetOpEnginePref(const std::string& op_type, const std::map<int, EnginePrefType>& preferences);

// The logger is called with every OperatorDef before its operator is created. Null removes it.
void SetOperatorLogger(std::function<void(const OperatorDef&)> logger);

namespace internal {
struct OperatorRegisterer {
  OperatorRegisterer(DeviceType device, const std::string& key, OperatorRegistry::Creator creator,
                     const char* file) {
    OperatorRegistryOf(device)->Register(key, std::move(creator), file);
  }
};
}  // namespace internal

// Registration macros for users. The operator class is the last argument and may contain commas. A
// semicolon after a macro is optional.
//
// As in Caffe2, REGISTER_CPU_OPERATOR refers to a symbol that OPERATOR_SCHEMA defines, so that a
// missing schema is a link error. The symbol has C linkage, so that the two macros may be used in
// different namespaces, including unnamed ones.
#define CAFFE2RT_REGISTER_OPERATOR(device, name, key, ...)                                     \
  extern "C" void CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_##name();                              \
  CAFFE2RT_REGISTER_OPERATOR_CREATOR((CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_##name(), device), \
                                     key, CAFFE2RT_NEW_OPERATOR(__VA_ARGS__))
#define CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(device, key, ...) \
  CAFFE2RT_REGISTER_OPERATOR_CREATOR(device, key, CAFFE2RT_NEW_OPERATOR(__VA_ARGS__))
#define CAFFE2RT_REGISTER_OPERATOR_CREATOR(device, key, ...)                       \
  namespace {                                                                      \
  [[maybe_unused]] const ::caffe2rt::internal::OperatorRegisterer CAFFE2RT_CONCAT( \
      caffe2rt_operator_, __COUNTER__)(device, key, __VA_ARGS__, __FILE__);        \
  }
#define CAFFE2RT_NEW_OPERATOR(...)                                             \
  [](const ::caffe2rt::OperatorDef& def,                                       \
     ::caffe2rt::Workspace* ws) -> std::unique_ptr<::caffe2rt::OperatorBase> { \
    return std::make_unique<__VA_ARGS__>(def, ws);                             \
  }

#define REGISTER_CPU_OPERATOR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR(::caffe2rt::CPU, name, #name, __VA_ARGS__)
#define REGISTER_CPU_OPERATOR_CREATOR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR_CREATOR(::caffe2rt::CPU, #name, __VA_ARGS__)
#define REGISTER_CPU_OPERATOR_STR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(::caffe2rt::CPU, name, __VA_ARGS__)
#define REGISTER_CPU_OPERATOR_WITH_ENGINE(name, engine, ...) \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(::caffe2rt::CPU, #name "_ENGINE_" #engine, __VA_ARGS__)
#define REGISTER_CPU_GRADIENT_OPERATOR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR(::caffe2rt::CPU, name, #name, __VA_ARGS__)

#define REGISTER_CUDA_OPERATOR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(::caffe2rt::CUDA, #name, __VA_ARGS__)
#define REGISTER_CUDA_OPERATOR_CREATOR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR_CREATOR(::caffe2rt::CUDA, #name, __VA_ARGS__)
#define REGISTER_CUDA_OPERATOR_STR(name, ...) \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(::caffe2rt::CUDA, name, __VA_ARGS__)
#define REGISTER_CUDA_OPERATOR_WITH_ENGINE(name, engine, ...) \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(::caffe2rt::CUDA, #name "_ENGINE_" #engine, __VA_ARGS__)
#define REGISTER_CUDNN_OPERATOR(name, ...) \
  REGISTER_CUDA_OPERATOR_WITH_ENGINE(name, CUDNN, __VA_ARGS__)

// For any device type, including those that users add.
#define REGISTER_DEVICE_OPERATOR(device, name, ...)                                        \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(static_cast<::caffe2rt::DeviceType>(device), #name, \
                                       __VA_ARGS__)

}  // namespace caffe2rt
#pragma GCC visibility pop
