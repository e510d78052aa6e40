// Layers whose blobs tell what their bottom does not: nets without shapes compute what those with
// shapes do. Also blobs that several layers share, and blobs of more than one piece.
#include <gtest/gtest.h>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/import/caffe/weights_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::layer_weights_test {
namespace {

using Dims = std::vector<int64_t>;
using Numbers = std::vector<float>;

template <class T>
std::string Fields(const std::string& name, const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += MakeString(name, ": ", value, " ");
  return text;
}
std::string Blob(const Dims& dims, const Numbers& values) {
  return "blobs { shape { " + Fields("dim", dims) + "} " + Fields("data", values) + "} ";
}
std::string WeightsOf(const std::string& name, const std::string& blobs) {
  return "layer { name: '" + name + "' " + blobs + "}\n";
}

const std::string kPair =
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [1, 2] } } }\n";

// The layer "y" of the net, which reads x, with and without the shape of x.
struct LayerCase {
  const char* type;
  const char* param;
  std::string blobs;
  Dims dims;
  Numbers x;
  Dims want_dims;
  Numbers want;
};
void CheckLayers(const std::vector<LayerCase>& cases) {
  for (const LayerCase& one : cases) {
    for (const bool known : {true, false}) {
      SCOPED_TRACE(MakeString(one.type, " ", one.param, known ? "" : " without a shape"));
      const std::string net =
          "layer { name: 'x' type: 'Input' top: 'x' " +
          (known ? "input_param { shape { " + Fields("dim", one.dims) + "} } " : "") +
          "} layer { name: 'y' type: '" + one.type + "' bottom: 'x' top: 'y' " + one.param + " }";
      try {
        const Tensor got =
            RunCaffeText(net, WeightsOf("y", one.blobs), {{"x", Floats(one.dims, one.x)}}, "y");
        EXPECT_LT(Difference(got, Floats(one.want_dims, one.want)), 1e-6);
      } catch (const EnforceNotMet& error) {
        ADD_FAILURE() << error.message();
      }
    }
  }
}

TEST(CaffeLayerWeightsTest, FiltersHaveTheChannels) {
  const std::string bias = Blob({2}, {1, 2});
  CheckLayers(
      {{"Convolution",
        "convolution_param { num_output: 2 kernel_size: 1 group: 2 }",
        Blob({2, 1, 1, 1}, {10, 100}) + bias,
        {1, 2, 1, 2},
        {1, 2, 3, 4},
        {1, 2, 1, 2},
        {11, 21, 302, 402}},
       {"Convolution",
        "convolution_param { num_output: 1 kernel_h: 2 kernel_w: 1 bias_term: false }",
        Blob({1, 2, 2, 1}, {1, 2, 3, 4}),
        {1, 2, 2, 1},
        {1, 10, 100, 1000},
        {1, 1, 1, 1},
        {4321}},
       {"DepthwiseConvolution",
        "convolution_param { num_output: 2 kernel_size: 1 }",
        Blob({2, 1, 1, 1}, {3, 5}) + bias,
        {1, 2, 1, 1},
        {1, 10},
        {1, 2, 1, 1},
        {4, 52}},
       // Filters of transposed convolutions are [C, num_output / group, kernel].
       {"Deconvolution",
        "convolution_param { num_output: 3 kernel_size: 1 bias_term: false }",
        Blob({2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}),
        {1, 2, 1, 1},
        {1, 10},
        {1, 3, 1, 1},
        {41, 52, 63}},
       {"Deconvolution",
        "convolution_param { num_output: 4 kernel_size: 1 group: 2 bias_term: false }",
        Blob({2, 2, 1, 1}, {1, 2, 3, 4}),
        {1, 2, 1, 1},
        {1, 10},
        {1, 4, 1, 1},
        {1, 2, 30, 40}},
       // Taps 1, 2 of the first channel and 3, 4 of the second, two apart.
       {"Deconvolution",
        "convolution_param { num_output: 1 kernel_h: 1 kernel_w: 2 dilation: 2 bias_term: false }",
        Blob({2, 1, 1, 2}, {1, 2, 3, 4}),
        {1, 2, 1, 1},
        {1, 10},
        {1, 1, 1, 3},
        {31, 0, 42}},
       // Two channels of two outputs each: x is 1 and 10.
       {"Deconvolution",
        "convolution_param { num_output: 4 kernel_h: 1 kernel_w: 2 dilation: 2 group: 2 bias_term: "
        "false }",
        Blob({2, 2, 1, 2}, {1, 2, 3, 4, 5, 6, 7, 8}),
        {1, 2, 1, 1},
        {1, 10},
        {1, 4, 1, 3},
        {1, 0, 2, 3, 0, 4, 50, 0, 60, 70, 0, 80}},
       {"InnerProduct",
        "inner_product_param { num_output: 2 }",
        Blob({2, 3}, {1, 2, 3, 4, 5, 6}) + bias,
        {1, 3},
        {1, 10, 100},
        {1, 2},
        {322, 656}},
       {"InnerProduct",
        "inner_product_param { num_output: 2 transpose: true bias_term: false }",
        Blob({3, 2}, {1, 2, 3, 4, 5, 6}),
        {1, 3},
        {1, 10, 100},
        {1, 2},
        {531, 642}},
       {"InnerProduct",
        "inner_product_param { num_output: 2 axis: 2 bias_term: false }",
        Blob({2, 2}, {1, 2, 3, 4}),
        {1, 2, 2},
        {1, 10, 100, 1000},
        {1, 2, 2},
        {21, 43, 2100, 4300}},
       // The first blob of the third generation of files has four axes.
       {"InnerProduct",
        "inner_product_param { num_output: 2 bias_term: false }",
        "blobs { num: 1 channels: 1 height: 2 width: 3 " +
            Fields<float>("double_data", {1, 2, 3, 4, 5, 6}) + "} ",
        {1, 3},
        {1, 10, 100},
        {1, 2},
        {321, 654}}});
}

