#include "caffe2_core/graph/memory_demand.h"

#include <algorithm>
#include <new>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

constexpr int64_t kUnknown = BlobMemory::kUnknown;
constexpr int kNoDevice = -1;

// The device type of each output, or kNoDevice.
std::vector<int> OutputDevices(const NetDef& net, const OperatorDef& op) {
  std::vector<int> devices(static_cast<size_t>(op.output_size()), kNoDevice);
  try {
    std::vector<DeviceOption> outputs;
    if (net.has_device_option()) {
      OperatorDef merged = op;
      *merged.mutable_device_option() = MergeDeviceOption(net.device_option(), op.device_option());
      outputs = InferOpInputOutputDevice(merged).second;
    } else {
      outputs = InferOpInputOutputDevice(op).second;
    }
    for (size_t i = 0; i < devices.size(); ++i) devices[i] = outputs[i].device_type();
  } catch (const EnforceNotMet&) {  // a schema that contradicts itself; the net will report it
  }
  return devices;
}

// The size of a tensor with channels in blocks of 16, if it has channels.
int64_t PaddedElements(const TensorShape& shape) {
  constexpr int64_t kBlock = 16;
  std::vector<int64_t> dims = {shape.dims().begin(), shape.dims().end()};
  if (dims.size() >= 2) dims[1] = CheckedAdd(dims[1], kBlock - 1) / kBlock * kBlock;
  return CheckedProduct(dims);
}

// The bytes of a tensor, or kUnknown, also for an object of another type.
int64_t BytesOfValue(const OperatorDef& op, const TensorShape& shape, int device_type) {
  if (shape.unknown_shape()) return kUnknown;
  if (shape.data_type() != TensorProto::FLOAT && MemoryTraitsOf(op.type()).quantized_outputs) {
    return kUnknown;
  }
  TypeMeta type;
  try {
    type = DataTypeToTypeMeta(static_cast<int64_t>(shape.data_type()));
  } catch (const EnforceNotMet&) {
    return kUnknown;
  }
  if (!type.IsPlainData() || type.itemsize() == 0) return kUnknown;
  int64_t elements = 0;
  if (device_type == IDEEP) {
    elements = PaddedElements(shape);
  } else {
    elements = CheckedProduct(shape.dims());
  }
  return CheckedMultiply(elements, static_cast<int64_t>(type.itemsize()));
}

void AddValue(int64_t bytes, int device_type, bool is_first, BlobMemory* memory) {
  if (is_first) {
    memory->bytes = bytes;
    memory->device_type = device_type;
    return;
  }
  const bool known = memory->bytes != kUnknown && bytes != kUnknown;
  memory->bytes = known ? std::max(memory->bytes, bytes) : kUnknown;
  if (memory->device_type != device_type) memory->device_type = kNoDevice;
}

}  // namespace

namespace {

// Whether the operator is on IDEEP and gives its output in bf16, if its inputs are as foreseen.
bool WritesBfloat16(const OperatorDef& op) {
  const Argument* const precision = GetArgumentPtr(op, "output_precision");
  return op.device_option().device_type() == IDEEP && precision != nullptr &&
         precision->s() == "bf16";
}

// Halves the sizes of what is joined in bf16, inputs and output, so that the inputs can be written in
// place. If one of them turns out to be in float, it gets memory outside of the plan.
void HalveJoined(const NetDef& net, const NetBlobs& blobs, std::vector<BlobMemory>* memory) {
  std::vector<bool> rounded(blobs.size(), true), halved(blobs.size(), false);
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    if (WritesBfloat16(net.op(static_cast<int>(op)))) continue;
    for (const uint32_t blob : blobs.outputs(op)) rounded[blob] = false;
  }
  const auto halve = [&](uint32_t blob) {
    if (halved[blob] || !rounded[blob] || (*memory)[blob].bytes == kUnknown) return;
    halved[blob] = true;
    (*memory)[blob].bytes /= 2;
  };
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    if (!WritesBfloat16(def) || !MemoryTraitsOf(def.type()).input_parts) continue;
    halve(blobs.outputs(op)[0]);
    for (const uint32_t blob : blobs.inputs(op)) halve(blob);
  }
}

}  // namespace

bool IsPlannedDevice(int device_type) { return device_type == CPU || device_type == IDEEP; }

