#pragma once
// The names that Caffe2's Python front end imports from its extension module. The import hook
// (python/caffe2rt/frontend) serves them as caffe2.python.caffe2_pybind11_state.
//
//   BindFrontend(module);   // module.frontend: a submodule with these names
//
// All names are the original's, with its parameters and results. Names of blobs, nets and operators
// may be str or bytes; serialized messages are bytes. Errors are RuntimeError with the library's
// text. Runs release the interpreter's lock.

#include <nanobind/nanobind.h>

namespace caffe2rt {

// Adds the submodule. REQUIRES: the interpreter's lock; called once per process.
void BindFrontend(nanobind::module_& m);

}  // namespace caffe2rt
