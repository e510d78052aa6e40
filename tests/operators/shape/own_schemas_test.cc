// Facts of the operators that no table of the original lists: how many inputs and outputs they have, which outputs may
// or must be in place of which inputs, and their arguments with the defaults. They are those of ONNX's documents where
// ONNX has the operator. And the places of inputs and outputs on devices.
#include <gtest/gtest.h>

#include <climits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/device_inference.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"

namespace caffe2rt::test::own_schemas_test {
namespace {

using Pairs = std::set<std::pair<int, int>>;

struct OwnSchema {
  const char* type;
  std::set<int> inputs;
  int min_output, max_output;
  // An empty text is the default of a list, or of an argument that is required.
  std::map<std::string, std::string> arguments = {};
  Pairs allowed = {}, enforced = {};  // (input, output)
};

std::vector<OwnSchema> Movers() {
  return {
      {"BitCast", {1}, 1, 1, {{"to", ""}}},
      {"CenterCropPad", {1, 2}, 1, 1, {{"shape", ""}, {"axes", ""}}},
      {"CopyRowsToTensor", {3}, 1, 1, {}, {}, {{0, 0}}},
      {"CopyRowsToTensorGradient", {1}, 1, 1, {}, {{0, 0}}},
      {"DepthToSpace", {1}, 1, 1, {{"blocksize", ""}, {"mode", "DCR"}}},
      {"SpaceToDepth", {1}, 1, 1, {{"blocksize", ""}, {"mode", "DCR"}}},
      {"Expand", {2}, 1, 1},
      {"ExpandGradient", {2}, 1, 1},
      {"GatherElements", {2}, 1, 1, {{"axis", "0"}}},
      {"GatherElementsGradient", {3}, 1, 1, {{"axis", "0"}}},
      {"ScatterElements", {3}, 1, 1, {{"axis", "0"}, {"reduction", "none"}}, {{0, 0}}},
      {"GatherND", {2}, 1, 1, {{"batch_dims", "0"}}},
      {"ScatterND", {3}, 1, 1, {{"reduction", "none"}}, {{0, 0}}},
      {"TensorScatter", {2, 3}, 1, 1, {{"axis", "-2"}, {"mode", "linear"}}, {{0, 0}}},
      {"ONNXExpand", {1, 2}, 1, 1, {{"shape", ""}}},
      {"ONNXTile", {1, 2}, 1, 1, {{"repeats", ""}}},
      {"ONNXSlice",
       {1, 3, 4, 5},
       1,
       1,
       {{"starts", ""}, {"ends", ""}, {"axes", ""}, {"steps", ""}}},
      {"ONNXSliceGradient",
       {2, 4, 5, 6},
       1,
       1,
       {{"starts", ""}, {"ends", ""}, {"axes", ""}, {"steps", ""}}},
      {"Pad",
       {1, 2, 3, 4},
       1,
       1,
       {{"mode", "constant"}, {"pads", ""}, {"value", "0"}, {"axes", ""}}},
      {"ReverseSequence", {2}, 1, 1, {{"batch_axis", "1"}, {"time_axis", "0"}}},
      {"SplitByLengths",
       {2},
       1,
       INT_MAX,
       {{"axis", "1"}, {"order", "NCHW"}, {"use_scaling_lengths", "0"}}},
      {"Trilu", {1, 2}, 1, 1, {{"upper", "1"}, {"k", "0"}}, {{0, 0}}},
      {"ONNXCol2Im",
       {1, 2, 3},
       1,
       1,
       {{"image_shape", ""},
        {"block_shape", ""},
        {"dilations", ""},
        {"pads", ""},
        {"strides", ""}}},
  };
}

std::vector<OwnSchema> Choosers() {
  return {
      {"BooleanMaskGradient", {2}, 1, 1},
      {"NonZero", {1}, 1, 1},
      {"Compress", {2}, 1, 1, {{"axis", std::to_string(INT_MIN)}}},
      {"ONNXOneHot", {3}, 1, 1, {{"axis", "-1"}}},
      {"ONNXTopK", {1, 2}, 2, 2, {{"k", "-1"}, {"axis", "-1"}, {"largest", "1"}, {"sorted", "1"}}},
      {"ONNXUnique", {1}, 1, 4, {{"axis", std::to_string(INT_MIN)}, {"sorted", "1"}}},
      {"ONNXWhere", {3}, 1, 1},
      {"TfIdfVectorizer",
       {1},
       1,
       1,
       {{"min_gram_length", "1"},
        {"max_gram_length", "1"},
        {"max_skip_count", "0"},
        {"mode", "TF"},
        {"ngram_counts", ""},
        {"ngram_indexes", ""},
        {"pool_int64s", ""},
        {"weights", ""}}},
      {"EnforceFinite", {1}, 0, 0},
      {"EyeLike", {1}, 1, 1, {{"dtype", "0"}, {"k", "0"}}},
      {"ONNXRange", {3}, 1, 1},
      {"Float16UniformFill", {0}, 1, 1, {{"shape", ""}, {"min", "0"}, {"max", "1"}}},
      {"LengthsPad", {2}, 1, 1, {{"padding_value", "-1"}, {"target_length", ""}}},
      {"SparseDropoutWithReplacement", {2}, 2, 2, {{"ratio", "0"}, {"replacement_value", "0"}}},
      {"TTSparseLengthsSum",
       {5},
       4,
       4,
       {{"factor_i", ""}, {"factor_j", ""}, {"ranks", ""}, {"emb_size", ""}}},
  };
}

std::vector<OwnSchema> Updates() {
  const std::string never = std::to_string(INT64_MAX);
  const Pairs two = {{0, 0}, {1, 1}}, three = {{0, 0}, {1, 1}, {2, 2}};
  return {
      {"Adadelta", {5}, 3, 3, {{"epsilon", "1e-05"}, {"decay", "0.95"}}, three},
      {"SparseAdadelta", {6}, 3, 3, {{"epsilon", "1e-05"}, {"decay", "0.95"}}, {}, three},
      {"EnsureClipped",
       {1, 2, 3},
       1,
       1,
       {{"min", "-3.4028235e+38"}, {"max", "3.4028235e+38"}},
       {{0, 0}}},
      {"LearningRateAdaption",
       {3},
       1,
       1,
       {{"lr_alpha", "0.01"}, {"normalized_lr_adaption", "1"}},
       {{0, 0}}},
      {"RowWiseCounter", {4}, 2, 2, {{"counter_halflife", "-1"}}, {}, two},
      {"WeightScale",
       {2},
       1,
       1,
       {{"stepsize", never}, {"upper_bound_iter", never}, {"scale", "1"}},
       {{0, 0}}},
      {"GFtrl",
       {3, 4},
       2,
       2,
       {{"alpha", "0.005"}, {"beta", "1"}, {"lambda1", "0.001"}, {"lambda2", "0.001"}},
       two},
      {"Storm", {5}, 3, 3, {{"momentum", "10"}, {"beta", "0.1"}}, three},
      {"SparseStorm", {6}, 3, 3, {{"momentum", "10"}, {"beta", "0.1"}}, {}, three},
      {"Wngrad", {4}, 2, 4, {{"epsilon", "1e-05"}}, two},
      {"SparseWngrad", {5}, 2, 2, {{"epsilon", "1e-05"}}, {}, two},
  };
}

// Of numbers and reductions, as ONNX has them.
std::vector<OwnSchema> Numbers() {
  using Arguments = std::map<std::string, std::string>;
  const Arguments cum = {{"exclusive", "0"}, {"reverse", "0"}};
  const Arguments arg = {{"axis", "0"}, {"keepdims", "1"}, {"select_last_index", "0"}};
  const Arguments reduce = {{"axes", ""}, {"keepdims", "1"}, {"noop_with_empty_axes", "0"}};
  const std::set<int> several = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<OwnSchema> rows = {
      {"BitShift", {2}, 1, 1, {{"direction", ""}}},
      {"CumProd", {2}, 1, 1, cum},
      {"CumSum", {2}, 1, 1, cum},
      {"Det", {1}, 1, 1},
      {"Einsum", several, 1, 1, {{"equation", ""}}},
      {"Hardmax", {1}, 1, 1, {{"axis", "-1"}}},
      {"ONNXArgMax", {1}, 1, 1, arg},
      {"ONNXArgMin", {1}, 1, 1, arg},
      {"ONNXClip", {1, 2, 3}, 1, 1, {{"omitted_inputs", ""}}},
      {"ONNXDropout", {1, 2, 3}, 1, 2, {{"omitted_inputs", ""}, {"seed", "0"}}},
      {"ONNXMatMul", {2}, 1, 1},
      {"ONNXMax", several, 1, 1},
      {"ONNXMin", several, 1, 1},
      {"ONNXMod", {2}, 1, 1, {{"fmod", "0"}}},
      {"ONNXPow", {2}, 1, 1},
      {"ONNXSqueeze", {1, 2}, 1, 1, {{"axes", ""}}, {{0, 0}}},
      {"Unsqueeze", {1, 2}, 1, 1, {{"axes", ""}}, {{0, 0}}},
  };
  for (const char* const type : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp",
                                 "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare"}) {
    rows.push_back({type, {1, 2}, 1, 1, reduce});
    const std::string name = type;
    if (name == "ReduceMax" || name == "ReduceMin")
      rows.back().arguments["infinite_if_empty"] = "0";
  }
  for (const char* const type : {"ReduceL1Gradient", "ReduceL2Gradient", "ReduceMaxGradient",
                                 "ReduceMeanGradient", "ReduceMinGradient", "ReduceSumGradient"})
    rows.push_back({type, {3}, 1, 1, {{"axes", ""}, {"keepdims", "1"}}});
  return rows;
}

void ExpectFacts(const OwnSchema& row) {
  SCOPED_TRACE(row.type);
  EnsureBuiltinOperators();
  const OpSchema* const schema = OpSchemaRegistry::Schema(row.type);
  ASSERT_NE(schema, nullptr);
  for (int n = 0; n < 9; ++n) {
    const bool allowed =
        n >= schema->min_input() && n <= schema->max_input() && schema->num_inputs_allowed(n);
    EXPECT_EQ(allowed, row.inputs.contains(n)) << n << " inputs";
  }
  EXPECT_EQ(schema->min_output(), row.min_output);
  EXPECT_EQ(schema->max_output(), row.max_output);
  for (int in = 0; in < 6; ++in) {
    for (int out = 0; out < 4; ++out) {
      EXPECT_EQ(schema->inplace_allowed(in, out), row.allowed.contains({in, out})) << in << out;
      EXPECT_EQ(schema->inplace_enforced(in, out), row.enforced.contains({in, out})) << in << out;
    }
  }
  std::map<std::string, std::string> found;
  for (const OpSchema::Argument& argument : schema->args())
    found[argument.name] = argument.default_value;
  EXPECT_EQ(found, row.arguments);
}

TEST(OwnSchemasTest, OfOperatorsThatMoveElements) {
  for (const OwnSchema& row : Movers()) ExpectFacts(row);
}
TEST(OwnSchemasTest, OfOperatorsThatChooseAndFill) {
  for (const OwnSchema& row : Choosers()) ExpectFacts(row);
}
TEST(OwnSchemasTest, OfUpdates) {
  for (const OwnSchema& row : Updates()) ExpectFacts(row);
}

TEST(OwnSchemasTest, OfNumbersAndReductions) {
  for (const OwnSchema& row : Numbers()) ExpectFacts(row);
}

// Those that the original's operators do not have, or do not state.
TEST(OwnArgumentsTest, HaveTheirDefaults) {
  EnsureBuiltinOperators();
  const std::map<std::string, std::string> broadcast = {
      {"broadcast", "0"}, {"axis", "-1"}, {"axis_str", ""}, {"order", "NCHW"}};
  const std::map<std::string, std::string> fuses = {{"output_precision", "f32"},
                                                    {"blocked_inputs", "-1"}};
  const std::map<std::string, std::string> copies = {{"layout", ""}, {"output_precision", "f32"}};
  const std::pair<const char*, std::map<std::string, std::string>> rows[] = {
      {"AddGradient", broadcast},
      {"BitwiseXor", broadcast},
      {"DivGradient", broadcast},
      {"MulGradient", broadcast},
      {"NE", broadcast},
      {"SubGradient", broadcast},
      {"Concat", fuses},
      {"DepthConcat", fuses},
      {"Copy", copies},
      {"CopyFromCPUInput", copies},
      {"Cast", {{"from_type", "0"}}},
      {"DepthSplit", {{"uneven", "0"}}},
      {"Split", {{"uneven", "0"}}},
      {"FloatToHalf", {{"clip", "0"}}},
      {"HalfToFloat", {{"clip", "0"}}},
      {"Gather",
       {{"axis", "0"}, {"match_outer", "0"}, {"wrap_indices", "1"}, {"dense_gradient", "0"}}},
      {"BatchGather", {{"match_outer", "0"}}},
      {"BatchGatherGradient", {{"axis", "1"}, {"match_outer", "0"}, {"wrap_indices", "1"}}},
      {"Gelu", {{"fast_gelu", "0"}}},
      {"GeluGradient", {{"fast_gelu", "0"}}},
      {"GivenTensorByteStringToUInt8Fill", {{"dtype", "4"}, {"input_as_shape", "0"}}},
      {"HardSigmoid", {{"alpha", "0.2"}, {"beta", "0.5"}}},
      {"HardSigmoidGradient", {{"alpha", "0.2"}, {"beta", "0.5"}}},
      {"IsInf", {{"detect_negative", "1"}, {"detect_positive", "1"}}},
      {"ReluN", {{"n", "6"}}},
      {"ReluNGradient", {{"n", "6"}}},
      {"LengthsToOffsets", {{"include_last_offset", "0"}}},
      {"LengthsWeightedSumGradient", {{"grad_on_weights", "0"}}},
      {"PackSegments", {{"max_length", "-1"}}},
      {"UnpackSegments", {{"max_length", "-1"}}},
      {"Reshape", {{"allowzero", "0"}}},
      {"ReduceMean", {{"noop_with_empty_axes", "0"}}},
      {"ReduceSum", {{"noop_with_empty_axes", "0"}}},
      {"Shape", {{"axes", ""}, {"start", "0"}, {"end", std::to_string(INT64_MAX)}}},
      {"SigmoidCrossEntropyWithLogits", {{"log_D_trick", "0"}, {"unjoined_lr_loss", "0"}}},
      {"SoftmaxWithLoss", {{"only_loss", "0"}, {"average_by_batch_size", "0"}}},
      {"SoftmaxWithLossGradient", {{"average_by_batch_size", "0"}}},
      {"StringEquals", {{"text", ""}}},
      {"UnsortedSegmentSumGradient", {{"num_segments", "-1"}}},
      {"WeightedSum", {{"grad_on_w", "0"}}},
  };
  for (const auto& [type, arguments] : rows) {
    std::map<std::string, std::string> found;
    for (const OpSchema::Argument& argument : OpSchemaRegistry::Schema(type)->args()) {
      if (arguments.contains(argument.name)) found[argument.name] = argument.default_value;
    }
    EXPECT_EQ(found, arguments) << type;
  }
}

// The places of the inputs and outputs of an operator on CUDA: g on its device, c on the CPU.
std::string PlacesOf(const char* op, DeviceType device) {
  OperatorDef def = OperatorsOf({op, ""}).back();
  def.mutable_device_option()->set_device_type(device);
  const auto [inputs, outputs] = InferOpInputOutputDevice(def);
  std::string places;
  for (const DeviceOption& option : inputs) places += option.device_type() == CPU ? 'c' : 'g';
  places += '>';
  for (const DeviceOption& option : outputs) places += option.device_type() == CPU ? 'c' : 'g';
  return places;
}

// What the host reads or writes: sizes, iterations and counters.
TEST(DevicePlacesTest, OfSizesIterationsAndCountersAreOnTheCpu) {
  const std::pair<const char*, const char*> rows[] = {
      {"Split X -> A B", "g>gg"},
      {"Split X s -> A B", "gc>gg"},
      {"DepthSplit X s -> A", "gc>g"},
      {"Concat A B C -> Y s", "ggg>gc"},
      {"DepthConcat A -> Y s", "g>gc"},
      {"Reshape X -> Y o", "g>gc"},
      {"Reshape X s -> Y o", "gc>gc"},
      {"Iter -> n", ">c"},
      {"Iter n -> n", "c>c"},
      {"AtomicIter m n -> n", "cc>c"},
      {"Adam p m n g l t -> p m n", "gggggc>ggg"},
      {"Adam p m n g l t -> p m n s", "gggggc>gggg"},
      {"SparseAdam p m n i g l t -> p m n", "ggggggc>ggg"},
      {"RowWiseSparseAdam p m n i g l t -> p m n s", "ggggggc>gggg"},
      {"LearningRate n -> r policy=fixed base_lr=1.0", "c>g"},
      {"WeightScale w n -> v", "gc>g"},
      {"YellowFin a b c d e f g h i n -> a b c d e f g h", "gggggggggc>gggggggg"},
      {"ResetCounter c -> n", "c>c"},
      {"ResetCounter c", "c>"},
      {"CountUp c -> n", "c>c"},
      {"CountDown c -> n", "c>c"},
      {"CheckCounterDone c -> n", "c>c"},
      {"RetrieveCount c -> n", "c>c"},
      // Their neighbours are all on the device.
      {"Adagrad p m g l -> p m", "gggg>gg"},
      {"SparseAdagrad p m i g l -> p m", "ggggg>gg"},
      {"Gather X i -> Y", "gg>g"},
      {"PRelu X w -> Y", "gg>g"},
  };
  for (const auto& [op, places] : rows) EXPECT_EQ(PlacesOf(op, CUDA), places) << op;
  // On IDEEP, weights stay on the CPU.
  EXPECT_EQ(PlacesOf("PRelu X w -> Y", IDEEP), "gc>g");
  EXPECT_EQ(PlacesOf("Concat A B -> Y s", IDEEP), "gg>gc");
  EXPECT_EQ(PlacesOf("Split X s -> A B", IDEEP), "gc>gg");
}

}  // namespace
}  // namespace caffe2rt::test::own_schemas_test
