// Operators that select elements, with arguments, types and bounds that other tests leave out.
// Expected values are by hand.

#include <algorithm>
#include <limits>
#include <numeric>

#include "tests/support/operator_case.h"

namespace caffe2rt::selected_elements_test {
namespace {

using test::ExpectTensor;
using test::Feed;
using test::NameOfCase;
using test::OperatorCase;
using test::RunOp;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

class SelectedElementsTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(SelectedElementsTest, AreThoseOfTheArguments) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Best, SelectedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"LargestOfTheFirstAxisRemoved",
         "type: 'ArgMax' input: 'a' output: 'x' arg { name: 'axis' i: 0 } "
         "arg { name: 'keepdims' i: 0 }",
         {{"double", {2, 3}, {1, 5, 2, 4, 5, 3}}},
         {{"int64", {3}, {1, 0, 1}}}},
        {"SmallestOfAMiddleAxisKept",
         "type: 'ArgMin' input: 'a' output: 'x' arg { name: 'axis' i: 1 }",
         {{"int32", {1, 3, 2}, {3, 1, 2, 1, 2, 0}}},
         {{"int64", {1, 1, 2}, {1, 2}}}},
        {"LargestOfTheLastAxisByDefault",
         "type: 'ArgMax' input: 'a' output: 'x'",
         {{"int64", {2, 2}, {1, 1, -5, -3}}},
         {{"int64", {2, 1}, {0, 1}}}},
        {"AccuracyOfTheTopTwo",
         "type: 'Accuracy' input: 'a' input: 'b' output: 'x' arg { name: 'top_k' i: 2 }",
         {{"float", {4, 3}, {1, 2, 3, 3, 2, 1, 2, 2, 2, 2, 2, 2}}, {"int32", {4}, {0, 1, 2, 1}}},
         {{"float", {}, {0.5}}}},
        {"AccuracyOfEqualsGoesToTheFirst",
         "type: 'Accuracy' input: 'a' input: 'b' output: 'x'",
         {{"float", {4, 2}, {1, 1, 1, 1, 1, 1, 1, 1}}, {"int32", {4}, {0, 1, 1, 1}}},
         {{"float", {}, {0.25}}}},
        {"AccuracyOfLabelsBesideTheClasses",
         "type: 'Accuracy' input: 'a' input: 'b' output: 'x' arg { name: 'top_k' i: 5 }",
         {{"float", {4, 2}, {1, 2, 1, 2, 1, 2, 1, 2}}, {"int32", {4}, {-1, 0, 1, 2}}},
         {{"float", {}, {0.5}}}},
        {"AccuracyOfEachClass",
         "type: 'MultiClassAccuracy' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"float", {4, 3}, {1, 1, 0, 1, 1, 0, 0, 0, 5, 5, 0, 0}}, {"int32", {4}, {0, 1, 2, 2}}},
         {{"float", {3}, {1, 0, 0.5}}, {"int32", {3}, {1, 1, 2}}}},
        {"TopBeyondAFirstAxis",
         "type: 'TopK' input: 'a' output: 'x' output: 'y' output: 'z' arg { name: 'k' i: 2 } "
         "arg { name: 'axis' i: 0 }",
         {{"float", {1, 2}, {3, 4}}},
         {{"float", {2, 2}, {3, 4, 0, 0}},
          {"int64", {2, 2}, {0, 0, -1, -1}},
          {"int64", {4}, {0, 1, -1, -1}}}},
        {"TopOfAMiddleAxis",
         "type: 'TopK' input: 'a' output: 'x' output: 'y' output: 'z' arg { name: 'k' i: 2 } "
         "arg { name: 'axis' i: 1 }",
         {{"float", {2, 3, 1}, {2, 2, 1, -3, -1, -2}}},
         {{"float", {2, 2, 1}, {2, 2, -1, -2}},
          {"int64", {2, 2, 1}, {0, 1, 1, 2}},
          {"int64", {4}, {0, 1, 4, 5}}}},
        {"TopGradientOfAFirstAxis",
         "type: 'TopKGradient' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 0 }",
         {{"float", {2, 2}, {1, 2, 3, 4}},
          {"int64", {2, 2}, {2, 0, -1, 1}},
          {"float", {3, 2}, {0, 0, 0, 0, 0, 0}}},
         {{"float", {3, 2}, {0, 2, 0, 4, 1, 0}}}},
        {"SmallestPutsNaNLast",
         "type: 'ONNXTopK' input: 'a' output: 'x' output: 'y' arg { name: 'k' i: 4 } "
         "arg { name: 'largest' i: 0 }",
         {{"float", {4}, {1, kNaN, 3, 2}}},
         {{"float", {4}, {1, 2, 3, kNaN}}, {"int64", {4}, {0, 3, 2, 1}}}},
        {"LargestPutsNaNFirst",
         "type: 'ONNXTopK' input: 'a' output: 'x' output: 'y' arg { name: 'k' i: 3 }",
         {{"double", {4}, {1, kNaN, 3, kNaN}}},
         {{"double", {3}, {kNaN, kNaN, 3}}, {"int64", {3}, {1, 3, 2}}}},
        {"SmallestOfAnInnerAxis",
         "type: 'ONNXTopK' input: 'a' input: 'b' output: 'x' output: 'y' "
         "arg { name: 'axis' i: -2 } arg { name: 'largest' i: 0 }",
         {{"int16", {2, 3, 2}, {3, -1, 2, -2, 1, -3, 0, 5, 0, 5, -1, 4}}, {"int64", {1}, {2}}},
         {{"int16", {2, 2, 2}, {1, -3, 2, -2, -1, 4, 0, 5}},
          {"int64", {2, 2, 2}, {2, 2, 1, 1, 2, 2, 0, 0}}}},
        {"SummaryOfOne",
         "type: 'Summarize' input: 'a' output: 'x'",
         {{"float", {1}, {-5}}},
         {{"float", {4}, {-5, -5, -5, 0}}}},
        {"SummaryWithTheGreatestAlone",
         "type: 'Summarize' input: 'a' output: 'x'",
         {{"float", {17}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}}},
         {{"float", {4}, {1, 17, 9, 5.0497525}}}},
        {"SummaryWithTheLeastAlone",
         "type: 'Summarize' input: 'a' output: 'x'",
         {{"float", {1, 17}, {2, 3, 4, 5, 6, 7, 8, 9, 10, 17, 11, 12, 13, 14, 15, 16, 1}}},
         {{"float", {4}, {1, 17, 9, 5.0497525}}}},
    }),
    NameOfCase);

