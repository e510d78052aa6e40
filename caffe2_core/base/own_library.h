#pragma once
// The file that contains this library: libcaffe2rt.so, or the program that links the static library.
// Thread safe.

#include <filesystem>

namespace caffe2rt {

// The folder of the file, or "" if it is unknown.
std::filesystem::path OwnLibraryFolder();

// Lets modules that are opened from now on use the library's symbols, without linking it. A program
// that is linked with the library needs no such step. Other languages open a shared library with
// local symbols: Python's ctypes, for example.
void ExportOwnLibrary();

}  // namespace caffe2rt
