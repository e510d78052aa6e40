// Registries, schemas, gradients and inference for the front end.
#include "python/engine/frontend_operators.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

#include "caffe2_core/base/suggest.h"
#include "caffe2_core/device/device_type.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "python/engine/frontend_workspaces.h"
#include "python/engine/text.h"

namespace caffe2rt {
namespace {

namespace nb = nanobind;

constexpr int kNearbyEdits = 3;

std::vector<std::string> RegistryKeys() {
  EnsureBuiltinOperators();
  std::set<std::string> keys;
  for (int device = 0; device < kMaxDeviceTypes; ++device) {
    for (std::string& key : OperatorRegistryOf(static_cast<DeviceType>(device))->Keys()) {
      keys.insert(std::move(key));
    }
  }
  return {keys.begin(), keys.end()};
}

std::vector<std::string> NearbyNames(const Text& name) {
  EnsureBuiltinOperators();
  std::vector<std::string> near;
  for (const std::string& key : CPUOperatorRegistry()->Keys()) {
    if (EditDistance(name.str(), key, kNearbyEdits) <= kNearbyEdits) near.push_back(key);
  }
  return near;
}

// --- engine preferences ---

using EngineLists = std::map<int, std::vector<Text>>;
using EngineListsByOp = std::map<int, std::map<Text, std::vector<Text>>>;

GlobalEnginePrefType GlobalPreferences(const EngineLists& lists) {
  GlobalEnginePrefType preferences;
  for (const auto& [device, engines] : lists) preferences[device] = Strings(engines);
  return preferences;
}

PerOpEnginePrefType PerOpPreferences(const EngineListsByOp& lists) {
  PerOpEnginePrefType preferences;
  for (const auto& [device, ops] : lists) {
    for (const auto& [op, engines] : ops) preferences[device][op.str()] = Strings(engines);
  }
  return preferences;
}

void BindRegistry(nb::module_& m) {
  m.def("registered_operators", &RegistryKeys);
  m.def("nearby_opnames", &NearbyNames);
  m.def("op_registry_key", [](const Text& op_type, const Text& engine) {
    return OpRegistryKey(op_type.view, engine.view);
  });
  m.def("set_per_op_engine_pref",
        [](const EngineListsByOp& lists) { SetPerOpEnginePref(PerOpPreferences(lists)); });
  m.def("set_global_engine_pref",
        [](const EngineLists& lists) { SetGlobalEnginePref(GlobalPreferences(lists)); });
  m.def("set_engine_pref", [](const EngineListsByOp& per_op, const EngineLists& global) {
    SetEnginePref(PerOpPreferences(per_op), GlobalPreferences(global));
  });
  m.def("set_op_engine_pref", [](const Text& op_type, const EngineLists& lists) {
    SetOpEnginePref(op_type.str(), GlobalPreferences(lists));
  });
}

// --- schemas ---

// A schema lives as long as the process.
struct FrontendSchema {
  const OpSchema* schema;
  const OpSchema* operator->() const { return schema; }
};

// Whether the schema allows these numbers together. Its check of an operator is the one place that
// knows; an operator that fails it for another reason has allowed numbers.
bool CountsAllowed(const OpSchema& schema, int in, int out) {
  if (!schema.num_inputs_allowed(in) || !schema.num_outputs_allowed(out)) return false;
  OperatorDef def;
  def.set_type(schema.type());
  for (int i = 0; i < in; ++i) def.add_input(MakeString("in", i));
  for (int i = 0; i < out; ++i) def.add_output(MakeString("out", i));
  std::string why;
  return schema.Verify(def, &why) || why.find("it has ") != 0;
}

using NamedDoc = std::pair<std::string, std::string>;

std::vector<NamedDoc> Pairs(const std::vector<OpSchema::NamedDoc>& docs) {
  std::vector<NamedDoc> pairs;
  for (const OpSchema::NamedDoc& doc : docs) pairs.emplace_back(doc.name, doc.doc);
  return pairs;
}

std::optional<FrontendSchema> FindSchema(const Text& name) {
  const OpSchema* const schema = OpSchemaRegistry::Schema(name.str());
  if (schema == nullptr) return std::nullopt;
  return FrontendSchema{schema};
}

std::optional<std::string> Implementation(DeviceType device, const Text& name) {
  EnsureBuiltinOperators();
  const OperatorRegistry& registry = *OperatorRegistryOf(device);
  if (!registry.Has(name.str())) return std::nullopt;
  const std::string help = registry.HelpMessage(name.str());
  return help.empty() ? registry.File(name.str()) : help;
}

std::optional<std::string> GradientImplementation(const Text& name) {
  if (!GradientRegistry()->Has(name.str())) return std::nullopt;
  const std::string help = GradientRegistry()->HelpMessage(name.str());
  return help.empty() ? GradientRegistry()->File(name.str()) : help;
}

std::vector<nb::bytes> InferTensor(const FrontendSchema& self, const Text& op,
                                   const std::vector<Text>& shapes) {
  std::vector<nb::bytes> outputs;
  for (const TensorShape& shape : self->InferTensor(Parsed<OperatorDef>(op, "operator"),
                                                    ParsedAll<TensorShape>(shapes, "shape"))) {
    outputs.push_back(Serialized(shape));
  }
  return outputs;
}

void BindSchemaProperties(nb::class_<FrontendSchema>& type) {
  type.def_prop_ro("file", [](const FrontendSchema& self) { return self->file(); })
      .def_prop_ro("line", [](const FrontendSchema& self) { return self->line(); })
      .def_prop_ro("private", [](const FrontendSchema& self) { return self->is_private(); })
      .def_prop_ro("doc", [](const FrontendSchema& self) { return self->doc(); })
      .def_prop_ro("args", [](const FrontendSchema& self) { return self->args(); })
      .def_prop_ro("input_desc",
                   [](const FrontendSchema& self) { return Pairs(self->input_docs()); })
      .def_prop_ro("output_desc",
                   [](const FrontendSchema& self) { return Pairs(self->output_docs()); })
      .def_prop_ro("min_input", [](const FrontendSchema& self) { return self->min_input(); })
      .def_prop_ro("max_input", [](const FrontendSchema& self) { return self->max_input(); })
      .def_prop_ro("min_output", [](const FrontendSchema& self) { return self->min_output(); })
      .def_prop_ro("max_output", [](const FrontendSchema& self) { return self->max_output(); })
      .def_prop_ro("inf", [](const FrontendSchema&) { return OpSchema::inf(); });
}

void BindSchemas(nb::module_& m) {
  nb::class_<FrontendSchema> type(m, "OpSchema");
  nb::class_<OpSchema::Argument>(type, "Argument")
      .def_prop_ro("name", [](const OpSchema::Argument& self) { return self.name; })
      .def_prop_ro("description", [](const OpSchema::Argument& self) { return self.doc; })
      .def_prop_ro("required", [](const OpSchema::Argument& self) { return self.required; });
  BindSchemaProperties(type);
  type.def("infer_tensor", &InferTensor)
      .def("CalculateOutput",
           [](const FrontendSchema& self, int inputs) { return self->CalculateOutput(inputs); })
      .def("inplace_enforced", [](const FrontendSchema& self, int in,
                                  int out) { return self->inplace_enforced(in, out); })
      .def("num_inputs_allowed",
           [](const FrontendSchema& self, int n) { return self->num_inputs_allowed(n); })
      .def("num_outputs_allowed",
           [](const FrontendSchema& self, int n) { return self->num_outputs_allowed(n); })
      .def("num_inputs_outputs_allowed",
           [](const FrontendSchema& self, int in, int out) {
             return CountsAllowed(*self.schema, in, out);
           })
      .def_static("get", &FindSchema)
      .def_static("get_cpu_impl", [](const Text& name) { return Implementation(CPU, name); })
      .def_static("get_cuda_impl", [](const Text& name) { return Implementation(CUDA, name); })
      .def_static("get_gradient_impl", &GradientImplementation);
}

// --- gradients ---

std::pair<std::vector<nb::bytes>, std::vector<GradientWrapper>> GradientDefs(
    const Text& op, const std::vector<GradientWrapper>& output_gradients) {
  const OperatorDef def = Parsed<OperatorDef>(op, "operator");
  CAFFE_ENFORCE(GradientRegistry()->Has(def.type()), "No gradient registered for ", def.type());
  const GradientOpsMeta meta = GetGradientForOp(def, output_gradients);
  std::vector<nb::bytes> ops;
  for (const OperatorDef& gradient : meta.ops_) ops.push_back(Serialized(gradient));
  return {std::move(ops), meta.g_input_};
}

void BindGradients(nb::module_& m) {
  nb::class_<GradientWrapper>(m, "GradientWrapper")
      .def(nb::init<>())
      .def_prop_rw(
          "dense", [](const GradientWrapper& self) { return self.dense_; },
          [](GradientWrapper& self, const Text& name) { self.dense_ = name.str(); })
      .def_prop_rw(
          "indices", [](const GradientWrapper& self) { return self.indices_; },
          [](GradientWrapper& self, const Text& name) { self.indices_ = name.str(); })
      .def_prop_rw(
          "values", [](const GradientWrapper& self) { return self.values_; },
          [](GradientWrapper& self, const Text& name) { self.values_ = name.str(); })
      .def("is_sparse", &GradientWrapper::IsSparse)
      .def("is_dense", &GradientWrapper::IsDense)
      .def("is_empty", &GradientWrapper::IsEmpty);
  m.def("get_gradient_defs", &GradientDefs);
}

// --- inference ---

template <class Infer>
nb::bytes WithNets(const std::vector<Text>& nets, const Infer& infer) {
  std::vector<NetDef> defs = ParsedAll<NetDef>(nets, "net");
  std::vector<NetDef*> pointers;
  for (NetDef& def : defs) pointers.push_back(&def);
  return Serialized(infer(pointers));
}

nb::bytes InferFromWorkspace(const std::vector<Text>& nets) {
  return WithNets(nets, [](const std::vector<NetDef*>& defs) {
    return InferBlobShapesAndTypesFromWorkspace(CurrentWorkspace().shared.get(), defs);
  });
}

using Dimensions = std::map<Text, std::vector<int64_t>>;

nb::bytes InferFromMap(const std::vector<Text>& nets, const Dimensions& dimensions,
                       const std::optional<std::map<Text, int>>& types) {
  std::unordered_map<std::string, std::vector<int64_t>> dims_of;
  for (const auto& [blob, dims] : dimensions) dims_of[blob.str()] = dims;
  std::unordered_map<std::string, TensorProto_DataType> type_of;
  if (types) {
    for (const auto& [blob, type] : *types) {
      CAFFE_ENFORCE(TensorProto_DataType_IsValid(type), "blob \"", blob.view, "\" has data type ",
                    type, ", which TensorProto does not have");
      type_of[blob.str()] = static_cast<TensorProto_DataType>(type);
    }
  }
  return WithNets(nets, [&](const std::vector<NetDef*>& defs) {
    return types ? InferBlobShapesAndTypesFromMap(dims_of, type_of, defs)
                 : InferBlobShapesAndTypesFromMap(dims_of, defs);
  });
}

std::pair<uint64_t, uint64_t> OperatorCost(const Text& op, const std::vector<Text>& blobs) {
  const OperatorDef def = Parsed<OperatorDef>(op, "operator");
  const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
  CAFFE_ENFORCE(schema != nullptr, "operator type \"", def.type(), "\" has no schema");
  std::vector<TensorShape> shapes;
  for (const Text& blob : blobs) {
    shapes.push_back(GetTensorShapeOfBlob(BlobOf(*CurrentWorkspace().shared, blob.str()).get()));
  }
  const OpSchema::Cost cost = schema->InferCost(def, shapes);
  return {cost.flops, cost.bytes_moved};
}

std::pair<std::vector<nb::bytes>, std::vector<nb::bytes>> InferDevices(const Text& op) {
  const auto [inputs, outputs] = InferOpInputOutputDevice(Parsed<OperatorDef>(op, "operator"));
  std::pair<std::vector<nb::bytes>, std::vector<nb::bytes>> result;
  for (const DeviceOption& option : inputs) result.first.push_back(Serialized(option));
  for (const DeviceOption& option : outputs) result.second.push_back(Serialized(option));
  return result;
}

void BindInference(nb::module_& m) {
  m.def("infer_shapes_and_types_from_workspace", &InferFromWorkspace);
  m.def("infer_shapes_and_types_from_map", &InferFromMap, nb::arg("nets"),
        nb::arg("blob_dimensions"), nb::arg("blob_types") = nb::none());
  m.def("infer_op_input_output_device", &InferDevices);
  m.def("get_operator_cost", &OperatorCost);
}

}  // namespace

void BindFrontendOperators(nb::module_& m) {
  BindRegistry(m);
  BindSchemas(m);
  BindGradients(m);
  BindInference(m);
}

}  // namespace caffe2rt
