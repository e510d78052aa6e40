#include "python/engine/frontend_workspaces.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>

#include "caffe2_core/base/mutex.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/numa.h"
#include "python/engine/arrays.h"
#include "python/engine/dlpack.h"
#include "python/engine/frontend_tensors.h"
#include "python/engine/runs.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr char kDefaultName[] = "default";

// The table. Never destroyed: operators of Python must not be destroyed after the interpreter.
struct Workspaces {
  std::map<std::string, FrontendWorkspace> by_name;
  std::string current_name;
  FrontendWorkspace named_current;  // what `Workspace.current` returns
  FrontendWorkspace current;        // what the functions use
};

Workspaces& TheWorkspaces() {
  static auto* const table = new Workspaces;
  return *table;
}

// A workspace with the parent that it must not outlive: members are destroyed in reverse order.
struct Owned {
  FrontendWorkspace parent;
  Workspace workspace;
};

// The workspaces that Python created, by address.
struct Owners {
  Mutex mutex;
  std::map<const Workspace*, std::weak_ptr<Workspace>> by_address ABSL_GUARDED_BY(mutex);
};

Owners& TheOwners() {
  static auto* const owners = new Owners;
  return *owners;
}

// Destroying a workspace may wait for threads that need the interpreter's lock.
void DestroyUnlocked(Owned* owned) {
  {
    const MutexLock lock(TheOwners().mutex);
    TheOwners().by_address.erase(&owned->workspace);
  }
  if (!nb::is_alive()) {
    delete owned;
    return;
  }
  // The calling thread may have the lock or not, which the stable ABI does not tell. Now it has.
  const nb::gil_scoped_acquire locked;
  const nb::gil_scoped_release unlocked;
  delete owned;
}

FrontendWorkspace Share(Owned* owned) {
  const std::shared_ptr<Owned> holder(owned, DestroyUnlocked);
  const std::shared_ptr<Workspace> workspace(holder, &owned->workspace);
  const MutexLock lock(TheOwners().mutex);
  TheOwners().by_address[workspace.get()] = workspace;
  return {workspace};
}

void MakeCurrent(const std::string& name, const FrontendWorkspace& ws) {
  Workspaces& table = TheWorkspaces();
  table.current_name = name;
  table.current = table.named_current = ws;
}

void SwitchWorkspace(const Text& name, std::optional<bool> create) {
  Workspaces& table = TheWorkspaces();
  auto found = table.by_name.find(name.str());
  if (found == table.by_name.end()) {
    CAFFE_ENFORCE(create.value_or(false), "Workspace ", name.view,
                  " does not exist; pass True as the second argument to create it");
    found = table.by_name.emplace(name.str(), NewWorkspace(".")).first;
  }
  MakeCurrent(found->first, found->second);
}

bool ResetWorkspace(std::optional<Text> root_folder) {
  Workspaces& table = TheWorkspaces();
  // The old workspace is destroyed first, as in Caffe2: databases that it holds are closed.
  const std::string name = table.current_name;
  table.by_name.erase(name);
  table.current = table.named_current = {};
  const FrontendWorkspace fresh = NewWorkspace(root_folder ? root_folder->str() : ".");
  table.by_name[name] = fresh;
  MakeCurrent(name, fresh);
  return true;
}

void OnModuleExit() {
  StopBackgroundPlans();
  StopAllRuns();
  Workspaces& table = TheWorkspaces();
  table.current = table.named_current = {};
  table.by_name.clear();
}

std::vector<std::string> WorkspaceNames() {
  std::vector<std::string> names;
  for (const auto& [name, ws] : TheWorkspaces().by_name) names.push_back(name);
  return names;
}

size_t SizeOfBlob(const Blob& blob) {
  const Tensor* const tensor = FindTensor(blob);
  if (tensor != nullptr) return tensor->nbytes();
  if (blob.IsType<std::string>()) return blob.Get<std::string>().size();
  return 0;
}

struct FrontendBlob {
  std::shared_ptr<Blob> shared;
  Blob* operator->() const { return shared.get(); }
};

FrontendTensor TensorOf(const FrontendBlob& blob) {
  blob->GetMutableTensor(CPU);
  return FrontendTensor(blob.shared);
}

std::map<std::string, FrontendBlob> BlobsOf(const Workspace& ws) {
  std::map<std::string, FrontendBlob> blobs;
  for (const std::string& name : ws.Blobs()) {
    std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob != nullptr) blobs[name] = {std::move(blob)};
  }
  return blobs;
}

FrontendBlob CreatedBlob(const FrontendWorkspace& ws, const std::string& name) {
  ws->CreateBlob(name);
  return {BlobOf(*ws.shared, name)};
}

