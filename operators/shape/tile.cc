#include "operators/shape/tile.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void TiledDims(IntArrayRef input, int64_t tiles, int* axis, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(tiles, 0, "tiles, want at least 0");
  *axis = canonical_axis_index_(*axis, static_cast<int>(input.size()));
  dims->assign(input.begin(), input.end());
  int64_t& dim = (*dims)[static_cast<size_t>(*axis)];
  dim = CheckedMultiply(dim, tiles);
}

void TileRows(CPUContext& context, TypeMeta type, int64_t outer, int64_t inner, int64_t tiles,
              const void* x, void* y) {
  // The inner loop, in CopyRows, runs over the rows or over the tiles, whichever are more.
  if (tiles <= outer) {
    for (int64_t t = 0; t < tiles; ++t) {
      CopyRows(context, type, outer, inner, x, inner, ItemAt(y, type, t * inner), tiles * inner);
    }
    return;
  }
  for (int64_t i = 0; i < outer; ++i) {
    CopyRows(context, type, tiles, inner, ItemAt(x, type, i * inner), 0,
             ItemAt(y, type, i * tiles * inner), inner);
  }
}

namespace {

std::vector<TensorShape> InferTile(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  CAFFE_ENFORCE(args.HasArgument(kTiles), "argument tiles is missing");
  CAFFE_ENFORCE(args.HasArgument(kTileAxis), "argument axis is missing");
  int axis = args.Read(kTileAxis);
  std::vector<int64_t> dims;
  TiledDims(GetDimsVector(in[0]), args.Read(kTiles), &axis, &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

}  // namespace

void RegisterTile() {
  RegisterSchema("Tile", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Args(kTiles, kTileAxis)
      .Input(0, "X", "float, double, float16, int32, int64, uint8 or string")
      .Input(1, "tiles", "(optional) [1] int32 or int64; overrides the argument")
      .Input(2, "axis", "(optional) [1] int32 or int64; overrides the argument")
      .Output(0, "Y", "X repeated")
      .TensorInferenceFunction(InferTile)
      .InheritOnnxSchema()
      .SetDoc("Repeats a tensor tiles times along one dimension.");
  RegisterCpuOperator<TileOp<CPUContext>>("Tile", __FILE__);
}

}  // namespace caffe2rt
