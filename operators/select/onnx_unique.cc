// ONNXUnique: ONNX's Unique (opset 11): the distinct elements, or the distinct slices along an axis.
//   X of any type  ->  Y, indices (the first place of each), inverse (for each element or slice its
//   place in Y), counts; the last three int64 and optional
// With argument sorted the slices are in ascending order, otherwise in that of their first places.
//
// Caffe2's Unique takes a vector of integers.

#include <algorithm>
#include <limits>
#include <numeric>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/copy_rows.h"
#include "operators/common/inference.h"
#include "operators/common/integer_input.h"

namespace caffe2rt {

namespace {

constexpr int kUniqueFlattened = std::numeric_limits<int>::min();
constexpr ArgumentSpec<int> kOnnxUniqueAxis{
    "axis", kUniqueFlattened,
    "dimension of the slices; a negative one counts from the end; default: single elements"};
constexpr ArgumentSpec<bool> kOnnxUniqueSorted{"sorted", true,
                                               "1: ascending; 0: in the order of the input"};

// Slices of a tensor along one dimension.
template <class T>
struct ComparedSlices {
  const T* x;
  int64_t outer, size, inner;

  // -1, 0 or 1. NaN is larger than any number, and equal to NaN.
  static int CompareElements(const T& a, const T& b) {
    if (a < b) return -1;
    if (b < a) return 1;
    if constexpr (std::is_floating_point_v<T> || std::is_same_v<T, float16>)
      return static_cast<int>(a != a) - static_cast<int>(b != b);
    return 0;
  }
  int Compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < outer; ++i) {
      const T* const row_a = x + (i * size + a) * inner;
      const T* const row_b = x + (i * size + b) * inner;
      for (int64_t j = 0; j < inner; ++j) {
        const int order = CompareElements(row_a[j], row_b[j]);
        if (order != 0) return order;
      }
    }
    return 0;
  }
};

class ONNXUniqueOp final : public Operator<CPUContext> {
 public:
  ONNXUniqueOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kOnnxUniqueAxis)),
        sorted_(ReadArgument(kOnnxUniqueSorted)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchByType<float, double, float16, int64_t, int32_t, uint8_t, int8_t, uint16_t,
                          int16_t, bool, std::string>(
        X.dtype(), "input 0 (X)", [&](auto element) { return RunWith<decltype(element)>(X); });
  }

 private:
  template <class T>
  bool RunWith(const Tensor& X) {
    const bool flat = axis_ == kUniqueFlattened;
    const int axis = flat ? 0 : static_cast<int>(PlaceAxis(axis_, X.dim()));
    const T* const x = X.numel() > 0 ? X.data<T>() : nullptr;
    const ComparedSlices<T> slices =
        flat ? ComparedSlices<T>{x, 1, X.numel(), 1}
             : ComparedSlices<T>{x, X.size_to_dim(axis), X.dim(axis), X.size_from_dim(axis + 1)};
    FindGroups(slices);
    if (flat) {
      dims_.assign(1, 0);
    } else {
      dims_.assign(X.dims().begin(), X.dims().end());
    }
    const int64_t count = static_cast<int64_t>(first_.size());
    dims_[static_cast<size_t>(axis)] = count;
    T* to = OutputData<T>(0, dims_);
    for (int64_t i = 0; i < slices.outer && x != nullptr; ++i) {
      for (const int64_t from : first_)
        to = std::copy_n(x + (i * slices.size + from) * slices.inner, slices.inner, to);
    }
    WriteNumbers(1, first_);
    WriteNumbers(2, inverse_);
    WriteNumbers(3, counts_);
    return true;
  }

  // Sets first_, inverse_ and counts_.
  template <class T>
  void FindGroups(const ComparedSlices<T>& slices) {
    const size_t size = static_cast<size_t>(slices.size);
    order_.resize(size);
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      const int order = slices.Compare(a, b);
      return order != 0 ? order < 0 : a < b;
    });
    first_.clear();
    counts_.clear();
    inverse_.resize(size);
    for (size_t i = 0; i < size; ++i) {
      if (i == 0 || slices.Compare(order_[i - 1], order_[i]) != 0) {
        first_.push_back(order_[i]);
        counts_.push_back(0);
      }
      ++counts_.back();
      inverse_[static_cast<size_t>(order_[i])] = static_cast<int64_t>(first_.size()) - 1;
    }
    if (!sorted_) OrderByFirstPlace();
  }
  void OrderByFirstPlace() {
    const size_t count = first_.size();
    order_.resize(count);
    std::iota(order_.begin(), order_.end(), int64_t{0});
    std::sort(order_.begin(), order_.end(), [&](int64_t a, int64_t b) {
      return first_[static_cast<size_t>(a)] < first_[static_cast<size_t>(b)];
    });
    old_first_ = first_;
    old_counts_ = counts_;
    ranks_.resize(count);
    for (size_t i = 0; i < count; ++i) {
      const size_t group = static_cast<size_t>(order_[i]);
      first_[i] = old_first_[group];
      counts_[i] = old_counts_[group];
      ranks_[group] = static_cast<int64_t>(i);
    }
    for (int64_t& group : inverse_) group = ranks_[static_cast<size_t>(group)];
  }
  void WriteNumbers(int output, const std::vector<int64_t>& numbers) {
    if (output >= OutputSize()) return;
    std::copy(numbers.begin(), numbers.end(),
              OutputData<int64_t>(output, {static_cast<int64_t>(numbers.size())}));
  }

  const int axis_;
  const bool sorted_;
  std::vector<int64_t> dims_, order_, first_, inverse_, counts_, old_first_, old_counts_, ranks_;
};

}  // namespace

void RegisterOnnxUnique() {
  RegisterSchema("ONNXUnique", __FILE__)
      .NumInputs(1)
      .NumOutputs(1, 4)
      .Args(kOnnxUniqueAxis, kOnnxUniqueSorted)
      .Input(0, "X", "any tensor")
      .Output(0, "Y", "the distinct slices, or a vector of the distinct elements without an axis")
      .Output(1, "indices", "(optional) int64: the first place of each in X")
      .Output(2, "inverse", "(optional) int64: the place in Y of each slice or element of X")
      .Output(3, "counts", "(optional) int64: how often each occurs")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> shapes = UnknownOutputs(def);
        for (TensorShape& shape : shapes) shape.set_data_type(TensorProto::INT64);
        shapes[0] = in.empty() ? UnknownShape() : UnknownShapeLike(in[0]);
        return shapes;
      })
      .InheritOnnxSchema("Unique")
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape depends on the values of the input"})
      .SetDoc("Finds the distinct elements or slices of a tensor, as ONNX's Unique does.");
  RegisterCpuOperator<ONNXUniqueOp>("ONNXUnique", __FILE__);
  // Models are trained by other operators.
  RegisterGradient<GradientNotImplementedYet>("ONNXUnique", __FILE__);
}

}  // namespace caffe2rt
