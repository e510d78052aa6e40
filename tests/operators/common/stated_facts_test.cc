// The facts and the names that the schemas of convolutions, products, norms, pools, quantized operators and attention
// state: passes, plans and reports rely on them.
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/input_types.h"
#include "caffe2_core/graph/memory_traits.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/operators/common/long_calls.h"

namespace caffe2rt::test::stated_facts_test {
namespace {

const OpSchema& StatedSchemaOf(const std::string& type) {
  EnsureBuiltinOperators();
  const OpSchema* const schema = OpSchemaRegistry::Schema(type);
  CAFFE_ENFORCE(schema != nullptr, "type ", type);
  return *schema;
}

struct StatedRow {
  std::string type;
  OperatorFamily family;
  std::string facts;        // as FactsOf writes them
  int float_inputs = 0;     // the first inputs, which must be floats
  std::string onnx = {};    // the schema that is inherited
  std::string memory = {};  // "extra", "same_blob"
};

// What is stated of the output, of products and of IDEEP.
std::string FactsOf(const OperatorTraits& traits) {
  std::vector<std::string> facts;
  if (traits.same_shape) facts.push_back("same_shape");
  if (traits.writes_float) facts.push_back("float");
  if (traits.only_changes_shape) facts.push_back("only_changes_shape");
  if (traits.sums_inputs) facts.push_back("sums_inputs");
  if (traits.passes_on != nullptr) facts.push_back("passes_on");
  if (traits.affine == AffineForm::kBatchNorm) facts.push_back("batch_norm");
  if (traits.affine == AffineForm::kScaleAndBias) facts.push_back("scale_and_bias");
  const char* const linear[] = {"", "linear_conv", "linear_conv_transpose", "linear_fc",
                                "linear_fc_transposed"};
  if (traits.linear != LinearForm::kNone)
    facts.emplace_back(linear[static_cast<size_t>(traits.linear)]);
  if (traits.fused_activation) facts.push_back("fused_activation");
  const char* const roles[] = {"", "ideep_conv", "ideep_any_layout"};
  const char* const arguments[] = {"", ":nchw", ":window", ":test", ":channel_axis"};
  if (traits.onednn.role != OnednnRole::kNone) {
    facts.push_back(absl::StrCat(roles[static_cast<size_t>(traits.onednn.role)],
                                 arguments[static_cast<size_t>(traits.onednn.arguments)]));
  }
  const char* const counts[] = {"", "adds_conv", "adds_conv_transpose", "adds_fc", "adds_matmul"};
  if (traits.multiply_adds != MultiplyAddCount::kNotCounted)
    facts.emplace_back(counts[static_cast<size_t>(traits.multiply_adds)]);
  if (traits.has_weights) facts.push_back("weights");
  if (traits.type_argument != nullptr) facts.push_back(absl::StrCat("type:", traits.type_argument));
  return absl::StrJoin(facts, " ");
}

std::vector<StatedRow> StatedRows() {
  using enum OperatorFamily;
  const std::string layers = "linear_conv ideep_conv:window adds_conv weights";
  const std::string pool = "float ideep_any_layout:window";
  std::vector<StatedRow> rows = {
      {"ConvFusion", kConv, "ideep_conv:window adds_conv weights", 0, "", "extra same_blob"},
      {"ConvTranspose", kConv, "float linear_conv_transpose adds_conv_transpose weights", 3, "",
       "extra"},
      {"ConvInteger", kConv, ""},
      {"QLinearConv", kConv, ""},
      {"FC", kMatMul, "float linear_fc adds_fc weights", 3},
      {"FCTransposed", kMatMul, "float linear_fc_transposed adds_fc weights", 3},
      {"MatMul", kMatMul, "adds_matmul", 2},
      {"BatchMatMul", kMatMul, "adds_matmul"},
      {"MatMulInteger", kMatMul, ""},
      {"QLinearMatMul", kMatMul, ""},
      {"LRN", kNorm, "same_shape float ideep_any_layout:nchw", 1, "LRN"},
      {"SpatialBN", kNorm, "same_shape float batch_norm ideep_any_layout:test", 3,
       "BatchNormalization"},
      {"SpatialBNFusion", kNorm, "same_shape float ideep_any_layout:test", 5, "", "same_blob"},
      {"Softmax", kActivation, "same_shape float", 1, "Softmax"},
      {"QuantizeLinear", kElementwise, "same_shape type:output_dtype"},
      {"DequantizeLinear", kElementwise, "same_shape float type:output_dtype"},
      {"DynamicQuantizeLinear", kElementwise, "same_shape", 1},
      {"ONNXNarrow", kElementwise, "same_shape"},
  };
  for (const char* const axes : {"", "1D", "2D", "3D"}) {
    rows.push_back({absl::StrCat("Conv", axes), kConv, "float " + layers, 3, "", "extra"});
    rows.push_back({absl::StrCat("MaxPool", axes), kPool, pool, 1, "MaxPool"});
    rows.push_back({absl::StrCat("AveragePool", axes), kPool, pool, 1, "AveragePool"});
  }
  return rows;
}

TEST(StatedFactsTest, AreThoseOfTheOperators) {
  for (const StatedRow& row : StatedRows()) {
    SCOPED_TRACE(row.type);
    const OpSchema& schema = StatedSchemaOf(row.type);
    ASSERT_TRUE(schema.traits().family.has_value());
    EXPECT_EQ(*schema.traits().family, row.family);
    EXPECT_EQ(FactsOf(schema.traits()), row.facts);
    EXPECT_EQ(schema.onnx_schema(), row.onnx);
    for (int i = 0; i < 8; ++i) {
      const InputTypes* const types = schema.types_of_input(i);
      ASSERT_EQ(types != nullptr, i < row.float_inputs) << "input " << i;
      if (types == nullptr) continue;
      EXPECT_EQ(types->accepted, std::vector<TensorProto_DataType>{TensorProto::FLOAT});
      EXPECT_FALSE(types->like_first);
    }
    const MemoryTraits& memory = schema.memory();
    EXPECT_EQ(static_cast<bool>(memory.extra), row.memory.find("extra") != std::string::npos);
    EXPECT_EQ(memory.same_blob_in_place, row.memory.find("same_blob") != std::string::npos);
    EXPECT_FALSE(memory.keeps_memory);
    EXPECT_FALSE(memory.quantized_outputs);
  }
}

// The products and the memory of fused products; a drawing places them by their names.
TEST(StatedFactsTest, OfFusedProductsAreCounts) {
  EXPECT_EQ(FactsOf(StatedSchemaOf("FCFusion").traits()), "adds_fc weights");
  EXPECT_TRUE(StatedSchemaOf("FCFusion").memory().extra);
  EXPECT_EQ(FactsOf(StatedSchemaOf("MultiHeadAttention").traits()), "");
  EXPECT_EQ(FactsOf(StatedSchemaOf("LayerNormFusion").traits()), "");
  EXPECT_EQ(FactsOf(StatedSchemaOf("MaxPoolWithIndex").traits()), "");
  for (const char* const type : {"LpPool", "InstanceNorm"}) {
    const int floats = std::string(type) == "LpPool" ? 1 : 3;
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(StatedSchemaOf(type).types_of_input(i) != nullptr, i < floats) << type << i;
  }
}

// On IDEEP, the weights are on the CPU, also those that an operator does not have.
TEST(StatedFactsTest, WeightsOfOperatorsOnIdeepAreOnTheCpu) {
  const struct {
    const char* op;
    std::string devices;  // of the inputs: I for IDEEP, C for the CPU
  } rows[] = {{"Conv X w -> Y", "IC"},
              {"Conv2D X w b -> Y", "ICC"},
              {"ConvFusion X w -> Y", "IC"},
              {"ConvFusion X w b -> Y", "ICC"},
              {"ConvFusion X w S -> Y sum=1", "ICI"},
              {"ConvFusion X w b S -> Y sum=1", "ICCI"},
              {"FC X W b -> Y", "ICC"},
              {"FCTransposed X W b -> Y", "ICC"},
              {"SpatialBN X s b m v -> Y is_test=1", "ICCCC"},
              {"SpatialBNFusion X s b m v -> Y is_test=1", "ICCCC"},
              {"MaxPool X -> Y", "I"},
              {"LRN X -> Y Z", "I"}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.op);
    OperatorDef def = OperatorsOf({row.op, ""})[0];
    def.mutable_device_option()->set_device_type(PROTO_IDEEP);
    const auto [inputs, outputs] = StatedSchemaOf(def.type()).InferDevice(def);
    std::string devices;
    for (const DeviceOption& device : inputs)
      devices += device.device_type() == PROTO_IDEEP ? "I" : "C";
    EXPECT_EQ(devices, row.devices);
    for (const DeviceOption& device : outputs) EXPECT_EQ(device.device_type(), PROTO_IDEEP);
    // On the CPU, all are there.
    def.mutable_device_option()->set_device_type(PROTO_CPU);
    for (const DeviceOption& device : StatedSchemaOf(def.type()).InferDevice(def).first)
      EXPECT_EQ(device.device_type(), PROTO_CPU);
  }
}

// The arguments that Caffe2 does not have, or that all convolutions share, with their defaults.
TEST(StatedFactsTest, ArgumentsOfFusionsAndOfIdeepHaveTheirDefaults) {
  using Defaults = std::vector<std::pair<std::string, std::string>>;
  const Defaults cudnn = {{"ws_nbytes_limit", "-1"},
                          {"exhaustive_search", "0"},
                          {"force_algo", ""},
                          {"force_algo_fwd", "-1"},
                          {"force_algo_dgrad", "-1"},
                          {"force_algo_wgrad", "-1"},
                          {"no_gradient_to_input", "0"},
                          {"cudnn_state", "0"},
                          {"enable_tensor_core", "1"},
                          {"algo", "AUTO"},
                          {"kts", "TUPLE"},
                          {"convolution_transform_strategy", "COMPUTE"}};
  const Defaults output = {{"output_precision", "f32"}, {"output_min", "0"}, {"output_max", "0"}};
  const Defaults ideep = {{"layout", ""},       {"winograd_filter_bytes", "9223372036854775807"},
                          {"precision", "f32"}, {"least_precision", ""},
                          {"input_min", "0"},   {"input_max", "0"}};
  const struct {
    std::vector<const char*> types;
    std::vector<Defaults> arguments;
  } rows[] = {
      {{"Conv", "Conv1D", "Conv2D", "Conv3D"}, {cudnn, output, ideep}},
      {{"ConvFusion"}, {cudnn, output, ideep, {{"sum", "0"}, {"activation", ""}}}},
      {{"ConvTranspose", "ConvGradient", "Conv2DGradient", "ConvTransposeGradient"}, {cudnn}},
      {{"ConvGradient", "ConvTransposeGradient", "ConvTranspose"}, {{{"no_bias", "0"}}}},
      {{"FCFusion"},
       {{{"axis", "1"},
         {"axis_w", "1"},
         {"float16_compute", "0"},
         {"transposed", "0"},
         {"precision", "f32"},
         {"least_precision", ""},
         {"activation", ""}}}},
      {{"SpatialBNFusion"},
       {output,
        {{"is_test", ""},
         {"epsilon", "1e-05"},
         {"momentum", "0.9"},
         {"num_batches", "1"},
         {"activation", ""}}}},
      {{"AveragePool", "AveragePool1D", "AveragePool3D"},
       {{{"output_precision", "f32"},
         {"pooled_min", "0"},
         {"pooled_max", "0"},
         {"count_include_pad", "0"}}}},
      {{"AveragePoolGradient"}, {{{"count_include_pad", "0"}}}},
      {{"MaxPool", "MaxPool2D"}, {{{"output_precision", "f32"}}}}};
  for (const auto& row : rows) {
    for (const char* const type : row.types) {
      for (const Defaults& defaults : row.arguments) {
        for (const auto& argument : defaults) {
          SCOPED_TRACE(absl::StrCat(type, " ", argument.first));
          const auto& args = StatedSchemaOf(type).args();
          const auto found = std::find_if(args.begin(), args.end(), [&](const auto& arg) {
            return arg.name == argument.first;
          });
          ASSERT_NE(found, args.end());
          EXPECT_EQ(found->default_value, argument.second);
          EXPECT_EQ(std::count_if(args.begin(), args.end(),
                                  [&](const auto& arg) { return arg.name == argument.first; }),
                    1);
        }
      }
    }
  }
}

struct NamedRow {
  const char *type, *inputs, *outputs;  // names, separated by spaces
};

// Messages, drawings and documents name inputs and outputs so. The names are those of Caffe2 and ONNX.
const NamedRow kNamedRows[] = {
    {"Conv", "X filter bias", "Y"},
    {"Conv3D", "X filter bias", "Y"},
    {"ConvFusion", "X filter bias S", "Y"},
    {"ConvGradient", "X filter dY", "dfilter dbias dX"},
    {"ConvTranspose", "X filter bias", "Y"},
    {"ConvTransposeGradient", "X filter dY", "dfilter dbias dX"},
    {"ConvRelu", "X filter bias", "Y"},
    {"LC", "X filter bias", "Y"},
    {"LC2DGradient", "X filter dY", "dfilter dbias dX"},
    {"InferenceLSTM", "X hidden_0 cell_0 weights", "output hidden cell"},
    {"ConvInteger", "X W x_zero_point w_zero_point", "Y"},
    {"QLinearConv", "X x_scale x_zero_point W w_scale w_zero_point y_scale y_zero_point B", "Y"},
    {"MatMulInteger", "A B a_zero_point b_zero_point", "Y"},
    {"QLinearMatMul", "A a_scale a_zero_point B b_scale b_zero_point y_scale y_zero_point", "Y"},
    {"QuantizeLinear", "X scale zero_point", "Y"},
    {"DequantizeLinear", "X scale zero_point", "Y"},
    {"DynamicQuantizeLinear", "X", "Y scale zero_point"},
    {"FloatToRowwiseQuantized8Bits", "input", "quantized_input scale_bias"},
    {"Rowwise8BitQuantizedToFloat", "quantized_input scale_bias", "output"},
    {"GatherFused8BitRowwise", "DATA INDICES", "OUTPUT"},
    {"SparseLengthsSumFused8BitRowwise", "DATA INDICES LENGTHS", "output"},
    {"SparseLengthsWeightedSumFused8BitRowwise", "DATA WEIGHTS INDICES LENGTHS", "output"},
    {"SparseLengthsMean8BitsRowwise", "DATA INDICES LENGTHS scale_bias", "output"},
    {"SparseLengthsWeightedMean8BitsRowwise", "DATA SCALARS INDICES LENGTHS scale_bias", "output"},
    {"Int8Add", "A B", "C"},
    {"Int8AveragePool", "X", "Y"},
    {"Int8Concat", "X0, X1, ...", "concat_result split_info"},
    {"Int8Conv", "X filter bias", "Y"},
    {"Int8ConvTranspose", "X filter bias", "Y"},
    {"Int8Dequantize", "qX", "Y"},
    {"Int8FC", "X W b Qparam", "Y"},
    {"Int8Flatten", "input", "output"},
    {"Int8Quantize", "X Qparam", "Y"},
    {"Int8Reshape", "data new_shape", "reshaped old_shape"},
    {"Int8RoIAlign", "X RoIs", "Y"},
    {"Int8Slice", "data starts ends", "output"},
    {"FC", "X W b", "Y"},
    {"FCTransposedGradient", "X W dY", "dW db dX"},
    {"FCFusion", "X W b", "Y"},
    {"MatMul", "A B shape", "Y"},
    {"BatchMatMul", "A B", "Y"},
    {"RowMul", "mat w", "output"},
    {"MultiHeadAttention", "Q K V mask", "Y"},
    {"BatchMoments", "X", "mu var"},
    {"BatchMomentsGradient", "dmu dvar X", "dX"},
    {"ChannelStats", "X", "sum sumsq"},
    {"ChannelBackpropStats", "X mean inv_std output_grad", "scale_grad bias_grad"},
    {"GroupNorm", "X gamma beta", "Y mean inv_std"},
    {"GroupNormGradient", "dY X gamma beta mean inv_std", "dX dgamma dbeta"},
    {"InstanceNorm", "input scale bias", "output saved_mean saved_inv_stdev"},
    {"InstanceNormGradient", "X scale bias dY saved_mean saved_inv_stdev", "dX dscale dbias"},
    {"LayerNorm", "input gamma beta", "output mean stddev"},
    {"LayerNormGradient", "dY Y mean std X gamma", "dX dgamma dbeta"},
    {"LayerNormFusion", "X gamma beta R", "Y S"},
    {"LpNorm", "X", "Z"},
    {"LpNormGradient", "X dout", "dx"},
    {"LRN", "X", "Y Y_scale"},
    {"LRNGradient", "X Y dY", "dX"},
    {"NormalizeGradient", "X dY", "dX"},
    {"SoftmaxGradient", "Y dY", "dX"},
    {"SparseNormalize", "param indices grad", "output_param"},
    {"SpatialBN", "X scale bias mean var sums sumsq", "Y mean var saved_mean saved_var"},
    {"SpatialBNGradient", "X scale dY mean inv dscale_sum dbias_sum", "dX dscale dbias"},
    {"SpatialBNFusion", "X scale bias mean var", "Y"},
    {"MaxPoolGradient", "X Y dY", "dX"},
    {"MaxPoolWithIndex", "X", "Y Index"},
    {"MaxPoolWithIndexGradient", "X dY Index", "dX"},
    {"MaxUnpoolWithIndex", "X Index", "Y"},
};

TEST(StatedFactsTest, InputsAndOutputsHaveTheirNamesInOrder) {
  const auto names = [](const std::vector<OpSchema::NamedDoc>& docs) {
    return absl::StrJoin(docs, " ", [](std::string* text, const OpSchema::NamedDoc& doc) {
      text->append(doc.name);
    });
  };
  for (const NamedRow& row : kNamedRows) {
    const OpSchema& schema = StatedSchemaOf(row.type);
    EXPECT_EQ(names(schema.input_docs()), row.inputs) << row.type;
    EXPECT_EQ(names(schema.output_docs()), row.outputs) << row.type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::stated_facts_test
