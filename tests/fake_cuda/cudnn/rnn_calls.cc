// Descriptors and calls of recurrent nets, and descriptors of dropout. The fake supports floats,
// sequences of equal lengths, and two biases.

#include "cudnn/descriptors.h"
#include "cudnn/rnn.h"

struct cudnnDropoutStruct {
  float dropout = 0;
  void* states = nullptr;
  unsigned long long seed = 0;
};

struct cudnnRNNStruct {
  fakecuda::Rnn rnn;
  bool set = false;
};

struct cudnnRNNDataStruct {
  int steps = 0, batch = 0, columns = 0;  // 0: not set
};

namespace fakecuda {
namespace {

constexpr size_t kStatesBytes = 4096;
constexpr size_t kWorkspaceBytes = 256;  // not used, but callers must provide it

Tensor Flat(const char* name, size_t size, const void* data) {
  return {name, {Element::kFloat, {static_cast<int>(size)}, {1}}, data};
}

// The net for the sequences of x and y. `y` may be null.
cudnnStatus_t NetOf(const cudnnRNNStruct* descriptor, const cudnnRNNDataStruct* x,
                    const cudnnRNNDataStruct* y, Rnn* rnn) {
  FAKECUDNN_NEED(descriptor != nullptr && descriptor->set && x != nullptr && x->columns > 0);
  *rnn = descriptor->rnn;
  rnn->steps = static_cast<size_t>(x->steps);
  rnn->batch = static_cast<size_t>(x->batch);
  FAKECUDNN_NEED(static_cast<size_t>(x->columns) == rnn->input);
  FAKECUDNN_NEED(y == nullptr || (y->steps == x->steps && y->batch == x->batch &&
                                  static_cast<size_t>(y->columns) == rnn->width()));
  return CUDNN_STATUS_SUCCESS;
}

bool IsState(const Rnn& rnn, const cudnnTensorStruct* state) {
  const std::vector<int> dims = {static_cast<int>(rnn.pseudo_layers()), static_cast<int>(rnn.batch),
                                 static_cast<int>(rnn.hidden)};
  return IsSet(state) && state->layout.dims == dims && state->data_type == CUDNN_DATA_FLOAT;
}

struct Spaces {
  size_t weights, workspace_bytes;
  const void* workspace;
  size_t reserve_bytes;
  const void* reserve;
};

cudnnStatus_t CheckSpaces(const Rnn& rnn, bool training, const Spaces& spaces) {
  FAKECUDNN_NEED(spaces.weights == rnn.weights_size() * sizeof(float));
  if (spaces.workspace_bytes < kWorkspaceBytes || spaces.workspace == nullptr) {
    return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  }
  if (!training) return CUDNN_STATUS_SUCCESS;
  return spaces.reserve != nullptr && spaces.reserve_bytes >= rnn.tape_size() * sizeof(float)
             ? CUDNN_STATUS_SUCCESS
             : CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
}

// Optional arrays. Run checks every tensor, so one that is null gets the pointer of the weights.
Values ReadIf(const void* data, const Tensor& tensor) {
  return data == nullptr ? Values() : Read(tensor);
}
void WriteIf(const void* data, const Tensor& tensor, const Values& values) {
  if (data != nullptr) Write(tensor, values, Blend());
}

template <class Struct>
cudnnStatus_t New(Struct** descriptor) {
  FAKECUDNN_NEED(descriptor != nullptr);
  *descriptor = new Struct;
  return CUDNN_STATUS_SUCCESS;
}
template <class Struct>
cudnnStatus_t Delete(Struct* descriptor) {
  delete descriptor;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace
}  // namespace fakecuda

using namespace fakecuda;

extern "C" {

cudnnStatus_t cudnnCreateDropoutDescriptor(cudnnDropoutDescriptor_t* d) { return New(d); }
cudnnStatus_t cudnnDestroyDropoutDescriptor(cudnnDropoutDescriptor_t d) { return Delete(d); }

cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t handle, size_t* bytes) {
  FAKECUDNN_NEED(handle != nullptr && bytes != nullptr);
  *bytes = kStatesBytes;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetDropoutDescriptor(cudnnDropoutDescriptor_t descriptor, cudnnHandle_t handle,
                                        float dropout, void* states, size_t bytes,
                                        unsigned long long seed) {
  FAKECUDNN_NEED(descriptor != nullptr && handle != nullptr && dropout >= 0 && dropout <= 1);
  if (states != nullptr && bytes < kStatesBytes) return CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT;
  *descriptor = {dropout, states, seed};
  if (states == nullptr) return CUDNN_STATUS_SUCCESS;
  const Tensor state = Flat("states", bytes / sizeof(float), states);
  return Run(handle, __func__, {state},
             [=] { Write(state, Values(bytes / sizeof(float)), Blend()); });
}

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* d) { return New(d); }
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t d) { return Delete(d); }
cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* d) { return New(d); }
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t d) { return Delete(d); }

cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t descriptor, cudnnRNNAlgo_t algorithm,
                                       cudnnRNNMode_t mode, cudnnRNNBiasMode_t bias,
                                       cudnnDirectionMode_t direction, cudnnRNNInputMode_t input,
                                       cudnnDataType_t type, cudnnDataType_t precision,
                                       cudnnMathType_t math, int32_t input_size,
                                       int32_t hidden_size, int32_t projection, int32_t layers,
                                       cudnnDropoutDescriptor_t dropout, uint32_t) {
  FAKECUDNN_NEED(descriptor != nullptr && mode <= CUDNN_GRU && input_size > 0 && hidden_size > 0 &&
                 layers > 0 && math <= CUDNN_FMA_MATH);
  FAKECUDNN_NEED(projection == 0 || projection == hidden_size);
  FAKECUDNN_NEED(input != CUDNN_SKIP_INPUT || input_size == hidden_size);
  FAKECUDNN_NEED(dropout == nullptr || dropout->dropout == 0 || dropout->states != nullptr);
  if (algorithm != CUDNN_RNN_ALGO_STANDARD || bias != CUDNN_RNN_DOUBLE_BIAS ||
      type != CUDNN_DATA_FLOAT || precision != CUDNN_DATA_FLOAT) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  Rnn rnn;
  rnn.mode = mode;
  rnn.skips_input = input == CUDNN_SKIP_INPUT;
  rnn.directions = direction == CUDNN_BIDIRECTIONAL ? 2 : 1;
  rnn.layers = static_cast<size_t>(layers);
  rnn.input = static_cast<size_t>(input_size);
  rnn.hidden = static_cast<size_t>(hidden_size);
  if (dropout != nullptr) {
    rnn.dropout = dropout->dropout;
    rnn.seed = dropout->seed;
  }
  descriptor->rnn = rnn;
  descriptor->set = true;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t descriptor, cudnnDataType_t type,
                                        cudnnRNNDataLayout_t layout, int steps, int batch,
                                        int columns, const int lengths[], void*) {
  FAKECUDNN_NEED(descriptor != nullptr && steps > 0 && batch > 0 && columns > 0 &&
                 lengths != nullptr);
  for (int n = 0; n < batch; ++n) {
    if (lengths[n] != steps) return CUDNN_STATUS_NOT_SUPPORTED;  // a limit of the fake
  }
  if (type != CUDNN_DATA_FLOAT || layout == CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) {
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
  *descriptor = {steps, batch, columns};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                                         size_t* bytes) {
  FAKECUDNN_NEED(handle != nullptr && descriptor != nullptr && descriptor->set && bytes != nullptr);
  *bytes = descriptor->rnn.weights_size() * sizeof(float);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                                        cudnnForwardMode_t mode, cudnnRNNDataDescriptor_t x,
                                        size_t* workspace, size_t* reserve) {
  Rnn rnn;
  FAKECUDNN_NEED(handle != nullptr);
  const cudnnStatus_t status = NetOf(descriptor, x, nullptr, &rnn);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (workspace != nullptr) *workspace = kWorkspaceBytes;
  if (reserve != nullptr) {
    *reserve = mode == CUDNN_FWD_MODE_TRAINING ? rnn.tape_size() * sizeof(float) : 0;
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                                      int32_t pseudo_layer, size_t bytes, const void* weights,
                                      int32_t transform, cudnnTensorDescriptor_t matrix,
                                      void** matrix_at, cudnnTensorDescriptor_t bias,
                                      void** bias_at) {
  FAKECUDNN_NEED(handle != nullptr && descriptor != nullptr && descriptor->set &&
                 weights != nullptr && matrix_at != nullptr && bias_at != nullptr);
  const Rnn& rnn = descriptor->rnn;
  FAKECUDNN_NEED(bytes == rnn.weights_size() * sizeof(float) && pseudo_layer >= 0 &&
                 static_cast<size_t>(pseudo_layer) < rnn.pseudo_layers() && transform >= 0 &&
                 static_cast<size_t>(transform) < 2 * rnn.gates());
  const auto p = static_cast<size_t>(pseudo_layer), t = static_cast<size_t>(transform);
  float* const all = static_cast<float*>(const_cast<void*>(weights));
  const int rows = static_cast<int>(rnn.hidden), columns = static_cast<int>(rnn.ColumnsOf(p, t));
  *matrix_at = columns > 0 ? all + rnn.MatrixAt(p, t) : nullptr;
  *bias_at = all + rnn.BiasAt(p, t);
  const int bias_dims[] = {1, rows, 1}, bias_strides[] = {rows, 1, 1};
  const cudnnStatus_t status =
      cudnnSetTensorNdDescriptor(bias, CUDNN_DATA_FLOAT, 3, bias_dims, bias_strides);
  if (status != CUDNN_STATUS_SUCCESS || columns == 0) return status;
  const int dims[] = {1, rows, columns}, strides[] = {rows * columns, columns, 1};
  return cudnnSetTensorNdDescriptor(matrix, CUDNN_DATA_FLOAT, 3, dims, strides);
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor,
                              cudnnForwardMode_t mode, const int32_t[],
                              cudnnRNNDataDescriptor_t x_desc, const void* x,
                              cudnnRNNDataDescriptor_t y_desc, void* y,
                              cudnnTensorDescriptor_t h_desc, const void* hx, void* hy,
                              cudnnTensorDescriptor_t c_desc, const void* cx, void* cy,
                              size_t weight_bytes, const void* weights, size_t workspace_bytes,
                              void* workspace, size_t reserve_bytes, void* reserve) {
  Rnn rnn;
  cudnnStatus_t status = NetOf(descriptor, x_desc, y_desc, &rnn);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const bool training = mode == CUDNN_FWD_MODE_TRAINING, lstm = rnn.mode == CUDNN_LSTM;
  FAKECUDNN_NEED(IsState(rnn, h_desc) && (!lstm || IsState(rnn, c_desc)));
  status = CheckSpaces(rnn, training,
                       {weight_bytes, workspace_bytes, workspace, reserve_bytes, reserve});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  if (!training) rnn.dropout = 0;
  const auto state = [&](const char* name, const void* data) {
    return data == nullptr ? Flat("weights", 1, weights) : Flat(name, rnn.state_size(), data);
  };
  const Tensor tx = Flat("x", rnn.rows() * rnn.input, x),
               ty = Flat("y", rnn.rows() * rnn.width(), y);
  const Tensor tw = Flat("weights", rnn.weights_size(), weights);
  const Tensor thx = state("hx", hx), thy = state("hy", hy);
  const Tensor tcx = state("cx", cx), tcy = state("cy", cy);
  const Tensor tape = training ? Flat("reserve space", rnn.tape_size(), reserve) : tw;
  return Run(handle, __func__, {tx, ty, tw, thx, thy, tcx, tcy, tape}, [=] {
    RnnStates last;
    Values values;
    Write(ty,
          RnnForward(rnn, Read(tw), Read(tx), {ReadIf(hx, thx), ReadIf(cx, tcx)}, &last, &values),
          Blend());
    WriteIf(hy, thy, last.h);
    if (lstm) WriteIf(cy, tcy, last.c);
    if (training) Write(tape, values, Blend());
  });
}

cudnnStatus_t cudnnRNNBackwardData_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor, const int32_t[],
    cudnnRNNDataDescriptor_t y_desc, const void* y, const void* dy, cudnnRNNDataDescriptor_t x_desc,
    void* dx, cudnnTensorDescriptor_t h_desc, const void* hx, const void* dhy, void* dhx,
    cudnnTensorDescriptor_t c_desc, const void* cx, const void* dcy, void* dcx, size_t weight_bytes,
    const void* weights, size_t workspace_bytes, void* workspace, size_t reserve_bytes,
    void* reserve) {
  Rnn rnn;
  cudnnStatus_t status = NetOf(descriptor, x_desc, y_desc, &rnn);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const bool lstm = rnn.mode == CUDNN_LSTM;
  FAKECUDNN_NEED(IsState(rnn, h_desc) && (!lstm || IsState(rnn, c_desc)) && y != nullptr);
  status =
      CheckSpaces(rnn, true, {weight_bytes, workspace_bytes, workspace, reserve_bytes, reserve});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const auto state = [&](const char* name, const void* data) {
    return data == nullptr ? Flat("weights", 1, weights) : Flat(name, rnn.state_size(), data);
  };
  const Tensor tdy = Flat("dy", rnn.rows() * rnn.width(), dy);
  const Tensor tdx = Flat("dx", rnn.rows() * rnn.input, dx);
  const Tensor tw = Flat("weights", rnn.weights_size(), weights);
  const Tensor thx = state("hx", hx), tdhy = state("dhy", dhy), tdhx = state("dhx", dhx);
  const Tensor tcx = state("cx", cx), tdcy = state("dcy", dcy), tdcx = state("dcx", dcx);
  const Tensor tape = Flat("reserve space", rnn.tape_size(), reserve);
  return Run(handle, __func__, {tdy, tdx, tw, thx, tdhy, tdhx, tcx, tdcy, tdcx, tape}, [=] {
    RnnStates dfirst;
    Values values = Read(tape);
    Write(tdx,
          RnnBackwardData(rnn, Read(tw), {ReadIf(hx, thx), ReadIf(cx, tcx)}, Read(tdy),
                          {ReadIf(dhy, tdhy), ReadIf(dcy, tdcy)}, &dfirst, &values),
          Blend());
    WriteIf(dhx, tdhx, dfirst.h);
    if (lstm) WriteIf(dcx, tdcx, dfirst.c);
    Write(tape, values, Blend());
  });
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(
    cudnnHandle_t handle, cudnnRNNDescriptor_t descriptor, cudnnWgradMode_t mode, const int32_t[],
    cudnnRNNDataDescriptor_t x_desc, const void* x, cudnnTensorDescriptor_t h_desc, const void* hx,
    cudnnRNNDataDescriptor_t y_desc, const void* y, size_t weight_bytes, void* dweights,
    size_t workspace_bytes, void* workspace, size_t reserve_bytes, void* reserve) {
  Rnn rnn;
  cudnnStatus_t status = NetOf(descriptor, x_desc, y_desc, &rnn);
  if (status != CUDNN_STATUS_SUCCESS) return status;
  FAKECUDNN_NEED(IsState(rnn, h_desc) && y != nullptr);
  if (mode != CUDNN_WGRAD_MODE_ADD) return CUDNN_STATUS_NOT_SUPPORTED;
  status =
      CheckSpaces(rnn, true, {weight_bytes, workspace_bytes, workspace, reserve_bytes, reserve});
  if (status != CUDNN_STATUS_SUCCESS) return status;
  const Tensor tx = Flat("x", rnn.rows() * rnn.input, x);
  const Tensor tdw = Flat("dweights", rnn.weights_size(), dweights);
  const Tensor thx =
      hx == nullptr ? Flat("dweights", 1, dweights) : Flat("hx", rnn.state_size(), hx);
  const Tensor tape = Flat("reserve space", rnn.tape_size(), reserve);
  return Run(handle, __func__, {tx, tdw, thx, tape}, [=] {
    const RnnStates first = {ReadIf(hx, thx), {}};
    Write(tdw, RnnBackwardWeights(rnn, Read(tx), first, Read(tape)), {1, 1});
  });
}

}  // extern "C"
