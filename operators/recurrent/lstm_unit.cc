#include "operators/recurrent/lstm_unit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void LstmRow(int64_t size, const float* c_before, const float* gates,
                               float forget_bias, float* h, float* c) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < size; ++i) LstmElement(size, i, c_before, gates, forget_bias, h, c);
}

CAFFE2RT_SIMD_FMA void LstmGradientRow(int64_t size, const float* c_before, const float* gates,
                                       float forget_bias, const float* c, const float* dh,
                                       const float* dc, float* dc_before, float* dgates) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < size; ++i) {
    LstmGradientElement(size, i, c_before, gates, forget_bias, c, dh, dc, dc_before, dgates);
  }
}

class GetLSTMUnitGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs(Def().input().begin(), Def().input().end());
    inputs.insert(inputs.end(), {O(0), O(1), GO(0), GO(1)});
    return SingleGradientDef("LSTMUnitGradient", "", inputs,
                             std::vector<std::string>{GI(0), GI(1), GI(2)});
  }
};

}  // namespace

void WriteEndedRow(const UnitRows& rows, const float* from, float* to) {
  if (rows.drop_states) {
    std::fill_n(to, rows.size, 0.0f);
  } else {
    std::copy_n(from, rows.size, to);
  }
}

void RunLstm(CPUContext&, const UnitRows& rows, const LstmForward& unit) {
  for (int64_t row = 0; row < rows.batch; ++row) {
    const int64_t at = row * rows.size;
    if (rows.IsValid(row)) {
      LstmRow(rows.size, unit.c_before + at, unit.gates + 4 * at, unit.forget_bias, unit.h + at,
              unit.c + at);
    } else {
      WriteEndedRow(rows, unit.h_before + at, unit.h + at);
      WriteEndedRow(rows, unit.c_before + at, unit.c + at);
    }
  }
}

void RunLstm(CPUContext&, const UnitRows& rows, const LstmBackward& unit) {
  for (int64_t row = 0; row < rows.batch; ++row) {
    const int64_t at = row * rows.size;
    if (rows.IsValid(row)) {
      std::fill_n(unit.dh_before + at, rows.size, 0.0f);
      LstmGradientRow(rows.size, unit.c_before + at, unit.gates + 4 * at, unit.forget_bias,
                      unit.c + at, unit.dh + at, unit.dc + at, unit.dc_before + at,
                      unit.dgates + 4 * at);
    } else {
      WriteEndedRow(rows, unit.dh + at, unit.dh_before + at);
      WriteEndedRow(rows, unit.dc + at, unit.dc_before + at);
      std::fill_n(unit.dgates + 4 * at, 4 * rows.size, 0.0f);
    }
  }
}

std::vector<TensorShape> InferUnit(const OperatorDef& def, const std::vector<TensorShape>& in) {
  const size_t count = static_cast<size_t>(def.output_size());
  if (!AreKnown(in, count)) return UnknownOutputs(def);
  std::vector<TensorShape> out;
  for (size_t i = 0; i < count; ++i) {
    out.push_back(CreateTensorShape(GetDimsVector(in[i]), TensorProto::FLOAT));
  }
  return out;
}

namespace {

// Both states have the shape of the cell state; the hidden state before may have another one.
std::vector<TensorShape> InferLstmUnit(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (in.size() < 2) return UnknownOutputs(def);
  return InferUnit(def, {in[1], in[1]});
}

}  // namespace

void DeclareUnit(OpSchema& schema, int lengths) {
  schema.Args(kUnitSequenceLengths, kUnitDropStates, kLstmForgetBias)
      .DeviceInferenceFunction([lengths](const OperatorDef& def) {
        const bool has_lengths = ArgumentHelper(def).Read(kUnitSequenceLengths);
        return OnCPU({lengths + (has_lengths ? 1 : 0)}, {})(def);
      });
}

void RegisterLstmUnit() {
  DeclareUnit(RegisterSchema("LSTMUnit", __FILE__)
                  .NumInputs(4, 5)
                  .NumOutputs(2)
                  .Input(0, "hidden_t_prev", "[1, N, D]: the hidden state of the step before")
                  .Input(1, "cell_t_prev", "[1, N, D]: the cell state of the step before")
                  .Input(2, "gates_t", "[1, N, 4 * D]: input, forget, output gate and cell value")
                  .Input(3, "seq_lengths", "int32 [N], or the next input if sequence_lengths is 0")
                  .Input(4, "timestep", "int32 [1], on the CPU")
                  .Output(0, "hidden_t", "[1, N, D]")
                  .Output(1, "cell_t", "[1, N, D]")
                  .TensorInferenceFunction(InferLstmUnit)
                  .SetDoc("One time step of a long short-term memory, given its gates."),
              3);
  RegisterCpuOperator<LSTMUnitOp<CPUContext>>("LSTMUnit", __FILE__);

  DeclareUnit(RegisterSchema("LSTMUnitGradient", __FILE__)
                  .NumInputs(8, 9)
                  .NumOutputs(3)
                  .Input(0, "hidden_t_prev", "the inputs of LSTMUnit come first")
                  .Input(1, "cell_t_prev", "[1, N, D]")
                  .Input(2, "gates_t", "[1, N, 4 * D]")
                  .Input(3, "seq_lengths", "without it, the inputs behind it move up by one")
                  .Input(4, "timestep", "int32 [1], on the CPU")
                  .Input(5, "hidden_t", "then its outputs")
                  .Input(6, "cell_t", "[1, N, D]")
                  .Input(7, "hidden_t_grad", "and then the gradients of its outputs")
                  .Input(8, "cell_t_grad", "[1, N, D]")
                  .Output(0, "hidden_t_prev_grad", "[1, N, D]")
                  .Output(1, "cell_t_prev_grad", "[1, N, D]")
                  .Output(2, "gates_t_grad", "[1, N, 4 * D]")
                  .TensorInferenceFunction(InferUnit)
                  .SetDoc("The gradient of LSTMUnit."),
              3);
  RegisterCpuOperator<LSTMUnitGradientOp<CPUContext>>("LSTMUnitGradient", __FILE__);
  RegisterGradient<GetLSTMUnitGradient>("LSTMUnit", __FILE__);
}

}  // namespace caffe2rt
