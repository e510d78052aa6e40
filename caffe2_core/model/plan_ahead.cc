#include "caffe2_core/model/plan_ahead.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/rehearsal.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/plans_ahead.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "caffe2_core/tensor/storage.h"

namespace caffe2rt {
namespace {

enum class Known { kNothing, kShape, kElements };

bool HoldsMemory(const Blob& blob) {
  if (blob.IsEmpty()) return false;
  const Tensor* const tensor = FindTensor(blob);
  return tensor == nullptr || tensor->storage() != nullptr;
}

class AheadPlanner {
 public:
  AheadPlanner(const NetBase& net, const NetMemory& memory)
      : def_(net.debug_def()),
        operators_(net.GetOperators()),
        blobs_(*memory.blobs()),
        objects_(memory.objects()),
        kept_(memory.kept()),
        known_(blobs_.size(), Known::kNothing) {
    for (std::string& name : OutputsOf(def_)) kept_.insert(std::move(name));
  }
  ~AheadPlanner() {
    const auto goes = [this](const Blob* blob) { return !stays_.contains(blob); };
    for (Blob* const blob : to_empty_) {
      if (goes(blob)) blob->Reset();
    }
    for (Blob* const blob : to_clear_) {
      if (goes(blob)) ClearTensor(blob);
    }
  }
  AheadPlanner(const AheadPlanner&) = delete;
  AheadPlanner& operator=(const AheadPlanner&) = delete;

  // Notes what the blobs hold. REQUIRES: they have no planned memory.
  void Begin(const std::set<std::string>& inputs, const ShapeMap& shapes) {
    for (uint32_t blob = 0; blob < blobs_.size(); ++blob) {
      if (objects_[blob] == nullptr) continue;
      if (HoldsMemory(*objects_[blob])) {
        // What the net changes may hold something else in the next run.
        if (FindTensor(*objects_[blob]) == nullptr || blobs_.is_changed(blob)) continue;
        known_[blob] = inputs.contains(blobs_.name(blob)) ? Known::kShape : Known::kElements;
      } else if (blobs_.first_writer(blob) != NetBlobs::kNone) {
        (objects_[blob]->IsEmpty() ? to_empty_ : to_clear_).push_back(objects_[blob]);
        is_free_.insert(objects_[blob]);
      } else if (const auto shape = shapes.find(blobs_.name(blob)); shape != shapes.end()) {
        UseShape(shape->second, blob);
      }
    }
  }

  // Plans operator `op`. Returns whether it did.
  bool Plan(size_t op) {
    const OperatorBase& object = *operators_[op];
    const int device = object.device_option().device_type();
    const auto all_known = [this](uint32_t blob) { return known_[blob] != Known::kNothing; };
    const auto is_free = [this](uint32_t blob) { return is_free_.contains(objects_[blob]); };
    const std::span<const uint32_t> inputs = blobs_.inputs(op), outputs = blobs_.outputs(op);
    const bool possible = (device == CPU || device == IDEEP) &&
                          std::all_of(inputs.begin(), inputs.end(), all_known) &&
                          std::all_of(outputs.begin(), outputs.end(), is_free);
    for (const uint32_t blob : outputs) known_[blob] = Known::kNothing;  // if planning fails
    if (!possible || !(PlanOperator(op) || (device == CPU && InferOutputs(op)))) return false;
    for (const uint32_t blob : outputs) known_[blob] = Known::kShape;
    Note(op);
    return true;
  }

  bool PreparesWeights(size_t op) const {
    const auto* const planner = dynamic_cast<const PlansAhead*>(operators_[op]);
    return planner != nullptr && planner->PreparesWeights();
  }

