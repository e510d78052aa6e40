// Recipes for operators that move, select or repeat elements.

#include <algorithm>
#include <numeric>

#include "tests/operators/gradients/draft.h"

namespace caffe2rt::test {
namespace {

void DraftFlatten(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 4);
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"});
  if (type == "Flatten") draft.Argument("axis", draft.Int(0, static_cast<int64_t>(dims.size())));
}

void DraftReshape(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(2, 4);
  draft.FeedSmooth("X", dims);
  std::vector<int64_t> shape = dims;
  std::reverse(shape.begin(), shape.end());
  shape[static_cast<size_t>(draft.Int(0, static_cast<int64_t>(shape.size()) - 1))] = -1;
  draft.SetOperator(type, {"X"}, {"Y", "old_shape"}).Argument("shape", shape);
}

void DraftTranspose(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 4);
  draft.FeedSmooth("X", dims);
  std::vector<int64_t> axes(dims.size());
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = axes.size(); i > 1; --i) {
    std::swap(axes[i - 1], axes[static_cast<size_t>(draft.Int(0, static_cast<int64_t>(i) - 1))]);
  }
  draft.SetOperator(type, {"X"}, {"Y"});
  if (draft.Coin()) draft.Argument("axes", axes);
}

void DraftOrderSwitch(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(4, 4, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftExpandDims(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(0, 3);
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("dims", std::vector<int64_t>{draft.Int(0, static_cast<int64_t>(dims.size()))});
}

void DraftSqueeze(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t axis = draft.Int(0, static_cast<int64_t>(dims.size()) - 1);
  dims[static_cast<size_t>(axis)] = 1;
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("dims", std::vector<int64_t>{axis});
}

void DraftPrependDim(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t size = draft.Int(1, 3);
  dims[0] *= size;
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("dim_size", size);
}

void DraftTile(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t rank = static_cast<int64_t>(dims.size());
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("tiles", draft.Int(1, 3))
      .Argument("axis", draft.Int(-rank, rank - 1));
}

void DraftConcat(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(type == "Concat" ? 1 : 2, 4, 3);
  const int64_t axis =
      type == "Concat" ? draft.Int(0, static_cast<int64_t>(dims.size()) - 1) : int64_t{1};
  std::vector<std::string> inputs;
  const int64_t count = draft.Int(1, 3);
  const bool add_axis = type == "Concat" && draft.Coin();
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> piece = dims;
    if (!add_axis) piece[static_cast<size_t>(axis)] = draft.Int(1, 3);
    inputs.push_back("X" + std::to_string(i));
    draft.FeedSmooth(inputs.back(), piece);
  }
  draft.SetOperator(type, inputs, {"Y", "split"});
  if (type == "Concat") draft.Argument("axis", axis).Argument("add_axis", add_axis);
}

void DraftSplit(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(type == "Split" ? 1 : 2, 4, 3);
  const int64_t axis =
      type == "Split" ? draft.Int(0, static_cast<int64_t>(dims.size()) - 1) : int64_t{1};
  std::vector<std::string> outputs;
  std::vector<int64_t> sizes;
  const int64_t count = draft.Int(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    outputs.push_back("Y" + std::to_string(i));
    sizes.push_back(draft.Int(1, 3));
  }
  dims[static_cast<size_t>(axis)] = std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, outputs).Argument("split", sizes);
  if (type == "Split") draft.Argument("axis", axis);
}

// Slice cuts one dimension only; the others stay whole.
void DraftSlice(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3, 5);
  const size_t axis = static_cast<size_t>(draft.Int(0, static_cast<int64_t>(dims.size()) - 1));
  std::vector<int64_t> starts(dims.size(), 0), ends(dims.size(), -1);
  starts[axis] = draft.Int(0, dims[axis] - 1);
  ends[axis] = draft.Int(starts[axis] + 1, dims[axis]);
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("starts", starts).Argument("ends", ends);
}

