#include "python/engine/workspace.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "python/engine/arrays.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"
#include "python/engine/values.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// A net of a workspace. Holds the workspace.
class WorkspaceNet {
 public:
  WorkspaceNet(std::shared_ptr<Workspace> ws, std::string name)
      : ws_(std::move(ws)), name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  void Run(int64_t runs) const {
    RunWithoutLock([&] {
      for (int64_t i = 0; i < runs; ++i) {
        CAFFE_ENFORCE(ws_->RunNet(name_), "an operator of net \"", name_, "\" returned false");
      }
    });
  }
  void Cancel() const {
    NetBase* const net = ws_->GetNet(name_);
    CAFFE_ENFORCE(net != nullptr, "net \"", name_, "\" was deleted");
    net->Cancel();
  }
  std::string Repr() const { return "<caffe2rt net \"" + name_ + "\" of a workspace>"; }

 private:
  const std::shared_ptr<Workspace> ws_;
  const std::string name_;
};

void Feed(Workspace& ws, const std::string& name, nb::handle value) {
  Blob* const blob = ws.CreateBlob(name);
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) {
    const Text text = nb::cast<Text>(value);
    *blob->GetMutable<std::string>() = text.str();
    return;
  }
  if (IsNumpyArray(value)) {
    FeedArray(value, nullptr, blob);
    return;
  }
  // A copy: the workspace may write the blob.
  *blob->GetMutableTensor(CPU) = TensorOf(value).Clone();
}

nb::object Fetch(const Workspace& ws, const std::string& name) {
  const std::shared_ptr<Blob> blob = ws.FindBlob(name);
  if (blob == nullptr) throw nb::key_error(name.c_str());
  return FetchBlob(name, *blob);
}

void Remove(Workspace& ws, const std::string& name) {
  if (!ws.RemoveBlob(name)) throw nb::key_error(name.c_str());
}

void RunMessage(Workspace& ws, nb::handle message) {
  if (IsPlan(message)) {
    const PlanDef plan = PlanOf(message);
    RunWithoutLock([&] { CAFFE_ENFORCE(ws.RunPlan(plan), "plan \"", plan.name(), "\" failed"); });
    return;
  }
  const NetDef net = NetOf(message);
  RunWithoutLock([&] {
    CAFFE_ENFORCE(ws.RunNetOnce(net), "an operator of net \"", net.name(), "\" returned false");
  });
}

WorkspaceNet CreateNetIn(const std::shared_ptr<Workspace>& ws, nb::handle message, bool overwrite) {
  const NetDef def = NetOf(message);
  const NetBase* const net = RunWithoutLock([&] { return ws->CreateNet(def, overwrite); });
  return {ws, net->Name()};
}

std::string Repr(const Workspace& ws) {
  return MakeString("<caffe2rt.Workspace: ", ws.Blobs().size(), " blobs, ", ws.Nets().size(),
                    " nets>");
}

}  // namespace

void BindWorkspace(nb::module_& m) {
  nb::class_<WorkspaceNet>(m, "WorkspaceNet",
                           "A net that was created in a workspace: created once, run often.")
      .def("run", &WorkspaceNet::Run, nb::arg("runs") = 1,
           "Runs the net; releases the interpreter's lock.")
      .def("cancel", &WorkspaceNet::Cancel, "Stops the run in progress on another thread.")
      .def("__repr__", &WorkspaceNet::Repr)
      .def_prop_ro("name", &WorkspaceNet::name);
  nb::class_<Workspace>(m, "Workspace",
                        R"(Named blobs and nets: a mapping from names to numpy arrays.

ws["x"] = array copies an array (or bytes) into the blob "x", ws["x"] copies it out.)")
      .def(nb::init<const std::string&>(), nb::arg("root") = ".")
      .def("__setitem__", &Feed, nb::arg("name"), nb::arg("value"))
      .def("__getitem__", &Fetch, nb::arg("name"))
      .def("__delitem__", &Remove, nb::arg("name"))
      .def("__contains__",
           [](const Workspace& ws, const std::string& name) { return ws.HasBlob(name); })
      .def("__len__", [](const Workspace& ws) { return ws.Blobs().size(); })
      .def("__iter__", [](const Workspace& ws) { return nb::iter(nb::cast(ws.Blobs())); })
      .def("__repr__", &Repr)
      .def("run", &RunMessage, nb::arg("net"),
           "Runs a net, an operator or a plan once: bytes, a message of protobuf, a text NetDef, "
           "or what op() and Net "
           "make. Ctrl-C ends it. Releases the interpreter's lock.")
      .def("net", &CreateNetIn, nb::arg("net"), nb::arg("overwrite") = false,
           "Creates a net, which its method run runs.")
      .def_prop_ro("nets", &Workspace::Nets, "Names of the nets.");
}

}  // namespace caffe2rt