TEST(CaffeLayerWeightsTest, FactorsCoverTheirChannels) {
  const Dims dims = {1, 2, 1, 2};
  const Numbers x = {1, -1, 2, -2};
  const std::string old = "blobs { num: 1 channels: 1 height: 1 width: 2 data: 3 data: 5 } ";
  CheckLayers({{"PReLU", "", Blob({2}, {3, 5}), dims, x, dims, {1, -3, 2, -10}},
               {"PReLU",
                "prelu_param { channel_shared: true }",
                Blob({1}, {3}),
                dims,
                x,
                dims,
                {1, -3, 2, -6}},
               {"Scale", "", Blob({2}, {3, 5}), dims, x, dims, {3, -3, 10, -10}},
               {"Scale", "", old, dims, x, dims, {3, -3, 10, -10}},
               {"Scale",
                "scale_param { axis: 3 bias_term: true }",
                Blob({2}, {3, 5}) + Blob({2}, {7, 9}),
                dims,
                x,
                dims,
                {10, 4, 13, -1}},
               {"Scale",
                "scale_param { num_axes: 0 bias_term: true }",
                Blob({}, {3}) + Blob({}, {4}),
                dims,
                x,
                dims,
                {7, 1, 10, -2}},
               {"Scale",
                "scale_param { axis: 1 num_axes: 3 }",
                Blob({2, 1, 2}, {2, 3, 4, 5}),
                dims,
                x,
                dims,
                {2, -3, 8, -10}},
               {"Bias", "", Blob({2}, {3, 5}), dims, x, dims, {4, 2, 7, 3}},
               {"Bias", "", old, dims, x, dims, {4, 2, 7, 3}},
               {"Bias", "bias_param { axis: 3 }", Blob({2}, {3, 5}), dims, x, dims, {4, 4, 5, 3}},
               {"Embed",
                "embed_param { num_output: 2 input_dim: 3 }",
                Blob({3, 2}, {1, 2, 3, 4, 5, 6}) + Blob({2}, {10, 20}),
                {3},
                {2, 0, 2},
                {3, 2},
                {15, 26, 11, 22, 15, 26}}});
}

