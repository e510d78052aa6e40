// LSTM, GRU and RNN: ONNX's recurrent layers, whole sequences of one layer, in one or two directions.
//
// The products of the inputs with W are one GEMM for all time steps; each step multiplies the hidden
// state by R and applies the cell to each row of the batch. With two directions, each may run on a
// thread of its own.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/recurrent/layer_cells.h"
#include "operators/recurrent/layer_plan.h"

namespace caffe2rt {

namespace {

// What one direction of a run reads and writes.
struct LayerDirection {
  int index = 0;
  bool reverse = false;
  float* projected = nullptr;  // [steps, batch, gates] or [batch, steps, gates]: X W^T + biases
  float* hidden = nullptr;     // [batch, hidden]: the state
  float* cell = nullptr;
  float* gates = nullptr;  // [batch, gates]: the products of a step, and scratch of the cell
  float* row = nullptr;    // scratch of the cell, [batch, hidden] twice
};

template <class Cell>
class LayerOp final : public Operator<CPUContext> {
 public:
  LayerOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        arguments_(args(), Cell::kFunctions, Cell::kDefaultFunctions),
        places_(args(), InputSize()) {}

  bool RunOnDevice() override {
    for (const int i : {0, 1, 2}) RequireElements<float>(Input(i));
    sizes_ = MakeLayerSizes(arguments_, Cell::kGates, Input(0).sizes(), Input(1).sizes(),
                            Input(2).sizes());
    CheckOptionalInputs();
    Tensor* outputs[3] = {nullptr, nullptr, nullptr};
    for (int i = 0; i < OutputSize(); ++i) {
      LayerOutputDims(arguments_, sizes_, i, &dims_);
      outputs[i] = Output(i, dims_, TypeMeta::Make<float>());
    }
    ReadLengths();
    Prepare();
    float* y = OutputSize() > 0 ? outputs[0]->template mutable_data<float>() : nullptr;
    if (sizes_.steps * sizes_.batch > 0) {
      for (int d = 0; d < sizes_.directions; ++d) Project(Direction(d));
    }
    ParallelFor(sizes_.directions, [&](int d) { RunDirection(Direction(d), y); });
    for (int i = 1; i < OutputSize(); ++i) {
      CopyState(i == 1 ? hidden_.data() : cell_.data(), outputs[i]->template mutable_data<float>());
    }
    return true;
  }

 private:
  // ONNX's positions.
  static constexpr int kB = 3, kLengths = 4, kInitialHidden = 5, kInitialCell = 6, kPeepholes = 7;

  void CheckOptional(int position, const char* name, IntArrayRef want) const {
    if (!places_.Has(position)) return;
    const Tensor& tensor = Input(places_[position]);
    CAFFE_ENFORCE(tensor.sizes() == want, "input ", places_[position], " (", name, ") has shape ",
                  tensor.sizes(), ", want ", want);
    if (position == kLengths) {
      RequireElements<int32_t>(tensor);
    } else {
      RequireElements<float>(tensor);
    }
  }
  void CheckOptionalInputs() const {
    const int64_t d = sizes_.directions, n = sizes_.batch, h = sizes_.hidden;
    CheckOptional(kB, "B", {d, 2 * Cell::kGates * h});
    CheckOptional(kLengths, "sequence_lens", {n});
    const int64_t first = arguments_.batch_first ? n : d, second = arguments_.batch_first ? d : n;
    CheckOptional(kInitialHidden, "initial_h", {first, second, h});
    if (Cell::kHasCell) {
      CheckOptional(kInitialCell, "initial_c", {first, second, h});
      CheckOptional(kPeepholes, "P", {d, 3 * h});
    }
  }

  void ReadLengths() {
    lengths_.assign(static_cast<size_t>(sizes_.batch), sizes_.steps);
    if (!places_.Has(kLengths)) return;
    const int32_t* lengths =
        sizes_.batch > 0 ? Input(places_[kLengths]).template data<int32_t>() : nullptr;
    for (int64_t n = 0; n < sizes_.batch; ++n) {
      CAFFE_ENFORCE(lengths[n] >= 0 && lengths[n] <= sizes_.steps, "input ", places_[kLengths],
                    " (sequence_lens) is ", lengths[n], " at element ", n, ", want 0 to ",
                    sizes_.steps, ", the time steps of input 0 (X)");
      lengths_[static_cast<size_t>(n)] = lengths[n];
    }
  }

