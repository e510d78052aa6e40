// The gradient operators that the makers of convolutions, pools and products return, and the
// operators that have none.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/gradient_test.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::gradient_makers_test {
namespace {

struct Row {
  std::string op, gradient;
};

void ExpectGradients(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(DescribeGradient(row.op), row.gradient) << row.op;
}

TEST(GradientMakersTest, OfWindowsPassWhatTheGradientReads) {
  const std::string x = R"( input: "X" )", w = R"( input: "X" input: "W" output: "Y" )",
                    b = R"( input: "X" input: "W" input: "b" output: "Y" )";
  const std::string kernel = R"( arg { name: "kernel" i: 2 } )";
  const std::string fixed = R"( arg { name: "no_gradient_to_input" i: 1 } )";
  ExpectGradients({
      {R"(type: "Conv")" + b + kernel,
       "ConvGradient(X,W,Y_grad)->W_grad,b_grad,X_grad kernel=2 | X_grad W_grad b_grad"},
      {R"(type: "Conv")" + w + kernel,
       "ConvGradient(X,W,Y_grad)->W_grad,X_grad no_bias=1 kernel=2 | X_grad W_grad"},
      {R"(type: "Conv")" + b + kernel + fixed,
       "ConvGradient(X,W,Y_grad)->W_grad,b_grad kernel=2 no_gradient_to_input=1 | - W_grad b_grad"},
      {R"(type: "ConvTranspose")" + w + kernel + fixed,
       "ConvTransposeGradient(X,W,Y_grad)->W_grad no_bias=1 kernel=2 no_gradient_to_input=1 | - "
       "W_grad"},
      {R"(type: "ConvTranspose")" + b + kernel,
       "ConvTransposeGradient(X,W,Y_grad)->W_grad,b_grad,X_grad kernel=2 | X_grad W_grad b_grad"},
      {R"(type: "MaxPool" output: "Y")" + x + kernel,
       "MaxPoolGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad"},
      {R"(type: "AveragePool" output: "Y")" + x + kernel,
       "AveragePoolGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad"},
      {R"(type: "LpPool" output: "Y")" + x + kernel,
       "LpPoolGradient(X,Y,Y_grad)->X_grad kernel=2 | X_grad"},
      {R"(type: "MaxPoolWithIndex" output: "Y" output: "I")" + x + kernel,
       "MaxPoolWithIndexGradient(X,Y_grad,I)->X_grad kernel=2 | X_grad"},
  });
}

TEST(GradientMakersTest, OfProductsTransposeTheOtherOperand) {
  const std::string mat = R"(type: "MatMul" input: "A" input: "B" output: "Y" )";
  const std::string batch = R"(type: "Batch)" + mat.substr(7);
  const std::string a = R"(arg { name: "trans_a" i: 1 } )", b = R"(arg { name: "trans_b" i: 1 } )";
  const std::string fc = R"( input: "X" input: "W" input: "b" output: "Y" )";
  ExpectGradients({
      {mat,
       "MatMul(Y_grad,B,A)->A_grad trans_b=1 axis_b=1; MatMul(A,Y_grad,B)->B_grad trans_a=1 "
       "axis_a=1 | A_grad B_grad"},
      {mat + a,
       "MatMul(B,Y_grad,A)->A_grad trans_b=1 axis_a=1; MatMul(A,Y_grad,B)->B_grad axis_a=1 | "
       "A_grad B_grad"},
      {mat + b,
       "MatMul(Y_grad,B,A)->A_grad axis_b=1; MatMul(Y_grad,A,B)->B_grad trans_a=1 axis_b=1 | "
       "A_grad B_grad"},
      {mat + a + b,
       "MatMul(B,Y_grad,A)->A_grad trans_a=1 trans_b=1 axis_a=1; MatMul(Y_grad,A,B)->B_grad "
       "trans_a=1 trans_b=1 axis_b=1 | A_grad B_grad"},
      {mat + R"(arg { name: "axis_a" i: 2 } arg { name: "axis_b" i: 0 })",
       "MatMul(Y_grad,B,A)->A_grad trans_b=1 axis_b=0; MatMul(A,Y_grad,B)->B_grad trans_a=1 "
       "axis_a=1 | A_grad B_grad"},
      {batch,
       "BatchMatMul(Y_grad,B)->A_grad trans_b=1; BatchMatMul(A,Y_grad)->B_grad trans_a=1 | A_grad "
       "B_grad"},
      {batch + a,
       "BatchMatMul(B,Y_grad)->A_grad trans_b=1; BatchMatMul(A,Y_grad)->B_grad | A_grad B_grad"},
      {batch + b,
       "BatchMatMul(Y_grad,B)->A_grad; BatchMatMul(Y_grad,A)->B_grad trans_a=1 | A_grad B_grad"},
      {batch + a + b,
       "BatchMatMul(B,Y_grad)->A_grad trans_a=1 trans_b=1; BatchMatMul(Y_grad,A)->B_grad trans_a=1 "
       "trans_b=1 | A_grad B_grad"},
      {batch + R"(arg { name: "broadcast" i: 1 } arg { name: "broadcast_gradient" i: 1 })",
       "BatchMatMulGradient(A,B,Y_grad)->A_grad broadcast=1; BatchMatMulGradient(A,B,Y_grad)->"
       "B_grad broadcast=1 operand=1 | A_grad B_grad"},
      {batch + a + b + R"(arg { name: "broadcast" i: 1 } arg { name: "broadcast_gradient" i: 1 })",
       "BatchMatMulGradient(A,B,Y_grad)->A_grad trans_a=1 trans_b=1 broadcast=1; "
       "BatchMatMulGradient(A,B,Y_grad)->B_grad trans_a=1 trans_b=1 broadcast=1 operand=1 | A_grad "
       "B_grad"},
      {R"(type: "RowMul" input: "m" input: "w" output: "Y")",
       "RowMul(Y_grad,w)->m_grad; Mul(Y_grad,m)->w_gradbefore_aggregate; "
       "ReduceTailSum(w_gradbefore_aggregate)->w_grad | m_grad w_grad"},
      {R"(type: "FC")" + fc + R"(arg { name: "axis" i: 2 })",
       "FCGradient(X,W,Y_grad)->W_grad,b_grad,X_grad axis=2 | X_grad W_grad b_grad"},
      {R"(type: "FCTransposed")" + fc,
       "FCTransposedGradient(X,W,Y_grad)->W_grad,b_grad,X_grad | X_grad W_grad b_grad"},
  });
  ExpectRefusals({{[&] { DescribeGradient(batch + R"(arg { name: "broadcast" i: 1 })"); },
                   "the gradient of BatchMatMul with broadcast 1 is not implemented in Caffe2; "
                   "argument broadcast_gradient 1 allows that of this library"}});
}

