// Recurrent, RecurrentGradient, RecurrentParamGet and RecurrentParamSet by cuDNN.

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cuda/cuda_context.h"
#include "operators/common/copy_rows.h"
#include "operators/recurrent/recurrent_plan_cudnn.h"

namespace caffe2rt {

namespace {

// The scratch and dropout tensors hold floats, as in Caffe2.
int64_t FloatsFor(size_t nbytes) {
  return CheckedCast<int64_t>((nbytes + sizeof(float) - 1) / sizeof(float), "bytes of scratch");
}

class RecurrentOp final : public Operator<CUDAContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CUDAContext);
  RecurrentOp(const OperatorDef& def, Workspace* ws)
      : Operator<CUDAContext>(def, ws),
        sizes_(ReadRecurrent(this->args())),
        is_test_(this->ReadArgument(kRecurrentIsTest)) {
    if (is_test_) sizes_.keep = 1;
  }

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &h0 = Input(1), &c0 = Input(2), &weights = Input(3);
    SetRecurrentSizes(X.sizes(), &sizes_);
    const RecurrentSizes::Dims state_dims = sizes_.StateDims(), out_dims = sizes_.OutputDims();
    const IntArrayRef state = DimsRef(state_dims);
    CheckRecurrentInput(1, "hidden_input", h0.sizes(), state);
    if (sizes_.has_cells()) CheckRecurrentInput(2, "cell_input", c0.sizes(), state);
    const float* const x = X.data<float>();
    const float* const h = h0.data<float>();
    const float* const c = sizes_.has_cells() ? c0.data<float>() : nullptr;
    const float* const w = weights.data<float>();
    float* const y = OutputData<float>(0, DimsRef(out_dims));
    float* const h_last = OutputData<float>(1, state);
    float* const c_last = OutputData<float>(2, state);
    const size_t state_bytes = Output(1)->nbytes();
    if (!sizes_.has_cells() && state_bytes > 0) FillZeros(context_, state_bytes, c_last);
    if (sizes_.steps == 0 || sizes_.batch == 0) {
      OutputData<float>(3, {0});
      OutputData<float>(4, {0});
      if (state_bytes == 0) return true;
      context_.CopyBytesSameDevice(state_bytes, h, h_last);
      if (c != nullptr) context_.CopyBytesSameDevice(state_bytes, c, c_last);
      return true;
    }
    plan_.Prepare(context_, sizes_, !is_test_, Output(4));
    plan_.CheckWeights(weights);
    float* const scratch = OutputData<float>(3, {FloatsFor(plan_.scratch_nbytes())});
    plan_.Forward(context_, {x, h, c, w, y, h_last, sizes_.has_cells() ? c_last : nullptr},
                  scratch);
    return true;
  }

 private:
  RecurrentSizes sizes_;
  const bool is_test_;
  RecurrentPlan plan_;
};