  // Allocates the states and scratch memory, and sets the states to their initial values.
  void Prepare() {
    const int64_t d = sizes_.directions, rows = sizes_.batch, h = sizes_.hidden;
    const auto resize = [](std::vector<float>* v, int64_t n) { v->resize(static_cast<size_t>(n)); };
    resize(&projected_,
           CheckedMultiply(CheckedMultiply(CheckedMultiply(d, sizes_.steps), rows), sizes_.gates));
    resize(&gates_, CheckedMultiply(d * rows, sizes_.gates));
    resize(&rows_, CheckedMultiply(d * rows, 2 * h));
    for (auto* state : {&hidden_, &cell_}) {
      resize(state, CheckedMultiply(d * rows, h));
      const int position = state == &hidden_ ? kInitialHidden : kInitialCell;
      if (!places_.Has(position) || state->empty()) {
        std::fill(state->begin(), state->end(), 0.f);
        continue;
      }
      const float* from = Input(places_[position]).template data<float>();
      for (int64_t i = 0; i < d; ++i) {
        for (int64_t n = 0; n < rows; ++n) {
          const int64_t at = arguments_.batch_first ? n * d + i : i * rows + n;
          std::copy_n(from + at * h, h, state->data() + (i * rows + n) * h);
        }
      }
    }
  }
  void CopyState(const float* state, float* to) const {
    const int64_t d = sizes_.directions, rows = sizes_.batch, h = sizes_.hidden;
    for (int64_t i = 0; i < d; ++i) {
      for (int64_t n = 0; n < rows; ++n) {
        const int64_t at = arguments_.batch_first ? n * d + i : i * rows + n;
        std::copy_n(state + (i * rows + n) * h, h, to + at * h);
      }
    }
  }

  LayerDirection Direction(int d) {
    const int64_t rows = sizes_.batch, h = sizes_.hidden, gates = sizes_.gates;
    LayerDirection direction;
    direction.index = d;
    direction.reverse = arguments_.reverse || d == 1;
    direction.projected = projected_.data() + d * sizes_.steps * rows * gates;
    direction.hidden = hidden_.data() + d * rows * h;
    direction.cell = cell_.data() + d * rows * h;
    direction.gates = gates_.data() + d * rows * gates;
    direction.row = rows_.data() + d * rows * 2 * h;
    return direction;
  }

  // X W^T plus the biases of the inputs and, but for those that the cell adds itself, of the states.
  void Project(const LayerDirection& direction) {
    const int64_t gates = sizes_.gates, inputs = sizes_.inputs, rows = sizes_.steps * sizes_.batch;
    const float* x = inputs > 0 ? Input(0).template data<float>() : nullptr;
    const float* w =
        inputs > 0 ? Input(1).template data<float>() + direction.index * gates * inputs : nullptr;
    bias_.assign(static_cast<size_t>(gates), 0.f);
    if (const float* b = Bias(direction.index)) {
      const int64_t both = Cell::AddsLastBias(arguments_) ? gates - sizes_.hidden : gates;
      for (int64_t i = 0; i < gates; ++i) {
        bias_[static_cast<size_t>(i)] = b[i] + (i < both ? b[gates + i] : 0.f);
      }
    }
    ParallelRanges(rows, gates * std::max<int64_t>(1, inputs / 8),
                   [&](int64_t first, int64_t last) {
                     float* to = direction.projected + first * gates;
                     FillRowVector(last - first, gates, bias_.data(), to);
                     if (inputs == 0) return;
                     Sgemm(false, true, last - first, gates, inputs, 1.f, x + first * inputs,
                           inputs, w, inputs, 1.f, to, gates);
                   });
  }

  const float* Bias(int d) const {
    return places_.Has(kB) ? Input(places_[kB]).template data<float>() + d * 2 * sizes_.gates
                           : nullptr;
  }

  void RunDirection(const LayerDirection& direction, float* y) {
    const int64_t h = sizes_.hidden, rows = sizes_.batch, gates = sizes_.gates;
    LayerCell cell;
    cell.hidden_size = h;
    cell.functions = arguments_.activations.data() + direction.index * Cell::kFunctions;
    cell.clip = arguments_.clip;
    cell.input_forget = arguments_.input_forget;
    cell.linear_before_reset = arguments_.linear_before_reset;
    if (places_.Has(kPeepholes) && Cell::kHasCell) {
      cell.peepholes = Input(places_[kPeepholes]).template data<float>() + direction.index * 3 * h;
    }
    const float* bias = Bias(direction.index);
    if (bias != nullptr) cell.last_bias = bias + 2 * gates - h;
    const float* r = Input(2).numel() > 0
                         ? Input(2).template data<float>() + direction.index * gates * h
                         : nullptr;
    if (rows == 0 || h == 0) return;
    for (int64_t step = 0; step < sizes_.steps; ++step) {
      Multiply(rows, Cell::FirstGates(arguments_) * h, h, direction.hidden, r, direction.gates,
               gates);
      for (int64_t n = 0; n < rows; ++n) {
        if (step >= lengths_[static_cast<size_t>(n)]) continue;
        const int64_t t = Time(direction, step, n);
        Cell::First(cell, direction.projected + ProjectedRow(t, n) * gates,
                    direction.gates + n * gates, direction.hidden + n * h, direction.cell + n * h,
                    direction.row + n * 2 * h);
      }
      if constexpr (Cell::kSecondProduct) {
        if (!arguments_.linear_before_reset) {
          Multiply(rows, h, h, direction.row, r + (gates - h) * h, direction.gates + gates - h,
                   gates, 2 * h);
        }
      }
      for (int64_t n = 0; n < rows; ++n) {
        const int64_t t = Time(direction, step, n);
        float* out = y == nullptr ? nullptr : y + OutputRow(t, direction.index, n) * h;
        if (step >= lengths_[static_cast<size_t>(n)]) {
          if (out != nullptr) std::fill_n(out, h, 0.f);
          continue;
        }
        Cell::Second(cell, direction.projected + ProjectedRow(t, n) * gates,
                     direction.gates + n * gates, direction.hidden + n * h,
                     direction.row + n * 2 * h);
        if (out != nullptr) std::copy_n(direction.hidden + n * h, h, out);
      }
    }
  }
  // y [rows, columns] = x [rows, depth] r [columns, depth]^T
  static void Multiply(int64_t rows, int64_t columns, int64_t depth, const float* x, const float* r,
                       float* y, int64_t ldy, int64_t ldx = 0) {
    Sgemm(false, true, rows, columns, depth, 1.f, x, ldx == 0 ? depth : ldx, r, depth, 0.f, y, ldy);
  }

