#include <cmath>

#include "tests/support/onnx_case.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::conv_integer_test {
namespace {

using namespace test;

// Inputs drawn by numpy, outputs computed by ONNX's reference evaluator (onnx 1.23).
const OnnxCase kCases[] = {
    {"ConvInteger",
     R"()",
     {U8({1, 1, 3, 3}, {238, 93, 208, 58, 82, 62, 38, 196, 47}),
      U8({1, 1, 2, 2}, {223, 213, 176, 100}), U8({}, {1})},
     {I32({1, 1, 2, 2}, {90579, 84963, 55976, 69976})}},
    {"ConvInteger",
     R"(arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 })",
     {U8({1, 1, 3, 3}, {231, 155, 166, 31, 84, 155, 98, 251, 218}),
      U8({1, 1, 2, 2}, {114, 170, 91, 44}), U8({}, {1})},
     {I32({1, 1, 4, 4}, {10120, 27706, 21274, 15015, 40420, 58782, 59935, 32824, 9368, 37357, 67940,
                         37303, 16490, 53558, 65390, 24738})}},
    {"ConvInteger",
     R"(arg { name: "strides" ints: 2 ints: 1 } arg { name: "dilations" ints: 1 ints: 2 })",
     {U8({1, 2, 4, 3}, {34,  102, 84, 19,  28,  31,  91,  152, 66,  216, 105, 221,
                        126, 50,  66, 160, 227, 102, 247, 160, 182, 90,  195, 206}),
      I8({2, 2, 2, 2}, {4, -15, 58, -88, 119, -95, 16, -32, -12, 3, 84, -96, -100, 16, 90, -98}),
      U8({}, {7}), I8({}, {-3})},
     {I32({1, 2, 2, 1}, {7199, 3425, -6187, -33262})}},
    {"ConvInteger",
     R"(arg { name: "group" i: 4 } arg { name: "auto_pad" s: "SAME_UPPER" })",
     {U8({2, 4, 3, 3}, {120, 150, 146, 87,  227, 162, 22,  77,  22,  154, 169, 158, 186, 174, 77,
                        197, 187, 15,  113, 122, 173, 229, 125, 58,  80,  57,  209, 1,   169, 201,
                        38,  174, 27,  239, 180, 114, 69,  24,  11,  37,  166, 224, 84,  46,  127,
                        91,  8,   247, 54,  9,   101, 163, 147, 255, 248, 207, 191, 128, 105, 177,
                        102, 255, 111, 190, 64,  187, 13,  222, 131, 55,  62,  139}),
      I8({4, 1, 2, 2}, {69, 70, 115, 48, -31, -64, 55, 73, 91, 34, 39, 90, -98, -101, 111, 7})},
     {I32({2, 4, 3, 3},
          {39681,  54451,  28704,  28119,  36914,  13708,  6908,   6853,   1518,   7342,  -160,
           -663,   7584,   1058,   -1562,  -18075, -6757,  -465,   34612,  27079,  18005, 33339,
           34380,  13429,  9218,   12293,  19019,  -11731, -17360, -16701, 6491,   999,   10008,
           -41602, -29154, -11172, 18664,  32268,  26519,  26041,  38520,  30061,  9016,  12064,
           8763,   294,    -8188,  -2102,  17446,  19957,  10894,  -14461, -20877, -7905, 44048,
           45356,  24284,  42146,  35508,  20436,  17952,  26979,  10101,  -22087, 400,   -3785,
           -17157, -27132, 2591,   -11652, -20115, -13622})}},
    {"ConvInteger",
     R"(arg { name: "group" i: 2 })",
     {U8({1, 4, 3, 3},
         {84,  67, 133, 66,  56,  226, 108, 29,  42,  43, 114, 49, 240, 228, 74, 145, 119, 68,
          159, 45, 127, 251, 254, 154, 180, 123, 125, 84, 145, 11, 10,  23,  71, 56,  16,  165}),
      I8({6, 2, 2, 2},
         {-112, -75, -101, -3, -100, -121, 59,   -63, -50, 101, -35, 31,  92,  49, 9,   -18,
          -115, -3,  119,  53, 43,   -117, -127, 8,   18,  70,  71,  95,  18,  43, 25,  35,
          -90,  76,  -71,  73, -107, -89,  53,   34,  -23, 63,  -6,  -66, -26, -3, -41, -124}),
      U8({}, {3})},
     {I32({1, 6, 2, 2}, {-38017, -30804, -71569, -53746, 9054,   28201,  31353, 44225,
                         -38767, -18240, -26771, -14447, 55640,  47382,  48767, 44477,
                         -30387, -13688, -6329,  -12723, -24295, -17594, -2900, -26377})}},
    {"ConvInteger",
     R"(arg { name: "pads" ints: 1 ints: 1 })",
     {U8({1, 2, 5}, {239, 92, 212, 173, 202, 43, 119, 119, 232, 79}),
      U8({2, 2, 3}, {32, 255, 70, 14, 242, 227, 135, 251, 241, 173, 45, 174})},
     {I32({1, 2, 5},
          {104804, 102361, 152242, 140782, 79412, 104802, 139949, 173635, 165498, 117748})}},
    // By hand: the taps of a dilated window are 2 apart, so one element of padding on each side gives 5 windows.
    {"ConvInteger",
     R"(arg { name: "auto_pad" s: "SAME_UPPER" } arg { name: "dilations" ints: 2 })",
     {U8({1, 1, 5}, {1, 2, 3, 4, 5}), U8({1, 1, 2}, {1, 10})},
     {I32({1, 1, 5}, {20, 31, 42, 53, 4})}},
    // By hand: windows of two slices, padded by one before and behind, of two images with one
    // channel and of one image with two.
    {"ConvInteger",
     R"(arg { name: "pads" ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 0 })",
     {U8({2, 1, 2, 1, 1}, {3, 5, 7, 9}), U8({1, 1, 2, 1, 1}, {1, 10})},
     {I32({2, 1, 3, 1, 1}, {30, 53, 5, 70, 97, 9})}},
    {"ConvInteger",
     R"(arg { name: "pads" ints: 1 ints: 0 ints: 0 ints: 1 ints: 0 ints: 0 })",
     {U8({1, 2, 2, 1, 1}, {3, 5, 7, 9}), I8({1, 2, 2, 1, 1}, {1, 10, 100, -100})},
     {I32({1, 1, 3, 1, 1}, {-670, -147, 905})}},
    {"QLinearConv",
     R"()",
     {U8({1, 1, 4, 4}, {48, 51, 78, 195, 222, 77, 52, 118, 87, 103, 69, 242, 129, 200, 81, 176}),
      F32({}, {0.003692047}), U8({}, {132}), U8({1, 1, 1, 1}, {235}), F32({}, {0.0017279458}),
      U8({}, {255}), F32({}, {0.0016268126}), U8({}, {123})},
     {U8({1, 1, 4, 4},
         {130, 129, 127, 118, 116, 127, 129, 124, 127, 125, 128, 114, 123, 118, 127, 120})}},
    {"QLinearConv",
     R"(arg { name: "pads" ints: 0 ints: 0 ints: 1 ints: 1 })",
     {U8({1, 2, 3, 3},
         {200, 81, 97, 34, 15, 206, 189, 199, 12, 74, 150, 190, 248, 202, 188, 228, 70, 199}),
      F32({}, {0.02}), U8({}, {128}),
      I8({3, 2, 2, 2}, {6,  37,  -42, 56,  66, 0,  -48, 24,  7,  6,   -17, -125,
                        60, -21, -13, 118, 60, 95, 6,   127, 26, -12, 64,  83}),
      F32({3}, {0.01, 0.02, 0.005}), I8({3}, {0, 0, 0}), F32({}, {0.05}), U8({}, {100}),
      I32({3}, {200, -300, 5000})},
     {U8({1, 3, 3, 3}, {56,  129, 92, 94,  109, 124, 139, 70,  117, 253, 80,  109, 0,  255,
                        139, 162, 56, 125, 104, 136, 118, 104, 89,  130, 137, 92,  100})}},
    {"QLinearConv",
     R"(arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 } arg { name: "group" i: 2 } arg { name: "strides" ints: 2 ints: 2 })",
     {I8({1, 2, 3, 3},
         {-50, 24, 18, -2, 71, -41, -31, 108, 49, 2, -96, 18, -47, -73, -119, -4, -119, 116}),
      F32({}, {0.02}), I8({}, {-5}),
      I8({2, 1, 3, 3},
         {65, 87, 69, 89, 67, 37, 23, 109, -28, 65, -84, 10, -21, 98, -68, 77, -112, 47}),
      F32({}, {0.01}), I8({}, {2}), F32({}, {0.05}), I8({}, {-10})},
     {I8({1, 2, 2, 2}, {-25, -3, 20, 50, 25, 39, 35, 69})}},
};

TEST(ConvIntegerTest, AgreesWithTheReference) {
  for (const OnnxCase& c : kCases) ExpectOnnxCase(c);
}

// More pixels than one block, several groups, and channels that do not fill a vector.
TEST(ConvIntegerTest, AgreesWithALoop) {
  constexpr int64_t kIn = 19, kOut = 10, kChannels = 6, kFilters = 10, kGroup = 2;
  Workspace ws;
  std::vector<int8_t> x(2 * kChannels * kIn * kIn), w(kFilters * kChannels / kGroup * 9);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<int8_t>(i * 37 % 251);
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<int8_t>(i * 91 % 241);
  Feed<int8_t>(&ws, "A", {2, kChannels, kIn, kIn}, x);
  Feed<int8_t>(&ws, "B", {kFilters, kChannels / kGroup, 3, 3}, w);
  Feed<int8_t>(&ws, "C", {}, {-4});
  std::vector<int32_t> want;
  for (int64_t at = 0; at < 2 * kFilters * kOut * kOut; ++at) {
    const int64_t n = at / kFilters / kOut / kOut, m = at / kOut / kOut % kFilters;
    const int64_t row = at / kOut % kOut * 2 - 1, column = at % kOut * 2 - 1;
    int32_t sum = 0;
    for (int64_t c = 0; c < kChannels / kGroup; ++c) {
      for (int64_t t = 0; t < 9; ++t) {
        const int64_t i = row + t / 3, j = column + t % 3;
        if (i < 0 || i >= kIn || j < 0 || j >= kIn) continue;
        const int64_t channel = m / (kFilters / kGroup) * (kChannels / kGroup) + c;
        sum += (x[static_cast<size_t>(((n * kChannels + channel) * kIn + i) * kIn + j)] + 4) *
               w[static_cast<size_t>((m * kChannels / kGroup + c) * 9 + t)];
      }
    }
    want.push_back(sum);
  }
  const char* op =
      R"(type: "ConvInteger" input: "A" input: "B" input: "C" output: "Y" arg { name: "group" i: 2 }
                      arg { name: "pads" ints: 1 ints: 1 ints: 1 ints: 1 } arg { name: "strides" ints: 2 ints: 2 })";
  RunOp(&ws, op);
  ExpectTensor<int32_t>(ws, "Y", {2, kFilters, kOut, kOut}, want);
  ExpectSameBitsForAllThreads(&ws, op);
}

