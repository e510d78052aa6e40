// caffe2rt._engine, the extension module: the classes and functions of the package caffe2rt.
#include <nanobind/nanobind.h>

#include "python/engine/errors.h"
#include "python/engine/frontend.h"
#include "python/engine/model.h"
#include "python/engine/operators.h"
#include "python/engine/runs.h"
#include "python/engine/tools.h"
#include "python/engine/workspace.h"

namespace nb = nanobind;

NB_MODULE(_engine, m) {
  m.attr("__version__") = CAFFE2RT_VERSION;
  nb::set_leak_warnings(false);  // functions of operators live as long as the process
  caffe2rt::NoteMainThread();
  caffe2rt::BindErrors(m);
  caffe2rt::BindWorkspace(m);
  caffe2rt::BindModel(m);
  caffe2rt::BindOperators(m);
  caffe2rt::BindTools(m);
  caffe2rt::BindFrontend(m);
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { caffe2rt::StopAllRuns(); }));
}
