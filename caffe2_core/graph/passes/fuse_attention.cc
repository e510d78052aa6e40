#include "caffe2_core/graph/passes/fuse_attention.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "caffe2_core/graph/declared_arguments.h"
#include "caffe2_core/graph/passes/fused_operators.h"
#include "caffe2_core/graph/passes/group_fusion.h"

namespace caffe2rt {
namespace {

using Value = GroupFusion::Value;
using Group = std::vector<uint32_t>;
using Axes = std::vector<int>;

// The axes of rows, heads and columns as a matrix multiplication must see them, in terms of
// [batch, rows, heads, columns] or [rows, heads, columns].
Axes RowsByColumns(size_t rank) { return rank == 4 ? Axes{0, 2, 1, 3} : Axes{1, 0, 2}; }
Axes ColumnsByRows(size_t rank) { return rank == 4 ? Axes{0, 2, 3, 1} : Axes{1, 2, 0}; }

// The constant shape argument or input of a Reshape, or nothing.
std::optional<std::vector<int64_t>> AnyShapeOf(const GroupFusion& groups, uint32_t reshape) {
  if (groups.values().num_inputs(reshape) == 1) {
    return DeclaredArguments(groups.op(reshape)).GetRepeatedArgument<int64_t>("shape");
  }
  const Tensor* const shape = groups.Constant(reshape, 1);
  if (shape == nullptr || shape->dim() != 1) return std::nullopt;
  if (shape->IsType<int64_t>()) {
    return std::vector<int64_t>(shape->data<int64_t>(), shape->data<int64_t>() + shape->numel());
  }
  if (shape->IsType<int32_t>()) {
    return std::vector<int64_t>(shape->data<int32_t>(), shape->data<int32_t>() + shape->numel());
  }
  return std::nullopt;
}

// The constant shape that a Reshape uses, or nothing if it is unknown or has no dimension other than 0. As
// arguments of MultiHeadAttention, zeros state that nothing is reshaped, while Reshape makes zeros of an
// empty tensor.
std::optional<std::vector<int64_t>> ShapeOf(const GroupFusion& groups, uint32_t reshape) {
  auto shape = AnyShapeOf(groups, reshape);
  if (shape && std::all_of(shape->begin(), shape->end(), [](int64_t dim) { return dim == 0; })) {
    return std::nullopt;
  }
  return shape;
}

// The axes of a Transpose. Empty if they are invalid, or are the default, whose rank is not known.
Axes TransposeAxes(const GroupFusion& groups, uint32_t transpose) {
  const Axes axes = DeclaredArguments(groups.op(transpose)).GetRepeatedArgument<int>("axes");
  Axes sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int>(i)) return {};
  }
  return axes;
}

// Q, K or V of a matrix multiplication, followed back to the value before its heads were split.
struct Operand {
  std::string blob;
  std::vector<int64_t> shape;  // [batch, rows, heads, columns] or [rows, heads, columns]
  double scale = 1;
  Group group;
};

// Follows input `i` of the matrix multiplication `op` back through scalings, Transposes and one
// Reshape. `transposed` states whether the multiplication swaps its last two axes. `want` gives the
// axes that it must see.
std::optional<Operand> FindOperand(const GroupFusion& groups, uint32_t op, size_t i,
                                   bool transposed, Axes (*want)(size_t rank)) {
  const NetValues& values = groups.values();
  Operand found;
  Axes axes;  // of the value that is reached, in the order in which `op` sees them
  uint32_t reader = op;
  size_t input = i;
  while (true) {
    const Value value = values.input(reader, input);
    const uint32_t writer = values.writer(value);
    if (writer == GroupFusion::kNone || values.SoleReader(value) == GroupFusion::kNone) break;
    if (const auto scaling = groups.AsScaling(writer)) {
      found.scale *= scaling->factor;
      input = values.input(writer, 0) == scaling->x ? 0 : 1;
    } else if (!found.shape.empty()) {
      break;  // beyond the Reshape only scalings are of interest
    } else if (groups.IsType(writer, "Transpose")) {
      const Axes step = TransposeAxes(groups, writer);
      if (step.empty() || (!axes.empty() && axes.size() != step.size())) return std::nullopt;
      if (axes.empty()) {
        for (size_t axis = 0; axis < step.size(); ++axis) axes.push_back(static_cast<int>(axis));
        if (transposed && axes.size() >= 2) std::iter_swap(axes.end() - 1, axes.end() - 2);
      }
      for (int& axis : axes) axis = step[static_cast<size_t>(axis)];
      input = 0;
    } else if (groups.IsType(writer, "Reshape")) {
      const auto shape = ShapeOf(groups, writer);
      if (!shape || shape->size() != axes.size()) return std::nullopt;
      found.shape = *shape;
      input = 0;
    } else {
      break;
    }
    found.group.push_back(writer);
    reader = writer;
  }
  if ((axes.size() != 3 && axes.size() != 4) || axes != want(axes.size())) return std::nullopt;
  if (found.shape.empty()) found.shape.assign(axes.size(), 0);
  found.blob = groups.op(reader).input(static_cast<int>(input));
  return found;
}

