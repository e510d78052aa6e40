#pragma once
// rnn_internal_accumulate_gradient_input: adds one row of a gradient to the gradient of a state.
// RecurrentNetworkGradient does this itself; old nets may contain the operator.
//   timestep int32 [1], output_grad [T, *], state_grad  ->  state_grad, in place
//   state_grad row t + offset += output_grad row t, where a row of output_grad has as many elements as
//   one of state_grad

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/host_input.h"
#include "operators/recurrent/accumulate_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kAccumulateOffset{
    "offset",
    -1,
    "the row of state_grad at time step 0",
    {[](int offset) { return offset >= 0; }, "at least 0"},
    true};

template <class Context>
class AccumulateGradientInputOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AccumulateGradientInputOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), offset_(this->ReadArgument(kAccumulateOffset)) {
    CAFFE_ENFORCE(this->IsInputOutputAlias(2, 0), "output 0 must be input 2 (state_grad)");
  }

  bool RunOnDevice() override {
    const Tensor& step = step_.Read(*this, 0);
    const Tensor& from = Input(1);
    Tensor* to = Output(0);
    CAFFE_ENFORCE_GE(step.numel(), 1, "elements of input 0 (timestep)");
    CAFFE_ENFORCE(to->dim() >= 1 && to->dim(0) > 0, "input 2 (state_grad) has shape ", to->sizes(),
                  ", want at least one row");
    const int64_t row = to->numel() / to->dim(0);
    const float* x = from.template data<float>();
    const int64_t t = step.template data<int32_t>()[0];
    float* y = to->template mutable_data<float>();
    if (row == 0) return true;
    CAFFE_ENFORCE(t >= 0 && CheckedMultiply(t + 1, row) <= from.numel(), "input 0 (timestep) is ",
                  t, ", want a row of input 1 (output_grad) of shape ", from.sizes());
    const int64_t end =
        CheckedMultiply(CheckedAdd(CheckedAdd<int64_t>(t, offset_), int64_t{1}), row);
    CAFFE_ENFORCE_LE(end, to->numel(), "end of row ", t + offset_, " in input 2 (state_grad) of ",
                     "shape ", to->sizes());
    AddGradientRow(context_, row, x + t * row, y + (end - row));
    return true;
  }

 private:
  const int offset_;
  HostInput step_;
};

}  // namespace caffe2rt