std::vector<int64_t> RandomIndices(Draft& draft, int64_t count, int64_t size) {
  std::vector<int64_t> indices(static_cast<size_t>(count));
  for (int64_t& index : indices) index = draft.Int(0, size - 1);
  return indices;
}

// A dense gradient needs a vector of indices.
void DraftGather(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const bool dense = draft.Coin();
  const std::vector<int64_t> shape = draft.Dims(1, dense ? 1 : 2, 3);
  const int64_t count = shape[0] * (shape.size() > 1 ? shape[1] : 1);
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("I", shape, RandomIndices(draft, count, dims[0]));
  draft.SetOperator(type, {"X", "I"}, {"Y"}).Argument("dense_gradient", dense);
}

// With wrap_indices, a dense gradient accepts indices of any shape, which may be negative.
void DraftWrappingGather(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3), shape = draft.Dims(0, 2, 3);
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  std::vector<int64_t> indices = RandomIndices(draft, count, 2 * dims[0]);
  for (int64_t& index : indices) index -= dims[0];
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("I", shape, indices);
  draft.SetOperator(type, {"X", "I"}, {"Y"}).Argument("wrap_indices", true);
  draft.Argument("dense_gradient", true);
  if (draft.Coin()) draft.Argument("axis", 0);
}

void DraftBatchGather(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(2, 3);
  const int64_t count = draft.Int(1, 4);
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("I", {count}, RandomIndices(draft, count, dims[1]));
  draft.SetOperator(type, {"X", "I"}, {"Y"});
}

void DraftSparseToDense(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("I", {dims[0]}, RandomIndices(draft, dims[0], 5));
  draft.SetOperator(type, {"I", "X"}, {"Y"}).Argument("output_first_dim", 5);
}

void DraftSparseToDenseMask(Draft& draft, const std::string& type) {
  const std::vector<int64_t> block = draft.Dims(0, 2);
  std::vector<int64_t> dims = {5};
  dims.insert(dims.end(), block.begin(), block.end());
  draft.FeedSmooth("V", dims);
  draft.FeedSmooth("D", block);
  draft.FeedIndices("I", {5}, RandomIndices(draft, 5, 4));
  draft.FeedInt32("L", {2}, {2, 3});
  draft.SetOperator(type, {"I", "V", "D", "L"}, {"Y"})
      .Argument("mask", std::vector<int64_t>{3, 0, 1});
}

void DraftEnsureDense(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(1, 3));
  draft.SetOperator(type, {"X"}, {"Y"});
}

void DraftFlexibleTopK(Draft& draft, const std::string& type) {
  const int64_t rows = draft.Int(1, 3), columns = draft.Int(1, 5);
  std::vector<int64_t> counts(static_cast<size_t>(rows));
  for (int64_t& count : counts) count = draft.Int(1, columns);
  draft.FeedApart("X", {rows, columns});
  draft.FeedInt64("K", {rows}, counts);
  draft.SetOperator(type, {"X", "K"}, {"V", "I"});
}

void DraftQuantDecode(Draft& draft, const std::string& type) {
  const int64_t entries = draft.Int(1, 5);
  draft.FeedSmooth("B", {entries});
  std::vector<int32_t> codes(static_cast<size_t>(draft.Int(1, 6)));
  for (int32_t& code : codes) code = static_cast<int32_t>(draft.Int(0, entries - 1));
  draft.FeedInt32("C", {static_cast<int64_t>(codes.size())}, codes);
  draft.FeedInt32("D", {1}, {0});
  draft.SetOperator(type, {"B", "C", "D"}, {"X", "Y"});
}

void DraftTopK(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t rank = static_cast<int64_t>(dims.size()), axis = draft.Int(0, rank - 1);
  draft.FeedApart("X", dims);
  draft.SetOperator(type, {"X"}, {"values", "indices"})
      .Argument("axis", axis == rank - 1 && draft.Coin() ? int64_t{-1} : axis)
      .Argument("k", draft.Int(1, dims[static_cast<size_t>(axis)]));
}

