#pragma once
// Operators of the package: op() makes them, and functions of Python become operator types.

#include <nanobind/nanobind.h>

namespace caffe2rt {

// Adds make_operator, register_operator, operator_types and the class Output.
void BindOperators(nanobind::module_& m);

}  // namespace caffe2rt
