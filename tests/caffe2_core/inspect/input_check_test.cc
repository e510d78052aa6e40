#include "caffe2_core/inspect/input_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::input_check_test {
namespace {

using testing::HasSubstr;

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}
TensorShape Ints(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::INT32);
}
TensorShape Longs(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::INT64);
}

// Type and inputs of an operator; the outputs are "Y" and "Z".
OperatorDef Op(const std::string& type, size_t inputs, int outputs = 1) {
  OperatorDef op;
  op.set_type(type);
  for (size_t i = 0; i < inputs; ++i) op.add_input("X" + std::to_string(i));
  for (int i = 0; i < outputs; ++i) op.add_output(i == 0 ? "Y" : "Z");
  return op;
}

struct Case {
  const char* what;
  const char* type;
  std::vector<TensorShape> inputs;
  const char* problem;  // "" if the operator accepts the inputs
  int outputs = 1;
  bool in_place = false;
};

TEST(InputProblemTest, IsTheErrorOfTheOperator) {
  const std::vector<Case> cases = {
      {"labels with one element for each class",
       "SoftmaxWithLoss",
       {Floats({4, 10}), Ints({4, 10})},
       "want one label for each row",
       2},
      {"one label for each row", "SoftmaxWithLoss", {Floats({4, 10}), Ints({4})}, "", 2},
      {"labels that are not integers",
       "SoftmaxWithLoss",
       {Floats({4, 10}), Floats({4})},
       "holds elements of type float, want int32",
       2},
      {"rank of labels",
       "Accuracy",
       {Floats({4, 10}), Ints({4, 10})},
       "rank of input 1 (labels) of shape [4, 10]"},
      {"type of the input before another one is read",
       "Accuracy",
       {Longs({4, 10}), Ints({4})},
       "holds elements of type int64, want float"},
      {"type of a size",
       "OneHot",
       {Longs({4}), Ints({1})},
       "holds elements of type int32, want int64"},
      {"indices and a size", "OneHot", {Longs({4}), Longs({1})}, ""},
      {"number of weights of segments",
       "LengthsWeightedSumGradient",
       {Floats({6}), Floats({2, 3}), Ints({3})},
       "describes 3 segments, want 2"},
      {"lengths, whose sum is not known", "LengthsSum", {Floats({6, 2}), Ints({3})}, ""},
      {"values of numbers are not checked", "Range", {Floats({1}), Floats({1}), Floats({1})}, ""},
      {"rank of a bound, whose partner is not known",
       "Slice",
       {Floats({4, 3}), Ints({2}), Ints({2, 1})},
       "rank of input 2 (ends)"},
      {"number of bounds",
       "SliceGradient",
       {Floats({4, 3}), Ints({2}), Ints({1}), Floats({4, 3})},
       "elements of starts, want as many as of ends (got 2, want 1)"},
      {"two values for a bound",
       "UniformIntFill",
       {Longs({2}), Ints({1}), Ints({2})},
       "elements of input 2 (min or max), want one"},
      {"rank of the second number",
       "TileGradient",
       {Floats({4, 3}), Ints({1}), Ints({1, 1})},
       "input 2 (axis) has shape [1, 1], want [1]"},
      {"number of moments, next to indices that are not known",
       "SparseAdagrad",
       {Floats({4, 3}), Floats({4, 2}), Ints({2}), Floats({2, 3}), Floats({1})},
       "elements of input 1 (moment) of shape [4, 2]",
       2,
       true},
      {"type of the input after another one is read",
       "ReduceMinGradient",
       {Ints({1, 1}), Floats({4, 3}), Ints({1, 1})},
       "holds elements of type float, want int32"},
      {"number of values",
       "Range",
       {Floats({1}), Floats({2}), Floats({1})},
       "elements of input 1, want one"},
      {"a net is not tried", "If", {Floats({2})}, ""},
      {"an operator that opens files is not tried", "Load", {Floats({2})}, ""},
      {"an operator that prints is not tried", "Print", {Floats({0})}, "", 0},
      {"an operator that is not built in is not tried", "NoSuchOperator", {Floats({2})}, ""},
      {"a shape that is not known", "Accuracy", {UnknownShape(), Ints({4, 10})}, ""},
  };
  EnsureBuiltinOperators();
  for (const Case& row : cases) {
    SCOPED_TRACE(row.what);
    OperatorDef op = Op(row.type, row.inputs.size(), row.outputs);
    for (int i = 0; row.in_place && i < row.outputs; ++i) op.set_output(i, op.input(i));
    if (op.type() == "If") {
      Argument* const net = op.add_arg();
      net->set_name("then_net");
      net->mutable_n()->set_name("then");
    }
    const std::string problem = InputProblem(op, row.inputs);
    if (*row.problem == '\0') {
      EXPECT_EQ(problem, "");
    } else {
      EXPECT_THAT(problem, HasSubstr(row.problem));
    }
  }
}

Tensor IntTensor(const std::vector<int32_t>& values) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(values.size())}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<int32_t>());
  return tensor;
}

