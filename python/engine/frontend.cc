#include "python/engine/frontend.h"

#include "python/engine/frontend_operators.h"
#include "python/engine/frontend_tensors.h"
#include "python/engine/frontend_workspaces.h"

namespace caffe2rt {

void BindFrontend(nanobind::module_& m) {
  nanobind::module_ names = m.def_submodule("frontend", "The names of Caffe2's extension module.");
  BindFrontendTensors(names);
  BindFrontendWorkspaces(names);
  BindFrontendOperators(names);
  BindFrontendPythonOperators(names);
  BindFrontendFacts(names);
  BindFrontendProtos(names);
  BindFrontendTransforms(names);
  BindFrontendMemonger(names);
  BindFrontendOnnx(names);
  BindFrontendNomnigraph(names);
}

}  // namespace caffe2rt
