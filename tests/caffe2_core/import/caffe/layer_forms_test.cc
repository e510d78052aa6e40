// The operators that layers become, with all of their arguments: defaults are those of Caffe's
// definitions. Nets without weights are filled as the layers say.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/caffe2_core/import/caffe/imported_net.h"

namespace caffe2rt::test::layer_forms_test {
namespace {

std::string Input(const std::string& name, const std::string& dims) {
  return "layer { name: '" + name + "' type: 'Input' top: '" + name +
         "' input_param { shape { dim: [" + dims + "] } } }\n";
}

std::string ValueText(const Argument& arg) {
  if (arg.has_i()) return MakeString(arg.i());
  if (arg.has_f()) return MakeString(arg.f());
  if (arg.has_s()) return arg.s();
  if (arg.floats_size() > 0) return "[" + absl::StrJoin(arg.floats(), ",") + "]";
  return "[" + absl::StrJoin(arg.ints(), ",") + "]";
}

// A parameter: "[1,2]" for values, "0.5 of [3]" for a constant fill, "xavier of [3,2]".
std::string FillText(const OperatorDef& op, const Tensor* values) {
  if (values != nullptr) {
    std::vector<float> numbers(values->data<float>(), values->data<float>() + values->numel());
    return numbers.size() == 1 ? MakeString(numbers[0]) : "[" + absl::StrJoin(numbers, ",") + "]";
  }
  std::string shape, value;
  for (const Argument& arg : op.arg()) {
    if (arg.name() == "shape") shape = ValueText(arg);
    if (arg.name() == "value") value = ValueText(arg);
  }
  return (op.type() == "ConstantFill" ? value : "xavier") + " of " + shape;
}

// A line for each operator: "Conv(x, xavier of [2,3,1,1], 0 of [2]) kernels=[1,1] -> y". Blobs with
// names of more than one letter are numbered.
std::string NetText(const CaffeModel& model) {
  std::map<std::string, std::string> names;
  for (int i = 0; i < model.init_net.op_size(); ++i) {
    const Tensor* values = nullptr;
    for (const OperatorWeights& weights : model.weights) {
      if (weights.op == i) values = &weights.values;
    }
    names[model.init_net.op(i).output(0)] = FillText(model.init_net.op(i), values);
  }
  int count = 0;
  const auto name_of = [&](const std::string& blob) {
    if (blob.size() == 1) return blob;
    std::string& name = names[blob];
    if (name.empty()) name = MakeString("%", ++count);
    return name;
  };
  std::string text;
  for (const OperatorDef& op : model.predict_net.op()) {
    std::vector<std::string> inputs, outputs;
    for (const std::string& input : op.input()) inputs.push_back(name_of(input));
    for (const std::string& output : op.output()) outputs.push_back(name_of(output));
    text += op.type() + "(" + absl::StrJoin(inputs, ", ") + ")";
    for (const Argument& arg : op.arg()) text += " " + arg.name() + "=" + ValueText(arg);
    text += " -> " + absl::StrJoin(outputs, ", ") + "\n";
  }
  return text;
}

struct Form {
  const char* type;
  const char* more;  // further bottoms and tops, and the parameters
  std::string want;
  const char* dims = "1, 4, 6, 8";  // of x; "" if they are not known
};
// v has 3 axes, w 4, and b 1.
void Check(const std::vector<Form>& forms) {
  for (const Form& form : forms) {
    SCOPED_TRACE(std::string(form.type) + " " + form.more);
    std::string net = form.dims[0] == '\0' ? "layer { name: 'x' type: 'Input' top: 'x' }\n"
                                           : Input("x", form.dims);
    net += Input("w", "1, 4, 3, 4") + Input("v", "1, 4, 6") + Input("b", "4") + Input("r", "2, 5") +
           "layer { name: 'y' type: '" + form.type + "' bottom: 'x' top: 'y' " + form.more + " }";
    try {
      EXPECT_EQ(NetText(ImportCaffeFromMemory(net, "", {})), form.want);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

TEST(CaffeLayerFormsTest, Elements) {
  Check(
      {{"AbsVal", "", "Abs(x) -> y\n"},
       {"BNLL", "", "Softplus(x) -> y\n"},
       {"Sigmoid", "", "Sigmoid(x) -> y\n"},
       {"TanH", "", "Tanh(x) -> y\n"},
       {"ReLU", "", "Relu(x) -> y\n"},
       {"ReLU", "relu_param { negative_slope: 0.25 }", "LeakyRelu(x) alpha=0.25 -> y\n"},
       {"ReLU6", "", "Clip(x) min=0 max=6 -> y\n"},
       {"Clip", "clip_param { min: -1 max: 2 }", "Clip(x) min=-1 max=2 -> y\n"},
       {"ELU", "", "Elu(x) alpha=1 -> y\n"},
       {"ELU", "elu_param { alpha: 2 }", "Elu(x) alpha=2 -> y\n"},
       {"Swish", "", "Swish(x) -> y\n"},
       {"Swish", "swish_param { beta: 2 }",
        "Scale(x) scale=2 -> %1\nSigmoid(%1) -> %2\nMul(x, %2) -> y\n"},
       {"HardSigmoid", "", "HardSigmoid(x) alpha=0.166667 beta=0.5 -> y\n"},
       {"HardSwish", "", "HardSigmoid(x) alpha=0.166667 beta=0.5 -> %1\nMul(x, %1) -> y\n"},
       {"CReLU", "", "Negative(x) -> %1\nConcat(x, %1) axis=1 -> %2, %3\nRelu(%2) -> y\n"},
       {"Dropout", "", "Alias(x) -> y\n"},
       {"Split", "top: 'z'", "Alias(x) -> y\nAlias(x) -> z\n"},
       {"PReLU", "", "PRelu(x, 0.25 of [4]) -> y\n"},
       {"PReLU", "prelu_param { channel_shared: true filler { value: 2 } }",
        "PRelu(x, 2 of [1]) -> y\n"},
       {"Power", "", "Scale(x) scale=1 -> y\n"},
       {"Power", "power_param { scale: 2 }", "Scale(x) scale=2 -> y\n"},
       {"Power", "power_param { shift: 3 }", "Add(x, 3) -> y\n"},
       {"Power", "power_param { scale: 2 shift: 3 }", "Scale(x) scale=2 -> %1\nAdd(%1, 3) -> y\n"},
       {"Power", "power_param { power: 0.5 }", "Pow(x) exponent=0.5 -> y\n"},
       {"Power", "power_param { power: 0.5 scale: 2 shift: 3 }",
        "Scale(x) scale=2 -> %1\nAdd(%1, 3) -> %2\nPow(%2) exponent=0.5 -> y\n"},
       {"Exp", "", "Exp(x) -> y\n"},
       {"Exp", "exp_param { scale: 2 shift: 3 }",
        "Scale(x) scale=2 -> %1\nAdd(%1, 3) -> %2\nExp(%2) -> y\n"},
       // 2^(x + 1) is e^(ln 2 x + ln 2).
       {"Exp", "exp_param { base: 2 shift: 1 }",
        "Scale(x) scale=0.693147 -> %1\nAdd(%1, 0.693147) -> %2\nExp(%2) -> y\n"},
       {"Log", "", "Log(x) -> y\n"},
       {"Log", "log_param { scale: 2 shift: 3 }",
        "Scale(x) scale=2 -> %1\nAdd(%1, 3) -> %2\nLog(%2) -> y\n"},
       {"Log", "log_param { base: 4 }", "Log(x) -> %1\nScale(%1) scale=0.721348 -> y\n"},
       {"Log", "log_param { base: 2 scale: 3 shift: 4 }",
        "Scale(x) scale=3 -> %1\nAdd(%1, 4) -> %2\nLog(%2) -> %3\nScale(%3) scale=1.4427 -> y\n"},
       {"Threshold", "", "GT(x, 0) -> %1\nCast(%1) to=1 -> y\n"},
       {"Threshold", "threshold_param { threshold: 2 }", "GT(x, 2) -> %1\nCast(%1) to=1 -> y\n"},
       {"Eltwise", "bottom: 'x'", "Sum(x, x) -> y\n"},
       {"Eltwise", "bottom: 'x' eltwise_param { coeff: [1, -1] }",
        "Scale(x) scale=-1 -> %1\nSum(x, %1) -> y\n"},
       {"Eltwise", "bottom: 'x' bottom: 'x' eltwise_param { coeff: [2, 1, -3] }",
        "Scale(x) scale=2 -> %1\nScale(x) scale=-3 -> %2\nSum(%1, x, %2) -> y\n"},
       {"Eltwise", "bottom: 'x' bottom: 'x' eltwise_param { operation: PROD }",
        "Mul(x, x) -> %1\nMul(%1, x) -> y\n"},
       {"Eltwise", "bottom: 'x' eltwise_param { operation: 2 }", "Max(x, x) -> y\n"},
       {"Add", "bottom: 'x' bottom: 'x'", "Add(x, x) -> %1\nAdd(%1, x) -> y\n"},
       {"Mul", "bottom: 'x'", "Mul(x, x) -> y\n"},
       {"Axpy", "bottom: 'w' bottom: 'w'", "Mul(w, x) -> %1\nAdd(%1, w) -> y\n", "1, 4, 1, 1"}});
}

TEST(CaffeLayerFormsTest, Normalizations) {
  Check(
      {{"LRN", "", "LRN(x) size=5 alpha=1 beta=0.75 bias=1 -> y\n"},
       {"LRN", "lrn_param { local_size: 3 alpha: 2 beta: 3 k: 4 }",
        "LRN(x) size=3 alpha=2 beta=3 bias=4 -> y\n"},
       {"LRN", "lrn_param { norm_region: WITHIN_CHANNEL local_size: 3 k: 4 }",
        "Sqr(x) -> %1\nAveragePool(%1) kernels=[3,3] strides=[1,1] pads=[1,1,1,1] "
        "count_include_pad=1 -> %2\n"
        "Scale(%2) scale=1 -> %3\nAdd(%3, 1) -> %4\nPow(%4) exponent=-0.75 -> %5\nMul(x, %5) -> "
        "y\n"},
       {"BatchNorm", "batch_norm_param { use_global_stats: false }",
        "ReduceMean(x) axes=[0,2,3] -> %1\nSub(x, %1) -> %2\nSqr(%2) -> %3\nReduceMean(%3) "
        "axes=[0,2,3] -> %4\n"
        "Add(%4, 1e-05) -> %5\nSqrt(%5) -> %6\nDiv(%2, %6) -> y\n"},
       {"BatchNorm", "",
        "SpatialBN(x, [1,1,1,1], [0,0,0,0], [0,0,0,0], [1,1,1,1]) is_test=1 epsilon=1e-05 -> y\n"},
       {"BatchNorm", "batch_norm_param { eps: 0.5 scale_bias: true }",
        "SpatialBN(x, [1,1,1,1], [0,0,0,0], [0,0,0,0], [1,1,1,1]) is_test=1 epsilon=0.5 -> y\n"},
       {"BatchNorm", "",
        "SpatialBN(x, [1,1,1], [0,0,0], [0,0,0], [1,1,1]) is_test=1 epsilon=1e-05 -> y\n", "2, 3"},
       {"MVN", "",
        "ReduceMean(x) axes=[2,3] -> %1\nSub(x, %1) -> %2\nSqr(%2) -> %3\nReduceMean(%3) "
        "axes=[2,3] -> %4\n"
        "Sqrt(%4) -> %5\nAdd(%5, 1e-09) -> %6\nDiv(%2, %6) -> y\n"},
       {"MVN", "mvn_param { across_channels: true normalize_variance: false }",
        "ReduceMean(x) axes=[1,2,3] -> %1\nSub(x, %1) -> y\n"},
       {"Normalize", "",
        "Sqr(x) -> %1\nReduceSum(%1) axes=[1,2,3] -> %2\nAdd(%2, 1e-10) -> %3\nSqrt(%3) -> %4\n"
        "Div(x, %4) -> %5\nMul(%5, 1 of [1]) -> y\n"},
       {"Normalize", "norm_param { across_spatial: false eps: 2 scale_filler { value: 20 } }",
        "Sqr(x) -> %1\nReduceSum(%1) axes=[1] -> %2\nAdd(%2, 2) -> %3\nSqrt(%3) -> %4\n"
        "Div(x, %4) -> %5\nMul(%5, 20 of [1]) -> y\n"},
       {"Scale", "", "Mul(x, 1 of [4]) broadcast=1 axis=1 -> y\n"},
       {"Scale",
        "scale_param { axis: -2 num_axes: 2 bias_term: true filler { value: 3 } bias_filler { "
        "value: 2 } }",
        "Mul(x, 3 of [6,8]) broadcast=1 axis=2 -> %1\nAdd(%1, 2 of [6,8]) broadcast=1 axis=2 -> "
        "y\n"},
       {"Scale", "scale_param { axis: 2 num_axes: -1 }",
        "Mul(x, 1 of [6,8]) broadcast=1 axis=2 -> y\n"},
       {"Scale", "scale_param { num_axes: 0 bias_term: true }",
        "Mul(x, 1 of [1]) -> %1\nAdd(%1, 0 of [1]) -> y\n"},
       {"Scale", "bottom: 'b'", "Mul(x, b) broadcast=1 axis=1 -> y\n"},
       {"Scale", "bottom: 'b' scale_param { bias_term: true }",
        "Mul(x, b) broadcast=1 axis=1 -> %1\nAdd(%1, 0 of [4]) broadcast=1 axis=1 -> y\n"},
       {"Bias", "", "Add(x, 0 of [4]) broadcast=1 axis=1 -> y\n"},
       {"Bias", "bias_param { axis: 2 filler { value: 2 } }",
        "Add(x, 2 of [6]) broadcast=1 axis=2 -> y\n"},
       {"Bias", "bias_param { num_axes: 0 }", "Add(x, 0 of [1]) -> y\n"},
       {"Bias", "bias_param { num_axes: -1 }", "Add(x, 0 of [4,6,8]) broadcast=1 axis=1 -> y\n"},
       {"Scale", "scale_param { axis: 0 num_axes: 2 }",
        "Mul(x, 1 of [1,4]) broadcast=1 axis=0 -> y\n"},
       {"Bias", "bottom: 'b'", "Add(x, b) broadcast=1 axis=1 -> y\n"}});
}

TEST(CaffeLayerFormsTest, MovedElements) {
  Check(
      {{"Concat", "bottom: 'x'", "Concat(x, x) axis=1 -> y, %1\n"},
       {"Concat", "bottom: 'x' concat_param { axis: -1 }", "Concat(x, x) axis=3 -> y, %1\n"},
       {"Concat", "bottom: 'x' concat_param { concat_dim: 0 }", "Concat(x, x) axis=0 -> y, %1\n"},
       {"Concat", "bottom: 'x' concat_param { axis: 2 concat_dim: 0 }",
        "Concat(x, x) axis=2 -> y, %1\n"},
       {"Concat", "", "Alias(x) -> y\n"},
       {"Slice", "top: 'z'", "Split(x) axis=1 -> y, z\n"},
       {"Slice", "top: 'z' slice_param { slice_dim: 2 }", "Split(x) axis=2 -> y, z\n"},
       {"Slice", "top: 'z' top: 'u' slice_param { axis: -1 slice_point: [1, 3] }",
        "Split(x) axis=3 split=[1,2,5] -> y, z, u\n"},
       {"Slice", "", "Alias(x) -> y\n"},
       {"Flatten", "", "Flatten(x) -> y\n"},
       {"Flatten", "flatten_param { axis: 2 }", "Reshape(x) shape=[0,0,-1] -> y, %1\n"},
       {"Flatten", "flatten_param { axis: 0 }", "Reshape(x) shape=[-1] -> y, %1\n"},
       {"Flatten", "flatten_param { end_axis: 2 }", "Reshape(x) shape=[0,-1,8] -> y, %1\n"},
       {"Flatten", "flatten_param { axis: -3 end_axis: -2 }",
        "Reshape(x) shape=[0,-1,8] -> y, %1\n"},
       {"Reshape", "reshape_param { shape { dim: [0, -1] } }",
        "Reshape(x) shape=[0,-1] -> y, %1\n"},
       {"Reshape", "reshape_param { axis: 1 shape { dim: [2, -1] } }",
        "Reshape(x) shape=[0,2,-1] -> y, %1\n"},
       {"Reshape", "reshape_param { axis: 1 num_axes: 1 shape { dim: [2, 2] } }",
        "Reshape(x) shape=[0,2,2,6,8] -> y, %1\n"},
       {"Reshape", "reshape_param { axis: -1 num_axes: 0 shape { dim: 1 } }",
        "Reshape(x) shape=[0,0,0,0,1] -> y, %1\n"},
       {"Permute", "permute_param { order: [0, 2] }", "Transpose(x) axes=[0,2,1,3] -> y\n"},
       {"Permute", "permute_param { order: [3, 1] }", "Transpose(x) axes=[3,1,0,2] -> y\n"},
       {"Squeeze", "squeeze_param { axis: -4 }", "Squeeze(x) dims=[0] -> y\n"},
       {"Squeeze", "squeeze_param { axes: [0, 2] }", "Squeeze(x) dims=[0,2] -> y\n", "1, 4, 1, 8"},
       {"Crop", "bottom: 'w'",
        "Slice(x) starts=[0,0,0,0] ends=[-1,-1,3,-1] -> %1\nSlice(%1) starts=[0,0,0,0] "
        "ends=[-1,-1,-1,4] -> y\n"},
       {"Crop", "bottom: 'w' crop_param { axis: 3 offset: 2 }",
        "Slice(x) starts=[0,0,0,2] ends=[-1,-1,-1,6] -> y\n"},
       {"Crop", "bottom: 'w' crop_param { axis: -1 offset: 2 }",
        "Slice(x) starts=[0,0,0,2] ends=[-1,-1,-1,6] -> y\n"},
       {"Crop", "bottom: 'w' crop_param { offset: 3 offset: 4 }",
        "Slice(x) starts=[0,0,3,0] ends=[-1,-1,6,-1] -> %1\nSlice(%1) starts=[0,0,0,4] "
        "ends=[-1,-1,-1,8] -> y\n"},
       {"Crop", "bottom: 'x'", "Alias(x) -> y\n"},
       {"Reorg", "reorg_param { stride: 1 }",
        "Reshape(x) shape=[0,4,6,1,8,1] -> %1, %2\nTranspose(%1) axes=[0,3,5,1,2,4] -> %3\n"
        "Reshape(%3) shape=[0,4,6,8] -> y, %4\n"},
       {"Reorg", "reorg_param { reverse: true }",
        "Reshape(x) shape=[0,2,2,1,6,8] -> %1, %2\nTranspose(%1) axes=[0,3,4,1,5,2] -> %3\n"
        "Reshape(%3) shape=[0,1,12,16] -> y, %4\n"},
       {"ShuffleChannel", "shuffle_channel_param { group: 2 }", "ChannelShuffle(x) group=2 -> y\n"},
       {"ChannelShuffle", "channel_shuffle_param { group: 4 }", "ChannelShuffle(x) group=4 -> y\n"},
       {"Softmax", "",
        "Transpose(x) axes=[0,3,2,1] -> %1\nSoftmax(%1) axis=3 -> %2\n"
        "Transpose(%2) axes=[0,3,2,1] -> y\n"},
       {"Softmax", "softmax_param { axis: -1 }", "Softmax(x) axis=3 -> y\n"},
       {"Reduction", "", "ReduceSum(x) axes=[0,1,2,3] keepdims=0 -> y\n"},
       {"Reduction", "reduction_param { operation: ASUM axis: 1 coeff: 2 }",
        "Abs(x) -> %1\nReduceSum(%1) axes=[1,2,3] keepdims=0 -> %2\nScale(%2) scale=2 -> y\n"},
       {"Reduction", "reduction_param { operation: 3 axis: -1 }",
        "Sqr(x) -> %1\nReduceSum(%1) axes=[3] keepdims=0 -> y\n"},
       {"Reduction", "reduction_param { operation: MEAN axis: 2 }",
        "ReduceMean(x) axes=[2,3] keepdims=0 -> y\n"},
       {"ArgMax", "argmax_param { axis: -1 top_k: 2 }",
        "TopK(x) k=2 axis=3 -> %1, %2\nCast(%2) to=1 -> %3\nAlias(%3) -> y\n"},
       {"ArgMax", "argmax_param { axis: 1 out_max_val: true }",
        "TopK(x) k=1 axis=1 -> %1, %2\nCast(%2) to=1 -> %3\nAlias(%1) -> y\n"},
       {"ArgMax", "",
        "Flatten(x) -> %1\nTopK(%1) k=1 axis=1 -> %2, %3\nCast(%3) to=1 -> %4\n"
        "ExpandDims(%4) dims=[1] -> y\n"},
       {"ArgMax", "argmax_param { out_max_val: true top_k: 3 }",
        "Flatten(x) -> %1\nTopK(%1) k=3 axis=1 -> %2, %3\nCast(%3) to=1 -> %4\n"
        "Concat(%4, %2) axis=1 add_axis=1 -> y, %5\n"},
       {"Tile", "tile_param { tiles: 3 }", "Tile(x) tiles=3 axis=1 -> y\n"},
       {"Tile", "tile_param { tiles: 3 axis: -1 }", "Tile(x) tiles=3 axis=3 -> y\n"},
       {"Embed",
        "embed_param { num_output: 2 input_dim: 5 weight_filler { value: 1 } bias_filler { value: "
        "2 } }",
        "Cast(x) to=2 -> %1\nGather(1 of [5,2], %1) -> %2\nAdd(%2, 2 of [2]) -> y\n", "3"},
       {"Embed", "embed_param { num_output: 2 input_dim: 5 bias_term: false }",
        "Cast(x) to=2 -> %1\nGather(0 of [5,2], %1) -> y\n", "3"},
       {"BatchReindex", "bottom: 'b'", "Cast(b) to=2 -> %1\nGather(x, %1) -> y\n"}});
}

TEST(CaffeLayerFormsTest, Windows) {
  const std::string plain = " pads=[0,0,0,0] legacy_pad=3 -> y\n";
  Check(
      {{"Convolution",
        "convolution_param { num_output: 2 kernel_size: 3 weight_filler { type: 'xavier' } "
        "bias_filler { value: 2 } }",
        "Conv(x, xavier of [2,4,3,3], 2 of [2]) kernels=[3,3] strides=[1,1] pads=[0,0,0,0] "
        "dilations=[1,1] "
        "group=1 -> y\n"},
       {"Convolution",
        "convolution_param { num_output: 2 kernel_h: 3 kernel_w: 1 stride_h: 2 stride_w: 3 pad_h: "
        "1 "
        "pad_w: 0 group: 2 bias_term: false dilation: 2 }",
        "Conv(x, 0 of [2,2,3,1]) kernels=[3,1] strides=[2,3] pads=[1,0,1,0] dilations=[2,2] "
        "group=2 -> y\n"},
       {"Convolution",
        "convolution_param { num_output: 2 kernel_size: [1, 3] pad: [0, 1] stride: [2, 1] "
        "bias_term: false }",
        "Conv(x, 0 of [2,4,1,3]) kernels=[1,3] strides=[2,1] pads=[0,1,0,1] dilations=[1,1] "
        "group=1 -> y\n"},
       // A number for both axes, and another for one of them.
       {"Convolution",
        "convolution_param { num_output: 2 kernel_size: 3 kernel_w: 1 bias_term: false }",
        "Conv(x, 0 of [2,4,3,1]) kernels=[3,1] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] "
        "group=1 -> y\n"},
       {"Convolution", "convolution_param { num_output: 2 kernel_size: 3 bias_term: false }",
        "Conv(x, 0 of [2,4,3]) kernels=[3] strides=[1] pads=[0,0] dilations=[1] group=1 -> y\n",
        "1, 4, 6"},
       {"Convolution",
        "bottom: 'w' top: 'z' convolution_param { num_output: 2 kernel_size: 1 bias_term: false }",
        "Conv(x, 0 of [2,4,1,1]) kernels=[1,1] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] "
        "group=1 -> y\n"
        "Conv(w, 0 of [2,4,1,1]) kernels=[1,1] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] "
        "group=1 -> z\n"},
       {"DepthwiseConvolution",
        "convolution_param { num_output: 4 kernel_size: 1 bias_term: false }",
        "Conv(x, 0 of [4,1,1,1]) kernels=[1,1] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] "
        "group=4 -> y\n"},
       {"ConvolutionDepthwise",
        "convolution_param { num_output: 4 group: 2 kernel_size: 1 bias_term: false }",
        "Conv(x, 0 of [4,2,1,1]) kernels=[1,1] strides=[1,1] pads=[0,0,0,0] dilations=[1,1] "
        "group=2 -> y\n"},
       {"Deconvolution",
        "convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 group: 2 }",
        "ConvTranspose(x, 0 of [4,1,4,4], 0 of [2]) kernels=[4,4] strides=[2,2] pads=[1,1,1,1] "
        "group=2 -> y\n"},
       {"InnerProduct", "inner_product_param { num_output: 2 weight_filler { value: 3 } }",
        "FC(x, 3 of [2,192], 0 of [2]) axis=1 -> y\n"},
       {"InnerProduct",
        "inner_product_param { num_output: 2 axis: -1 bias_term: false transpose: true }",
        "FCTransposed(x, 0 of [8,2], 0 of [2]) axis=3 -> y\n"},
       {"Pooling", "pooling_param { kernel_size: 2 }",
        "MaxPool(x) kernels=[2,2] strides=[1,1]" + plain},
       {"Pooling", "pooling_param { pool: AVE kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 3 }",
        "AveragePool(x) kernels=[2,3] strides=[2,3]" + plain},
       {"Pooling", "pooling_param { kernel_size: 2 ceil_mode: false }",
        "MaxPool(x) kernels=[2,2] strides=[1,1] pads=[0,0,0,0] -> y\n"},
       {"Pooling", "pooling_param { kernel_size: 2 round_mode: 1 pool: AVE pad: 1 }",
        "AveragePool(x) kernels=[2,2] strides=[1,1] pads=[1,1,1,1] count_include_pad=1 -> y\n"},
       {"Pooling", "pooling_param { kernel_size: 3 pad: 1 pool: AVE }",
        "AveragePool(x) kernels=[3,3] strides=[1,1] pads=[1,1,1,1] count_include_pad=1 -> y\n"},
       // 6 + 2 rows and 8 + 2 columns hold no whole windows of 3 at a distance of 2: (8 - 3) / 2.
       {"Pooling", "pooling_param { kernel_size: 3 pad: 1 stride: 2 pool: AVE }",
        "PadImage(x) pads=[1,1,1,1] -> %1\nAveragePool(%1) kernels=[3,3] strides=[2,2] "
        "pads=[0,0,0,0] "
        "legacy_pad=3 -> y\n"},
       {"Pooling", "top: 'z' pooling_param { kernel_size: 2 stride: 2 }",
        "MaxPoolWithIndex(x) kernels=[2,2] strides=[2,2] pads=[0,0,0,0] legacy_pad=3 -> y, %1\n"
        "Cast(%1) to=1 -> z\n"},
       {"Pooling", "pooling_param { global_pooling: true pool: AVE }",
        "AveragePool(x) global_pooling=1 -> y\n"},
       {"Pooling", "pooling_param { global_pooling: true }", "MaxPool(x) global_pooling=1 -> y\n"},
       // Level 1 divides 6 x 8 into 2 x 2 bins of 3 x 4.
       {"SPP", "spp_param { pyramid_height: 2 pool: AVE }",
        "AveragePool(x) kernels=[6,8] strides=[6,8] pads=[0,0,0,0] legacy_pad=3 -> %1\nFlatten(%1) "
        "-> %2\n"
        "AveragePool(x) kernels=[3,4] strides=[3,4] pads=[0,0,0,0] legacy_pad=3 -> %3\nFlatten(%3) "
        "-> %4\n"
        "Concat(%2, %4) axis=1 -> y, %5\n"},
       {"Interp", "interp_param { zoom_factor: 2 }",
        // 6 + 5 and 8 + 7 pixels, by scales a quarter of a pixel larger.
        "UpsampleBilinear(x) height_scale=1.875 width_scale=1.90625 -> y\n"},
       {"Interp", "interp_param { shrink_factor: 2 }",
        "UpsampleBilinear(x) height_scale=0.541667 width_scale=0.53125 -> y\n"},
       {"Interp", "interp_param { shrink_factor: 2 zoom_factor: 3 }",
        // (6 - 1) / 2 + 1 = 3 and 4 pixels; 3 + 2 * 2 and 4 + 3 * 2.
        "UpsampleBilinear(x) height_scale=1.20833 width_scale=1.28125 -> y\n"},
       {"Interp", "interp_param { height: 3 width: 8 pad_beg: -1 pad_end: -2 }",
        "PadImage(x) pads=[-1,-1,-2,-2] -> %1\nUpsampleBilinear(%1) height_scale=1.08333 "
        "width_scale=1.65 -> y\n"},
       {"Upsample", "", "ResizeNearest(x) height_scale=2 width_scale=2 -> y\n"},
       {"Upsample", "upsample_param { stride: 3 }",
        "ResizeNearest(x) height_scale=3 width_scale=3 -> y\n"},
       {"Upsample", "upsample_param { scale: 4 stride: 3 scale_w: 5 }",
        "ResizeNearest(x) height_scale=4 width_scale=5 -> y\n"},
       {"Upsample", "upsample_param { scale_h: 3 }",
        "ResizeNearest(x) height_scale=3 width_scale=2 -> y\n"},
       {"Upsample", "bottom: 'x' upsample_param { upsample_h: 13 upsample_w: 17 }",
        "Cast(x) to=2 -> %1\nMaxUnpoolWithIndex(x, %1) height=13 width=17 -> y\n"},
       {"Upsample", "bottom: 'x' upsample_param { upsample_h: 13 scale: 3 pad_out_h: true }",
        "Cast(x) to=2 -> %1\nMaxUnpoolWithIndex(x, %1) height=17 width=24 -> y\n"},
       {"Upsample", "bottom: 'x' upsample_param { pad_out_w: true }",
        "Cast(x) to=2 -> %1\nMaxUnpoolWithIndex(x, %1) height=12 width=15 -> y\n"}});
}

TEST(CaffeLayerFormsTest, Detectors) {
  Check({{"ROIPooling", "bottom: 'r' roi_pooling_param { pooled_h: 2 pooled_w: 3 }",
          "RoIPool(x, r) is_test=1 pooled_h=2 pooled_w=3 spatial_scale=1 -> y\n"},
         {"ROIPooling",
          "bottom: 'r' roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.0625 }",
          "RoIPool(x, r) is_test=1 pooled_h=2 pooled_w=3 spatial_scale=0.0625 -> y\n"},
         {"PSROIPooling",
          "bottom: 'r' psroi_pooling_param { group_size: 2 output_dim: 1 spatial_scale: 0.5 }",
          "PSRoIPool(x, r) spatial_scale=0.5 group_size=2 output_dim=1 -> y, %1\n"},
         {"PriorBox", "bottom: 'w' prior_box_param { min_size: 2 }",
          "PriorBox(x, w) min_size=[2] flip=1 clip=0 image_h=0 image_w=0 step_h=0 step_w=0 "
          "offset=0.5 -> y\n"},
         {"PriorBox",
          "bottom: 'w' prior_box_param { min_size: [2, 3] max_size: [4, 5] aspect_ratio: 2 "
          "variance: 0.5 "
          "flip: false clip: true img_size: 9 step: 7 offset: 0.25 }",
          "PriorBox(x, w) min_size=[2,3] max_size=[4,5] aspect_ratio=[2] variance=[0.5] flip=0 "
          "clip=1 image_h=9 "
          "image_w=9 step_h=7 step_w=7 offset=0.25 -> y\n"},
         {"PriorBox",
          "bottom: 'w' prior_box_param { min_size: 2 img_h: 3 img_w: 4 step_h: 5 step_w: 6 }",
          "PriorBox(x, w) min_size=[2] flip=1 clip=0 image_h=3 image_w=4 step_h=5 step_w=6 "
          "offset=0.5 -> y\n"}});
}

TEST(CaffeLayerFormsTest, DetectionsHaveTheDefaultsOfSsd) {
  const auto form = [](const std::string& param) {
    return NetText(ImportCaffeFromMemory(Input("l", "1, 8") + Input("c", "1, 6") +
                                             Input("p", "1, 2, 8") +
                                             "layer { name: 'y' type: 'DetectionOutput' bottom: "
                                             "'l' bottom: 'c' bottom: 'p' top: 'y' "
                                             "detection_output_param { num_classes: 3 " +
                                             param + " } }",
                                         "", {}));
  };
  const std::string head = "DetectionOutput(l, c, p) num_classes=3 ";
  EXPECT_EQ(form(""),
            head +
                "share_location=1 background_label=0 code_type=CORNER variance_encoded_in_target=0 "
                "nms_threshold=0.3 "
                "nms_eta=1 nms_top_k=-1 keep_top_k=-1 confidence_threshold=-3.40282e+38 -> y\n");
  EXPECT_EQ(
      form("share_location: true background_label_id: -1 code_type: CENTER_SIZE "
           "variance_encoded_in_target: true nms_param { nms_threshold: 0.5 top_k: 4 eta: 0.75 } "
           "keep_top_k: 6 "
           "confidence_threshold: 0.25"),
      head +
          "share_location=1 background_label=-1 code_type=CENTER_SIZE variance_encoded_in_target=1 "
          "nms_threshold=0.5 nms_eta=0.75 nms_top_k=4 keep_top_k=6 confidence_threshold=0.25 -> "
          "y\n");
  // By numbers, from 1 on.
  for (const auto& [number, name] :
       {std::pair("1", "CORNER"), {"2", "CENTER_SIZE"}, {"3", "CORNER_SIZE"}}) {
    EXPECT_NE(form(MakeString("code_type: ", number)).find(MakeString(" code_type=", name, " ")),
              std::string::npos);
  }
}

TEST(CaffeLayerFormsTest, ProposalsOfFasterRcnn) {
  const auto form = [](const std::string& layer, int anchors) {
    return NetText(ImportCaffeFromMemory(
        Input("c", MakeString("1, ", 2 * anchors, ", 2, 2")) +
            Input("d", MakeString("1, ", 4 * anchors, ", 2, 2")) + Input("i", "1, 3") +
            "layer { name: 'y' bottom: 'c' bottom: 'd' bottom: 'i' top: 'y' " + layer + " }",
        "", {}));
  };
  // Base 4, around 1.5: ratio 1 has sides of 4, ratio 4 is round(2) wide and 8 high; scale 2.
  EXPECT_EQ(form("type: 'Proposal' proposal_param { feat_stride: 8 base_size: 4 ratio: [1, 4] "
                 "scale: 2 min_size: 3 "
                 "nms_thresh: 0.5 pre_nms_topn: 20 post_nms_topn: 10 } top: 's'",
                 2),
            "Slice(c) starts=[0,2,0,0] ends=[-1,4,-1,-1] -> %1\n"
            "GenerateProposals(%1, d, i, [-2,-2,5,5,0,-6,3,9]) spatial_scale=0.125 pre_nms_topN=20 "
            "post_nms_topN=10 nms_thresh=0.5 min_size=3 legacy_plus_one=1 -> y, %2\n"
            "ExpandDims(%2) dims=[1] -> s\n");
  const std::string tail =
      " pre_nms_topN=6000 post_nms_topN=300 nms_thresh=0.7 min_size=16 legacy_plus_one=1";
  EXPECT_NE(form("type: 'Proposal'", 9).find("spatial_scale=0.0625" + tail), std::string::npos);
  // A Python layer, by the numbers of its text: YAML or a dictionary.
  const auto python = [&](const std::string& field, const std::string& text, int anchors) {
    return form(
        "type: 'Python' python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' " +
            field + ": \"" + text + "\" }",
        anchors);
  };
  for (const char* text : {"{'feat_stride': 8, 'scales': (2, 4), 'ratios': [1]}",
                           "feat_stride: 8\\nscales: [2, 4]\\nratios: [1]",
                           "'scales':[2,4.0],'ratios':(1.0),'feat_stride':8.0"}) {
    for (const char* field : {"param_str", "param_str_"}) {
      const std::string got = python(field, text, 2);
      // Of the base 16, around 7.5.
      EXPECT_NE(got.find("[-8,-8,23,23,-24,-24,39,39]) spatial_scale=0.125" + tail),
                std::string::npos)
          << got;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::layer_forms_test
