// TensorScatter: ONNX's operator (opset 24): writes new steps into the cache of keys or values.
//   cache [N, ..., S, ...], update of the same shape but for the axis, start int32 or int64 [N]
//   (default: 0)  ->  Y, the cache with update at steps start[n], start[n] + 1, ... of sequence n
//
// Argument mode: "linear", in which steps after the last one are an error, or "circular", in which
// they go on at the first one.

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kTensorScatterAxis{
    "axis", -2, "dimension of the steps, not that of the sequences, which is 0"};
constexpr ArgumentSpec<std::string> kTensorScatterMode{
    "mode",
    "linear",
    "linear or circular",
    {[](const std::string& mode) { return mode == "linear" || mode == "circular"; },
     "linear or circular"}};

class TensorScatterOp final : public Operator<CPUContext> {
 public:
  TensorScatterOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kTensorScatterAxis)),
        circular_(ReadArgument(kTensorScatterMode) == "circular") {}

  bool RunOnDevice() override {
    const Tensor& cache = Input(0);
    const Tensor& update = Input(1);
    const int axis = static_cast<int>(PlaceAxis(axis_, cache.dim()));
    CheckShapes(cache, update, axis);
    const int64_t steps = cache.dim(axis), added = update.dim(axis), batch = cache.dim(0);
    ReadStarts(batch, steps, added);
    Tensor* const Y = Output(0);
    if (Y != &cache) CopyReshaped(context_, cache, cache.sizes(), Y);
    if (update.numel() == 0) return true;
    const int64_t inner = cache.size_from_dim(axis + 1);
    const int64_t rows = cache.size_to_dim(axis), per_batch = rows / batch;
    DispatchBySize(cache.dtype(), "input 0 (cache)", [&](auto element) {
      using T = decltype(element);
      const T* from = static_cast<const T*>(update.raw_data());
      T* const y = static_cast<T*>(Y->raw_mutable_data(cache.dtype()));
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t start = starts_[static_cast<size_t>(row / per_batch)];
        for (int64_t i = 0; i < added; ++i, from += inner) {
          const int64_t step = (start + i) % steps;
          std::copy_n(from, inner, y + (row * steps + step) * inner);
        }
      }
    });
    return true;
  }

 private:
  static void CheckShapes(const Tensor& cache, const Tensor& update, int axis) {
    CAFFE_ENFORCE_GE(axis, 1, "axis, want a dimension after that of the sequences");
    bool fits = cache.dim() == update.dim();
    for (int i = 0; fits && i < cache.dim(); ++i)
      fits = i == axis ? update.dim(i) <= cache.dim(i) : update.dim(i) == cache.dim(i);
    CAFFE_ENFORCE(fits, "input 1 (update) has shape ", update.sizes(),
                  ", want that of input 0 (cache) ", cache.sizes(),
                  " with at most the steps of dim ", axis);
    CAFFE_ENFORCE(update.dtype() == cache.dtype(), "input 1 (update) has elements of type ",
                  update.dtype().name(), ", want ", cache.dtype().name(), " as input 0 (cache)");
  }
  void ReadStarts(int64_t batch, int64_t steps, int64_t added) {
    starts_.assign(static_cast<size_t>(batch), 0);
    if (!IsGiven(*this, 2)) return;
    ReadIntegers(Input(2), "input 2 (start)", &starts_);
    CAFFE_ENFORCE_EQ(static_cast<int64_t>(starts_.size()), batch,
                     "elements of input 2 (start), want one for each sequence");
    for (int64_t& start : starts_) {
      CAFFE_ENFORCE(start >= 0 && (circular_ || start <= steps - added),
                    "element of input 2 (start) is ", start, ", want at least 0 and at most ",
                    steps - added, ": ", added, " of ", steps, " steps are written");
      if (circular_ && steps > 0) start %= steps;
    }
  }

  const int axis_;
  const bool circular_;
  std::vector<int64_t> starts_;
};

}  // namespace

void RegisterTensorScatter() {
  RegisterSchema("TensorScatter", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Args(kTensorScatterAxis, kTensorScatterMode)
      .Input(0, "cache", "[N, ..., S, ...], of any type")
      .Input(1, "update", "the shape of cache with at most S steps")
      .Input(2, "start", "(optional) int32 or int64 [N]: the first step to write; default: 0")
      .Output(0, "Y", "the cache with the new steps")
      .IdenticalTypeAndShapeOfInput(0)
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape, .same_shape = true})
      .SetDoc("Writes steps into a cache of sequences, as ONNX's TensorScatter does.");
  RegisterCpuOperator<TensorScatterOp>("TensorScatter", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("TensorScatter", __FILE__);
}

}  // namespace caffe2rt
