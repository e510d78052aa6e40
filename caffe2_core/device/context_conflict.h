#pragma once
// The registration conflict that StaticContextRegisterer (context.h) recorded. Loading a module
// reads it, so that the load reports the conflicts of that module.

#include <string>

namespace caffe2rt::internal {

// Removes the recorded conflict and returns its message, or "" if there is none. Only the last
// conflict is kept. The caller must report it.
std::string TakeContextConflict();

}  // namespace caffe2rt::internal
