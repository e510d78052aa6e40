// Expected values are those of ONNX's own evaluator (onnx.reference of onnx 1.23), or, where that has none, by
// hand from the definition of the operator. ONNXRange and EyeLike.

#include <limits>

#include "tests/support/operator_case.h"

namespace caffe2rt::onnx_range_test {
namespace {

using test::NameOfCase;
using test::OperatorCase;

[[maybe_unused]] constexpr double kInf = std::numeric_limits<double>::infinity();

class OnnxRangeTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(OnnxRangeTest, ComputesWhatOnnxDefines) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    Range, OnnxRangeTest,
    testing::ValuesIn(std::vector<OperatorCase>{
        {"Floats",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"float", {}, {1}}, {"float", {}, {2}}, {"float", {}, {0.25}}},
         {{"float", {4}, {1, 1.25, 1.5, 1.75}}}},
        {"NegativeStepThatDoesNotDivide",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"int32", {}, {10}}, {"int32", {}, {6}}, {"int32", {}, {-3}}},
         {{"int32", {2}, {10, 7}}}},
        {"Nothing",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"int64", {}, {3}}, {"int64", {}, {3}}, {"int64", {}, {1}}},
         {{"int64", {0}, {}}}},
        {"Shorts",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"int16", {}, {-2}}, {"int16", {}, {5}}, {"int16", {}, {3}}},
         {{"int16", {3}, {-2, 1, 4}}}},
        {"Halves",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"float16", {}, {1}}, {"float16", {}, {3}}, {"float16", {}, {0.5}}},
         {{"float16", {4}, {1, 1.5, 2, 2.5}}}},
        {"WholeInt64",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"int64", {}, {-9223372036854775807.0}},
          {"int64", {}, {9223372036854774784.0}},
          {"int64", {}, {9223372036854774784.0}}},
         {{"int64", {3}, {-9223372036854775807.0, -1024, 9223372036854773760.0}}}},
        {"RejectsDeltaZero",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"float", {}, {1}}, {"float", {}, {2}}, {"float", {}, {0}}},
         {},
         "input 2 (delta) is 0"},
        {"RejectsHuge",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"float", {}, {0}}, {"float", {}, {9.9999997e+37}}, {"float", {}, {0.001}}},
         {},
         "is not finite"},
        {"RejectsTypes",
         R"(type: "ONNXRange" input: "a" input: "b" input: "c" output: "x")",
         {{"float", {}, {1}}, {"int64", {}, {2}}, {"float", {}, {1}}},
         {},
         "want float as input 0 (start)"},
        {"EyeLike",
         R"(type: "EyeLike" input: "a" output: "x" arg { name: "k" i: 1 })",
         {{"int32", {2, 3}, {0, 0, 0, 0, 0, 0}}},
         {{"int32", {2, 3}, {0, 1, 0, 0, 0, 1}}}},
        {"EyeLikeBelow",
         R"(type: "EyeLike" input: "a" output: "x" arg { name: "k" i: -1 } arg { name: "dtype" i: 13 })",
         {{"float", {3, 2}, {0, 0, 0, 0, 0, 0}}},
         {{"double", {3, 2}, {0, 0, 1, 0, 0, 1}}}},
        {"EyeLikeFar",
         R"(type: "EyeLike" input: "a" output: "x" arg { name: "k" i: 9 })",
         {{"bool", {2, 2}, {0, 0, 0, 0}}},
         {{"bool", {2, 2}, {0, 0, 0, 0}}}},
        {"EyeLikeRejectsRanks",
         R"(type: "EyeLike" input: "a" output: "x")",
         {{"float", {2}, {0, 0}}},
         {},
         "want a matrix"}}),
    NameOfCase);

}  // namespace
}  // namespace caffe2rt::onnx_range_test
