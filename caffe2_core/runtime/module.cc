#include "caffe2_core/runtime/module.h"

#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>
#include <dlfcn.h>

#include <algorithm>
#include <new>
#include <set>
#include <string_view>
#include <utility>

#include "caffe2_core/base/conflicts.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/mutex.h"
#include "caffe2_core/base/own_library.h"
#include "caffe2_core/device/context_conflict.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/module_search.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

struct Modules {
  Mutex mutex;
  std::map<std::string, std::string> by_name ABSL_GUARDED_BY(mutex);
  std::vector<std::string> conflicts ABSL_GUARDED_BY(mutex);
  std::vector<void*> handles ABSL_GUARDED_BY(mutex);  // never closed
  std::vector<std::string> files ABSL_GUARDED_BY(mutex);
  // "" if there are none.
  std::map<void*, std::string> conflicts_of_handle ABSL_GUARDED_BY(mutex);
  // Only modules that LoadModule opened.
  std::map<std::string, void*> handle_of_name ABSL_GUARDED_BY(mutex);
  // Which module registered what: the key is as conflicts name it, `operator "Relu"`.
  std::map<std::string, std::string> module_of_key ABSL_GUARDED_BY(mutex);
  // Held during a load. With one load at a time, all new conflicts come from its module.
  RecursiveMutex loading;
};

Modules& AllModules() {
  static Modules* const modules = new Modules;
  return *modules;
}

// Takes the conflicts that static constructors could not report, from all registries.
std::vector<std::string> TakeAllConflicts() {
  std::vector<std::string> conflicts;
  for (int type = 0; type < kMaxDeviceTypes; ++type) {
    AppendConflicts([&] { OperatorRegistryOf(static_cast<DeviceType>(type))->ThrowConflicts(); },
                    &conflicts);
  }
  AppendConflicts([] { OpSchemaRegistry::ThrowConflicts(); }, &conflicts);
  AppendConflicts([] { GradientRegistry()->ThrowConflicts(); }, &conflicts);
  AppendConflicts([] { GetNetRegistry()->ThrowConflicts(); }, &conflicts);
  AppendConflicts([] { BlobSerializerRegistry().ThrowConflicts(); }, &conflicts);
  AppendConflicts([] { BlobDeserializerRegistry().ThrowConflicts(); }, &conflicts);
  AppendConflicts([] { db::Caffe2DBRegistry().ThrowConflicts(); }, &conflicts);
  AppendConflicts(ThrowFlagConflicts, &conflicts);
  if (std::string conflict = internal::TakeContextConflict(); !conflict.empty()) {
    conflicts.push_back(std::move(conflict));
  }
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  conflicts.insert(conflicts.end(), modules.conflicts.begin(), modules.conflicts.end());
  modules.conflicts.clear();
  return conflicts;
}

// What is registered, as conflicts name it: `operator "Relu"`.
std::set<std::string> RegisteredKeys() {
  std::set<std::string> keys;
  const auto add = [&](const char* subject, const std::vector<std::string>& names) {
    for (const std::string& name : names) keys.insert(MakeString(subject, " \"", name, "\""));
  };
  for (int type = 0; type < kMaxDeviceTypes; ++type)
    add("operator", OperatorRegistryOf(static_cast<DeviceType>(type))->Keys());
  add("schema of operator type", OpSchemaRegistry::Types());
  add("gradient of operator", GradientRegistry()->Keys());
  add("net type", GetNetRegistry()->Keys());
  add("database type", db::Caffe2DBRegistry().Keys());
  return keys;
}

// Notes that the module `file` registered the keys that did not exist before.
void KeepKeys(const std::string& file, const std::set<std::string>& before) {
  Modules& modules = AllModules();
  const std::set<std::string> after = RegisteredKeys();
  const MutexLock lock(modules.mutex);
  for (const std::string& key : after) {
    if (!before.contains(key)) modules.module_of_key[key] = file;
  }
}

// Names the modules in a conflict, whose sources may have the same name: `operator "Twice" is
// registered twice: in op.cc of module "a.so" and in op.cc of module "b.so"`. A conflict without
// sources is returned as it is.
std::string WithModules(std::string conflict, const std::string& file) {
  constexpr std::string_view kTwice = " is registered twice: in ", kAnd = " and in ";
  const size_t twice = conflict.find(kTwice);
  if (twice == std::string::npos) return conflict;
  const size_t end = conflict.find(kAnd, twice);
  if (end == std::string::npos) return conflict;
  std::string first;
  {
    Modules& modules = AllModules();
    const MutexLock lock(modules.mutex);
    const auto found = modules.module_of_key.find(conflict.substr(0, twice));
    if (found != modules.module_of_key.end()) first = found->second;
  }
  conflict += MakeString(" of module \"", file, "\"");
  if (!first.empty()) conflict.insert(end, MakeString(" of module \"", first, "\""));
  return conflict;
}

