#pragma once
// Finds out, before a module is opened, whether it would bring a second copy of this library into
// the process. Protobuf aborts a process that registers the same descriptors twice, so that such a
// module must be rejected while it is still a file.
//
// The module's ELF file shows two cases:
//
//   - it contains the static library: the file has the note of proto/library_note.h;
//   - it needs a shared libcaffe2rt that the process has not loaded.
//
// A copy in a library that the module needs, other than libcaffe2rt, is not found. Files may be
// hostile: all offsets and sizes are checked, and the bytes that are read are bounded.

#include <string>
#include <vector>

#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

struct ModuleLinks {
  bool contains_library = false;
  std::vector<std::string> needed;  // names of the shared libraries that the file needs, in order
};

// Reads an ELF file of this machine's class and byte order. Parts that are damaged are left out;
// for any other file the result is empty.
ModuleLinks ReadModuleLinks(const RandomAccessInput& file);

// THROWS if opening the module `file`, as it is passed to dlopen, would load a second copy of the
// library; the error states how to link the module. Does nothing if the file is already loaded,
// cannot be found or cannot be read: dlopen reports these.
void CheckModuleLinks(const std::string& file);

}  // namespace caffe2rt
