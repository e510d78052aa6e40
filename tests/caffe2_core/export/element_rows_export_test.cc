// The nodes of element functions, arithmetic, normalizations and products: by ONNX's definitions of
// them.
#include <gtest/gtest.h>

#include <utility>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::element_rows_export_test {
namespace {

using namespace operator_text;  // used throughout this file

const char kNhwc[] = "arg { name: 'order' s: 'NHWC' } ";

struct Row {
  ExportedNet net;
  const char* graph;
};
void ExpectGraphs(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    SCOPED_TRACE(row.net.net);
    try {
      EXPECT_EQ(GraphText(Export(row.net)), row.graph);
    } catch (const EnforceNotMet& error) {
      ADD_FAILURE() << error.message();
    }
  }
}

constexpr auto kBool = TensorProto::BOOL, kInt32 = TensorProto::INT32, kInt64 = TensorProto::INT64;
const ExportedInput kPair = {{2}}, kBools = {{2}, kBool}, kInts = {{2}, kInt32};
const ExportedInput kImage = {{1, 3, 2, 2}}, kLast = {{1, 2, 2, 3}};

TEST(ElementRowsExportTest, FunctionsOfOneNameOrAnother) {
  const std::pair<const char*, const char*> unary[] = {{"Abs", "Abs"},
                                                       {"Acos", "Acos"},
                                                       {"Asin", "Asin"},
                                                       {"Atan", "Atan"},
                                                       {"Ceil", "Ceil"},
                                                       {"Cos", "Cos"},
                                                       {"Cosh", "Cosh"},
                                                       {"Erf", "Erf"},
                                                       {"Exp", "Exp"},
                                                       {"Floor", "Floor"},
                                                       {"Log", "Log"},
                                                       {"Negative", "Neg"},
                                                       {"Reciprocal", "Reciprocal"},
                                                       {"Relu", "Relu"},
                                                       {"Sigmoid", "Sigmoid"},
                                                       {"Sign", "Sign"},
                                                       {"Sin", "Sin"},
                                                       {"Sinh", "Sinh"},
                                                       {"Softplus", "Softplus"},
                                                       {"Softsign", "Softsign"},
                                                       {"Sqrt", "Sqrt"},
                                                       {"Tan", "Tan"},
                                                       {"Tanh", "Tanh"},
                                                       {"Alias", "Identity"},
                                                       {"Copy", "Identity"},
                                                       {"EnsureCPUOutput", "Identity"},
                                                       {"CopyFromCPUInput", "Identity"},
                                                       {"StopGradient", "Identity"}};
  for (const auto& [type, node] : unary) {
    EXPECT_EQ(GraphText(Export({Op(type), {{"x", kPair}}})), MakeString("y = ", node, "(x)\n"))
        << type;
  }
  EXPECT_EQ(GraphText(Export({Op("Not"), {{"x", kBools}}})), "y = Not(x)\n");
}

