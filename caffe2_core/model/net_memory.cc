#include "caffe2_core/model/net_memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/release_pages.h"
#include "caffe2_core/executors/net_types.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

// A plan is made again at most this often for the same shapes; then the blobs that still need more
// memory get their own.
constexpr int kMostRemakes = 8;

std::unique_ptr<NetDependencies> BlobsOf(const NetBase& net,
                                         const std::vector<OperatorBase*>& operators) {
  std::vector<BoundBlobs> bound;
  bound.reserve(operators.size());
  for (OperatorBase* op : operators) {
    bound.push_back({.inputs = op->Inputs(), .outputs = op->Outputs()});
  }
  return std::make_unique<NetDependencies>(net.debug_def(), bound);
}

bool MayPlan(const NetBase& net, const std::vector<OperatorBase*>& operators) {
  const std::string& type = net.debug_def().type();
  if (OrderOfType(type) == NetOrder::kUnknown || FreesBlobs(type)) return false;
  if (operators.size() != static_cast<size_t>(net.debug_def().op_size())) return false;
  return std::none_of(operators.begin(), operators.end(),
                      [](const OperatorBase* op) { return op->HasAsyncPart(); });
}

const Tensor* TensorIn(const Blob& blob) {
  return blob.IsType<Tensor>() ? &blob.Get<Tensor>() : nullptr;
}

}  // namespace

// The place of one blob in the arena.
struct NetMemory::Place {
  uint32_t blob;
  Blob* object;
  DeviceType device;
  size_t offset, bytes;
  uint32_t first_op, last_op;        // operators that use it
  std::shared_ptr<Storage> storage;  // shared with the blob's tensor; null if the plan is not bound
};

// The shape of an input for which a plan is valid.
struct NetMemory::InputShape {
  uint32_t blob;
  const Blob* object;
  bool known;  // whether the blob holds a tensor with a shape
  std::vector<int64_t> dims;
  TypeMeta type;
};

struct NetMemory::Plan {
  std::vector<InputShape> inputs;
  std::vector<Place> places;
  size_t arena_bytes = 0;
  std::vector<uint32_t> unknown;  // blobs that are not planned because their sizes are not known
  std::map<uint32_t, std::vector<uint32_t>> wholes;  // blob -> operators whose parts lie in it
  bool has_run = false;  // LearnFromRun has seen the sizes of `unknown`
  bool stale = false;    // another plan for the same shapes is better
  // Known from earlier runs with these shapes.
  std::map<uint32_t, BlobMemory> learned;
  std::set<uint32_t> never;              // blobs that cannot be planned
  std::set<uint32_t> without_placement;  // operators whose inputs and outputs lie apart
  int remakes = 0;
};

