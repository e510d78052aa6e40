#pragma once
// Finds and opens the shared library of a module that belongs to this library: a device
// (device_module.h), or an engine of collectives (operators/distributed). It is searched for in this
// order:
//
//   1. a copy that the process has already loaded
//   2. the file that an environment variable names; if it is set, the search ends here
//   3. the folder of the core's library or of the program, and the folder ../lib next to it
//   4. the search path of the dynamic loader

#include <string>

namespace caffe2rt {

struct ModuleLibrary {
  std::string subject;    // what messages begin with: the name of a device
  std::string file_name;  // "libcaffe2_counting.so"
  std::string variable;   // the environment variable
  bool in_this_build;     // affects only the message about a missing file
};

struct OpenedLibrary {
  void* handle = nullptr;  // of dlopen; null if there is none. Never closed
  bool is_broken = false;  // there is a file, but it cannot be loaded
  std::string path = "";
  std::string message = "";  // why the handle is null
};

// THROWS if the file would bring a second copy of the core.
OpenedLibrary OpenModuleLibrary(const ModuleLibrary& library);

}  // namespace caffe2rt
