// ONNXOneHot: ONNX's OneHot (opset 11): indices as vectors with one value at the index and another one
// elsewhere, along a new dimension.
//   indices of any number type and shape, depth (one number), values [2] (off, on), argument axis
//   ->  Y of the type of values, the shape of indices with a dimension of size depth
//
// Negative indices count from the end. An index out of range gives a vector of off values. Caffe2's
// OneHot makes float rows of a vector of indices.

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kOnnxOneHotAxis{
    "axis", -1, "position of the new dimension in the output; negative ones count from its end"};

// The integer part of any number, as a conversion to int64; -1 below `size` for what has none.
template <class T>
int64_t WholeNumber(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<int64_t>(value);
  } else {
    const double number = static_cast<double>(static_cast<float>(value));
    return std::abs(number) < 9e15 ? static_cast<int64_t>(number) : INT64_MIN;
  }
}

template <class F>
decltype(auto) DispatchNumbers(const Tensor& tensor, const char* subject, const F& function) {
  return DispatchByType<int64_t, int32_t, float, double, float16, uint8_t, int8_t, uint16_t,
                        int16_t>(tensor.dtype(), subject, function);
}

class ONNXOneHotOp final : public Operator<CPUContext> {
 public:
  ONNXOneHotOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kOnnxOneHotAxis)) {}

  bool RunOnDevice() override {
    const Tensor& indices = Input(0);
    const Tensor& values = Input(2);
    CAFFE_ENFORCE_EQ(Input(1).numel(), 1, "elements of input 1 (depth), want one");
    CAFFE_ENFORCE(values.dim() == 1 && values.numel() == 2, "input 2 (values) has shape ",
                  values.sizes(), ", want [2]: the off and the on value");
    DispatchNumbers(indices, "input 0 (indices)", [](const auto&) {});
    const int64_t depth = DispatchNumbers(Input(1), "input 1 (depth)", [&](auto element) {
      return WholeNumber(*Input(1).data<decltype(element)>());
    });
    CAFFE_ENFORCE_GE(depth, 0, "input 1 (depth)");
    const int axis = static_cast<int>(PlaceAxis(axis_, indices.dim() + 1));
    dims_.assign(indices.dims().begin(), indices.dims().end());
    dims_.insert(dims_.begin() + axis, depth);
    Tensor* const Y = Output(0);
    Y->Resize(dims_);
    void* const y = OutputMemory(Y, values.dtype());
    if (Y->numel() == 0) return true;
    FillWith(values.dtype(), Y->numel(), values.raw_data(), y);
    const int64_t inner = indices.size_from_dim(axis);
    DispatchBySize(values.dtype(), "input 2 (values)", [&](auto value) {
      using V = decltype(value);
      const V& on = static_cast<const V*>(values.raw_data())[1];
      DispatchNumbers(indices, "input 0 (indices)", [&](auto element) {
        const auto* const index = indices.data<decltype(element)>();
        for (int64_t i = 0; i < indices.numel(); ++i) {
          int64_t place = WholeNumber(index[i]);
          if (place < 0 && place >= -depth) place += depth;
          if (place < 0 || place >= depth) continue;
          static_cast<V*>(y)[(i / inner * depth + place) * inner + i % inner] = on;
        }
      });
    });
    return true;
  }

 private:
  const int axis_;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterOnnxOneHot() {
  RegisterSchema("ONNXOneHot", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kOnnxOneHotAxis)
      .Input(0, "indices", "numbers of any shape")
      .Input(1, "depth", "one number: the size of the new dimension")
      .Input(2, "values", "[2], of any type: the off value and the on value")
      .Output(0, "Y", "the shape of indices with the new dimension, the type of values")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{in.size() < 3 ? UnknownShape() : UnknownShapeLike(in[2])};
      })
      .InheritOnnxSchema("OneHot")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the value of input 1 (depth)"})
      .SetDoc(
          "Encodes each index as a vector of one on value among off values, as ONNX's OneHot "
          "does.");
  RegisterCpuOperator<ONNXOneHotOp>("ONNXOneHot", __FILE__);
  // The output depends on numbers only through indices.
  RegisterGradient<NoGradient>("ONNXOneHot", __FILE__);
}

}  // namespace caffe2rt