class RecurrentGradientOp final : public Operator<CUDAContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CUDAContext);
  RecurrentGradientOp(const OperatorDef& def, Workspace* ws)
      : Operator<CUDAContext>(def, ws), sizes_(ReadRecurrent(this->args())) {}

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &h0 = Input(1), &c0 = Input(2), &weights = Input(3);
    SetRecurrentSizes(X.sizes(), &sizes_);
    const RecurrentSizes::Dims state_dims = sizes_.StateDims(), out_dims = sizes_.OutputDims();
    const IntArrayRef state = DimsRef(state_dims), out = DimsRef(out_dims);
    CheckRecurrentInput(1, "hidden_input", h0.sizes(), state);
    if (sizes_.has_cells()) CheckRecurrentInput(2, "cell_input", c0.sizes(), state);
    CheckRecurrentInput(5, "output", Input(5).sizes(), out);
    CheckRecurrentInput(6, "grad_output", Input(6).sizes(), out);
    const bool is_empty = sizes_.steps == 0 || sizes_.batch == 0;
    if (!is_empty) {
      plan_.Prepare(context_, sizes_, /*training=*/true, Output(4));
      plan_.CheckWeights(weights);
      CheckRecurrentInput(4, "rnn_scratch", Input(4).sizes(), {FloatsFor(plan_.scratch_nbytes())});
    }
    const float* const c = sizes_.has_cells() ? c0.data<float>() : nullptr;
    const RecurrentGradientPointers pointers{
        {X.data<float>(), h0.data<float>(), c, weights.data<float>(), nullptr, nullptr, nullptr},
        Input(5).data<float>(),
        Input(6).data<float>(),
        OutputData<float>(0, X.sizes()),
        OutputData<float>(1, state),
        OutputData<float>(2, state),
        OutputData<float>(3, weights.sizes())};
    for (int i = 1; i < 4; ++i) {
      // cuDNN adds to the gradient of the weights, and writes dc0 of an LSTM only.
      const bool clear = is_empty || i == 3 || (i == 2 && !sizes_.has_cells());
      if (clear && Output(i)->numel() > 0) {
        FillZeros(context_, Output(i)->nbytes(), Output(i)->raw_mutable_data());
      }
    }
    if (!this->IsInputOutputAlias(4, 5)) Output(5)->CopyFrom(Input(4), &context_);
    if (is_empty) {
      OutputData<float>(4, {0});
      return true;
    }
    plan_.Backward(context_, pointers, Output(5)->mutable_data<float>());
    return true;
  }

 private:
  RecurrentSizes sizes_;
  RecurrentPlan plan_;
};

template <bool kSet>
class RecurrentParamOp final : public Operator<CUDAContext> {
 public:
  USE_OPERATOR_FUNCTIONS(CUDAContext);
  RecurrentParamOp(const OperatorDef& def, Workspace* ws)
      : Operator<CUDAContext>(def, ws),
        sizes_(ReadRecurrent(this->args())),
        parameter_(ReadRecurrentParameter(this->args(), sizes_)) {
    sizes_.keep = 1;  // dropout has no parameters
  }

  bool RunOnDevice() override {
    SetRecurrentSizes(Input(0).sizes(), &sizes_);
    CAFFE_ENFORCE(sizes_.steps > 0 && sizes_.batch > 0, "input 0 (input) has shape ",
                  Input(0).sizes(), ", want at least one step and one sequence");
    plan_.Prepare(context_, sizes_, /*training=*/false, &no_states_);
    const Tensor& all = Input(1);
    plan_.CheckWeights(all, 1);
    const float* const from = all.data<float>();
    const CudnnParameter parameter = plan_.Find(context_, parameter_, from);
    CAFFE_ENFORCE(parameter.numel() > 0, "layer ", parameter_.layer,
                  " has no input weights because argument input_mode is \"skip\"");
    const size_t nbytes = static_cast<size_t>(parameter.numel()) * sizeof(float);
    if constexpr (kSet) {
      CAFFE_ENFORCE_EQ(Input(2).numel(), parameter.numel(), "elements of input 2 (param) of shape ",
                       Input(2).sizes(), ", want those of a parameter of shape ",
                       IntArrayRef(parameter.dims));
      const float* const value = Input(2).template data<float>();
      float* const to = Output(0)->template mutable_data<float>();
      context_.CopyBytesSameDevice(nbytes, value, to + parameter.offset);
    } else {
      float* const to = OutputData<float>(0, parameter.dims);
      context_.CopyBytesSameDevice(nbytes, from + parameter.offset, to);
    }
    return true;
  }

 private:
  RecurrentSizes sizes_;
  const RecurrentParameter parameter_;
  RecurrentPlan plan_;
  Tensor no_states_{CUDA};
};

}  // namespace

void RegisterRecurrentCudnn() {
  for (const char* engine : {"", "CUDNN"}) {
    RegisterOperator<RecurrentOp>(CUDA, "Recurrent", __FILE__, engine);
    RegisterOperator<RecurrentGradientOp>(CUDA, "RecurrentGradient", __FILE__, engine);
    RegisterOperator<RecurrentParamOp<false>>(CUDA, "RecurrentParamGet", __FILE__, engine);
    RegisterOperator<RecurrentParamOp<true>>(CUDA, "RecurrentParamSet", __FILE__, engine);
  }
}

}  // namespace caffe2rt
