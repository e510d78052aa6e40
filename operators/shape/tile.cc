#include "operators/shape/tile.h"

#include "caffe2_core/base/simd.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

void TiledDims(IntArrayRef input, int64_t tiles, int* axis, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(tiles, 0, "tiles, want at least 0");
  *axis = canonical_axis_index_(*axis, static_cast<int>(input.size()));
  dims->assign(input.begin(), input.end());
  int64_t& dim = (*dims)[static_cast<size_t>(*axis)];
  dim = CheckedMultiply(dim, tiles);
}

void UntiledDims(IntArrayRef output, int64_t tiles, int* axis, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(tiles, 1, "tiles, want at least 1");
  *axis = canonical_axis_index_(*axis, static_cast<int>(output.size()));
  dims->assign(output.begin(), output.end());
  int64_t& dim = (*dims)[static_cast<size_t>(*axis)];
  CAFFE_ENFORCE_EQ(dim % tiles, 0, "dim ", *axis, " of input 0 (dY) of shape ", output,
                   ", want a multiple of tiles ", tiles);
  dim /= tiles;
}

TileNumbers::TileNumbers(const ArgumentHelper& args, int inputs)
    : inputs_(inputs), tiles_(args.Read(kTiles)), axis_(args.Read(kTileAxis)) {
  CAFFE_ENFORCE(inputs > 1 || args.HasArgument(kTiles),
                "argument tiles is missing, and input 1 is not given either");
  CAFFE_ENFORCE(inputs > 2 || args.HasArgument(kTileAxis),
                "argument axis is missing, and input 2 is not given either");
}

void TileNumbers::Check(const char* name, int input, const Tensor& tensor) {
  CAFFE_ENFORCE(tensor.dim() == 1 && tensor.numel() == 1, "input ", input, " (", name,
                ") has shape ", tensor.sizes(), ", want [1]");
  RequireElementsOf<int32_t, int64_t>(tensor, name);
}

int64_t TileNumbers::Number(const Tensor& tensor) {
  return DispatchByType<int32_t, int64_t>(tensor.dtype(), "", [&](auto element) -> int64_t {
    return *tensor.data<decltype(element)>();
  });
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

struct SumTilesKernel {
  template <class T>
  CAFFE2RT_SIMD_INLINE void operator()(int64_t outer, int64_t inner, int64_t tiles, const T* dy,
                                       T* dx) const {
    for (int64_t i = 0; i < outer; ++i, dx += inner) {
      for (int64_t j = 0; j < inner; ++j) dx[j] = dy[j];
      dy += inner;
      for (int64_t t = 1; t < tiles; ++t, dy += inner) {
        CAFFE2RT_SIMD_LOOP
        for (int64_t j = 0; j < inner; ++j) dx[j] = math::WrappingAdd(dx[j], dy[j]);
      }
    }
  }
};

}  // namespace

template <class T>
void SumTiles(CPUContext&, int64_t outer, int64_t inner, int64_t tiles, const T* dy, T* dx) {
  RunSimd(SumTilesKernel{}, outer, inner, tiles, dy, dx);
}
template void SumTiles(CPUContext&, int64_t, int64_t, int64_t, const float*, float*);
template void SumTiles(CPUContext&, int64_t, int64_t, int64_t, const double*, double*);
template void SumTiles(CPUContext&, int64_t, int64_t, int64_t, const int32_t*, int32_t*);
template void SumTiles(CPUContext&, int64_t, int64_t, int64_t, const int64_t*, int64_t*);

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

std::vector<TensorShape> InferTileGradient(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1) || def.input_size() > 1) return UnknownOutputs(def);
  const ArgumentHelper args(def);
  int axis = args.Read(kTileAxis);
  std::vector<int64_t> dims;
  UntiledDims(GetDimsVector(in[0]), args.Read(kTiles), &axis, &dims);
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetTileGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs = {GO(0)};
    for (int i = 1; i < def_.input_size(); ++i) inputs.push_back(I(i));
    return SingleGradientDef("TileGradient", "", inputs, {GI(0)});
  }
};

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
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Repeats a tensor tiles times along one dimension.");
  RegisterCpuOperator<TileOp<CPUContext>>("Tile", __FILE__);
  RegisterGradient<GetTileGradient>("Tile", __FILE__);

  RegisterSchema("TileGradient", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Args(kTiles, kTileAxis)
      .Input(0, "dY", "the gradient of the output of Tile: float, double, int32 or int64")
      .Input(1, "tiles", "(optional) [1] int32 or int64, at least 1; overrides the argument")
      .Input(2, "axis", "(optional) [1] int32 or int64; overrides the argument")
      .Output(0, "dX", "the sum of the repetitions")
      .TensorInferenceFunction(InferTileGradient)
      .SetDoc("Computes the gradient of Tile.");
  RegisterCpuOperator<TileGradientOp<CPUContext>>("TileGradient", __FILE__);
}

}  // namespace caffe2rt
