// Operators on the elements of several tensors: their types, ties, broadcasts and old forms that
// other tests leave out. Expected values are by hand.

#include <limits>

#include "tests/support/operator_case.h"

namespace caffe2rt::element_pairs_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class ElementPairsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(ElementPairsTest, AreCombinedByPlace) {
  test::ExpectCase(GetParam(), /*may_be_unknown=*/false);
}

INSTANTIATE_TEST_SUITE_P(
    Binary, ElementPairsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"DivTruncatesTowardsZero",
         "type: 'Div' input: 'a' input: 'b' output: 'x'",
         {{"int64", {4}, {-7, 7, -7, 6}}, {"int64", {4}, {2, -2, -2, 3}}},
         {{"int64", {4}, {-3, -3, 3, 2}}}},
        {"DivOfTheLeastByMinusOne",
         "type: 'Div' input: 'a' input: 'b' output: 'x'",
         {{"int32", {2}, {-2147483648.0, 5}}, {"int32", {}, {-1}}},
         {{"int32", {2}, {-2147483648.0, -5}}}},
        {"SubFromOneElement",
         "type: 'Sub' input: 'a' input: 'b' output: 'x'",
         {{"double", {1}, {10}}, {"double", {2, 2}, {1, 2, 3, 4}}},
         {{"double", {2, 2}, {9, 8, 7, 6}}}},
        {"AddToTheFirstDimension",
         "type: 'Add' input: 'a' input: 'b' output: 'x' arg { name: 'broadcast' i: 1 } "
         "arg { name: 'axis' i: 0 }",
         {{"float", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"float", {2}, {10, 20}}},
         {{"float", {2, 3}, {11, 12, 13, 24, 25, 26}}}},
        {"MulByTheChannels",
         "type: 'Mul' input: 'a' input: 'b' output: 'x' arg { name: 'broadcast' i: 1 } "
         "arg { name: 'axis_str' s: 'C' } arg { name: 'order' s: 'NHWC' }",
         {{"int64", {1, 1, 2, 2}, {1, 2, 3, 4}}, {"int64", {2}, {10, 100}}},
         {{"int64", {1, 1, 2, 2}, {10, 200, 30, 400}}}},
        {"LessOfBools",
         "type: 'LT' input: 'a' input: 'b' output: 'x'",
         {{"bool", {4}, {0, 0, 1, 1}}, {"bool", {4}, {0, 1, 0, 1}}},
         {{"bool", {4}, {0, 1, 0, 0}}}},
        {"LessEqualOfNaN",
         "type: 'LE' input: 'a' input: 'b' output: 'x'",
         {{"double", {4}, {1, 2, 3, kNaN}}, {"double", {4}, {2, 2, 2, kNaN}}},
         {{"bool", {4}, {1, 1, 0, 0}}}},
        {"GreaterOfIntegers",
         "type: 'GT' input: 'a' input: 'b' output: 'x'",
         {{"int64", {3}, {1, 2, 3}}, {"int64", {}, {2}}},
         {{"bool", {3}, {0, 0, 1}}}},
        {"GreaterEqualOfIntegers",
         "type: 'GE' input: 'a' input: 'b' output: 'x'",
         {{"int32", {3}, {1, 2, 3}}, {"int32", {1}, {2}}},
         {{"bool", {3}, {0, 1, 1}}}},
        {"EqualOfBools",
         "type: 'EQ' input: 'a' input: 'b' output: 'x'",
         {{"bool", {4}, {0, 0, 1, 1}}, {"bool", {4}, {0, 1, 0, 1}}},
         {{"bool", {4}, {1, 0, 0, 1}}}},
        {"NotEqualOfNaN",
         "type: 'NE' input: 'a' input: 'b' output: 'x'",
         {{"float", {3}, {1, 2, kNaN}}, {"float", {3}, {1, 1, kNaN}}},
         {{"bool", {3}, {0, 1, 1}}}},
        {"XorOfARow",
         "type: 'Xor' input: 'a' input: 'b' output: 'x'",
         {{"bool", {2, 2}, {0, 0, 1, 1}}, {"bool", {2}, {0, 1}}},
         {{"bool", {2, 2}, {0, 1, 1, 0}}}},
        {"BitsOfBytes",
         "type: 'BitwiseAnd' input: 'a' input: 'b' output: 'x'",
         {{"uint8", {2}, {204, 255}}, {"uint8", {2}, {170, 1}}},
         {{"uint8", {2}, {136, 1}}}},
        {"BitsOfNegativeShorts",
         "type: 'BitwiseOr' input: 'a' input: 'b' output: 'x'",
         {{"int16", {2}, {-256, 5}}, {"int16", {2}, {15, 2}}},
         {{"int16", {2}, {-241, 7}}}},
        {"BitsOfEitherInteger",
         "type: 'BitwiseXor' input: 'a' input: 'b' output: 'x'",
         {{"int64", {2}, {-1, 12}}, {"int64", {2}, {5, 10}}},
         {{"int64", {2}, {-6, 6}}}},
        {"SubGradientSumsTheRows",
         "type: 'SubGradient' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"int32", {2, 2}, {1, 2, 3, 4}}, {"int32", {2, 2}, {0, 0, 0, 0}}, {"int32", {2}, {0, 0}}},
         {{"int32", {2, 2}, {1, 2, 3, 4}}, {"int32", {2}, {-4, -6}}}},
        {"MulGradientOfAColumn",
         "type: 'MulGradient' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"float", {2, 2}, {1, 2, 3, 4}},
          {"float", {2, 1}, {5, 6}},
          {"float", {2, 2}, {1, 1, 2, 3}}},
         {{"float", {2, 1}, {3, 18}}, {"float", {2, 2}, {5, 10, 18, 24}}}},
        {"DivGradientOfOldNets",
         "type: 'DivGradient' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"float", {2}, {2, 4}}, {"float", {2}, {3, 5}}, {"float", {2}, {1, 8}}},
         {{"float", {2}, {0.5, 2}}, {"float", {2}, {-1.5, -10}}}},
        {"DivGradientOfOneDivisor",
         "type: 'DivGradient' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: 'y'",
         {{"double", {2}, {1, 8}},
          {"double", {2}, {6, 10}},
          {"double", {1}, {2}},
          {"double", {2}, {3, 5}}},
         {{"double", {2}, {0.5, 4}}, {"double", {1}, {-21.5}}}},
        {"AddGradientOfNoElements",
         "type: 'AddGradient' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y'",
         {{"float", {0, 2}, {}}, {"float", {0, 2}, {}}, {"float", {2}, {1, 2}}},
         {{"float", {0, 2}, {}}, {"float", {2}, {0, 0}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Several, ElementPairsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"SumOfFourIntegers",
         "type: 'Sum' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x'",
         {{"int64", {2}, {1, 2}},
          {"int64", {2}, {10, 20}},
          {"int64", {2}, {100, 200}},
          {"int64", {2}, {-1000, 0}}},
         {{"int64", {2}, {-889, 222}}}},
        {"SumOfOne",
         "type: 'Sum' input: 'a' output: 'x'",
         {{"float", {2}, {1, 2}}},
         {{"float", {2}, {1, 2}}}},
        {"MeanOfThree",
         "type: 'Mean' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"double", {2}, {1, 2}}, {"double", {2}, {2, 3}}, {"double", {2}, {6, 10}}},
         {{"double", {2}, {3, 5}}}},
        {"MaxKeepsAFirstNaN",
         "type: 'Max' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {3}, {kNaN, 1, 3}}, {"float", {3}, {1, kNaN, 5}}, {"float", {3}, {2, 0, 4}}},
         {{"float", {3}, {kNaN, 1, 5}}}},
        {"MinOfOtherShapes",
         "type: 'Min' input: 'a' input: 'b' output: 'x'",
         {{"float", {2, 1}, {1, 5}}, {"float", {2}, {2, -3}}},
         {{"float", {2, 1}, {1, -3}}}},
        {"MeanGradientOfThree",
         "type: 'MeanGradient' input: 'a' output: 'x' output: 'y' output: 'z'",
         {{"double", {2}, {3, 6}}},
         {{"double", {2}, {1, 2}}, {"double", {2}, {1, 2}}, {"double", {2}, {1, 2}}}},
        {"MaxGradientOfEquals",
         "type: 'MaxGradient' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x' output: 'y'",
         {{"float", {3}, {5, 6, 7}},
          {"float", {3}, {1, 2, 3}},
          {"float", {3}, {5, 6, 0}},
          {"float", {3}, {5, 0, 7}}},
         {{"float", {3}, {1, 2, 0}}, {"float", {3}, {1, 0, 3}}}},
        {"MinGradientOfFewerElements",
         "type: 'MinGradient' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x'",
         {{"float", {2}, {5, 6}},
          {"float", {2}, {1, 2}},
          {"float", {1}, {5}},
          {"float", {2}, {0, 0}}},
         {{"float", {1}, {1}}}},
        {"OneWeight",
         "type: 'WeightedSum' input: 'a' input: 'b' output: 'x'",
         {{"float", {2}, {1, 2}}, {"float", {1}, {3}}},
         {{"float", {2}, {3, 6}}}},
        {"FourWeights",
         "type: 'WeightedSum' input: 'a' input: 'b' input: 'a' input: 'c' input: 'd' input: 'b' "
         "input: 'd' input: 'c' output: 'x'",
         {{"float", {2}, {1, 2}}, {"float", {1}, {3}}, {"float", {}, {10}}, {"float", {2}, {5, 7}}},
         {{"float", {2}, {78, 117}}}},
        {"GradientsOfTheWeightsToo",
         "type: 'WeightedSumGradient' input: 'a' input: 'b' input: 'c' output: 'x' output: 'y' "
         "arg { name: 'grad_on_w' i: 1 }",
         {{"float", {2}, {1, 2}}, {"float", {2}, {5, 7}}, {"float", {1}, {3}}},
         {{"float", {2}, {3, 6}}, {"float", {1}, {19}}}},
        {"GradientsOfTwoPairs",
         "type: 'WeightedSumGradient' input: 'a' input: 'b' input: 'c' input: 'b' input: 'd' "
         "output: 'x' output: 'y'",
         {{"float", {2}, {1, 2}},
          {"float", {2}, {5, 7}},
          {"float", {1}, {3}},
          {"float", {1}, {-1}}},
         {{"float", {2}, {3, 6}}, {"float", {2}, {-1, -2}}}},
        {"LinearOfTheLastDimension",
         "type: 'ElementwiseLinear' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: -1 }",
         {{"float", {2, 1, 2}, {1, 2, 3, 4}}, {"float", {2}, {10, 100}}, {"float", {2}, {1, 2}}},
         {{"float", {2, 1, 2}, {11, 202, 31, 402}}}},
        {"LinearOfAllDimensions",
         "type: 'ElementwiseLinear' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 0 }",
         {{"float", {2}, {1, 2}}, {"float", {2}, {10, 100}}, {"float", {2}, {1, 2}}},
         {{"float", {2}, {11, 202}}}},
        {"LinearGradientOfTheLastDimension",
         "type: 'ElementwiseLinearGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "output: 'y' output: 'z' arg { name: 'axis' i: 2 }",
         {{"float", {2, 1, 2}, {1, 2, 3, 4}},
          {"float", {2, 1, 2}, {5, 6, 7, 8}},
          {"float", {2}, {10, 100}}},
         {{"float", {2, 1, 2}, {10, 200, 30, 400}},
          {"float", {2}, {26, 44}},
          {"float", {2}, {4, 6}}}},
        {"LinearGradientOfNoRows",
         "type: 'ElementwiseLinearGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "output: 'y' output: 'z'",
         {{"float", {0, 2}, {}}, {"float", {0, 2}, {}}, {"float", {2}, {1, 2}}},
         {{"float", {0, 2}, {}}, {"float", {2}, {0, 0}}, {"float", {2}, {0, 0}}}},
        {"RowsOfTexts",
         "type: 'Where' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'broadcast_on_rows' i: 1 }",
         {{"bool", {2}, {0, 1}}, {"text", {2, 2}, {1, 2, 3, 4}}, {"text", {2, 2}, {5, 6, 7, 8}}},
         {{"text", {2, 2}, {5, 6, 3, 4}}}},
        {"ElementsOfIntegers",
         "type: 'Where' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {2, 1}, {1, 0}}, {"int32", {2, 1}, {1, 2}}, {"int32", {2, 1}, {3, 4}}},
         {{"int32", {2, 1}, {1, 4}}}},
        {"RowsOfBytes",
         "type: 'Conditional' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {3}, {1, 0, 1}},
          {"int8", {3, 2}, {1, 2, 3, 4, 5, 6}},
          {"int8", {3, 2}, {7, 8, 9, 10, 11, 12}}},
         {{"int8", {3, 2}, {1, 2, 9, 10, 5, 6}}}},
    }),
    NameOfCase);

