#include "caffe2_core/graph/net_summary.h"

#include <absl/strings/str_join.h>

#include <algorithm>
#include <map>
#include <new>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/net_blobs.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/tensor/data_type.h"

namespace caffe2rt {
namespace {

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

// The number of elements of a filter for one index of its first dimension.
int64_t ElementsBeyondFirstDim(const TensorShape& shape) {
  int64_t count = 1;
  for (int i = 1; i < shape.dims_size(); ++i)
    count = SaturatingMultiply(count, std::max<int64_t>(shape.dims(i), 0));
  return count;
}

size_t ElementSize(const TensorShape& shape) {
  try {
    return DataTypeToTypeMeta(static_cast<int64_t>(shape.data_type())).itemsize();
  } catch (...) {
    return 0;
  }
}

bool FlagOf(const OperatorDef& op, const std::string& name) {
  const Argument* arg = GetArgumentPtr(op, name);
  return arg != nullptr && arg->i() != 0;
}

// Counts the blobs that an init net writes as parameters, each for its last writer.
void CountWritten(const NetDef& net, NetSummary* summary) {
  const NetBlobs blobs(net);
  for (size_t i = 0; i < summary->ops.size(); ++i) {
    OpSummary& op = summary->ops[i];
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      if (blobs.last_writer(blobs.outputs(i)[k]) != i) continue;
      op.parameters = SaturatingAdd(op.parameters, ElementsOf(op.outputs[k]));
      summary->parameter_bytes = SaturatingAdd(summary->parameter_bytes, BytesOf(op.outputs[k]));
    }
    summary->parameters = SaturatingAdd(summary->parameters, op.parameters);
  }
}

}  // namespace

int64_t ElementsOf(const TensorShape& shape) {
  if (shape.unknown_shape()) return 0;
  int64_t count = 1;
  for (const int64_t dim : shape.dims())
    count = SaturatingMultiply(count, std::max<int64_t>(dim, 0));
  return count;
}

int64_t BytesOf(const TensorShape& shape) {
  return SaturatingMultiply(ElementsOf(shape), static_cast<int64_t>(ElementSize(shape)));
}

std::string ShapeText(const TensorShape& shape) {
  if (shape.unknown_shape()) return "?";
  return MakeString(DataTypeName(shape.data_type()), " [", absl::StrJoin(shape.dims(), ", "), "]");
}

int64_t MultiplyAdds(const OperatorDef& op, const std::vector<TensorShape>& inputs,
                     const std::vector<TensorShape>& outputs) {
  if (inputs.size() < 2 || outputs.empty()) return 0;
  const TensorShape &x = inputs[0], &w = inputs[1], &y = outputs[0];
  if (x.unknown_shape() || w.unknown_shape() || y.unknown_shape()) return 0;
  switch (TraitsOf(op.type()).multiply_adds) {
    case MultiplyAddCount::kNotCounted:
      return 0;
    case MultiplyAddCount::kConv:
      return SaturatingMultiply(ElementsOf(y), ElementsBeyondFirstDim(w));
    case MultiplyAddCount::kConvTranspose:
      return SaturatingMultiply(ElementsOf(x), ElementsBeyondFirstDim(w));
    case MultiplyAddCount::kFC: {
      const int64_t columns = y.dims_size() > 0 ? y.dims(y.dims_size() - 1) : 1;
      return columns > 0 ? SaturatingMultiply(ElementsOf(y), ElementsOf(w) / columns) : 0;
    }
    case MultiplyAddCount::kMatMul: {
      if (x.dims_size() == 0) return 0;
      const int inner =
          x.dims_size() == 1 || !FlagOf(op, "trans_a") ? x.dims_size() - 1 : x.dims_size() - 2;
      return SaturatingMultiply(ElementsOf(y), std::max<int64_t>(x.dims(inner), 0));
    }
  }
  return 0;
}

bool FillsWeights(const NetDef& net) {
  int fills = 0;
  const auto loads = [](const OperatorDef& op) { return TraitsOf(op.type()).loads_blobs; };
  for (const OperatorDef& op : net.op()) fills += op.input_size() == 0 || loads(op);
  if (2 * fills <= net.op_size()) return false;
  const NetBlobs blobs(net);
  for (size_t op = 0; op < blobs.num_operators(); ++op) {
    if (loads(net.op(static_cast<int>(op)))) continue;
    for (const uint32_t writer : blobs.input_writers(op)) {
      if (writer == NetBlobs::kNone) return false;
    }
  }
  return true;
}

NetSummary SummarizeNet(const std::vector<const NetDef*>& init_nets, const NetDef& net,
                        const ShapeMap& seeds, const std::set<std::string>& parameter_names) try {
  NetSummary summary;
  summary.shapes = seeds;
  InferOpShapes(init_nets, &summary.shapes);
  // Seeds override the shapes that init nets give: the caller feeds these blobs.
  for (const auto& [name, shape] : seeds) summary.shapes[name] = shape;
  std::set<std::string> parameters = parameter_names;
  for (const NetDef* init : init_nets) {
    if (!parameter_names.empty()) break;
    for (std::string& name : NamesWrittenBy(*init)) parameters.insert(std::move(name));
  }
  for (const auto& [name, shape] : seeds) {
    if (!parameter_names.contains(name)) parameters.erase(name);
  }
  std::vector<OpShapes> shapes = InferOpShapes({&net}, &summary.shapes);
  std::map<std::string, int64_t> written;
  for (int i = 0; i < net.op_size(); ++i) {
    const OperatorDef& def = net.op(i);
    OpShapes& found = shapes[static_cast<size_t>(i)];
    OpSummary op{.type = def.type(),
                 .name = def.name(),
                 .input_names = {def.input().begin(), def.input().end()},
                 .output_names = {def.output().begin(), def.output().end()},
                 .inputs = std::move(found.inputs),
                 .outputs = std::move(found.outputs),
                 .problem = std::move(found.problem)};
    const auto known = [](const TensorShape& shape) { return !shape.unknown_shape(); };
    op.complete = std::all_of(op.inputs.begin(), op.inputs.end(), known) &&
                  std::all_of(op.outputs.begin(), op.outputs.end(), known);
    summary.unknown_ops += !op.complete;
    for (size_t k = 0; k < op.inputs.size(); ++k) {
      if (parameters.erase(op.input_names[k]) == 0) continue;
      op.parameters = SaturatingAdd(op.parameters, ElementsOf(op.inputs[k]));
      summary.parameter_bytes = SaturatingAdd(summary.parameter_bytes, BytesOf(op.inputs[k]));
    }
    op.multiply_adds = MultiplyAdds(def, op.inputs, op.outputs);
    for (size_t k = 0; k < op.outputs.size(); ++k) {
      const int64_t bytes = BytesOf(op.outputs[k]);
      op.output_bytes = SaturatingAdd(op.output_bytes, bytes);
      int64_t& largest = written[op.output_names[k]];
      largest = std::max(largest, bytes);
    }
    summary.parameters = SaturatingAdd(summary.parameters, op.parameters);
    summary.multiply_adds = SaturatingAdd(summary.multiply_adds, op.multiply_adds);
    summary.ops.push_back(std::move(op));
  }
  if (init_nets.empty() && FillsWeights(net)) CountWritten(net, &summary);
  for (const auto& [name, bytes] : written)
    summary.activation_bytes = SaturatingAdd(summary.activation_bytes, bytes);
  return summary;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
