#pragma once
// Convolutions for which IDEEP has several algorithms, and ConvFusion by definition.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/operators/conv/naive_conv.h"
#include "tests/support/activation_formulas.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {

inline const NaiveImage kImages[] = {
    {.batch = 1,
     .channels = 64,
     .height = 14,
     .width = 15,
     .filters = 64,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1},
    {.batch = 3,
     .channels = 32,
     .height = 9,
     .width = 8,
     .filters = 48,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1},
    {.batch = 1,
     .channels = 512,
     .height = 7,
     .width = 7,
     .filters = 256,
     .kernel_h = 1,
     .kernel_w = 1},
    {.batch = 1,
     .channels = 128,
     .height = 7,
     .width = 7,
     .filters = 256,
     .kernel_h = 3,
     .kernel_w = 3,
     .stride_h = 2,
     .stride_w = 2,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1},
    {.batch = 1,
     .channels = 96,
     .height = 15,
     .width = 15,
     .filters = 24,
     .kernel_h = 1,
     .kernel_w = 1},
    {.batch = 1,
     .channels = 96,
     .height = 28,
     .width = 27,
     .filters = 96,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1,
     .group = 96},
    {.batch = 2,
     .channels = 40,
     .height = 12,
     .width = 13,
     .filters = 40,
     .kernel_h = 3,
     .kernel_w = 3,
     .stride_h = 2,
     .stride_w = 2,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1,
     .group = 40},
    {.batch = 1,
     .channels = 24,
     .height = 28,
     .width = 28,
     .filters = 60,
     .kernel_h = 1,
     .kernel_w = 1,
     .group = 3},
    {.batch = 1,
     .channels = 64,
     .height = 10,
     .width = 10,
     .filters = 64,
     .kernel_h = 3,
     .kernel_w = 3,
     .top = 1,
     .left = 1,
     .bottom = 1,
     .right = 1,
     .group = 2},
    {.batch = 1,
     .channels = 3,
     .height = 33,
     .width = 31,
     .filters = 64,
     .kernel_h = 7,
     .kernel_w = 7,
     .stride_h = 2,
     .stride_w = 2,
     .top = 3,
     .left = 3,
     .bottom = 3,
     .right = 3},
    {.batch = 1,
     .channels = 64,
     .height = 7,
     .width = 6,
     .filters = 1000,
     .kernel_h = 1,
     .kernel_w = 1},
    {.batch = 0,
     .channels = 16,
     .height = 8,
     .width = 8,
     .filters = 16,
     .kernel_h = 3,
     .kernel_w = 3},
};

inline std::string Number(int64_t value) { return std::to_string(value); }

inline std::string WindowText(const NaiveImage& p) {
  const auto pair = [](const char* name, int64_t a, int64_t b) {
    return "arg { name: \"" + std::string(name) + "\" ints: " + Number(a) + " ints: " + Number(b) +
           " } ";
  };
  return pair("kernels", p.kernel_h, p.kernel_w) + pair("strides", p.stride_h, p.stride_w) +
         pair("dilations", p.dilation_h, p.dilation_w) +
         "arg { name: \"pads\" ints: " + Number(p.top) + " ints: " + Number(p.left) +
         " ints: " + Number(p.bottom) + " ints: " + Number(p.right) +
         " } arg { name: \"group\" i: " + Number(p.group) + " } ";
}

struct Fusion {
  std::string activation = {};
  bool bias = false, sum = false, in_place = false;
};

inline std::string FusionText(const Fusion& fusion) {
  return FormulaOf(fusion.activation).Text() +
         "arg { name: \"sum\" i: " + (fusion.sum ? "1" : "0") + " } ";
}

// The inputs of a convolution and the result by definition.
class ConvFusionCase {
 public:
  ConvFusionCase(Workspace* ws, const NaiveImage& p, const Fusion& fusion) {
    const int64_t out = p.out_h() * p.out_w();
    y_dims = {p.batch, p.filters, p.out_h(), p.out_w()};
    FeedRandom(ws, "X", {p.batch, p.channels, p.height, p.width}, -1, 1, 2);
    const float scale =
        2.0f / std::sqrt(static_cast<float>(p.channels / p.group * p.kernel_h * p.kernel_w));
    FeedRandom(ws, "W", {p.filters, p.channels / p.group, p.kernel_h, p.kernel_w}, -scale, scale,
               3);
    FeedRandom(ws, "b", {p.filters}, -1, 1, 4);
    FeedRandom(ws, "S", y_dims, -1, 1, 5);
    want = NaiveConv(p, Fetch<float>(*ws, "X"), Fetch<float>(*ws, "W"),
                     fusion.bias ? Fetch<float>(*ws, "b") : std::vector<float>());
    const std::vector<float> s = Fetch<float>(*ws, "S");
    EXPECT_EQ(want.size(), static_cast<size_t>(p.batch * p.filters * out));
    const ActivationFormula& formula = FormulaOf(fusion.activation);
    for (size_t i = 0; i < want.size(); ++i) {
      want[i] = static_cast<float>(formula.exact(double{want[i]} + (fusion.sum ? s[i] : 0)));
    }
  }
  std::vector<int64_t> y_dims;
  std::vector<float> want;
};

}  // namespace caffe2rt::test
