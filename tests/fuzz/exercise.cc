#include "tests/fuzz/exercise.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <set>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/net_drawing.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/net_validation.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/predictor.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/work_budget.h"

namespace caffe2rt::test {
namespace {

constexpr int kMaxRecords = 2000;
constexpr int kMaxPlanIterations = 50;

// A policy that allows the current folder or, one time in eight, nothing.
FileAccess RandomAccess(Random* random) {
  return random->OneIn(8) ? FileAccess::Off() : FileAccess::Below({"."});
}

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
void FeedInputs(const NetDef& net, const CorpusFile* origin, Random* random, Workspace* ws) {
  const std::vector<int64_t> usual = RandomDims(random);
  for (const std::string& name : InputsOf(net)) {
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

void RunNet(NetDef net, const CorpusFile* origin, Random* random) {
  if (net.name().empty()) net.set_name("fuzz");
  FallBackToCPU(&net);
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  FeedInputs(net, origin, random, &ws);
  Inspect(net, ws);
  NetBase* made = ws.CreateNet(net);
  CAFFE_ENFORCE(made != nullptr, "net type \"", net.type(), "\"");
  WatchNet(made);
  for (int i = 0; i < 2; ++i) CAFFE_ENFORCE(made->Run(), "the net returned false");
}

void RunPlan(PlanDef plan, const CorpusFile* origin, Random* random) {
  Workspace ws(".");
  ws.SetFileAccess(RandomAccess(random));
  ValidatePlan(plan);
  for (NetDef& net : *plan.mutable_network()) {
    FallBackToCPU(&net);
    FeedInputs(net, origin, random, &ws);
    Inspect(net, ws);
  }
  std::atomic<int> iterations{0};
  CAFFE_ENFORCE(ws.RunPlan(plan, [&](int) { return ++iterations <= kMaxPlanIterations; }),
                "the plan returned false");
}

void RunMetaNet(MetaNetDef meta, const CorpusFile* origin, Random* random) {
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
  predictor(inputs, &outputs);
}

// Writes a database to the current folder. Returns its path.
std::string WriteDatabase(const std::string& bytes, FileKind kind) {
  const bool folder = kind == FileKind::kLMDB;
  const std::string path = folder ? "fuzz_lmdb" : "fuzz_db";
  if (folder) std::filesystem::create_directory(path);
  CAFFE_ENFORCE(WriteStringToFile(bytes, (folder ? path + "/data.mdb" : path).c_str()),
                "cannot write ", path);
  return path;
}

void ReadDatabase(const std::string& bytes, FileKind kind) {
  const std::string path = WriteDatabase(bytes, kind);
  const std::string type = DBTypeOfKind(kind);
  const std::unique_ptr<db::DB> source = db::OpenDB(type, path, db::READ);
  const std::unique_ptr<db::Cursor> cursor = source->NewCursor();
  const FileAccess access = FileAccess::Below({"."});
  Workspace ws;
  ws.SetFileAccess(access);
  const FileAccessScope scope(access);
  std::string error;
  int records = 0;
  for (; cursor->Valid() && records < kMaxRecords; cursor->Next(), ++records) {
    Blob* blob = ws.CreateBlob(BlobNameFromKey(cursor->key()));
    try {
      DeserializeBlob(cursor->value(), blob);
    } catch (const EnforceNotMet& thrown) {
      error = thrown.message();
    }
  }
  OperatorDef load = CreateOperatorDef("Load", "", {}, {});
  AddArgument("db", path, &load);
  AddArgument("db_type", type, &load);
  AddArgument("load_all", 1, &load);
  ws.RunOperatorOnce(load);
  try {
    LoadPredictor(path, type);
  } catch (const EnforceNotMet&) {
    // Most databases contain no predictor.
  }
  CAFFE_ENFORCE(error.empty(), error);
}

template <class Message>
Message Parse(const std::string& bytes) {
  Message message;
  ParseProto(bytes, "input", &message);
  return message;
}

void ReadTensors(const TensorProtos& protos) {
  for (const TensorProto& proto : protos.protos()) TensorDeserializer().Deserialize(proto);
}

void Dispatch(const std::string& bytes, FileKind origin_kind, const CorpusFile* origin) {
  Random random(HashOf(bytes));
  FileKind kind = DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
  // An input that is too damaged to be detected is read as the kind of its origin.
  if (kind == FileKind::kUnknown || origin_kind == FileKind::kLMDB) kind = origin_kind;
  switch (kind) {
    case FileKind::kPlanDef:
      return RunPlan(Parse<PlanDef>(bytes), origin, &random);
    case FileKind::kMetaNetDef:
      return RunMetaNet(Parse<MetaNetDef>(bytes), origin, &random);
    case FileKind::kMiniDB:
    case FileKind::kLMDB:
      return ReadDatabase(bytes, kind);
    case FileKind::kTensorProto:
      TensorDeserializer().Deserialize(Parse<TensorProto>(bytes));
      return;
    case FileKind::kTensorProtos:
      ReadTensors(Parse<TensorProtos>(bytes));
      return;
    case FileKind::kBlobProto: {
      Blob blob;
      const FileAccess access = RandomAccess(&random);
      const FileAccessScope scope(access);
      DeserializeBlob(bytes, &blob);
      return;
    }
    default:
      return RunNet(Parse<NetDef>(bytes), origin, &random);
  }
}

}  // namespace

ExerciseResult Exercise(const std::string& bytes, FileKind kind_of_origin,
                        const CorpusFile* origin) {
  ExerciseResult result;
  StartBudget({});
  try {
    Dispatch(bytes, kind_of_origin, origin);
  } catch (const EnforceNotMet& thrown) {
    result.outcome = BudgetExceeded() ? Outcome::kOverBudget : Outcome::kRefused;
    result.error = thrown.message();
  } catch (const std::exception& thrown) {
    result.outcome = Outcome::kFailed;
    result.error = std::string("another exception, want EnforceNotMet: ") + thrown.what();
  }
  return result;
}

}  // namespace caffe2rt::test
