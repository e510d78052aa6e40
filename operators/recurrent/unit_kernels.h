#pragma once
// The kernels of LSTMUnit, GRUUnit and their gradients: on the CPU in lstm_unit.cc and gru_unit.cc,
// on CUDA in recurrent.cu. The functions of one element are the same on all devices.

#include <cstdint>

#include "caffe2_core/base/simd.h"
#include "operators/primitives/elementary.h"

namespace caffe2rt {

class CPUContext;
class CUDAContext;

// `batch` rows of `size` elements at one time step. A row is valid if its sequence has not ended:
// step < lengths[row]. All rows are valid if `lengths` is null. The state of a row that is not
// valid becomes 0 with `drop_states`, and stays as it is otherwise.
struct UnitRows {
  int64_t batch = 0;
  int64_t size = 0;
  const int32_t* lengths = nullptr;
  int32_t step = 0;
  bool drop_states = false;

  CAFFE2RT_SIMD_INLINE bool IsValid(int64_t row) const {
    return lengths == nullptr || step < lengths[row];
  }
};

// The gates of LSTMUnit are [batch, 4 * size]: input, forget, output, and the new cell value.
struct LstmForward {
  const float* h_before;  // not read if all rows are valid, or with drop_states
  const float* c_before;
  const float* gates;
  float forget_bias;
  float* h;
  float* c;
};
struct LstmBackward {
  const float* c_before;
  const float* gates;
  float forget_bias;
  const float* c;
  const float* dh;
  const float* dc;
  float* dh_before;
  float* dc_before;
  float* dgates;
};
void RunLstm(CPUContext& context, const UnitRows& rows, const LstmForward& unit);
void RunLstm(CUDAContext& context, const UnitRows& rows, const LstmForward& unit);
void RunLstm(CPUContext& context, const UnitRows& rows, const LstmBackward& unit);
void RunLstm(CUDAContext& context, const UnitRows& rows, const LstmBackward& unit);

// The gates of GRUUnit are [batch, 3 * size]: reset, update, output. The reset gate is not used: the
// caller has applied it to the output gate.
struct GruForward {
  const float* h_before;
  const float* gates;
  float* h;
};
struct GruBackward {
  const float* h_before;
  const float* gates;
  const float* dh;
  float* dh_before;
  float* dgates;
};
void RunGru(CPUContext& context, const UnitRows& rows, const GruForward& unit);
void RunGru(CUDAContext& context, const UnitRows& rows, const GruForward& unit);
void RunGru(CPUContext& context, const UnitRows& rows, const GruBackward& unit);
void RunGru(CUDAContext& context, const UnitRows& rows, const GruBackward& unit);

// Element `i` of a valid row. `c`, `h` and so on point to the row; `size` is its length.
CAFFE2RT_SIMD_INLINE inline void LstmElement(int64_t size, int64_t i, const float* c_before,
                                             const float* gates, float forget_bias, float* h,
                                             float* c) {
  const float in = math::Logistic(gates[i]);
  const float forget = math::Logistic(gates[size + i] + forget_bias);
  const float out = math::Logistic(gates[2 * size + i]);
  const float cell = forget * c_before[i] + in * math::Tanh(gates[3 * size + i]);
  c[i] = cell;
  h[i] = out * math::Tanh(cell);
}

CAFFE2RT_SIMD_INLINE inline void LstmGradientElement(int64_t size, int64_t i, const float* c_before,
                                                     const float* gates, float forget_bias,
                                                     const float* c, const float* dh,
                                                     const float* dc, float* dc_before,
                                                     float* dgates) {
  const float in = math::Logistic(gates[i]);
  const float forget = math::Logistic(gates[size + i] + forget_bias);
  const float out = math::Logistic(gates[2 * size + i]);
  const float value = math::Tanh(gates[3 * size + i]);
  const float squashed = math::Tanh(c[i]);
  const float slope = dc[i] + dh[i] * out * (1.0f - squashed * squashed);
  const float old = c_before[i];
  const float dout = dh[i] * squashed;
  dc_before[i] = slope * forget;
  dgates[i] = slope * value * in * (1.0f - in);
  dgates[size + i] = slope * old * forget * (1.0f - forget);
  dgates[2 * size + i] = dout * out * (1.0f - out);
  dgates[3 * size + i] = slope * in * (1.0f - value * value);
}

CAFFE2RT_SIMD_INLINE inline float GruElement(int64_t size, int64_t i, const float* h_before,
                                             const float* gates) {
  const float update = math::Logistic(gates[size + i]);
  return h_before[i] * update + math::Tanh(gates[2 * size + i]) * (1.0f - update);
}

CAFFE2RT_SIMD_INLINE inline void GruGradientElement(int64_t size, int64_t i, const float* h_before,
                                                    const float* gates, const float* dh,
                                                    float* dh_before, float* dgates) {
  const float update = math::Logistic(gates[size + i]);
  const float value = math::Tanh(gates[2 * size + i]);
  const float slope = dh[i];
  const float dupdate = slope * h_before[i] - slope * value;
  dh_before[i] = slope * update;
  dgates[i] = 0.0f;
  dgates[size + i] = dupdate * update * (1.0f - update);
  dgates[2 * size + i] = slope * (1.0f - update) * (1.0f - value * value);
}

}  // namespace caffe2rt