// ---- ONNX's operators ----

void DraftOnnxSlice(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims);
  const int64_t axis = draft.Int(0, static_cast<int64_t>(dims.size()) - 1);
  const int64_t step = draft.Coin() ? draft.Int(1, 2) : draft.Int(-2, -1);
  const int64_t last = dims[static_cast<size_t>(axis)] - 1;
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("starts", std::vector<int64_t>{step > 0 ? 0 : last})
      .Argument("ends", std::vector<int64_t>{step > 0 ? last + 1 : -last - 2})
      .Argument("axes", std::vector<int64_t>{axis})
      .Argument("steps", std::vector<int64_t>{step});
}

void DraftGatherElements(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t axis = draft.Int(0, static_cast<int64_t>(dims.size()) - 1);
  std::vector<int64_t> shape = dims;
  shape[static_cast<size_t>(axis)] = draft.Int(1, 4);
  int64_t count = 1;
  for (const int64_t dim : shape) count *= dim;
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("I", shape, RandomIndices(draft, count, dims[static_cast<size_t>(axis)]));
  draft.SetOperator(type, {"X", "I"}, {"Y"}).Argument("axis", axis);
}

void DraftTrilu(Draft& draft, const std::string& type) {
  draft.FeedSmooth("X", draft.Dims(2, 3));
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("k", draft.Int(-2, 2));
  draft.Argument("upper", draft.Coin());
}

void DraftReverseSequence(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(2, 3);
  const bool batch_first = draft.Coin();
  const size_t batch = batch_first ? 0 : 1;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < dims[batch]; ++i) lengths.push_back(draft.Int(0, dims[1 - batch]));
  draft.FeedSmooth("X", dims);
  draft.FeedIndices("L", {dims[batch]}, lengths);
  draft.SetOperator(type, {"X", "L"}, {"Y"})
      .Argument("batch_axis", batch_first ? 0 : 1)
      .Argument("time_axis", batch_first ? 1 : 0);
}

void DraftDepthSpace(Draft& draft, const std::string& type) {
  const int64_t block = draft.Int(1, 2);
  std::vector<int64_t> dims = draft.Dims(4, 4, 2);
  if (type == "DepthToSpace") {
    dims[1] *= block * block;
  } else {
    dims[2] *= block;
    dims[3] *= block;
  }
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("blocksize", block)
      .Argument("mode", draft.Coin() ? "DCR" : "CRD");
}

void DraftUnitDims(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t axis = draft.Int(0, static_cast<int64_t>(dims.size()) - 1);
  dims[static_cast<size_t>(axis)] = 1;
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"})
      .Argument("axes", std::vector<int64_t>{
                            axis - (draft.Coin() ? static_cast<int64_t>(dims.size()) : 0)});
}

void DraftExpand(Draft& draft, const std::string& type) {
  const int64_t rows = draft.Int(1, 3), columns = draft.Int(1, 3), times = draft.Int(1, 3);
  draft.FeedSmooth("X", {rows, 1, columns});
  draft.FeedInt64("S", {3}, {1, times, draft.Coin() ? columns : -1});
  draft.SetOperator(type, {"X", "S"}, {"Y"});
}

// Dimensions of 1 that are repeated, in front and between others, and added dimensions.
void DraftOnnxExpand(Draft& draft, const std::string& type) {
  std::vector<int64_t> dims = draft.Dims(0, 3, 3), shape = dims;
  for (int64_t& dim : dims) {
    if (draft.Coin()) dim = 1;
  }
  if (draft.Coin()) shape.insert(shape.begin(), draft.Int(1, 3));
  draft.FeedSmooth("X", dims);
  draft.SetOperator(type, {"X"}, {"Y"}).Argument("shape", shape);
}

