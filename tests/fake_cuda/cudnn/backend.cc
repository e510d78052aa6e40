// The functions of the backend API. Statuses of wrong attributes and of descriptors that are not
// complete were recorded from NVIDIA's library.

#include "cudnn/backend.h"

#include <algorithm>

#include "cudnn/backend_engines.h"

// cudnnBackendDescriptor_t is a pointer to this.
struct BackendDescriptor {
  std::shared_ptr<fakecuda::BackendNode> node;
};

namespace fakecuda {
namespace {

// An attribute that a caller may set.
struct Rule {
  cudnnBackendDescriptorType_t of;
  cudnnBackendAttributeName_t name;
  cudnnBackendAttributeType_t type;
  int64_t most;  // values
};
constexpr auto kTensor = CUDNN_BACKEND_TENSOR_DESCRIPTOR;
constexpr auto kConvolution = CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR;
constexpr auto kPointwise = CUDNN_BACKEND_POINTWISE_DESCRIPTOR;
constexpr auto kForward = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
constexpr auto kBinary = CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR;
constexpr auto kGraph = CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR;
constexpr auto kHeuristics = CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR;
constexpr auto kEngine = CUDNN_BACKEND_ENGINE_DESCRIPTOR;
constexpr auto kConfig = CUDNN_BACKEND_ENGINECFG_DESCRIPTOR;
constexpr auto kPlan = CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR;
constexpr auto kPack = CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR;
constexpr auto kChild = CUDNN_TYPE_BACKEND_DESCRIPTOR;
constexpr int64_t kMostTensors = 64;
constexpr Rule kRules[] = {
    {kTensor, CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, 1},
    {kTensor, CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
    {kTensor, CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, 1},
    {kTensor, CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kTensor, CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kTensor, CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, 1},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, 1},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE, 1},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, 1},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kConvolution, CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, CUDNN_DIM_MAX},
    {kPointwise, CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, 1},
    {kPointwise, CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, CUDNN_TYPE_FLOAT, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, CUDNN_TYPE_FLOAT, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, kChild, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, kChild, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, kChild, 1},
    {kForward, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, kChild, 1},
    {kBinary, CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kChild, 1},
    {kBinary, CUDNN_ATTR_OPERATION_POINTWISE_XDESC, kChild, 1},
    {kBinary, CUDNN_ATTR_OPERATION_POINTWISE_BDESC, kChild, 1},
    {kBinary, CUDNN_ATTR_OPERATION_POINTWISE_YDESC, kChild, 1},
    {kGraph, CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, 1},
    {kGraph, CUDNN_ATTR_OPERATIONGRAPH_OPS, kChild, kMostTensors},
    {kHeuristics, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, kChild, 1},
    {kHeuristics, CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1},
    {kPlan, CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1},
    {kPlan, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, kChild, 1},
    {kPack, CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, kMostTensors},
    {kPack, CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, kMostTensors},
    {kPack, CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1},
};

size_t BytesOf(cudnnBackendAttributeType_t type) {
  switch (type) {
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_HANDLE:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
      return 1;
    default:
      return 4;  // float, and cuDNN's enumerations
  }
}

BackendDescriptor* Get(cudnnBackendDescriptor_t descriptor) {
  return static_cast<BackendDescriptor*>(descriptor);
}

cudnnStatus_t FindRule(const BackendNode& node, cudnnBackendAttributeName_t name,
                       cudnnBackendAttributeType_t type, const Rule** rule) {
  const auto* const found = std::find_if(std::begin(kRules), std::end(kRules), [&](const Rule& r) {
    return r.of == node.type && r.name == name;
  });
  if (found == std::end(kRules)) return CUDNN_STATUS_BAD_PARAM;
  *rule = found;
  return found->type == type ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
}

