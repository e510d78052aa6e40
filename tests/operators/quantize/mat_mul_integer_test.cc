#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::mat_mul_integer_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"MatMulInteger",
     R"()",
     {U8({4, 3}, {147, 199, 115, 97, 246, 16, 194, 249, 1, 194, 225, 239}),
      U8({3, 2}, {145, 10, 69, 1, 212, 180}), U8({}, {12}), U8({}, {3})},
     {I32({4, 2}, {53039, 18802, 28350, 835, 39187, -1147, 87345, 41027})}},
    {"MatMulInteger",
     R"()",
     {I8({2, 3}, {81, -22, 111, -60, -26, 74}),
      I8({3, 5}, {-30, -118, -89, -117, 23, 18, 28, -60, -18, -61, 124, -64, -86, 99, 81})},
     {I32({2, 5}, {10938, -17278, -15435, 1908, 12196, 10508, 1616, 536, 14814, 6200})}},
    {"MatMulInteger",
     R"(arg { name: "omitted_inputs" ints: 2 })",
     {I8({2, 3}, {-88, -23, 0, -81, 80, -57}),
      U8({3, 5}, {102, 0, 39, 16, 143, 15, 16, 92, 102, 179, 97, 143, 102, 193, 36}),
      U8({}, {200})},
     {I32({2, 5}, {12879, 21832, 16652, 18446, 5499, -991, 4729, 9987, 7463, 12285})}},
    {"MatMulInteger",
     R"()",
     {U8({2, 2, 3}, {112, 66, 4, 77, 100, 101, 160, 185, 161, 209, 187, 7}),
      I8({3, 2}, {104, -44, 46, -117, 121, 82}), U8({}, {255})},
     {I32({2, 2, 2}, {-53937, 7823, -44276, 13339, -24474, 4662, -37920, -10356})}},
    {"MatMulInteger",
     R"()",
     {U8({3}, {33, 106, 237}),
      U8({2, 3, 2}, {155, 203, 239, 241, 52, 79, 0, 69, 43, 176, 75, 177})},
     {I32({2, 2}, {42773, 50968, 22333, 62882})}},
    {"MatMulInteger",
     R"()",
     {U8({2, 3}, {186, 193, 251, 128, 115, 164}), U8({3, 2}, {114, 111, 67, 53, 79, 11}),
      U8({}, {1}), U8({2}, {3, 250})},
     {I32({2, 2}, {51823, -123289, 33781, -79068})}},
    {"MatMulInteger",
     R"()",
     {U8({0, 3}, {}), U8({3, 2}, {155, 83, 238, 84, 16, 142})},
     {I32({0, 2}, {})}},
    {"QLinearMatMul",
     R"()",
     {U8({2, 4}, {59, 153, 146, 87, 173, 77, 109, 101}), F32({}, {0.0066}), U8({}, {113}),
      U8({4, 3}, {84, 201, 37, 74, 194, 132, 179, 57, 28, 105, 218, 204}), F32({}, {0.00705}),
      U8({}, {114}), F32({}, {0.0107}), U8({}, {118})},
     {U8({2, 3}, {128, 92, 117, 116, 124, 92})}},
    {"QLinearMatMul",
     R"()",
     {I8({2, 2, 4}, {33, -104, -14, -46, 93, -27, 88, 75, 92, -65, 67, 75, -53, -34, -116, 91}),
      F32({}, {0.0066}), I8({}, {-14}),
      I8({2, 4, 3}, {34,   -38, -47, -90,  -12,  114, 59, -96, 101, -92, 9,   124,
                     -102, -48, 75,  -127, -124, 120, 92, 4,   -95, 9,   -61, -42}),
      F32({}, {0.00705}), I8({}, {14}), F32({}, {0.0107}), I8({}, {18})},
     {I8({2, 2, 3}, {78, 18, -49, 12, -55, 65, 21, -13, -37, 13, 11, 21})}},
    {"QLinearMatMul",
     R"()",
     {U8({2, 2}, {213, 48, 146, 85}), F32({}, {0.5}), U8({}, {0}), I8({2, 2}, {64, 115, 88, -17}),
      F32({2}, {0.25, 0.125}), I8({2}, {0, 3}), F32({}, {16}), U8({}, {100})},
     {U8({2, 2}, {240, 189, 231, 157})}},
};

TEST(MatMulIntegerTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// The sums of 70,000 products of 255 * 255 do not fit into an int32 and wrap around.
TEST(MatMulIntegerTest, WrapsAroundAndDividesTheWork) {
  constexpr int64_t kDepth = 70000, kRows = 3, kColumns = 9;
  Workspace ws;
  std::vector<uint8_t> a(kRows * kDepth), b(kDepth * kColumns);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<uint8_t>(255 - i % 3);
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<uint8_t>(255 - i % 7);
  Feed<uint8_t>(&ws, "A", {kRows, kDepth}, a);
  Feed<uint8_t>(&ws, "B", {kDepth, kColumns}, b);
  std::vector<int32_t> want;
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t j = 0; j < kColumns; ++j) {
      uint32_t sum = 0;
      for (int64_t k = 0; k < kDepth; ++k) {
        sum += static_cast<uint32_t>(a[static_cast<size_t>(i * kDepth + k)]) *
               b[static_cast<size_t>(k * kColumns + j)];
      }
      want.push_back(static_cast<int32_t>(sum));
    }
  }
  const char* op = R"(type: "MatMulInteger" input: "A" input: "B" output: "Y")";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {kRows, kColumns}, want);
  ExpectSameBitsForAllThreads(&ws, op);
}

TEST(MatMulIntegerTest, RejectsShapesAndTypesThatDoNotFit) {
  Workspace ws;
  Feed<uint8_t>(&ws, "A", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<uint8_t>(&ws, "B", {2, 2}, {1, 2, 3, 4});
  Feed<int8_t>(&ws, "Z", {}, {1});
  Feed<uint8_t>(&ws, "Z3", {3}, {1, 2, 3});
  ExpectThrows([&] { RunOp(&ws, R"(type: "MatMulInteger" input: "A" input: "B" output: "Y")"); },
               "rows of input 1 (B)");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "MatMulInteger" input: "B" input: "B" input: "Z" output: "Y")"); },
      "input 2 (a_zero_point) has elements of type int8, want uint8");
  ExpectThrows(
      [&] { RunOp(&ws, R"(type: "MatMulInteger" input: "B" input: "B" input: "Z3" output: "Y")"); },
      "want one element or 2");
}

TEST(QLinearMatMulTest, RejectsAScaleOfZero) {
  const OnnxCase c{"QLinearMatMul",
                   "",
                   {U8({1, 1}, {1}), F32({}, {1}), U8({}, {0}), U8({1, 1}, {1}), F32({}, {1}),
                    U8({}, {0}), F32({}, {0}), U8({}, {0})},
                   {U8({1, 1}, {0})}};
  Workspace ws;
  FeedOnnxCase(&ws, c);
  ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, "input 6 (y_scale) is 0");
}

}  // namespace
}  // namespace caffe2rt::mat_mul_integer_test
