#include "python/engine/workspace.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
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
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) {
    std::string text = TextOf(value);
    *ws.CreateBlob(name)->GetMutable<std::string>() = std::move(text);
    return;
  }
  if (!IsNumpyArray(value)) {
    Tensor copy = TensorOf(value).Clone();  // the workspace may write the blob
    *ws.CreateBlob(name)->GetMutableTensor(CPU) = std::move(copy);
    return;
  }
  const bool is_new = !ws.HasBlob(name);
  try {
    FeedArray(value, nullptr, ws.CreateBlob(name));
  } catch (...) {
    if (is_new) ws.RemoveBlob(name);
    throw;
  }
}

nb::object Get(const Workspace& ws, const std::string& name, const nb::object& otherwise) {
  const std::shared_ptr<Blob> blob = ws.FindBlob(name);
  return blob == nullptr ? otherwise : FetchBlob(name, *blob);
}

nb::object Fetch(const Workspace& ws, const std::string& name) {
  const std::shared_ptr<Blob> blob = ws.FindBlob(name);
  if (blob == nullptr) throw nb::key_error(name.c_str());
  return FetchBlob(name, *blob);
}

nb::list Values(const Workspace& ws) {
  nb::list values;
  for (const std::string& name : ws.Blobs()) values.append(Fetch(ws, name));
  return values;
}

nb::list Items(const Workspace& ws) {
  nb::list items;
  for (const std::string& name : ws.Blobs()) items.append(nb::make_tuple(name, Fetch(ws, name)));
  return items;
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
  RunWithoutLock([&] {
    CAFFE_ENFORCE(ws->CreateNet(def, overwrite) != nullptr, "net \"", def.name(), "\" has type \"",
                  def.type(), "\", which is not known");
  });
  return {ws, def.name()};
}

std::string Repr(const Workspace& ws) {
  return MakeString("<caffe2rt.Workspace: ", CountText(ws.Blobs().size(), "blob"), ", ",
                    CountText(ws.Nets().size(), "net"), ">");
}

}  // namespace

void BindWorkspace(nb::module_& m) {
  nb::class_<WorkspaceNet>(m, "WorkspaceNet",
                           "A net that was created in a workspace: created once, run often.")
      .def("run", &WorkspaceNet::Run, nb::arg("runs") = 1,
           "Runs the net `runs` times; releases the interpreter's lock. Raises Error if an "
           "operator fails.")
      .def("cancel", &WorkspaceNet::Cancel, "Stops the run in progress on another thread.")
      .def("__repr__", &WorkspaceNet::Repr)
      .def_prop_ro("name", &WorkspaceNet::name, "The name of the net, a str.");
  nb::class_<Workspace>(m, "Workspace",
                        R"(Named blobs and nets: a mapping from names to numpy arrays.

ws["x"] = array copies an array (or bytes) into the blob "x", ws["x"] copies it out.)")
      .def(nb::init<const std::string&>(), nb::arg("root") = ".",
           "root: the folder in which operators look for files with relative paths.")
      .def("__setitem__", &Feed, nb::arg("name"), nb::arg("value").none(),
           "Copies a value into the blob: an array of any shape, an object with __dlpack__, what "
           "numpy.asarray accepts, or a text (str or bytes).")
      .def("__getitem__", &Fetch, nb::arg("name"),
           "A new array with the shape and the type of the blob's tensor, or bytes if it holds a "
           "text. "
           "Raises KeyError if there is no such blob.")
      .def("__delitem__", &Remove, nb::arg("name"), "Removes the blob, or raises KeyError.")
      .def("get", &Get, nb::arg("name"), nb::arg("default") = nb::none(),
           "What ws[name] gives, or `default` if there is no such blob.")
      .def("keys", &Workspace::Blobs, "The names of the blobs, a list of str.")
      .def("values", &Values, "What ws[name] gives for each blob, a list.")
      .def("items", &Items, "A list of pairs (name, ws[name]).")
      .def("__contains__",
           [](const Workspace& ws, const std::string& name) { return ws.HasBlob(name); })
      .def("__len__", [](const Workspace& ws) { return ws.Blobs().size(); })
      .def("__iter__", [](const Workspace& ws) { return nb::iter(nb::cast(ws.Blobs())); })
      .def("__repr__", &Repr)
      .def("run", &RunMessage, nb::arg("net"),
           "Runs a net, an operator or a plan once: bytes, a message of protobuf, a text NetDef, "
           "or what op() and Net "
           "make. Ctrl-C ends it. Releases the interpreter's lock.")
      .def(
          "net", &CreateNetIn, nb::arg("net"), nb::arg("overwrite") = false,
          "Creates a net from what run() takes; returns a WorkspaceNet. A name that is taken is an "
          "error, unless `overwrite` is true.")
      .def_prop_ro("nets", &Workspace::Nets, "Names of the nets, a list of str.");
}

}  // namespace caffe2rt