TEST(InputProblemTest, ReadsTheValuesThatAreKnown) {
  struct Row {
    const char* what;
    std::vector<int32_t> lengths;
    const char* problem;
  };
  const std::vector<Row> rows = {
      {"lengths that add up", {4, 2}, ""},
      {"an empty segment", {0, 6}, ""},
      {"lengths with another sum", {4, 1}, "sum of input 1 (LENGTHS)"},
      {"a negative length", {7, -1}, "-1"},
  };
  EnsureBuiltinOperators();
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const Tensor lengths = IntTensor(row.lengths);
    const std::vector<TensorShape> inputs = {Floats({6, 2}), Ints({2})};
    EXPECT_EQ(InputProblem(Op("LengthsSum", 2), inputs), "");
    const std::string problem = InputProblem(Op("LengthsSum", 2), inputs, {nullptr, &lengths});
    if (*row.problem == '\0') {
      EXPECT_EQ(problem, "");
    } else {
      EXPECT_THAT(problem, HasSubstr(row.problem));
    }
  }
}

TEST(InputProblemTest, DoesNotChangeTheValuesThatAreKnown) {
  EnsureBuiltinOperators();
  const Tensor numbers = IntTensor({1, 2});
  OperatorDef op = Op("Add", 2);
  op.set_output(0, "X0");
  EXPECT_EQ(InputProblem(op, {Ints({2}), Ints({2})}, {&numbers, &numbers}), "");
  EXPECT_EQ(numbers.data<int32_t>()[0], 1);
  EXPECT_EQ(numbers.data<int32_t>()[1], 2);
}

TEST(InputProblemTest, NeedsNoMemoryForTheInputs) {
  EnsureBuiltinOperators();
  const int64_t many = int64_t{1} << 40;
  EXPECT_EQ(InputProblem(Op("Relu", 1), {Floats({many})}), "");
  EXPECT_EQ(InputProblem(Op("ReduceFrontSum", 1), {Floats({many, 4})}), "");
  EXPECT_THAT(InputProblem(Op("Accuracy", 2), {Floats({many, 4}), Ints({many - 1})}),
              HasSubstr("elements of input 1 (labels)"));
}

// The device of the operator does not matter, nor what its inputs hold beside what it checks.
TEST(InputProblemTest, OperatorsOfOtherDevicesAreTriedOnTheCpu) {
  EnsureBuiltinOperators();
  OperatorDef op = Op("Accuracy", 2);
  op.mutable_device_option()->set_device_type(CUDA);
  EXPECT_THAT(InputProblem(op, {Floats({4, 10}), Ints({4, 10})}), HasSubstr("rank of input 1"));
  EXPECT_EQ(InputProblem(op, {Floats({4, 10}), Ints({4})}), "");
  EXPECT_EQ(InputProblem(Op("Accuracy", 0), {}), "");
  // Dims that are not known, or no type.
  TensorShape open = Ints({4, 10});
  open.add_unknown_dims(0);
  EXPECT_EQ(InputProblem(op, {Floats({4, 10}), open}), "");
  open = Ints({4, 10});
  open.clear_data_type();
  EXPECT_EQ(InputProblem(op, {Floats({4, 10}), open}), "");
}

// An operator that keeps the quantization of its input compares it with its own arguments.
TEST(InputProblemTest, QuantizedInputsHaveTheQuantizationOfTheOutput) {
  EnsureBuiltinOperators();
  const TensorShape bytes = CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::UINT8);
  OperatorDef op = Op("Int8Reshape", 1, 2);
  const auto add = [&](const char* name) {
    Argument* const arg = op.add_arg();
    arg->set_name(name);
    return arg;
  };
  add("shape")->add_ints(6);
  EXPECT_EQ(InputProblem(op, {bytes}), "");
  add("Y_scale")->set_f(0.5f);
  EXPECT_EQ(InputProblem(op, {bytes}), "");
  add("Y_zero_point")->set_i(7);
  EXPECT_EQ(InputProblem(op, {bytes}), "");
  op.mutable_arg(0)->set_ints(0, 5);
  EXPECT_NE(InputProblem(op, {bytes}), "");
  // Other elements, and tensors that were given, are not quantized.
  const std::string floats = InputProblem(op, {Floats({2, 3})});
  EXPECT_THAT(floats, HasSubstr("holds Tensor"));
  Tensor given(std::vector<int64_t>{2, 3}, CPU);
  std::fill_n(given.mutable_data<uint8_t>(), 6, uint8_t{1});
  EXPECT_EQ(InputProblem(op, {bytes}, {&given}), floats);
}

TEST(InputProblemTest, ChecksQuantizedInputs) {
  EnsureBuiltinOperators();
  OperatorDef op = Op("Int8Relu", 1);
  Argument* const scale = op.add_arg();
  scale->set_name("Y_scale");
  scale->set_f(0.5f);
  EXPECT_EQ(InputProblem(op, {CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::UINT8)}),
            "");
}

}  // namespace
}  // namespace caffe2rt::test::input_check_test
