// One net in all the forms that Caffe and its forks wrote: the three generations as text and as binary
// files, with weights of each generation, in text, in HDF5, and in half and double precision.
#include <gtest/gtest.h>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/import/caffe/caffe_import.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/caffe2_core/import/caffe/hdf5_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::generations_test {
namespace {

// --- the net: a padded convolution of 3 x 3 with 2 outputs, ReLU, a pool of 2 x 2, an inner product ---

const std::string kInput =
    "name: 'n' input: 'x' input_dim: 1 input_dim: 1 input_dim: 2 input_dim: 2 ";
const std::string kTextV0 =
    kInput +
    "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'p' }"
    "layers { layer { name: 'c' type: 'conv' num_output: 2 kernelsize: 3 } bottom: 'p' top: 'c' }"
    "layers { layer { name: 'r' type: 'relu' } bottom: 'c' top: 'c' }"
    "layers { layer { name: 'm' type: 'pool' pool: MAX kernelsize: 2 stride: 2 } bottom: 'c' top: "
    "'m' "
    "} layers { layer { name: 'ip' type: 'innerproduct' num_output: 2 } bottom: 'm' top: 'y' }";
const std::string kTextV1 = kInput +
                            "layers { name: 'c' type: CONVOLUTION bottom: 'x' top: 'c' blobs_lr: 1 "
                            "convolution_param { num_output: 2 kernel_size: 3 pad: 1 } }"
                            "layers { name: 'r' type: RELU bottom: 'c' top: 'c' }"
                            "layers { name: 'm' type: POOLING bottom: 'c' top: 'm' "
                            "pooling_param { pool: MAX kernel_size: 2 stride: 2 } }"
                            "layers { name: 'ip' type: INNER_PRODUCT bottom: 'm' top: 'y' "
                            "inner_product_param { num_output: 2 "
                            "} }";
const std::string kTextV2 =
    "name: 'n' layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: [1, 1, 2, 2] } "
    "} }"
    "layer { name: 'c' type: 'Convolution' bottom: 'x' top: 'c' param { lr_mult: 1 } "
    "convolution_param { num_output: 2 kernel_size: 3 pad: 1 } }"
    "layer { name: 'r' type: 'ReLU' bottom: 'c' top: 'c' }"
    "layer { name: 'm' type: 'Pooling' bottom: 'c' top: 'm' "
    "pooling_param { pool: MAX kernel_size: 2 stride: 2 } }"
    "layer { name: 'ip' type: 'InnerProduct' bottom: 'm' top: 'y' inner_product_param { "
    "num_output: 2 } "
    "}";

// The blobs of the layers, in the field that a generation has for them; none for nets.
struct Blobs {
  std::string c = {}, ip = {};
};

std::string Name(int field, const std::string& name) { return Bytes(field, name); }
std::string BinaryInput() {
  return Bytes(3, "x") + Number(4, 1) + Number(4, 1) + Number(4, 2) + Number(4, 2);
}

std::string BinaryV0(const Blobs& blobs) {
  const auto layer = [](const std::string& fields, const std::string& bottom,
                        const std::string& top) {
    return Bytes(2, Bytes(1, fields) + Bytes(2, bottom) + Bytes(3, top));
  };
  return BinaryInput() + layer(Name(1, "p") + Name(2, "padding") + Number(7, 1), "x", "p") +
         layer(Name(1, "c") + Name(2, "conv") + Number(3, 2) + Number(8, 3) + blobs.c, "p", "c") +
         layer(Name(1, "r") + Name(2, "relu"), "c", "c") +
         layer(Name(1, "m") + Name(2, "pool") + Number(11, 0) + Number(8, 2) + Number(10, 2), "c",
               "m") +
         layer(Name(1, "ip") + Name(2, "innerproduct") + Number(3, 2) + blobs.ip, "m", "y");
}

// `type` of the layers: numbers in V1, names in V2.
std::string BinaryV1(const Blobs& blobs) {
  const auto layer = [](const char* name, int type, const std::string& more,
                        const std::string& bottom, const std::string& top) {
    return Bytes(2, Bytes(2, bottom) + Bytes(3, top) + Bytes(4, name) + Number(5, type) + more);
  };
  return BinaryInput() +
         layer("c", 4, blobs.c + Bytes(10, Number(1, 2) + Number(3, 1) + Number(4, 3)), "x", "c") +
         layer("r", 18, "", "c", "c") +
         layer("m", 17, Bytes(19, Number(1, 0) + Number(2, 2) + Number(3, 2)), "c", "m") +
         layer("ip", 14, blobs.ip + Bytes(17, Number(1, 2)), "m", "y");
}

std::string BinaryV2(const Blobs& blobs) {
  const auto layer = [](const char* name, const char* type, const std::string& more,
                        const std::string& bottom, const std::string& top) {
    return Bytes(100, Bytes(1, name) + Bytes(2, type) + Bytes(3, bottom) + Bytes(4, top) + more);
  };
  const std::string shape = Bytes(1, Varint(1) + Varint(1) + Varint(2) + Varint(2));
  return Bytes(100,
               Bytes(1, "x") + Bytes(2, "Input") + Bytes(4, "x") + Bytes(143, Bytes(1, shape))) +
         layer("c", "Convolution", blobs.c + Bytes(106, Number(1, 2) + Number(3, 1) + Number(4, 3)),
               "x", "c") +
         layer("r", "ReLU", "", "c", "c") +
         layer("m", "Pooling", Bytes(121, Number(1, 0) + Number(2, 2) + Number(3, 2)), "c", "m") +
         layer("ip", "InnerProduct", blobs.ip + Bytes(117, Number(1, 2)), "m", "y");
}

// --- the weights ---

// Output 0 of the convolution sums half of all pixels, and output 1 has twice the pixel less 3. For x =
// 1 2 / 3 4 they are 5 + 1 everywhere, and -1 1 3 5; the pool has 6 and 5. Then y is 6 + 2.5 + 0.125
// and -6 + 0.1 * 5 - 0.5.
const std::vector<float> kW = {0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f, 0.5f,
                               0,    0,    0,    0,    2,    0,    0,    0,    0};
const std::vector<float> kB = {1, -3}, kIpW = {1, 0.5f, -1, 0.1f}, kIpB = {0.125f, -0.5f};
const std::vector<float> kWant = {8.625f, -6};

template <class T>
std::string Elements(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += Raw(static_cast<T>(value));
  return bytes;
}
std::string Halves(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values) bytes += Raw(float16(value).x);
  return bytes;
}

