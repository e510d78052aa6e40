// Rare arguments of layers, and weights that do not belong to the net.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::layer_arguments_test {
namespace {

std::string Blob(const std::string& dims, const std::string& data) {
  return "blobs { shape { dim: [" + dims + "] } data: [" + data + "] } ";
}
std::string Weights(const std::string& blobs, const std::string& name = "y") {
  return "layer { name: '" + name + "' " + blobs + "} ";
}

// --- arguments ---

TEST(CaffeLayerArgumentsTest, OneLevelOfAPyramidIsNotFlattened) {
  const Tensor x = Floats({1, 1, 2, 2}, {1, 4, 2, 3});
  const std::string net =
      Input("x", "1, 1, 2, 2") + Layer("SPP", "spp_param { pyramid_height: 1 }");
  EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, {{"x", x}}, "y"), Floats({1, 1, 1, 1}, {4})),
            0);
}

TEST(CaffeLayerArgumentsTest, CoefficientsHaveNoEffectOnMaxima) {
  const std::string net =
      Input("x", "1, 2") +
      Layer("Eltwise", "bottom: 'x' eltwise_param { operation: MAX coeff: [2, 3] }");
  const Tensor x = Floats({1, 2}, {-1, 5});
  EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, {{"x", x}}, "y"), x), 0);
  ExpectThrows(
      [&] {
        ImportCaffeFromMemory(
            Input("x", "1, 2") +
                Layer("Eltwise", "bottom: 'x' eltwise_param { operation: PROD coeff: [2, 3] }"),
            "", {});
      },
      "field coeff wants operation SUM");
}

TEST(CaffeLayerArgumentsTest, MvnOfAMatrixHasAMeanForEachElement) {
  const Tensor x = Floats({2, 2}, {1, 2, 3, 5});
  EXPECT_EQ(
      Difference(RunCaffeText(Input("x", "2, 2") + Layer("MVN", ""), kNoWeights, {{"x", x}}, "y"),
                 Floats({2, 2}, {0, 0, 0, 0})),
      0);
}

TEST(CaffeLayerArgumentsTest, KernelsMayExceedTheBottomByLessThanTheirStride) {
  const auto net = [](const std::string& param) {
    return Input("x", "1, 1, 2, 2") + Layer("Pooling", "pooling_param { " + param + " }");
  };
  const Tensor x = Floats({1, 1, 2, 2}, {1, 4, 2, 3});
  EXPECT_EQ(Difference(RunCaffeText(net("kernel_size: 3 stride: 2"), kNoWeights, {{"x", x}}, "y"),
                       Floats({1, 1, 1, 1}, {4})),
            0);
  for (const char* param : {"kernel_size: 3", "kernel_size: 3 stride: 2 round_mode: FLOOR",
                            "pool: AVE kernel_size: 4 stride: 2"}) {
    ExpectThrows([&] { ImportCaffeFromMemory(net(param), "", {}); },
                 "want at most its size with pads on both sides");
  }
}

// As the first nets of Fast R-CNN do.
TEST(CaffeLayerArgumentsTest, BoxesMayHaveFourAxes) {
  const std::string net =
      Input("x", "1, 1, 2, 2") + Input("r", "1, 5, 1, 1") +
      Layer("ROIPooling", "bottom: 'r' roi_pooling_param { pooled_h: 1 pooled_w: 1 }");
  const Tensor x = Floats({1, 1, 2, 2}, {1, 4, 2, 3});
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2, 5, 1, 1}, {2, 5}}) {
    const Tensor boxes = Floats(dims, {0, 0, 0, 0, 1, 0, 0, 0, 1, 1});
    EXPECT_EQ(Difference(RunCaffeText(net, kNoWeights, {{"x", x}, {"r", boxes}}, "y"),
                         Floats({2, 1, 1, 1}, {2, 4})),
              0);
  }
}

TEST(CaffeLayerArgumentsTest, HugeAxesAreErrors) {
  const std::string net = Input("x", "1, 1, 1, 9223372036854775807") +
                          Layer("Pooling", "pooling_param { kernel_size: 1 pad: 1 }");
  ExpectThrows([&] { ImportCaffeFromMemory(net, "", {}); }, "size of an axis");
}

// A pad of one axis lets Caffe leave out a window behind the input along the other axis, whose stride
// of 3 is larger than its kernel: ceil((5 - 1) / 3) + 1 = 3 windows of columns 0, 3 and 6, of 5.
TEST(CaffeLayerArgumentsTest, PadsOfOneAxisLeaveOutWindowsOfTheOther) {
  const Tensor x = Floats({1, 1, 1, 5}, {3, 1, 1, 6, 9});
  for (const char* pool : {"MAX", "AVE"}) {
    const std::string net =
        Input("x", "1, 1, 1, 5") +
        Layer("Pooling",
              "pooling_param { pool: " + std::string(pool) +
                  " kernel_h: 3 kernel_w: 1 stride_h: 1 stride_w: 3 pad_h: 1 pad_w: 0 }");
    const float rows = pool[0] == 'M' ? 1 : 3;  // of which two are padding
    EXPECT_LT(Difference(RunCaffeText(net, kNoWeights, {{"x", x}}, "y"),
                         Floats({1, 1, 1, 2}, {3 / rows, 6 / rows})),
              1e-6)
        << pool;
  }
}

