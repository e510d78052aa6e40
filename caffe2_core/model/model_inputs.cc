#include "caffe2_core/model/model_inputs.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <span>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/base/suggest.h"
#include "caffe2_core/base/utf8.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt {
namespace {

// The value that the init nets leave in a blob.
struct Filler {
  const OperatorDef* op = nullptr;  // the last operator that writes the blob
  const Tensor* values = nullptr;   // its elements, if they were read apart from the net
};

std::map<std::string, Filler> FillersOf(
    const std::vector<const NetDef*>& init_nets,
    const std::vector<std::vector<OperatorWeights>>& init_weights) {
  std::map<std::string, Filler> fillers;
  for (size_t n = 0; n < init_nets.size(); ++n) {
    const NetDef& net = *init_nets[n];
    for (const OperatorDef& op : net.op()) {
      for (const std::string& output : op.output()) fillers[output] = {.op = &op};
    }
    if (n >= init_weights.size()) continue;
    for (const OperatorWeights& weights : init_weights[n]) {
      for (const std::string& output : net.op(weights.op).output()) {
        Filler& filler = fillers[output];
        if (filler.op == &net.op(weights.op)) filler.values = &weights.values;
      }
    }
  }
  return fillers;
}

bool IsConstantZero(const OperatorDef& op) {
  if (TraitsOf(op.type()).fill != FillForm::kConstant || op.input_size() > 0 ||
      op.output_size() != 1) {
    return false;
  }
  const Argument* const value = GetArgumentPtr(op, "value");
  return value == nullptr || (value->f() == 0 && value->i() == 0 && value->s().empty());
}

std::vector<int64_t> ShapeOf(const OperatorDef& op) {
  const Argument* const shape = GetArgumentPtr(op, "shape");
  if (shape == nullptr) return {};
  return {shape->ints().begin(), shape->ints().end()};
}

// One zero of the shape [1, 1].
bool IsMarkOfMobileExporter(const Filler& filler) {
  const OperatorDef& op = *filler.op;
  if (TraitsOf(op.type()).fill != FillForm::kGivenFloats) return false;
  if (ShapeOf(op) != std::vector<int64_t>{1, 1}) return false;
  if (filler.values != nullptr) {
    return filler.values->IsType<float>() && filler.values->numel() == 1 &&
           filler.values->data<float>()[0] == 0;
  }
  const Argument* const values = GetArgumentPtr(op, "values");
  return values != nullptr && values->floats_size() == 1 && values->floats(0) == 0;
}

// Whether the first operator that reads the blob reads it as its first input.
bool IsReadAsFirstInput(const NetDef& net, const std::string& name) {
  for (const OperatorDef& op : net.op()) {
    for (int i = 0; i < op.input_size(); ++i) {
      if (op.input(i) == name) return i == 0;
    }
  }
  return false;
}

// The blobs that are data by their position in the net.
std::set<std::string> DataByPosition(const NetDef& net) {
  std::set<std::string> names;
  if (net.external_input_size() > 0) names.insert(net.external_input(0));
  for (const OperatorDef& op : net.op()) {
    if (op.input_size() == 0) continue;
    names.insert(op.input(0));
    break;
  }
  std::erase_if(names, [&](const std::string& name) { return !IsReadAsFirstInput(net, name); });
  return names;
}

bool IsZero(const Blob& blob) {
  if (!blob.IsType<Tensor>() || !blob.Get<Tensor>().IsType<float>()) return false;
  const Tensor& tensor = blob.Get<Tensor>();
  if (!tensor.HasData() || tensor.GetDeviceType() != CPU) return false;
  const float* const values = tensor.data<float>();
  return std::all_of(values, values + tensor.numel(), [](float value) { return value == 0; });
}

// The shape of the first input of an operator, from the shape of its weights; "" if unknown.
std::string ShapeFor(const OperatorDef& op, const TensorShape& weights) {
  const LinearForm form = TraitsOf(op.type()).linear;
  const int rank = weights.dims_size();
  if ((form == LinearForm::kFC || form == LinearForm::kFCTransposed) && rank == 2) {
    return MakeString("float [N, ", weights.dims(form == LinearForm::kFC ? 1 : 0), "]");
  }
  const bool transposed = form == LinearForm::kConvTranspose;
  if (!transposed && form != LinearForm::kConv) return "";
  if (rank < 3 || rank > 5) return "";
  const char* const sizes = rank == 3 ? "W" : rank == 4 ? "H, W" : "D, H, W";
  const Argument *order = GetArgumentPtr(op, "order"), *group = GetArgumentPtr(op, "group");
  const bool channels_last = order != nullptr && ParseStorageOrder(order->s()) == NHWC;
  const int64_t groups = group != nullptr && !transposed ? group->i() : 1;
  const int64_t channels = weights.dims(transposed ? 0 : channels_last ? rank - 1 : 1);
  if (channels <= 0 || groups <= 0 || channels > INT32_MAX || groups > INT32_MAX) return "";
  return channels_last ? MakeString("float [N, ", sizes, ", ", channels * groups, "]")
                       : MakeString("float [N, ", channels * groups, ", ", sizes, "]");
}

// The shape that an operator needs as its first input; "" if unknown.
std::string ShapeNeededBy(const OperatorDef& op, const ShapeMap& shapes) {
  if (const char* const shape = TraitsOf(op.type()).input_shape) return shape;
  if (op.input_size() < 2) return "";
  const auto weights = shapes.find(op.input(1));
  if (weights == shapes.end() || weights->second.unknown_shape()) return "";
  return ShapeFor(op, weights->second);
}

// The shapes that the net suggests for the inputs `names`, as far as they are known.
std::map<std::string, std::string> SuggestedShapes(const NetDef& net,
                                                   std::span<const std::string> names,
                                                   const std::vector<ZeroPlaceholder>& placeholders,
                                                   const ShapeMap& shapes) {
  std::map<std::string, std::string> suggested;
  for (const std::string& name : names) suggested[name] = "";
  for (const ZeroPlaceholder& placeholder : placeholders) {
    const auto it = suggested.find(placeholder.name);
    if (it == suggested.end() || !placeholder.HasInputShape()) continue;
    it->second = MakeString("float [", absl::StrJoin(placeholder.dims, ", "), "]");
  }
  for (const OperatorDef& op : net.op()) {
    if (op.input_size() == 0) continue;
    const auto it = suggested.find(op.input(0));
    if (it != suggested.end() && it->second.empty()) it->second = ShapeNeededBy(op, shapes);
  }
  return suggested;
}

// Whether the net declares the blob as an external input, or an operator or a nested net reads it.
bool Reads(const NetDef& net, const std::string& name) {
  const auto& declared = net.external_input();
  if (std::find(declared.begin(), declared.end(), name) != declared.end()) return true;
  if (NetBlobs(net).Reads(name)) return true;
  return std::any_of(net.op().begin(), net.op().end(), [&](const OperatorDef& op) {
    if (!HasNestedNets(op)) return false;
    const std::vector<std::string> read = NestedBlobsOf(op).read;
    return std::find(read.begin(), read.end(), name) != read.end();
  });
}

bool AccessesUnlistedBlobs(const NetDef& net) {
  return std::any_of(net.op().begin(), net.op().end(), [](const OperatorDef& op) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op.type());
    return schema != nullptr && schema->accesses_unlisted_blobs(op);
  });
}

}  // namespace

