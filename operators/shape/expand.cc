// Expand: X broadcast with a shape by numpy's rules. ExpandGradient: sums the gradients of repeated elements.
//   X, shape int64 [R] (-1 is as 1)  ->  Y
//   dY, X  ->  dX, the shape of X
#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

// Walks the elements of Y, and the elements of X that they repeat.
class RepeatedElements {
 public:
  // `wanted`: the shape that X is broadcast with. THROWS if they do not match.
  void Make(IntArrayRef x, IntArrayRef wanted) {
    const size_t rank = std::max(x.size(), wanted.size());
    dims_.assign(rank, 1);
    strides_.assign(rank, 0);
    int64_t stride = 1;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t size = i < x.size() ? x[x.size() - 1 - i] : 1;
      const int64_t given = i < wanted.size() ? wanted[wanted.size() - 1 - i] : 1;
      const int64_t want = given == -1 ? 1 : given;
      CAFFE_ENFORCE(want >= 0 && (size == want || size == 1 || want == 1), "X has shape ", x,
                    ", which cannot be broadcast with shape ", wanted);
      dims_[rank - 1 - i] = size == 1 ? want : size;
      strides_[rank - 1 - i] = size == 1 ? 0 : stride;
      stride *= size;
    }
    total_ = CheckedProduct(dims_);
  }
  const std::vector<int64_t>& dims() const { return dims_; }
  // Calls function(element of Y, element of X).
  template <class F>
  void ForEach(const F& function) {
    position_.assign(dims_.size(), 0);
    for (int64_t y = 0, x = 0; y < total_; ++y) {
      function(y, x);
      for (size_t d = dims_.size(); d-- > 0;) {
        x += strides_[d];
        if (++position_[d] < dims_[d]) break;
        x -= strides_[d] * dims_[d];
        position_[d] = 0;
      }
    }
  }

 private:
  std::vector<int64_t> dims_, strides_, position_;
  int64_t total_ = 0;
};

class ExpandOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    return DispatchByType<float, double, int32_t, int64_t>(
        Input(0).dtype(), "input 0 (X)", [&](auto element) { return Expand<decltype(element)>(); });
  }

 private:
  template <class T>
  bool Expand() {
    const Tensor& shape = Input(1);
    CAFFE_ENFORCE_LE(shape.dim(), 1, "rank of input 1 (shape) of shape ", shape.sizes());
    const int64_t* const wanted = shape.data<int64_t>();
    elements_.Make(Input(0).sizes(), IntArrayRef(wanted, static_cast<size_t>(shape.numel())));
    const T* const x = Input(0).data<T>();
    T* const y = OutputData<T>(0, elements_.dims());
    elements_.ForEach([&](int64_t to, int64_t from) { y[to] = x[from]; });
    return true;
  }
  RepeatedElements elements_;
};

class ExpandGradientOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    return DispatchByType<float, double, int32_t, int64_t>(
        Input(0).dtype(), "input 0 (dY)", [&](auto element) { return Sum<decltype(element)>(); });
  }

 private:
  template <class T>
  bool Sum() {
    const Tensor& dY = Input(0);
    elements_.Make(Input(1).sizes(), dY.sizes());
    CAFFE_ENFORCE(elements_.dims() == dY.dims(), "input 0 (dY) has shape ", dY.sizes(),
                  ", want that of X of shape ", Input(1).sizes(), " repeated");
    const T* const dy = dY.data<T>();
    T* const dx = OutputData<T>(0, Input(1).sizes());
    std::fill_n(dx, Input(1).numel(), T(0));
    elements_.ForEach([&](int64_t from, int64_t to) { dx[to] += dy[from]; });
    return true;
  }
  RepeatedElements elements_;
};

class GetExpandGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("ExpandGradient", "", {GO(0), ShapeOf(0)}, {GI(0)});
  }
};

}  // namespace

void RegisterExpand() {
  RegisterSchema("Expand", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "float, double, int32 or int64, any shape")
      .Input(1, "shape",
             "int64: the shape that X is broadcast with; 1 or -1 keeps the dimension of X")
      .Output(0, "Y", "X broadcast with the shape")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .Traits({.family = OperatorFamily::kShape,
               .no_shape_reason = "the shape is that of an input's values"})
      .SetDoc(
          "Broadcasts a tensor with a shape by numpy's rules: dimensions of size 1 are repeated, "
          "and dimensions are "
          "added before the first one.");
  RegisterCpuOperator<ExpandOp>("Expand", __FILE__);
  RegisterSchema("ExpandGradient", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "dY", "the gradient of Y")
      .Input(1, "X", "the input of Expand, of which only the shape is used")
      .Output(0, "dX", "the shape of X, the type of dY: sums of dY")
      .TensorInferenceFunction(InferShapeAndType(1, 0))
      .SetDoc("Computes the gradient of Expand.");
  RegisterCpuOperator<ExpandGradientOp>("ExpandGradient", __FILE__);
  RegisterGradient<GetExpandGradient>("Expand", __FILE__);
}

}  // namespace caffe2rt
