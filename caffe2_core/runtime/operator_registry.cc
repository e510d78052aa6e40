#include "caffe2_core/runtime/operator_registry.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include <algorithm>
#include <new>
#include <optional>
#include <set>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/device/device_descriptor.h"
#include "caffe2_core/device/device_module.h"
#include "caffe2_core/graph/builtin_operators.h"
#include "caffe2_core/runtime/operator_engines.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {
namespace {

constexpr char kEngineMark[] = "_ENGINE_";

struct Preferences {
  Mutex mutex;
  PerOpEnginePrefType per_op ABSL_GUARDED_BY(mutex);
  // If not set, the devices' descriptors apply.
  std::optional<GlobalEnginePrefType> global ABSL_GUARDED_BY(mutex);
  std::function<void(const OperatorDef&)> logger ABSL_GUARDED_BY(mutex);
};

Preferences& ThePreferences() {
  static Preferences* const preferences = new Preferences;
  return *preferences;
}

void CheckDevices(const std::map<int, EnginePrefType>& preferences) {
  for (const auto& [device, engines] : preferences) CheckedDeviceType(device);
}

EnginePrefType GlobalEngines(const Preferences& preferences, int device)
    ABSL_EXCLUSIVE_LOCKS_REQUIRED(preferences.mutex) {
  if (preferences.global.has_value()) {
    const auto it = preferences.global->find(device);
    return it != preferences.global->end() ? it->second : EnginePrefType();
  }
  const DeviceDescriptor* const descriptor = FindDeviceDescriptor(static_cast<DeviceType>(device));
  return descriptor != nullptr ? descriptor->engines : EnginePrefType();
}

// The engines to try, in order. The default engine ("") comes last.
std::vector<std::string> EnginesFor(const OperatorDef& def) {
  std::vector<std::string> engines = absl::StrSplit(def.engine(), ',', absl::SkipEmpty());
  Preferences& preferences = ThePreferences();
  const MutexLock lock(preferences.mutex);
  const int device = def.device_option().device_type();
  if (const auto it = preferences.per_op.find(device); it != preferences.per_op.end()) {
    if (const auto op = it->second.find(def.type()); op != it->second.end()) {
      engines.insert(engines.end(), op->second.begin(), op->second.end());
    }
  }
  const EnginePrefType global = GlobalEngines(preferences, device);
  engines.insert(engines.end(), global.begin(), global.end());
  engines.push_back("");
  return engines;
}

std::unique_ptr<OperatorBase> TryEngines(const OperatorDef& def, Workspace* ws) {
  const DeviceType device = CheckedDeviceType(def.device_option().device_type());
  GetStaticContext(device);  // THROWS if the device is not available
  OperatorRegistry* const registry = OperatorRegistryOf(device);
  for (const std::string& engine : EnginesFor(def)) {
    const std::string key = OpRegistryKey(def.type(), engine);
    if (!registry->Has(key)) {
      VLOG(1) << "operator " << def.type() << " has no engine \"" << engine << "\"";
      continue;
    }
    try {
      std::unique_ptr<OperatorBase> op = registry->Create(key, def, ws);
      op->annotate_engine(engine.substr(0, 10));
      return op;
    } catch (const UnsupportedOperatorFeature& error) {
      LOG(WARNING) << "engine \"" << engine << "\" of operator " << def.type()
                   << " does not support this def: " << error.what();
    }
  }
  CAFFE_THROW(ExplainMissingOperator(def.type(), device));
}

void VerifySchema(const OperatorDef& def) {
  const OpSchema* schema = OpSchemaRegistry::Schema(def.type());
  if (schema == nullptr) {
    VLOG(1) << "operator " << def.type() << " has no schema";
    return;
  }
  std::string why;
  CAFFE_ENFORCE(schema->Verify(def, &why), "Operator def did not pass schema checking: operator ",
                def.type(), ": ", why);
}

}  // namespace

OperatorRegistry* OperatorRegistryOf(DeviceType type) {
  static OperatorRegistry* const* const registries = [] {
    auto** rows = new OperatorRegistry*[kMaxDeviceTypes];
    for (int i = 0; i < kMaxDeviceTypes; ++i) rows[i] = new OperatorRegistry("operator");
    return rows;
  }();
  return registries[CheckedDeviceType(type)];
}

void EnsureBuiltinOperators() {
  RegisterBuiltinOperatorsOnce();
  ReportConflicts([] {
    std::vector<std::string> conflicts;
    for (int type = 0; type < kMaxDeviceTypes; ++type) {
      AppendConflicts([&] { OperatorRegistryOf(static_cast<DeviceType>(type))->ThrowConflicts(); },
                      &conflicts);
    }
    AppendConflicts([] { OpSchemaRegistry::ThrowConflicts(); }, &conflicts);
    return conflicts;
  });
}

std::string OpRegistryKey(std::string_view op_type, std::string_view engine) {
  if (engine.empty() || engine == "DEFAULT") return std::string(op_type);
  return std::string(op_type) + kEngineMark + std::string(engine);
}

void RegisterOperator(DeviceType device, std::string_view op_type, OperatorCreator* creator,
                      const char* file, std::string_view engine) {
  OperatorRegistryOf(device)->Register(OpRegistryKey(op_type, engine), creator, file);
}

