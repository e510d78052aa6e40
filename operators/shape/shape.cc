#include "operators/shape/shape.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void RegisterShape() {
  RegisterSchema("Shape", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kShapeAxes)
      .Input(0, "X", "any tensor")
      .Output(0, "shape", "vector of int64")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        int64_t count = ArgumentHelper(def).Read(kShapeAxes).size();
        if (count == 0) {
          if (!AreKnown(in, 1)) return UnknownOutputs(def);
          count = in[0].dims_size();
        }
        return std::vector<TensorShape>{
            CreateTensorShape(std::vector<int64_t>{count}, TensorProto_DataType_INT64)};
      })
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc("Computes the shape of a tensor as a vector.");
  RegisterCpuOperator<ShapeOp<CPUContext>>("Shape", __FILE__);
  // The output does not depend on values of the input.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Shape", __FILE__);
}

}  // namespace caffe2rt
