#include "caffe2_core/import/onnx/folding.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/import/onnx/small_array.h"

namespace caffe2rt {
namespace {

using Proto = onnx::TensorProto;

// --- shapes of arrays ---

OnnxArrayResult WithDims(const OnnxArray& x, OnnxDims dims) {
  const std::optional<int64_t> size = SmallOnnxSize(dims);
  if (!size.has_value() || *size != x.size()) return std::nullopt;
  OnnxArray out = x;
  out.dims = std::move(dims);
  return out;
}

OnnxArrayResult FoldReshape(const OnnxArrays& in, bool allow_zero) {
  if (in.size() < 2 || in[1] == nullptr) return std::nullopt;
  OnnxDims dims = in[1]->ints;
  int64_t known = 1;
  size_t open = dims.size();
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !allow_zero && i < in[0]->dims.size()) dims[i] = in[0]->dims[i];
    if (dims[i] < 0) {
      open = i;
    } else if (dims[i] <= kMaxOnnxContent) {
      known *= std::max<int64_t>(dims[i], 1);
    }
    if (known > kMaxOnnxContent) return std::nullopt;
  }
  if (open < dims.size()) dims[open] = in[0]->size() / known;
  return WithDims(*in[0], dims);
}

OnnxArrayResult FoldSqueeze(const OnnxArrays& in) {
  const OnnxArray& x = *in[0];
  OnnxDims dims;
  const auto rank = static_cast<int64_t>(x.dims.size());
  for (int64_t i = 0; i < rank; ++i) {
    bool removed = in.size() < 2 && x.dims[static_cast<size_t>(i)] == 1;
    for (size_t k = 0; in.size() > 1 && k < in[1]->ints.size(); ++k) {
      removed |= OnnxNode::AxisOf(in[1]->ints[k], rank) == i;
    }
    if (!removed) dims.push_back(x.dims[static_cast<size_t>(i)]);
  }
  return WithDims(x, dims);
}

OnnxArrayResult FoldUnsqueeze(const OnnxArrays& in) {
  if (in.size() < 2) return std::nullopt;
  const auto rank = static_cast<int64_t>(in[0]->dims.size() + in[1]->ints.size());
  std::vector<bool> inserted(static_cast<size_t>(rank));
  for (const int64_t axis : in[1]->ints) {
    inserted[static_cast<size_t>(OnnxNode::AxisOf(axis, rank))] = true;
  }
  OnnxDims dims;
  size_t next = 0;
  for (const bool one : inserted) {
    if (!one && next == in[0]->dims.size()) return std::nullopt;
    dims.push_back(one ? 1 : in[0]->dims[next++]);
  }
  return WithDims(*in[0], dims);
}

// Takes the positions along an axis.
OnnxArrayResult TakeAlong(const OnnxArray& x, size_t axis, const std::vector<int64_t>& positions,
                          const OnnxDims& in_place) {
  OnnxArray out = {.type = x.type};
  out.dims.assign(x.dims.begin(), x.dims.begin() + static_cast<int64_t>(axis));
  out.dims.insert(out.dims.end(), in_place.begin(), in_place.end());
  out.dims.insert(out.dims.end(), x.dims.begin() + static_cast<int64_t>(axis) + 1, x.dims.end());
  if (!SmallOnnxSize(out.dims).has_value()) return std::nullopt;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < axis; ++i) outer *= x.dims[i];
  for (size_t i = axis + 1; i < x.dims.size(); ++i) inner *= x.dims[i];
  const int64_t size = x.dims[axis];
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t position : positions) {
      const int64_t at = position < 0 ? position + size : position;
      if (at < 0 || at >= size) return std::nullopt;
      for (int64_t i = 0; i < inner; ++i) {
        out.Push(x, static_cast<size_t>((o * size + at) * inner + i));
      }
    }
  }
  return out;
}

OnnxArrayResult FoldGather(const OnnxArrays& in, int64_t axis) {
  if (in.size() < 2 || in[0]->dims.empty()) return std::nullopt;
  const int64_t at = OnnxNode::AxisOf(axis, static_cast<int64_t>(in[0]->dims.size()));
  return TakeAlong(*in[0], static_cast<size_t>(at), in[1]->ints, in[1]->dims);
}

