#pragma once
// Modules: shared libraries that bring operators, schemas, gradients, DBs or contexts, loaded while
// the process runs.
//
//   LoadModule("", "./libmy_ops.so");          // `caffe2 --module ./libmy_ops.so`
//   LoadModule("caffe2_rocksdb");     // libcaffe2_rocksdb.so where the dynamic linker looks
//
// A module registers by static constructors (Caffe2's macros); CAFFE2_MODULE is optional and gives
// it a name and a description. Loaded modules stay: their operators may live in nets. Thread safe.

#include <map>
#include <string>
#include <vector>

namespace caffe2rt {

struct ModuleSchema {
  ModuleSchema(const char* name, const char* description);
};

// Opens `filename`, or lib<name>.so when it is empty. A file that is loaded, or a `name` that is
// there already, is fine. THROWS when it cannot be opened, when it has no CAFFE2_MODULE of that
// name (`name` given without a file), and when its registrations conflict with what is there:
// naming both files; the first ones stay. The conflicts of a module are thrown each time it is
// loaded, and by no other call. One load at a time; others wait.
void LoadModule(const std::string& name, const std::string& filename = "");

// Name and description of what CAFFE2_MODULE declared so far, linked in or loaded.
std::map<std::string, std::string> CurrentModules();
bool HasModule(const std::string& name);
// The files that LoadModule opened, in order.
std::vector<std::string> LoadedModuleFiles();

// At namespace scope of one source of the module; `name` is an identifier.
#define CAFFE2_MODULE(name, description)                                                      \
  extern "C" {                                                                                \
  [[maybe_unused]] bool gCaffe2ModuleSanityCheck##name() { return true; }                     \
  }                                                                                           \
  namespace {                                                                                 \
  [[maybe_unused]] const ::caffe2rt::ModuleSchema caffe2rt_module_##name(#name, description); \
  }

}  // namespace caffe2rt