// Stores the conflicts of a module under its handle, and the handle under each name that the module
// declared.
void KeepConflicts(void* handle, const std::vector<std::string>& names_before,
                   const std::vector<std::string>& conflicts) {
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  modules.conflicts_of_handle[handle] = absl::StrJoin(conflicts, "; ");
  for (const auto& [name, description] : modules.by_name) {
    if (!std::binary_search(names_before.begin(), names_before.end(), name)) {
      modules.handle_of_name[name] = handle;
    }
  }
}

// THROWS the stored conflicts of a module. Called each time the module is requested.
void ThrowConflictsOf(void* handle, const std::string& module) {
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  const std::string& conflicts = modules.conflicts_of_handle[handle];  // none if it is linked in
  CAFFE_ENFORCE(conflicts.empty(), "module \"", module, "\" is loaded, but ", conflicts);
}

// Whether the module is linked in or loaded. THROWS if it was loaded with conflicts.
bool IsThere(const std::string& name) {
  if (!HasModule(name)) return false;
  void* handle = nullptr;
  {
    Modules& modules = AllModules();
    const MutexLock lock(modules.mutex);
    if (const auto it = modules.handle_of_name.find(name); it != modules.handle_of_name.end()) {
      handle = it->second;
    }
  }
  ThrowConflictsOf(handle, name);
  return true;
}

}  // namespace

ModuleSchema::ModuleSchema(const char* name, const char* description) {
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  if (modules.by_name.try_emplace(name, description).second) return;
  modules.conflicts.push_back(MakeString("module \"", name, "\" is registered twice"));
}

void LoadModule(const std::string& name, const std::string& filename) try {
  CAFFE_ENFORCE(!name.empty() || !filename.empty(), "a module needs a name or a file");
  // Built-in operators are registered first, so that a conflict is attributed to the module.
  EnsureBuiltinOperators();
  Modules& modules = AllModules();
  const RecursiveMutexLock one_load(modules.loading);
  if (!name.empty() && IsThere(name)) return;
  const std::string file = filename.empty() ? "lib" + name + ".so" : filename;
  const std::string path = filename.empty() ? file : PathOfModule(file);
  CheckIsModule(file, path);
  std::vector<std::string> names_before;
  for (const auto& [known, description] : CurrentModules()) names_before.push_back(known);
  const std::set<std::string> keys_before = RegisteredKeys();
  ModuleLoading loading(TakeAllConflicts);
  ExportOwnLibrary();
  // RTLD_GLOBAL, as in Caffe2, because a module may use the symbols of another one, for example if
  // kernels and their schemas are in different libraries.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  CAFFE_ENFORCE(handle != nullptr, "cannot load module \"", file,
                "\": ", WhyNotLoaded(path, dlerror()));
  std::vector<std::string> conflicts = loading.Finish();
  for (std::string& text : conflicts) {  // each has the conflicts of one registry
    std::vector<std::string> named = absl::StrSplit(text, "; ");
    for (std::string& conflict : named) conflict = WithModules(std::move(conflict), file);
    text = absl::StrJoin(named, "; ");
  }
  bool is_new = false;
  {
    const MutexLock lock(modules.mutex);
    is_new =
        std::find(modules.handles.begin(), modules.handles.end(), handle) == modules.handles.end();
    if (is_new) {
      modules.handles.push_back(handle);
      modules.files.push_back(file);
    }
  }
  if (is_new) {
    KeepConflicts(handle, names_before, conflicts);
    KeepKeys(file, keys_before);
  } else {
    dlclose(handle);  // drops the reference that this dlopen added
  }
  ThrowConflictsOf(handle, file);
  if (!is_new) return;
  if (name.empty()) return;
  CAFFE_ENFORCE(dlsym(handle, ("gCaffe2ModuleSanityCheck" + name).c_str()) != nullptr, "module \"",
                file, "\" does not declare CAFFE2_MODULE(", name, ", ...)");
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::map<std::string, std::string> CurrentModules() {
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  return modules.by_name;
}

bool HasModule(const std::string& name) { return CurrentModules().contains(name); }

std::vector<std::string> LoadedModuleFiles() {
  Modules& modules = AllModules();
  const MutexLock lock(modules.mutex);
  return modules.files;
}

}  // namespace caffe2rt