// The configuration of an engine for the graph of the heuristics.
std::shared_ptr<BackendNode> NewConfig(const BackendNode& heuristics, int engine) {
  auto config = std::make_shared<BackendNode>();
  config->type = kConfig;
  config->finalized = true;
  config->graph = heuristics.graph;
  config->engine = engine;
  config->attributes[CUDNN_ATTR_ENGINE_OPERATION_GRAPH] =
      heuristics.attributes.at(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  return config;
}

cudnnStatus_t FinalizeHeuristics(BackendNode* node) {
  const BackendNode* const graph = node->Child(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH);
  FAKECUDNN_NEED(graph != nullptr && node->Has(CUDNN_ATTR_ENGINEHEUR_MODE));
  if (graph->graph == nullptr) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  node->graph = graph->graph;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FinalizePlanNode(BackendNode* node) {
  const BackendNode* const config = node->Child(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG);
  if (config == nullptr || config->graph == nullptr) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  FAKECUDNN_NEED(node->Has(CUDNN_ATTR_EXECUTION_PLAN_HANDLE));
  node->graph = config->graph;
  node->engine = config->engine;
  return FinalizePlan(*node);
}

cudnnStatus_t Finalize(BackendNode* node) {
  switch (node->type) {
    case kTensor:
      return FinalizeTensor(*node);
    case kForward:
    case kBinary:
      return FinalizeOperation(*node);
    case kGraph:
      return FinalizeGraph(node);
    case kHeuristics:
      return FinalizeHeuristics(node);
    case kPlan:
      return FinalizePlanNode(node);
    case kConfig:  // the fake's come from heuristics
    case kEngine:
      return CUDNN_STATUS_NOT_SUPPORTED;
    default:
      return CUDNN_STATUS_SUCCESS;
  }
}

// Where GetAttribute writes.
struct Output {
  int64_t room;
  int64_t* count;
  void* values;
};

cudnnStatus_t Copy(const void* values, size_t size, int64_t count, const Output& to) {
  *to.count = to.room == 0 ? count : std::min(count, to.room);
  if (to.room == 0 || count == 0) return CUDNN_STATUS_SUCCESS;
  FAKECUDNN_NEED(to.values != nullptr);
  std::memcpy(to.values, values, size * static_cast<size_t>(*to.count));
  return CUDNN_STATUS_SUCCESS;
}

// Fills the caller's descriptors, which must be of the right type. Like cuDNN, announces one more
// result of heuristics than there are.
cudnnStatus_t GetConfigs(const BackendNode& node, const Output& to) {
  const std::vector<int> engines =
      EnginesFor(node.Value(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_HEUR_MODE_A), *node.graph);
  const auto count = static_cast<int64_t>(engines.size());
  *to.count = to.room == 0 ? count + 1 : std::min(count, to.room);
  if (to.room == 0) return CUDNN_STATUS_SUCCESS;
  const auto* const descriptors = static_cast<const cudnnBackendDescriptor_t*>(to.values);
  for (int64_t i = 0; i < *to.count; ++i) {
    BackendDescriptor* const descriptor = Get(descriptors[i]);
    FAKECUDNN_NEED(descriptor != nullptr && descriptor->node->type == kConfig);
    descriptor->node = NewConfig(node, engines[static_cast<size_t>(i)]);
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t GetEngine(const BackendNode& node, const Output& to) {
  *to.count = 1;
  if (to.room == 0) return CUDNN_STATUS_SUCCESS;
  BackendDescriptor* const descriptor = Get(*static_cast<cudnnBackendDescriptor_t*>(to.values));
  FAKECUDNN_NEED(descriptor != nullptr && descriptor->node->type == kEngine);
  descriptor->node->finalized = true;
  descriptor->node->engine = node.engine;
  return CUDNN_STATUS_SUCCESS;
}

// The attributes that are results. Returns BAD_PARAM for others.
cudnnStatus_t GetResult(const BackendNode& node, cudnnBackendAttributeName_t name,
                        cudnnBackendAttributeType_t type, const Output& to) {
  const auto is = [&](cudnnBackendDescriptorType_t of, cudnnBackendAttributeName_t wanted) {
    return node.type == of && name == wanted;
  };
  const auto checked = [&](cudnnBackendAttributeType_t wanted,
                           cudnnStatus_t (*get)(const BackendNode&, const Output&)) {
    return type == wanted ? get(node, to) : CUDNN_STATUS_BAD_PARAM_ATTRIBUTE_TYPE;
  };
  if (is(kHeuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS)) return checked(kChild, &GetConfigs);
  if (is(kConfig, CUDNN_ATTR_ENGINECFG_ENGINE)) return checked(kChild, &GetEngine);
  if (is(kEngine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE)) {
    return checked(CUDNN_TYPE_NUMERICAL_NOTE, [](const BackendNode& engine, const Output& out) {
      const auto& notes = EngineOf(engine.engine).numerical;
      return Copy(notes.data(), sizeof(notes[0]), static_cast<int64_t>(notes.size()), out);
    });
  }
  if (is(kEngine, CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE)) {
    return checked(CUDNN_TYPE_BEHAVIOR_NOTE, [](const BackendNode& engine, const Output& out) {
      const auto& notes = EngineOf(engine.engine).behavior;
      return Copy(notes.data(), sizeof(notes[0]), static_cast<int64_t>(notes.size()), out);
    });
  }
  if (is(kPlan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE)) {
    return checked(CUDNN_TYPE_INT64, [](const BackendNode& plan, const Output& out) {
      const auto bytes = static_cast<int64_t>(PlanWorkspaceBytes(plan));
      return Copy(&bytes, sizeof(bytes), 1, out);
    });
  }
  return CUDNN_STATUS_BAD_PARAM;
}

}  // namespace

bool IsAlive(const BackendNode& node) {
  if (node.destroyed) return false;
  return std::all_of(node.attributes.begin(), node.attributes.end(), [](const auto& attribute) {
    const auto& children = attribute.second.children;
    return std::all_of(children.begin(), children.end(),
                       [](const auto& child) { return IsAlive(*child); });
  });
}

}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t* descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  const bool known = type == kEngine || type == kConfig ||
                     std::any_of(std::begin(kRules), std::end(kRules),
                                 [type](const Rule& rule) { return rule.of == type; });
  if (!known) return CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED;
  auto node = std::make_shared<BackendNode>();
  node->type = type;
  *descriptor = new BackendDescriptor{std::move(node)};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  Get(descriptor)->node->destroyed = true;
  delete Get(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void* values) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  BackendNode& node = *Get(descriptor)->node;
  const Rule* rule = nullptr;
  const cudnnStatus_t status = FindRule(node, name, type, &rule);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  FAKECUDNN_NEED(!node.finalized && count > 0 && values != nullptr);
  FAKECUDNN_NEED(count == 1 || rule->most > 1);
  BackendAttribute attribute;
  attribute.count = count;
  if (type == kChild) {
    const auto* const children = static_cast<const cudnnBackendDescriptor_t*>(values);
    for (int64_t i = 0; i < count; ++i) {
      if (children[i] == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
      attribute.children.push_back(Get(children[i])->node);
    }
  } else {
    const auto* const bytes = static_cast<const char*>(values);
    attribute.bytes.assign(bytes, bytes + BytesOf(type) * static_cast<size_t>(count));
  }
  if (type == CUDNN_TYPE_HANDLE && *static_cast<void* const*>(values) == nullptr) {
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  }
  node.attributes[name] = std::move(attribute);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t const descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t room,
                                       int64_t* count, void* values) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  const BackendNode& node = *Get(descriptor)->node;
  if (!node.finalized) return CUDNN_STATUS_NOT_INITIALIZED;
  FAKECUDNN_NEED(count != nullptr && room >= 0);
  const Output to = {room, count, values};
  if (!node.Has(name) || type == kChild) return GetResult(node, name, type, to);
  const Rule* rule = nullptr;
  const cudnnStatus_t status = FindRule(node, name, type, &rule);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const BackendAttribute& attribute = node.attributes.at(name);
  return Copy(attribute.bytes.data(), BytesOf(type), attribute.count, to);
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  if (descriptor == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  if (!Begin(__func__)) return CUDNN_STATUS_INTERNAL_ERROR;
  BackendNode& node = *Get(descriptor)->node;
  FAKECUDNN_NEED(!node.finalized);
  const cudnnStatus_t status = Finalize(&node);
  node.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  if (handle == nullptr || plan == nullptr || pack == nullptr) {
    return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
  }
  if (!Begin(__func__)) return CUDNN_STATUS_EXECUTION_FAILED;
  const BackendNode &of_plan = *Get(plan)->node, &of_pack = *Get(pack)->node;
  if (of_plan.type != kPlan || of_pack.type != kPack) {
    return CUDNN_STATUS_BAD_PARAM_DESCRIPTOR_TYPE;
  }
  if (!of_plan.finalized || !of_pack.finalized) return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  FAKECUDNN_NEED(IsAlive(of_plan));
  return ExecutePlan(handle, of_plan, of_pack);
}

}  // extern "C"
