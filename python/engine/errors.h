#pragma once
// Errors of the library as exceptions of Python, and exceptions of Python that pass through a run.

#include <nanobind/nanobind.h>

namespace caffe2rt {

// Adds the class Error, derived from RuntimeError, which every EnforceNotMet becomes; its text is
// EnforceNotMet::message(). OutOfMemory becomes MemoryError.
void BindErrors(nanobind::module_& m);

}  // namespace caffe2rt
