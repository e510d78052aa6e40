// NonZero: ONNX's operator (opset 13): the indices of the elements that are not 0.
//   X numbers or bools  ->  indices int64 [rank of X, count], in row-major order
// Compress: ONNX's operator (opset 11): the slices along an axis where a condition holds.
//   X, condition bool [at most the size of the axis]  ->  Y; without argument axis, of the flattened X

#include <algorithm>
#include <limits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"
#include "operators/common/strided_copy.h"

namespace caffe2rt {

namespace {

constexpr int kFlattened = std::numeric_limits<int>::min();
constexpr ArgumentSpec<int> kCompressAxis{
    "axis", kFlattened,
    "dimension to select from; a negative one counts from the end; default: the flattened input"};

class NonZeroOp final : public Operator<CPUContext> {
 public:
  using Operator::Operator;

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double, float16, int32_t, int64_t, uint8_t, int8_t, uint16_t,
                          int16_t, bool>(
        X.dtype(), "input 0 (X)", [&](auto element) { return RunWith<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool RunWith(const Tensor& X) {
    const int64_t n = X.numel();
    const T* const x = X.data<T>();
    int64_t count = 0;
    for (int64_t i = 0; i < n; ++i) count += IsSet(x[i]) ? 1 : 0;
    const size_t rank = X.dims().size();
    int64_t* const y = OutputData<int64_t>(0, {static_cast<int64_t>(rank), count});
    if (count == 0 || rank == 0) return true;
    int64_t place = 0;
    ForEachRowOf(X.sizes(), 0, n, [&](int64_t i, const int64_t* index) {
      if (!IsSet(x[i])) return;
      for (size_t axis = 0; axis < rank; ++axis)
        y[static_cast<int64_t>(axis) * count + place] = index[axis];
      ++place;
    });
    return true;
  }
  template <class T>
  static bool IsSet(T value) {
    if constexpr (std::is_same_v<T, float16>) {
      return (value.x & 0x7fff) != 0;
    } else {
      return value != T(0);
    }
  }
};

class CompressOp final : public Operator<CPUContext> {
 public:
  CompressOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axis_(ReadArgument(kCompressAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const Tensor& condition = Input(1);
    CAFFE_ENFORCE_EQ(condition.dim(), 1, "rank of input 1 (condition), want a vector");
    RequireElements<bool>(condition);
    const bool flat = axis_ == kFlattened;
    const int axis = flat ? 0 : static_cast<int>(PlaceAxis(axis_, X.dim()));
    const int64_t size = flat ? X.numel() : X.dim(axis);
    CAFFE_ENFORCE_LE(condition.numel(), size,
                     "elements of input 1 (condition), want at most those of input 0 (X) of shape ",
                     X.sizes(), " to select from");
    const bool* const keep = condition.data<bool>();
    chosen_.clear();
    for (int64_t i = 0; i < condition.numel(); ++i) {
      if (keep[i]) chosen_.push_back(i);
    }
    if (flat) {
      dims_.assign(1, 0);
    } else {
      dims_.assign(X.dims().begin(), X.dims().end());
    }
    dims_[static_cast<size_t>(axis)] = static_cast<int64_t>(chosen_.size());
    Tensor* const Y = Output(0);
    Y->Resize(dims_);
    void* const y = OutputMemory(Y, X.dtype());
    if (Y->numel() == 0) return true;
    const int64_t outer = flat ? 1 : X.size_to_dim(axis);
    const int64_t inner = flat ? 1 : X.size_from_dim(axis + 1);
    DispatchBySize(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const T* const x = static_cast<const T*>(X.raw_data());
      T* to = static_cast<T*>(y);
      for (int64_t i = 0; i < outer; ++i) {
        for (const int64_t j : chosen_) to = std::copy_n(x + (i * size + j) * inner, inner, to);
      }
    });
    return true;
  }

 private:
  const int axis_;
  std::vector<int64_t> chosen_, dims_;
};

}  // namespace

void RegisterNonZero() {
  RegisterSchema("NonZero", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "numbers or bools of any shape")
      .Output(0, "indices", "int64 [rank of X, count]: a column for each element that is not 0")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        TensorShape shape = UnknownShape();
        shape.set_data_type(TensorProto::INT64);
        return std::vector<TensorShape>{shape};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of the input"})
      .SetDoc("Computes the indices of the elements that are not 0, as ONNX's NonZero does.");
  RegisterCpuOperator<NonZeroOp>("NonZero", __FILE__);
  // The output is indices.
  RegisterGradient<NoGradient>("NonZero", __FILE__);

  RegisterSchema("Compress", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kCompressAxis)
      .Input(0, "X", "any tensor")
      .Input(1, "condition",
             "bool vector, at most as long as the axis; what it lacks is not selected")
      .Output(0, "Y", "the selected slices, or a vector of the selected elements without an axis")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{in.empty() ? UnknownShape() : UnknownShapeLike(in[0])};
      })
      .InheritOnnxSchema()
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of its inputs"})
      .SetDoc(
          "Copies the slices along an axis for which a condition holds, as ONNX's Compress does.");
  RegisterCpuOperator<CompressOp>("Compress", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("Compress", __FILE__);
}

}  // namespace caffe2rt
