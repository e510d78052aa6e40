#pragma once
// Ends the compilation of a source in an older language, with one error that names the remedy. Without
// it, such a source fails in the first header that uses C++20, with hundreds of errors.
//
// Headers that other headers reach first include this one.

#if __cplusplus <= 201703L
#error caffe2rt requires C++20: compile with -std=c++20, or set(CMAKE_CXX_STANDARD 20) in CMake
#include <C++20, see the error above>  // a missing file is the one error after which compilers stop
#endif
