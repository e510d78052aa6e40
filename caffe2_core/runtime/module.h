#pragma once
// Modules: shared libraries that are loaded at run time and register operators, schemas, gradients,
// databases or contexts.
//
//   LoadModule("", "libmy_ops.so");       // the same as `caffe2 --module libmy_ops.so`
//   LoadModule("caffe2_rocksdb");         // libcaffe2_rocksdb.so in the linker's search path
//
// A module registers its contents by static constructors (Caffe2's macros). CAFFE2_MODULE is
// optional and gives the module a name and a description. Modules are never unloaded, because nets
// may hold their operators. Thread safe.

#include <map>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace caffe2rt {

struct ModuleSchema {
  ModuleSchema(const char* name, const char* description);
};

// Loads `filename`, or lib<name>.so if it is empty. A `filename` without a slash is a file of the
// current folder if there is one, otherwise it is searched in the linker's search path, as
// lib<name>.so is. Does nothing if the file is already loaded, or if a module of this name exists.
// Concurrent calls wait for each other.
//
// THROWS if the file cannot be opened, if it is linked with a copy of the library of its own, or if
// `name` is given and the file does not declare a CAFFE2_MODULE of that name. THROWS if a
// registration of the module conflicts with an existing one, which stays in effect; the message
// names both files. Loading the module again throws its conflicts again; no other function throws
// them.
void LoadModule(const std::string& name, const std::string& filename = "");

// Names and descriptions of all modules declared so far by CAFFE2_MODULE, linked in or loaded.
std::map<std::string, std::string> CurrentModules();
bool HasModule(const std::string& name);
// The files that LoadModule has loaded, in order.
std::vector<std::string> LoadedModuleFiles();

// Declares a module. Use it at namespace scope, in one source of the module. `name` is an
// identifier.
#define CAFFE2_MODULE(name, description)                                                      \
  extern "C" __attribute__((visibility("default"))) bool gCaffe2ModuleSanityCheck##name() {   \
    return true;                                                                              \
  }                                                                                           \
  namespace {                                                                                 \
  [[maybe_unused]] const ::caffe2rt::ModuleSchema caffe2rt_module_##name(#name, description); \
  }

}  // namespace caffe2rt
#pragma GCC visibility pop