TEST(CaffeLayerArgumentsTest, BatchNormMayShareItsBlobs) {
  const std::string param =
      "param { name: 'mean' } param { name: 'var' } param { name: 'factor' } ";
  const std::string net = Input("x", "1, 2") +
                          Layer("BatchNorm", param + "batch_norm_param { eps: 0 }", "a") +
                          Layer("BatchNorm", param + "batch_norm_param { eps: 0 }", "y");
  // (x - mean / 2) / sqrt(var / 2)
  const std::string weights = Weights(Blob("2", "2, 4") + Blob("2", "8, 32") + Blob("1", "2"), "a");
  EXPECT_LT(Difference(RunCaffeText(net, weights, {{"x", Floats({1, 2}, {5, 10})}}, "y"),
                       Floats({1, 2}, {2, 2})),
            1e-6);
}

// --- weights ---

void ExpectError(const std::string& net, const std::string& weights, const std::string& part) {
  ExpectThrows([&] { ImportCaffeFromMemory(net, weights, {.weights = "w"}); }, part);
}

TEST(CaffeWeightsOfLayersTest, ShapesMustAgreeExceptForOnes) {
  const std::string net =
      Input("x", "1, 6") +
      Layer("InnerProduct", "inner_product_param { num_output: 2 bias_term: false }");
  const std::string values = "1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0";
  for (const char* dims : {"2, 6", "1, 1, 2, 6", "2, 6, 1, 1"}) {
    const Tensor got = RunCaffeText(net, Weights(Blob(dims, values)),
                                    {{"x", Floats({1, 6}, {7, 8, 0, 0, 0, 0})}}, "y");
    EXPECT_EQ(Difference(got, Floats({1, 2}, {7, 8})), 0) << dims;
  }
  // The same number of elements in another order would give other results without a word.
  ExpectError(net, Weights(Blob("6, 2", values)), "blob 0 has shape [6, 2] in \"w\", want [2, 6]");
  ExpectError(net, Weights(Blob("3, 4", values)), "blob 0 has shape [3, 4] in \"w\", want [2, 6]");
}

TEST(CaffeWeightsOfLayersTest, NumbersOfBlobsMustAgree) {
  const std::string net =
      Input("x", "1, 1") +
      Layer("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }");
  ExpectError(net, Weights(Blob("1, 1", "2") + Blob("1", "3")),
              "layer \"y\" of type InnerProduct: it has 2 blobs in \"w\", want 1 by its fields");
  ExpectError(Input("x", "1, 1") + Layer("ReLU", ""), Weights(Blob("1", "2")),
              "it has 1 blob in \"w\", want 0 by its fields");
  // Statistics of the batch need none.
  EXPECT_NO_THROW(ImportCaffeFromMemory(
      Input("x", "1, 1") + Layer("BatchNorm", "batch_norm_param { use_global_stats: false }"),
      Weights(Blob("1", "2") + Blob("1", "2") + Blob("1", "2")), {}));
}

TEST(CaffeWeightsOfLayersTest, LayersWithoutWeightsAreListed) {
  const std::string fields = "inner_product_param { num_output: 1 }";
  const std::string net = Input("x", "1, 1") + Layer("InnerProduct", fields, "a") +
                          Layer("InnerProduct", fields, "b") + Layer("PReLU", "", "c") +
                          Layer("ReLU", "", "d");
  ExpectError(
      net, Weights(Blob("1, 1", "2") + Blob("1", "3"), "b"),
      "the weights \"w\" have no blobs for 2 layers of the net: \"a\" of type InnerProduct, "
      "\"c\" of type PReLU; want the weights of this net");
  ExpectError(
      net, net,
      "\"c\" of type PReLU; the file has no blobs at all: are the net and the weights swapped?");
}

TEST(CaffeWeightsOfLayersTest, PythonLayersAreListedByNames) {
  const std::string python = "python_param { module: 'm' layer: 'Odd' }";
  ExpectError(Input("x", "1, 1") + Layer("Python", python, "a") + Layer("Python", python, "b") +
                  Layer("Frobnicate", "", "c"),
              "",
              "not supported: 1 of type Frobnicate (\"c\"), 2 of type Python, layer \"Odd\" of "
              "module \"m\" "
              "(\"a\", \"b\": no Python is run; known is ProposalLayer of rpn.proposal_layer");
}

}  // namespace
}  // namespace caffe2rt::test::layer_arguments_test
