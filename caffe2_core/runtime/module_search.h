#pragma once
// Finds the file of a module, and explains why a file is none.

#include <string>

namespace caffe2rt {

// Returns the path to pass to dlopen, which searches a name without a slash in the loader's path
// only: a file of that name in the current folder comes first.
std::string PathOfModule(const std::string& file);

// THROWS if opening `path`, the path of the module `file`, would load a second copy of the library,
// or if it is a shared library that does not use this one. The file is not opened by the loader.
void CheckIsModule(const std::string& file, const std::string& path);

// Returns why dlopen could not open `path`. `error` is the result of dlerror. A missing symbol is
// explained by how the module or the program must be built.
std::string WhyNotLoaded(const std::string& path, const char* error);

}  // namespace caffe2rt