  // Runs the planned operators that only compute, if that costs little, on zeros where the elements of an input
  // are not known. REQUIRES: between Begin and End of the memory; End follows.
  // `run` runs the net. Returns whether they were run: then blobs that nobody reads after a run keep their memory, as
  // after a run.
  bool Rehearse(const std::function<void()>& run, NetMemory* memory) {
    if (!cost_.is_low() || rehearsed_.empty()) return false;
    for (Tensor* const tensor : undefined_)
      std::memset(tensor->raw_mutable_data(tensor->dtype()), 0, tensor->nbytes());
    // Zeros may be what an operator rejects: a run on other elements reports its errors itself.
    try {
      if (rehearses_all()) memory->End(false);
      for (int i = 0; i < cost_.runs(); ++i) {
        rehearses_all() ? run() : RunRehearsed();
        if (cost_.is_small()) ClearKept();
      }
    } catch (const EnforceNotMet&) {
    } catch (const std::bad_alloc&) {
    }
    for (uint32_t blob = 0; blob < blobs_.size(); ++blob) {
      if (is_free_.contains(objects_[blob]) && !kept_.contains(blobs_.name(blob)))
        stays_.insert(objects_[blob]);
    }
    return true;
  }
  bool rehearses_all() const { return rehearsed_.size() == operators_.size(); }
  bool is_small() const { return cost_.is_small(); }

  // Takes the memory of the blobs that are read after a run, with its pages mapped.
  std::vector<OutputMemory> TakeKept() {
    std::vector<OutputMemory> taken;
    for (Blob* const blob : KeptBlobs()) {
      if (!blob->IsType<Tensor>()) continue;
      Tensor memory = std::move(*blob->GetMutable<Tensor>());
      memory.Clear();
      if (memory.storage() == nullptr) continue;
      if (memory.GetDeviceType() == CPU)
        MapPages(memory.storage()->data(), memory.capacity_nbytes());
      taken.push_back({blob, std::move(memory)});
    }
    return taken;
  }

 private:
  std::vector<Blob*> KeptBlobs() const {
    std::vector<Blob*> kept;
    for (uint32_t blob = 0; blob < blobs_.size(); ++blob) {
      if (is_free_.contains(objects_[blob]) && kept_.contains(blobs_.name(blob)))
        kept.push_back(objects_[blob]);
    }
    return kept;
  }
  // As before a run; the memory of tensors stays, as it will for the first run.
  void ClearKept() {
    for (Blob* const blob : KeptBlobs()) {
      if (blob->IsType<Tensor>()) {
        blob->GetMutable<Tensor>()->Clear();
      } else {
        blob->Reset();
      }
    }
  }
  void RunRehearsed() {
    for (const size_t op : rehearsed_) (void)operators_[op]->Run();
  }
  static void ClearTensor(Blob* blob) {
    if (blob->IsType<Tensor>()) {
      Tensor* const tensor = blob->GetMutable<Tensor>();
      *tensor = Tensor(tensor->GetDeviceType());
    } else {
      blob->Reset();
    }
  }

  void UseShape(const TensorShape& shape, uint32_t blob) {
    const TypeMeta type = DataTypeToTypeMeta(shape.data_type());
    if (shape.unknown_shape() || !type.IsPlainData()) return;
    (objects_[blob]->IsEmpty() ? to_empty_ : to_clear_).push_back(objects_[blob]);
    Tensor* const tensor = objects_[blob]->GetMutableTensor(CPU);
    tensor->Resize(GetDimsVector(shape));
    tensor->raw_mutable_data(type);
    undefined_.push_back(tensor);
    known_[blob] = Known::kShape;
  }

  // None if a blob holds no tensor.
  std::optional<std::vector<TensorShape>> ShapesOf(std::span<const uint32_t> blobs) const {
    std::vector<TensorShape> shapes;
    for (const uint32_t blob : blobs) {
      const Tensor* const tensor = FindTensor(*objects_[blob]);
      if (tensor == nullptr) return std::nullopt;
      shapes.push_back(CreateTensorShape(tensor->dims(), TypeMetaToDataType(tensor->dtype())));
    }
    return shapes;
  }

  // Notes an operator that was planned for the rehearsal.
  void Note(size_t op) {
    if (!cost_.is_low()) return;
    const OperatorDef& def = def_.op(static_cast<int>(op));
    const auto in = ShapesOf(blobs_.inputs(op)), out = ShapesOf(blobs_.outputs(op));
    if (in.has_value() && out.has_value() && OnlyComputes(def, operators_[op])) {
      cost_.Add(def, *in, *out);
      rehearsed_.push_back(op);
      return;
    }
    for (const uint32_t blob : blobs_.outputs(op)) {
      if (objects_[blob]->IsType<Tensor>())
        undefined_.push_back(objects_[blob]->GetMutable<Tensor>());
    }
  }