TEST(ConvIntegerTest, RejectsWindowsThatDoNotFit) {
  struct Row {
    const char* arguments;
    std::vector<int64_t> filter;
    const char* error;
  };
  const Row rows[] = {
      {"", {1, 1, 4, 1}, "windows of spatial axis 0 span 4 elements"},
      {"", {1, 2, 1, 1}, "the filter W has shape [1, 2, 1, 1]"},
      {"", {1, 1, 3}, "rank of the filter W"},
      {R"(arg { name: "group" i: 0 })", {1, 1, 1, 1}, "group"},
      {R"(arg { name: "strides" ints: 0 ints: 1 })", {1, 1, 1, 1}, "argument strides contains 0"},
      {R"(arg { name: "strides" ints: 1 })",
       {1, 1, 1, 1},
       "argument strides has 1 numbers, want 2"},
      {R"(arg { name: "pads" ints: 1 ints: 1 })",
       {1, 1, 1, 1},
       "argument pads has 2 numbers, want 4"},
      {R"(arg { name: "dilations" ints: 9223372036854775807 ints: 1 })",
       {1, 1, 1, 1},
       "argument dilations contains"},
      {R"(arg { name: "dilations" ints: 0 ints: 1 })",
       {1, 1, 1, 1},
       "argument dilations contains 0, want 1"},
      {R"(arg { name: "kernel_shape" ints: 2 ints: 2 })",
       {1, 1, 1, 1},
       "argument kernel_shape is [2, 2]"},
      {R"(arg { name: "auto_pad" s: "SAME" })", {1, 1, 1, 1}, "argument auto_pad is \"SAME\""},
  };
  for (const Row& row : rows) {
    int64_t count = 1;
    for (const int64_t dim : row.filter) count *= dim;
    const OnnxCase c{"ConvInteger",
                     row.arguments,
                     {U8({1, 1, 3, 3}, std::vector<double>(9, 1)),
                      U8(row.filter, std::vector<double>(static_cast<size_t>(count), 1))},
                     {I32({}, {})}};
    Workspace ws;
    FeedOnnxCase(&ws, c);
    ExpectThrows([&] { RunOp(&ws, OnnxCaseOp(c)); }, row.error);
  }
}

}  // namespace
}  // namespace caffe2rt::conv_integer_test