enum class Precision { kFloat, kDouble, kHalf };

std::string Blob(int field, Precision precision, const std::vector<int>& dims,
                 const std::vector<float>& values, bool legacy) {
  std::string shape, blob;
  for (const int dim : dims) shape += Varint(static_cast<uint64_t>(dim));
  if (!legacy) blob = Bytes(7, Bytes(1, shape));
  // Counted from the end: the dims of 1 in front.
  for (size_t i = 0; legacy && i < 4; ++i) {
    const size_t missing = 4 - dims.size();
    blob +=
        Number(static_cast<int>(i) + 1, i < missing ? 1 : static_cast<uint64_t>(dims[i - missing]));
  }
  if (precision == Precision::kFloat) blob += Bytes(5, Elements<float>(values));
  if (precision == Precision::kDouble) blob += Bytes(8, Elements<double>(values));
  if (precision == Precision::kHalf) blob += Number(10, 2) + Bytes(12, Halves(values));
  return Bytes(field, blob);
}

Blobs BlobsIn(int field, Precision precision, bool legacy) {
  return {.c = Blob(field, precision, {2, 1, 3, 3}, kW, legacy) +
               Blob(field, precision, {2}, kB, legacy),
          .ip = Blob(field, precision, {2, 2}, kIpW, legacy) +
                Blob(field, precision, {2}, kIpB, legacy)};
}

std::string Joined(const char* field, const std::vector<float>& values) {
  std::string text;
  for (const float value : values) text += std::string(field) + ": " + std::to_string(value) + " ";
  return text;
}

std::string TextWeights() {
  const auto blob = [](const std::string& shape, const std::vector<float>& values) {
    return "blobs { " + shape + Joined("data", values) + "} ";
  };
  return "layer { name: 'c' type: 'Convolution' " + blob("shape { dim: [2, 1, 3, 3] } ", kW) +
         blob("shape { dim: 2 } ", kB) + "} layer { name: 'ip' type: 'InnerProduct' " +
         blob("shape { dim: 2 dim: 2 } ", kIpW) + blob("shape { dim: 2 } ", kIpB) + "}";
}

Tensor RunFiles(const std::string& net, const std::string& weights) {
  Workspace ws;
  RunImported(ImportCaffe({.net = net, .weights = weights}),
              {{"x", Floats({1, 1, 2, 2}, {1, 2, 3, 4})}}, &ws);
  return ws.GetBlob("y")->Get<Tensor>();
}

