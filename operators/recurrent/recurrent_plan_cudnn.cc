#include "operators/recurrent/recurrent_plan_cudnn.h"

#include <algorithm>

#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/cuda_handles.h"
#include "contexts/cuda/cuda_options.h"

namespace caffe2rt {

namespace {

cudnnRNNMode_t CudnnMode(const std::string& mode) {
  if (mode == "lstm") return CUDNN_LSTM;
  if (mode == "gru") return CUDNN_GRU;
  return mode == "relu" ? CUDNN_RNN_RELU : CUDNN_RNN_TANH;
}

}  // namespace

int64_t CudnnParameter::numel() const {
  int64_t product = dims.empty() ? 0 : 1;
  for (const int64_t dim : dims) product *= dim;
  return product;
}

// Starts the random sequence of the dropout in `states`, which goes on from run to run. The gradient
// starts it again, once, as in Caffe2; it does not use it.
void RecurrentPlan::DescribeDropout(CUDAContext& context, Tensor* states) {
  size_t nbytes = 0;
  if (sizes_.drops()) {
    CUDNN_ENFORCE(Cudnn().DropoutGetStatesSize(context.cudnn_handle(), &nbytes), "dropout");
  }
  states->Resize(static_cast<int64_t>((nbytes + sizeof(float) - 1) / sizeof(float)));
  void* const data = states->mutable_data<float>();
  states_ = data;
  CUDNN_ENFORCE(Cudnn().SetDropoutDescriptor(dropout_, context.cudnn_handle(),
                                             sizes_.drops() ? 1 - sizes_.keep : 0.0f,
                                             nbytes > 0 ? data : nullptr, nbytes,
                                             static_cast<unsigned long long>(sizes_.seed)),
                "dropout of ", 1 - sizes_.keep);
}

void RecurrentPlan::DescribeNet(bool allow_tf32) {
  CUDNN_ENFORCE(Cudnn().SetRNNDescriptor_v8(
                    net_, CUDNN_RNN_ALGO_STANDARD, CudnnMode(sizes_.mode), CUDNN_RNN_DOUBLE_BIAS,
                    sizes_.directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL,
                    sizes_.skips_input ? CUDNN_SKIP_INPUT : CUDNN_LINEAR_INPUT, CUDNN_DATA_FLOAT,
                    CUDNN_DATA_FLOAT, allow_tf32 ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH,
                    static_cast<int32_t>(sizes_.input), static_cast<int32_t>(sizes_.hidden),
                    static_cast<int32_t>(sizes_.hidden), static_cast<int32_t>(sizes_.layers),
                    dropout_, CUDNN_RNN_PADDED_IO_DISABLED),
                "net of ", sizes_.layers, " layers of ", sizes_.hidden, " units");
}

void RecurrentPlan::DescribeData(const CudnnRnnData& data, int64_t columns) {
  const std::vector<int> lengths(static_cast<size_t>(sizes_.batch), static_cast<int>(sizes_.steps));
  CUDNN_ENFORCE(
      Cudnn().SetRNNDataDescriptor(data, CUDNN_DATA_FLOAT, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
                                   static_cast<int>(sizes_.steps), static_cast<int>(sizes_.batch),
                                   static_cast<int>(columns), lengths.data(), nullptr),
      sizes_.batch, " sequences of ", sizes_.steps, " steps of ", columns, " columns");
}

void RecurrentPlan::Prepare(CUDAContext& context, const RecurrentSizes& sizes, bool training,
                            Tensor* states) {
  bool same_states = true;
  if (sizes.drops()) {
    same_states = states->IsShaped() && states->numel() > 0 && states->IsType<float>() &&
                  states->raw_data() == states_;
  } else {
    states->Resize(0);
    states->mutable_data<float>();
  }
  const bool allow_tf32 = context.allow_tf32();
  if (ready_ && sizes == sizes_ && training == training_ && allow_tf32 == allow_tf32_ &&
      same_states) {
    return;
  }
  ready_ = false;
  sizes_ = sizes;
  training_ = training;
  allow_tf32_ = allow_tf32;
  DescribeDropout(context, states);
  DescribeNet(allow_tf32);
  DescribeData(x_, sizes.input);
  DescribeData(y_, sizes.directions * sizes.hidden);
  const int state[] = {static_cast<int>(sizes.layers * sizes.directions),
                       static_cast<int>(sizes.batch), static_cast<int>(sizes.hidden)};
  const int strides[] = {state[1] * state[2], state[2], 1};
  CUDNN_ENFORCE(Cudnn().SetTensorNdDescriptor(state_, CUDNN_DATA_FLOAT, 3, state, strides),
                "states of ", state[0], " layers");
  const cudnnHandle_t handle = context.cudnn_handle();
  CUDNN_ENFORCE(Cudnn().GetRNNWeightSpaceSize(handle, net_, &weights_nbytes_), "weights");
  CUDNN_ENFORCE(Cudnn().GetRNNTempSpaceSizes(
                    handle, net_, training ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE, x_,
                    &workspace_nbytes_, &scratch_nbytes_),
                "workspace");
  if (!training) scratch_nbytes_ = 0;
  Tensor lengths(std::vector<int64_t>{sizes.batch}, CPU);
  std::fill_n(lengths.mutable_data<int32_t>(), sizes.batch, static_cast<int32_t>(sizes.steps));
  lengths_.CopyFrom(lengths, &context);
  context.FinishDeviceComputation();  // the lengths on the host end here
  ready_ = true;
}

void RecurrentPlan::CheckWeights(const Tensor& weights, int i) const {
  CAFFE_ENFORCE_EQ(static_cast<size_t>(weights.numel()), weights_nbytes_ / sizeof(float),
                   "elements of input ", i, " of shape ", weights.sizes(),
                   ", want the number of parameters of the net");
}

void RecurrentPlan::Forward(CUDAContext& context, const RecurrentPointers& p, float* scratch) {
  void* const workspace =
      workspace_nbytes_ > 0 ? CudnnWorkspace(context, workspace_nbytes_) : nullptr;
  CUDNN_ENFORCE(
      Cudnn().RNNForward(context.cudnn_handle(), net_,
                         training_ ? CUDNN_FWD_MODE_TRAINING : CUDNN_FWD_MODE_INFERENCE,
                         lengths_.data<int32_t>(), x_, p.x, y_, p.y, state_, p.h, p.h_last, state_,
                         p.c, p.c_last, weights_nbytes_, p.weights, workspace_nbytes_, workspace,
                         scratch_nbytes_, training_ ? scratch : nullptr),
      sizes_.steps, " steps of ", sizes_.batch, " sequences");
}

void RecurrentPlan::Backward(CUDAContext& context, const RecurrentGradientPointers& p,
                             float* scratch) {
  void* const workspace =
      workspace_nbytes_ > 0 ? CudnnWorkspace(context, workspace_nbytes_) : nullptr;
  const RecurrentPointers& f = p.forward;
  const int32_t* const lengths = lengths_.data<int32_t>();
  const bool cells = sizes_.has_cells();
  CUDNN_ENFORCE(Cudnn().RNNBackwardData_v8(context.cudnn_handle(), net_, lengths, y_, p.y, p.dy, x_,
                                           p.dx, state_, f.h, nullptr, p.dh, state_, f.c, nullptr,
                                           cells ? p.dc : nullptr, weights_nbytes_, f.weights,
                                           workspace_nbytes_, workspace, scratch_nbytes_, scratch),
                "gradient of ", sizes_.steps, " steps");
  CUDNN_ENFORCE(
      Cudnn().RNNBackwardWeights_v8(context.cudnn_handle(), net_, CUDNN_WGRAD_MODE_ADD, lengths, x_,
                                    f.x, state_, f.h, y_, p.y, weights_nbytes_, p.dweights,
                                    workspace_nbytes_, workspace, scratch_nbytes_, scratch),
      "gradient of ", weights_nbytes_ / sizeof(float), " weights");
}

CudnnParameter RecurrentPlan::Find(CUDAContext& context, const RecurrentParameter& parameter,
                                   const float* weights) {
  const CudnnTensor matrix, bias;
  void* matrix_at = nullptr;
  void* bias_at = nullptr;
  CUDNN_ENFORCE(
      Cudnn().GetRNNWeightParams(context.cudnn_handle(), net_, parameter.layer, weights_nbytes_,
                                 weights, parameter.transform, matrix, &matrix_at, bias, &bias_at),
      "transform ", parameter.transform, " of layer ", parameter.layer);
  const float* const at = static_cast<const float*>(parameter.is_bias ? bias_at : matrix_at);
  CudnnParameter found;
  if (at == nullptr) return found;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0, dims[3] = {}, strides[3] = {};
  CUDNN_ENFORCE(Cudnn().GetTensorNdDescriptor(parameter.is_bias ? bias : matrix, 3, &type, &rank,
                                              dims, strides),
                "shape of a parameter");
  found.dims.assign(dims, dims + 3);
  found.offset = at - weights;
  return found;
}

}  // namespace caffe2rt