// An operator with the fewest inputs and outputs of its schema.
std::string ShortestOf(const std::string& type) {
  EnsureBuiltinOperators();
  const OpSchema& schema = *OpSchemaRegistry::Schema(type);
  std::string text = "type: \"" + type + "\"";
  for (int i = 0; i < schema.min_input(); ++i) text += " input: \"x" + std::to_string(i) + "\"";
  for (int i = 0; i < schema.min_output(); ++i) text += " output: \"y" + std::to_string(i) + "\"";
  return text;
}

TEST(GradientMakersTest, OfOperatorsWithoutGradientNameTheOperator) {
  for (const char* type : {"MaxUnpoolWithIndex",
                           "QuantizeLinear",
                           "DequantizeLinear",
                           "DynamicQuantizeLinear",
                           "ONNXNarrow",
                           "ONNXPow",
                           "ONNXClip",
                           "Einsum",
                           "ONNXMod",
                           "Det",
                           "ONNXMatMul",
                           "Hardmax",
                           "BitShift",
                           "ONNXDropout",
                           "ONNXArgMax",
                           "ONNXArgMin",
                           "ONNXConvTranspose",
                           "MaxUnpool",
                           "ONNXMaxPool",
                           "ONNXAveragePool",
                           "ONNXLpPool",
                           "ONNXDeformConv",
                           "DFT",
                           "STFT",
                           "SparseNormalize",
                           "ChannelStats",
                           "ChannelBackpropStats",
                           "MatMulInteger",
                           "QLinearMatMul",
                           "ConvInteger",
                           "QLinearConv"}) {
    SCOPED_TRACE(type);
    const std::string text = ShortestOf(type);
    ExpectRefusals({{[&] { DescribeGradient(text); },
                     "One should not call gradient for operator " + std::string(type) + "."}});
  }
  for (const char* type : {"ConvFusion",
                           "NormalizeL1",
                           "Int8Add",
                           "Int8AddRelu",
                           "Int8Sum",
                           "Int8SumRelu",
                           "Int8AveragePool",
                           "Int8AveragePoolRelu",
                           "Int8ChannelShuffle",
                           "Int8Concat",
                           "Int8Conv",
                           "Int8ConvRelu",
                           "Int8ConvTranspose",
                           "Int8Dequantize",
                           "Int8FC",
                           "Int8Flatten",
                           "Int8LeakyRelu",
                           "Int8MaxPool",
                           "Int8Quantize",
                           "Int8Relu",
                           "Int8Reshape",
                           "Int8ResizeNearest",
                           "Int8RoIAlign",
                           "Int8Sigmoid",
                           "Int8Slice",
                           "Int8Softmax",
                           "Int8Transpose"}) {
    SCOPED_TRACE(type);
    const std::string text = ShortestOf(type);
    ExpectRefusals(
        {{[&] { DescribeGradient(text); },
          "Operator " + std::string(type) + " should have a gradient but is not implemented yet"}});
  }
}

TEST(GradientMakersTest, OfBytesAndWindowsPassNoGradient) {
  for (const char* type : {"MelWeightMatrix", "HannWindow", "HammingWindow", "BlackmanWindow",
                           "FloatToRowwiseQuantized8Bits", "Rowwise8BitQuantizedToFloat"}) {
    const std::string text = ShortestOf(type);
    const int inputs = OpSchemaRegistry::Schema(type)->min_input();
    std::string none = " |";
    for (int i = 0; i < inputs; ++i) none += " -";
    EXPECT_EQ(DescribeGradient(text), none) << type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::gradient_makers_test