class GenerationsTest : public testing::Test {
 protected:
  // All forms of the net with these weights compute the values.
  void ExpectOutputs(const std::string& weights, const std::vector<float>& want) {
    const std::map<std::string, std::string> nets = {{"V0", kTextV0},
                                                     {"V1", kTextV1},
                                                     {"V2", kTextV2},
                                                     {"binary V0", BinaryV0({})},
                                                     {"binary V1", BinaryV1({})},
                                                     {"binary V2", BinaryV2({})}};
    for (const auto& [form, bytes] : nets) {
      const Tensor got = RunFiles(folder_.Write("net", bytes), weights);
      EXPECT_EQ(got.dims(), (std::vector<int64_t>{1, 2})) << form;
      for (int64_t i = 0; i < 2; ++i) {
        EXPECT_FLOAT_EQ(got.data<float>()[i], want[static_cast<size_t>(i)])
            << form << " with " << weights;
      }
    }
  }
  TempDir folder_;
};

TEST_F(GenerationsTest, BinaryWeightsOfAllGenerationsAreEqual) {
  ExpectOutputs(folder_.Write("v0", BinaryV0(BlobsIn(50, Precision::kFloat, true))), kWant);
  ExpectOutputs(folder_.Write("v1", BinaryV1(BlobsIn(6, Precision::kFloat, true))), kWant);
  ExpectOutputs(folder_.Write("v2", BinaryV2(BlobsIn(7, Precision::kFloat, false))), kWant);
  ExpectOutputs(folder_.Write("doubles", BinaryV2(BlobsIn(7, Precision::kDouble, false))), kWant);
}

TEST_F(GenerationsTest, TextWeightsAreEqual) {
  ExpectOutputs(folder_.Write("weights.prototxt", TextWeights()), kWant);
}

TEST_F(GenerationsTest, HalfWeightsAreEqualWithinTheirRounding) {
  // 0.1 is 0.0999755859375 in half precision, and all other weights are exact.
  ExpectOutputs(folder_.Write("halves", BinaryV2(BlobsIn(7, Precision::kHalf, false))),
                {8.625f, -6 + 5 * (0.0999755859375f - 0.1f)});
}

TEST_F(GenerationsTest, Hdf5WeightsAreEqual) {
  if (!HasHdf5()) GTEST_SKIP() << "this build has no HDF5 (libhdf5-dev)";
  const std::string path = folder_.path("w.caffemodel.h5");
  WriteHdf5Weights(path, {{"c", {{0, {{2, 1, 3, 3}, kW}}, {1, {{2}, kB}}}},
                          {"ip", {{0, {{2, 2}, kIpW}}, {1, {{2}, kIpB}}}}});
  ExpectOutputs(path, kWant);
}

TEST_F(GenerationsTest, WeightsInTheNetItselfAreEqual) {
  const std::string net = folder_.Write("all", BinaryV1(BlobsIn(6, Precision::kFloat, true)));
  const Tensor got = RunFiles(net, "");
  EXPECT_FLOAT_EQ(got.data<float>()[0], kWant[0]);
  EXPECT_FLOAT_EQ(got.data<float>()[1], kWant[1]);
}

// An old blob has four dims. Those of 1 in front are not its own, where nothing else tells its shape.
TEST_F(GenerationsTest, AnOldBlobOfAScaleCoversItsChannels) {
  const std::string net = folder_.Write("net",
                                        "input: 'x' layer { name: 's' type: 'Scale' bottom: 'x' "
                                        "top: 'y' scale_param { bias_term: true } }");
  for (const bool legacy : {false, true}) {
    const std::string weights = folder_.Write(
        "weights", Bytes(100, Bytes(1, "s") + Bytes(2, "Scale") +
                                  Blob(7, Precision::kFloat, {3}, {1, 2, 3}, legacy) +
                                  Blob(7, Precision::kFloat, {3}, {10, 20, 30}, legacy)));
    Workspace ws;
    RunImported(ImportCaffe({.net = net, .weights = weights}),
                {{"x", Floats({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})}}, &ws);
    EXPECT_EQ(Difference(ws.GetBlob("y")->Get<Tensor>(),
                         Floats({2, 3, 2}, {11, 12, 26, 28, 45, 48, 17, 18, 38, 40, 63, 66})),
              0);
  }
}

}  // namespace
}  // namespace caffe2rt::test::generations_test