// NaN is larger than all numbers, and NaNs are equal: as those of equal numbers, their indices ascend.
TEST(SelectedNaNsTest, AreInTheOrderOfTheirIndices) {
  // NaN at even indices; 10, 9, ..., 1 at the odd ones.
  constexpr int64_t kSize = 20;
  std::vector<float> values;
  for (int64_t i = 0; i < kSize; ++i)
    values.push_back(i % 2 == 0 ? static_cast<float>(kNaN) : static_cast<float>(10 - i / 2));
  Workspace ws;
  Feed<float>(&ws, "X", {kSize}, values);
  for (const bool largest : {true, false}) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < kSize; i += 2) order.push_back(i);
    for (int64_t i = 1; i < kSize; i += 2) order.insert(largest ? order.end() : order.begin(), i);
    // Up to 16 elements and all of them are sorted in another way than the numbers between.
    for (const int64_t k :
         {int64_t{3}, int64_t{13}, int64_t{16}, int64_t{17}, int64_t{19}, kSize}) {
      SCOPED_TRACE(testing::Message() << "largest " << largest << ", k " << k);
      RunOp(&ws, "type: 'ONNXTopK' input: 'X' output: 'V' output: 'I' arg { name: 'k' i: " +
                     std::to_string(k) + " } arg { name: 'largest' i: " + (largest ? "1" : "0") +
                     " }");
      const std::vector<int64_t> want(order.begin(), order.begin() + k);
      std::vector<float> chosen;
      for (const int64_t i : want) chosen.push_back(values[static_cast<size_t>(i)]);
      ExpectTensor<int64_t>(ws, "I", {k}, want);
      ExpectTensor<float>(ws, "V", {k}, chosen);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Masks, SelectedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"TextsWithoutPositions",
         "type: 'BooleanMask' input: 'a' input: 'b' output: 'x'",
         {{"text", {3}, {1, 2, 3}}, {"bool", {3}, {0, 1, 1}}},
         {{"text", {2}, {2, 3}}}},
        {"NoRow",
         "type: 'BooleanMask' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"double", {2, 2}, {1, 2, 3, 4}}, {"bool", {2}, {0, 0}}},
         {{"double", {0, 2}, {}}, {"int64", {0}, {}}}},
        {"RowsWithoutElements",
         "type: 'BooleanMask' input: 'a' input: 'b' output: 'x' output: 'y'",
         {{"float", {3, 0}, {}}, {"bool", {3}, {1, 0, 1}}},
         {{"float", {2, 0}, {}}, {"int64", {2}, {0, 2}}}},
        {"GradientOfIntegers",
         "type: 'BooleanMaskGradient' input: 'a' input: 'b' output: 'x'",
         {{"bool", {3}, {0, 1, 0}}, {"int64", {1, 2}, {7, 8}}},
         {{"int64", {3, 2}, {0, 0, 7, 8, 0, 0}}}},
        {"GradientOfBools",
         "type: 'BooleanMaskGradient' input: 'a' input: 'b' output: 'x'",
         {{"bool", {3}, {1, 0, 1}}, {"bool", {2}, {0, 1}}},
         {{"bool", {3}, {0, 0, 1}}}},
        {"GradientOfNoRow",
         "type: 'BooleanMaskGradient' input: 'a' input: 'b' output: 'x'",
         {{"bool", {2}, {0, 0}}, {"double", {0, 2}, {}}},
         {{"double", {2, 2}, {0, 0, 0, 0}}}},
        {"FirstTrueMaskWins",
         "type: 'BooleanUnmask' input: 'a' input: 'b' input: 'c' input: 'd' output: 'x'",
         {{"bool", {3}, {1, 0, 0}},
          {"text", {1}, {10}},
          {"bool", {3}, {1, 1, 1}},
          {"text", {2}, {20, 30}}},
         {{"text", {3}, {10, 20, 30}}}},
        {"NonZeroOfThreeDimensions",
         "type: 'NonZero' input: 'a' output: 'x'",
         {{"int16", {2, 1, 2}, {0, 3, -4, 0}}},
         {{"int64", {3, 2}, {0, 1, 0, 0, 1, 0}}}},
        {"NaNIsNotZeroAndNegativeZeroIs",
         "type: 'NonZero' input: 'a' output: 'x'",
         {{"double", {3}, {kNaN, -0.0, 1e-300}}},
         {{"int64", {1, 2}, {0, 2}}}},
        {"CompressOfAMiddleAxis",
         "type: 'Compress' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: -2 }",
         {{"int64", {2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, {"bool", {3}, {1, 0, 1}}},
         {{"int64", {2, 2, 2}, {1, 2, 5, 6, 7, 8, 11, 12}}}},
        {"CompressByNoCondition",
         "type: 'Compress' input: 'a' input: 'b' output: 'x' arg { name: 'axis' i: 1 }",
         {{"int8", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"bool", {0}, {}}},
         {{"int8", {2, 0}, {}}}},
        {"ConditionOfOneElement",
         "type: 'ONNXWhere' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {1}, {1}}, {"double", {3}, {1, 2, 3}}, {"double", {1}, {9}}},
         {{"double", {3}, {1, 2, 3}}}},
        {"OneElementWithoutItsCondition",
         "type: 'ONNXWhere' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {}, {0}}, {"int8", {3}, {1, 2, 3}}, {"int8", {1}, {9}}},
         {{"int8", {3}, {9, 9, 9}}}},
        {"OneElementEach",
         "type: 'ONNXWhere' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {3}, {1, 0, 1}}, {"float", {1}, {1}}, {"float", {3}, {7, 8, 9}}},
         {{"float", {3}, {1, 8, 1}}}},
        {"ThreeDimensions",
         "type: 'ONNXWhere' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {2, 1, 2}, {1, 0, 0, 1}},
          {"int32", {1, 3, 1}, {1, 2, 3}},
          {"int32", {2}, {8, 9}}},
         {{"int32", {2, 3, 2}, {1, 9, 2, 9, 3, 9, 8, 1, 8, 2, 8, 3}}}},
        {"ConditionOfFewerDimensions",
         "type: 'ONNXWhere' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"bool", {2}, {1, 0}}, {"uint16", {2, 2}, {1, 2, 3, 4}}, {"uint16", {2, 1}, {5, 6}}},
         {{"uint16", {2, 2}, {1, 5, 3, 6}}}},
    }),
    NameOfCase);

