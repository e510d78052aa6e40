#pragma once
// Tile: repeats a tensor along one dimension.
//   X, tiles, axis (arguments, or int32 or int64 vectors of one element as inputs 1 and 2)
//   ->  Y, whose dimension axis is `tiles` times that of X
// TileGradient: the sum of the repetitions.
//   dY float, double, int32 or int64, tiles, axis (as for Tile)  ->  dX

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

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Computes the shape of the input from that of the output; *axis becomes non-negative. THROWS if
// axis or tiles is out of range, or the dimension is not a multiple of tiles.
void UntiledDims(IntArrayRef output, int64_t tiles, int* axis, std::vector<int64_t>* dims);
#pragma GCC visibility pop

// dX [outer, inner] = the sum of dY [outer, tiles, inner] over the tiles. REQUIRES: tiles > 0.
// Instantiated for float, double, int32_t and int64_t.
template <class T>
void SumTiles(CPUContext& context, int64_t outer, int64_t inner, int64_t tiles, const T* dy, T* dx);
template <class T>
void SumTiles(CUDAContext& context, int64_t outer, int64_t inner, int64_t tiles, const T* dy,
              T* dx);

// The numbers of Tile and TileGradient: arguments, or inputs 1 and 2.
class [[gnu::visibility("default")]] TileNumbers {
 public:
  // THROWS if a number is neither an argument nor an input.
  TileNumbers(const ArgumentHelper& args, int inputs);
  // Reads the inputs. THROWS if one of them is not a vector of one integer.
  template <class Context>
  void Read(Operator<Context>& op) {
    if (inputs_ > 1) Check(kTiles.name, 1, InputAnywhere(op, 1));
    if (inputs_ > 2) Check(kTileAxis.name, 2, InputAnywhere(op, 2));
    if (inputs_ > 1) tiles_ = Number(inputs_read_[0].Read(op, 1));
    if (inputs_ > 2) axis_ = CheckedCast<int>(Number(inputs_read_[1].Read(op, 2)), "axis");
  }
  int64_t tiles() const { return tiles_; }
  int axis() const { return axis_; }

 private:
  static void Check(const char* name, int input, const Tensor& tensor);
  static int64_t Number(const Tensor& tensor);

  const int inputs_;
  int64_t tiles_;
  int axis_;
  HostInput inputs_read_[2];
};

template <class Context>
class TileOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TileOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), numbers_(this->args(), InputSize()) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    DispatchByType<float, double, int32_t, int64_t, uint8_t, float16, std::string>(
        X.dtype(), "input 0 (X)", [](const auto&) {});
    numbers_.Read(*this);
    const int64_t tiles = numbers_.tiles();
    int axis = numbers_.axis();
    // As in Caffe2, which has no such rule for the gradient.
    if (InputSize() == 2 && InputAnywhere(*this, 1).template IsType<int64_t>()) axis = 0;
    TiledDims(X.sizes(), tiles, &axis, &dims_);
    Tensor* Y = Output(0, dims_, X.dtype());
    if (Y->numel() == 0) return true;
    TileRows(context_, X.dtype(), X.size_to_dim(axis), X.size_from_dim(axis), tiles, X.raw_data(),
             Y->raw_mutable_data(X.dtype()));
    return true;
  }

 private:
  TileNumbers numbers_;
  std::vector<int64_t> dims_;
};

template <class Context>
class TileGradientOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  TileGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), numbers_(this->args(), InputSize()) {}

  bool RunOnDevice() override {
    const Tensor& dY = Input(0);
    return DispatchByType<float, double, int32_t, int64_t>(
        dY.dtype(), "input 0 (dY)", [&](auto element) {
          using T = decltype(element);
          numbers_.Read(*this);
          const int64_t tiles = numbers_.tiles();
          int axis = numbers_.axis();
          UntiledDims(dY.sizes(), tiles, &axis, &dims_);
          T* dx = this->template OutputData<T>(0, dims_);
          if (dY.numel() == 0) return true;
          SumTiles(context_, dY.size_to_dim(axis), dY.size_from_dim(axis) / tiles, tiles,
                   dY.template data<T>(), dx);
          return true;
        });
  }

 private:
  TileNumbers numbers_;
  std::vector<int64_t> dims_;
};

}  // namespace caffe2rt
