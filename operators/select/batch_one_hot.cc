#include "operators/select/batch_one_hot.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void RegisterBatchOneHot() {
  RegisterSchema("BatchOneHot", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "data", "[N, D] int32 or int64")
      .Input(1, "lengths", "[D] int32: the number of values for each column")
      .Input(2, "values", "[sum of lengths], the type of data: the values for each column")
      .Output(0, "output",
              "[N, sum of lengths], the type of data: 1 where the element equals the value, 0 "
              "elsewhere")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 3) || in[0].dims_size() == 0) return UnknownOutputs(def);
        const std::vector<int64_t> dims = {in[0].dims(0), CheckedProduct(GetDimsVector(in[2]))};
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .SetDoc(
          "Encodes each column of a matrix as one-hot vectors over a list of values for that "
          "column.");
  RegisterCpuOperator<BatchOneHotOp<CPUContext>>("BatchOneHot", __FILE__);
  // The inputs are only compared for equality.
  RegisterGradient<NoGradient>("BatchOneHot", __FILE__);
}

}  // namespace caffe2rt