bool HasFlag(const GroupFusion& groups, uint32_t op, const char* name) {
  return DeclaredArguments(groups.op(op)).Get<bool>(name);
}

// What computes the scores that a Softmax reads.
struct Scores {
  uint32_t multiply = GroupFusion::kNone;  // the BatchMatMul of queries and keys
  std::string mask;                        // empty: none
  double scale = 1;
  Group group;
};

// Follows the value back through scalings to a BatchMatMul.
bool FindProduct(const GroupFusion& groups, Value value, Scores* found) {
  const NetValues& values = groups.values();
  while (true) {
    const uint32_t writer = values.writer(value);
    if (writer == GroupFusion::kNone || values.SoleReader(value) == GroupFusion::kNone)
      return false;
    found->group.push_back(writer);
    if (groups.IsType(writer, "BatchMatMul")) {
      found->multiply = writer;
      return true;
    }
    const auto scaling = groups.AsScaling(writer);
    if (!scaling) return false;
    found->scale *= scaling->factor;
    value = scaling->x;
  }
}

std::optional<Scores> FindScores(const GroupFusion& groups, Value value) {
  Scores plain;
  if (FindProduct(groups, value, &plain)) return plain;
  const uint32_t add = groups.Writer(value, "Add");
  if (add == GroupFusion::kNone || groups.values().SoleReader(value) == GroupFusion::kNone ||
      !groups.BroadcastsLikeNumpy(add)) {
    return std::nullopt;
  }
  for (const size_t i : {0u, 1u}) {
    Scores masked;
    if (!FindProduct(groups, groups.values().input(add, i), &masked)) continue;
    masked.mask = groups.op(add).input(static_cast<int>(1 - i));
    masked.group.push_back(add);
    return masked;
  }
  return std::nullopt;
}

// The result of attention, followed forward to the value where the heads are joined.
struct AttentionResult {
  uint32_t last = GroupFusion::kNone;
  std::vector<int64_t> shape;
  Group group;
};

std::optional<AttentionResult> FindResult(const GroupFusion& groups, uint32_t multiply,
                                          size_t rank) {
  const NetValues& values = groups.values();
  Axes axes;  // of [batch, heads, rows, columns] or [heads, rows, columns]
  for (size_t axis = 0; axis < rank; ++axis) axes.push_back(static_cast<int>(axis));
  AttentionResult found;
  found.last = multiply;
  while (axes != RowsByColumns(rank)) {
    const uint32_t next = groups.SoleReader(values.output(found.last, 0), "Transpose");
    if (next == GroupFusion::kNone || found.group.size() > rank) return std::nullopt;
    const Axes step = TransposeAxes(groups, next);
    if (step.size() != rank) return std::nullopt;
    Axes result;
    for (const int axis : step) result.push_back(axes[static_cast<size_t>(axis)]);
    axes = result;
    found.group.push_back(next);
    found.last = next;
  }
  found.shape.assign(rank, 0);
  const Value joined = values.output(found.last, 0);
  const uint32_t reshape = groups.SoleReader(joined, "Reshape");
  if (reshape == GroupFusion::kNone || values.input(reshape, 0) != joined) return found;
  if (const auto shape = ShapeOf(groups, reshape)) {
    // The old shape, output 1, must not be read: Fuse checks it.
    found.shape = *shape;
    found.group.push_back(reshape);
    found.last = reshape;
  }
  return found;
}

// Whether the Softmax is over the last of `rank` axes.
bool IsOverLastAxis(const GroupFusion& groups, uint32_t softmax, size_t rank) {
  const int axis = DeclaredArguments(groups.op(softmax)).Get<int>("axis");
  return axis == -1 || axis == static_cast<int>(rank) - 1;
}

