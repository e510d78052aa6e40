// InferenceLSTM: a stack of LSTM layers, whole sequences, in one or two directions, with the order
// of weights and gates that PyTorch has.
//   X [T, N, I], hidden_0 and cell_0 [layers * D, N, H], weights
//   ->  output [T, N, D * H], hidden and cell [layers * D, N, H]
// D is 2 if bidirectional, else 1. With batch_first, X is [N, T, I] and output [N, T, D * H]. The
// weights of each layer and direction are W [4 * H, I], R [4 * H, H] and, with has_biases, two
// biases [4 * H]; gates i, f, g, o. I of a layer after the first one is D * H.
#include <algorithm>
#include <limits>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/recurrent/layer_activations.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kInferenceLstmLayers{
    "num_layers",
    1,
    "number of layers, at least 1",
    {[](int layers) { return layers >= 1; }, "at least 1"}};
constexpr ArgumentSpec<bool> kInferenceLstmBiases{"has_biases", true,
                                                  "whether there are biases among the weights"};
constexpr ArgumentSpec<bool> kInferenceLstmBatchFirst{
    "batch_first", false, "whether the sequences are the first dim of X and output"};
constexpr ArgumentSpec<bool> kInferenceLstmBidirectional{
    "bidirectional", false, "whether each layer also runs from the last step to the first one"};

struct InferenceLstmSizes {
  int64_t layers = 1, directions = 1;
  int weights = 4;  // of a layer and direction
  bool batch_first = false;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, gates = 0;

  explicit InferenceLstmSizes(const ArgumentHelper& args)
      : layers(args.Read(kInferenceLstmLayers)),
        directions(args.Read(kInferenceLstmBidirectional) ? 2 : 1),
        weights(args.Read(kInferenceLstmBiases) ? 4 : 2),
        batch_first(args.Read(kInferenceLstmBatchFirst)) {}

  // THROWS unless the shapes of X and of the hidden states fit together.
  void Read(int operator_inputs, IntArrayRef x, IntArrayRef states) {
    CAFFE_ENFORCE_EQ(int64_t{operator_inputs}, 3 + layers * directions * weights,
                     "number of inputs, want X, hidden_0, cell_0 and the weights of ", layers,
                     " layers");
    CAFFE_ENFORCE_EQ(x.size(), 3u, "rank of input 0 (X) of shape ", x);
    CAFFE_ENFORCE_EQ(states.size(), 3u, "rank of input 1 (hidden_0) of shape ", states);
    steps = x[batch_first ? 1 : 0];
    batch = x[batch_first ? 0 : 1];
    inputs = x[2];
    hidden = states[2];
    gates = CheckedMultiply<int64_t>(4, hidden);
    CAFFE_ENFORCE(states[0] == layers * directions && states[1] == batch,
                  "input 1 (hidden_0) has shape ", states, ", want [", layers * directions, ", ",
                  batch, ", H]: one for each layer and direction, and the sequences of X");
    (void)CheckedMultiply(CheckedMultiply(steps, batch), CheckedMultiply(directions, gates));
  }
  int64_t rows() const { return steps * batch; }
  int64_t outputs() const { return directions * hidden; }
  void SetOutputDims(std::vector<int64_t>* dims) const {
    dims->assign({batch_first ? batch : steps, batch_first ? steps : batch, outputs()});
  }
  int64_t Row(int64_t t, int64_t n) const { return batch_first ? n * steps + t : t * batch + n; }
};

