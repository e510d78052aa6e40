// Databases, flags and facts about the process and its devices.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/device/device_module.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/init.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "contexts/cpu/numa.h"
#include "python/engine/frontend_operators.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

// --- databases ---

// A cursor or a transaction with the database that it must not outlive.
template <class T>
struct OfDatabase {
  std::shared_ptr<db::DB> database;
  std::unique_ptr<T> object;
  T* operator->() const {
    CAFFE_ENFORCE(object != nullptr, "the database is closed");
    return object.get();
  }
};
using FrontendCursor = OfDatabase<db::Cursor>;
using FrontendTransaction = OfDatabase<db::Transaction>;

struct FrontendDB {
  std::shared_ptr<db::DB> shared;
  db::DB* operator->() const {
    CAFFE_ENFORCE(shared != nullptr, "the database is closed");
    return shared.get();
  }
};

void BindDatabases(nb::module_& m) {
  nb::class_<FrontendTransaction>(m, "Transaction")
      .def("put", [](const FrontendTransaction& self, const Text& key,
                     const Text& value) { self->Put(key.str(), value.str()); })
      .def("commit", [](const FrontendTransaction& self) { self->Commit(); });
  nb::class_<FrontendCursor>(m, "Cursor")
      .def("supports_seek", [](const FrontendCursor& self) { return self->SupportsSeek(); })
      .def("seek_to_first", [](const FrontendCursor& self) { self->SeekToFirst(); })
      .def("next", [](const FrontendCursor& self) { self->Next(); })
      .def("key", [](const FrontendCursor& self) { return Bytes(self->key()); })
      .def("value", [](const FrontendCursor& self) { return Bytes(self->value()); })
      .def("valid", [](const FrontendCursor& self) { return self->Valid(); });
  nb::enum_<db::Mode>(m, "Mode")
      .value("read", db::READ)
      .value("write", db::WRITE)
      .value("new", db::NEW)
      .export_values();
  nb::class_<FrontendDB>(m, "DB")
      .def("new_transaction",
           [](const FrontendDB& self) {
             return FrontendTransaction{self.shared, self->NewTransaction()};
           })
      .def("new_cursor",
           [](const FrontendDB& self) {
             return FrontendCursor{self.shared, self->NewCursor()};
           })
      .def("close", [](const FrontendDB& self) { self->Close(); });
  m.def("create_db", [](const Text& type, const Text& source, db::Mode mode) {
    return FrontendDB{db::OpenDB(type.str(), source.str(), mode)};
  });
  m.def("registered_dbs", [] { return db::Caffe2DBRegistry().Keys(); });
}

// --- the process ---

bool InitProcess(const std::vector<Text>& arguments) {
  std::vector<std::string> strings = Strings(arguments);
  std::vector<char*> pointers;
  for (std::string& argument : strings) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(strings.size());
  char** values = pointers.data();
  CAFFE_ENFORCE(GlobalInit(&count, &values), "Cannot initialize Caffe2");
  return true;
}

std::map<std::string, std::string> BuildOptions() {
  return {{"BUILD_TYPE", "Release"},
          {"CXX_COMPILER", __VERSION__},
          {"USE_CUDA", LoadDeviceModule(CUDA) != nullptr ? "1" : "0"},
          {"USE_LEVELDB", "1"},
          {"USE_LMDB", "1"},
          {"USE_MKLDNN", "1"},
          {"USE_NUMA", "1"},
          {"USE_OPENMP", "0"}};
}

void BindProcess(nb::module_& m) {
#if defined(__SANITIZE_ADDRESS__)
  m.attr("is_asan") = true;
#else
  m.attr("is_asan") = false;
#endif
  // The front end's tests for MKL-DNN need operators of MKLMemory and of the IDEEP device.
  m.attr("has_mkldnn") = false;
  m.attr("use_mkldnn") = false;
  m.attr("has_fbgemm") = false;
  m.attr("use_trt") = false;
  m.attr("use_rocm") = false;
  m.attr("define_caffe2_no_operator_schema") = false;
  m.def("global_init", &InitProcess);
  m.def("get_build_options", &BuildOptions);
  m.def("get_stats", [] {
    const ExportedStatMap stats = toMap(StatRegistry::get().publish());
    return std::map<std::string, int64_t>(stats.begin(), stats.end());
  });
  m.def("builtin_cpu_supports_avx2", [] { return CpuIsa() != Isa::kPlain; });
  m.def("is_numa_enabled", &IsNUMAEnabled);
  m.def("get_num_numa_nodes", &GetNumNUMANodes);
}

// --- CUDA ---

DeviceDescription DescribeCuda() {
  const DeviceModule* const module = LoadDeviceModule(CUDA);
  if (module == nullptr || module->describe == nullptr ||
      FindDevice(CUDA).state != DeviceState::kReady) {
    return {};
  }
  return module->describe();
}

nb::dict DeviceProperties(int id) {
  const DeviceDescription description = DescribeCuda();
  CAFFE_ENFORCE(id >= 0 && static_cast<size_t>(id) < description.devices.size(), "CUDA device ", id,
                " does not exist; the machine has ", description.devices.size());
  const DeviceDescription::Device& device = description.devices[static_cast<size_t>(id)];
  nb::dict properties;
  properties["name"] = device.name;
  properties["totalGlobalMem"] = device.memory_bytes;
  for (const DeviceDescription::Fact& fact : device.facts) {
    properties[fact.key.c_str()] = fact.value;
    if (fact.key != "compute_capability") continue;
    const size_t dot = fact.value.find('.');
    properties["major"] = std::stoi(fact.value);
    properties["minor"] = dot == std::string::npos ? 0 : std::stoi(fact.value.substr(dot + 1));
  }
  return properties;
}

void BindCuda(nb::module_& m) {
  m.def("num_cuda_devices", [] { return DescribeCuda().devices.size(); });
  m.def("get_device_properties", &DeviceProperties);
  m.def("get_cuda_version", [] { return 0; });
  m.def("get_cudnn_version", [] { return 0; });
  m.attr("cudnn_convolution_fwd_algo_count") = 1;
  m.attr("cudnn_convolution_bwd_data_algo_count") = 1;
  m.attr("cudnn_convolution_bwd_filter_algo_count") = 1;
}

}  // namespace

void BindFrontendFacts(nb::module_& m) {
  BindDatabases(m);
  BindProcess(m);
  BindCuda(m);
}

}  // namespace caffe2rt