// The sum is computed in blocks of 2048 elements.
TEST(WeightedSumBlocksTest, AreJoinedWithoutAGap) {
  constexpr int64_t kCount = 2 * 2048 + 1;
  Workspace ws;
  std::vector<float> a(kCount), b(kCount), c(kCount), want(kCount);
  for (size_t i = 0; i < want.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(i % 7);
    c[i] = static_cast<float>(i % 5);
    want[i] = 2 * a[i] + 3 * b[i] - c[i];
  }
  Feed<float>(&ws, "a", {kCount}, a);
  Feed<float>(&ws, "b", {kCount}, b);
  Feed<float>(&ws, "c", {kCount}, c);
  Feed<float>(&ws, "u", {1}, {2});
  Feed<float>(&ws, "v", {1}, {3});
  Feed<float>(&ws, "w", {1}, {-1});
  RunOp(&ws,
        "type: 'WeightedSum' input: 'a' input: 'u' input: 'b' input: 'v' input: 'c' "
        "input: 'w' output: 'a'");
  ExpectTensor<float>(ws, "a", {kCount}, want);
}

struct InPlaceRow {
  const char* op;
  const char* output;
  std::vector<float> want;
  const char* other = nullptr;
  std::vector<float> want_other = {};
};

// The inputs are a = (6, 8), b = (2, 4), g = (1, 3) and y = a / b = (3, 2).
TEST(InPlacePairsTest, ReadTheirInputsBeforeTheyAreOverwritten) {
  const InPlaceRow rows[] = {
      {"type: 'Add' input: 'a' input: 'b' output: 'b'", "b", {8, 12}},
      {"type: 'Sub' input: 'a' input: 'b' output: 'b'", "b", {4, 4}},
      {"type: 'Mul' input: 'a' input: 'b' output: 'a'", "a", {12, 32}},
      {"type: 'Div' input: 'a' input: 'b' output: 'a'", "a", {3, 2}},
      {"type: 'Sum' input: 'a' input: 'b' input: 'b' output: 'a'", "a", {10, 16}},
      {"type: 'Pow' input: 'a' input: 'g' output: 'a'", "a", {6, 512}},
      {"type: 'Pow' input: 'a' input: 'g' output: 'g'", "g", {6, 512}},
      {"type: 'WeightedSum' input: 'a' input: 'w' input: 'b' input: 'w' output: 'a'",
       "a",
       {16, 24}},
      {"type: 'MulGradient' input: 'g' input: 'a' input: 'b' output: 'g' output: 'x'",
       "g",
       {2, 12},
       "x",
       {6, 24}},
      {"type: 'MulGradient' input: 'g' input: 'a' input: 'b' output: 'x' output: 'g'",
       "x",
       {2, 12},
       "g",
       {6, 24}},
      {"type: 'SubGradient' input: 'g' input: 'a' input: 'b' output: 'x' output: 'g'",
       "x",
       {1, 3},
       "g",
       {-1, -3}},
      {"type: 'DivGradient' input: 'g' input: 'a' input: 'b' input: 'y' output: 'g' output: 'x'",
       "g",
       {0.5, 0.75},
       "x",
       {-1.5, -1.5}},
      {"type: 'MeanGradient' input: 'g' output: 'g' output: 'x'", "g", {0.5, 1.5}, "x", {0.5, 1.5}},
  };
  for (const InPlaceRow& row : rows) {
    SCOPED_TRACE(row.op);
    Workspace ws;
    Feed<float>(&ws, "a", {2}, {6, 8});
    Feed<float>(&ws, "b", {2}, {2, 4});
    Feed<float>(&ws, "g", {2}, {1, 3});
    Feed<float>(&ws, "y", {2}, {3, 2});
    Feed<float>(&ws, "w", {1}, {2});
    RunOp(&ws, row.op);
    ExpectTensor<float>(ws, row.output, {2}, row.want, 1e-6);
    if (row.other != nullptr) ExpectTensor<float>(ws, row.other, {2}, row.want_other, 1e-6);
  }
}

}  // namespace
}  // namespace caffe2rt::element_pairs_test
