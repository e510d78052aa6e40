#pragma once
// The class Workspace: a mapping from names to blobs, on which nets and plans run.

#include <nanobind/nanobind.h>

namespace caffe2rt {

void BindWorkspace(nanobind::module_& m);

}  // namespace caffe2rt
