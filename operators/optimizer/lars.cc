#include "operators/optimizer/lars.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/optimizer/sum_terms.h"

namespace caffe2rt {

void ComputeLarsRate(CPUContext&, int64_t n, const LarsRate& rate, Tensor*) {
  rate.Finish({DotProduct(n, rate.x, rate.x), DotProduct(n, rate.dx, rate.dx)});
}

void RegisterLars() {
  RegisterSchema("Lars", __FILE__)
      .NumInputs(5)
      .NumOutputs(1)
      .Args(kLarsOffset, kLarsMin)
      .Input(0, "X", "the parameter of a layer, float")
      .Input(1, "dX", "its gradient; as many elements as X")
      .Input(2, "wd", "the weight decay")
      .Input(3, "trust", "the factor of the ratio of the norms")
      .Input(4, "lr_max", "the greatest rate")
      .Output(0, "lr_rescaled", "one element")
      .TensorInferenceFunction([](const OperatorDef&, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{1}, TensorProto_DataType_FLOAT)};
      })
      .SetDoc(
          "Computes a learning rate for one layer, by layer-wise adaptive rate scaling: "
          "trust / (|dX| / |X| + wd + offset), at least lr_min and at most lr_max. It is 1 if the "
          "norm of X is 0.");
  RegisterCpuOperator<LarsOp<CPUContext>>("Lars", __FILE__);
  // The rate is not part of the function that is differentiated.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Lars", __FILE__);
}

}  // namespace caffe2rt
