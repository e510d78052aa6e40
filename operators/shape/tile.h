#pragma once
// Tile: repeats a tensor along one dimension.
//   X, tiles, axis (arguments, or int32 or int64 vectors of one element as inputs 1 and 2)
//   ->  Y, whose dimension axis is `tiles` times that of X

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/copy_rows.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kTiles{
    "tiles", 1, "number of repetitions, at least 0; required unless input 1 is given"};
inline constexpr ArgumentSpec<int> kTileAxis{
    "axis", 0,
    "dimension to repeat; a negative axis counts from the end; required unless input 2 is given"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the shape of the output; *axis becomes non-negative. THROWS if axis or tiles is out of
// range.
void TiledDims(IntArrayRef input, int64_t tiles, int* axis, std::vector<int64_t>* dims);
#pragma GCC visibility pop

// Writes each of `outer` rows of `inner` items `tiles` times.
void TileRows(CPUContext& context, TypeMeta type, int64_t outer, int64_t inner, int64_t tiles,
              const void* x, void* y);
// THROWS for element types with constructors.
void TileRows(CUDAContext& context, TypeMeta type, int64_t outer, int64_t inner, int64_t tiles,
              const void* x, void* y);

template <class Context>
class TileOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TileOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        tiles_(this->ReadArgument(kTiles)),
        axis_(this->ReadArgument(kTileAxis)) {
    CAFFE_ENFORCE(InputSize() > 1 || HasArgument(kTiles),
                  "argument tiles is missing, and input 1 is not given either");
    CAFFE_ENFORCE(InputSize() > 2 || HasArgument(kTileAxis),
                  "argument axis is missing, and input 2 is not given either");
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    DispatchByType<float, double, int32_t, int64_t, uint8_t, float16, std::string>(
        X.dtype(), "input 0 (X)", [](const auto&) {});
    const int64_t tiles = Number(kTiles.name, 1, tiles_);
    int axis = CheckedCast<int>(Number(kTileAxis.name, 2, axis_), "axis");
    if (InputSize() == 2 && Input(1).template IsType<int64_t>()) axis = 0;
    TiledDims(X.sizes(), tiles, &axis, &dims_);
    Tensor* Y = Output(0, dims_, X.dtype());
    if (Y->numel() == 0) return true;
    TileRows(context_, X.dtype(), X.size_to_dim(axis), X.size_from_dim(axis), tiles, X.raw_data(),
             Y->raw_mutable_data(X.dtype()));
    return true;
  }

 private:
  // Returns the value of the input if the operator has it, otherwise the argument.
  int64_t Number(const char* name, int input, int argument) {
    if (InputSize() <= input) return argument;
    const Tensor& tensor = numbers_[input - 1].Read(*this, input);
    CAFFE_ENFORCE(tensor.dim() == 1 && tensor.numel() == 1, "input ", input, " (", name,
                  ") has shape ", tensor.sizes(), ", want [1]");
    return DispatchByType<int32_t, int64_t>(tensor.dtype(), name, [&](auto element) -> int64_t {
      return *tensor.template data<decltype(element)>();
    });
  }

  const int tiles_;
  const int axis_;
  std::vector<int64_t> dims_;
  HostInput numbers_[2];
};

}  // namespace caffe2rt