std::vector<BlobMemory> MemoryOfShapes(const NetDef& net, const NetBlobs& blobs,
                                       const std::vector<OpShapes>& shapes) try {
  CAFFE_ENFORCE_EQ(shapes.size(), blobs.num_operators(),
                   "operators with shapes, want all of net \"", net.name(), "\"");
  std::vector<BlobMemory> memory(blobs.size());
  std::vector<bool> seen(blobs.size(), false);
  for (size_t op = 0; op < shapes.size(); ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    const std::vector<int> devices = OutputDevices(net, def);
    for (size_t i = 0; i < blobs.outputs(op).size(); ++i) {
      const uint32_t blob = blobs.outputs(op)[i];
      const TensorShape& shape = shapes[op].outputs[i];
      int64_t bytes = kUnknown;
      try {
        bytes = BytesOfValue(def, shape, devices[i]);
      } catch (const EnforceNotMet& error) {
        CAFFE_THROW("the size of blob \"", blobs.name(blob), "\", output ", i, " of operator ", op,
                    " (", def.type(), "), is too large: ", error.message());
      }
      AddValue(bytes, devices[i], !seen[blob], &memory[blob]);
      seen[blob] = true;
      if (bytes == kUnknown && memory[blob].problem.empty()) {
        memory[blob].problem =
            shapes[op].problem.empty()
                ? MakeString("operator ", op, " (", def.type(), ") infers no size for it")
                : MakeString("operator ", op, " (", def.type(), "): ", shapes[op].problem);
      }
    }
  }
  HalveJoined(net, blobs, &memory);
  return memory;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

namespace {

bool KeepsMemory(const OperatorDef& op, const OpSchema* schema) {
  if (schema == nullptr || MemoryTraitsOf(op.type()).keeps_memory) return true;
  if (HasNestedNets(op)) return true;
  for (int i = 0; i < op.input_size(); ++i) {
    if (schema->input_is_synchronized(i) || schema->modifies_input(i)) return true;
  }
  for (int i = 0; i < op.output_size(); ++i) {
    if (schema->output_is_synchronized(i)) return true;
  }
  return false;
}

bool AccessesUnlisted(const OperatorDef& op, const OpSchema* schema) {
  try {
    return schema == nullptr || schema->accesses_unlisted_blobs(op);
  } catch (const EnforceNotMet&) {  // invalid arguments, which the constructor will reject as well
    return true;
  }
}

// Collects what MemoryDemand needs, with blobs that share memory merged.
class RootFinder {
 public:
  RootFinder(const NetDef& net, const NetDependencies& blobs)
      : net_(net), blobs_(blobs), excluded_(blobs.size(), false), root_(blobs.size(), kNone) {}

  // Returns false if nothing can be planned.
  bool FindExcluded(const std::set<std::string>& kept) {
    for (size_t op = 0; op < blobs_.num_operators(); ++op) {
      const OperatorDef& def = net_.op(static_cast<int>(op));
      const OpSchema* const schema = OpSchemaRegistry::Schema(def.type());
      if (schema != nullptr && AccessesUnlisted(def, schema)) return false;
      const bool keeps = KeepsMemory(def, schema);
      for (const uint32_t blob : blobs_.all(op)) {
        if (keeps) Exclude(blob);
      }
      for (const uint32_t blob : blobs_.nested(op)) Exclude(blob);
    }
    for (const uint32_t blob : blobs_.read_first()) Exclude(blob);
    for (const std::string& name : OutputsOf(net_)) ExcludeName(name);
    for (const std::string& name : kept) ExcludeName(name);
    return true;
  }

  // Finds the blob of each memory that operators write other than by sharing an input's memory. If
  // there are several, the memory is not planned.
  void FindRoots() {
    for (size_t op = 0; op < blobs_.num_operators(); ++op) {
      const OpSchema* const schema = OpSchemaRegistry::Schema(net_.op(static_cast<int>(op)).type());
      for (size_t i = 0; i < blobs_.outputs(op).size(); ++i) {
        const uint32_t blob = blobs_.outputs(op)[i], memory = blobs_.memory(blob);
        if (schema != nullptr && SharesInput(*schema, op, static_cast<int>(i))) continue;
        if (root_[memory] != kNone && root_[memory] != blob) excluded_[memory] = true;
        root_[memory] = blob;
      }
    }
  }

  bool IsExcluded(uint32_t blob) const {
    const uint32_t memory = blobs_.memory(blob);
    return excluded_[memory] || root_[memory] == kNone;
  }
  uint32_t root(uint32_t blob) const { return root_[blobs_.memory(blob)]; }

 private:
  static constexpr uint32_t kNone = MemoryDemand::kNone;

  void Exclude(uint32_t blob) { excluded_[blobs_.memory(blob)] = true; }
  void ExcludeName(const std::string& name) {
    const uint32_t blob = blobs_.Find(name);
    if (blob != NetBlobs::kNone) Exclude(blob);
  }
  bool SharesInput(const OpSchema& schema, size_t op, int output) const {
    const auto inputs = static_cast<int>(blobs_.inputs(op).size());
    return std::any_of(
        schema.shared_memory().begin(), schema.shared_memory().end(),
        [&](const auto& pair) { return pair.second == output && pair.first < inputs; });
  }

  const NetDef& net_;
  const NetDependencies& blobs_;
  std::vector<bool> excluded_;  // by memory
  std::vector<uint32_t> root_;  // by memory
};

void AddAccess(std::vector<uint32_t>* accesses, uint32_t op) {
  if (accesses->empty() || accesses->back() != op) accesses->push_back(op);
}

}  // namespace

MemoryDemand::MemoryDemand(const NetDef& net, const NetDependencies& blobs,
                           const std::vector<BlobMemory>& sizes, const std::set<std::string>& kept,
                           const std::vector<OpShapes>& shapes,
                           const std::set<uint32_t>& without_placement) try
    : item_(blobs.size(), kNone) {
  CAFFE_ENFORCE_EQ(sizes.size(), blobs.size(), "sizes of blobs of net \"", net.name(), "\"");
  request_.operators = CheckedCast<uint32_t>(blobs.num_operators(), "operators of a net");
  RootFinder finder(net, blobs);
  if (!finder.FindExcluded(kept)) return;
  finder.FindRoots();
  AddItems(blobs, sizes,
           [&](uint32_t blob) { return finder.IsExcluded(blob) ? kNone : finder.root(blob); });
  AddAccesses(blobs);
  if (!shapes.empty()) AddParts(net, blobs, shapes, without_placement);
  AddInPlace(net, blobs, sizes);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void MemoryDemand::AddItems(const NetDependencies& blobs, const std::vector<BlobMemory>& sizes,
                            const std::function<uint32_t(uint32_t)>& root_of) {
  // All blobs of a memory must have a known size and the same device.
  std::vector<int64_t> bytes(blobs.size(), 0);  // by root
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    const uint32_t root = root_of(blob);
    if (root == kNone || blobs.first_writer(blob) == NetBlobs::kNone) continue;
    const bool known = sizes[blob].bytes != kUnknown && IsPlannedDevice(sizes[blob].device_type) &&
                       sizes[blob].device_type == sizes[root].device_type;
    bytes[root] =
        known && bytes[root] != kUnknown ? std::max(bytes[root], sizes[blob].bytes) : kUnknown;
  }
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    const uint32_t root = root_of(blob);
    if (root != blob) continue;
    if (bytes[root] == kUnknown) {
      if (sizes[root].bytes == kUnknown) unknown_.push_back(blob);
    } else if (bytes[root] > 0) {
      item_[blob] = static_cast<uint32_t>(roots_.size());
      roots_.push_back(blob);
      devices_.push_back(static_cast<DeviceType>(sizes[blob].device_type));
      request_.items.push_back(
          {.bytes = static_cast<size_t>(bytes[root]), .writes = {}, .reads = {}});
    }
  }
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    const uint32_t root = root_of(blob);
    if (root != kNone) item_[blob] = item_[root];
  }
}

