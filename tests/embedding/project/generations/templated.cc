// A source of 2017: Tensor is a template over the context.
#include "caffe2/core/operator.h"
#include "caffe2/core/predictor.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "generations.h"

namespace caffe2 {
namespace {

// Adds 1 to every element. The tensor is that of the operator's context.
template <class Context>
class OldIncrementOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  using Operator<Context>::Operator;
  bool RunOnDevice() override {
    const Tensor<Context>& X = Input(0);
    Tensor<Context>* Y = Output(0);
    Y->ResizeLike(X);
    for (TIndex i = 0; i < X.size(); ++i) {
      Y->template mutable_data<float>()[i] = X.template data<float>()[i] + 1;
    }
    return true;
  }
};
REGISTER_CPU_OPERATOR(OldIncrement, OldIncrementOp<CPUContext>);
OPERATOR_SCHEMA(OldIncrement).NumInputs(1).NumOutputs(1).AllowInplace({{0, 0}});

class OldWindowOp final : public ConvPoolOpBase<CPUContext> {
 public:
  using ConvPoolOpBase<CPUContext>::ConvPoolOpBase;
  bool RunOnDeviceWithOrderNCHW() override {
    SetOutputSize(Input(0), Output(0), 1);
    Output(0)->mutable_data<float>()[0] = kernel_h();
    return true;
  }
};
REGISTER_CPU_OPERATOR(OldWindow, OldWindowOp);
OPERATOR_SCHEMA(OldWindow).NumInputs(1).NumOutputs(1);

}  // namespace
}  // namespace caffe2

void FillTemplated(caffe2::Workspace* ws, const std::string& blob, int count) {
  auto* tensor = ws->CreateBlob(blob)->GetMutable<caffe2::Tensor<caffe2::CPUContext>>();
  tensor->Resize(count);
  for (int i = 0; i < count; ++i) tensor->mutable_data<float>()[i] = static_cast<float>(i);
}

float SumTemplated(caffe2::Workspace* ws, const std::string& blob) {
  caffe2::NetDef init, predict;
  predict.set_name("old_predict");
  predict.add_external_input("given");
  predict.add_external_output("sum");
  *predict.add_op() = caffe2::CreateOperatorDef("OldIncrement", "", {"given"}, {"sum"});
  caffe2::Predictor predictor(init, predict);
  caffe2::TensorCPU tensor = ws->GetBlob(blob)->Get<caffe2::TensorCPU>();
  caffe2::Predictor::TensorVector results;
  predictor.run({&tensor}, &results);
  float sum = 0;
  for (int i = 0; i < results[0]->size(); ++i) sum += results[0]->data<float>()[i];
  return sum;
}
