#pragma once
// What the commands check, inspect, gradients, optimize and bench do, for nets in memory.

#include <nanobind/nanobind.h>

namespace caffe2rt {

void BindTools(nanobind::module_& m);

}  // namespace caffe2rt