std::vector<std::string> RegisteredOperatorTypes(DeviceType type) {
  EnsureBuiltinOperators();
  LoadDeviceModule(type);
  std::set<std::string> types;
  for (const std::string& key : OperatorRegistryOf(type)->Keys()) {
    types.insert(key.substr(0, key.find(kEngineMark)));
  }
  return {types.begin(), types.end()};
}

std::vector<std::string> GetRegisteredOperators() {
  std::set<std::string> types;
  for (int device = 0; device < kMaxDeviceTypes; ++device) {
    for (std::string& type : RegisteredOperatorTypes(static_cast<DeviceType>(device))) {
      types.insert(std::move(type));
    }
  }
  return {types.begin(), types.end()};
}

bool HasOperator(DeviceType type, const std::string& op_type) {
  EnsureBuiltinOperators();
  if (OperatorRegistryOf(type)->Has(op_type)) return true;
  const std::vector<std::string> types = RegisteredOperatorTypes(type);
  return std::binary_search(types.begin(), types.end(), op_type);
}

std::string ExplainMissingOperator(const std::string& op_type, DeviceType device) {
  const std::string head = MakeString("Cannot create operator of type '", op_type,
                                      "' on the device '", DeviceTypeName(device),
                                      "'. Verify that implementation for the "
                                      "corresponding device exists");
  const std::vector<std::string> here = RegisteredOperatorTypes(device);
  std::string close = absl::StrJoin(NearestNames(op_type, here), ", ");
  if (!close.empty()) close = "; close: " + close;
  if (std::binary_search(here.begin(), here.end(), op_type)) {
    return MakeString(head, ": none of its engines supports this def");
  }
  const OpSchema* const schema = OpSchemaRegistry::Schema(op_type);
  if (schema != nullptr && !schema->missing().empty()) {
    return MakeString(head, ": this operator needs ", schema->missing());
  }
  if (IsKnownCaffe2Operator(op_type)) {
    return MakeString(head, ": Caffe2 has this operator, but this library does not", close,
                      "; `caffe2 ops` lists the available operators");
  }
  return MakeString(head, ": this type is not known", close,
                    "; if a module contains it, load the module (--module); `caffe2 ops` lists the "
                    "available operators");
}

std::unique_ptr<OperatorBase> CreateOperator(const OperatorDef& def, Workspace* ws,
                                             int net_position) try {
  CAFFE_ENFORCE(ws != nullptr,
                "argument ws of CreateOperator is null, want the workspace of its blobs");
  EnsureBuiltinOperators();
  try {
    std::function<void(const OperatorDef&)> logger;
    {
      const MutexLock lock(ThePreferences().mutex);
      logger = ThePreferences().logger;
    }
    if (logger) logger(def);
    VerifySchema(def);
    std::unique_ptr<OperatorBase> op = TryEngines(def, ws);
    op->set_net_position(net_position);
    return op;
  } catch (...) {
    if (net_position != OperatorBase::kNoNetPositionSet)
      ws->last_failed_op_net_position = net_position;
    throw;
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

bool UsesEngine(const OperatorDef& def) {
  EnsureBuiltinOperators();
  const DeviceType device = CheckedDeviceType(def.device_option().device_type());
  const OperatorRegistry& registry = *OperatorRegistryOf(device);
  for (const std::string& engine : EnginesFor(def)) {
    const std::string key = OpRegistryKey(def.type(), engine);
    if (key == def.type()) return false;
    if (registry.Has(key)) return true;
  }
  return false;
}

std::vector<std::string> MissingEngines(const OperatorDef& def) {
  EnsureBuiltinOperators();
  const DeviceType device = CheckedDeviceType(def.device_option().device_type());
  std::vector<std::string> missing;
  for (const absl::string_view engine : absl::StrSplit(def.engine(), ',', absl::SkipEmpty())) {
    const std::string name(engine);
    if (!OperatorRegistryOf(device)->Has(OpRegistryKey(def.type(), name))) missing.push_back(name);
  }
  return missing;
}

void SetPerOpEnginePref(const PerOpEnginePrefType& preferences) {
  for (const auto& [device, ops] : preferences) CheckedDeviceType(device);
  const MutexLock lock(ThePreferences().mutex);
  ThePreferences().per_op = preferences;
}

void SetGlobalEnginePref(const GlobalEnginePrefType& preferences) {
  CheckDevices(preferences);
  const MutexLock lock(ThePreferences().mutex);
  ThePreferences().global = preferences;
}

void SetEnginePref(const PerOpEnginePrefType& per_op, const GlobalEnginePrefType& global) {
  SetPerOpEnginePref(per_op);
  SetGlobalEnginePref(global);
}

void SetOpEnginePref(const std::string& op_type, const std::map<int, EnginePrefType>& preferences) {
  CheckDevices(preferences);
  const MutexLock lock(ThePreferences().mutex);
  for (const auto& [device, engines] : preferences) {
    ThePreferences().per_op[device][op_type] = engines;
  }
}

void SetOperatorLogger(std::function<void(const OperatorDef&)> logger) {
  const MutexLock lock(ThePreferences().mutex);
  ThePreferences().logger.swap(logger);  // the old one is destroyed after the lock is released
}

}  // namespace caffe2rt
