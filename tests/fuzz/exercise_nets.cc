#include "tests/fuzz/exercise_nets.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/waiting.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxPlanIterations = 50;

// Examines a net without running it, as `check` and `inspect` do.
void Inspect(const NetDef& net, const Workspace& ws) {
  ValidateNet(net);
  OutputsOf(net);
  const NetDependencies dependencies(net);
  const ExecutionOrder order = InOrderOfNet(dependencies.num_operators());
  dependencies.CheckOrder(order.positions);  // the net's own order is always valid
  ShapeMap shapes;
  std::set<std::string> parameters;
  for (const std::string& name : ws.Blobs()) {
    const Blob* blob = ws.GetBlob(name);
    if (!blob->IsTensor(CPU) || !blob->Get<Tensor>().IsShaped()) continue;
    const Tensor& tensor = blob->Get<Tensor>();
    shapes[name] = CreateTensorShape(tensor.dims(), TypeMetaToDataType(tensor.dtype()));
    if (tensor.numel() % 2 == 0) parameters.insert(name);
  }
  const NetSummary summary = SummarizeNet({}, net, shapes, parameters);
  NetAsDot(net, summary);
  NetAsSvg(net, summary);
  const NetDrawing drawing({{&net, &summary, net.name()}}, {.fold = true, .title = net.name()});
  drawing.DotRequest();
  drawing.Html(drawing.PlainLayout());
  for (const OpShapes& op : InferOpShapes({&net}, &shapes)) {
    const OpSchema* schema = OpSchemaRegistry::Schema(net.op(op.op).type());
    if (schema == nullptr || op.failed || !schema->HasCostInferenceFunction()) continue;
    try {
      schema->InferCost(net.op(op.op), op.inputs);
    } catch (const EnforceNotMet&) {
      // The cost is not known.
    }
  }
}

std::vector<int64_t> RandomDims(Random* random) {
  if (random->OneIn(4)) return {1, 3, 32, 32};
  std::vector<int64_t> dims;
  for (uint64_t rank = random->OneIn(8) ? random->Below(7) : 1 + random->Below(4); rank-- > 0;) {
    static const int64_t kSizes[] = {0, 1, 1, 1, 2, 3, 3, 4, 5, 7, 8, 12, 16, 33};
    dims.push_back(kSizes[random->Below(std::size(kSizes))]);
  }
  return dims;
}

void FillRandom(const std::vector<int64_t>& dims, Random* random, Tensor* tensor) {
  tensor->Resize(dims);
  if (random->OneIn(12)) {
    int64_t* data = tensor->mutable_data<int64_t>();
    for (int64_t i = 0; i < tensor->numel(); ++i)
      data[i] = static_cast<int64_t>(random->Below(9)) - 2;
  } else if (random->OneIn(12)) {
    int32_t* data = tensor->mutable_data<int32_t>();
    for (int64_t i = 0; i < tensor->numel(); ++i)
      data[i] = static_cast<int32_t>(random->Below(9)) - 2;
  } else if (random->OneIn(12)) {
    uint8_t* data = tensor->mutable_data<uint8_t>();
    for (int64_t i = 0; i < tensor->numel(); ++i) data[i] = static_cast<uint8_t>(random->Next());
  } else {
    float* data = tensor->mutable_data<float>();
    for (int64_t i = 0; i < tensor->numel(); ++i)
      data[i] = static_cast<float>(random->Below(2000)) / 1000 - 1;
  }
}

const Tensor* WeightOf(const std::string& name, const CorpusFile* origin) {
  if (origin == nullptr || origin->weights == nullptr || !origin->weights->HasBlob(name))
    return nullptr;
  const Blob* blob = origin->weights->GetBlob(name);
  return blob->IsTensor(CPU) ? &blob->Get<Tensor>() : nullptr;
}

