#include "caffe2_core/runtime/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {
namespace {

struct Modules {
  std::mutex mutex;
  std::map<std::string, std::string> by_name;
  std::vector<std::string> conflicts;
  std::vector<void*> handles;  // never closed
  std::vector<std::string> files;
};

Modules& AllModules() {
  static Modules* const modules = new Modules;
  return *modules;
}

// What the library's static constructors could not report.
void ThrowConflictsOf(const std::string& file) {
  std::vector<std::string> conflicts;
  try {
    EnsureBuiltinOperators();
  } catch (const EnforceNotMet& error) {
    conflicts.push_back(error.message());
  }
  try {
    GradientRegistry()->ThrowConflicts();
  } catch (const EnforceNotMet& error) {
    conflicts.push_back(error.message());
  }
  {
    Modules& modules = AllModules();
    std::lock_guard<std::mutex> lock(modules.mutex);
    conflicts.insert(conflicts.end(), modules.conflicts.begin(), modules.conflicts.end());
    modules.conflicts.clear();
  }
  CAFFE_ENFORCE(conflicts.empty(), "module \"", file, "\" is loaded, but ", Join("; ", conflicts));
}

}  // namespace

ModuleSchema::ModuleSchema(const char* name, const char* description) {
  Modules& modules = AllModules();
  std::lock_guard<std::mutex> lock(modules.mutex);
  if (modules.by_name.try_emplace(name, description).second) return;
  modules.conflicts.push_back(MakeString("module \"", name, "\" is there twice"));
}

void LoadModule(const std::string& name, const std::string& filename) try {
  CAFFE_ENFORCE(!name.empty() || !filename.empty(), "a module needs a name or a file");
  // Built-in operators come first, so that a module that repeats one is told, not the library.
  EnsureBuiltinOperators();
  if (!name.empty() && HasModule(name)) return;
  const std::string file = filename.empty() ? "lib" + name + ".so" : filename;
  // Global, as Caffe2 does: a module may use another one's symbols (kernels in one library, their
  // schemas in another).
  void* const handle = dlopen(file.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    CAFFE_THROW("cannot load module \"", file, "\": ", why != nullptr ? why : "unknown reason");
  }
  Modules& modules = AllModules();
  {
    std::lock_guard<std::mutex> lock(modules.mutex);
    if (std::find(modules.handles.begin(), modules.handles.end(), handle) !=
        modules.handles.end()) {
      dlclose(handle);  // gives back the second reference
      return;
    }
    modules.handles.push_back(handle);
    modules.files.push_back(file);
  }
  ThrowConflictsOf(file);
  if (name.empty()) return;
  CAFFE_ENFORCE(dlsym(handle, ("gCaffe2ModuleSanityCheck" + name).c_str()) != nullptr, "module \"",
                file, "\" does not say CAFFE2_MODULE(", name, ", ...)");
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::map<std::string, std::string> CurrentModules() {
  Modules& modules = AllModules();
  std::lock_guard<std::mutex> lock(modules.mutex);
  return modules.by_name;
}

bool HasModule(const std::string& name) { return CurrentModules().contains(name); }

std::vector<std::string> LoadedModuleFiles() {
  Modules& modules = AllModules();
  std::lock_guard<std::mutex> lock(modules.mutex);
  return modules.files;
}

}  // namespace caffe2rt