TEST(CaffeLayerWeightsTest, StatisticsAreDividedByTheirFactor) {
  const Dims dims = {1, 2, 1, 2};
  const Numbers x = {3, 5, 3, 1};
  // Means of 1 and 2, deviations of 2 and 1: (x - mean) / deviation is 1, 2, 1, -1.
  const std::string sums = Blob({2}, {2, 4}) + Blob({2}, {8, 2}) + Blob({1}, {2});
  const std::string means = Blob({2}, {1, 2}) + Blob({2}, {4, 1});
  const std::string scale = Blob({2}, {2, 3}), bias = Blob({2}, {10, 20});
  const Numbers scaled = {12, 14, 23, 17};
  CheckLayers(
      {{"BatchNorm", "batch_norm_param { eps: 0 }", sums, dims, x, dims, {1, 2, 1, -1}},
       // Variances of 4 + 0.5 * 10 and 1 + 5.
       {"BatchNorm",
        "batch_norm_param { eps: 5 }",
        means + Blob({1}, {1}),
        dims,
        x,
        dims,
        {2.f / 3, 4.f / 3, 0.40824829f, -0.40824829f}},
       // A factor of 0: both are 0.
       {"BatchNorm",
        "batch_norm_param { eps: 0.25 }",
        Blob({2}, {2, 4}) + Blob({2}, {8, 2}) + Blob({1}, {0}),
        dims,
        x,
        dims,
        {6, 10, 6, 2}},
       {"BatchNorm", "batch_norm_param { eps: 0 scale_bias: true }", sums + scale + bias, dims, x,
        dims, scaled},
       {"BatchNorm", "batch_norm_param { eps: 0 }", sums + scale + bias, dims, x, dims, scaled},
       {"CuDNNBatchNorm", "batch_norm_param { eps: 0 }", sums + scale + bias, dims, x, dims,
        scaled},
       {"BatchNormScale", "bn_param { eps: 0 }", scale + bias + means, dims, x, dims, scaled},
       {"BN", "bn_param { eps: 0 }", scale + bias + means, dims, x, dims, scaled},
       {"BN", "", scale + bias, dims, x, dims, {16, 20, 29, 23}},
       {"BN",
        "",
        Blob({1, 2, 1, 1}, {2, 3}) + Blob({1, 2, 1, 1}, {10, 20}),
        dims,
        x,
        dims,
        {16, 20, 29, 23}}});
}

TEST(CaffeLayerWeightsTest, NormsHaveOneScaleOrOneForEachChannel) {
  const Dims dims = {1, 2, 1, 2};
  const Numbers x = {3, 0, 4, 5};  // norms of 5 and 5, and of the root of 50
  const char* each = "norm_param { across_spatial: false eps: 0 }";
  CheckLayers({{"Normalize", each, Blob({2}, {5, 10}), dims, x, dims, {3, 0, 8, 10}},
               {"Normalize", each, Blob({1}, {10}), dims, x, dims, {6, 0, 8, 10}},
               {"Normalize",
                "norm_param { across_spatial: false eps: 75 channel_shared: false }",
                Blob({2}, {10, 20}),
                dims,
                x,
                dims,
                {3, 0, 8, 10}},
               {"Normalize",
                "norm_param { eps: 50 }",
                Blob({1, 1, 1, 2}, {10, 20}),
                dims,
                x,
                dims,
                {3, 0, 8, 10}},
               {"L2Norm", "", Blob({2}, {5, 10}), dims, x, dims, {3, 0, 8, 10}}});
}

// A layer of the net that the weights do not have, or have without blobs.
TEST(CaffeLayerWeightsTest, NormsAndParametersMayHaveNoScale) {
  const std::string x =
      "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [1, 2, 1, 2] } } } ";
  const Tensor input = Floats({1, 2, 1, 2}, {3, 0, 4, 5});
  const Tensor norm = RunCaffeText(x + "layer { name: 'y' type: 'L2Norm' bottom: 'x' top: 'y' }",
                                   WeightsOf("another", Blob({1}, {2})), {{"x", input}}, "y");
  EXPECT_LT(Difference(norm, Floats({1, 2, 1, 2}, {0.6f, 0, 0.8f, 1})), 1e-6);
  const Tensor sum =
      RunCaffeText(x + "layer { name: 'p' type: 'Parameter' top: 'p' parameter_param { shape { "
                       "dim: [1, 2, 1, 2] "
                       "} } } layer { name: 'y' type: 'Eltwise' bottom: 'x' bottom: 'p' top: 'y' }",
                   WeightsOf("p", Blob({1, 2, 1, 2}, {10, 20, 30, 40})), {{"x", input}}, "y");
  EXPECT_EQ(Difference(sum, Floats({1, 2, 1, 2}, {13, 20, 34, 45})), 0);
}

// An axis that is counted from the start needs no shape.
TEST(CaffeLayerWeightsTest, TheFirstAxisNeedsNoShape) {
  const std::string x = "layer { name: 'x' type: 'Input' top: 'x' } ";
  const Tensor input = Floats({1, 2}, {3, 5});
  EXPECT_EQ(Difference(RunCaffeText(x + "layer { name: 'y' type: 'Concat' bottom: 'x' bottom: 'x' "
                                        "top: 'y' concat_param { axis: 0 } }",
                                    "", {{"x", input}}, "y"),
                       Floats({2, 2}, {3, 5, 3, 5})),
            0);
  EXPECT_EQ(Difference(RunCaffeText(x + "layer { name: 'y' type: 'Scale' bottom: 'x' top: 'y' "
                                        "scale_param { axis: 0 num_axes: 2 } }",
                                    WeightsOf("y", Blob({1, 2}, {2, 4})), {{"x", input}}, "y"),
                       Floats({1, 2}, {6, 20})),
            0);
}

