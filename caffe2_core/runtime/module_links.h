#pragma once
// Finds out, before a module is opened, whether it would bring a second copy of this library into
// the process. Protobuf aborts a process that registers the same descriptors twice, so that such a
// module must be rejected while it is still a file.
//
// Also tells modules from shared libraries that have nothing to do with this one, whose constructors
// should not run.
//
// The module's ELF file shows two cases of a second copy:
//
//   - it contains the static library: the file has the note of proto/library_note.h;
//   - it needs a shared libcaffe2rt that the process has not loaded. A program that contains the
//     static library and exports all of it counts as libcaffe2rt if it has its soname, as the program
//     `caffe2` does.
//
// The libraries that the module needs, and those that they need, are read in the same way. They are
// searched for in the folders of DT_RPATH, LD_LIBRARY_PATH and DT_RUNPATH, and in those of this
// library. One that only the cache of the loader lists (/etc/ld.so.cache), or that a library opens
// when it runs, is not found. Files may be hostile: all offsets and sizes are checked, and the bytes
// and the number of files that are read are bounded.

#include <string>
#include <vector>

#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

struct ModuleLinks {
  bool contains_library = false;
  std::vector<std::string> needed;  // names of the shared libraries that the file needs, in order
  // Whether the file's table of strings has a name of the library: every module uses one of its
  // symbols. True if there is no table to read.
  bool may_use_library = true;
  // The folders in which the loader searches for them, as the file has them: $ORIGIN is its folder.
  std::vector<std::string> rpath;    // for the libraries that these need too; empty with a runpath
  std::vector<std::string> runpath;  // for these libraries only
};

// Reads an ELF file of this machine's class and byte order. Parts that are damaged are left out;
// for any other file the result is empty.
ModuleLinks ReadModuleLinks(const RandomAccessInput& file);

// THROWS if opening the module `file`, as it is passed to dlopen, would load a second copy of the
// library; the error states how to link the module. device_module.cc declares this function too,
// because its folder may not include this one. Does nothing if the file is already loaded,
// cannot be found or cannot be read: dlopen reports these.
void CheckModuleLinks(const std::string& file);

// Whether a module `file`, or a library that it needs, uses the library. True if that is not known,
// because a file cannot be found or read.
bool MayUseLibrary(const std::string& file);

}  // namespace caffe2rt
