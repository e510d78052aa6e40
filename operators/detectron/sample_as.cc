#include "operators/detectron/sample_as.h"

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/detectron/gradient_maker.h"

namespace caffe2rt {

void SampledDims(const Tensor& X, const Tensor& labels, std::vector<int64_t>* dims) {
  CAFFE_ENFORCE_GT(X.dim(), 0, "rank of input 0 (X), want at least 1: its first dimension selects");
  CAFFE_ENFORCE_EQ(labels.numel(), X.dim(0), "elements of input 1 (labels) of shape ",
                   labels.sizes(), ", want one for each item of input 0 (X) of shape ", X.sizes());
  const int32_t* const label = labels.data<int32_t>();
  int64_t count = 0;
  for (int64_t i = 0; i < labels.numel(); ++i) count += label[i] > 0 ? 1 : 0;
  *dims = X.dims();
  dims->front() = count;
}

void CheckSampledGradient(const Tensor& dY, const std::vector<int64_t>& dims) {
  CAFFE_ENFORCE(dY.dims() == dims, "input 2 (dY) has shape ", dY.sizes(), ", want ",
                IntArrayRef(dims), ": the items of input 0 (X) whose label is above 0");
}

void RegisterSampleAs() {
  // The shape depends on the labels.
  RegisterSchema("SampleAs", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "[N, ..] of any type")
      .Input(1, "labels", "int32 [N]")
      .Output(0, "Y", "the items of X whose label is above 0")
      .SetDoc("Selects the items of a batch whose label is above 0.");
  RegisterSchema("SampleAsGradient", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "X", "as in SampleAs")
      .Input(1, "labels", "as in SampleAs")
      .Input(2, "dY", "the gradient of Y, float")
      .Output(0, "dX", "the gradient of X: zeros for items that were not selected")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of SampleAs.");
  RegisterCpuOperator<SampleAsOp<CPUContext>>("SampleAs", __FILE__);
  RegisterCpuOperator<SampleAsGradientOp<CPUContext>>("SampleAsGradient", __FILE__);
  RegisterGradient<GetDetectronGradient>("SampleAs", __FILE__);
}

}  // namespace caffe2rt
