// An operator of 2017.
#include "caffe2/core/operator.h"

namespace caffe2 {

// Reverses a vector.
template <typename T, class Context>
class FlipOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  USE_SIMPLE_CTOR_DTOR(FlipOp);

  bool RunOnDevice() override {
    const Tensor<Context>& X = Input(0);
    Tensor<Context>* Y = Output(0);
    Y->Resize(X.dims());
    const T* x = X.template data<T>();
    std::reverse_copy(x, x + X.size(), Y->template mutable_data<T>());
    return true;
  }
};

REGISTER_CPU_OPERATOR(Flip1D, FlipOp<float, CPUContext>);
OPERATOR_SCHEMA(Flip1D).NumInputs(1).NumOutputs(1);
NO_GRADIENT(Flip1D);

}  // namespace caffe2
