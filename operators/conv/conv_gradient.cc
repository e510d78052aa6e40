// ConvGradient, Conv1DGradient, Conv2DGradient, Conv3DGradient, ConvTransposeGradient on the CPU,
// and the gradient makers of the forward operators.
#include "operators/conv/conv_gradient.h"

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"
#include "operators/common/order_argument.h"
#include "operators/conv/conv_arguments.h"

namespace caffe2rt {

namespace {

// The gradient operator has the type of the forward operator and "Gradient", and computes the
// gradients of all inputs, or of all but X.
class GetConvGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const bool bias = def_.input_size() > 2;
    std::vector<std::string> outputs = {GI(1)};
    if (bias) outputs.push_back(GI(2));
    if (!ArgumentHelper(def_).Read(kConvNoGradientToInput)) outputs.push_back(GI(0));
    std::vector<Argument> args;
    if (!bias) args.push_back(MakeArgument<int>(kConvGradientNoBias.name, 1));
    return SingleGradientDef(def_.type() + "Gradient", "", {I(0), I(1), GO(0)}, outputs, args);
  }
};

// The number of output channels of the forward operator, or of a group of it.
int64_t FilterChannels(const OperatorDef& def, const std::vector<int64_t>& filter,
                       bool transposed) {
  if (!transposed) return filter[0];
  const ArgumentHelper args(def);
  const bool last = ReadStorageOrder(args) == StorageOrder::NHWC;
  return CheckedMultiply<int64_t>(last ? filter.back() : filter[1],
                                  args.Read(WindowGroupArgument(WindowUse::kConvTranspose)));
}

template <bool kTransposed>
std::vector<TensorShape> InferConvGradient(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  std::vector<TensorShape> out = UnknownOutputs(def);
  if (in.size() < 3) return out;
  const ConvGradientPositions positions = FindConvGradientOutputs(
      ArgumentHelper(def).Read(kConvGradientNoBias) != 0, def.input_size(), def.output_size());
  if (IsKnown(in[1]) && in[1].dims_size() >= 2) {
    const std::vector<int64_t> filter = GetDimsVector(in[1]);
    out[0] = CreateTensorShape(filter, in[1].data_type());
    if (positions.bias >= 0) {
      out[static_cast<size_t>(positions.bias)] = CreateTensorShape(
          std::vector<int64_t>{FilterChannels(def, filter, kTransposed)}, in[1].data_type());
    }
  }
  if (IsKnown(in[0]) && positions.x >= 0) {
    out[static_cast<size_t>(positions.x)] =
        CreateTensorShape(GetDimsVector(in[0]), in[0].data_type());
  }
  return out;
}

// Each of the two large gradients costs as many multiply-adds as the forward operator.
template <bool kTransposed>
OpSchema::Cost ConvGradientCost(const OperatorDef& def, const std::vector<TensorShape>& in) {
  OpSchema::Cost cost;
  if (!AreKnown(in, 3) || in[1].dims_size() < 2) return cost;
  const uint64_t x = NumElements(in[0]), weights = NumElements(in[1]), dy = NumElements(in[2]);
  const uint64_t filters = static_cast<uint64_t>(in[1].dims(0));
  const uint64_t terms = filters > 0 ? 2 * (weights / filters) : 0;
  const ConvGradientPositions positions = FindConvGradientOutputs(
      ArgumentHelper(def).Read(kConvGradientNoBias) != 0, def.input_size(), def.output_size());
  const uint64_t bias =
      positions.bias < 0
          ? 0
          : static_cast<uint64_t>(FilterChannels(def, GetDimsVector(in[1]), kTransposed));
  const bool has_x = positions.x >= 0;
  cost.flops = (kTransposed ? x : dy) * terms * (has_x ? 2 : 1) + (bias > 0 ? dy : 0);
  cost.params_bytes = weights * sizeof(float);
  cost.bytes_read = (x + dy) * sizeof(float) + cost.params_bytes;
  cost.bytes_written = (weights + bias + (has_x ? x : 0)) * sizeof(float);
  cost.bytes_moved = cost.bytes_read + cost.bytes_written;
  return cost;
}

template <bool kTransposed>
void RegisterGradientOf(const char* forward) {
  const std::string type = MakeString(forward, "Gradient");
  OpSchema& schema =
      RegisterSchema(type, __FILE__)
          .NumInputs(kTransposed ? 3 : 2, 3)
          .NumOutputs(1, 3)
          .TensorInferenceFunction(InferConvGradient<kTransposed>)
          .CostInferenceFunction(ConvGradientCost<kTransposed>)
          .SetDoc(MakeString("Computes the gradients of the inputs of ", forward,
                             ". The arguments are those of the forward operator. With no_bias, "
                             "output 1 is dX."))
          .Input(0, "X", "input of the forward operator")
          .Input(1, "filter", "weights of the forward operator")
          .Input(2, "dY", "gradient of the output of the forward operator; required")
          .Output(0, "dfilter", "gradient of the filter")
          .Output(1, "dbias", "gradient of the bias, [M]; absent with no_bias")
          .Output(2, "dX", "(optional) gradient of X")
          .Arg(kConvGradientNoBias);
  DeclareWindowArguments(schema, kTransposed ? WindowUse::kConvTranspose : WindowUse::kConv);
  DeclareConvArguments(schema);
  RegisterCpuOperator<ConvGradientOp<CPUContext, ConvGradientOnCpu<kTransposed>, kTransposed>>(
      type, __FILE__);
  RegisterConvGradientMaker(forward, __FILE__);
}

}  // namespace

ConvGradientPositions FindConvGradientOutputs(bool no_bias, int inputs, int outputs) {
  CAFFE_ENFORCE_EQ(inputs, 3, "number of inputs, want X, filter and dY");
  CAFFE_ENFORCE(no_bias ? outputs <= 2 : outputs >= 2, "number of outputs is ", outputs,
                no_bias ? ", want 1 or 2 with no_bias: dfilter and dX"
                        : ", want 2 or 3 without no_bias: dfilter, dbias and dX");
  if (no_bias) return {-1, outputs > 1 ? 1 : -1};
  return {1, outputs > 2 ? 2 : -1};
}

void RegisterConvGradientMaker(std::string_view forward, const char* file) {
  RegisterGradient<GetConvGradient>(forward, file);
}

void RegisterConvGradient() {
  for (const char* forward : {"Conv", "Conv1D", "Conv2D", "Conv3D"}) {
    RegisterGradientOf<false>(forward);
  }
  RegisterGradientOf<true>("ConvTranspose");
}

}  // namespace caffe2rt
