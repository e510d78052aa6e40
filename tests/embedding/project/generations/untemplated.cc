// A source of 2019, where Tensor is a class. It shares a workspace, and operators, with the other
// source of this folder.
#include <iostream>

#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/operators/conv_pool_op_base.h"
#include "caffe2/predictor/predictor.h"
#include "generations.h"

namespace caffe2 {
namespace {

template <class Context>
class NewDoubleOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  template <class... Args>
  explicit NewDoubleOp(Args&&... args) : Operator<Context>(std::forward<Args>(args)...) {}
  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0, X.sizes(), at::dtype<float>());
    for (int64_t i = 0; i < X.numel(); ++i) {
      Y->template mutable_data<float>()[i] = 2 * X.template data<float>()[i];
    }
    return true;
  }
};
REGISTER_CPU_OPERATOR(NewDouble, NewDoubleOp<CPUContext>);
OPERATOR_SCHEMA(NewDouble).NumInputs(1).NumOutputs(1);

class NewWindowOp final : public ConvPoolOpBase<CPUContext> {
 public:
  using ConvPoolOpBase<CPUContext>::ConvPoolOpBase;
  bool RunOnDeviceWithOrderNCHW() override {
    const Tensor& X = Input(0);
    Tensor* Y = Output(0, GetOutputSize(X, 1), at::dtype<float>());
    Y->mutable_data<float>()[0] = static_cast<float>(10 * kernel_w());
    return true;
  }
};
REGISTER_CPU_OPERATOR(NewWindow, NewWindowOp);
OPERATOR_SCHEMA(NewWindow).NumInputs(1).NumOutputs(1);

int Check(bool condition, const char* what) {
  if (!condition) std::cerr << "generations: " << what << "\n";
  return condition ? 0 : 1;
}

}  // namespace
}  // namespace caffe2

int main(int argc, char** argv) {
  using namespace caffe2;  // NOLINT: as users write
  GlobalInit(&argc, &argv);
  Workspace ws;
  int failures = 0;
  FillTemplated(&ws, "x", 3);  // 0 1 2
  failures += Check(ws.GetBlob("x")->Get<Tensor>().data<float>()[2] == 2, "a blob of the other");
  NetDef net;
  net.set_name("both");
  *net.add_op() = CreateOperatorDef("OldIncrement", "", {"x"}, {"y"});
  *net.add_op() = CreateOperatorDef("NewDouble", "", {"y"}, {"z"});
  *net.add_op() = CreateOperatorDef("OldIncrement", "", {"z"}, {"z"});
  failures += Check(ws.RunNetOnce(net), "a net of both");
  const float* z = ws.GetBlob("z")->Get<Tensor>().data<float>();
  failures += Check(z[0] == 3 && z[1] == 5 && z[2] == 7, "its values");
  failures += Check(SumTemplated(&ws, "z") == 18, "a blob for the other");  // 4 + 6 + 8
  BlobGetMutableTensor(ws.CreateBlob("image"), {1, 1, 3, 3}, at::dtype<float>());
  const std::vector<Argument> kernel = {MakeArgument<int>("kernel", 3)};
  failures +=
      Check(ws.RunOperatorOnce(CreateOperatorDef("OldWindow", "", {"image"}, {"a"}, kernel)) &&
                ws.RunOperatorOnce(CreateOperatorDef("NewWindow", "", {"image"}, {"b"}, kernel)),
            "both base classes");
  failures += Check(*ws.GetBlob("a")->Get<Tensor>().data<float>() == 3 &&
                        *ws.GetBlob("b")->Get<Tensor>().data<float>() == 30,
                    "values of both base classes");
  NetDef init, predict;
  predict.add_external_input("x");
  predict.add_external_output("y");
  *predict.add_op() = CreateOperatorDef("OldIncrement", "", {"x"}, {"y"});
  Predictor predictor(init, predict);
  Predictor::TensorList out;
  failures +=
      Check(predictor({ws.GetBlob("x")->Get<Tensor>()}, &out) && out[0].data<float>()[1] == 2,
            "both predictors");
  return failures;
}
