// CumSum, CumProd: running sums and products along an axis, which is an input.
//   X float, double, int32 or int64, axis int32 or int64 [] or [1]  ->  Y as X
// Integers wrap around.

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/numeric/numbers.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kCumExclusive{"exclusive", false,
                                           "1: an element does not count toward its own result"};
constexpr ArgumentSpec<bool> kCumReverse{"reverse", false, "1: from the end of the axis"};

template <bool kProduct>
class CumOp final : public Operator<CPUContext> {
 public:
  CumOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        exclusive_(ReadArgument(kCumExclusive)),
        reverse_(ReadArgument(kCumReverse)) {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &axis = Input(1);
    RequireElementsOf<int32_t, int64_t>(axis, "input 1 (axis)");
    CAFFE_ENFORCE_EQ(axis.numel(), 1, "elements of input 1 (axis) of shape ", axis.sizes());
    return DispatchByType<float, double, int32_t, int64_t>(
        X.dtype(), "input 0 (X)", [&](auto element) {
          using T = decltype(element);
          T* y = OutputData<T>(0, X.sizes());
          const int64_t at = axis.IsType<int32_t>() ? *axis.data<int32_t>() : *axis.data<int64_t>();
          const NumberAxis span = NumberAxisOf(X.sizes(), at);
          if (X.numel() > 0) Run(span, X.data<T>(), y);
          return true;
        });
  }

 private:
  template <class T>
  static T Join(T a, T b) {
    return kProduct ? math::WrappingMultiply(a, b) : math::WrappingAdd(a, b);
  }

  template <class T>
  void Run(const NumberAxis& span, const T* x, T* y) const {
    const int64_t inner = span.inner, step = reverse_ ? -inner : inner;
    ParallelRanges(span.outer, span.size * inner, [&](int64_t first, int64_t last) {
      for (int64_t o = first; o < last; ++o) {
        int64_t at = o * span.size * inner + (reverse_ ? (span.size - 1) * inner : 0);
        for (int64_t j = 0; j < span.size; ++j, at += step) {
          for (int64_t i = at; i < at + inner; ++i) {
            if (exclusive_) {
              y[i] = j == 0 ? (kProduct ? T(1) : T(0)) : Join(y[i - step], x[i - step]);
            } else {
              y[i] = j == 0 ? x[i] : Join(y[i - step], x[i]);
            }
          }
        }
      }
    });
  }

  const bool exclusive_, reverse_;
};

// The running sums of dY from the other end.
class GetCumSumGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    return SingleGradientDef(
        "CumSum", "", {GO(0), I(1)}, {GI(0)},
        {MakeArgument<int>(kCumExclusive.name, args.Read(kCumExclusive) ? 1 : 0),
         MakeArgument<int>(kCumReverse.name, args.Read(kCumReverse) ? 0 : 1)});
  }
};

template <bool kProduct>
void RegisterCum(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kCumExclusive, kCumReverse)
      .Input(0, "X", "float, double, int32 or int64, rank 1 or more")
      .Input(1, "axis", "int32 or int64, one element; negative axes count from the end")
      .Output(0, "Y", "the shape and type of X")
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<1>)
      .Traits({.same_shape = true})
      .SetDoc(doc);
  RegisterCpuOperator<CumOp<kProduct>>(type, __FILE__);
}

}  // namespace

void RegisterCumSum() {
  RegisterCum<false>("CumSum", "Computes running sums along an axis, as ONNX does.");
  RegisterGradient<GetCumSumGradient>("CumSum", __FILE__);
  RegisterCum<true>("CumProd", "Computes running products along an axis, as ONNX does.");
  // Not implemented. Caffe2 has no such operator.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("CumProd", __FILE__);
}

}  // namespace caffe2rt