TEST(CaffeLayerWeightsTest, ParametersNameTheirLayers) {
  const std::string net = kPair +
                          "layer { name: 'p' type: 'PReLU' bottom: 'x' top: 'h' } "
                          "layer { name: 's' type: 'Scale' bottom: 'h' top: 'y' } ";
  for (const std::string& weights :
       {std::string(), WeightsOf("p", Blob({2}, {3, 5})) + WeightsOf("s", Blob({2}, {3, 5}))}) {
    const CaffeModel model = ImportCaffeFromMemory(net, weights, {});
    ASSERT_EQ(model.init_net.op_size(), 2);
    EXPECT_EQ(model.init_net.op(0).debug_info(), "p");
    EXPECT_EQ(model.init_net.op(1).debug_info(), "s");
    EXPECT_EQ(model.predict_net.op(1).debug_info(), "s");
  }
}

TEST(CaffeLayerWeightsTest, FieldsThatAreNoBoolsAreErrors) {
  for (const char* word : {"yes", "2", "TRUE", "''", "F"}) {
    const std::string net = kPair +
                            "layer { name: 'y' type: 'Scale' bottom: 'x' top: 'y' scale_param { "
                            "bias_term: " +
                            word + " } }";
    ExpectThrows([&] { (void)ImportCaffeFromMemory(net, "", {}); }, "want true or false");
  }
}

TEST(CaffeLayerWeightsTest, HugeInputsAreErrors) {
  const int64_t half = int64_t{1} << 32;
  const std::string net =
      "layer { name: 'x' type: 'Input' top: 'x' } "
      "layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }";
  ExpectThrows(
      [&] {
        (void)ImportCaffeFromMemory(net, "", {.given_shapes = {{"x", {half, half}}}});
      },
      "size overflow: 4294967296 * 4294967296");
}

// --- shared blobs ---

std::string Product(const std::string& name, const std::string& bottom, const std::string& top,
                    const std::string& params, const std::string& fields = "") {
  return "layer { name: '" + name + "' type: 'InnerProduct' bottom: '" + bottom + "' top: '" + top +
         "' inner_product_param { num_output: 2 " + fields + "} " + params + " }\n";
}

TEST(CaffeLayerWeightsTest, TheFirstLayerOwnsWhatSeveralShare) {
  const std::string net = kPair + Product("a", "x", "a", "param { name: 'w' }") +
                          Product("b", "a", "b", "param { name: 'w' }");
  const std::string first = Blob({2, 2}, {1, 2, 3, 4}), other = Blob({2, 2}, {9, 9, 9, 9});
  const std::string weights =
      WeightsOf("a", first + Blob({2}, {10, 20})) + WeightsOf("b", other + Blob({2}, {100, 200}));
  const Tensor x = Floats({1, 2}, {1, 2});
  // a = [1 + 4 + 10, 3 + 8 + 20].
  EXPECT_EQ(Difference(RunCaffeText(net, weights, {{"x", x}}, "b"), Floats({1, 2}, {177, 369})), 0);
  const CaffeModel model = ImportCaffeFromMemory(net, weights, {});
  ASSERT_EQ(model.predict_net.op_size(), 2);
  EXPECT_EQ(model.predict_net.op(0).input(1), model.predict_net.op(1).input(1));
  EXPECT_NE(model.predict_net.op(0).input(2), model.predict_net.op(1).input(2));
  EXPECT_EQ(model.init_net.op_size(), 3);
}

TEST(CaffeLayerWeightsTest, LayersMayShareAllOrAnyOfTheirBlobs) {
  const Tensor x = Floats({1, 2}, {1, 2});
  const std::string both = "param { name: 'w' } param { name: 'b' }";
  const std::string weights = WeightsOf("a", Blob({2, 2}, {1, 2, 3, 4}) + Blob({2}, {10, 20}));
  // The second layer is not in the file.
  EXPECT_EQ(
      Difference(RunCaffeText(kPair + Product("a", "x", "a", both) + Product("b", "a", "b", both),
                              weights, {{"x", x}}, "b"),
                 Floats({1, 2}, {87, 189})),
      0);
  // Only the second blob.
  const std::string bias = "param { } param { name: 'b' }";
  EXPECT_EQ(Difference(RunCaffeText(
                           kPair + Product("a", "x", "a", bias) + Product("b", "a", "b", bias),
                           weights + WeightsOf("b", Blob({2, 2}, {1, 0, 0, 1}) + Blob({2}, {7, 7})),
                           {{"x", x}}, "b"),
                       Floats({1, 2}, {25, 51})),
            0);
  // Without weights, the filler of the first.
  const std::string two = "weight_filler { value: 2 } ", three = "weight_filler { value: 3 } ";
  EXPECT_EQ(Difference(RunCaffeText(kPair + Product("a", "x", "a", both, two) +
                                        Product("b", "a", "b", both, three),
                                    "", {{"x", x}}, "b"),
                       Floats({1, 2}, {24, 24})),
            0);
  const std::string wider = kPair + Product("a", "x", "a", both) +
                            "layer { name: 'c' type: 'InnerProduct' bottom: 'a' top: 'c' "
                            "inner_product_param { num_output: 3 } " +
                            both + " }";
  ExpectThrows([&] { (void)ImportCaffeFromMemory(wider, weights, {}); },
               "the shared parameter \"w\" has shape [2, 2], want [3, 2]");
}

