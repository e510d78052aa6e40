#include "operators/loss/make_two_class.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

void CheckTwoClasses(IntArrayRef dy) {
  CAFFE_ENFORCE(!dy.empty() && dy.back() == 2, "input 0 (dY) has shape ", dy,
                ", want 2 as the last dimension");
}

void MakeTwoClasses(CPUContext&, int64_t n, const float* x, float* y) {
  for (int64_t i = 0; i < n; ++i) {
    y[2 * i] = 1.0f - x[i];
    y[2 * i + 1] = x[i];
  }
}

void MakeTwoClassesGradient(CPUContext&, int64_t n, const float* dy, float* dx) {
  for (int64_t i = 0; i < n; ++i) dx[i] = dy[2 * i + 1] - dy[2 * i];
}

namespace {

std::vector<TensorShape> InferMakeTwoClass(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  dims.push_back(2);
  return {CreateTensorShape(dims, in[0].data_type())};
}

std::vector<TensorShape> InferMakeTwoClassGradient(const OperatorDef& def,
                                                   const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  std::vector<int64_t> dims = GetDimsVector(in[0]);
  CheckTwoClasses(dims);
  dims.pop_back();
  return {CreateTensorShape(dims, in[0].data_type())};
}

class GetMakeTwoClassGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("MakeTwoClassGradient", "", std::vector<std::string>{GO(0)},
                             std::vector<std::string>{GI(0)});
  }
};

}  // namespace

void RegisterMakeTwoClass() {
  RegisterSchema("MakeTwoClass", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "X", "the probability of class 1: any shape, float")
      .Output(0, "Y", "[X.., 2]: the probabilities 1 - X and X of the two classes")
      .TensorInferenceFunction(InferMakeTwoClass)
      .SetDoc("Computes the probabilities of both classes from that of class 1.");
  RegisterCpuOperator<MakeTwoClassOp<CPUContext>>("MakeTwoClass", __FILE__);
  RegisterGradient<GetMakeTwoClassGradient>("MakeTwoClass", __FILE__);

  RegisterSchema("MakeTwoClassGradient", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Input(0, "dY", "the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .TensorInferenceFunction(InferMakeTwoClassGradient)
      .SetDoc("Computes the gradient of MakeTwoClass.");
  RegisterCpuOperator<MakeTwoClassGradientOp<CPUContext>>("MakeTwoClassGradient", __FILE__);
}

}  // namespace caffe2rt
