#pragma once
// LSTMUnit: one time step of a long short-term memory, given the gates before their activations
// (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000).
//   h' [1, N, D], c' [1, N, D], gates [1, N, 4 * D], seq_lengths int32 [N], timestep int32 [1]
//     ->  h [1, N, D], c [1, N, D]
//   c = sigmoid(f + forget_bias) * c' + sigmoid(i) * tanh(g),  h = sigmoid(o) * tanh(c)
// where gates = [i, f, o, g]. A row whose sequence has ended keeps its states, or drops them.
//
// LSTMUnitGradient: the inputs, the outputs, dh and dc  ->  dh', dc', dgates

#include "operators/recurrent/recurrent_unit.h"

namespace caffe2rt {

template <class Context>
class LSTMUnitOp final : public RecurrentUnitOp<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LSTMUnitOp(const OperatorDef& def, Workspace* ws)
      : RecurrentUnitOp<Context>(def, ws, 3), forget_bias_(this->ReadArgument(kLstmForgetBias)) {}

  bool RunOnDevice() override {
    UnitRows rows = this->CheckRows(1, "cell_t_prev", 2, 4);
    const Tensor& C = Input(1);
    LstmForward unit{};
    unit.h_before = this->Read(0, "hidden_t_prev", this->MayKeepStates() ? C.numel() : 0);
    unit.c_before = C.template data<float>();
    unit.gates = Input(2).template data<float>();
    unit.forget_bias = forget_bias_;
    this->ReadStep(&rows);
    unit.h = this->template OutputData<float>(0, C.sizes());
    unit.c = this->template OutputData<float>(1, C.sizes());
    if (C.numel() > 0) RunLstm(context_, rows, unit);
    return true;
  }

 private:
  const float forget_bias_;
};

template <class Context>
class LSTMUnitGradientOp final : public RecurrentUnitOp<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  LSTMUnitGradientOp(const OperatorDef& def, Workspace* ws)
      : RecurrentUnitOp<Context>(def, ws, 3), forget_bias_(this->ReadArgument(kLstmForgetBias)) {}

  bool RunOnDevice() override {
    UnitRows rows = this->CheckRows(1, "cell_t_prev", 2, 4);
    const Tensor& C = Input(1);
    const Tensor& H = Input(0);
    CAFFE_ENFORCE_EQ(H.numel(), C.numel(), "elements of input 0 (hidden_t_prev) of shape ",
                     H.sizes(), ", want those of input 1 (cell_t_prev) of shape ", C.sizes());
    this->CheckGates(2, CheckedMultiply<int64_t>(C.numel(), 4));
    const int after = this->TimeStep() + 1;
    this->Read(after, "hidden_t", 0);  // only its type is checked
    LstmBackward unit{};
    unit.c_before = C.template data<float>();
    unit.gates = Input(2).template data<float>();
    unit.forget_bias = forget_bias_;
    unit.c = this->ReadAll(after + 1, "cell_t", C.numel());
    unit.dh = this->ReadAll(after + 2, "hidden_t_grad", C.numel());
    unit.dc = this->ReadAll(after + 3, "cell_t_grad", C.numel());
    this->ReadStep(&rows);
    unit.dh_before = this->template OutputData<float>(0, H.sizes());
    unit.dc_before = this->template OutputData<float>(1, C.sizes());
    unit.dgates = this->template OutputData<float>(2, Input(2).sizes());
    if (C.numel() > 0) RunLstm(context_, rows, unit);
    return true;
  }

 private:
  const float forget_bias_;
};

}  // namespace caffe2rt
