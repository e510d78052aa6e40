// Transforms of nets.
#include "python/engine/frontend_operators.h"

namespace caffe2rt {

void BindFrontendTransforms(nanobind::module_& /*m*/) {}

}  // namespace caffe2rt
