#include "operators/recurrent/recurrent.h"

#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

RecurrentSizes ReadRecurrent(const ArgumentHelper& args) {
  return {.mode = args.Read(kRecurrentMode),
          .skips_input = args.Read(kRecurrentInputMode) == "skip",
          .layers = args.Read(kRecurrentNumLayers),
          .directions = args.Read(kRecurrentBidirectional) ? 2 : 1,
          .hidden = args.Read(kRecurrentHiddenSize),
          .keep = args.Read(kRecurrentDropout),
          .seed = args.Read(kRecurrentSeed)};
}

void SetRecurrentSizes(IntArrayRef x, RecurrentSizes* sizes) {
  CAFFE_ENFORCE_EQ(x.size(), 3u, "rank of input 0 (X) of shape ", x,
                   ", want 3: steps, batch, columns");
  sizes->steps = x[0];
  sizes->batch = x[1];
  sizes->input = x[2];
  CAFFE_ENFORCE_GT(sizes->input, 0, "columns of input 0 (X) of shape ", x);
  CAFFE_ENFORCE(!sizes->skips_input || sizes->input == sizes->hidden, "input 0 (X) has shape ", x,
                ", want ", sizes->hidden, " columns, those of argument hidden_size, because ",
                "argument input_mode is \"skip\"");
  for (const int64_t dim : x) {
    static_cast<void>(CheckedCast<int32_t>(dim, "a dimension of input 0 (X)"));
  }
  const int64_t largest[] = {sizes->steps, sizes->batch, sizes->directions * sizes->hidden, 4};
  static_cast<void>(CheckedProduct(largest));
}

void CheckRecurrentInput(int i, const char* name, IntArrayRef dims, IntArrayRef want) {
  CAFFE_ENFORCE(dims == want, "input ", i, " (", name, ") has shape ", dims, ", want ", want);
}

namespace {

constexpr ArgumentSpec<int> kRecurrentLayer{
    "layer", 0, "layer of the parameter; with both directions, 2 * layer + direction"};
constexpr ArgumentSpec<std::string> kRecurrentParamType{
    .name = "param_type",
    .doc =
        "input_gate_w, forget_gate_w, cell_w or output_gate_w of an lstm; reset_gate_w, "
        "update_gate_w or cell_w of a gru (not in Caffe2); cell_w of other nets; _b for biases",
    .required = true};
constexpr ArgumentSpec<std::string> kRecurrentInputType{
    .name = "input_type",
    .doc = "input: the parameter of the input of the layer; recurrent: that of its state",
    .check = {[](const std::string& type) { return type == "input" || type == "recurrent"; },
              "input or recurrent"},
    .required = true};

// The gates in the order of cuDNN.
std::vector<std::string> GatesOf(const std::string& mode) {
  if (mode == "lstm") return {"input_gate", "forget_gate", "cell", "output_gate"};
  if (mode == "gru") return {"reset_gate", "update_gate", "cell"};
  return {"cell"};
}

class GetRecurrentGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef("RecurrentGradient", "",
                             std::vector<std::string>{I(0), I(1), I(2), I(3), O(3), O(0), GO(0)},
                             std::vector<std::string>{GI(0), GI(1), GI(2), GI(3), O(4), O(3)});
  }
};

std::vector<TensorShape> InferRecurrent(const OperatorDef& def,
                                        const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  RecurrentSizes sizes = ReadRecurrent(ArgumentHelper(def));
  const std::vector<int64_t> x = GetDimsVector(in[0]);
  SetRecurrentSizes(x, &sizes);
  const auto shape_of = [](const RecurrentSizes::Dims& dims) {
    return CreateTensorShape(std::vector<int64_t>(dims.begin(), dims.end()), TensorProto::FLOAT);
  };
  const TensorShape state = shape_of(sizes.StateDims());
  return {shape_of(sizes.OutputDims()), state, state, UnknownShape(), UnknownShape()};
}

std::vector<TensorShape> InferGradient(const OperatorDef& def, const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 4)) return UnknownOutputs(def);
  std::vector<TensorShape> out(in.begin(), in.begin() + 4);
  out.push_back(UnknownShape());
  out.push_back(in.size() > 4 ? in[4] : UnknownShape());
  return out;
}

OpSchema& DeclareRecurrent(OpSchema& schema) {
  return schema.Args(kRecurrentHiddenSize, kRecurrentNumLayers, kRecurrentBidirectional,
                     kRecurrentMode, kRecurrentInputMode, kRecurrentDropout, kRecurrentSeed);
}

