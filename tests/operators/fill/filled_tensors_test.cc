// Fills with arguments, types and shapes that other tests leave out. Expected values are by hand.

#include <algorithm>
#include <set>

#include "tests/support/operator_case.h"

namespace caffe2rt::filled_tensors_test {
namespace {

using test::Fetch;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

class FilledTensorsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(FilledTensorsTest, HaveTheShapeAndValuesOfTheArguments) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Constants, FilledTensorsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"ShapeOfTheInputExtended",
         "type: 'ConstantFill' input: 'a' output: 'x' arg { name: 'extra_shape' ints: 2 ints: 1 } "
         "arg { name: 'value' f: 1.5 }",
         {{"text", {2}, {7, 8}}},
         {{"float", {2, 2, 1}, {1.5, 1.5, 1.5, 1.5}}}},
        {"ShapeInTheInputExtended",
         "type: 'ConstantFill' input: 'a' output: 'x' arg { name: 'input_as_shape' i: 1 } "
         "arg { name: 'extra_shape' ints: 2 } arg { name: 'value' i: 3 }",
         {{"int64", {2}, {1, 2}}},
         {{"int64", {1, 2, 2}, {3, 3, 3, 3}}}},
        {"TypeOfTheArgument",
         "type: 'ConstantFill' output: 'x' arg { name: 'shape' ints: 3 } "
         "arg { name: 'dtype' i: 7 } arg { name: 'value' i: -128 }",
         {},
         {{"int8", {3}, {-128, -128, -128}}}},
        {"ValueOfAnInput",
         "type: 'ConstantFill' input: 'a' input: 'b' output: 'x' arg { name: 'dtype' i: 13 }",
         {{"float", {1, 2}, {0, 0}}, {"double", {}, {2.5}}},
         {{"double", {1, 2}, {2.5, 2.5}}}},
        {"ScalarOfNoDims",
         "type: 'ConstantFill' output: 'x' arg { name: 'dtype' i: 5 } arg { name: 'value' i: 1 }",
         {},
         {{"bool", {}, {1}}}},
        {"DiagonalOfAWideMatrix",
         "type: 'DiagonalFill' output: 'x' arg { name: 'shape' ints: 2 ints: 3 } "
         "arg { name: 'value' f: 2 }",
         {},
         {{"float", {2, 3}, {2, 0, 0, 0, 2, 0}}}},
        {"DiagonalThatStartsAgain",
         "type: 'DiagonalFill' input: 'a' output: 'x' arg { name: 'dtype' i: 6 } "
         "arg { name: 'value' i: 4 }",
         {{"float", {4, 1}, {0, 0, 0, 0}}},
         {{"uint8", {4, 1}, {4, 0, 4, 0}}}},
        {"DiagonalOfFourDimensions",
         "type: 'DiagonalFill' output: 'x' arg { name: 'shape' ints: 2 ints: 2 ints: 2 ints: 2 } "
         "arg { name: 'value' i: 5 }",
         {},
         {{"int64", {2, 2, 2, 2}, {5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}}}},
        {"EyeOfTheTypeOfTheInput",
         "type: 'EyeLike' input: 'a' output: 'x'",
         {{"float16", {2, 3}, {7, 7, 7, 7, 7, 7}}},
         {{"float16", {2, 3}, {1, 0, 0, 0, 1, 0}}}},
        {"EyeAboveTheDiagonal",
         "type: 'EyeLike' input: 'a' output: 'x' arg { name: 'k' i: 1 } arg { name: 'dtype' i: 10 "
         "}",
         {{"float", {3, 3}, {0, 0, 0, 0, 0, 0, 0, 0, 0}}},
         {{"int64", {3, 3}, {0, 1, 0, 0, 0, 1, 0, 0, 0}}}},
        {"EyeBelowTheDiagonal",
         "type: 'EyeLike' input: 'a' output: 'x' arg { name: 'k' i: -1 }",
         {{"bool", {3, 2}, {0, 0, 0, 0, 0, 0}}},
         {{"bool", {3, 2}, {0, 0, 1, 0, 0, 1}}}},
        {"EyeInTheLastColumn",
         "type: 'EyeLike' input: 'a' output: 'x' arg { name: 'k' i: 2 }",
         {{"int8", {2, 3}, {1, 1, 1, 1, 1, 1}}},
         {{"int8", {2, 3}, {0, 0, 1, 0, 0, 0}}}},
        {"EyeBesideTheMatrix",
         "type: 'EyeLike' input: 'a' output: 'x' arg { name: 'k' i: 3 }",
         {{"double", {2, 3}, {1, 1, 1, 1, 1, 1}}},
         {{"double", {2, 3}, {0, 0, 0, 0, 0, 0}}}},
        {"EyeBelowTheMatrix",
         "type: 'EyeLike' input: 'a' output: 'x' arg { name: 'k' i: -9223372036854775808 }",
         {{"double", {2, 1}, {1, 1}}},
         {{"double", {2, 1}, {0, 0}}}},
        {"GivenValuesOfTheShapeOfAnInput",
         "type: 'GivenTensorFill' input: 'a' output: 'x' arg { name: 'extra_shape' ints: 2 } "
         "arg { name: 'values' floats: 1 floats: 2 floats: 3 floats: 4 }",
         {{"bool", {2}, {0, 0}}},
         {{"float", {2, 2}, {1, 2, 3, 4}}}},
        {"GivenShorts",
         "type: 'GivenTensorInt16Fill' output: 'x' arg { name: 'shape' ints: 2 } "
         "arg { name: 'values' ints: -32768 ints: 32767 }",
         {},
         {{"int16", {2}, {-32768, 32767}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Ranges, FilledTensorsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"ToAnEnd",
         "type: 'Range' input: 'a' output: 'x'",
         {{"double", {1}, {2.5}}},
         {{"double", {3}, {0, 1, 2}}}},
        {"FromAStart",
         "type: 'Range' input: 'a' input: 'b' output: 'x'",
         {{"int32", {}, {-2}}, {"int32", {1}, {1}}},
         {{"int32", {3}, {-2, -1, 0}}}},
        {"DownToBeforeTheStop",
         "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int64", {}, {5}}, {"int64", {}, {-1}}, {"int64", {}, {-3}}},
         {{"int64", {2}, {5, 2}}}},
        {"DownNotUp",
         "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int64", {}, {-1}}, {"int64", {}, {5}}, {"int64", {}, {-3}}},
         {{"int64", {0}, {}}}},
        {"OneElementOfALargeStep",
         "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int32", {}, {3}}, {"int32", {}, {5}}, {"int32", {}, {100}}},
         {{"int32", {1}, {3}}}},
        {"TheStopItself",
         "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {}, {5}}, {"float", {}, {5}}, {"float", {}, {0.5}}},
         {{"float", {0}, {}}}},
        {"FractionsOfFloats",
         "type: 'Range' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {}, {1}}, {"float", {}, {2.1}}, {"float", {}, {0.5}}},
         {{"float", {3}, {1, 1.5, 2}}}},
        {"OnnxBytes",
         "type: 'ONNXRange' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"uint8", {}, {250}}, {"uint8", {}, {255}}, {"uint8", {}, {2}}},
         {{"uint8", {3}, {250, 252, 254}}}},
        {"OnnxDown",
         "type: 'ONNXRange' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int16", {}, {5}}, {"int16", {}, {-5}}, {"int16", {1}, {-5}}},
         {{"int16", {2}, {5, 0}}}},
        {"OnnxLeastToGreatest",
         "type: 'ONNXRange' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int64", {}, {-9223372036854775808.0}},
          {"int64", {}, {4611686018427387904.0}},
          {"int64", {}, {4611686018427387904.0}}},
         {{"int64", {3}, {-9223372036854775808.0, -4611686018427387904.0, 0}}}},
        {"OnnxHalves",
         "type: 'ONNXRange' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float16", {}, {0}}, {"float16", {}, {1}}, {"float16", {}, {0.375}}},
         {{"float16", {3}, {0, 0.375, 0.75}}}},
        {"OnnxNothing",
         "type: 'ONNXRange' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"double", {}, {1}}, {"double", {}, {0}}, {"double", {}, {1}}},
         {{"double", {0}, {}}}},
        {"CountsOfTheExtendedShape",
         "type: 'RangeFill' input: 'a' output: 'x' arg { name: 'extra_shape' ints: 3 }",
         {{"int64", {2}, {9, 9}}},
         {{"float", {2, 3}, {0, 1, 2, 3, 4, 5}}}},
        {"CountsOfLengthsOfZero",
         "type: 'LengthsRangeFill' input: 'a' output: 'x'",
         {{"int32", {4}, {2, 0, 3, 0}}},
         {{"int32", {5}, {0, 1, 0, 1, 2}}}},
    }),
    NameOfCase);

