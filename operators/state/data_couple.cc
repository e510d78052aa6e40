#include "operators/state/data_couple.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void RegisterDataCouple() {
  RegisterSchema("DataCouple", __FILE__)
      .NumInputsOutputs([](int inputs, int outputs) { return outputs <= inputs; })
      .NumInputs(0, INT_MAX)
      .NumOutputs(0, INT_MAX)
      .EnforceOneToOneInplace()
      .Input(0, "X1, X2, ...", "blobs of any type")
      .Output(0, "X1, X2, ...", "the first ones of these blobs, unchanged")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        std::vector<TensorShape> out = in;
        out.resize(static_cast<size_t>(def.output_size()), UnknownShape());
        return out;
      })
      .SetDoc(
          "Does nothing. The outputs depend on all inputs: operators that read an output run after "
          "those that write an input.");
  RegisterCpuOperator<DataCoupleOp<CPUContext>>("DataCouple", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