OnnxArrayResult FoldSlice(const OnnxArrays& in) {
  if (in.size() < 3) return std::nullopt;
  OnnxArrayResult out = *in[0];
  for (size_t k = 0; k < in[1]->ints.size(); ++k) {
    const auto rank = static_cast<int64_t>(out->dims.size());
    const bool has_axes = in.size() > 3 && in[3] != nullptr;
    const int64_t axis =
        OnnxNode::AxisOf(has_axes ? in[3]->ints.at(k) : static_cast<int64_t>(k), rank);
    const int64_t step = in.size() > 4 && in[4] != nullptr ? in[4]->ints.at(k) : 1;
    const int64_t dim = out->dims[static_cast<size_t>(axis)];
    if (step == 0 || dim > kMaxOnnxContent) return std::nullopt;
    const auto clamp = [&](int64_t value) {
      if (value < 0) value += dim;
      return std::clamp<int64_t>(value, step > 0 ? 0 : -1, step > 0 ? dim : dim - 1);
    };
    const int64_t begin = clamp(in[1]->ints[k]), end = clamp(in[2]->ints.at(k));
    std::vector<int64_t> positions;
    for (int64_t i = begin; step > 0 ? i < end : i > end;) {
      positions.push_back(i);
      if (step > dim || step < -dim) break;
      i += step;
    }
    out = TakeAlong(*out, static_cast<size_t>(axis), positions,
                    {static_cast<int64_t>(positions.size())});
    if (!out.has_value()) return out;
  }
  return out;
}

// Only along the first axis, or of lists.
OnnxArrayResult FoldConcat(const OnnxArrays& in, int64_t axis) {
  OnnxArray out = {.type = in[0]->type, .dims = in[0]->dims};
  if (out.dims.empty() || OnnxNode::AxisOf(axis, static_cast<int64_t>(out.dims.size())) != 0) {
    return std::nullopt;
  }
  out.dims[0] = 0;
  for (const OnnxArray* x : in) {
    if (x == nullptr || x->type != out.type || x->dims.size() != out.dims.size())
      return std::nullopt;
    out.dims[0] += x->dims[0];
    for (size_t i = 0; i < static_cast<size_t>(x->size()); ++i) out.Push(*x, i);
  }
  return SmallOnnxSize(out.dims).has_value() ? OnnxArrayResult(out) : std::nullopt;
}

OnnxArrayResult FoldExpand(const OnnxArrays& in) {
  if (in.size() < 2) return std::nullopt;
  const std::optional<OnnxDims> dims = OnnxBroadcastDims(in[0]->dims, in[1]->ints);
  if (!dims.has_value() || !SmallOnnxSize(*dims).has_value()) return std::nullopt;
  const auto positions = OnnxBroadcastPositions(in[0]->dims, *dims);
  if (!positions.has_value()) return std::nullopt;
  OnnxArray out = {.type = in[0]->type, .dims = *dims};
  for (const size_t position : *positions) out.Push(*in[0], position);
  return out;
}

// --- others ---

OnnxArrayResult FoldCast(const OnnxArray& x, int type) {
  if (!IsOnnxReal(type) && !IsOnnxInteger(type) && type != Proto::BOOL) return std::nullopt;
  if (IsRoundedOnnxType(type) || type == Proto::UINT32 || type == Proto::UINT64)
    return std::nullopt;
  OnnxArray out = {.type = type, .dims = x.dims};
  for (size_t i = 0; i < static_cast<size_t>(x.size()); ++i) {
    if (out.real()) {
      out.reals.push_back(RoundOnnxReal(type, x.Real(i)));
      continue;
    }
    const bool fits = !x.real() || (std::fabs(x.reals[i]) < 9e18);
    if (!fits) return std::nullopt;
    const bool as_bool = type == Proto::BOOL && x.real();
    out.ints.push_back(as_bool ? static_cast<int64_t>(x.reals[i] != 0)
                               : WrapOnnxInteger(type, x.Int(i)));
  }
  return out;
}