// The weights that the values are multiplied by.
struct Weights {
  Value value = GroupFusion::kNone;
  bool nan_to_zero = false;
  Group group;
};

// The result of the Softmax p, or of ONNXWhere(IsNaN(p), 0, p), in which exporters of PyTorch's
// attention give queries without keys the weights 0. A Cast makes bools of what IsNaN returns.
Weights FindWeights(const GroupFusion& groups, uint32_t softmax) {
  const NetValues& values = groups.values();
  Weights found;
  found.value = values.output(softmax, 0);
  for (const NetValues::Read& read : values.readers(found.value)) {
    if (!groups.IsType(read.op, "ONNXWhere") || read.input != 2) continue;
    Group group = {read.op};
    Value condition = values.input(read.op, 0);
    if (const uint32_t cast = groups.Writer(condition, "Cast"); cast != GroupFusion::kNone) {
      group.push_back(cast);
      condition = values.input(cast, 0);
    }
    const uint32_t is_nan = groups.Writer(condition, "IsNaN");
    if (is_nan == GroupFusion::kNone || values.input(is_nan, 0) != found.value) continue;
    if (groups.Number(read.op, 1) != 0.f) continue;
    group.push_back(is_nan);
    found.group = group;
    found.nan_to_zero = true;
    found.value = values.output(read.op, 0);
    break;
  }
  return found;
}

bool FuseSoftmax(GroupFusion* groups, uint32_t softmax) {
  const NetValues& values = groups->values();
  const auto scores = FindScores(*groups, values.input(softmax, 0));
  if (!scores) return false;
  const Weights weights = FindWeights(*groups, softmax);
  const uint32_t multiply = groups->SoleReader(weights.value, "BatchMatMul");
  if (multiply == GroupFusion::kNone || values.input(multiply, 0) != weights.value ||
      HasFlag(*groups, multiply, "trans_a")) {
    return false;
  }
  const auto q = FindOperand(*groups, scores->multiply, 0,
                             HasFlag(*groups, scores->multiply, "trans_a"), RowsByColumns);
  const auto k = FindOperand(*groups, scores->multiply, 1,
                             HasFlag(*groups, scores->multiply, "trans_b"), ColumnsByRows);
  const auto v =
      FindOperand(*groups, multiply, 1, HasFlag(*groups, multiply, "trans_b"), RowsByColumns);
  if (!q || !k || !v || q->shape.size() != k->shape.size() || q->shape.size() != v->shape.size() ||
      !IsOverLastAxis(*groups, softmax, q->shape.size()) || v->scale != 1) {
    return false;
  }
  const auto result = FindResult(*groups, multiply, q->shape.size());
  if (!result) return false;
  Group group = {softmax, multiply};
  for (const Group* part :
       {&scores->group, &weights.group, &q->group, &k->group, &v->group, &result->group}) {
    group.insert(group.end(), part->begin(), part->end());
  }
  std::vector<std::string> inputs = {q->blob, k->blob, v->blob};
  if (!scores->mask.empty()) inputs.push_back(scores->mask);
  const auto scale = static_cast<float>(scores->scale * q->scale * k->scale);
  OperatorDef fused =
      CreateOperatorDef(kAttentionType, "", inputs, {groups->op(result->last).output(0)},
                        {MakeArgument<float>("scale", scale), MakeArgument("query_shape", q->shape),
                         MakeArgument("key_shape", k->shape), MakeArgument("value_shape", v->shape),
                         MakeArgument("output_shape", result->shape)});
  if (!HasFlag(*groups, scores->multiply, "broadcast")) AddArgument("equal_keys", true, &fused);
  if (!HasFlag(*groups, multiply, "broadcast")) AddArgument("equal_values", true, &fused);
  if (!scores->mask.empty() && q->shape.size() == 3) AddArgument("mask_rank", 3, &fused);
  if (weights.nan_to_zero) AddArgument("nan_to_zero", true, &fused);
  return groups->Fuse(std::move(group), std::move(fused));
}

}  // namespace

NetDef FuseAttention(NetDef net, PassContext& context) {
  GroupFusion groups(&net, context);
  for (uint32_t op = 0; op < groups.size(); ++op) {
    if (groups.IsType(op, "Softmax")) FuseSoftmax(&groups, op);
  }
  groups.Apply();
  return net;
}

}  // namespace caffe2rt