void BindBlob(nb::module_& m) {
  nb::class_<FrontendBlob>(m, "Blob")
      .def("serialize",
           [](const FrontendBlob& self, const Text& name) {
             return Bytes(SerializeBlob(*self.shared, name.str()));
           })
      .def("deserialize",
           [](const FrontendBlob& self, const Text& bytes) {
             DeserializeBlob(bytes.str(), self.shared.get());
           })
      .def("fetch", [](const FrontendBlob& self) { return FetchBlob("", *self.shared); })
      .def("tensor", &TensorOf)
      .def("is_tensor", [](const FrontendBlob& self) { return self->IsType<Tensor>(); })
      .def("as_tensor",
           [](const FrontendBlob& self) {
             CAFFE_ENFORCE(self->IsType<Tensor>(), "the blob holds no tensor, but ",
                           self->IsEmpty() ? "nothing" : self->TypeName());
             return FrontendTensor(self.shared);
           })
      .def(
          "_feed",
          [](const FrontendBlob& self, nb::handle value, nb::handle device_option) {
            return FeedBlob(value, device_option, self.shared.get());
          },
          nb::arg("arg").none(), nb::arg("device_option") = nb::none())
      .def("_wrap_tensor_impl",
           [](const FrontendBlob&, nb::handle) {
             CAFFE_THROW(
                 "a tensor of PyTorch cannot be wrapped by its handle; import "
                 "caffe2rt.frontend before caffe2, whose feed() goes through DLPack");
           })
      .def("_share_dlpack", [](const FrontendBlob& self, nb::handle capsule) {
        ShareDLPack(capsule, self->GetMutableTensor(CPU));
      });
}

nb::class_<FrontendWorkspace> BindWorkspace(nb::module_& m) {
  nb::class_<FrontendWorkspace> type(m, "Workspace");
  type.def("__init__",
           [](FrontendWorkspace* self) { new (self) FrontendWorkspace(NewWorkspace(".")); })
      .def("__init__",
           [](FrontendWorkspace* self, const FrontendWorkspace& parent) {
             new (self) FrontendWorkspace(NewChildWorkspace(parent));
           })
      .def_prop_ro("blobs", [](const FrontendWorkspace& self) { return BlobsOf(*self.shared); })
      .def("create_blob", [](const FrontendWorkspace& self,
                             const Text& name) { return CreatedBlob(self, name.str()); })
      .def("fetch_blob",
           [](const FrontendWorkspace& self, const Text& name) {
             return FetchBlob(name.str(), *BlobOf(*self.shared, name.str()));
           })
      .def("has_blob", [](const FrontendWorkspace& self,
                          const Text& name) { return self->HasBlob(name.str()); })
      .def("_remove_blob", [](const FrontendWorkspace& self,
                              const Text& name) { return self->RemoveBlob(name.str()); })
      .def("_last_failed_op_net_position",
           [](const FrontendWorkspace& self) { return self->last_failed_op_net_position.load(); })
      .def_prop_ro_static("current", [](nb::handle) { return TheWorkspaces().named_current; });
  return type;
}

void BindTable(nb::module_& m) {
  m.def("switch_workspace", &SwitchWorkspace, nb::arg("name"),
        nb::arg("create_if_missing") = nb::none());
  m.def(
      "switch_workspace",
      [](const FrontendWorkspace& ws, nb::handle) { TheWorkspaces().current = ws; },
      nb::arg("workspace"), nb::arg("create_if_missing") = nb::none());
  m.def("create_child_workspace", [](const Text& parent, const Text& child) {
    Workspaces& table = TheWorkspaces();
    const auto found = table.by_name.find(parent.str());
    CAFFE_ENFORCE(found != table.by_name.end(), "Parent workspace ", parent.view,
                  " does not exist");
    CAFFE_ENFORCE(table.by_name.count(child.str()) == 0, "Workspace ", child.view,
                  " exists already");
    table.by_name[child.str()] = NewChildWorkspace(found->second);
    MakeCurrent(child.str(), table.by_name[child.str()]);
    return true;
  });
  m.def("reset_workspace", &ResetWorkspace, nb::arg("root_folder") = nb::none());
  m.def("root_folder", [] { return CurrentWorkspace()->RootFolder(); });
  m.def("current_workspace", [] { return TheWorkspaces().current_name; });
  m.def("workspaces", &WorkspaceNames);
  m.def("on_module_exit", &OnModuleExit);
}

