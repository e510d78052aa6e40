#include "operators/recurrent/gru_unit.h"

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/base/simd_fma.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"

namespace caffe2rt {

namespace {

CAFFE2RT_SIMD_FMA void GruRow(int64_t size, const float* h_before, const float* gates, float* h) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < size; ++i) h[i] = GruElement(size, i, h_before, gates);
}

CAFFE2RT_SIMD_FMA void GruGradientRow(int64_t size, const float* h_before, const float* gates,
                                      const float* dh, float* dh_before, float* dgates) {
  CAFFE2RT_SIMD_LOOP
  for (int64_t i = 0; i < size; ++i) {
    GruGradientElement(size, i, h_before, gates, dh, dh_before, dgates);
  }
}

class GetGRUUnitGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    std::vector<std::string> inputs(Def().input().begin(), Def().input().end());
    inputs.insert(inputs.end(), {O(0), GO(0)});
    return SingleGradientDef("GRUUnitGradient", "", inputs, std::vector<std::string>{GI(0), GI(1)});
  }
};

}  // namespace

void RunGru(CPUContext&, const UnitRows& rows, const GruForward& unit) {
  for (int64_t row = 0; row < rows.batch; ++row) {
    const int64_t at = row * rows.size;
    if (rows.IsValid(row)) {
      GruRow(rows.size, unit.h_before + at, unit.gates + 3 * at, unit.h + at);
    } else {
      WriteEndedRow(rows, unit.h_before + at, unit.h + at);
    }
  }
}

void RunGru(CPUContext&, const UnitRows& rows, const GruBackward& unit) {
  for (int64_t row = 0; row < rows.batch; ++row) {
    const int64_t at = row * rows.size;
    if (rows.IsValid(row)) {
      GruGradientRow(rows.size, unit.h_before + at, unit.gates + 3 * at, unit.dh + at,
                     unit.dh_before + at, unit.dgates + 3 * at);
    } else {
      WriteEndedRow(rows, unit.dh + at, unit.dh_before + at);
      std::fill_n(unit.dgates + 3 * at, 3 * rows.size, 0.0f);
    }
  }
}

void RegisterGruUnit() {
  DeclareUnit(RegisterSchema("GRUUnit", __FILE__)
                  .NumInputs(3, 4)
                  .NumOutputs(1)
                  .Input(0, "hidden_prev", "[1, N, D]: the state of the step before")
                  .Input(1, "gates", "[1, N, 3 * D]: reset, update and output gate")
                  .Input(2, "seq_lengths", "int32 [N], or the next input if sequence_lengths is 0")
                  .Input(3, "timestep", "int32 [1], on the CPU")
                  .Output(0, "hidden", "[1, N, D]")
                  .TensorInferenceFunction(InferUnit)
                  .SetDoc("One time step of a gated recurrent unit, given its gates. The reset "
                          "gate and forget_bias have no effect."),
              2);
  RegisterCpuOperator<GRUUnitOp<CPUContext>>("GRUUnit", __FILE__);

  DeclareUnit(RegisterSchema("GRUUnitGradient", __FILE__)
                  .NumInputs(5, 6)
                  .NumOutputs(2)
                  .Input(0, "hidden_prev", "the inputs of GRUUnit come first")
                  .Input(1, "gates", "[1, N, 3 * D]")
                  .Input(2, "seq_lengths", "without it, the inputs behind it move up by one")
                  .Input(3, "timestep", "int32 [1], on the CPU")
                  .Input(4, "hidden", "then its output")
                  .Input(5, "hidden_grad", "and then the gradient of its output")
                  .Output(0, "hidden_prev_grad", "[1, N, D]")
                  .Output(1, "gates_grad", "[1, N, 3 * D]")
                  .TensorInferenceFunction(InferUnit)
                  .SetDoc("The gradient of GRUUnit."),
              2);
  RegisterCpuOperator<GRUUnitGradientOp<CPUContext>>("GRUUnitGradient", __FILE__);
  RegisterGradient<GetGRUUnitGradient>("GRUUnit", __FILE__);
}

}  // namespace caffe2rt