bool ZeroPlaceholder::HasInputShape() const {
  return std::any_of(dims.begin(), dims.end(), [](int64_t dim) { return dim > 1; });
}

std::vector<ZeroPlaceholder> ZeroPlaceholdersOf(
    const NetDef& net, const std::vector<const NetDef*>& init_nets,
    const std::vector<std::vector<OperatorWeights>>& init_weights,
    const std::vector<std::string>& listed) try {
  const NetBlobs blobs(net);
  const std::map<std::string, Filler> fillers = FillersOf(init_nets, init_weights);
  const auto is_filled = [&](const std::string& name) { return fillers.contains(name); };
  std::set<std::string> candidates;
  if (std::any_of(listed.begin(), listed.end(), is_filled)) {
    candidates.insert(listed.begin(), listed.end());
  } else if (UnfilledInputs(net, is_filled).empty()) {
    candidates = DataByPosition(net);
  }
  std::vector<ZeroPlaceholder> found;
  for (const auto& [name, filler] : fillers) {
    if (!blobs.Reads(name) || blobs.Writes(name)) continue;
    const bool is_zero = candidates.contains(name) && IsConstantZero(*filler.op);
    if (!is_zero && !IsMarkOfMobileExporter(filler)) continue;
    found.push_back({.name = name, .dims = ShapeOf(*filler.op)});
  }
  return found;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void RemoveZeroPlaceholders(Model* model, Workspace* ws) try {
  CAFFE_ENFORCE(model != nullptr && ws != nullptr, "an argument of RemoveZeroPlaceholders is null");
  if (model->packed != nullptr) {
    const NetBlobs blobs(model->predict_net);
    const std::set<std::string> data = DataByPosition(model->predict_net);
    for (const std::string& name : model->placeholders) {
      const std::shared_ptr<const Blob> blob = ws->FindBlob(name);
      if (!data.contains(name) || blobs.Writes(name) || blob == nullptr || !IsZero(*blob)) continue;
      model->zero_placeholders.push_back({.name = name, .dims = blob->Get<Tensor>().dims()});
    }
  }
  for (const ZeroPlaceholder& placeholder : model->zero_placeholders) {
    ws->RemoveBlob(placeholder.name);
  }
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::vector<std::string> UnfilledInputs(
    const NetDef& net, const std::function<bool(const std::string&)>& is_filled) try {
  const NetBlobs blobs(net);
  std::vector<std::string> missing;
  for (const uint32_t blob : blobs.read_first()) {
    if (!is_filled(blobs.name(blob))) missing.push_back(blobs.name(blob));
  }
  return missing;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

std::string InputsNotGivenText(const NetDef& net, const std::vector<std::string>& names,
                               const std::vector<ZeroPlaceholder>& placeholders,
                               const ShapeMap& shapes) try {
  CAFFE_ENFORCE(!names.empty(), "argument names of InputsNotGivenText is empty");
  const std::span<const std::string> first(names.data(), std::min<size_t>(names.size(), 10));
  const std::map<std::string, std::string> suggested =
      SuggestedShapes(net, first, placeholders, shapes);
  if (names.size() == 1) {
    const std::string& shape = suggested.at(names[0]);
    return MakeString("input \"", Shortened(names[0]), "\" was not given",
                      shape.empty() ? "" : "; the net suggests the shape ", shape);
  }
  std::vector<std::string> shown;
  for (const std::string& name : first) {
    const std::string& shape = suggested.at(name);
    shown.push_back(MakeString("\"", Shortened(name), "\"",
                               shape.empty() ? "" : MakeString(" (the net suggests ", shape, ")")));
  }
  const size_t others = names.size() - shown.size();
  return MakeString("inputs ", absl::StrJoin(shown, ", "),
                    others > 0 ? MakeString(" and ", others, " more") : "", " were not given");
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void CheckInputName(const std::vector<const NetDef*>& nets, const std::string& name) try {
  std::vector<std::string> inputs;
  bool any_name = false;
  for (const NetDef* net : nets) {
    CAFFE_ENFORCE(net != nullptr, "argument nets of CheckInputName has a null net");
    if (Reads(*net, name)) return;
    any_name |= AccessesUnlistedBlobs(*net);
    for (std::string& input : InputsOf(*net)) inputs.push_back(std::move(input));
  }
  std::string close = absl::StrJoin(NearestNames(name, inputs), "\", \"");
  if (any_name && close.empty()) return;
  if (!close.empty()) close = "; close: \"" + close + "\"";
  CAFFE_THROW(
      "no operator of ",
      nets.size() == 1 ? MakeString("net \"", Shortened(nets[0]->name()), "\"") : "the plan's nets",
      " reads input \"", Shortened(name), "\"", close);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