NetMemory::NetMemory(NetBase* net, std::set<std::string> kept, std::shared_ptr<ArenaStock> stock)
    : net_(net), kept_(std::move(kept)), stock_(std::move(stock)) {
  CAFFE_ENFORCE(net != nullptr, "argument net of NetMemory is null");
  if (stock_ == nullptr) return;
  const std::vector<OperatorBase*> operators = net->GetOperators();
  if (!MayPlan(*net, operators)) return;
  blobs_ = BlobsOf(*net, operators);
  objects_.resize(blobs_->size(), nullptr);
  for (size_t op = 0; op < operators.size(); ++op) {
    const auto inputs = blobs_->inputs(op), outputs = blobs_->outputs(op);
    for (size_t i = 0; i < inputs.size(); ++i) {
      // Only blobs that the net writes are changed, and those are outputs as well.
      objects_[inputs[i]] = const_cast<Blob*>(operators[op]->Inputs()[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) objects_[outputs[i]] = operators[op]->Outputs()[i];
  }
}

NetMemory::~NetMemory() {
  Unbind();
  if (arena_ != nullptr) stock_->Return(arena_);
}

size_t NetMemory::planned_bytes() const { return bound_ != nullptr ? bound_->arena_bytes : 0; }
size_t NetMemory::planned_blobs() const { return bound_ != nullptr ? bound_->places.size() : 0; }

std::vector<NetMemory::PlannedBlob> NetMemory::planned() const {
  std::vector<PlannedBlob> blobs;
  if (arena_ == nullptr) return blobs;
  for (const Place& place : bound_->places) {
    blobs.push_back({.blob = place.blob,
                     .data = arena_->data() + place.offset,
                     .bytes = place.bytes,
                     .first_op = place.first_op,
                     .last_op = place.last_op});
  }
  return blobs;
}

bool NetMemory::Run() {
  Begin();
  bool success = false;
  try {
    success = net_->Run();
  } catch (...) {
    End(false);
    throw;
  }
  End(success);
  return success;
}

void NetMemory::Begin() {
  if (blobs_ == nullptr) return;
  CAFFE_ENFORCE(arena_ == nullptr, "Begin of a net's memory without End of the run before");
  if (__builtin_expect(!for_outputs_.empty(), 0)) GiveOutputs();
  Plan* const plan = FindPlan();
  if (plan->places.empty()) {
    Unbind();
    return;
  }
  arena_ = stock_->Lease(last_arena_);
  try {
    arena_->Reserve(plan->arena_bytes);
    if (bound_ == plan && bound_id_ == arena_->id()) return;
    Unbind();
    bound_ = plan;
    Bind();
  } catch (const OutOfMemory&) {
    // Without a plan the net may need less: operators that fail first allocate little.
    Unbind();
    stock_->Return(std::exchange(arena_, nullptr));
  } catch (...) {
    Unbind();
    stock_->Return(std::exchange(arena_, nullptr));
    throw;
  }
}

void NetMemory::MapPages() {
  if (arena_ != nullptr) caffe2rt::MapPages(arena_->data(), arena_->bytes());
}

void NetMemory::End(bool success) {
  if (blobs_ == nullptr) return;
  try {
    if (success) LearnFromRun();
  } catch (...) {
    if (arena_ != nullptr) stock_->Return(std::exchange(arena_, nullptr));
    throw;
  }
  if (arena_ != nullptr) stock_->Return(std::exchange(arena_, nullptr));
}

bool NetMemory::Matches(const Plan& plan) const {
  for (const InputShape& input : plan.inputs) {
    const Tensor* const tensor = TensorIn(*input.object);
    const bool known = tensor != nullptr && tensor->IsShaped();
    if (known != input.known) return false;
    if (known && (tensor->dims() != input.dims || tensor->dtype() != input.type)) return false;
  }
  return true;
}

NetMemory::Plan* NetMemory::FindPlan() {
  if (!plans_.empty() && !plans_[0]->stale && Matches(*plans_[0])) return plans_[0].get();
  size_t found = 0;
  while (found < plans_.size() && !Matches(*plans_[found])) ++found;
  if (found == plans_.size()) {
    if (plans_.size() == kMostPlans) {
      if (bound_ == plans_.back().get()) Unbind();
      plans_.pop_back();
      --found;
    }
    plans_.push_back(MakePlan(nullptr));
  } else if (plans_[found]->stale) {
    if (bound_ == plans_[found].get()) Unbind();
    plans_[found] = MakePlan(plans_[found].get());
  }
  std::rotate(plans_.begin(), plans_.begin() + static_cast<ptrdiff_t>(found),
              plans_.begin() + static_cast<ptrdiff_t>(found) + 1);
  return plans_[0].get();
}

// The shapes of all blobs that the net reads first. Stores them in the plan, too.
ShapeMap NetMemory::ShapesOfInputs(Plan* plan) const {
  ShapeMap shapes;
  for (const uint32_t blob : blobs_->read_first()) {
    const Blob* const object = objects_[blob];
    if (object == nullptr) continue;
    const Tensor* const tensor = TensorIn(*object);
    InputShape input = {.blob = blob, .object = object, .known = false, .dims = {}, .type = {}};
    if (tensor != nullptr && tensor->IsShaped()) {
      input.known = true;
      input.dims = tensor->dims();
      input.type = tensor->dtype();
      const TensorProto_DataType type = TypeMetaToDataType(tensor->dtype());
      if (type != TensorProto::UNDEFINED) {
        shapes[blobs_->name(blob)] = CreateTensorShape(input.dims, type);
      }
    }
    plan->inputs.push_back(std::move(input));
  }
  return shapes;
}

std::unique_ptr<NetMemory::Plan> NetMemory::MakePlan(const Plan* previous) {
  ++plans_made_;
  auto plan = std::make_unique<Plan>();
  if (previous != nullptr) {
    plan->learned = previous->learned;
    plan->never = previous->never;
    plan->without_placement = previous->without_placement;
    plan->remakes = previous->remakes + 1;
  }
  ShapeMap shapes = ShapesOfInputs(plan.get());
  const NetDef& def = net_->debug_def();
  try {
    const std::vector<OpShapes> inferred = InferOpShapes({&def}, &shapes);
    std::vector<BlobMemory> sizes = MemoryOfShapes(def, *blobs_, inferred);
    for (const auto& [blob, memory] : plan->learned) sizes[blob] = memory;
    for (const uint32_t blob : plan->never) sizes[blob] = {};
    const MemoryDemand demand(def, *blobs_, sizes, kept_, inferred, plan->without_placement);
    plan->unknown = demand.unknown();
    MemoryRequest request = demand.request();
    if (OrderOfType(def.type()) == NetOrder::kByDependencies) {
      for (size_t op = 0; op < blobs_->num_operators(); ++op) {
        const std::span<const uint32_t> before = blobs_->predecessors(op);
        request.predecessors.emplace_back(before.begin(), before.end());
      }
    }
    const MemoryPlan layout = PlanMemory(request);
    if (layout.arena_bytes > GetCPUMemoryUsage().limit_bytes) return plan;
    AddPlaces(demand, layout, plan.get());
  } catch (const OutOfMemory&) {
    throw;
  } catch (const EnforceNotMet&) {
    // A size overflows. The operator that computes this shape will report it, with the user's names.
    plan->places.clear();
  }
  return plan;
}

void NetMemory::AddPlaces(const MemoryDemand& demand, const MemoryPlan& layout, Plan* plan) {
  const MemoryRequest& request = demand.request();
  for (uint32_t item = 0; item < request.items.size(); ++item) {
    const uint32_t blob = demand.root_of(item);
    uint32_t first = UINT32_MAX, last = 0;
    for (const auto* uses : {&request.items[item].writes, &request.items[item].reads}) {
      if (uses->empty()) continue;
      first = std::min(first, uses->front());
      last = std::max(last, uses->back());
    }
    plan->places.push_back({.blob = blob,
                            .object = objects_[blob],
                            .device = demand.device_of(item),
                            .offset = layout.offsets[item],
                            .bytes = request.items[item].bytes,
                            .first_op = first,
                            .last_op = last,
                            .storage = nullptr});
  }
  for (size_t i = 0; i < request.placements.size(); ++i) {
    const MemoryPlacement& placement = request.placements[i];
    if (!layout.placed[i] || placement.kind == MemoryPlacement::Kind::kInPlace) continue;
    for (const uint32_t item : {placement.inner, placement.outer}) {
      plan->wholes[demand.root_of(item)].push_back(placement.op);
    }
  }
  plan->arena_bytes = layout.arena_bytes;
}

void NetMemory::GiveOutputs() {
  for (auto& [blob, tensor] : std::exchange(for_outputs_, {})) {
    const Tensor* const now = TensorIn(*blob);
    const bool has_none = blob->IsEmpty() || (now != nullptr && now->storage() == nullptr);
    if (has_none) *blob->GetMutableTensor(tensor.GetDeviceType()) = std::move(tensor);
  }
}

void NetMemory::Bind() {
  for (Place& place : bound_->places) {
    Blob* const object = place.object;
    if (!object->IsEmpty() && !object->IsType<Tensor>()) continue;
    Tensor memory({static_cast<int64_t>(place.bytes)}, place.device);
    memory.ShareExternalPointer(reinterpret_cast<uint8_t*>(arena_->data() + place.offset));
    place.storage = memory.storage();
    *object->GetMutableTensor(place.device) = memory;  // the operator sets the shape and the type
  }
  bound_id_ = arena_->id();
  last_arena_ = arena_;
}

// Takes the places away from the blobs. A tensor must never use a place of a plan that is not bound:
// its memory may belong to other blobs by now, or be freed.
void NetMemory::Unbind() {
  if (bound_ == nullptr) return;
  for (Place& place : bound_->places) {
    if (place.storage == nullptr) continue;
    Tensor* const tensor = place.object->GetMutableOrNull<Tensor>();
    if (tensor != nullptr && tensor->storage() == place.storage) tensor->FreeMemory();
    place.storage.reset();
  }
  bound_ = nullptr;
  bound_id_ = 0;
}

// Finds out which blobs did not get the right place: those that were not planned because their sizes
// were not known, and those whose operators did not use their places.
void NetMemory::LearnFromRun() {
  Plan* const plan = plans_[0].get();
  if (!plan->has_run) {
    plan->has_run = true;
    if (plan->remakes < kMostRemakes) {
      for (const uint32_t blob : plan->unknown) Learn(blob, nullptr);
    }
  }
  if (bound_ != plan) return;
  for (const Place& place : plan->places) {
    const Tensor* const tensor = TensorIn(*place.object);
    if (__builtin_expect(tensor != nullptr && tensor->storage() == place.storage, 1)) continue;
    Learn(place.blob, &place);
  }
}

void NetMemory::Learn(uint32_t blob, const Place* place) {
  Plan* const plan = plans_[0].get();
  if (plan->never.contains(blob)) return;
  const Tensor* const tensor = TensorIn(*objects_[blob]);
  if (place == nullptr && (tensor == nullptr || tensor->storage() == nullptr)) return;
  const bool plannable = tensor != nullptr && tensor->storage() != nullptr &&
                         IsPlannedDevice(tensor->GetDeviceType()) &&
                         tensor->dtype().IsPlainData() && !tensor->storage()->read_only() &&
                         tensor->storage().use_count() == 1 && plan->remakes < kMostRemakes;
  plan->stale = plan->stale || place != nullptr || plannable;
  const size_t bytes = plannable ? tensor->storage()->capacity_bytes() : 0;
  if (place != nullptr && plan->wholes.contains(blob)) {
    const std::vector<uint32_t>& operators = plan->wholes[blob];
    plan->without_placement.insert(operators.begin(), operators.end());
    if (bytes <= place->bytes) return;
  }
  if (!plannable || (place != nullptr && bytes <= place->bytes)) {
    plan->never.insert(blob);
    return;
  }
  // Sizes that depend on data change: leave some room for the next ones.
  plan->learned[blob] = {.bytes = static_cast<int64_t>(bytes + bytes / 4),
                         .device_type = tensor->GetDeviceType()};
}

}  // namespace caffe2rt
