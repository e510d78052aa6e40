#include "cudnn/backend_engines.h"

#include <algorithm>
#include <string>

#include "cudnn/convolution_shape.h"

namespace fakecuda {
namespace {

// Sorted as the heuristics return them. The engines of CUDNN_HEUR_MODE_FALLBACK are the last two.
const BackendEngine kEngines[] = {
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE}, {}, true, true, 1},
    {{CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS},
     {},
     false,
     true,
     1},
    {{}, {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION}, false, true, 1},
    {{CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION}, {}, false, true, 1},
    {{CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC}, {}, true, true, 4},
    {{CUDNN_NUMERICAL_NOTE_WINOGRAD}, {CUDNN_BEHAVIOR_NOTE_CUBLASLT_DEPENDENCY}, true, false, 1},
    {{CUDNN_NUMERICAL_NOTE_STRICT_NAN_PROP}, {}, false, true, 2},
    {{}, {}, false, true, 3},
};
constexpr int kEngineCount = std::size(kEngines), kFallbackEngines = 2;

bool Has(const BackendEngine& engine, cudnnBackendNumericalNote_t note) {
  return std::find(engine.numerical.begin(), engine.numerical.end(), note) !=
         engine.numerical.end();
}

// Leaves out the lowest bits of the inputs of engines that multiply in TF32.
void RoundInputs(const BackendEngine& engine, Values* values) {
  if (!Has(engine, CUDNN_NUMERICAL_NOTE_TENSOR_CORE)) return;
  for (double& value : *values) {
    uint32_t bits = 0;
    auto number = static_cast<float>(value);
    std::memcpy(&bits, &number, sizeof(bits));
    bits &= ~uint32_t{0x1fff};
    std::memcpy(&number, &bits, sizeof(bits));
    value = number;
  }
}

// The pointers of a variant pack, by tensor.
struct Pointers {
  std::vector<int64_t> ids;
  std::vector<const void*> data;
  const void* Of(const BackendTensor& tensor) const {
    const auto found = std::find(ids.begin(), ids.end(), tensor.id);
    return found == ids.end() ? nullptr : data[static_cast<size_t>(found - ids.begin())];
  }
};

cudnnStatus_t CheckPointers(const BackendGraph& graph, const Pointers& pointers) {
  std::vector<const BackendTensor*> tensors = {&graph.x, &graph.w, &graph.y};
  if (graph.bias.has_value()) tensors.push_back(&*graph.bias);
  FAKECUDNN_NEED(pointers.ids.size() == pointers.data.size() &&
                 pointers.ids.size() == tensors.size());
  for (const BackendTensor* const tensor : tensors) {
    const void* const data = pointers.Of(*tensor);
    if (data == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (reinterpret_cast<uintptr_t>(data) % static_cast<uintptr_t>(tensor->alignment) != 0) {
      return CUDNN_STATUS_BAD_PARAM_MISALIGNED_POINTER;
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

const BackendEngine& EngineOf(int engine) { return kEngines[engine]; }

std::vector<int> EnginesFor(cudnnBackendHeurMode_t mode, const BackendGraph& graph) {
  const char* const which = graph.bias.has_value() ? "cudnn_bias_engines" : "cudnn_engines";
  const long present = fakecuda_get(which, (1 << kEngineCount) - 1);
  std::vector<int> engines;
  const int first = mode == CUDNN_HEUR_MODE_FALLBACK ? kEngineCount - kFallbackEngines : 0;
  const int last = mode == CUDNN_HEUR_MODE_FALLBACK ? kEngineCount : kEngineCount - 1;
  for (int i = first; i < last; ++i) {
    if ((present >> i & 1) != 0) engines.push_back(i);
  }
  return engines;
}

cudnnStatus_t FinalizePlan(const BackendNode& plan) {
  return plan.graph->convolution.groups > 1 && !EngineOf(plan.engine).supports_groups
             ? CUDNN_STATUS_NOT_SUPPORTED
             : CUDNN_STATUS_SUCCESS;
}

size_t PlanWorkspaceBytes(const BackendNode& plan) {
  return WorkspaceBytes(plan.graph->convolution, EngineOf(plan.engine).wants_workspace);
}

cudnnStatus_t ExecutePlan(cudnnHandle_t handle, const BackendNode& plan, const BackendNode& pack) {
  const std::string name = "cudnn_engine_" + std::to_string(plan.engine);
  if (!Begin(name.c_str())) return CUDNN_STATUS_EXECUTION_FAILED;
  const std::shared_ptr<const BackendGraph> graph = plan.graph;
  const Pointers pointers = {pack.List<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS),
                             pack.List<const void*>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS)};
  const cudnnStatus_t status = CheckPointers(*graph, pointers);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (const size_t bytes = PlanWorkspaceBytes(plan); bytes > 0) {
    const void* const space = pack.Value<const void*>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, nullptr);
    if (space == nullptr) return CUDNN_STATUS_BAD_PARAM_NULL_POINTER;
    if (!CheckRange("cudnnBackendExecute", "workspace", space, bytes)) {
      return CUDNN_STATUS_EXECUTION_FAILED;
    }
  }
  const Tensor x{"x", graph->x.layout, pointers.Of(graph->x)};
  const Tensor w{"w", graph->w.layout, pointers.Of(graph->w)};
  const Tensor y{"y", graph->y.layout, pointers.Of(graph->y)};
  const bool biased = graph->bias.has_value();
  const Tensor bias = biased ? Tensor{"bias", graph->bias->layout, pointers.Of(*graph->bias)} : x;
  const int engine = plan.engine;
  return Run(handle, "cudnnBackendExecute", {x, w, y, bias}, [=] {
    Values in = Read(x), filter = Read(w);
    RoundInputs(EngineOf(engine), &in);
    RoundInputs(EngineOf(engine), &filter);
    Values values = ConvolutionForward(graph->convolution, in, filter);
    if (biased) {
      const Values addends = Read(bias);
      const std::vector<size_t> channel = BroadcastIndices(y.layout.dims, bias.layout.dims);
      for (size_t i = 0; i < values.size(); ++i) values[i] += addends[channel[i]];
    }
    Write(y, values, Blend());
    fakecuda_spend(fakecuda_get("cudnn_engine_us", 0) * EngineOf(engine).time);
  });
}

}  // namespace fakecuda