// Adds and takes away, with pads and axes as arguments or as inputs.
void DraftPad(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(2, 3);
  const std::vector<int64_t> axes = {1, 0}, pads = {draft.Int(-1, 2), draft.Int(-1, 2),
                                                    draft.Int(0, 2), draft.Int(0, 2)};
  draft.FeedSmooth("X", dims);
  const int64_t form = draft.Int(0, 2);
  if (form == 0) {
    draft.SetOperator(type, {"X"}, {"Y"}).Argument("pads", pads).Argument("axes", axes);
    draft.Argument("value", 3.0f);
    return;
  }
  draft.FeedInt64("P", {4}, pads);
  draft.FeedSmooth("V", {});
  draft.FeedInt64("A", {2}, axes);
  if (form == 1) {
    draft.SetOperator(type, {"X", "P"}, {"Y"}).Argument("axes", axes);
  } else {
    draft.SetOperator(type, {"X", "P", "V", "A"}, {"Y"});
    draft.check.inputs = {"X"};
  }
}

// The condition and both operands have some dimensions of 1 where the others may have more.
void DraftOnnxWhere(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3, 3);
  const auto part = [&] {
    std::vector<int64_t> some = dims;
    for (int64_t& dim : some) {
      if (draft.Int(0, 3) == 0) dim = 1;
    }
    if (draft.Int(0, 3) == 0) some.erase(some.begin());
    return some;
  };
  Tensor* const condition = draft.workspace()->CreateBlob("C")->GetMutableTensor(CPU);
  condition->Resize(part());
  bool* const holds = condition->mutable_data<bool>();
  for (int64_t i = 0; i < condition->numel(); ++i) holds[i] = draft.Coin();
  draft.FeedSmooth("X", part());
  draft.FeedSmooth("Z", part());
  draft.SetOperator(type, {"C", "X", "Z"}, {"Y"});
}

// Numbers of one input differ by 1/8, those of two inputs by 1/32 at least.
void DraftOnnxMax(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3, 3);
  std::vector<std::string> inputs;
  const int64_t count = draft.Int(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> some = dims;
    for (int64_t& dim : some) {
      if (i > 0 && draft.Coin()) dim = 1;
    }
    inputs.push_back("X" + std::to_string(i));
    draft.FeedApart(inputs.back(), some);
    Tensor* const x = draft.workspace()->GetBlob(inputs.back())->GetMutable<Tensor>();
    for (int64_t k = 0; k < x->numel(); ++k) {
      if (draft.doubles()) {
        x->mutable_data<double>()[k] += static_cast<double>(i) / 32;
      } else {
        x->mutable_data<float>()[k] += static_cast<float>(i) / 32;
      }
    }
  }
  draft.SetOperator(type, inputs, {"Y"});
  draft.check.step = 1.0 / 128;
}

void DraftCumSum(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  const int64_t rank = static_cast<int64_t>(dims.size());
  draft.FeedSmooth("X", dims);
  draft.FeedInt64("A", {}, {draft.Int(-rank, rank - 1)});
  draft.SetOperator(type, {"X", "A"}, {"Y"})
      .Argument("exclusive", draft.Coin())
      .Argument("reverse", draft.Coin());
}

void DraftColumns(Draft& draft, const std::string& type) {
  const bool nchw = draft.Coin();
  const int64_t kernel = draft.Int(1, 3), stride = draft.Int(1, 2), pad = draft.Int(0, 1);
  const int64_t channels = draft.Int(1, 2), size = draft.Int(3, 4);
  const int64_t places = (size + 2 * pad - kernel) / stride + 1;
  const std::vector<int64_t> image = nchw ? std::vector<int64_t>{1, channels, size, size}
                                          : std::vector<int64_t>{1, size, size, channels};
  const int64_t rows = channels * kernel * kernel;
  draft.FeedSmooth("X", image);
  if (type == "Im2Col") {
    draft.SetOperator(type, {"X"}, {"Y"});
  } else {
    draft.FeedSmooth("C", nchw ? std::vector<int64_t>{1, rows, places, places}
                               : std::vector<int64_t>{1, places, places, rows});
    draft.SetOperator(type, {"C", "X"}, {"Y"});
    draft.check.inputs = {"C"};
  }
  draft.Argument("kernel", kernel).Argument("stride", stride).Argument("pad", pad);
  draft.Argument("order", nchw ? "NCHW" : "NHWC");
}