INSTANTIATE_TEST_SUITE_P(
    Codes, SelectedElementsTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"OneHotAtBothEnds",
         "type: 'OneHot' input: 'a' input: 'b' output: 'x'",
         {{"int64", {3}, {2, 0, 2}}, {"int64", {1}, {3}}},
         {{"float", {3, 3}, {0, 0, 1, 1, 0, 0, 0, 0, 1}}}},
        {"BatchOfLongIntegers",
         "type: 'BatchOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int64", {2, 2}, {1, 5, 2, 5}}, {"int32", {2}, {1, 2}}, {"int64", {3}, {2, 5, 6}}},
         {{"int64", {2, 3}, {0, 1, 0, 1, 1, 0}}}},
        {"BatchWithAColumnOfNoValues",
         "type: 'BatchOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int32", {1, 3}, {7, 8, 9}}, {"int32", {3}, {0, 2, 1}}, {"int32", {3}, {9, 8, 9}}},
         {{"int32", {1, 3}, {0, 1, 1}}}},
        {"BucketsAtAndBeyondTheBoundaries",
         "type: 'BatchBucketOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {3, 2}, {0, 2, 4, 3, 1, 3.5}},
          {"int32", {2}, {1, 3}},
          {"float", {4}, {1, 1, 2, 3}}},
         {{"float", {3, 6}, {1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1}}}},
        {"BucketOfThreeEqualBoundaries",
         "type: 'BatchBucketOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"float", {3, 1}, {1, 2, 3}}, {"int32", {1}, {3}}, {"float", {3}, {2, 2, 2}}},
         {{"float", {3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1}}}},
        {"SegmentsOfRepeatedIndices",
         "type: 'SegmentOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int32", {3}, {3, 0, 1}}, {"int64", {4}, {0, 2, 0, 1}}, {"int64", {1}, {3}}},
         {{"float", {3, 3}, {1, 0, 1, 0, 0, 0, 0, 1, 0}}}},
        {"OnnxAxisFromTheEnd",
         "type: 'ONNXOneHot' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: -2 }",
         {{"uint8", {2}, {0, 2}}, {"int32", {1}, {3}}, {"double", {2}, {-1, 1}}},
         {{"double", {3, 2}, {1, -1, -1, -1, -1, 1}}}},
        {"OnnxIndicesAtTheBounds",
         "type: 'ONNXOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"int64", {4}, {-2, -3, 1, 2}}, {"float16", {}, {2}}, {"int32", {2}, {0, 1}}},
         {{"int32", {4, 2}, {1, 0, 0, 0, 0, 1, 0, 0}}}},
        {"OnnxFractionsLoseTheirDigits",
         "type: 'ONNXOneHot' input: 'a' input: 'b' input: 'c' output: 'x'",
         {{"double", {4}, {1.75, -0.5, 1e20, kNaN}}, {"int64", {}, {2}}, {"float", {2}, {0, 1}}},
         {{"float", {4, 2}, {0, 1, 1, 0, 0, 0, 0, 0}}}},
        {"OnnxDepthOfZero",
         "type: 'ONNXOneHot' input: 'a' input: 'b' input: 'c' output: 'x' "
         "arg { name: 'axis' i: 0 }",
         {{"int64", {2}, {0, 1}}, {"int64", {1}, {0}}, {"bool", {2}, {0, 1}}},
         {{"bool", {0, 2}, {}}}},
        {"HashOfLongIntegers",
         "type: 'IndexHash' input: 'a' output: 'x' arg { name: 'seed' i: -3 } "
         "arg { name: 'modulo' i: 1000 }",
         {{"int64", {5}, {0, -1, 255, 1099511627776, -4611686018427387904.0}}},
         {{"int64", {5}, {507, 995, 578, 876, 443}}}},
        {"HashOfIntegersWithALongSeed",
         "type: 'IndexHash' input: 'a' output: 'x' arg { name: 'seed' i: 12345678901 } "
         "arg { name: 'modulo' i: 97 }",
         {{"int32", {2, 3}, {0, -1, 128, 65536, -2147483648.0, 2147483647}}},
         {{"int32", {2, 3}, {80, 1, 2, 45, 49, 32}}}},
        {"HashWithoutASeed",
         "type: 'IndexHash' input: 'a' output: 'x' arg { name: 'modulo' i: 1000003 }",
         {{"int64", {3}, {0, 200, -200}}},
         {{"int64", {3}, {0, 934510, 195775}}}},
        {"UniqueNaN",
         "type: 'ONNXUnique' input: 'a' output: 'x' output: 'y' output: 'z' output: 'w'",
         {{"double", {2, 2}, {kNaN, 1, kNaN, 1}}},
         {{"double", {2}, {1, kNaN}},
          {"int64", {2}, {1, 0}},
          {"int64", {4}, {1, 0, 1, 0}},
          {"int64", {2}, {2, 2}}}},
        {"UniqueColumnsInTheirOrder",
         "type: 'ONNXUnique' input: 'a' output: 'x' output: 'y' output: 'z' "
         "arg { name: 'axis' i: 1 } arg { name: 'sorted' i: 0 }",
         {{"int8", {2, 4}, {2, 1, 2, 1, 0, 5, 0, -5}}},
         {{"int8", {2, 3}, {2, 1, 1, 0, 5, -5}},
          {"int64", {3}, {0, 1, 3}},
          {"int64", {4}, {0, 1, 0, 2}}}},
        {"PrefixOfThreeBytesByDefault",
         "type: 'StringPrefix' input: 'a' output: 'x'",
         {{"text", {2}, {12345, 12}}},
         {{"text", {2}, {123, 12}}}},
        {"SuffixOfThreeBytesByDefault",
         "type: 'StringSuffix' input: 'a' output: 'x'",
         {{"text", {2}, {12345, 12}}},
         {{"text", {2}, {345, 12}}}},
        {"StartsWithNothing",
         "type: 'StringStartsWith' input: 'a' output: 'x'",
         {{"text", {1, 2}, {1, 2}}},
         {{"bool", {1, 2}, {1, 1}}}},
        {"EndsWithTheWhole",
         "type: 'StringEndsWith' input: 'a' output: 'x' arg { name: 'suffix' s: '12' }",
         {{"text", {4}, {12, 312, 123, 2}}},
         {{"bool", {4}, {1, 1, 0, 0}}}},
        {"EqualsNothing",
         "type: 'StringEquals' input: 'a' output: 'x'",
         {{"text", {1}, {1}}},
         {{"bool", {1}, {0}}}},
    }),
    NameOfCase);