OnnxArrayResult FoldWhere(const OnnxArrays& in) {
  if (in.size() < 3 || in[1]->type != in[2]->type) return std::nullopt;
  const auto pair = OnnxBroadcastDims(in[1]->dims, in[2]->dims);
  const auto dims = pair.has_value() ? OnnxBroadcastDims(*pair, in[0]->dims) : pair;
  if (!dims.has_value() || !SmallOnnxSize(*dims).has_value()) return std::nullopt;
  OnnxArray out = {.type = in[1]->type, .dims = *dims};
  std::vector<std::vector<size_t>> positions;
  for (const OnnxArray* x : {in[0], in[1], in[2]}) {
    const auto found = OnnxBroadcastPositions(x->dims, *dims);
    if (!found.has_value()) return std::nullopt;
    positions.push_back(*found);
  }
  for (size_t i = 0; i < positions[0].size(); ++i) {
    const bool first = in[0]->ints[positions[0][i]] != 0;
    out.Push(first ? *in[1] : *in[2], positions[first ? 1 : 2][i]);
  }
  return out;
}

OnnxArrayResult FoldRange(const OnnxArrays& in) {
  if (in.size() < 3 || in[0]->size() != 1 || in[1]->size() != 1 || in[2]->size() != 1)
    return std::nullopt;
  OnnxArray out = {.type = in[0]->type};
  if (out.real()) return std::nullopt;
  const int64_t start = in[0]->ints[0], limit = in[1]->ints[0], step = in[2]->ints[0];
  if (step == 0) return std::nullopt;
  for (int64_t i = start; step > 0 ? i < limit : i > limit;) {
    out.ints.push_back(i);
    if (static_cast<int64_t>(out.ints.size()) > kMaxOnnxContent) return std::nullopt;
    if (__builtin_add_overflow(i, step, &i)) return std::nullopt;
  }
  out.dims = {static_cast<int64_t>(out.ints.size())};
  return out;
}

// Of all elements only, or of the axis of a list.
OnnxArrayResult FoldReduce(OnnxNode* node, const OnnxArrays& in) {
  const OnnxArray& x = *in[0];
  const bool all =
      in.size() < 2 || in[1] == nullptr || (x.dims.size() == 1 && in[1]->ints.size() == 1);
  if (!all || x.real() || x.size() == 0) return std::nullopt;
  if (in.size() < 2 && node->Int("noop_with_empty_axes", 0) != 0) return std::nullopt;
  int64_t value = x.ints[0];
  for (size_t i = 1; i < x.ints.size(); ++i) {
    const auto a = static_cast<uint64_t>(value), b = static_cast<uint64_t>(x.ints[i]);
    value = node->type() == "ReduceProd"  ? static_cast<int64_t>(a * b)
            : node->type() == "ReduceSum" ? static_cast<int64_t>(a + b)
            : node->type() == "ReduceMax" ? std::max(value, x.ints[i])
                                          : std::min(value, x.ints[i]);
  }
  OnnxArray out = {.type = x.type, .ints = {WrapOnnxInteger(x.type, value)}};
  if (node->Int("keepdims", 1) != 0) out.dims = OnnxDims(x.dims.size(), 1);
  return out;
}

OnnxArrayResult FoldConstantOfShape(OnnxNode* node, const OnnxArrays& in) {
  const std::optional<int64_t> size = SmallOnnxSize(in[0]->ints);
  if (!size.has_value()) return std::nullopt;
  OnnxArray out = {.type = Proto::FLOAT, .dims = in[0]->ints};
  double real = 0;
  int64_t integer = 0;
  if (const Proto* value = node->TensorAttr("value"); value != nullptr) {
    const std::shared_ptr<const OnnxContent> content =
        ContentOf(node->nets().file().ReadTensor(*value));
    if (content == nullptr || content->size() != 1 || IsRoundedOnnxType(value->data_type()) ||
        NarrowFormatOf(value->data_type()).has_value())
      return std::nullopt;
    out.type = value->data_type();
    if (content->real)
      real = content->reals[0][0];
    else
      integer = content->ints[0][0];
  }
  if (out.real())
    out.reals.assign(static_cast<size_t>(*size), real);
  else
    out.ints.assign(static_cast<size_t>(*size), integer);
  return out;
}

