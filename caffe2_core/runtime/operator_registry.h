#pragma once
// Which operators there are, and how one is made from its OperatorDef.
//
// One registry per process and device type. Built-in operators are registered by explicit calls on
// the first use:
//
//   void RegisterRelu() {
//     RegisterSchema("Relu", __FILE__).NumInputs(1)...;
//     RegisterCpuOperator<ReluOp<CPUContext>>("Relu", __FILE__);
//   }
//
// Users' operators register themselves by Caffe2's macros, in an executable or in a module:
//
//   REGISTER_CPU_OPERATOR(MyOp, MyOp<float, CPUContext>);
//
// Registering a type twice for one device and engine is an error that names both files.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/base/registry.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

using OperatorRegistry =
    Registry<std::string, std::unique_ptr<OperatorBase>, const OperatorDef&, Workspace*>;

// The registry of a device type. THROWS for a number out of range. Thread safe.
OperatorRegistry* OperatorRegistryOf(DeviceType type);
inline OperatorRegistry* CPUOperatorRegistry() { return OperatorRegistryOf(CPU); }
inline OperatorRegistry* CUDAOperatorRegistry() { return OperatorRegistryOf(CUDA); }

// Registers the operators that come with the library, once (caffe2_core/graph/builtin_operators.h),
// and THROWS the conflicts that static registrations could not report. Every look-up calls it.
void EnsureBuiltinOperators();

// "Conv" for the default engine, else "Conv_ENGINE_<engine>".
std::string OpRegistryKey(const std::string& op_type, const std::string& engine = "");

// Types with an operator for the device (default engines and others), sorted.
std::vector<std::string> RegisteredOperatorTypes(DeviceType type);
// Types with an operator for any device, sorted.
std::vector<std::string> GetRegisteredOperators();
// Whether `op_type` can be made on the device.
bool HasOperator(DeviceType type, const std::string& op_type);

template <class Op>
void RegisterOperator(DeviceType device, const std::string& op_type, const char* file,
                      const std::string& engine = "") {
  OperatorRegistryOf(device)->Register(
      OpRegistryKey(op_type, engine),
      [](const OperatorDef& def, Workspace* ws) -> std::unique_ptr<OperatorBase> {
        return std::make_unique<Op>(def, ws);
      },
      file);
}
template <class Op>
void RegisterCpuOperator(const std::string& op_type, const char* file,
                         const std::string& engine = "") {
  RegisterOperator<Op>(CPU, op_type, file, engine);
}

// Makes an operator: schema check, device, engines in order. THROWS when the type is not known
// (naming what is close, and whether Caffe2 had it), the device is not there, or the constructor
// throws.
std::unique_ptr<OperatorBase> CreateOperator(const OperatorDef& def, Workspace* ws,
                                             int net_position = OperatorBase::kNoNetPositionSet);

// Whether Caffe2 had an operator of this type (the names of its registry), here or not.
bool IsKnownCaffe2Operator(const std::string& op_type);
// What to say about a type that cannot be made: known but missing, or unknown, and what is close.
std::string ExplainMissingOperator(const std::string& op_type, DeviceType device);

// --- engine preferences: for operators whose def names no engine, after the def's own list ---
using EnginePrefType = std::vector<std::string>;
using PerOpEnginePrefType = std::map<int, std::map<std::string, EnginePrefType>>;
using GlobalEnginePrefType = std::map<int, EnginePrefType>;
// A global preference is for operators of any type. Until one is set, the engines of each device's
// descriptor are tried (device_descriptor.h); setting one replaces those of all devices.
void SetPerOpEnginePref(const PerOpEnginePrefType& preferences);
void SetGlobalEnginePref(const GlobalEnginePrefType& preferences);
void SetEnginePref(const PerOpEnginePrefType& per_op, const GlobalEnginePrefType& global);
void SetOpEnginePref(const std::string& op_type, const std::map<int, EnginePrefType>& preferences);

// Called with every OperatorDef before its operator is made; null for none.
void SetOperatorLogger(std::function<void(const OperatorDef&)> logger);

namespace internal {
struct OperatorRegisterer {
  OperatorRegisterer(DeviceType device, const std::string& key, OperatorRegistry::Creator creator,
                     const char* file) {
    OperatorRegistryOf(device)->Register(key, std::move(creator), file);
  }
};
}  // namespace internal

// The macros for users. The class comes last and may hold commas. The reference to the schema's
// symbol makes a missing OPERATOR_SCHEMA a link error, as in the original; it has C linkage, so
// that the two macros may stand in different namespaces, unnamed ones too. A semicolon after a
// macro is optional.
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

// For any device type, users' own included.
#define REGISTER_DEVICE_OPERATOR(device, name, ...)                                        \
  CAFFE2RT_REGISTER_OPERATOR_NO_SCHEMA(static_cast<::caffe2rt::DeviceType>(device), #name, \
                                       __VA_ARGS__)

}  // namespace caffe2rt
