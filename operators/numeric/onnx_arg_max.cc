// ONNXArgMax, ONNXArgMin: the index of the largest or smallest number along an axis, the first or the
// last of equal ones. ArgMax and ArgMin are Caffe2's, with fewer types and without select_last_index.

#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/numeric/numbers.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kOnnxArgAxis{"axis", 0, "the axis; negative axes count from the end"};
constexpr ArgumentSpec<bool> kOnnxArgKeepDims{"keepdims", true,
                                              "1: keep the axis with size 1; 0: remove it"};
constexpr ArgumentSpec<bool> kOnnxArgLast{"select_last_index", false,
                                          "1: the last of equal elements; 0: the first"};

void OnnxArgDims(IntArrayRef x, size_t axis, bool keep, std::vector<int64_t>* dims) {
  dims->assign(x.begin(), x.end());
  if (keep) {
    (*dims)[axis] = 1;
  } else {
    dims->erase(dims->begin() + static_cast<std::ptrdiff_t>(axis));
  }
}

template <bool kMax>
class OnnxArgOp final : public Operator<CPUContext> {
 public:
  OnnxArgOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        axis_(ReadArgument(kOnnxArgAxis)),
        keep_(ReadArgument(kOnnxArgKeepDims)),
        last_(ReadArgument(kOnnxArgLast)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    return DispatchNumber(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const NumberAxis span = NumberAxisOf(X.sizes(), axis_);
      OnnxArgDims(X.sizes(), span.at, keep_, &dims_);
      int64_t* y = OutputData<int64_t>(0, dims_);
      if (Output(0)->numel() == 0) return true;
      CAFFE_ENFORCE_GT(span.size, 0, "size of axis ", axis_, " of input 0 (X) of shape ",
                       X.sizes());
      const T* x = X.data<T>();
      ParallelRanges(span.outer, span.size * span.inner, [&](int64_t from, int64_t to) {
        for (int64_t o = from; o < to; ++o) {
          for (int64_t i = 0; i < span.inner; ++i) {
            y[o * span.inner + i] = Best(span, x + o * span.size * span.inner + i);
          }
        }
      });
      return true;
    });
  }

 private:
  template <class T>
  int64_t Best(const NumberAxis& span, const T* x) const {
    int64_t best = 0;
    for (int64_t j = 1; j < span.size; ++j) {
      const T value = x[j * span.inner], old = x[best * span.inner];
      if ((kMax ? value > old : value < old) || (last_ && value == old)) best = j;
    }
    return best;
  }

  const int axis_;
  const bool keep_, last_;
  std::vector<int64_t> dims_;
};

template <bool kMax>
void RegisterOnnxArg(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kOnnxArgAxis, kOnnxArgKeepDims, kOnnxArgLast)
      .Input(0, "X", "numbers of any type, rank 1 or more")
      .Output(0, "Indices", "int64, the shape of X where the axis has size 1 or is removed")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        const ArgumentHelper args(def);
        const std::vector<int64_t> x = GetDimsVector(in[0]);
        std::vector<int64_t> dims;
        OnnxArgDims(x, NumberAxisOf(x, args.Read(kOnnxArgAxis)).at, args.Read(kOnnxArgKeepDims),
                    &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_INT64)};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(doc);
  RegisterCpuOperator<OnnxArgOp<kMax>>(type, __FILE__);
  // An index is constant under small changes of the input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
}

}  // namespace

void RegisterOnnxArgMax() {
  RegisterOnnxArg<true>(
      "ONNXArgMax", "Computes the index of the largest number along an axis, as ONNX's ArgMax.");
  RegisterOnnxArg<false>(
      "ONNXArgMin", "Computes the index of the smallest number along an axis, as ONNX's ArgMin.");
}

}  // namespace caffe2rt
