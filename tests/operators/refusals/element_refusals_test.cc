// Errors of the operators of elements and fills and of gradients, with the whole message of each.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "caffe2_core/graph/gradient.h"
#include "tests/operators/refusals/refusal.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::element_refusals_test {
namespace {

constexpr char kPow[] = "type: 'Pow' input: 'A' input: 'B' output: 'Y'";
constexpr char kWeighted[] =
    "type: 'WeightedSum' input: 'X' input: 'W' input: 'Y' input: 'V' output: 'Z'";

constexpr Refusal kElements[] = {
    {"type: 'Pow' input: 'A' output: 'Y'", "A f 2",
     "no exponent is given: set the argument exponent, or add input 1"},
    {"type: 'Pow' input: 'A' input: 'B' output: 'Y' arg { name: 'axis' i: 1 }", "A f 2; B f 2",
     "argument axis is 1 without the argument broadcast, want both"},
    {"type: 'Pow' input: 'A' input: 'B' output: 'Y' arg { name: 'axis_str' s: 'C' }",
     "A f 2,2; B f 2", "argument axis_str is set without the argument broadcast, want both"},
    {kPow, "A f 2; B f 3",
     "input 1 (B) has shape [3], want [2] as input 0 (A), or the argument broadcast"},
    {kPow, "A i 2; B f 2",
     "Unsupported type of tensor: input 0 (A) has elements of type int32, want float"},
    {kPow, "A f 2; B d 2",
     "Unsupported type of tensor: input 1 (B) has elements of type double, want float"},
    {"type: 'Pow' input: 'A' input: 'B' output: 'B' arg { name: 'broadcast' i: 1 }", "A f 2; B f 2",
     "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be overwritten "
     "in "
     "place"},
    {"type: 'Add' input: 'A' input: 'B' output: 'B' arg { name: 'broadcast' i: 1 }", "A f 2; B f 2",
     "output 0 (Y) is input 1 (B): with the argument broadcast only input 0 (A) may be overwritten "
     "in "
     "place"},
    {"type: 'Add' input: 'A' input: 'B' output: 'A'", "A f 1; B f 2",
     "output 0 (Y) is an input of shape [1], but the result has shape [2]: use another blob"},
    {"type: 'Sub' input: 'A' input: 'B' output: 'Y'", "A f 2; B i 2",
     "input 1 (B) has elements of type int32, want float as input 0 (A)"},
    {"type: 'Mul' input: 'A' input: 'B' output: 'Y'", "A f 2,3; B f 2",
     "input 1 (B) has shape [2], which does not fit input 0 (A) [2, 3]: counted from the end, "
     "dimensions must be equal or 1"},
    {"type: 'Mul' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 }",
     "A f 2; B f 2,2",
     "rank of input 0 (A) [2], want at least the rank of input 1 (B) [2, 2] when the argument "
     "broadcast is set (got 1, want at least 2)"},
    {"type: 'Mul' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 } "
     "arg { name: 'axis' i: 2 }",
     "A f 2,2; B f 2",
     "argument axis is 2, want 0 to 1: input 1 (B) [2] must lie within input 0 (A) [2, 2]"},
    {"type: 'Mul' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 } "
     "arg { name: 'axis' i: 0 }",
     "A f 2,3; B f 3",
     "input 1 (B) has shape [3], which does not fit into input 0 (A) [2, 3] at axis 0: dim 0 of A "
     "must "
     "equal dim 0 of B: got 2, want 3"},
    {"type: 'Add' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 } "
     "arg { name: 'axis' i: 0 } arg { name: 'axis_str' s: 'C' }",
     "A f 2,3; B f 3",
     "argument axis together with axis_str \"C\", want only one of them (got 0, want -1)"},
    {"type: 'Add' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 } "
     "arg { name: 'axis_str' s: 'CH' }",
     "A f 2,3; B f 3",
     "length of argument axis_str \"CH\", want one letter of argument order (got 2, want 1)"},
    {"type: 'Add' input: 'A' input: 'B' output: 'Y' arg { name: 'broadcast' i: 1 } "
     "arg { name: 'axis_str' s: 'Q' }",
     "A f 2,3; B f 3", "argument axis_str \"Q\" is not a letter of argument order \"NCHW\""},
    {"type: 'Div' input: 'A' input: 'B' output: 'Y'", "A i 3; B i 3 = 1,2,0",
     "input 1 (B) is 0 at element 2, want other numbers: integers cannot be divided by 0"},
    {"type: 'Add' input: 'A' input: 'B' output: 'Y'", "A u 1; B u 1",
     "Unsupported type of tensor: input 0 (A) has elements of type uint8, want float, double, "
     "int32, "
     "int64"},
    {"type: 'And' input: 'A' input: 'B' output: 'Y'", "A i 1; B i 1",
     "Unsupported type of tensor: input 0 (A) has elements of type int32, want bool"},
    {"type: 'MulGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'",
     "dY f 2; A i 2; B f 2", "A has elements of type int32, want float as dY"},
    {"type: 'MulGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'",
     "dY f 2; A f 2; B d 2", "B has elements of type double, want float as dY"},
    {"type: 'AddGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dB'",
     "dY f 3; A f 2; B f 2", "dY has shape [3] and Y [3], want [2]"},
    {"type: 'DivGradient' input: 'dY' input: 'A' input: 'B' input: 'Y' output: 'dA' output: 'dB'",
     "dY f 2; A f 2; B f 2; Y f 3", "dY has shape [2] and Y [3], want [2]"},
    {"type: 'AddGradient' input: 'dY' input: 'A' input: 'B' output: 'dY' output: 'dB'",
     "dY f 2,3; A f 3; B f 2,3",
     "output 0 is input 0 of shape [2, 3], but the gradient has shape [3]: use another blob"},
    {"type: 'AddGradient' input: 'dY' input: 'A' input: 'B' output: 'dA' output: 'dY'",
     "dY f 2,3; A f 2,3; B f 3",
     "output 1 is input 0 of shape [2, 3], but the gradient has shape [3]: use another blob"},
    {"type: 'Sin' input: 'X' output: 'Y'", "X i 1",
     "Unsupported type of tensor: input 0 (X) has elements of type int32, want float"},
    {"type: 'SinGradient' input: 'X' input: 'dY' output: 'dX'", "X d 1; dY f 1",
     "input 0 has elements of type double, want float as input 1 (dY)"},
    {"type: 'SinGradient' input: 'X' input: 'dY' output: 'dX'", "X f 3; dY f 2",
     "elements of input 0 of shape [3], want as many as input 1 (dY) of shape [2] (got 3, want 2)"},
    {"type: 'CubeGradient' input: 'dY' input: 'X' output: 'dX'", "X f 3; dY f 2",
     "elements of input 1 of shape [3], want as many as input 0 (dY) of shape [2] (got 3, want 2)"},
    {"type: 'Mod' input: 'X' output: 'Y' arg { name: 'divisor' i: 0 }", "X i 1",
     "argument \"divisor\" is 0, want not 0"},
    {"type: 'Cast' input: 'X' output: 'Y' arg { name: 'to' i: 12 }", "X f 1",
     "argument to is FLOAT16, but half floats cannot be cast"},
    {"type: 'Cast' input: 'X' output: 'Y' arg { name: 'to' s: 'half' }", "X f 1",
     "argument to is \"half\", want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, "
     "UINT32, "
     "UINT64, BFLOAT16, BOOL or STRING"},
    {"type: 'Cast' input: 'X' output: 'Y' arg { name: 'to' i: 3 }", "X f 1",
     "argument to is 3, want FLOAT, DOUBLE, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, "
     "UINT64, "
     "BFLOAT16, BOOL or STRING"},
    {"type: 'Cast' input: 'X' output: 'Y' arg { name: 'to' s: 'uint32' }", "X s 1 = a",
     "input 0 (X) is of type string, want numbers or bools"},
    {"type: 'Conditional' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C i 2; X f 2; Z f 2",
     "input 0 (C) has elements of type int32, want bool"},
    {"type: 'Conditional' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 2; Z i 2",
     "input 2 (Z) has elements of type int32, want float as input 1 (X)"},
    {"type: 'Conditional' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 2; Z f 2,1",
     "input 2 (Z) has shape [2, 1], want [2] as input 1 (X)"},
    {"type: 'Conditional' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 3; X f 2,3; Z f 2,3",
     "input 0 (C) has shape [3], want one element for each row of input 1 (X) of shape [2, 3]"},
    {"type: 'Conditional' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 1; X f -; Z f -",
     "input 0 (C) has shape [1], want one element for each row of input 1 (X) of shape []"},
    {"type: 'Where' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C i 2; X f 2; Z f 2",
     "input 0 (C) has elements of type int32, want bool"},
    {"type: 'Where' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 2; Z i 2",
     "input 2 (Z) has elements of type int32, want float as input 1 (X)"},
    {"type: 'Where' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 2; Z f 1",
     "input 2 (Z) has shape [1], want [2] as input 1 (X)"},
    {"type: 'Where' input: 'C' input: 'X' input: 'Z' output: 'Y'", "C b 2; X f 2,3; Z f 2,3",
     "input 0 (C) has shape [2], want [2, 3] as input 1 (X), or the argument broadcast_on_rows"},
    {"type: 'Where' input: 'C' input: 'X' input: 'Z' output: 'Y' arg { name: 'broadcast_on_rows' "
     "i: 1 }",
     "C b 2,1; X f 2,3; Z f 2,3",
     "input 0 (C) has shape [2, 1], want one element for each row of input 1 (X) of shape [2, 3]"},
    {"type: 'Dropout' input: 'X' output: 'Y' arg { name: 'is_test' i: 0 }", "X f 2",
     "outputs of Dropout in training (is_test 0), want Y and mask (got 1, want 2)"},
    {"type: 'DropoutGrad' input: 'dY' output: 'dX'", "dY f 2",
     "inputs of DropoutGrad in training (is_test 0), want dY and mask"},
    {"type: 'DropoutGrad' input: 'dY' input: 'M' output: 'dX'", "dY f 2; M b 3",
     "elements of input 1 (mask) of shape [3], want as many as input 0 (dY) of shape [2] (got 3, "
     "want "
     "2)"},
    {"type: 'ElementwiseLinear' input: 'X' input: 'w' input: 'b' output: 'Y'",
     "X f 2,3; w f 2; b f 3", "input 1 (w) has shape [2], want [3], the columns of X"},
    {"type: 'ElementwiseLinear' input: 'X' input: 'w' input: 'b' output: 'Y'",
     "X f 2,3; w f 3; b f 1,3", "input 2 (b) has shape [1, 3], want [3], the columns of X"},
    {"type: 'ElementwiseLinear' input: 'X' input: 'w' input: 'b' output: 'Y' arg { name: 'axis' i: "
     "2 }",
     "X f 2,3; w f 3; b f 3",
     "argument axis is 2, want at least -2 and below 2, the rank of input 0 (X) of shape [2, 3]"},
    {"type: 'ElementwiseLinearGradient' input: 'dY' input: 'X' input: 'w' output: 'A' output: 'B' "
     "output: 'C' arg { name: 'axis' i: -3 }",
     "dY f 2,3; X f 2,3; w f 3",
     "argument axis is -3, want at least -2 and below 2, the rank of input 1 (X) of shape [2, 3]"},
    {"type: 'ElementwiseLinearGradient' input: 'dY' input: 'X' input: 'w' output: 'A' output: 'B' "
     "output: 'C'",
     "dY f 2,2; X f 2,3; w f 3",
     "elements of input 0 (dY) of shape [2, 2], want as many as input 1 (X) of shape [2, 3] (got "
     "4, "
     "want 6)"},
    {"type: 'Sum' input: 'A' input: 'B' output: 'Y'", "A f 2; B i 2",
     "input 1 has elements of type int32, want float as input 0"},
    {"type: 'Mean' input: 'A' input: 'A' input: 'B' output: 'Y'", "A f 2; B f 1,2",
     "input 2 has shape [1, 2], want [2] as input 0"},
    {"type: 'Max' input: 'A' input: 'B' output: 'Y'", "A f 2; B f 3",
     "elements of input 1 of shape [3], want as many as input 0 of shape [2] (got 3, want 2)"},
    {"type: 'Mean' input: 'A' output: 'Y'", "A i 2",
     "Unsupported type of tensor: input 0 has elements of type int32, want float, double"},
    {"type: 'MaxGradient' input: 'Y' input: 'dY' input: 'X' output: 'dX'", "Y f 2; dY f 3; X f 2",
     "elements of input 0 (Y) of shape [2], want as many as input 1 (dY) of shape [3] (got 2, want "
     "3)"},
    {"type: 'MinGradient' input: 'Y' input: 'dY' input: 'X' output: 'dX'", "Y f 2; dY f 2; X f 3",
     "elements of input 2 of shape [3], want at most as many as input 0 (Y) of shape [2] (got 3, "
     "want "
     "at most 2)"},
    {"type: 'PRelu' input: 'X' input: 'W' output: 'Y'", "X f 2; W f 1",
     "rank of input 0 (X) of shape [2]: got 1, want at least 2"},
    {"type: 'PRelu' input: 'X' input: 'W' output: 'Y' arg { name: 'order' s: 'NHWC' }",
     "X f -; W f 1", "rank of input 0 (X) of shape []: got 0, want at least 1"},
    {"type: 'PRelu' input: 'X' input: 'W' output: 'Y'", "X f 2,3; W f 2",
     "input 1 (W) has shape [2], want 3 slopes, one for each channel of input 0 (X) of shape [2, "
     "3], "
     "or 1"},
    {"type: 'PReluGradient' input: 'Y' input: 'dY' input: 'X' input: 'W' output: 'A' output: 'B'",
     "Y f 6; dY f 5; X f 2,3; W f 1",
     "elements of input 1 (dY) of shape [5], want as many as input 2 (X) of shape [2, 3] (got 5, "
     "want "
     "6)"},
    {"type: 'PReluGradient' input: 'Y' input: 'dY' input: 'X' input: 'W' output: 'A' output: 'B'",
     "Y f 6; dY f 6; X f 2,3; W f 2",
     "input 3 (W) has shape [2], want 3 slopes, one for each channel of input 2 (X) of shape [2, "
     "3], "
     "or 1"},
    {kWeighted, "X f 2; W f 1; Y f 3; V f 1",
     "elements of input 2 of shape [3], want as many as input 0 of shape [2] (got 3, want 2)"},
    {kWeighted, "X f 2; W f 1; Y f 2; V f 2",
     "elements of input 3 (a weight) of shape [2]: got 2, want 1"},
    {"type: 'WeightedSumGradient' input: 'dY' input: 'X' input: 'W' output: 'A' output: 'B'",
     "dY f 2; X f 2; W f 1", "number of outputs for 3 inputs: got 2, want 1"},
    {"type: 'WeightedSumGradient' input: 'dY' input: 'X' input: 'W' output: 'A' "
     "arg { name: 'grad_on_w' i: 1 }",
     "dY f 2; X f 2; W f 1",
     "number of outputs for 3 inputs with argument grad_on_w: got 1, want 2"},
    {"type: 'WeightedSumGradient' input: 'dY' input: 'X' input: 'W' output: 'A' output: 'B' "
     "arg { name: 'grad_on_w' i: 1 }",
     "dY f 2; X f 3; W f 1",
     "elements of input 1 of shape [3], want as many as input 0 (dY) of shape [2] (got 3, want 2)"},
    {"type: 'NanCheck' input: 'X' output: 'Y'", "X f 2,2 = 1,2,nan,inf",
     "input 0 (X) of shape [2, 2] holds nan at element 2, want finite numbers"},
    {"type: 'EnforceFinite' input: 'X'", "X d 3 = 1,-inf,2",
     "input 0 (X) of shape [3] holds -inf at element 1, want finite numbers"},
};

constexpr Refusal kFills[] = {
    {"type: 'ConstantFill' output: 'Y' arg { name: 'value' s: 'a' }", "",
     "argument value is neither a float nor an integer: set its type with dtype"},
    {"type: 'ConstantFill' input: 'X' input: 'V' output: 'Y' arg { name: 'dtype' i: 4 }",
     "X f 1; V f 1", "input 1 cannot give the value of a string; use argument value"},
    {"type: 'ConstantFill' input: 'X' input: 'V' output: 'Y'", "X f 1; V f 2",
     "elements of input 1 (value), want one (got 2, want 1)"},
    {"type: 'ConstantFill' output: 'Y' arg { name: 'dtype' i: 12 }", "",
     "argument \"dtype\" is 12, want the number of a numeric type, BOOL or STRING"},
    {"type: 'ConstantFill' output: 'Y' arg { name: 'dtype' i: 0 }", "",
     "argument \"dtype\" is 0, want a TensorProto.DataType number"},
    {"type: 'ConstantFill' output: 'Y' arg { name: 'dtype' i: 999 }", "",
     "argument \"dtype\" is 999, want a TensorProto.DataType number"},
    {"type: 'DiagonalFill' output: 'Y' arg { name: 'dtype' i: 4 }", "",
     "argument \"dtype\" is 4, want the number of a numeric type or BOOL"},
    {"type: 'DiagonalFill' output: 'Y' arg { name: 'shape' ints: 2 }", "",
     "rank of the output, want at least 2 (got 1, want at least 2)"},
    {"type: 'DiagonalFill' output: 'Y' arg { name: 'shape' ints: 2 ints: 2 ints: 3 }", "",
     "dim 2 of the output of shape [2, 2, 3], want that of dim 0 (got 3, want 2)"},
    {"type: 'DiagonalFill' output: 'Y' arg { name: 'shape' ints: 2 ints: 3 ints: 2 }", "",
     "dim 1 of the output of shape [2, 3, 2], want that of dim 0 (got 3, want 2)"},
    {"type: 'EyeLike' input: 'X' output: 'Y'", "X f 2",
     "rank of input 0 (X), want a matrix (got 1, want 2)"},
    {"type: 'EyeLike' input: 'X' output: 'Y'", "X s 1,1 = a",
     "Unsupported type of tensor: output 0 (Y) has elements of type string, want float, double, "},
    {"type: 'ConstantFill' input: 'X' output: 'Y' arg { name: 'shape' ints: 2 ints: 3 }", "X f 1",
     "argument shape is [2, 3] and there is an input: cannot set both, remove one"},
    {"type: 'ConstantFill' output: 'Y' arg { name: 'extra_shape' ints: 2 }", "",
     "argument extra_shape is [2] but there is no input to extend"},
    {"type: 'ConstantFill' output: 'Y' arg { name: 'input_as_shape' i: 1 }", "",
     "argument input_as_shape is set but there is no input"},
    {"type: 'RangeFill' output: 'Y' arg { name: 'shape' i: 2 }", "",
     "argument shape is a scalar, want a list of integers"},
    {"type: 'RangeFill' input: 'X' output: 'Y' arg { name: 'input_as_shape' i: 1 }", "X l 1,1",
     "input 0 gives the shape: its rank, want one dimension (got 2, want 1)"},
    {"type: 'RangeFill' input: 'X' output: 'Y' arg { name: 'input_as_shape' i: 1 }", "X l 0",
     "input 0 gives the shape: its elements, want at least one (got 0, want more than 0)"},
    {"type: 'RangeFill' input: 'X' output: 'Y' arg { name: 'input_as_shape' i: 1 }", "X i 1",
     "the tensor holds elements of type int32, want int64"},
    {"type: 'GivenTensorByteStringToUInt8Fill' output: 'Y' arg { name: 'values' strings: 'ab' } "
     "arg { name: 'shape' ints: 3 }",
     "",
     "elements of the output of shape [3], want at most the bytes of the first string of argument "
     "values (got 3, want at most 2)"},
    {"type: 'GivenTensorByteStringToUInt8Fill' output: 'Y' arg { name: 'values' strings: 'ab' } "
     "arg { name: 'dtype' i: 1 }",
     "", "argument \"dtype\" is 1, want STRING (4) or none"},
    {"type: 'GivenTensorFill' output: 'Y' arg { name: 'values' floats: 1 floats: 2 } "
     "arg { name: 'shape' ints: 3 }",
     "",
     "elements of the output of shape [3], want as many as argument values has in the field of "
     "their "
     "type (got 3, want 2)"},
    {"type: 'GivenTensorInt64Fill' output: 'Y' arg { name: 'values' floats: 1 } "
     "arg { name: 'shape' ints: 1 }",
     "",
     "elements of the output of shape [1], want as many as argument values has in the field of "
     "their "
     "type (got 1, want 0)"},
    {"type: 'GivenTensorFill' output: 'Y' arg { name: 'values' floats: 1 } arg { name: 'dtype' i: "
     "3 }",
     "",
     "argument \"dtype\" is 3, want FLOAT (1), INT32 (2), STRING (4), BOOL (5), INT16 (9), INT64 "
     "(10) "
     "or DOUBLE (13)"},
    {"type: 'GivenTensorInt16Fill' output: 'Y' arg { name: 'values' ints: 32768 } "
     "arg { name: 'shape' ints: 1 }",
     "", "element of argument values is 32768, want at most 32767 and at least -32768"},
    {"type: 'GivenTensorIntFill' output: 'Y' arg { name: 'values' ints: -2147483649 } "
     "arg { name: 'shape' ints: 1 }",
     "",
     "element of argument values is -2147483649, want at most 2147483647 and at least -2147483648"},
    {"type: 'LengthsRangeFill' input: 'L' output: 'Y'", "L i 1,1",
     "rank of input 0 (lengths), want a vector (got 2, want 1)"},
    {"type: 'LengthsRangeFill' input: 'L' output: 'Y'", "L i 2 = 1,-1",
     "element 1 of input 0 (lengths), want at least 0 (got -1, want at least 0)"},
    {"type: 'MSRAFill' output: 'Y' arg { name: 'shape' ints: 2 }", "",
     "rank of the output, want at least 2: dim 1 is the number of inputs (got 1, want at least 2)"},
    {"type: 'MSRAFill' output: 'Y' arg { name: 'shape' ints: 2 ints: 0 }", "",
     "dim 1 of the output of shape [2, 0]: got 0, want more than 0"},
    {"type: 'XavierFill' output: 'Y'", "",
     "rank of the output, want at least 1: dim 0 is the number of outputs (got 0, want at least "
     "1)"},
    {"type: 'XavierFill' output: 'Y' arg { name: 'shape' ints: 2 ints: 0 }", "",
     "elements of the output of shape [2, 0]: got 0, want more than 0"},
    {"type: 'GaussianFill' output: 'Y' arg { name: 'std' f: -1 }", "",
     "argument \"std\" is -1, want at least 0"},
    {"type: 'ONNXRange' input: 'A' input: 'B' input: 'C' output: 'Y'", "A l -; B l 2; C l - = 1",
     "elements of input 1 (limit), want one (got 2, want 1)"},
    {"type: 'ONNXRange' input: 'A' input: 'B' input: 'C' output: 'Y'",
     "A l -; B l - = 2; C i - = 1",
     "input 2 (delta) has elements of type int32, want int64 as input 0 (start)"},
    {"type: 'ONNXRange' input: 'A' input: 'B' input: 'C' output: 'Y'",
     "A l -; B l - = 2; C l - = 0", "input 2 (delta) is 0"},
    {"type: 'ONNXRange' input: 'A' input: 'B' input: 'C' output: 'Y'",
     "A f -; B f - = inf; C f - = 1", "range from 0 to inf by 1 is not finite"},
    {"type: 'ONNXRange' input: 'A' input: 'B' input: 'C' output: 'Y'",
     "A l - = -9007199254740992000; B l - = 9007199254740992000; C l - = 1",
     "elements of the range from -9007199254740992000 to 9007199254740992000: got "
     "18014398509481984000, "
     "want less than 4611686018427387904"},
    {"type: 'Range' input: 'A' input: 'B' output: 'Y'", "A i 1; B i 2",
     "elements of input 1, want one (got 2, want 1)"},
    {"type: 'Range' input: 'A' input: 'B' input: 'C' output: 'Y'", "A i 1; B i 1; C i 1 = 0",
     "Step size cannot be 0: input 2 (step): got 0, want other than 0"},
    {"type: 'Range' input: 'A' input: 'B' output: 'Y'", "A i 1 = -2147483648; B i 1 = 1",
     "range from -2147483648 to 1 is too long"},
    {"type: 'Range' input: 'A' output: 'Y'", "A d 1 = 1e16",
     "elements of the range from 0 to 1e+16: got 1e+16, want less than 9e+15"},
    {"type: 'Range' input: 'A' input: 'B' output: 'Y'", "A i 1; B l 1",
     "the tensor holds elements of type int64, want int32"},
    {"type: 'UniformFill' input: 'S' input: 'A' input: 'B' output: 'Y' arg { name: 'min' f: 1 }",
     "S f 1; A f 1; B f 1", "argument min is set and input 1 gives it too: remove one"},
    {"type: 'UniformIntFill' input: 'S' input: 'A' input: 'B' output: 'Y' arg { name: 'max' i: 1 }",
     "S f 1; A i 1; B i 1", "argument max is set and input 2 gives it too: remove one"},
    {"type: 'UniformFill' output: 'Y' arg { name: 'min' f: 1 }", "",
     "argument min, want less than argument max (got 1, want less than 1)"},
    {"type: 'UniformFill' input: 'S' input: 'A' input: 'B' output: 'Y'", "S f 1; A f 1; B f 2",
     "elements of input 2 (min or max), want one (got 2, want 1)"},
    {"type: 'UniformIntFill' input: 'S' input: 'A' input: 'B' output: 'Y'",
     "S f -; A i 1 = 2; B i 1 = 1",
     "min is above max, so the output is empty: its rank: got 0, want at least 1"},
    {"type: 'Float16UniformFill' output: 'Y' arg { name: 'max' f: -1 }", "",
     "argument min, want less than argument max (got 0, want less than -1)"},
    {"type: 'UniqueUniformFill' input: 'S' input: 'A' output: 'Y' arg { name: 'min' i: 1 } "
     "arg { name: 'max' i: 9 }",
     "S f 1; A i 2 = 3,3",
     "number of different elements of input 1 (avoid), want all to differ (got 1, want 2)"},
    {"type: 'UniqueUniformFill' input: 'S' input: 'A' output: 'Y' arg { name: 'min' i: 1 } "
     "arg { name: 'max' i: 3 }",
     "S f 2; A i 2 = 3,1", "cannot draw 2 different numbers from [1, 3] without 2 of them"},
    {"type: 'UniqueUniformFill' output: 'Y' arg { name: 'min' i: 3 } arg { name: 'max' i: 3 }", "",
     "argument min, want less than argument max (got 3, want less than 3)"},
    {"type: 'UniqueUniformFill' output: 'Y' arg { name: 'dtype' i: 1 }", "",
     "argument \"dtype\" is 1, want INT32 (2) or INT64 (10)"},
};

TEST(ElementRefusalsTest, OfElements) {
  for (const Refusal& row : kElements) ExpectRefusal(row);
}

TEST(ElementRefusalsTest, OfFills) {
  for (const Refusal& row : kFills) ExpectRefusal(row);
}

TEST(ElementRefusalsTest, OfBlobsWithoutShapeOrData) {
  Workspace ws;
  ws.CreateBlob("X")->GetMutableTensor(CPU);
  ExpectThrows([&] { RunOp(&ws, "type: 'Alias' input: 'X' output: 'Y'"); },
               "input 0 (X) has neither shape nor data");
}

TEST(ElementRefusalsTest, OfGradientsOfCasts) {
  const auto gradient = [](const char* arguments) {
    return [arguments] {
      GetGradientForOp(ParseOp(std::string("type: 'Cast' input: 'X' output: 'Y' ") + arguments),
                       {{.dense_ = "g"}});
    };
  };
  ExpectThrows(gradient("arg { name: 'to' i: 1 }"),
               "argument from_type is missing: the gradient of Cast needs the type of X");
  ExpectThrows(gradient("arg { name: 'to' i: 1 } arg { name: 'from_type' s: 'real' }"),
               "argument from_type is \"real\", which is not a name of TensorProto.DataType");
  ExpectThrows(gradient("arg { name: 'to' s: 'real' } arg { name: 'from_type' i: 1 }"),
               "argument to is \"real\", which is not a name of TensorProto.DataType");
}

// Gradient operators need what their operators were not given.
TEST(ElementRefusalsTest, OfGradients) {
  const std::pair<const char*, const char*> rows[] = {
      {"type: 'Gather' input: 'X' input: 'I' output: 'Y' arg { name: 'axis' i: 1 } "
       "arg { name: 'dense_gradient' i: 0 }",
       "argument dense_gradient is 0, want 1 for an axis other than 0"},
      {"type: 'ReduceSum' input: 'X' input: 'A' output: 'Y'",
       "the gradient of ReduceSum needs the argument axes: input 1 (axes) and noop_with_empty_axes "
       "have "
       "none"},
      {"type: 'ReduceMax' input: 'X' output: 'Y' arg { name: 'noop_with_empty_axes' i: 1 }",
       "the gradient of ReduceMax needs the argument axes: input 1 (axes) and noop_with_empty_axes "
       "have "
       "none"},
      {"type: 'AddPadding' input: 'X' input: 'L' output: 'Y'",
       "outputs of AddPadding, want output 1 (lengths_out), which the gradient needs because there "
       "are "
       "lengths (got 1, want more than 1)"},
      {"type: 'SortedSegmentWeightedSum' input: 'X' input: 'W' input: 'S' output: 'Y' "
       "arg { name: 'grad_on_weights' i: 1 }",
       "argument grad_on_weights is 1, but SortedSegmentWeightedSum has no gradient with respect "
       "to "
       "SCALARS"},
  };
  for (const auto& [op, part] : rows) {
    SCOPED_TRACE(op);
    ExpectThrows([op = op] { GetGradientForOp(ParseOp(op), {{.dense_ = "g"}}); }, part);
  }
  ExpectThrows(
      [] { GetGradientForOp(ParseOp("type: 'EnsureDense' input: 'X' output: 'Y'"), {{}}); },
      "the gradient of output Y is not given");
}

}  // namespace
}  // namespace caffe2rt::test::element_refusals_test