  // The time of a step; of a step after the end of the sequence, the time that has no output.
  int64_t Time(const LayerDirection& direction, int64_t step, int64_t n) const {
    const int64_t length = lengths_[static_cast<size_t>(n)];
    return direction.reverse && step < length ? length - 1 - step : step;
  }
  int64_t ProjectedRow(int64_t t, int64_t n) const {
    return arguments_.batch_first ? n * sizes_.steps + t : t * sizes_.batch + n;
  }
  int64_t OutputRow(int64_t t, int64_t d, int64_t n) const {
    return arguments_.batch_first ? (n * sizes_.steps + t) * sizes_.directions + d
                                  : (t * sizes_.directions + d) * sizes_.batch + n;
  }

  const LayerArguments arguments_;
  const InputPlaces places_;
  LayerSizes sizes_;
  std::vector<int64_t> dims_, lengths_;
  std::vector<float> projected_, gates_, rows_, hidden_, cell_, bias_;
};

template <class Cell>
std::vector<TensorShape> InferLayer(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 3)) return UnknownOutputs(def);
  const LayerArguments arguments(ArgumentHelper(def), Cell::kFunctions, Cell::kDefaultFunctions);
  const LayerSizes sizes = MakeLayerSizes(arguments, Cell::kGates, GetDimsVector(in[0]),
                                          GetDimsVector(in[1]), GetDimsVector(in[2]));
  std::vector<TensorShape> out;
  std::vector<int64_t> dims;
  for (int i = 0; i < def.output_size(); ++i) {
    LayerOutputDims(arguments, sizes, i, &dims);
    out.push_back(CreateTensorShape(dims, TensorProto_DataType_FLOAT));
  }
  return out;
}

template <class Cell>
void RegisterLayer(const char* type, const char* gates, const char* doc) {
  OpSchema& schema =
      RegisterSchema(type, __FILE__)
          .NumInputs(3, Cell::kHasCell ? 8 : 6)
          .NumOutputs(1, Cell::kHasCell ? 3 : 2)
          .Arg(kOmittedInputs)
          .Input(0, "X", "float, [T, N, I], or [N, T, I] with layout 1: N sequences of T steps")
          .Input(1, "W", MakeString("[D, G * H, I]: the weights of the inputs, gates ", gates))
          .Input(2, "R", "[D, G * H, H]: the weights of the hidden state")
          .Input(3, "B", "[D, 2 * G * H]: the biases of W, then those of R; default: 0")
          .Input(4, "sequence_lens", "int32, [N]: the length of each sequence; default: T")
          .Input(5, "initial_h", "[D, N, H], or [N, D, H] with layout 1; default: 0")
          .Output(0, "Y", "[T, D, N, H], or [N, T, D, H] with layout 1: all hidden states")
          .Output(1, "Y_h", "[D, N, H], or [N, D, H] with layout 1: the last hidden states")
          .TensorInferenceFunction(InferLayer<Cell>)
          .Traits({.writes_float = true, .has_weights = true})
          .SetDoc(doc);
  if (Cell::kHasCell) {
    schema.Input(6, "initial_c", "the shape of initial_h; default: 0")
        .Input(7, "P", "[D, 3 * H]: the peepholes of the gates i, o, f; default: 0")
        .Output(2, "Y_c", "the shape of Y_h: the last cell states");
  }
  DeclareLayerArguments(schema, type);
  RegisterCpuOperator<LayerOp<Cell>>(type, __FILE__);
  // Layers that train are nets of steps: RecurrentNetwork.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
}

}  // namespace

void RegisterLstm() {
  RegisterLayer<LstmCell>(
      "LSTM", "i, o, f, c",
      "A layer of long short-term memory with ONNX's meaning. D is the number of "
      "directions, H the hidden size, G = 4 the number of gates.");
  RegisterLayer<GruCell>("GRU", "z, r, h",
                         "A layer of gated recurrent units with ONNX's meaning. D is the number of "
                         "directions, H the hidden size, G = 3 the number of gates.");
  RegisterLayer<RnnCell>("RNN", "i",
                         "A plain recurrent layer with ONNX's meaning. D is the number of "
                         "directions, H the hidden size, G = 1.");
}

}  // namespace caffe2rt