OnnxArrayResult Compute(OnnxNode* node, const OnnxArrays& in) {
  const std::string_view type = node->type();
  if (IsOnnxBinary(type)) {
    if (type == "Mod" && node->Int("fmod", 0) != 0) return std::nullopt;
    return ComputeOnnxBinary(type, in);
  }
  if (IsOnnxUnary(type)) return ComputeOnnxUnary(type, *in[0]);
  if (type == "Gather") return FoldGather(in, node->Int("axis", 0));
  if (type == "Slice") return FoldSlice(in);
  if (type == "Concat") return FoldConcat(in, node->Int("axis", 1));
  if (type == "Cast") return FoldCast(*in[0], static_cast<int>(node->Int("to", 0)));
  if (type == "Squeeze") return FoldSqueeze(in);
  if (type == "Unsqueeze") return FoldUnsqueeze(in);
  if (type == "Reshape") return FoldReshape(in, node->Int("allowzero", 0) != 0);
  if (type == "Where") return FoldWhere(in);
  if (type == "Range") return FoldRange(in);
  if (type == "Expand") return FoldExpand(in);
  if (type == "ConstantOfShape") return FoldConstantOfShape(node, in);
  if (type.starts_with("Reduce")) return FoldReduce(node, in);
  return std::nullopt;
}

bool IsFoldable(std::string_view type) {
  constexpr std::string_view kOthers[] = {
      "Cast",    "Concat",    "ConstantOfShape", "Expand",     "Gather",
      "Range",   "ReduceMax", "ReduceMin",       "ReduceProd", "ReduceSum",
      "Reshape", "Slice",     "Squeeze",         "Unsqueeze",  "Where"};
  return IsOnnxBinary(type) || IsOnnxUnary(type) ||
         std::find(std::begin(kOthers), std::end(kOthers), type) != std::end(kOthers);
}

OnnxArray ArrayOf(const OnnxBlob& blob, const OnnxContent& content, size_t world) {
  return {.type = blob.type,
          .dims = blob.dims[world],
          .ints = content.ints[world],
          .reals = content.reals[world]};
}

// Nothing if the node cannot be computed, or need not run, with the numbers of the world.
OnnxArrayResult ComputeIn(OnnxNode* node, const std::vector<OnnxArray>& arrays, size_t world) try {
  OnnxArrays inputs;
  for (size_t i = 0; i < arrays.size(); ++i) {
    inputs.push_back(node->Has(i) ? &arrays[i] : nullptr);
  }
  return Compute(node, inputs);
} catch (const EnforceNotMet&) {
  if (IsPlainOnnxWorld(world)) throw;
  return std::nullopt;
} catch (const std::out_of_range&) {
  if (IsPlainOnnxWorld(world)) throw;
  return std::nullopt;
}

int64_t SizeIn(const OnnxDims& dims, size_t world, int64_t otherwise) try {
  return CheckedProduct(dims);
} catch (const EnforceNotMet&) {
  if (IsPlainOnnxWorld(world)) throw;
  return otherwise;
}

// The integers that Equal compares: the first ones and the second ones.
using OnnxPairs = std::array<std::vector<int64_t>, 2>;

std::optional<OnnxPairs> PairsOf(const std::vector<OnnxArray>& arrays) {
  if (arrays.size() != 2 || !IsOnnxInteger(arrays[0].type)) return std::nullopt;
  const std::optional<OnnxDims> dims = OnnxBroadcastDims(arrays[0].dims, arrays[1].dims);
  if (!dims.has_value()) return std::nullopt;
  OnnxPairs pairs;
  for (size_t side = 0; side < 2; ++side) {
    const auto positions = OnnxBroadcastPositions(arrays[side].dims, *dims);
    if (!positions.has_value()) return std::nullopt;
    for (const size_t at : *positions) pairs[side].push_back(arrays[side].ints[at]);
  }
  return pairs;
}

// Whether pair `i` may be equal for other numbers of the symbols than those of the worlds: the
// difference depends on a symbol, and has both signs, or one of the two is a constant that a size may
// be.
bool MayBeEqual(const InOnnxWorlds<OnnxPairs>& pairs, size_t i) {
  const auto difference = [&](size_t world) {
    return static_cast<int64_t>(static_cast<uint64_t>(pairs[world][0][i]) -
                                static_cast<uint64_t>(pairs[world][1][i]));
  };
  bool above = false, below = false, varies = false, is_size[] = {true, true};
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    above |= difference(world) > 0;
    below |= difference(world) < 0;
    varies |= difference(world) != difference(0);
    for (size_t side = 0; side < 2; ++side) {
      const int64_t number = pairs[world][side][i];
      is_size[side] &= number >= 0 && number == pairs[0][side][i];
    }
  }
  return varies && ((above && below) || is_size[0] || is_size[1]);
}