void DraftBooleanMask(Draft& draft, const std::string& type) {
  const std::vector<int64_t> dims = draft.Dims(1, 3);
  draft.FeedSmooth("X", dims);
  Tensor* const tensor = draft.workspace()->CreateBlob("M")->GetMutableTensor(CPU);
  tensor->Resize(dims[0]);
  bool* const mask = tensor->mutable_data<bool>();
  for (int64_t i = 0; i < dims[0]; ++i) mask[i] = i == 0 || draft.Coin();
  draft.SetOperator(type, {"X", "M"}, {"Y"});
}

void DraftSplitByLengths(Draft& draft, const std::string& type) {
  const auto first = static_cast<int32_t>(draft.Int(1, 3)),
             second = static_cast<int32_t>(draft.Int(1, 3));
  draft.FeedSmooth("X", {draft.Int(1, 3), first + second});
  draft.FeedInt32("L", {2}, {first, second});
  draft.SetOperator(type, {"X", "L"}, {"Y", "Z"}).Argument("axis", 1);
}

}  // namespace

std::vector<Recipe> ShapeRecipes() {
  return {
      {"ONNXSlice", "", DraftOnnxSlice},
      {"GatherElements", "", DraftGatherElements},
      {"ONNXExpand", "", DraftOnnxExpand},
      {"ONNXMax", "", DraftOnnxMax},
      {"ONNXMin", "", DraftOnnxMax},
      {"ONNXWhere", "", DraftOnnxWhere},
      {"Pad", "", DraftPad},
      {"Im2Col", "", DraftColumns},
      {"Col2Im", "", DraftColumns},
      {"CumSum", "", DraftCumSum},
      {"Trilu", "", DraftTrilu},
      {"ReverseSequence", "", DraftReverseSequence},
      {"DepthToSpace", "", DraftDepthSpace},
      {"SpaceToDepth", "", DraftDepthSpace},
      {"Unsqueeze", "", DraftUnitDims},
      {"ONNXSqueeze", "", DraftUnitDims},
      {"Flatten", "", DraftFlatten},
      {"FlattenToVec", "", DraftFlatten},
      {"Reshape", "", DraftReshape},
      {"Transpose", "", DraftTranspose},
      {"NCHW2NHWC", "", DraftOrderSwitch},
      {"NHWC2NCHW", "", DraftOrderSwitch},
      {"ExpandDims", "", DraftExpandDims},
      {"Squeeze", "", DraftSqueeze},
      {"PrependDim", "", DraftPrependDim},
      {"Tile", "", DraftTile},
      {"Concat", "", DraftConcat},
      {"DepthConcat", "", DraftConcat},
      {"Split", "", DraftSplit},
      {"DepthSplit", "", DraftSplit},
      {"Slice", "", DraftSlice},
      {"Gather", "", DraftGather},
      {"Gather", "Wrapping", DraftWrappingGather},
      {"BatchGather", "", DraftBatchGather},
      {"SparseToDense", "", DraftSparseToDense},
      {"SparseToDenseMask", "", DraftSparseToDenseMask},
      {"EnsureDense", "", DraftEnsureDense},
      {"FlexibleTopK", "", DraftFlexibleTopK},
      {"QuantDecode", "", DraftQuantDecode},
      {"TopK", "", DraftTopK},
      {"Expand", "", DraftExpand},
      {"BooleanMask", "", DraftBooleanMask},
      {"SplitByLengths", "", DraftSplitByLengths},
  };
}

}  // namespace caffe2rt::test