constexpr char kGrams[] =
    "type: 'TfIdfVectorizer' input: 'a' output: 'x' arg { name: 'ngram_counts' ints: 0 ints: 2 } "
    "arg { name: 'ngram_indexes' ints: 3 ints: 2 ints: 1 ints: 0 } "
    "arg { name: 'pool_int64s' ints: 1 ints: 2 ints: 1 ints: 3 ints: 2 ints: 3 } ";
constexpr char kWeights[] =
    "arg { name: 'weights' floats: 0.5 floats: 2 floats: 3 floats: 4 } "
    "arg { name: 'max_gram_length' i: 2 } ";

// Rows of 1, 2, 3, 1: twice the n-gram 1, once 2 and "2 3"; "1 3" only where one may be skipped.
struct GramRow {
  const char* name;
  const char* arguments;
  bool weighted;
  std::vector<float> want;
};

class KnownGramsTest : public testing::TestWithParam<GramRow> {};

TEST_P(KnownGramsTest, AreCountedByTheMode) {
  const GramRow& row = GetParam();
  Workspace ws;
  Feed<int64_t>(&ws, "a", {4}, {1, 2, 3, 1});
  RunOp(&ws, std::string(kGrams) + (row.weighted ? kWeights : "") + row.arguments);
  ExpectTensor<float>(ws, "x", {4}, row.want);
}