class InferenceLSTMOp final : public Operator<CPUContext> {
 public:
  InferenceLSTMOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), sizes_(args()) {}

  bool RunOnDevice() override {
    CAFFE_ENFORCE_GE(InputSize(), 3, "number of inputs, want X, hidden_0 and cell_0");
    sizes_.Read(InputSize(), Input(0).sizes(), Input(1).sizes());
    CheckInputs();
    sizes_.SetOutputDims(&dims_);
    float* const y = OutputData<float>(0, dims_);
    float* const hidden = OutputData<float>(1, Input(1).sizes());
    float* const cell = OutputData<float>(2, Input(1).sizes());
    if (Input(1).numel() == 0) return true;
    std::copy_n(Input(1).data<float>(), Input(1).numel(), hidden);
    std::copy_n(Input(2).data<float>(), Input(2).numel(), cell);
    if (sizes_.steps == 0) return true;
    const int64_t h = sizes_.hidden, state = sizes_.batch * h;
    Resize(&projected_, sizes_.rows() * sizes_.gates);
    Resize(&products_, sizes_.batch * sizes_.gates);
    Resize(&row_, h);
    if (sizes_.layers > 1) Resize(&between_, sizes_.rows() * sizes_.outputs());
    // The first direction of a layer writes over the outputs that the second one reads, too: both
    // read a copy.
    for (int64_t layer = 0; layer < sizes_.layers; ++layer) {
      const float* const x = layer == 0 ? Input(0).data<float>() : between_.data();
      for (int64_t d = 0; d < sizes_.directions; ++d) {
        const int64_t i = layer * sizes_.directions + d;
        Project(static_cast<int>(i), x, InputsOf(layer));
        RunDirection(static_cast<int>(i), d, y + d * h, hidden + i * state, cell + i * state);
      }
      if (layer + 1 < sizes_.layers)
        std::copy_n(y, sizes_.rows() * sizes_.outputs(), between_.data());
    }
    return true;
  }

 private:
  static void Resize(std::vector<float>* memory, int64_t size) {
    memory->resize(static_cast<size_t>(size));
  }
  int64_t InputsOf(int64_t layer) const { return layer == 0 ? sizes_.inputs : sizes_.outputs(); }
  // Weight k of direction i, counted over all layers.
  const Tensor& Weight(int i, int k) const { return Input(3 + i * sizes_.weights + k); }

  void CheckInputs() const {
    for (int i = 0; i < InputSize(); ++i) RequireElements<float>(Input(i));
    CAFFE_ENFORCE(Input(2).sizes() == Input(1).sizes(), "input 2 (cell_0) has shape ",
                  Input(2).sizes(), ", want that of input 1 (hidden_0), ", Input(1).sizes());
    for (int i = 0; i < sizes_.layers * sizes_.directions; ++i) {
      for (int k = 0; k < sizes_.weights; ++k) {
        const IntArrayRef got = Weight(i, k).sizes();
        const int64_t columns = k == 0 ? InputsOf(i / sizes_.directions) : sizes_.hidden;
        CAFFE_ENFORCE(got.size() == (k < 2 ? 2u : 1u) && got[0] == sizes_.gates &&
                          (k >= 2 || got[1] == columns),
                      "input ", 3 + i * sizes_.weights + k, " has shape ", got, ", want [",
                      sizes_.gates, k < 2 ? MakeString(", ", columns) : "", "]: weight ", k,
                      " of layer ", i / sizes_.directions);
      }
    }
  }

  // projected_ = X W^T plus both biases.
  void Project(int i, const float* x, int64_t inputs) {
    const int64_t gates = sizes_.gates;
    bias_.assign(static_cast<size_t>(gates), 0.f);
    for (int k = 2; k < sizes_.weights; ++k) {
      const float* const b = Weight(i, k).data<float>();
      for (int64_t g = 0; g < gates; ++g) bias_[static_cast<size_t>(g)] += b[g];
    }
    const float* const w = inputs > 0 ? Weight(i, 0).data<float>() : nullptr;
    ParallelRanges(sizes_.rows(), gates * std::max<int64_t>(1, inputs / 8),
                   [&](int64_t first, int64_t last) {
                     float* const to = projected_.data() + first * gates;
                     FillRowVector(last - first, gates, bias_.data(), to);
                     if (inputs == 0) return;
                     Sgemm(false, true, last - first, gates, inputs, 1.f, x + first * inputs,
                           inputs, w, inputs, 1.f, to, gates);
                   });
  }

  // The steps of a layer in one direction. `y` begins with the outputs of the direction.
  void RunDirection(int i, int64_t direction, float* y, float* hidden, float* cell) {
    const int64_t h = sizes_.hidden, gates = sizes_.gates;
    const float* const r = Weight(i, 1).data<float>();
    for (int64_t step = 0; step < sizes_.steps; ++step) {
      const int64_t t = direction == 0 ? step : sizes_.steps - 1 - step;
      Sgemm(false, true, sizes_.batch, gates, h, 1.f, hidden, h, r, h, 0.f, products_.data(),
            gates);
      for (int64_t n = 0; n < sizes_.batch; ++n) {
        const int64_t row = sizes_.Row(t, n);
        RunCell(projected_.data() + row * gates, products_.data() + n * gates, hidden + n * h,
                cell + n * h);
        std::copy_n(hidden + n * h, h, y + row * sizes_.outputs());
      }
    }
  }

  // One step of one sequence. x: the products of the inputs; gates: those of the hidden state.
  void RunCell(const float* x, float* gates, float* hidden, float* cell) {
    constexpr LayerActivation kSigmoid{.function = LayerFunction::kSigmoid};
    constexpr LayerActivation kTanh{.function = LayerFunction::kTanh};
    const int64_t h = sizes_.hidden;
    for (int64_t k = 0; k < 4 * h; ++k) gates[k] += x[k];
    ApplyLayerActivation(kSigmoid, 2 * h, gates);
    ApplyLayerActivation(kTanh, h, gates + 2 * h);
    ApplyLayerActivation(kSigmoid, h, gates + 3 * h);
    for (int64_t k = 0; k < h; ++k) cell[k] = gates[h + k] * cell[k] + gates[k] * gates[2 * h + k];
    std::copy_n(cell, h, row_.data());
    ApplyLayerActivation(kTanh, h, row_.data());
    for (int64_t k = 0; k < h; ++k) hidden[k] = gates[3 * h + k] * row_[static_cast<size_t>(k)];
  }

  InferenceLstmSizes sizes_;
  std::vector<int64_t> dims_;
  // Products of the inputs of all steps, of the hidden states of a step; outputs between layers.
  std::vector<float> projected_, products_, between_, bias_, row_;
};

