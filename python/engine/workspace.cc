#include "python/engine/workspace.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "python/engine/arrays.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

void Feed(Workspace& ws, const Text& name, nb::handle value) {
  FeedArray(value, nullptr, ws.CreateBlob(name.str()));
}

nb::object Fetch(const Workspace& ws, const Text& name) {
  const std::shared_ptr<Blob> blob = ws.FindBlob(name.str());
  if (blob == nullptr) throw nb::key_error(name.str().c_str());
  return FetchBlob(name.str(), *blob);
}

}  // namespace

void BindWorkspace(nb::module_& m) {
  nb::class_<Workspace>(m, "Workspace")
      .def(nb::init<>())
      .def("__setitem__", &Feed, nb::arg("name"), nb::arg("value").none())
      .def("__getitem__", &Fetch, nb::arg("name"))
      .def("run_net_once", [](Workspace& ws, const Text& net) {
        const auto def = Parsed<NetDef>(net, "net");
        RunWithoutLock([&] { return ws.RunNetOnce(def); });
      });
}

}  // namespace caffe2rt