INSTANTIATE_TEST_SUITE_P(
    Modes, KnownGramsTest,
    testing::ValuesIn(std::vector<GramRow>{
        {"OneByDefault", "", false, {0, 0, 1, 2}},
        {"NoSkipByDefault", "arg { name: 'max_gram_length' i: 2 }", false, {1, 0, 1, 2}},
        {"OneSkip",
         "arg { name: 'max_gram_length' i: 2 } arg { name: 'max_skip_count' i: 1 }",
         false,
         {1, 1, 1, 2}},
        {"OnlyTwo",
         "arg { name: 'min_gram_length' i: 2 } arg { name: 'max_gram_length' i: 2 } "
         "arg { name: 'max_skip_count' i: 9 }",
         false,
         {1, 1, 0, 0}},
        {"Unweighted", "arg { name: 'mode' s: 'IDF' }", false, {0, 0, 1, 1}},
        {"Weights", "arg { name: 'mode' s: 'IDF' }", true, {4, 0, 2, 0.5}},
        {"Products",
         "arg { name: 'mode' s: 'TFIDF' } arg { name: 'max_skip_count' i: 1 }",
         true,
         {4, 3, 2, 1}},
        {"CountsHaveNoWeight", "arg { name: 'mode' s: 'TF' }", true, {1, 0, 1, 2}},
    }),
    [](const auto& info) { return info.param.name; });