std::vector<TensorShape> InferInferenceLstm(const OperatorDef& def,
                                            const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out(3, UnknownShapeOf(TensorProto::FLOAT));
  if (!AreKnown(in, 2)) return out;
  InferenceLstmSizes sizes{ArgumentHelper(def)};
  sizes.Read(def.input_size(), GetDimsVector(in[0]), GetDimsVector(in[1]));
  std::vector<int64_t> dims;
  sizes.SetOutputDims(&dims);
  out[0] = CreateTensorShape(dims, TensorProto::FLOAT);
  out[1] = out[2] = CreateTensorShape(GetDimsVector(in[1]), TensorProto::FLOAT);
  return out;
}

}  // namespace

void RegisterInferenceLstm() {
  RegisterSchema("InferenceLSTM", __FILE__)
      .NumInputs(1, std::numeric_limits<int>::max())
      .NumOutputs(3)
      .Args(kInferenceLstmLayers, kInferenceLstmBiases, kInferenceLstmBatchFirst,
            kInferenceLstmBidirectional)
      .Input(0, "X", "float, [T, N, I], or [N, T, I] with batch_first: N sequences of T steps")
      .Input(1, "hidden_0", "float, [layers * D, N, H]: the first hidden states")
      .Input(2, "cell_0", "the shape of hidden_0: the first cell states")
      .Input(3, "weights",
             "for each layer and direction: [4 * H, I], [4 * H, H] and, with has_biases, [4 * H] "
             "twice; gates i, f, g, o")
      .Output(0, "output", "[T, N, D * H], or [N, T, D * H]: the hidden states of the last layer")
      .Output(1, "hidden", "the shape of hidden_0: the last hidden states")
      .Output(2, "cell", "the shape of hidden_0: the last cell states")
      .TensorInferenceFunction(InferInferenceLstm)
      .Traits({.writes_float = true, .has_weights = true})
      .SetDoc(
          "Computes a stack of LSTM layers with PyTorch's order of weights. D, the number of "
          "directions, is 2 if bidirectional is set, else 1; H is the hidden size. Layers that "
          "train are nets of steps: RecurrentNetwork.");
  RegisterCpuOperator<InferenceLSTMOp>("InferenceLSTM", __FILE__);
  RegisterGradient<NoGradient>("InferenceLSTM", __FILE__);
}

}  // namespace caffe2rt
