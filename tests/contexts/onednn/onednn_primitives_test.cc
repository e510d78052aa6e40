// What the descriptors of primitives compute: each argument in its place, against sums worked out
// by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <unordered_map>

#include "contexts/onednn/onednn_library.h"
#include "contexts/onednn/onednn_version.h"

namespace caffe2rt::test::onednn_primitives_test {
namespace {

using dnnl::algorithm;
using dnnl::memory;
using Floats = std::vector<float>;

memory::desc Plain(const memory::dims& dims) {
  const memory::format_tag tags[] = {memory::format_tag::a, memory::format_tag::ab,
                                     memory::format_tag::abc, memory::format_tag::abcd};
  return memory::desc(dims, memory::data_type::f32, tags[dims.size() - 1]);
}

// Runs a primitive whose output has `size` elements.
Floats ResultOf(const dnnl::primitive& primitive, std::unordered_map<int, memory> arguments,
                const memory::desc& y, size_t size) {
  Floats result(size, -1);
  arguments.emplace(DNNL_ARG_DST, memory(y, OnednnEngine(), result.data()));
  primitive.execute(OnednnStream(), arguments);
  OnednnStream().wait();
  return result;
}
memory In(const memory::desc& desc, Floats* values) {
  return memory(desc, OnednnEngine(), values->data());
}

// The numbers 0 to 15 in a square.
TEST(OnednnPrimitivesTest, PoolsHaveKernelStrideAndPadding) {
  Floats square(16);
  for (size_t i = 0; i < square.size(); ++i) square[i] = static_cast<float>(i);
  const memory::desc x = Plain({1, 1, 4, 4});
  struct Row {
    algorithm how;
    int64_t kernel, stride, pad, side;
    Floats want;
  };
  const Row rows[] = {
      // Windows of the first 2 and the last 3 rows and columns.
      {algorithm::pooling_max, 3, 2, 1, 2, {5, 7, 13, 15}},
      {algorithm::pooling_avg_exclude_padding, 3, 2, 1, 2, {2.5f, 4, 8.5f, 10}},
      {algorithm::pooling_avg_include_padding, 3, 2, 1, 2, {10.f / 9, 24.f / 9, 51.f / 9, 10}},
      {algorithm::pooling_max, 2, 2, 0, 2, {5, 7, 13, 15}},
      {algorithm::pooling_avg_exclude_padding, 2, 2, 0, 2, {2.5f, 4.5f, 10.5f, 12.5f}},
      {algorithm::pooling_max, 3, 1, 0, 2, {10, 11, 14, 15}}};
  for (const Row& row : rows) {
    const memory::desc y = Plain({1, 1, row.side, row.side});
    const auto desc = NewPoolDesc(row.how, x, y, row.kernel, row.stride, row.pad);
    const Floats got =
        ResultOf(dnnl::pooling_forward(desc), {{DNNL_ARG_SRC, In(x, &square)}}, y, row.want.size());
    for (size_t i = 0; i < row.want.size(); ++i) {
      EXPECT_NEAR(got[i], row.want[i], 1e-5)
          << row.kernel << " " << row.stride << " " << row.pad << ", element " << i;
    }
  }
}

// x / (bias + alpha / size * the squares of `size` channels around it)^beta.
TEST(OnednnPrimitivesTest, LocalNormalizationHasItsFourNumbers) {
  Floats channels = {1, 2, 3, 4};
  const memory::desc x = Plain({1, 4, 1, 1});
  const auto desc = NewLrnDesc(x, 3, 0.5f, 2.f, 1.5f);
  const Floats got = ResultOf(dnnl::lrn_forward(desc), {{DNNL_ARG_SRC, In(x, &channels)}}, x, 4);
  const double squares[] = {1 + 4, 1 + 4 + 9, 4 + 9 + 16, 9 + 16};
  for (size_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(got[c], channels[c] / std::pow(1.5 + 0.5 / 3 * squares[c], 2), 1e-5) << c;
  }
}

// Two channels of one pixel: sums 2 * 5 + 1 and 3 * 5 - 1.
Floats ConvolvedWith(const dnnl::primitive_attr& attributes) {
  Floats pixel = {5}, weights = {2, 3}, bias = {1, -1};
  const memory::desc x = Plain({1, 1, 1, 1}), w = Plain({2, 1, 1, 1}), b = Plain({2}),
                     y = Plain({1, 2, 1, 1});
  const memory::dims strides(2, 1), pads(2, 0);
  const auto desc = NewPrimitiveDesc<dnnl::convolution_forward>(
      attributes, dnnl::prop_kind::forward_inference, algorithm::convolution_direct, x, w, b, y,
      strides, pads, pads);
  return ResultOf(dnnl::convolution_forward(desc),
                  {{DNNL_ARG_SRC, In(x, &pixel)},
                   {DNNL_ARG_WEIGHTS, In(w, &weights)},
                   {DNNL_ARG_BIAS, In(b, &bias)}},
                  y, 2);
}

TEST(OnednnPrimitivesTest, FunctionsOfOutputsHaveAlphaAndBeta) {
  struct Row {
    algorithm how;
    float alpha, beta;
    Floats want;
  };
  const Row rows[] = {{algorithm::eltwise_linear, 2, 3, {25, 31}},
                      {algorithm::eltwise_clip, 12, 13, {12, 13}}};
  for (const Row& row : rows) {
    dnnl::post_ops ops;
    AppendEltwise(row.how, row.alpha, row.beta, &ops);
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(ops);
    EXPECT_EQ(ConvolvedWith(attributes), row.want) << row.alpha << " " << row.beta;
  }
  // One after the other: half of 2 x + 3.
  dnnl::post_ops ops;
  AppendEltwise(algorithm::eltwise_linear, 2, 3, &ops);
  AppendEltwise(algorithm::eltwise_linear, 0.5f, 0, &ops);
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(ops);
  EXPECT_EQ(ConvolvedWith(attributes), (Floats{12.5f, 15.5f}));
}

TEST(OnednnPrimitivesTest, TheNameOfAPartHasItsOffset) {
  const memory::desc whole = Plain({2, 4});
  const auto name = [](const memory::desc& desc) { return OnednnLayoutName(desc).value_or(""); };
  EXPECT_EQ(name(whole), "f32 2x4 strides 4x1");
  EXPECT_EQ(name(whole.submemory_desc({2, 2}, {0, 1})), "f32 2x2 strides 4x1 offset 1");
  EXPECT_EQ(name(whole.submemory_desc({2, 2}, {0, 0})), "f32 2x2 strides 4x1");
  EXPECT_EQ(name(memory::desc({8, 16, 1, 1}, memory::data_type::f32, memory::format_tag::nChw16c)),
            "f32 8x16x1x1 strides 16x0x0x0 blocks 16b");
}

}  // namespace
}  // namespace caffe2rt::test::onednn_primitives_test