// --- blobs of more than one piece ---

CaffeWeightsFile OpenKept(std::string bytes) {
  static std::vector<std::unique_ptr<std::string>> kept;
  kept.push_back(std::make_unique<std::string>(std::move(bytes)));
  return {std::make_shared<MemoryInput>(*kept.back()), "net.caffemodel"};
}

// i modulo 1,001, which half precision has as well.
template <class T, class To>
std::string Counted(int begin, int end, To to) {
  std::string bytes(static_cast<size_t>(end - begin) * sizeof(T), '\0');
  for (int i = begin; i < end; ++i) {
    const T value = to(static_cast<float>(i % 1001));
    std::memcpy(bytes.data() + static_cast<size_t>(i - begin) * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

TEST(CaffeLayerWeightsTest, BlobsOfSeveralPiecesAreReadWhole) {
  // 320,000 bytes of doubles, 280,000 of halves; a piece has 262,144.
  constexpr int kDoubles = 40'000, kHalves = 140'000;
  const auto as_double = [](float value) { return static_cast<double>(value); };
  const auto as_half = [](float value) { return float16(value).x; };
  const std::pair<int, std::string> encodings[] = {
      {kDoubles, Bytes(8, Counted<double>(0, kDoubles, as_double))},
      // Fields that end within a piece, and single numbers.
      {kDoubles, Bytes(8, Counted<double>(0, 999, as_double)) + Tag(8, 1) + Raw(999.0) +
                     Bytes(8, Counted<double>(1000, kDoubles, as_double))},
      {kDoubles, Number(10, 0) + Bytes(12, Counted<double>(0, kDoubles, as_double))},
      {kHalves, Number(10, 2) + Bytes(12, Counted<uint16_t>(0, kHalves, as_half))},
  };
  for (const auto& [count, encoding] : encodings) {
    SCOPED_TRACE(encoding.size());
    const std::string shape = Bytes(7, Bytes(1, Varint(static_cast<uint64_t>(count))));
    const CaffeWeightsFile file = OpenKept(Bytes(100, Bytes(1, "l") + Bytes(7, shape + encoding)));
    const Tensor got = file.ReadBlob(file.layers().at(0).blobs.at(0));
    ASSERT_EQ(got.sizes(), Dims{count});
    const float* values = got.data<float>();
    int wrong = 0;
    for (int i = 0; i < count; ++i) wrong += values[i] != static_cast<float>(i % 1001);
    EXPECT_EQ(wrong, 0);
  }
}

// Dims of more than one byte, in one packed field and in several.
TEST(CaffeLayerWeightsTest, LargeDimsHaveSeveralBytes) {
  const auto dims_of = [](const std::string& shape, int count) {
    std::string values = Bytes(5, std::string(static_cast<size_t>(count) * 4, '\0'));
    const CaffeWeightsFile file =
        OpenKept(Bytes(100, Bytes(1, "l") + Bytes(7, Bytes(7, shape) + values)));
    const CaffeBlob blob = file.layers().at(0).blobs.at(0);
    EXPECT_EQ(file.ReadBlob(blob).numel(), count);
    return blob.dims;
  };
  EXPECT_EQ(dims_of(Bytes(1, Varint(300) + Varint(2) + Varint(128)), 76'800), (Dims{300, 2, 128}));
  EXPECT_EQ(dims_of(Bytes(1, Varint(300)) + Bytes(1, Varint(2)) + Number(1, 129), 77'400),
            (Dims{300, 2, 129}));
  EXPECT_EQ(dims_of(Number(2, 9) + Number(1, 20'000) + Float(1, 3), 20'000), Dims{20'000});
}

}  // namespace
}  // namespace caffe2rt::test::layer_weights_test
