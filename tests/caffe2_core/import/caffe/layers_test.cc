// Layers compute what their definitions say, for layers without recorded values.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::layers_test {
namespace {

std::string Input(const std::string& name, const std::vector<int>& dims) {
  std::string text =
      "layer { name: '" + name + "' type: 'Input' top: '" + name + "' input_param { shape {";
  for (const int dim : dims) text += " dim: " + std::to_string(dim);
  return text + " } } }\n";
}
const char* const kNoWeights = "name: 'none'";

Tensor Ramp(const std::vector<int64_t>& dims) {
  Tensor x(dims, CPU);
  for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = static_cast<float>(i);
  return x;
}

TEST(CaffeLayersTest, UpsampleWithAMaskUndoesPooling) {
  const std::string pool = Input("x", {1, 1, 2, 4}) +
                           "layer { name: 'p' type: 'Pooling' bottom: 'x' top: 'p' top: 'mask' "
                           "pooling_param { kernel_size: 2 stride: 2 } }";
  const NamedTensors inputs = {{"x", Floats({1, 1, 2, 4}, {1, 9, 3, 4, 5, 6, 8, 7})}};
  const Tensor want = Floats({1, 1, 2, 4}, {0, 9, 0, 0, 0, 0, 8, 0});
  for (const char* param : {"scale: 2", "upsample_h: 2 upsample_w: 4", "scale_h: 2 scale_w: 2"}) {
    const std::string net = pool +
                            "layer { name: 'u' type: 'Upsample' bottom: 'p' bottom: 'mask' top: "
                            "'u' upsample_param { " +
                            param + " } }";
    EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, inputs, "u"), want), 0) << param;
  }
  // The mask has the indices in the plane.
  EXPECT_EQ(
      Difference(RunCaffeText(pool, kNoWeights, inputs, "mask"), Floats({1, 1, 1, 2}, {1, 6})), 0);
}

TEST(CaffeLayersTest, UpsampleMayLeaveOutTheLastRow) {
  const std::string net = Input("x", {1, 1, 1, 1}) + Input("mask", {1, 1, 1, 1}) +
                          "layer { name: 'u' type: 'Upsample' bottom: 'x' bottom: 'mask' top: 'u' "
                          "upsample_param { scale: 3 pad_out_h: true } }";
  const Tensor got =
      RunCaffeText(net, kNoWeights,
                   {{"x", Floats({1, 1, 1, 1}, {5})}, {"mask", Floats({1, 1, 1, 1}, {4})}}, "u");
  EXPECT_EQ(Difference(got, Floats({1, 1, 2, 3}, {0, 0, 0, 0, 5, 0})), 0);
}

// Darknet's loop, with the dimensions of the bottom.
std::vector<float> Reorg(const std::vector<float>& x, int c, int h, int w, int s, bool reverse) {
  std::vector<float> out(x.size());
  const int out_c = c / (s * s);
  for (int k = 0; k < c; ++k) {
    for (int j = 0; j < h; ++j) {
      for (int i = 0; i < w; ++i) {
        const int in_index = i + w * (j + h * k), offset = k / out_c;
        const int w2 = i * s + offset % s, h2 = j * s + offset / s;
        const int out_index = w2 + w * s * (h2 + h * s * (k % out_c));
        if (reverse) {
          out[static_cast<size_t>(out_index)] = x[static_cast<size_t>(in_index)];
        } else {
          out[static_cast<size_t>(in_index)] = x[static_cast<size_t>(out_index)];
        }
      }
    }
  }
  return out;
}

TEST(CaffeLayersTest, ReorgHasDarknetsOrder) {
  for (const bool reverse : {false, true}) {
    const std::string net = Input("x", {1, 4, 4, 4}) +
                            "layer { name: 'r' type: 'Reorg' bottom: 'x' top: 'r' "
                            "reorg_param { stride: 2 " +
                            (reverse ? "reverse: true" : "") + " } }";
    const Tensor x = Ramp({1, 4, 4, 4});
    const std::vector<float> ramp(x.data<float>(), x.data<float>() + x.numel());
    const std::vector<int64_t> dims =
        reverse ? std::vector<int64_t>{1, 1, 8, 8} : std::vector<int64_t>{1, 16, 2, 2};
    EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, {{"x", x}}, "r"),
                         Floats(dims, Reorg(ramp, 4, 4, 4, 2, reverse))),
              0);
  }
}

TEST(CaffeLayersTest, PsRoiPoolingTakesAChannelForEachBin) {
  const std::string net = Input("x", {1, 4, 2, 2}) + Input("r", {1, 5}) +
                          "layer { name: 'y' type: 'PSROIPooling' bottom: 'x' bottom: 'r' top: 'y' "
                          "psroi_pooling_param { spatial_scale: 1 output_dim: 1 group_size: 2 } }";
  // Channel c is the plane c, c, c, c + 4: the last bin, of channel 3, has the pixel 7 alone.
  Tensor x({1, 4, 2, 2}, CPU);
  for (int64_t i = 0; i < 16; ++i) {
    x.mutable_data<float>()[i] = static_cast<float>(i / 4 + (i % 4 == 3 ? 4 : 0));
  }
  const Tensor got =
      RunCaffeText(net, kNoWeights, {{"x", x}, {"r", Floats({1, 5}, {0, 0, 0, 1, 1})}}, "y");
  EXPECT_EQ(Difference(got, Floats({1, 1, 2, 2}, {0, 1, 2, 7})), 0);
}

