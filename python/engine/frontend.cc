#include "python/engine/frontend.h"

namespace caffe2rt {

void BindFrontend(nanobind::module_& m) { m.def_submodule("frontend"); }

}  // namespace caffe2rt
