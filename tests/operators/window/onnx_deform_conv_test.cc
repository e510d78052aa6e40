#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::deform_conv_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ONNXDeformConv",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 })",
     {F32({1, 1, 3, 3}, {2.76, -1.27, -1.7, -0.23, 2.38, -1.96, -0.97, 1.03, 2.38}),
      F32({1, 1, 2, 2}, {2.6, -0.52, 0.3, 1.31}),
      F32({1, 8, 4, 4},
          {0.44,  0.08,  0.99,  0.06,  0.89,  0.57,  0.9,   -0.78, -0.93, 0.12,  -0.63, 0.85,
           0.9,   -0.55, 0.61,  0.53,  0.35,  0.1,   -0.36, -0.08, -0.83, -0.89, -0.08, -0.03,
           -0.85, -0.46, -0.33, 0.86,  0.05,  0.44,  0.19,  -0.67, 0.77,  0.76,  -0.15, -0.5,
           -0.36, 0.01,  -0.71, 0.85,  0.16,  0.89,  0.15,  0.74,  0.13,  -0.88, 0.56,  0.63,
           -0.64, 0.25,  -0.29, -0.33, 0.1,   0.71,  -0.24, -0.72, 0.99,  -0.59, -0.21, 0.78,
           -0.15, 0.83,  -0.98, -0.57, -0.27, -0.11, 0.12,  -0.37, 0.7,   0.86,  -0.62, 0.81,
           -0.81, -0.4,  1,     -0.57, 0.34,  0.25,  0.15,  -0.94, 0.6,   0.17,  0.61,  0.4,
           -0.18, 1,     -0.7,  0,     -0.28, -0.64, 0.23,  0.65,  0.81,  -0.32, 0.39,  -0.07,
           0.2,   -0.5,  -0.57, 0.96,  -0.67, -0.75, -0.12, -0.86, -0.66, 0.78,  0.2,   -0.68,
           0.8,   0.41,  0.73,  -0.67, 0.78,  -0.65, 0.88,  0.14,  -0.84, -0.31, -0.11, 0.41,
           0.38,  -0.18, -0.58, -0.52, 0.65,  0.13,  0.55,  -0.09})},
     {F32({1, 1, 4, 4}, {1.1412473, 2.4725645, -0.06368747, -0.4526136, -0.4127256, 1.976374,
                         3.4576123, 0.22082111, -0.5470972, -0.3059269, 3.532716, 0.23040487,
                         0.36039373, 1.6330992, 1.062669, 2.374566})},
     0.0001},
    {"ONNXDeformConv",
     R"(arg { name: "kernel_shape" ints: 2 ints: 2 } arg { name: "group" i: 2 } arg { name: "offset_group" i: 2 } arg { name: "pads" ints: 0 ints: 0 ints: 0 ints: 0 })",
     {F32({1, 2, 4, 4}, {1.24, -0.24, -2.82, 0.49, -0.53, 0.49, -1.69, -1.73, 2.34, -0.68, 0.03,
                         -3,   0.51,  -1.9,  0.57, -0.73, 1.8,  1.94,  2.71,  0.51, 0.81,  -1.82,
                         0.77, -2.92, -0.49, 2.64, 0.66,  0.89, -0.15, 2.12,  1.31, -0.45}),
      F32({2, 1, 2, 2}, {-2.8, 1, -0.84, 0.54, 1.32, -1.32, -0.77, 1.42}),
      F32({1, 16, 3, 3},
          {-0.86, -0.52, 0.15,  0.79,  0.22,  -0.11, 0.17,  -0.05, -0.04, -0.03, -0.41, 0.47,
           -0.36, -0.96, 0.03,  -0.44, -0.57, 0.05,  -0.94, -0.4,  -0.94, -0.07, -0.42, -0.08,
           -0.63, -0.17, -0.68, 0.51,  0.87,  -0.19, -0.44, -0.26, 0.8,   -0.03, 0.98,  0.1,
           -0.8,  0.98,  0.39,  0.74,  0.25,  0.76,  -0.37, 0.94,  0.77,  -0.48, 0.51,  0.59,
           0.56,  -0.12, 0.75,  0.2,   -0.44, 0.96,  0.37,  -0.14, -0.9,  0.1,   0.83,  0.27,
           -0.77, 0.24,  -0.17, -0.81, 0.74,  -0.6,  0.87,  -0.46, 0.64,  0.41,  -0.6,  -0.49,
           -0.41, 0.09,  0.75,  -0.17, 0.11,  -0.26, -0.32, -0.12, 0.14,  -0.1,  0.86,  0.6,
           0.5,   0.96,  0.58,  -0.61, 0.74,  -0.62, 0.4,   0.21,  0.97,  -0.63, -0.12, 0.22,
           -0.68, -0.2,  -0.92, 0.83,  0.88,  0.94,  0.57,  0.72,  0.52,  0.81,  -0.3,  -0.85,
           0.57,  -0.83, 0.47,  -0.86, 0.11,  -0.27, 0.97,  -0.04, 0.1,   -0.2,  -0.92, 0.4,
           -0.54, 0.2,   -0.39, -0.57, 0.16,  0.02,  0.61,  0.67,  0.75,  -0.51, -0.76, 0.5,
           0.02,  -0.59, 0.2,   0.5,   -0.25, -0.62, 0.91,  -0.98, 0.5,   0.52,  -0.1,  -0.15}),
      F32({2}, {-2.18, 2.21}),
      F32({1, 8, 3, 3},
          {0.15, 0.76, 0.63, 0.33, 0.44, 0.97, 0.62, 0.14, 0.71, 0.28, 0.05, 0.12, 0.82, 0.4,  0.64,
           0.71, 0.33, 0.24, 0.28, 0.75, 0.66, 0.78, 0.63, 0.71, 0.17, 0.16, 0.43, 0,    0.74, 0.93,
           0.41, 0.4,  0.63, 0.01, 0.5,  0.71, 0.16, 0.53, 0.46, 0.71, 0.1,  0.36, 0.33, 0.64, 0.07,
           0.94, 0.53, 0.42, 0.35, 0.82, 0.98, 0.18, 0.4,  0.4,  0.97, 0.26, 0.83, 0.33, 0.64, 0.96,
           0.93, 0.39, 0.81, 0.95, 0.7,  0.2,  0.26, 0.32, 0.9,  0.35, 0.82, 0.29})},
     {F32({1, 2, 3, 3}, {-2.3852234, -2.9604506, 0.36455727, -2.8626971, -2.7062738, 2.7343667,
                         -4.198723, -3.6485076, -2.347068, 1.3684721, 4.3164916, 1.9846776,
                         1.6607846, 2.5325801, 2.6136556, 2.9025476, 3.2160141, 1.4720771})},
     0.0001},
};