// Integers that may be equal are equal in the last world.
void LeaveEqualOpen(const InOnnxWorlds<std::vector<OnnxArray>>& arrays, OnnxContent* content) {
  InOnnxWorlds<OnnxPairs> pairs;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    std::optional<OnnxPairs> found = PairsOf(arrays[world]);
    if (!found.has_value()) return;
    pairs[world] = *std::move(found);
    if (pairs[world][0].size() != pairs[0][0].size()) return;
  }
  std::vector<int64_t>& equal = content->ints.back();
  for (size_t i = 0; i < std::min(pairs[0][0].size(), equal.size()); ++i) {
    if (MayBeEqual(pairs, i)) equal[i] = 1;
  }
}

// Shape and Size need no content.
bool FoldShape(OnnxNode* node, OnnxFolded* folded) {
  if (!node->Has(0) || !node->HasRank(node->In(0))) return false;
  auto content = std::make_shared<OnnxContent>();
  const int64_t rank = node->Rank(node->In(0));
  const auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t begin = clamp(node->Int("start", 0));
  const int64_t end = std::max(begin, clamp(node->Int("end", rank)));
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    const OnnxDims& dims = node->DimsIn(node->In(0), world);
    if (node->type() == "Size") {
      content->ints[world] = {SizeIn(dims, world, world == 0 ? 0 : content->ints[0][0])};
    } else {
      content->ints[world].assign(dims.begin() + begin, dims.begin() + end);
      folded->dims[world] = {end - begin};
    }
  }
  folded->type = Proto::INT64;
  folded->content = content;
  return true;
}

}  // namespace

bool FoldOnnxNode(OnnxNode* node, OnnxFolded* folded) {
  if (!node->data().domain.empty() || node->inputs() == 0) return false;
  if (node->type() == "Shape" || node->type() == "Size") return FoldShape(node, folded);
  if (!IsFoldable(node->type()) || node->outputs() != 1) return false;
  InOnnxWorlds<std::vector<OnnxArray>> arrays;
  for (size_t i = 0; i < node->inputs(); ++i) {
    const std::string& input = node->data().inputs[i];
    if (input.empty()) {
      if (node->type() != "Slice" || i < 3) return false;  // axes and steps may be absent
      for (auto& world : arrays) world.emplace_back();
      continue;
    }
    const OnnxBlob& blob = node->nets().At(input);
    const OnnxContent* content = node->Content(input);
    if (content == nullptr || !blob.has_dims || IsRoundedOnnxType(blob.type) || blob.type == 0 ||
        NarrowFormatOf(blob.type).has_value())
      return false;
    for (size_t world = 0; world < kOnnxWorlds; ++world) {
      arrays[world].push_back(ArrayOf(blob, *content, world));
      const OnnxArray& array = arrays[world].back();
      if (SmallOnnxSize(array.dims) != std::optional<int64_t>(array.size())) return false;
    }
  }
  if (!node->Has(0)) return false;
  auto content = std::make_shared<OnnxContent>();
  OnnxArrayResult first;
  for (size_t world = 0; world < kOnnxWorlds; ++world) {
    OnnxArrayResult result = ComputeIn(node, arrays[world], world);
    if (IsPlainOnnxWorld(world) && !result.has_value()) return false;
    if (world == 0) first = result;
    if (!result.has_value()) result = first;
    if (result->dims.size() != first->dims.size()) return false;  // the rank depends on a symbol
    folded->type = result->type;
    folded->dims[world] = result->dims;
    content->real = result->real();
    content->ints[world] = std::move(result->ints);
    content->reals[world] = std::move(result->reals);
  }
  if (node->type() == "Equal") LeaveEqualOpen(arrays, content.get());
  folded->content = content;
  return true;
}

}  // namespace caffe2rt
