#include "operators/shape/merge_dim.h"

#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void MergedDims(IntArrayRef input, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GE(input.size(), size_t{2}, "rank of input 0, want at least 2");
  dims->assign(1, CheckedMultiply(input[0], input[1]));
  dims->insert(dims->end(), input.begin() + 2, input.end());
}

// Caffe2 registers no gradient for MergeDim.
void RegisterMergeDim() {
  RegisterSchema("MergeDim", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "data", "tensor of rank 2 or more")
      .Output(0, "reshaped", "the elements of data in the new shape")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        std::vector<int64_t> dims;
        MergedDims(GetDimsVector(in[0]), &dims);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kShape, .only_changes_shape = true})
      .SetDoc("Merges the first two dimensions into one.");
  RegisterCpuOperator<MergeDimOp<CPUContext>>("MergeDim", __FILE__);
}

}  // namespace caffe2rt
