#include "operators/shape/sparse_to_dense.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void CheckSparse(IntArrayRef indices, IntArrayRef values) {
  CAFFE_ENFORCE_EQ(indices.size(), size_t{1}, "rank of input 0 (indices) of shape ", indices);
  CAFFE_ENFORCE_GE(values.size(), size_t{1}, "rank of input 1 (values)");
  CAFFE_ENFORCE_EQ(values[0], indices[0], "dim 0 of input 1 (values) of shape ", values,
                   ", want the number of indices");
}

namespace {

std::vector<TensorShape> InferSparseToDense(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  const int first_dim = ArgumentHelper(def).Read(kOutputFirstDim);
  if (!AreKnown(in, 2)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[1]);
  CheckSparse(GetDimsVector(in[0]), dims);
  if (in.size() > 2 && IsKnown(in[2]) && in[2].dims_size() > 0) {
    dims[0] = in[2].dims(0);
  } else if (in.size() == 2 && first_dim > 0) {
    dims[0] = first_dim;
  } else {
    return UnknownOutputs(def);
  }
  return {CreateTensorShape(dims, in[1].data_type())};
}

class GetSparseToDenseGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("Gather", "", {GO(0), I(0)}, {GI(1)});
  }
};

}  // namespace

void RegisterSparseToDense() {
  RegisterSchema("SparseToDense", __FILE__)
      .NumInputs(2, 3)
      .NumOutputs(1)
      .Arg(kOutputFirstDim)
      .Input(0, "indices", "[n] int32 or int64, none negative")
      .Input(1, "values", "[n, ..] float, int32 or int64: a slice for each index")
      .Input(2, "data_to_infer_dim",
             "(optional) its dimension 0 is the size of the output; default: the largest index "
             "plus 1")
      .Output(0, "output", "[size, ..]: the sum of the slices for each index, 0 without slices")
      .TensorInferenceFunction(InferSparseToDense)
      .Traits({.family = OperatorFamily::kShape})
      .SetDoc(
          "Converts indices and slices to a dense tensor. Slices with equal indices are added up. "
          "On CUDA the order of additions is fixed; the engine ATOMIC uses atomic additions "
          "instead, whose order and rounding differ between runs.");
  RegisterCpuOperator<SparseToDenseOp<CPUContext>>("SparseToDense", __FILE__);
  RegisterGradient<GetSparseToDenseGradient>("SparseToDense", __FILE__);
}

}  // namespace caffe2rt