void BindBlobFunctions(nb::module_& m) {
  m.def("blobs", [] { return CurrentWorkspace()->Blobs(); });
  m.def("local_blobs", [] { return CurrentWorkspace()->LocalBlobs(); });
  m.def("has_blob", [](const Text& name) { return CurrentWorkspace()->HasBlob(name.str()); });
  m.def("create_blob", [](const Text& name) {
    CurrentWorkspace()->CreateBlob(name.str());
    return true;
  });
  m.def("reset_blob",
        [](const Text& name) { BlobOf(*CurrentWorkspace().shared, name.str())->Reset(); });
  m.def("fetch_blob", [](const Text& name) {
    return FetchBlob(name.str(), *BlobOf(*CurrentWorkspace().shared, name.str()));
  });
  m.def(
      "feed_blob",
      [](const Text& name, nb::handle value, nb::handle device_option) {
        const FrontendBlob blob = CreatedBlob(CurrentWorkspace(), name.str());
        return FeedBlob(value, device_option, blob.shared.get());
      },
      nb::arg("name"), nb::arg("arg").none(), nb::arg("device_option") = nb::none());
  m.def("serialize_blob", [](const Text& name) {
    return Bytes(SerializeBlob(*BlobOf(*CurrentWorkspace().shared, name.str()), name.str()));
  });
  m.def("deserialize_blob", [](const Text& name, const Text& bytes) {
    DeserializeBlob(bytes.str(), CreatedBlob(CurrentWorkspace(), name.str()).shared.get());
  });
  m.def("get_blob_size_bytes", [](const Text& name) {
    return SizeOfBlob(*BlobOf(*CurrentWorkspace().shared, name.str()));
  });
  m.def("get_blob_numa_node", [](const Text& name) {
    const std::shared_ptr<Blob> blob = BlobOf(*CurrentWorkspace().shared, name.str());
    return GetNUMANode(BlobGetTensor(*blob, CPU).raw_data());
  });
  m.def(
      "create_offline_tensor",
      [](const Text& name, const std::vector<int64_t>& dims, int type) {
        Tensor* const tensor = CurrentWorkspace()->CreateBlob(name.str())->GetMutableTensor(CPU);
        // Such a tensor states its shape and type, and has no elements.
        tensor->Resize(std::vector<int64_t>(dims.size(), 0));
        tensor->raw_mutable_data(DataTypeToTypeMeta(static_cast<int64_t>(type)));
        tensor->Resize(dims);
        return true;
      },
      nb::arg("name"), nb::arg("dims"), nb::arg("datatype") = static_cast<int>(TensorProto::FLOAT));
}

}  // namespace

const FrontendWorkspace& CurrentWorkspace() {
  const FrontendWorkspace& current = TheWorkspaces().current;
  CAFFE_ENFORCE(current.shared != nullptr,
                "there is no current workspace: the interpreter exits, or the workspace was reset");
  return current;
}

FrontendWorkspace SharedWorkspace(Workspace* ws) {
  {
    const MutexLock lock(TheOwners().mutex);
    const auto found = TheOwners().by_address.find(ws);
    if (found != TheOwners().by_address.end()) {
      if (std::shared_ptr<Workspace> owned = found->second.lock()) return {std::move(owned)};
    }
  }
  return {std::shared_ptr<Workspace>(ws, [](Workspace*) {})};
}

FrontendWorkspace NewWorkspace(const std::string& root_folder) {
  return Share(new Owned{{}, Workspace(root_folder)});
}

FrontendWorkspace NewChildWorkspace(const FrontendWorkspace& parent) {
  return Share(new Owned{parent, Workspace(parent.shared.get())});
}

std::shared_ptr<Blob> BlobOf(const Workspace& ws, const std::string& name) {
  std::shared_ptr<Blob> blob = ws.FindBlob(name);
  CAFFE_ENFORCE(blob != nullptr, "Can't find blob: ", name);
  return blob;
}

bool FeedBlob(nb::handle value, nb::handle device_option, Blob* blob) {
  DeviceOption option;
  if (!device_option.is_none())
    option = Parsed<DeviceOption>(nb::cast<Text>(device_option), "device option");
  if (PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr())) {
    *blob->GetMutable<std::string>() = nb::cast<Text>(value).str();
    return true;
  }
  CAFFE_ENFORCE(IsNumpyArray(value),
                "Unexpected type of argument - only numpy array or string are supported for "
                "feeding; got ",
                nb::type_name(value.type()).c_str());
  FeedArray(value, device_option.is_none() ? nullptr : &option, blob);
  return true;
}

void BindFrontendWorkspaces(nb::module_& m) {
  BindBlob(m);
  nb::class_<FrontendWorkspace> workspace = BindWorkspace(m);
  BindTable(m);
  BindBlobFunctions(m);
  BindFrontendNets(m, workspace);
  TheWorkspaces().by_name[kDefaultName] = NewWorkspace(".");
  MakeCurrent(kDefaultName, TheWorkspaces().by_name[kDefaultName]);
}

}  // namespace caffe2rt