// The counts are where the n-grams of each length begin among two elements.
TEST(KnownGramsTest, ListsFitEachOther) {
  const struct {
    const char *counts, *columns, *error;
  } rows[] = {{"ints: 0 ints: 5", "ints: 0",
               "n-grams of 1 elements are 0 to 5 of 2 elements of pool_int64s"},
              {"ints: 3", "ints: 0", "n-grams of 1 elements are 3 to 2 of 2 elements"},
              {"ints: -1", "ints: 0", "n-grams of 1 elements are -1 to 2 of 2 elements"},
              {"ints: 0 ints: 1", "ints: 0", "n-grams of 2 elements are 1 to 2 of 2 elements"},
              {"ints: 0", "ints: 0", "elements of ngram_indexes, want one for each n-gram"},
              {"ints: 0", "ints: 0 ints: -1", "element of ngram_indexes is -1"}};
  Workspace ws;
  Feed<int64_t>(&ws, "a", {2}, {1, 2});
  for (const auto& row : rows) {
    const std::string op =
        std::string(
            "type: 'TfIdfVectorizer' input: 'a' output: 'x' arg { name: 'min_gram_length' i: 1 } "
            "arg { name: 'max_gram_length' i: 2 } arg { name: 'max_skip_count' i: 0 } "
            "arg { name: 'mode' s: 'TF' } arg { name: 'pool_int64s' ints: 1 ints: 2 } "
            "arg { name: 'ngram_counts' ") +
        row.counts + " } arg { name: 'ngram_indexes' " + row.columns + " }";
    test::ExpectThrows([&] { RunOp(&ws, op); }, row.error);
  }
}

TEST(KnownGramsTest, AreNotInShortRows) {
  Workspace ws;
  Feed<int32_t>(&ws, "a", {2, 1}, {1, 2});
  const char* const arguments =
      "arg { name: 'min_gram_length' i: 2 } arg { name: 'max_gram_length' i: 2 }";
  RunOp(&ws, std::string(kGrams) + arguments);
  ExpectTensor<float>(ws, "x", {2, 4}, {0, 0, 0, 0, 0, 0, 0, 0});
}

// 37 is prime to 101: the elements are 0 to 100, each twice, in a mixed order.
TEST(ManyOfManyTest, AreThoseOfAStableSort) {
  constexpr int64_t kSize = 202;
  std::vector<float> x(kSize);
  for (int64_t i = 0; i < kSize; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i * 37 % 101);
  std::vector<int64_t> order(kSize);
  std::iota(order.begin(), order.end(), 0);
  for (const bool largest : {true, false}) {
    std::sort(order.begin(), order.end());
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const float left = x[static_cast<size_t>(a)], right = x[static_cast<size_t>(b)];
      return largest ? left > right : left < right;
    });
    for (const int64_t k : {1, 16, 17, 101, 201, 202}) {
      SCOPED_TRACE(k);
      std::vector<float> values;
      const std::vector<int64_t> indices(order.begin(), order.begin() + k);
      for (const int64_t i : indices) values.push_back(x[static_cast<size_t>(i)]);
      Workspace ws;
      Feed<float>(&ws, "a", {kSize}, x);
      RunOp(&ws, "type: 'ONNXTopK' input: 'a' output: 'x' output: 'y' arg { name: 'k' i: " +
                     std::to_string(k) + " } arg { name: 'largest' i: " + std::to_string(largest) +
                     " }");
      ExpectTensor<float>(ws, "x", {k}, values);
      ExpectTensor<int64_t>(ws, "y", {k}, indices);
      if (!largest) continue;
      RunOp(&ws, "type: 'TopK' input: 'a' output: 'v' output: 'i' output: 'f' arg { name: 'k' i: " +
                     std::to_string(k) + " }");
      ExpectTensor<float>(ws, "v", {k}, values);
      ExpectTensor<int64_t>(ws, "i", {k}, indices);
      ExpectTensor<int64_t>(ws, "f", {k}, indices);
    }
  }
}

TEST(DuplicatesTest, AreThePositionsAfterTheFirst) {
  Workspace ws;
  Feed<double>(&ws, "a", {5}, {1, 2, 1, 1, 2});
  RunOp(&ws, "type: 'FindDuplicateElements' input: 'a' output: 'x'");
  ExpectTensor<int64_t>(ws, "x", {3}, {2, 3, 4});
  Feed<int32_t>(&ws, "a", {0}, {});
  RunOp(&ws, "type: 'FindDuplicateElements' input: 'a' output: 'x'");
  ExpectTensor<int64_t>(ws, "x", {0}, {});
}

}  // namespace
}  // namespace caffe2rt::selected_elements_test