TEST(CaffeLayersTest, ProposalsComeFromAnchorsOfTheForeground) {
  std::vector<float> scores(18, 0.9f);  // the background has the higher scores
  for (size_t i = 9; i < 18; ++i) scores[i] = 0.1f;
  scores[9 + 4] = 0.8f;  // ratio 1, scale 16: [-120, -120, 135, 135]
  scores[9 + 0] = 0.7f;  // ratio 0.5, scale 8: [-84, -40, 99, 55]
  const std::string inputs =
      Input("scores", {1, 18, 1, 1}) + Input("deltas", {1, 36, 1, 1}) + Input("info", {1, 3});
  const std::string ends = " bottom: 'scores' bottom: 'deltas' bottom: 'info' top: 'rois' ";
  for (const std::string& layer :
       {"type: 'Python'" + ends +
            "python_param { module: 'rpn.proposal_layer' layer: 'ProposalLayer' "
            "param_str: \"'feat_stride': 16\" }",
        "type: 'Proposal'" + ends + "proposal_param { feat_stride: 16 }"}) {
    Workspace ws;
    RunImported(ImportCaffeFromMemory(inputs + "layer { name: 'p' " + layer + " }", kNoWeights, {}),
                {{"scores", Floats({1, 18, 1, 1}, scores)},
                 {"deltas", Floats({1, 36, 1, 1}, std::vector<float>(36))},
                 {"info", Floats({1, 3}, {200, 300, 1})}},
                &ws);
    const Tensor& rois = ws.GetBlob("rois")->Get<Tensor>();
    ASSERT_EQ(rois.dim(1), 5);
    ASSERT_GE(rois.dim(0), 2);
    const std::vector<float> first(rois.data<float>(), rois.data<float>() + 10);
    EXPECT_EQ(first, (std::vector<float>{0, 0, 0, 135, 135, 0, 0, 0, 99, 55}));
  }
  ExpectThrows(
      [&] {
        ImportCaffeFromMemory(inputs + "layer { name: 'p' type: 'Python'" + ends +
                                  "python_param { module: 'm' layer: 'Other' } }",
                              kNoWeights, {});
      },
      "1 of type Python, layer \"Other\" of module \"m\" (\"p\": no Python is run; known is");
}

TEST(CaffeLayersTest, DeconvolutionMayHaveADilation) {
  const std::string net = Input("x", {1, 1, 1, 2}) +
                          "layer { name: 'y' type: 'Deconvolution' bottom: 'x' top: 'y' "
                          "convolution_param { num_output: 1 kernel_h: 1 kernel_w: 2 dilation: 2 "
                          "bias_term: false } }";
  const std::string weights =
      "layer { name: 'y' type: 'Deconvolution' blobs { shape { dim: 1 dim: 1 dim: 1 dim: 2 } "
      "data: 3 data: 5 } }";
  // 1 * (3, 0, 5) and, one further, 2 * (3, 0, 5).
  EXPECT_EQ(Difference(RunCaffeText(net, weights, {{"x", Floats({1, 1, 1, 2}, {1, 2})}}, "y"),
                       Floats({1, 1, 1, 4}, {3, 6, 5, 10})),
            0);
}

TEST(CaffeLayersTest, DeconvolutionWithoutWeightsInterpolates) {
  const std::string net = Input("x", {1, 1, 1, 1}) +
                          "layer { name: 'y' type: 'Deconvolution' bottom: 'x' top: 'y' "
                          "convolution_param { num_output: 1 kernel_size: 4 bias_term: false "
                          "weight_filler { type: 'bilinear' } } }";
  // f = 2 and c = 0.75: the weights 1 - |x / 2 - 0.75| are 0.25, 0.75, 0.75, 0.25.
  const std::vector<float> line = {0.25f, 0.75f, 0.75f, 0.25f};
  std::vector<float> want;
  for (const float y : line) {
    for (const float x : line) want.push_back(x * y);
  }
  EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, {{"x", Floats({1, 1, 1, 1}, {1})}}, "y"),
                       Floats({1, 1, 4, 4}, want)),
            0);
}

TEST(CaffeLayersTest, CroppedAveragePoolsDivideByTheirPartOfThePadding) {
  // A 1 x 4 image with a pad of 1 and windows of 3, stride 2: 6 padded columns make 3 windows of
  // columns -1..1, 1..3, 3..5, of which 3..4 lie within the padding: two columns.
  const std::string net = Input("x", {1, 1, 1, 4}) +
                          "layer { name: 'y' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { "
                          "pool: AVE kernel_h: 1 kernel_w: 3 stride_h: 1 stride_w: 2 pad_h: 0 "
                          "pad_w: 1 } }";
  const Tensor got =
      RunCaffeText(net, kNoWeights, {{"x", Floats({1, 1, 1, 4}, {3, 6, 9, 12})}}, "y");
  EXPECT_LT(Difference(got, Floats({1, 1, 1, 3}, {3, 9, 6})), 1e-6);
}

// The same of rows, where no window of columns is cut.
TEST(CaffeLayersTest, CroppedAveragePoolsOfRowsDivideByTheirPartOfThePadding) {
  const std::string net = Input("x", {1, 1, 4, 1}) +
                          "layer { name: 'y' type: 'Pooling' bottom: 'x' top: 'y' pooling_param { "
                          "pool: AVE kernel_h: 3 kernel_w: 1 stride_h: 2 stride_w: 1 pad_h: 1 "
                          "pad_w: 0 } }";
  const Tensor got =
      RunCaffeText(net, kNoWeights, {{"x", Floats({1, 1, 4, 1}, {3, 6, 9, 12})}}, "y");
  EXPECT_LT(Difference(got, Floats({1, 1, 3, 1}, {3, 9, 6})), 1e-6);
}

}  // namespace
}  // namespace caffe2rt::test::layers_test
