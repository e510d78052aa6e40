#pragma once
// GRUUnit: one time step of a gated recurrent unit (Cho et al. 2014), given the gates before their
// activations.
//   h' [1, N, D], gates [1, N, 3 * D], seq_lengths int32 [N], timestep int32 [1]  ->  h [1, N, D]
//   h = sigmoid(u) * h' + (1 - sigmoid(u)) * tanh(o)
// where gates = [r, u, o]. The reset gate r is not used: the net before has applied it to o. A row
// whose sequence has ended keeps its state, or drops it.
//
// GRUUnitGradient: the inputs, the output, dh  ->  dh', dgates

#include "operators/recurrent/recurrent_unit.h"

namespace caffe2rt {

template <class Context>
class GRUUnitOp final : public RecurrentUnitOp<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GRUUnitOp(const OperatorDef& def, Workspace* ws) : RecurrentUnitOp<Context>(def, ws, 2) {}

  bool RunOnDevice() override {
    UnitRows rows = this->CheckRows(0, "hidden_prev", 1, 3);
    const Tensor& H = Input(0);
    GruForward unit{};
    unit.h_before = H.template data<float>();
    unit.gates = Input(1).template data<float>();
    this->ReadStep(&rows);
    unit.h = this->template OutputData<float>(0, H.sizes());
    if (H.numel() > 0) RunGru(context_, rows, unit);
    return true;
  }
};

template <class Context>
class GRUUnitGradientOp final : public RecurrentUnitOp<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  GRUUnitGradientOp(const OperatorDef& def, Workspace* ws) : RecurrentUnitOp<Context>(def, ws, 2) {}

  bool RunOnDevice() override {
    UnitRows rows = this->CheckRows(0, "hidden_prev", 1, 3);
    const Tensor& H = Input(0);
    this->CheckGates(1, CheckedMultiply<int64_t>(H.numel(), 3));
    this->Read(this->TimeStep() + 1, "hidden", 0);  // only its type is checked
    GruBackward unit{};
    unit.h_before = H.template data<float>();
    unit.gates = Input(1).template data<float>();
    unit.dh = this->ReadAll(this->TimeStep() + 2, "hidden_grad", H.numel());
    this->ReadStep(&rows);
    unit.dh_before = this->template OutputData<float>(0, H.sizes());
    unit.dgates = this->template OutputData<float>(1, Input(1).sizes());
    if (H.numel() > 0) RunGru(context_, rows, unit);
    return true;
  }
};

}  // namespace caffe2rt