void MemoryDemand::AddAccesses(const NetDependencies& blobs) {
  for (uint32_t op = 0; op < request_.operators; ++op) {
    for (const auto uses : {blobs.inputs(op), blobs.control_inputs(op)}) {
      for (const uint32_t blob : uses) {
        if (item_[blob] != kNone) AddAccess(&request_.items[item_[blob]].reads, op);
      }
    }
    for (const uint32_t blob : blobs.outputs(op)) {
      if (item_[blob] != kNone) AddAccess(&request_.items[item_[blob]].writes, op);
    }
  }
}

namespace {

bool IsOnIdeep(const NetDef& net, const OperatorDef& op) {
  return MergeDeviceOption(net.device_option(), op.device_option()).device_type() == IDEEP;
}

// Whether an operator on IDEEP may compute images with channels last, in which the channels of one
// image are not contiguous.
bool HasChannelsLast(const NetDef& net) {
  for (const OperatorDef& op : net.op()) {
    const Argument* const layout = GetArgumentPtr(op, "layout");
    if (layout != nullptr && layout->s() == "nhwc" && IsOnIdeep(net, op)) return true;
  }
  return false;
}

// Whether the operator joins its inputs in blocks nevertheless (passes/onednn_joins.h).
bool JoinsBlocks(const OperatorDef& op) {
  const Argument* const blocked = GetArgumentPtr(op, "blocked_inputs");
  return blocked != nullptr && blocked->i() > 0;
}

}  // namespace

