// Where a shape depends on values, the schema still infers the element type; without a type it infers nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::inferred_types_test {
namespace {

TensorShape Unknown(TensorProto_DataType type) {
  TensorShape shape;
  shape.set_unknown_shape(true);
  if (type != TensorProto::UNDEFINED) shape.set_data_type(type);
  return shape;
}

std::vector<TensorShape> Infer(const std::string& text, const std::vector<TensorShape>& inputs) {
  EnsureBuiltinOperators();
  const OperatorDef def = ParseOp(text);
  return OpSchemaRegistry::Schema(def.type())->InferTensor(def, inputs);
}

struct TypeRow {
  const char* op;
  size_t typed;  // the input of type double; the shapes of all inputs are unknown
  std::vector<TensorProto_DataType> outputs;
};

const TypeRow kTypeRows[] = {
    {R"(type: "ONNXSlice" input: "X" input: "b" input: "e" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "GatherND" input: "X" input: "I" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "CenterCropPad" input: "X" input: "s" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "ONNXExpand" input: "X" input: "s" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "Pad" input: "X" input: "p" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "ONNXCol2Im" input: "X" input: "s" input: "b" output: "Y")",
     0,
     {TensorProto::DOUBLE}},
    {R"(type: "Compress" input: "X" input: "c" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "ONNXUnique" input: "X" output: "Y" output: "I")",
     0,
     {TensorProto::DOUBLE, TensorProto::INT64}},
    {R"(type: "ONNXOneHot" input: "I" input: "d" input: "v" output: "Y")",
     2,
     {TensorProto::DOUBLE}},
    {R"(type: "ONNXTopK" input: "X" input: "k" output: "Y" output: "I")",
     0,
     {TensorProto::DOUBLE, TensorProto::INT64}},
    {R"(type: "Resize" input: "X" input: "r" input: "s" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "ONNXRange" input: "a" input: "b" input: "d" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "ReduceSum" input: "X" input: "a" output: "Y")", 0, {TensorProto::DOUBLE}},
    {R"(type: "NonZero" input: "X" output: "Y")", 0, {TensorProto::INT64}},
    {R"(type: "NonMaxSuppression" input: "B" input: "S" output: "Y")", 0, {TensorProto::INT64}},
};

TEST(InferredTypesTest, AreKnownWithoutTheShape) {
  for (const TypeRow& row : kTypeRows) {
    SCOPED_TRACE(row.op);
    std::vector<TensorShape> inputs(static_cast<size_t>(ParseOp(row.op).input_size()),
                                    Unknown(TensorProto::INT32));
    inputs[row.typed] = Unknown(TensorProto::DOUBLE);
    const std::vector<TensorShape> shapes = Infer(row.op, inputs);
    ASSERT_EQ(shapes.size(), row.outputs.size());
    for (size_t i = 0; i < shapes.size(); ++i) {
      EXPECT_TRUE(shapes[i].unknown_shape());
      EXPECT_EQ(shapes[i].data_type(), row.outputs[i]) << "output " << i;
    }
  }
}

// The type of the output is that of the zero point.
TEST(InferredTypesTest, AreNotInventedForQuantizedNumbers) {
  const auto known = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::INT8);
  };
  const TensorShape one = known({});
  struct Row {
    const char* op;
    std::vector<TensorShape> inputs;
    std::vector<int64_t> dims;
  };
  const Row rows[] = {
      {R"(type: "QLinearConv" input: "X" input: "xs" input: "xz" input: "W" input: "ws" input: "wz"
          input: "ys" input: "yz" output: "Y")",
       {known({1, 2, 5, 5}), one, one, known({3, 2, 2, 2}), one, one, one, one},
       {1, 3, 4, 4}},
      {R"(type: "QLinearMatMul" input: "A" input: "as" input: "az" input: "B" input: "bs" input: "bz"
          input: "ys" input: "yz" output: "Y")",
       {known({2, 3}), one, one, known({3, 4}), one, one, one, one},
       {2, 4}},
      {R"(type: "QuantizeLinear" input: "X" input: "s" input: "z" output: "Y")",
       {known({2, 3}), one, one},
       {2, 3}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    std::vector<TensorShape> inputs = row.inputs;
    const TensorShape shape = Infer(row.op, inputs)[0];
    EXPECT_EQ(GetDimsVector(shape), row.dims);
    EXPECT_EQ(shape.data_type(), TensorProto::INT8);
    inputs.back() = Unknown(TensorProto::UNDEFINED);
    EXPECT_TRUE(Infer(row.op, inputs)[0].unknown_shape());
    inputs.back().set_data_type(TensorProto::UNDEFINED);
    EXPECT_TRUE(Infer(row.op, inputs)[0].unknown_shape());
  }
}

TEST(InferredTypesTest, AreUnknownForScalarsOfInt8FC) {
  const char* const op = R"(type: "Int8FC" input: "X" input: "W" input: "b" output: "Y")";
  const TensorShape matrix = CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::UINT8);
  const TensorShape scalar = CreateTensorShape(std::vector<int64_t>{}, TensorProto::UINT8);
  EXPECT_EQ(GetDimsVector(Infer(op, {matrix, matrix, scalar})[0]), std::vector<int64_t>({2, 2}));
  EXPECT_TRUE(Infer(op, {scalar, matrix, scalar})[0].unknown_shape());
  EXPECT_TRUE(Infer(op, {matrix, scalar, scalar})[0].unknown_shape());
}

TEST(InferredTypesTest, OfACollectorAreThoseOfItsState) {
  const auto shape = [](const std::vector<int64_t>& dims, TensorProto_DataType type) {
    return CreateTensorShape(dims, type);
  };
  const std::vector<TensorShape> shapes = Infer(
      R"(type: "LastNWindowCollector" input: "B" input: "N" input: "X" input: "M" input: "V" output: "B" output: "N"
         output: "V" arg { name: "num_to_collect" i: 4 })",
      {shape({3, 2}, TensorProto::FLOAT), shape({}, TensorProto::INT32),
       shape({2, 2}, TensorProto::FLOAT), Unknown(TensorProto::UNDEFINED),
       shape({1}, TensorProto::INT64)});
  ASSERT_EQ(shapes.size(), 3u);
  EXPECT_EQ(GetDimsVector(shapes[0]), std::vector<int64_t>({4, 2}));
  EXPECT_EQ(shapes[1].data_type(), TensorProto::INT32);
  EXPECT_EQ(GetDimsVector(shapes[2]), std::vector<int64_t>({1}));
  EXPECT_EQ(shapes[2].data_type(), TensorProto::INT64);
}

}  // namespace
}  // namespace caffe2rt::test::inferred_types_test