TEST(DeformConvTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// Feeds the inputs of a case and expects that the operator throws.
void ExpectCaseThrows(const OnnxCase& c, const std::string& error) {
  SCOPED_TRACE(OnnxCaseOp(c));
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, error);
}

// Offsets far away, infinite and NaN are outside of the image.
TEST(DeformConvTest, ReadsZerosOutsideOfTheImage) {
  ExpectOnnxCase({"ONNXDeformConv",
                  "",
                  {F32({1, 1, 1, 2}, {5, 7}), F32({1, 1, 1, 1}, {1}),
                   F32({1, 2, 1, 2}, {NAN, 1e30, 0, -INFINITY})},
                  {F32({1, 1, 1, 2}, {0, 0})}});
}

// All that the axes, groups and images have apart, with offsets of whole pixels, against the definition.
TEST(DeformConvTest, AxesGroupsAndImagesAreApart) {
  constexpr int kImages = 2, kIn = 4, kOut = 6, kH = 6, kW = 9, kRows = 4, kColumns = 6, kTaps = 6;
  const auto cycle = [](int count, int period, int least) {
    std::vector<float> values;
    for (int i = 0; i < count; ++i)
      values.push_back(static_cast<float>((i * 7 + i / 5) % period + least));
    return values;
  };
  Workspace ws;
  const std::vector<float> x = cycle(kImages * kIn * kH * kW, 11, -5),
                           w = cycle(kOut * kIn / 2 * kTaps, 5, -2),
                           moves = cycle(kImages * 2 * 2 * kTaps * kRows * kColumns, 3, -1),
                           bias = cycle(kOut, 13, 1),
                           mask = cycle(kImages * 2 * kTaps * kRows * kColumns, 4, 0);
  Feed<float>(&ws, "X", {kImages, kIn, kH, kW}, x);
  Feed<float>(&ws, "W", {kOut, kIn / 2, 2, 3}, w);
  Feed<float>(&ws, "O", {kImages, 2 * 2 * kTaps, kRows, kColumns}, moves);
  Feed<float>(&ws, "B", {kOut}, bias);
  Feed<float>(&ws, "M", {kImages, 2 * kTaps, kRows, kColumns}, mask);
  RunOp(&ws, R"(type: "ONNXDeformConv" input: "X" input: "W" input: "O" input: "B" input: "M"
      output: "Y" arg { name: "group" i: 2 } arg { name: "offset_group" i: 2 }
      arg { name: "kernel_shape" ints: 2 ints: 3 } arg { name: "strides" ints: 2 ints: 1 }
      arg { name: "dilations" ints: 1 ints: 2 }
      arg { name: "pads" ints: 1 ints: 0 ints: 2 ints: 1 })");
  std::vector<float> want;
  const auto at = [](const std::vector<float>& values, int i) {
    return values[static_cast<size_t>(i)];
  };
  for (int n = 0; n < kImages; ++n) {
    for (int m = 0; m < kOut; ++m) {
      for (int p = 0; p < kRows * kColumns; ++p) {
        float sum = at(bias, m);
        for (int c = 0; c < kIn / 2; ++c) {
          const int channel = m / (kOut / 2) * (kIn / 2) + c, of = channel / 2;
          for (int t = 0; t < kTaps; ++t) {
            const int move = ((n * 2 + of) * kTaps + t) * 2 * kRows * kColumns + p;
            const int row = p / kColumns * 2 - 1 + t / 3 + static_cast<int>(at(moves, move));
            const int column =
                p % kColumns + t % 3 * 2 + static_cast<int>(at(moves, move + kRows * kColumns));
            if (row < 0 || row >= kH || column < 0 || column >= kW) continue;
            sum += at(x, ((n * kIn + channel) * kH + row) * kW + column) *
                   at(w, (m * (kIn / 2) + c) * kTaps + t) *
                   at(mask, ((n * 2 + of) * kTaps + t) * kRows * kColumns + p);
          }
        }
        want.push_back(sum);
      }
    }
  }
  ExpectTensor<float>(ws, "Y", {kImages, kOut, kRows, kColumns}, want, 1e-3);
}

TEST(DeformConvTest, RejectsOtherRanks) {
  const OnnxCaseTensor offset = F32({1, 2, 1, 1}, {0, 0});
  for (const auto& [x, w] : {std::pair{F32({1, 1, 1}, {5}), F32({1, 1, 1, 1}, {1})},
                             std::pair{F32({1, 1, 1, 1, 1}, {5}), F32({1, 1, 1, 1}, {1})},
                             std::pair{F32({1, 1, 1, 1}, {5}), F32({1, 1, 1}, {1})}}) {
    ExpectCaseThrows({"ONNXDeformConv", "", {x, w, offset}, {F32({}, {})}},
                     "want [N, C, H, W] and [M, C / group, kh, kw]");
  }
}

TEST(DeformConvTest, RejectsOtherOffsets) {
  ExpectCaseThrows({"ONNXDeformConv",
                    "",
                    {F32({1, 1, 1, 1}, {5}), F32({1, 1, 1, 1}, {1}), F32({1, 1, 1, 1}, {0})},
                    {F32({}, {})}},
                   "input 2 (offset) has shape [1, 1, 1, 1], want [1, 2, 1, 1]");
}

}  // namespace
}  // namespace caffe2rt::deform_conv_test
