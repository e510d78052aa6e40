#include "operators/fill/gaussian_fill.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void RegisterGaussianFill() {
  OpSchema& schema = RegisterSchema("GaussianFill", __FILE__);
  DeclareFillShape(schema);
  schema.Args(kGaussianMean, kGaussianStd)
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return std::vector<TensorShape>{InferFill(def, in, TensorProto_DataType_FLOAT)};
      })
      .HasEffect(Effect::kRandom)
      .SetDoc("Draws floats from a normal distribution.");
  RegisterCpuOperator<GaussianFillOp<CPUContext>>("GaussianFill", __FILE__);
  // The output is random.
  RegisterGradient<NoGradient>("GaussianFill", __FILE__);
}

}  // namespace caffe2rt