struct RandomRow {
  const char* op;
  double low, high;
};

template <class T>
void ExpectWithin(const Workspace& ws, const RandomRow& row) {
  const std::vector<T> got = Fetch<T>(ws, "x");
  std::set<double> different;
  for (const T number : got) different.insert(static_cast<double>(static_cast<float>(number)));
  EXPECT_GE(*different.begin(), row.low);
  EXPECT_LE(*different.rbegin(), row.high);
  EXPECT_LT(*different.begin(), row.low + 0.2 * (row.high - row.low));
  EXPECT_GT(*different.rbegin(), row.high - 0.2 * (row.high - row.low));
}

// Among 200 numbers there are some in the first and in the last fifth of the range.
TEST(RandomFillsTest, CoverTheirRangeByDefaultAndByArguments) {
  const RandomRow rows[] = {
      {"type: 'UniformFill'", 0, 1},
      {"type: 'UniformFill' arg { name: 'min' f: -4 } arg { name: 'max' f: -2 }", -4, -2},
      {"type: 'UniformIntFill'", 0, 1},
      {"type: 'UniformIntFill' arg { name: 'min' i: -3 } arg { name: 'max' i: 7 }", -3, 7},
      {"type: 'Float16UniformFill'", 0, 1},
      {"type: 'Float16UniformFill' arg { name: 'min' f: 3 } arg { name: 'max' f: 5 }", 3, 5},
      {"type: 'UniqueUniformFill' arg { name: 'min' i: -100 } arg { name: 'max' i: 99 }", -100, 99},
      {"type: 'XavierFill'", -0.86602540, 0.86602540},
  };
  for (const RandomRow& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    RunOp(&ws, std::string(row.op) +
                   " output: 'x' arg { name: 'shape' ints: 50 ints: 4 } "
                   "device_option { random_seed: 7 }");
    const Tensor& x = ws.GetBlob("x")->Get<Tensor>();
    EXPECT_EQ(x.dims(), (std::vector<int64_t>{50, 4}));
    if (x.IsType<int32_t>()) {
      ExpectWithin<int32_t>(ws, row);
    } else if (x.IsType<float16>()) {
      ExpectWithin<float16>(ws, row);
    } else {
      ExpectWithin<float>(ws, row);
    }
  }
}

TEST(RandomFillsTest, OfEqualSeedsAreEqualAndOfOthersAreNot) {
  for (const char* const type : {"UniformFill", "GaussianFill", "XavierFill", "MSRAFill"}) {
    SCOPED_TRACE(type);
    std::vector<std::vector<float>> drawn;
    for (const char* const seed : {"7", "7", "8"}) {
      Workspace ws;
      RunOp(&ws, std::string("type: '") + type +
                     "' output: 'x' arg { name: 'shape' ints: 5 ints: 4 } " +
                     "device_option { random_seed: " + seed + " }");
      drawn.push_back(Fetch<float>(ws, "x"));
    }
    EXPECT_EQ(drawn[0], drawn[1]);
    EXPECT_NE(drawn[0], drawn[2]);
  }
}

}  // namespace
}  // namespace caffe2rt::filled_tensors_test