void MemoryDemand::AddParts(const NetDef& net, const NetDependencies& blobs,
                            const std::vector<OpShapes>& shapes,
                            const std::set<uint32_t>& without_placement) {
  using Kind = MemoryPlacement::Kind;
  const bool channels_last = HasChannelsLast(net);
  for (uint32_t op = 0; op < request_.operators; ++op) {
    const OperatorDef& def = net.op(static_cast<int>(op));
    if (channels_last && IsOnIdeep(net, def) && !JoinsBlocks(def)) continue;
    const MemoryTraits& traits = MemoryTraitsOf(def.type());
    if (without_placement.contains(op)) continue;
    const bool joins = static_cast<bool>(traits.input_parts);
    const MemoryTraits::PartsFunction& function = joins ? traits.input_parts : traits.output_parts;
    const auto wholes = joins ? blobs.outputs(op) : blobs.inputs(op);
    const auto parts = joins ? blobs.inputs(op) : blobs.outputs(op);
    if (!function || wholes.empty() || item_[wholes[0]] == kNone) continue;
    std::vector<MemoryTraits::Part> places;
    try {
      places = function(def, shapes[op].inputs, shapes[op].outputs);
    } catch (const EnforceNotMet&) {  // the operator will report the problem
      continue;
    }
    const uint32_t outer = item_[wholes[0]];
    for (const MemoryTraits::Part& part : places) {
      if (part.index < 0 || static_cast<size_t>(part.index) >= parts.size()) continue;
      const uint32_t inner = item_[parts[static_cast<size_t>(part.index)]];
      if (inner == kNone || inner == outer) continue;
      const size_t bytes = request_.items[outer].bytes;
      if (part.offset_bytes > bytes || request_.items[inner].bytes > bytes - part.offset_bytes)
        continue;
      request_.placements.push_back({.kind = joins ? Kind::kJoin : Kind::kSplit,
                                     .op = op,
                                     .inner = inner,
                                     .outer = outer,
                                     .offset = part.offset_bytes,
                                     .may_copy = IsOnIdeep(net, def)});
    }
  }
}

// An output may take the place of an input that its schema allows to be the same blob, if both have
// the same size. The memory of IDEEP may be in different layouts, so it is left out.
void MemoryDemand::AddInPlace(const NetDef& net, const NetDependencies& blobs,
                              const std::vector<BlobMemory>& sizes) {
  for (uint32_t op = 0; op < request_.operators; ++op) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(net.op(static_cast<int>(op)).type());
    const auto inputs = blobs.inputs(op), outputs = blobs.outputs(op);
    if (schema == nullptr || inputs.size() > kMostInPlace) continue;
    if (MemoryTraitsOf(schema->type()).same_blob_in_place) continue;
    for (size_t o = 0; o < std::min(outputs.size(), kMostInPlace); ++o) {
      const uint32_t inner = item_[outputs[o]];
      if (inner == kNone || sizes[outputs[o]].device_type != CPU) continue;
      for (size_t i = 0; i < inputs.size(); ++i) {
        const uint32_t outer = item_[inputs[i]];
        if (outer == kNone || outer == inner || sizes[inputs[i]].device_type != CPU) continue;
        if (request_.items[inner].bytes != request_.items[outer].bytes) continue;
        if (std::count(inputs.begin(), inputs.end(), inputs[i]) != 1) continue;
        if (!schema->inplace_allowed(static_cast<int>(i), static_cast<int>(o))) continue;
        request_.placements.push_back({.kind = MemoryPlacement::Kind::kInPlace,
                                       .op = op,
                                       .inner = inner,
                                       .outer = outer,
                                       .offset = 0});
      }
    }
  }
}

}  // namespace caffe2rt
