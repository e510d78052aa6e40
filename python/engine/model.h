#pragma once
// caffe2rt.Model: a model that is loaded from files and called with arrays.

#include <nanobind/nanobind.h>

namespace caffe2rt {

// Adds the class Model and the function load_model.
void BindModel(nanobind::module_& m);

}  // namespace caffe2rt