  // Lets the operator plan, if it can.
  bool PlanOperator(size_t op) {
    auto* const planner = dynamic_cast<PlansAhead*>(operators_[op]);
    if (planner == nullptr) return false;
    std::vector<bool> constant;
    for (const uint32_t blob : blobs_.inputs(op))
      constant.push_back(known_[blob] == Known::kElements);
    planner->PlanAhead(AheadInputs(std::move(constant)));
    return true;
  }

  // Gives the outputs the shapes of the schema.
  bool InferOutputs(size_t op) {
    const OperatorDef& def = def_.op(static_cast<int>(op));
    const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
    if (schema == nullptr || !schema->HasTensorInference()) return false;
    const auto in = ShapesOf(blobs_.inputs(op));
    if (!in.has_value()) return false;
    const std::vector<TensorShape> out = schema->InferTensor(def, *in);
    const std::span<const uint32_t> outputs = blobs_.outputs(op);
    if (out.size() != outputs.size()) return false;
    const auto is_usable = [](const TensorShape& shape) {
      return !shape.unknown_shape() && DataTypeToTypeMeta(shape.data_type()).IsPlainData();
    };
    if (!std::all_of(out.begin(), out.end(), is_usable)) return false;
    const bool quantized = schema->memory().quantized_outputs;
    for (size_t i = 0; i < out.size(); ++i) {
      Blob* const blob = objects_[outputs[i]];
      const bool is_float = out[i].data_type() == TensorProto::FLOAT;
      Tensor* const tensor = quantized && !is_float ? &blob->GetMutable<Int8TensorCPU>()->t
                                                    : blob->GetMutableTensor(CPU);
      tensor->Resize(GetDimsVector(out[i]));
      tensor->raw_mutable_data(DataTypeToTypeMeta(out[i].data_type()));
    }
    return true;
  }

  const NetDef& def_;
  const std::vector<OperatorBase*> operators_;
  const NetDependencies& blobs_;
  const std::vector<Blob*>& objects_;
  std::set<std::string> kept_;              // are read after a run, with the outputs
  std::vector<Known> known_;                // by blob
  std::set<const Blob*> is_free_;           // hold nothing before the first run
  std::vector<Blob*> to_empty_, to_clear_;  // what they hold at the end is removed
  std::vector<size_t> rehearsed_;           // operators that only compute, in the order of the net
  std::vector<Tensor*> undefined_;          // what they read that no operator has computed
  RehearsalCost cost_;                      // of these operators
  std::set<const Blob*> stays_;             // keep what they hold, as after a run
};

// Operators report these errors when they run.
bool TryToPlan(AheadPlanner* planner, size_t op) {
  try {
    return planner->Plan(op);
  } catch (const EnforceNotMet&) {
    return false;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

AheadResult PlanAhead(const NetBase& net, const std::set<std::string>& inputs,
                      const ShapeMap& shapes, const std::function<void()>& run, NetMemory* memory) {
  const std::vector<OperatorBase*> operators = net.GetOperators();
  AheadResult result;
  if (memory->blobs() == nullptr) {
    for (size_t op = 0; op < operators.size(); ++op) {
      const auto* const planner = dynamic_cast<const PlansAhead*>(operators[op]);
      if (planner != nullptr && planner->PreparesWeights()) result.left_out.push_back(op);
    }
    return result;
  }
  const TransientWrites writes;
  memory->Release();
  AheadPlanner planner(net, *memory);
  planner.Begin(inputs, shapes);
  memory->Begin();
  for (size_t op = 0; op < operators.size(); ++op) {
    if (!TryToPlan(&planner, op) && planner.PreparesWeights(op)) result.left_out.push_back(op);
  }
  memory->MapPages();
  const bool rehearsed = planner.Rehearse(run, memory);
  memory->End(false);
  if (!rehearsed) memory->Release();
  memory->KeepForOutputs(planner.TakeKept());
  result.small = rehearsed && planner.rehearses_all() && planner.is_small();
  return result;
}

}  // namespace caffe2rt