// Dimensions that fit the weight of the first operator that reads the blob, or else `usual`.
std::vector<int64_t> FittingDims(const NetDef& net, const std::string& name,
                                 const CorpusFile* origin, const std::vector<int64_t>& usual) {
  for (const OperatorDef& op : net.op()) {
    if (op.input_size() < 2 || op.input(0) != name) continue;
    const Tensor* weight = WeightOf(op.input(1), origin);
    if (weight == nullptr) break;
    if (op.type() == "Conv" && weight->dim() == 4) return {1, weight->size(1), 24, 24};
    if (op.type() == "ConvTranspose" && weight->dim() == 4) return {1, weight->size(0), 9, 9};
    if (op.type() == "FC" && weight->dim() == 2) return {2, weight->size(1)};
    if (weight->dim() == 1) return {1, weight->size(0), 8, 8};
    break;
  }
  return usual;
}

// Feeds the inputs of the net: the weights of the origin, shared read-only, and random tensors,
// many of them with the same shape.
// `keeps` states whether blobs that the workspace holds already keep their values.
void FeedInputs(const NetDef& net, const CorpusFile* origin, Random* random, Workspace* ws,
                bool keeps = false) {
  const std::vector<int64_t> usual = RandomDims(random);
  for (const std::string& name : InputsOf(net)) {
    if (keeps && ws->HasBlob(name) && !ws->GetBlob(name)->IsEmpty()) continue;
    Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
    const Tensor* weight = WeightOf(name, origin);
    if (weight != nullptr && !random->OneIn(64)) {
      *tensor = *weight;
    } else if (random->OneIn(4)) {
      FillRandom(RandomDims(random), random, tensor);
    } else {
      FillRandom(FittingDims(net, name, origin, usual), random, tensor);
    }
  }
}

// Operators that wait, such as those of queues, may wait for ever: no other operator wakes them.
// Loops may run for ever too, with nets that the work budget does not stop because they are empty.
std::function<bool()> StopSoon() {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  return [deadline] { return std::chrono::steady_clock::now() >= deadline; };
}

}  // namespace

FileAccess RandomAccess(Random* random) {
  return random->OneIn(8) ? FileAccess::Off() : FileAccess::Below({"."});
}

void ExerciseNet(NetDef net, const CorpusFile* origin, Random* random) {
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  ExerciseNet(std::move(net), origin, random, &ws);
}

void ExerciseNet(NetDef net, const CorpusFile* origin, Random* random, Workspace* ws) {
  if (net.name().empty()) net.set_name("fuzz");
  FallBackToCPU(&net);
  FeedInputs(net, origin, random, ws, true);
  Inspect(net, *ws);
  const StopScope scope(StopSoon());
  NetBase* made = ws->CreateNet(net);
  CAFFE_ENFORCE(made != nullptr, "net type \"", net.type(), "\"");
  for (int i = 0; i < 2; ++i) CAFFE_ENFORCE(made->Run(), "the net returned false");
}

void ExercisePlan(PlanDef plan, const CorpusFile* origin, Random* random) {
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  ValidatePlan(plan);
  for (NetDef& net : *plan.mutable_network()) {
    FallBackToCPU(&net);
    FeedInputs(net, origin, random, &ws);
    Inspect(net, ws);
  }
  const StopScope scope(StopSoon());
  std::atomic<int> iterations{0};
  CAFFE_ENFORCE(ws.RunPlan(plan, [&](int) { return ++iterations <= kMaxPlanIterations; }),
                "the plan returned false");
}

void ExerciseMetaNet(MetaNetDef meta, const CorpusFile* origin, Random* random) {
  for (NetsMap& entry : *meta.mutable_nets()) {
    FallBackToCPU(entry.mutable_value());
  }
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  for (const NetsMap& entry : meta.nets()) FeedInputs(entry.value(), origin, random, &ws);
  PredictorOptions options;
  options.device_fallback = true;
  Predictor predictor(meta, &ws, options);
  Predictor::TensorMap inputs;
  for (const std::string& name : predictor.input_names()) {
    FillRandom(RandomDims(random), random, &inputs.emplace(name, Tensor(CPU)).first->second);
  }
  Predictor::TensorList outputs;
  const StopScope scope(StopSoon());
  predictor(inputs, &outputs);
}

}  // namespace caffe2rt::test