void RegisterParameterTypes() {
  const char* const kWeights = "all parameters of the net, in cuDNN's order";
  DeclareRecurrent(RegisterSchema("RecurrentParamGet", __FILE__))
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kRecurrentLayer, kRecurrentParamType, kRecurrentInputType)
      .Input(0, "input", "[T, N, C], the input of Recurrent; only its shape is used")
      .Input(1, "all_params", kWeights)
      .Output(0, "param", "[1, H, columns]; a bias: [1, H, 1]")
      .SetDoc(
          "Copies a matrix or a bias out of the parameters of Recurrent. CUDA with cuDNN only.");
  DeclareRecurrent(RegisterSchema("RecurrentParamSet", __FILE__))
      .NumInputs(3)
      .NumOutputs(1)
      .EnforceInplace({{1, 0}})
      .Args(kRecurrentLayer, kRecurrentParamType, kRecurrentInputType)
      .Input(0, "input", "[T, N, C], the input of Recurrent; only its shape is used")
      .Input(1, "all_params", kWeights)
      .Input(2, "param", "the elements of the matrix or the bias")
      .Output(0, "all_params", "input 1 with the new parameter")
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("Sets a matrix or a bias in the parameters of Recurrent. CUDA with cuDNN only.");
}

}  // namespace

RecurrentParameter ReadRecurrentParameter(const ArgumentHelper& args, const RecurrentSizes& sizes) {
  RecurrentParameter parameter;
  parameter.layer = args.Read(kRecurrentLayer);
  const int64_t layers = sizes.layers * sizes.directions;
  CAFFE_ENFORCE(parameter.layer >= 0 && parameter.layer < layers, "argument layer is ",
                parameter.layer, ", want at least 0 and below ", layers,
                ", num_layers times the number of directions");
  const std::string type = args.Read(kRecurrentParamType);
  const std::vector<std::string> gates = GatesOf(sizes.mode);
  const bool recurrent = args.Read(kRecurrentInputType) == "recurrent";
  for (size_t gate = 0; gate < gates.size(); ++gate) {
    if (type != gates[gate] + "_w" && type != gates[gate] + "_b") continue;
    parameter.transform = static_cast<int>(gate + (recurrent ? gates.size() : 0));
    parameter.is_bias = type.ends_with("_b");
    return parameter;
  }
  std::string known;
  for (const std::string& gate : gates) known += (known.empty() ? "" : ", ") + gate + "_w";
  CAFFE_THROW("argument param_type is \"", type, "\", want one of ", known,
              ", or a bias with _b in place of _w, because argument rnn_mode is \"", sizes.mode,
              "\"");
}

void RegisterRecurrent() {
  DeclareRecurrent(RegisterSchema("Recurrent", __FILE__))
      .NumInputs(4)
      .NumOutputs(5)
      .Arg(kRecurrentIsTest)
      .Input(0, "input", "[T, N, C] float")
      .Input(1, "hidden_input", "[L, N, H] float, where L is num_layers times the directions")
      .Input(2, "cell_input", "[L, N, H] float; used by an lstm only")
      .Input(3, "weight", "all parameters of the net, in cuDNN's order; see RecurrentParamSet")
      .Output(0, "output", "[T, N, directions * H]")
      .Output(1, "hidden_output", "[L, N, H]: the last hidden state")
      .Output(2, "cell_output", "[L, N, H]: the last cell state of an lstm; zeros for other nets")
      .Output(3, "rnn_scratch", "what the gradient needs; empty with is_test")
      .Output(4, "dropout_states", "the state of the dropout; empty if there is no dropout")
      .TensorInferenceFunction(InferRecurrent)
      .HasEffect(
          Effect::kRandom,
          [](const OperatorDef& def) { return ArgumentHelper(def).Read(kRecurrentDropout) < 1; })
      .SetDoc(
          "Runs a recurrent net of several layers over sequences of equal lengths. CUDA with cuDNN "
          "only. RecurrentNetwork runs any recurrent net on any device.");
  DeclareRecurrent(RegisterSchema("RecurrentGradient", __FILE__))
      .NumInputs(7)
      .NumOutputs(6)
      .AllowInplace({{4, 5}})
      .Input(0, "input", "the inputs of Recurrent come first")
      .Input(4, "rnn_scratch", "output 3 of Recurrent")
      .Input(5, "output", "output 0 of Recurrent")
      .Input(6, "grad_output", "the gradient of the output")
      .Output(0, "grad_input", "the gradients of the inputs of Recurrent come first")
      .Output(4, "dropout_states", "output 4 of Recurrent")
      .Output(5, "rnn_scratch_out", "input 4, which this operator changes")
      .TensorInferenceFunction(InferGradient)
      .SetDoc("The gradient of Recurrent. The last states have no gradient.");
  RegisterGradient<GetRecurrentGradient>("Recurrent", __FILE__);
  RegisterParameterTypes();
  // As in Caffe2, copies of parameters have no gradient.
  for (const char* const type : {"RecurrentParamGet", "RecurrentParamSet"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
