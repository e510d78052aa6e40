// ONNXTopK: ONNX's TopK (opset 24): the k largest or smallest elements along a dimension.
//   X numbers, k (argument, or one int32 or int64 as input 1)
//   ->  values of the type of X, indices int64
// Arguments axis, largest, sorted. Of equal elements, those with lower indices come first, and they are
// always in order. NaN is larger than any number. k must not exceed the dimension.
//
// Caffe2's TopK takes the largest floats only, and fills up where the dimension is too short.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kOnnxTopK{
    "k", -1, "number of elements, at least 0; required unless input 1 is given"};
constexpr ArgumentSpec<int> kOnnxTopKAxis{
    "axis", -1, "dimension to search; a negative one counts from the end"};
constexpr ArgumentSpec<bool> kOnnxTopKLargest{"largest", true,
                                              "1: the largest elements; 0: the smallest ones"};
constexpr ArgumentSpec<bool> kOnnxTopKSorted{
    "sorted", true, "ONNX's argument; the elements are in order in any case"};

// The elements of a line, which are `inner` apart.
template <class T>
struct TopKLine {
  const T* x;
  int64_t inner;

  static bool Less(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return a < b;
    } else {
      const bool a_nan = a != a, b_nan = b != b;
      return a_nan || b_nan ? !a_nan : a < b;
    }
  }
  // Writes the indices of the first k of `size` elements to order[0, k); order has room for `size`.
  void Order(int64_t size, int64_t k, bool largest, int64_t* order) const {
    std::iota(order, order + size, int64_t{0});
    const auto before = [&](int64_t a, int64_t b) {
      const T x_a = x[a * inner], x_b = x[b * inner];
      if (largest ? Less(x_b, x_a) : Less(x_a, x_b)) return true;
      if (largest ? Less(x_a, x_b) : Less(x_b, x_a)) return false;
      return a < b;
    };
    // A heap of the k best elements costs size * log k; a partition costs 2 * size and a sort of k.
    if (k > 16) {
      std::nth_element(order, order + k - 1, order + size, before);
      std::sort(order, order + k, before);
    } else {
      std::partial_sort(order, order + k, order + size, before);
    }
  }
};

class ONNXTopKOp final : public Operator<CPUContext> {
 public:
  ONNXTopKOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        k_(ReadArgument(kOnnxTopK)),
        axis_(ReadArgument(kOnnxTopKAxis)),
        largest_(ReadArgument(kOnnxTopKLargest)) {
    (void)ReadArgument(kOnnxTopKSorted);
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double, float16, int64_t, int32_t, uint8_t, int8_t, uint16_t,
                          int16_t, uint32_t, uint64_t>(X.dtype(), "input 0 (X)",
                                   [&](auto element) { return RunWith<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool RunWith(const Tensor& X) {
    const int axis = static_cast<int>(PlaceAxis(axis_, X.dim()));
    const int64_t size = X.dim(axis), k = IntegerOf(*this, 1, "input 1 (k)", k_);
    CAFFE_ENFORCE(k >= 0 && k <= size, "k is ", k, ", want at least 0 and at most dim ", axis,
                  " of input 0 (X) of shape ", X.sizes());
    dims_.assign(X.dims().begin(), X.dims().end());
    dims_[static_cast<size_t>(axis)] = k;
    T* const values = OutputData<T>(0, dims_);
    int64_t* const indices = OutputData<int64_t>(1, dims_);
    if (k == 0 || X.numel() == 0) return true;
    const T* const x = X.data<T>();
    const int64_t outer = X.size_to_dim(axis), inner = X.size_from_dim(axis + 1);
    order_.resize(static_cast<size_t>(size));
    for (int64_t i = 0; i < outer; ++i) {
      for (int64_t j = 0; j < inner; ++j) {
        const TopKLine<T> line{x + i * size * inner + j, inner};
        line.Order(size, k, largest_, order_.data());
        for (int64_t rank = 0; rank < k; ++rank) {
          const int64_t index = order_[static_cast<size_t>(rank)];
          values[(i * k + rank) * inner + j] = line.x[index * inner];
          indices[(i * k + rank) * inner + j] = index;
        }
      }
    }
    return true;
  }

  const int64_t k_;
  const int axis_;
  const bool largest_;
  std::vector<int64_t> dims_, order_;
};

std::vector<TensorShape> InferOnnxTopK(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const ArgumentHelper args(def);
  if (!AreKnown(in, 1) || MayBeGiven(def, in, 1)) {
    TensorShape indices = UnknownShape();
    indices.set_data_type(TensorProto::INT64);
    return {in.empty() ? UnknownShape() : UnknownShapeLike(in[0]), indices};
  }
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims[static_cast<size_t>(PlaceAxis(args.Read(kOnnxTopKAxis), in[0].dims_size()))] =
      args.Read(kOnnxTopK);
  return {CreateTensorShape(dims, in[0].data_type()), CreateTensorShape(dims, TensorProto::INT64)};
}

}  // namespace

void RegisterOnnxTopK() {
  RegisterSchema("ONNXTopK", __FILE__)
      .NumInputs(1, 2)
      .NumOutputs(2)
      .Args(kOnnxTopK, kOnnxTopKAxis, kOnnxTopKLargest, kOnnxTopKSorted)
      .Input(0, "X", "numbers, of rank 1 or more")
      .Input(1, "k", "(optional) one int32 or int64, instead of the argument")
      .Output(0, "values", "the elements in order: the shape of X with size k in the dimension")
      .Output(1, "indices", "int64: their indices in the dimension")
      .TensorInferenceFunction(InferOnnxTopK)
      .InheritOnnxSchema("TopK")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the value of input 1 (k)"})
      .SetDoc("Finds the k largest or smallest elements along a dimension, as ONNX's TopK does.");
  RegisterCpuOperator<ONNXTopKOp>("ONNXTopK", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ONNXTopK", __FILE__);
}

}  // namespace caffe2rt
