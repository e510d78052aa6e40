// Expected values are those of ONNX's own evaluator (onnx.reference of onnx 1.23), or, where that has none, by
// hand from the definition of the operator. NonMaxSuppression and ONNXRoiAlign.

#include <limits>

#include "tests/support/operator_case.h"

namespace caffe2rt::onnx_detection_test {
namespace {

using test::NameOfCase;
using test::OperatorCase;

[[maybe_unused]] constexpr double kInf = std::numeric_limits<double>::infinity();

class OnnxDetectionTest : public testing::TestWithParam<OperatorCase> {};

TEST_P(OnnxDetectionTest, ComputesWhatOnnxDefines) { test::ExpectCase(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Selection, OnnxDetectionTest, testing::ValuesIn(std::vector<OperatorCase>{
{"Corners",
 R"(type: "NonMaxSuppression" input: "a" input: "b" input: "c" input: "d" input: "e" output: "x")",
 {{"float", {1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.89999998, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}}, {"float", {1, 1, 6}, {0.89999998, 0.75, 0.60000002, 0.94999999, 0.5, 0.30000001}}, {"int64", {1}, {3}}, {"float", {1}, {0.5}}, {"float", {1}, {0}}},
 {{"int64", {3, 3}, {0, 0, 3, 0, 0, 0, 0, 0, 5}}}},
{"ScoreThreshold",
 R"(type: "NonMaxSuppression" input: "a" input: "b" input: "c" input: "d" input: "e" output: "x")",
 {{"float", {1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.89999998, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}}, {"float", {1, 1, 6}, {0.89999998, 0.75, 0.60000002, 0.94999999, 0.5, 0.30000001}}, {"int64", {1}, {3}}, {"float", {1}, {0.5}}, {"float", {1}, {0.89999998}}},
 {{"int64", {1, 3}, {0, 0, 3}}}},
{"CenterPoint",
 R"(type: "NonMaxSuppression" input: "a" input: "b" input: "c" input: "d" input: "e" output: "x" arg { name: "center_point_box" i: 1 })",
 {{"float", {1, 3, 4}, {0.5, 0.5, 1, 1, 0.5, 0.60000002, 1, 1, 0.5, 10.5, 1, 1}}, {"float", {1, 1, 3}, {0.89999998, 0.75, 0.94999999}}, {"int64", {1}, {3}}, {"float", {1}, {0.5}}, {"float", {1}, {0}}},
 {{"int64", {2, 3}, {0, 0, 2, 0, 0, 0}}}},
{"NoneByDefault",
 R"(type: "NonMaxSuppression" input: "a" input: "b" output: "x")",
 {{"float", {1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.89999998, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}}, {"float", {1, 1, 6}, {0.89999998, 0.75, 0.60000002, 0.94999999, 0.5, 0.30000001}}},
 {{"int64", {0, 3}, {}}}},
{"EqualScoresByNumber",
 R"(type: "NonMaxSuppression" input: "a" input: "b" input: "c" output: "x")",
 {{"float", {1, 2, 4}, {0, 0, 1, 1, 5, 5, 6, 6}}, {"float", {1, 1, 2}, {0.5, 0.5}}, {"int64", {1}, {2}}},
 {{"int64", {2, 3}, {0, 0, 0, 0, 0, 1}}}},
{"RejectsShapes",
 R"(type: "NonMaxSuppression" input: "a" input: "b" output: "x")",
 {{"float", {1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.89999998, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}}, {"float", {1, 1, 1}, {0.89999998}}},
 {},
 "want [images, classes, boxes]"},
{"RejectsThresholds",
 R"(type: "NonMaxSuppression" input: "a" input: "b" input: "c" input: "d" output: "x")",
 {{"float", {1, 6, 4}, {0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, -0.1, 1, 0.89999998, 0, 10, 1, 11, 0, 10.1, 1, 11.1, 0, 100, 1, 101}}, {"float", {1, 1, 6}, {0.89999998, 0.75, 0.60000002, 0.94999999, 0.5, 0.30000001}}, {"int64", {1}, {3}}, {"float", {1}, {1.5}}},
 {},
 "want 0 to 1"},
{"RoiAlignHalfPixel",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 2 } arg { name: "output_width" i: 2 } arg { name: "sampling_ratio" i: 2 })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {2, 4}, {0, 0, 3, 3, 1, 0.5, 2.5, 3}}, {"int64", {2}, {0, 0}}},
 {{"float", {2, 2, 2, 2}, {0.78125, 1.5, 3.65625, 4.375, 8.78125, 9.5, 11.65625, 12.375, 1.6875, 2.0625, 4.1875, 4.5625, 9.6875, 10.0625, 12.1875, 12.5625}}}, nullptr, 1e-05},
{"RoiAlignWithoutShift",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 2 } arg { name: "output_width" i: 2 } arg { name: "sampling_ratio" i: 2 } arg { name: "coordinate_transformation_mode" s: "output_half_pixel" })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {2, 4}, {0, 0, 3, 3, 1, 0.5, 2.5, 3}}, {"int64", {2}, {0, 0}}},
 {{"float", {2, 2, 2, 2}, {1.875, 2.625, 4.875, 5.625, 9.875, 10.625, 12.875, 13.625, 2.9375, 3.3125, 5.4375, 5.8125, 10.9375, 11.3125, 13.4375, 13.8125}}}, nullptr, 1e-05},
{"RoiAlignMax",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 2 } arg { name: "output_width" i: 2 } arg { name: "sampling_ratio" i: 2 } arg { name: "mode" s: "max" })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {2, 4}, {0, 0, 3, 3, 1, 0.5, 2.5, 3}}, {"int64", {2}, {0, 0}}},
 {{"float", {2, 2, 2, 2}, {1.25, 1.640625, 3.5, 3.828125, 8, 7.875, 10.5, 9.953125, 2.1972656, 2.2851562, 3.4277344, 3.3007812, 9.2285156, 8.3789062, 9.5214844, 8.5820312}}}, nullptr, 1e-05},
{"RoiAlignAdaptive",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 1 } arg { name: "output_width" i: 2 } arg { name: "spatial_scale" f: 0.5 })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {1, 4}, {0, 0, 6, 7}}, {"int64", {1}, {0}}},
 {{"float", {1, 2, 1, 2}, {2.6875, 3.40625, 10.6875, 11.40625}}}, nullptr, 1e-05},
{"RoiAlignRejectsImages",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 2 } arg { name: "output_width" i: 2 } arg { name: "sampling_ratio" i: 2 })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {2, 4}, {0, 0, 3, 3, 1, 0.5, 2.5, 3}}, {"int64", {2}, {0, 1}}},
 {},
 "element 1 of input 2 (images) is 1"},
{"RoiAlignRejectsHugeRegions",
 R"(type: "ONNXRoiAlign" input: "a" input: "b" input: "c" output: "x" arg { name: "output_height" i: 2 } arg { name: "output_width" i: 2 } arg { name: "sampling_ratio" i: 2 })",
 {{"float", {1, 2, 4, 4}, {0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 10.5, 11, 11.5, 12, 12.5, 13, 13.5, 14, 14.5, 15, 15.5}}, {"float", {1, 4}, {0, 0, 1e+30, 1}}, {"int64", {1}, {0}}},
 {},
 "want finite bins"}}), NameOfCase);

}  // namespace
}  // namespace caffe2rt::onnx_detection_test