TEST(ElementRowsExportTest, ArithmeticOfTwoInputs) {
  struct {
    const char *type, *node;
    ExportedInput x;
  } const rows[] = {{"Add", "Add", kPair},
                    {"Sub", "Sub", kPair},
                    {"Mul", "Mul", kPair},
                    {"Div", "Div", kPair},
                    {"Max", "Max", kPair},
                    {"Min", "Min", kPair},
                    {"Mean", "Mean", kPair},
                    {"Sum", "Sum", kPair},
                    {"EQ", "Equal", kPair},
                    {"GE", "GreaterOrEqual", kPair},
                    {"GT", "Greater", kPair},
                    {"LE", "LessOrEqual", kPair},
                    {"LT", "Less", kPair},
                    {"And", "And", kBools},
                    {"Or", "Or", kBools},
                    {"Xor", "Xor", kBools},
                    {"BitwiseAnd", "BitwiseAnd", kInts},
                    {"BitwiseOr", "BitwiseOr", kInts},
                    {"BitwiseXor", "BitwiseXor", kInts},
                    {"Pow", "Pow", kPair}};
  for (const auto& row : rows) {
    const ExportedNet net = {Op(row.type, "", "x b"), {{"x", row.x}, {"b", row.x}}, {}, {"y"}, 18};
    EXPECT_EQ(GraphText(Export(net)), MakeString("y = ", row.node, "(x, b)\n"));
  }
  for (const char* type : {"BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
    ExpectThrows(
        [&] {
          Export({Op(type, "", "x b"), {{"x", kInts}, {"b", kInts}}});
        },
        MakeString("operator ", type,
                   " needs opset 18; choose it with --opset: got 17, want at least 18"));
  }
}

TEST(ElementRowsExportTest, FunctionsWithArguments) {
  const ExportedInput half = {{2}, TensorProto::FLOAT16};
  ExpectGraphs({
      {{Op("Pow", F("exponent", 3)), {{"x", kPair}}}, "y = Pow(x, 3)\n"},
      {{Op("Scale", F("scale", 0.5f)), {{"x", kPair}}}, "y = Mul(x, 0.5)\n"},
      {{Op("Scale"), {{"x", kPair}}}, "y = Mul(x, 1)\n"},
      {{Op("Sqr"), {{"x", kPair}}}, "y = Mul(x, x)\n"},
      {{Op("Cube"), {{"x", kPair}}}, "y_Mul = Mul(x, x)\ny = Mul(y_Mul, x)\n"},
      {{Op("Rsqrt"), {{"x", kPair}}}, "y_Sqrt = Sqrt(x)\ny = Reciprocal(y_Sqrt)\n"},
      {{Op("Swish"), {{"x", kPair}}}, "y_Sigmoid = Sigmoid(x)\ny = Mul(x, y_Sigmoid)\n"},
      {{Op("Mish"), {{"x", kPair}}},
       "y_Softplus = Softplus(x)\ny_Tanh = Tanh(y_Softplus)\ny = Mul(x, y_Tanh)\n"},
      {{Op("Gelu", I("fast_gelu", 1)), {{"x", kPair}}, {}, {"y"}, 19},
       "y_Mul = Mul(x, x)\ny_Mul_1 = Mul(y_Mul, 0.044715)\ny_Add = Add(y_Mul_1, 1)\n"
       "y_Mul_2 = Mul(x, y_Add)\ny_Mul_3 = Mul(y_Mul_2, 0.797885)\ny_Tanh = Tanh(y_Mul_3)\n"
       "y_Add_1 = Add(y_Tanh, 1)\ny_Mul_4 = Mul(x, 0.5)\ny = Mul(y_Mul_4, y_Add_1)\n"},
      {{Op("Gelu"), {{"x", kPair}}, {}, {"y"}, 20}, "y = Gelu(x) approximate=none\n"},
      {{Op("Elu"), {{"x", kPair}}}, "y = Elu(x) alpha=1\n"},
      {{Op("Elu", F("alpha", 0.5f)), {{"x", kPair}}}, "y = Elu(x) alpha=0.5\n"},
      {{Op("Selu"), {{"x", kPair}}}, "y = Selu(x) alpha=1.67326 gamma=1.0507\n"},
      {{Op("Selu", F("alpha", 2) + F("scale", 3)), {{"x", kPair}}},
       "y = Selu(x) alpha=2 gamma=3\n"},
      {{Op("LeakyRelu"), {{"x", kPair}}}, "y = LeakyRelu(x) alpha=0.01\n"},
      {{Op("LeakyRelu", F("alpha", 0.5f)), {{"x", kPair}}}, "y = LeakyRelu(x) alpha=0.5\n"},
      {{Op("HardSigmoid"), {{"x", kPair}}}, "y = HardSigmoid(x) alpha=0.2 beta=0.5\n"},
      {{Op("HardSigmoid", F("alpha", 2) + F("beta", 3)), {{"x", kPair}}},
       "y = HardSigmoid(x) alpha=2 beta=3\n"},
      {{Op("ThresholdedRelu"), {{"x", kPair}}}, "y = ThresholdedRelu(x) alpha=1\n"},
      {{Op("ThresholdedRelu", F("alpha", 2)), {{"x", kPair}}}, "y = ThresholdedRelu(x) alpha=2\n"},
      {{Op("Clip", F("min", 0)), {{"x", kPair}}}, "y = Clip(x, 0, 3.40282e+38)\n"},
      {{Op("Clip", F("max", 0)), {{"x", kPair}}}, "y = Clip(x, -3.40282e+38, 0)\n"},
      {{Op("ReluN"), {{"x", kPair}}}, "y = Clip(x, 0, 6)\n"},
      {{Op("ReluN", F("n", 3)), {{"x", kPair}}}, "y = Clip(x, 0, 3)\n"},
      {{Op("Cast", I("to", TensorProto::INT32)), {{"x", kPair}}}, "y = Cast(x) to=6\n"},
      {{Op("Cast", I("to", TensorProto::INT64)), {{"x", kPair}}}, "y = Cast(x) to=7\n"},
      {{Op("Cast", I("to", TensorProto::BOOL)), {{"x", kPair}}}, "y = Cast(x) to=9\n"},
      {{Op("Cast", I("to", TensorProto::DOUBLE)), {{"x", kPair}}}, "y = Cast(x) to=11\n"},
      {{Op("Cast", I("to", TensorProto::UINT8)), {{"x", kPair}}}, "y = Cast(x) to=2\n"},
      {{Op("Cast", I("to", TensorProto::INT8)), {{"x", kPair}}}, "y = Cast(x) to=3\n"},
      {{Op("Cast", I("to", TensorProto::UINT16)), {{"x", kPair}}}, "y = Cast(x) to=4\n"},
      {{Op("Cast", I("to", TensorProto::INT16)), {{"x", kPair}}}, "y = Cast(x) to=5\n"},
      {{Op("FloatToHalf"), {{"x", kPair}}}, "y = Cast(x) to=10\n"},
      {{Op("FloatToHalf", I("clip", 1)), {{"x", kPair}}},
       "y_Clip = Clip(x, -65504, 65504)\ny = Cast(y_Clip) to=10\n"},
      {{Op("HalfToFloat"), {{"x", half}}}, "y = Cast(x) to=1\n"},
      {{Op("Where", "", "c x b"), {{"c", kBools}, {"x", kPair}, {"b", kPair}}},
       "y = Where(c, x, b)\n"},
      {{Op("Sum"), {{"x", kInts}}}, "y = Identity(x)\n"},
      {{Op("Sum", "", "x b"), {{"x", {{2}, kInt64}}, {"b", {{2}, kInt64}}}}, "y = Add(x, b)\n"},
  });
}

TEST(ElementRowsExportTest, ParametersOfChannels) {
  const std::map<std::string, ExportedInput> image = {{"x", kImage}}, last = {{"x", kLast}};
  ExpectGraphs({
      {{Op("PRelu", "", "x w"), image, {{"w", FloatWeight({1})}}}, "y = PRelu(x, w)\n"},
      {{Op("PRelu", kNhwc, "x w"), last, {{"w", FloatWeight({3})}}}, "y = PRelu(x, w)\n"},
      {{Op("PRelu", "", "x w"), {{"x", kImage}, {"w", {{3}}}}},
       "y_Reshape = Reshape(w, [3, 1, 1])\ny = PRelu(x, y_Reshape)\n"},
      {{Op("AffineChannel", "", "x s b"),
        image,
        {{"s", FloatWeight({3})}, {"b", FloatWeight({3})}}},
       "y_Reshape = Reshape(s, [3, 1, 1])\ny_Reshape_1 = Reshape(b, [3, 1, 1])\n"
       "y_Mul = Mul(x, y_Reshape)\ny = Add(y_Mul, y_Reshape_1)\n"},
      {{Op("AffineChannel", kNhwc, "x s b"),
        last,
        {{"s", FloatWeight({3})}, {"b", FloatWeight({3})}}},
       "y_Mul = Mul(x, s)\ny = Add(y_Mul, b)\n"},
      // The broadcast of Caffe2, of an axis in another order.
      {{Op("Add", std::string(kNhwc) + I("broadcast", 1) + "arg { name: 'axis_str' s: 'C' }",
           "x b"),
        {{"x", kLast}, {"b", {{3}}}}},
       "y = Add(x, b)\n"},
      {{Op("Add", I("axis", 1), "x b"), {{"x", kImage}, {"b", {{2}}}}}, "y = Add(x, b)\n"},
      {{Op("Pow", I("broadcast", 1) + I("axis", 1), "x b"), {{"x", kImage}, {"b", {{3}}}}},
       "y_Reshape = Reshape(b, [3, 1, 1])\ny = Pow(x, y_Reshape)\n"},
      {{Op("NE", I("broadcast", 1) + I("axis", 1), "x b"), {{"x", kImage}, {"b", {{3}}}}},
       "y_Reshape = Reshape(b, [3, 1, 1])\ny_Equal = Equal(x, y_Reshape)\ny = Not(y_Equal)\n"},
  });
}

TEST(ElementRowsExportTest, Normalizations) {
  const std::map<std::string, Tensor> two = {{"s", FloatWeight({3})}, {"b", FloatWeight({3})}};
  std::map<std::string, Tensor> four = two;
  four["m"] = four["v"] = FloatWeight({3});
  const std::map<std::string, Tensor> of_four = {{"s", FloatWeight({4})}, {"b", FloatWeight({4})}};
  const std::string groups =
      "y_Reshape = Reshape(x, [0, 2, -1])\n"
      "y_InstanceNormalization = InstanceNormalization(y_Reshape, [1, 1], [0, 0]) epsilon=1e-05\n"
      "y_Shape = Shape(x)\ny_Reshape_1 = Reshape(y_InstanceNormalization, y_Shape)\n"
      "y_Reshape_2 = Reshape(s, [4, 1, 1])\ny_Mul = Mul(y_Reshape_1, y_Reshape_2)\n"
      "y_Reshape_3 = Reshape(b, [4, 1, 1])\ny = Add(y_Mul, y_Reshape_3)\n";
  ExpectGraphs({
      {{Op("SpatialBN", I("is_test", 1), "x s b m v"), {{"x", kImage}}, four},
       "y = BatchNormalization(x, s, b, m, v) epsilon=1e-05\n"},
      {{Op("SpatialBN", kNhwc + I("is_test", 1), "x s b m v"), {{"x", kLast}}, four},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_BatchNormalization = BatchNormalization(y_Transpose, s, b, m, v) epsilon=1e-05\n"
       "y = Transpose(y_BatchNormalization) perm=[0,2,3,1]\n"},
      {{Op("LRN", I("size", 3) + F("alpha", 0.5f) + F("beta", 0.75f) + F("bias", 2), "x", "y s"),
        {{"x", kImage}}},
       "y = LRN(x) size=3 alpha=0.5 beta=0.75 bias=2\n"},
      {{Op("LRN", kNhwc + I("size", 3), "x", "y s"), {{"x", kLast}}},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_LRN = LRN(y_Transpose) size=3 alpha=0 beta=0 bias=1\n"
       "y = Transpose(y_LRN) perm=[0,2,3,1]\n"},
      {{Op("InstanceNorm", F("epsilon", 0.5f), "x s b"), {{"x", kImage}}, two},
       "y = InstanceNormalization(x, s, b) epsilon=0.5\n"},
      {{Op("InstanceNorm", kNhwc, "x s b"), {{"x", kLast}}, two},
       "y_Transpose = Transpose(x) perm=[0,3,1,2]\n"
       "y_InstanceNormalization = InstanceNormalization(y_Transpose, s, b) epsilon=1e-05\n"
       "y = Transpose(y_InstanceNormalization) perm=[0,2,3,1]\n"},
      {{Op("GroupNorm", I("group", 2), "x s b", "y m v"), {{"x", {{1, 4, 2, 2}}}}, of_four},
       groups.c_str()},
      {{Op("Normalize"), {{"x", kImage}}}, "y = LpNormalization(x) axis=-1 p=2\n"},
      {{Op("NormalizeL1", I("axis", 1)), {{"x", kImage}}}, "y = LpNormalization(x) axis=1 p=1\n"},
      {{Op("Softmax", I("axis", -2)), {{"x", {{2, 3, 4}}}}},
       "y_Shape = Shape(x)\ny_Flatten = Flatten(x) axis=1\n"
       "y_Softmax = Softmax(y_Flatten) axis=-1\ny = Reshape(y_Softmax, y_Shape)\n"},
      {{Op("Softmax", I("axis", -1)), {{"x", {{2, 3, 4}}}}}, "y = Softmax(x) axis=-1\n"},
      {{Op("Softmax"), {{"x", {{2, 3}}}}}, "y = Softmax(x) axis=-1\n"},
  });
}

TEST(ElementRowsExportTest, LayerNormGivesItsMomentsBack) {
  const std::map<std::string, ExportedInput> inputs = {{"x", {{2, 2, 2}}}};
  ExpectGraphs({
      // ONNX's moments have a dim of 1 for each normalized axis, Caffe2's have one for all.
      {{Op("LayerNorm", "", "x", "y m s"), inputs, {}, {"y", "m", "s"}},
       "y, m_rows, s_inverse = LayerNormalization(x, [1, 1, 1, 1]) axis=1 epsilon=1e-05\n"
       "m = Squeeze(m_rows, [2])\ny_Reciprocal = Reciprocal(s_inverse)\n"
       "s = Squeeze(y_Reciprocal, [2])\n"},
      {{Op("LayerNorm", "", "x", "y m s"), inputs, {}, {"y", "m"}},
       "y, m_rows = LayerNormalization(x, [1, 1, 1, 1]) axis=1 epsilon=1e-05\n"
       "m = Squeeze(m_rows, [2])\n"},
      {{Op("LayerNorm", I("axis", -1), "x", "y m s"), inputs, {}, {"s"}},
       "y, m_rows, s_inverse = LayerNormalization(x, [1, 1]) axis=-1 epsilon=1e-05\n"
       "y_Reciprocal = Reciprocal(s_inverse)\ns = Identity(y_Reciprocal)\n"},
      {{Op("LayerNorm", I("elementwise_affine", 1), "x g b", "y m s"),
        inputs,
        {{"g", FloatWeight({2, 2})}, {"b", FloatWeight({2, 2})}}},
       "y = LayerNormalization(x, g, b) axis=1 epsilon=1e-05\n"},
  });
}

TEST(ElementRowsExportTest, Products) {
  const std::map<std::string, Tensor> weights = {{"w", FloatWeight({5, 3})},
                                                 {"b", FloatWeight({5})}};
  ExpectGraphs({
      {{Op("FC", "", "x w b"), {{"x", {{2, 3}}}}, weights}, "y = Gemm(x, w, b) transB=1\n"},
      {{Op("FC", I("axis", -1), "x w b"), {{"x", {{2, 3}}}}, weights},
       "y = Gemm(x, w, b) transB=1\n"},
      {{Op("FCTransposed", "", "x w b"),
        {{"x", {{2, 3}}}},
        {{"w", FloatWeight({3, 5})}, {"b", FloatWeight({5})}}},
       "y = Gemm(x, w, b) transB=0\n"},
      {{Op("FC", "", "x w b"), {{"x", {{2, 3}}}, {"w", {{5, 3, 1}}}, {"b", {{5}}}}},
       "y_Reshape = Reshape(w, [5, 3])\ny = Gemm(x, y_Reshape, b) transB=1\n"},
      {{Op("FC", I("axis_w", -1), "x w b"), {{"x", {{2, 3}}}, {"w", {{5, 1, 3}}}, {"b", {{5}}}}},
       "y_Reshape = Reshape(w, [5, 3])\ny = Gemm(x, y_Reshape, b) transB=1\n"},
      {{Op("FC", I("axis", -2), "x w b"), {{"x", {{2, 1, 3}}}}, weights},
       "y_Flatten = Flatten(x) axis=1\ny = Gemm(y_Flatten, w, b) transB=1\n"},
      {{Op("MatMul", "", "x b"), {{"x", {{2, 3}}}, {"b", {{3, 4}}}}}, "y = MatMul(x, b)\n"},
      {{Op("MatMul", I("trans_a", 1), "x b"), {{"x", {{3, 2}}}, {"b", {{3, 4}}}}},
       "y_Transpose = Transpose(x) perm=[1,0]\ny = MatMul(y_Transpose, b)\n"},
      {{Op("MatMul", I("axis_a", 2) + I("axis_b", -1), "x b"),
        {{"x", {{2, 5, 3}}}, {"b", {{1, 3, 4}}}}},
       "y_Flatten = Flatten(x) axis=2\ny_Flatten_1 = Flatten(b) axis=2\n"
       "y = MatMul(y_Flatten, y_Flatten_1)\n"},
      {{Op("BatchMatMul", "", "x b"), {{"x", {{2, 3, 4}}}, {"b", {{2, 4, 5}}}}},
       "y = MatMul(x, b)\n"},
      {{Op("BatchMatMul", I("trans_a", 1) + I("trans_b", 1), "x b"),
        {{"x", {{2, 4, 3}}}, {"b", {{2, 5, 4}}}}},
       "y_Transpose = Transpose(x) perm=[0,2,1]\ny_Transpose_1 = Transpose(b) perm=[0,2,1]\n"
       "y = MatMul(y_Transpose, y_Transpose_1)\n"},
  });
}

TEST(ElementRowsExportTest, NotesAnUnknownRankOfAProduct) {
  const ExportedInput list = {{2}, kInt64};
  for (const char* const operands : {"h b", "b h", "h h"}) {
    const OnnxExport exported =
        Export({Op("Reshape", "", "x s", "h o") + Op("BatchMatMul", "", operands),
                {{"x", kPair}, {"s", list}, {"b", {{2, 2}}}},
                {},
                {}});
    ASSERT_EQ(exported.notes.size(), 1u) << operands;
    EXPECT_EQ(
        exported.notes[0],
        "operator \"y\" (BatchMatMul) has operands of unknown rank, which is taken to be 2 or "
        "more");
  }
}

}  // namespace
}  // namespace caffe2rt::test::element_rows_export_test
