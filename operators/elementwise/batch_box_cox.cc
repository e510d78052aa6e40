// BatchBoxCox: the transform of Box and Cox, with two parameters for each column.
//   data [N, D..], lambda1 D numbers, lambda2 D numbers, float or double  ->  the shape of data
//   v = max(data + lambda2, 1e-6)
//   output = (v^lambda1 - 1) / lambda1, or ln v where lambda1 is 0
#include <cmath>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kBoxCoxMinBlock{"min_block_size", 256, "has no effect on the result"};

class BatchBoxCoxOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor& data = Input(0);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data)");
    const int64_t columns = data.size_from_dim(1);
    for (const int i : {1, 2}) {
      CAFFE_ENFORCE_EQ(Input(i).numel(), columns, "elements of input ", i, " (lambda", i,
                       "), want one for each column of input 0 (data) of shape ", data.sizes());
    }
    return DispatchByType<float, double>(data.dtype(), "input 0 (data)", [&](auto element) {
      return Transform<decltype(element)>(columns);
    });
  }

 private:
  template <class T>
  bool Transform(int64_t columns) {
    const Tensor& data = Input(0);
    RequireElements<T>(Input(1));
    RequireElements<T>(Input(2));
    const T* x = data.data<T>();
    const T* const lambda1 = Input(1).data<T>();
    const T* const lambda2 = Input(2).data<T>();
    T* y = OutputData<T>(0, data.sizes());
    for (int64_t i = 0; i < data.dim(0); ++i) {
      for (int64_t k = 0; k < columns; ++k) {
        *y++ = static_cast<T>(BoxCox(static_cast<double>(*x++), static_cast<double>(lambda1[k]),
                                     static_cast<double>(lambda2[k])));
      }
    }
    return true;
  }

  // In double: the difference would lose most digits for a small exponent.
  static double BoxCox(double x, double exponent, double shift) {
    constexpr double kLeast = 1e-6;
    const double v = x + shift < kLeast ? kLeast : x + shift;  // keeps NaN
    return exponent == 0 ? std::log(v) : (std::pow(v, exponent) - 1) / exponent;
  }
};

}  // namespace

void RegisterBatchBoxCox() {
  const InputTypes like_first{.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE},
                              .like_first = true};
  RegisterSchema("BatchBoxCox", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Arg(kBoxCoxMinBlock)
      .Input(0, "data", "[N, D..] float or double")
      .Input(1, "lambda1", "D numbers of the type of data: the exponent of each column")
      .Input(2, "lambda2", "D numbers of the type of data: what is added to each column")
      .Output(0, "output", "the shape of data")
      .AllowInplace({{0, 0}})
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE}})
      .TypesOfInput(1, like_first)
      .TypesOfInput(2, like_first)
      .IdenticalTypeAndShapeOfInput(0)
      .CostInferenceFunction(PointwiseCostInference<4>)
      .SetDoc(
          "Computes (v^lambda1 - 1) / lambda1 of v = max(data + lambda2, 1e-6), or ln v where "
          "lambda1 is 0.");
  RegisterCpuOperator<BatchBoxCoxOp>("BatchBoxCox", __FILE__);
  RegisterGradient<GradientNotImplementedYet>("BatchBoxCox", __FILE__);  // as in Caffe2
}

}  // namespace caffe2rt
