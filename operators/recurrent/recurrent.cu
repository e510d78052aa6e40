// The kernels of LSTMUnit, GRUUnit and their gradients, and sums of rows. A thread computes one
// element of the state, or one sum.

#include "contexts/cuda/cuda_kernel.cuh"
#include "operators/recurrent/accumulate_kernels.h"
#include "operators/recurrent/unit_kernels.h"

namespace caffe2rt {

namespace {

struct LstmKernel {
  UnitRows rows;
  LstmForward unit;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t row = at / rows.size, first = row * rows.size, i = at - first;
    if (rows.IsValid(row)) {
      LstmElement(rows.size, i, unit.c_before + first, unit.gates + 4 * first, unit.forget_bias,
                  unit.h + first, unit.c + first);
    } else {
      unit.h[at] = rows.drop_states ? 0.0f : unit.h_before[at];
      unit.c[at] = rows.drop_states ? 0.0f : unit.c_before[at];
    }
  }
};

struct LstmGradientKernel {
  UnitRows rows;
  LstmBackward unit;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t row = at / rows.size, first = row * rows.size, i = at - first;
    float* const dgates = unit.dgates + 4 * first;
    if (rows.IsValid(row)) {
      unit.dh_before[at] = 0.0f;
      LstmGradientElement(rows.size, i, unit.c_before + first, unit.gates + 4 * first,
                          unit.forget_bias, unit.c + first, unit.dh + first, unit.dc + first,
                          unit.dc_before + first, dgates);
    } else {
      unit.dh_before[at] = rows.drop_states ? 0.0f : unit.dh[at];
      unit.dc_before[at] = rows.drop_states ? 0.0f : unit.dc[at];
      for (int gate = 0; gate < 4; ++gate) dgates[gate * rows.size + i] = 0.0f;
    }
  }
};

struct GruKernel {
  UnitRows rows;
  GruForward unit;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t row = at / rows.size, first = row * rows.size;
    if (rows.IsValid(row)) {
      unit.h[at] = GruElement(rows.size, at - first, unit.h_before + first, unit.gates + 3 * first);
    } else {
      unit.h[at] = rows.drop_states ? 0.0f : unit.h_before[at];
    }
  }
};

struct GruGradientKernel {
  UnitRows rows;
  GruBackward unit;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t at) const {
    const int64_t row = at / rows.size, first = row * rows.size, i = at - first;
    float* const dgates = unit.dgates + 3 * first;
    if (rows.IsValid(row)) {
      GruGradientElement(rows.size, i, unit.h_before + first, unit.gates + 3 * first,
                         unit.dh + first, unit.dh_before + first, dgates);
    } else {
      unit.dh_before[at] = rows.drop_states ? 0.0f : unit.dh[at];
      for (int gate = 0; gate < 3; ++gate) dgates[gate * rows.size + i] = 0.0f;
    }
  }
};

struct AddGradientRowKernel {
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const { y[i] += x[i]; }
};

struct SumOverBatchKernel {
  int64_t rows, n;
  const float* x;
  float* y;
  CAFFE2RT_HOST_DEVICE void operator()(int64_t i) const {
    float sum = 0.0f;
    for (int64_t row = 0; row < rows; ++row) sum += x[row * n + i];
    y[i] = sum;
  }
};

}  // namespace

void RunLstm(CUDAContext& context, const UnitRows& rows, const LstmForward& unit) {
  ForEach(context, rows.batch * rows.size, LstmKernel{rows, unit}, "LSTMUnit");
}
void RunLstm(CUDAContext& context, const UnitRows& rows, const LstmBackward& unit) {
  ForEach(context, rows.batch * rows.size, LstmGradientKernel{rows, unit}, "LSTMUnitGradient");
}
void RunGru(CUDAContext& context, const UnitRows& rows, const GruForward& unit) {
  ForEach(context, rows.batch * rows.size, GruKernel{rows, unit}, "GRUUnit");
}
void RunGru(CUDAContext& context, const UnitRows& rows, const GruBackward& unit) {
  ForEach(context, rows.batch * rows.size, GruGradientKernel{rows, unit}, "GRUUnitGradient");
}

void AddGradientRow(CUDAContext& context, int64_t n, const float* x, float* y) {
  ForEach(context, n, AddGradientRowKernel{x, y}, "AddGradientRow");
}
void SumOverBatch(CUDAContext& context, int64_t rows, int64_t n, const float* x, float* y) {
  ForEach(context, n, SumOverBatchKernel{rows, n, x, y}, "SumOverBatch");
}

}  // namespace caffe2rt
