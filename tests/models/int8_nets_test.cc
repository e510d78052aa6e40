// A quantized Mask R-CNN computes what Caffe2 computed. The quantized blobs up to the proposals are
// equal bit by bit. The blobs behind them are not compared: RoIAlign adds floats, and a sum whose
// last bit differs can be the next quantized element.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/models/golden_case.h"
#include "tests/models/recorded_blobs.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::int8_nets_test {
namespace {

const char kModel[] = "models/c2_maskrcnn2go_int8";

std::string File(const std::string& name) { return SharedPath(kModel) + "/" + name; }

Tensor Golden(const std::string& way, const std::string& image, const std::string& blob) {
  return ReadNpy(File("golden/" + way + "__" + image + "_" + blob + ".npy"));
}

// The recorded image holds bytes; the net reads floats.
Tensor InputImage(const std::string& image) {
  const Tensor bytes = Golden("in", image, "data_uint8");
  Tensor pixels(bytes.sizes(), CPU);
  std::copy(bytes.data<uint8_t>(), bytes.data<uint8_t>() + bytes.numel(),
            pixels.mutable_data<float>());
  return pixels;
}

uint32_t Crc32(const uint8_t* bytes, size_t size) {
  uint32_t crc = 0xffffffffu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0 - (crc & 1)));
  }
  return ~crc;
}

// The row's last column: scale=0.05 zero_point=3 crc32=0123abcd
std::string QuantizationOf(const Int8TensorCPU& value) {
  char text[100];
  std::snprintf(text, sizeof(text), "scale=%.9g zero_point=%d crc32=%08x", value.scale,
                value.zero_point,
                Crc32(static_cast<const uint8_t*>(value.t.raw_data()), value.t.nbytes()));
  return text;
}

void ExpectRecordedBlobs(const Workspace& ws, const std::string& net) {
  constexpr size_t kType = 2, kBlob = 3, kQuantization = 11;
  int compared = 0;
  for (const std::vector<std::string>& row : ReadTsv(File("golden/blobs.tsv"))) {
    if (row[0] != net) continue;
    if (row[kType] == "GenerateProposals") break;
    if (row.size() <= kQuantization || row[kQuantization].empty()) continue;
    const Blob* blob = ws.GetBlob(row[kBlob]);
    ASSERT_NE(blob, nullptr) << row[kBlob];
    ASSERT_TRUE(blob->IsType<Int8TensorCPU>()) << row[kBlob];
    EXPECT_EQ(QuantizationOf(blob->Get<Int8TensorCPU>()), row[kQuantization]) << row[kBlob];
    ++compared;
  }
  EXPECT_GT(compared, 50);
}

void ExpectNear(const Tensor& got, const Tensor& want, float tolerance, const std::string& blob) {
  ASSERT_EQ(got.numel(), want.numel()) << blob;
  for (int64_t i = 0; i < got.numel(); ++i) {
    ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], tolerance) << blob << " " << i;
  }
}

// The tolerances of scores and pixels, for the reason stated above.
const std::pair<const char*, float> kDetections[] = {
    {"score_nms", 0.02f}, {"bbox_nms", 2.0f}, {"class_nms", 0.0f}};

class Int8NetTest : public testing::TestWithParam<const char*> {};

TEST_P(Int8NetTest, ComputesRecordedBlobsAndDetections) {
  SKIP_WITHOUT_SHARED(kModel);
  const std::string image = GetParam();
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(LoadNetForCPU(File("model_init.pb"))));
  ExpectRecordedBlobs(ws, "init");
  *ws.CreateBlob("data")->GetMutableTensor(CPU) = InputImage(image);
  *ws.CreateBlob("im_info")->GetMutableTensor(CPU) = Golden("in", image, "im_info");
  ASSERT_TRUE(ws.RunNetOnce(LoadNetForCPU(File("model.pb"))));
  ExpectRecordedBlobs(ws, "predict " + image);
  ExpectNear(ws.GetBlob("rois")->Get<Tensor>(), Golden("out", image, "rois"), 0.01f, "rois");
  for (const auto& [blob, tolerance] : kDetections) {
    ExpectNear(ws.GetBlob(blob)->Get<Tensor>(), Golden("out", image, blob), tolerance, blob);
  }
}

TEST(Int8PredictorTest, ComputesRecordedDetections) {
  SKIP_WITHOUT_SHARED(kModel);
  const std::string image = "cat.jpg";
  Predictor predictor(LoadNetForCPU(File("model_init.pb")), LoadNetForCPU(File("model.pb")));
  Predictor::TensorMap inputs, outputs;
  inputs.emplace("data", InputImage(image));
  inputs.emplace("im_info", Golden("in", image, "im_info"));
  ASSERT_TRUE(predictor(inputs, &outputs));
  for (const auto& [blob, tolerance] : kDetections) {
    ExpectNear(outputs.at(blob), Golden("out", image, blob), tolerance, blob);
  }
}

INSTANTIATE_TEST_SUITE_P(MaskRcnn, Int8NetTest,
                         testing::Values("astronaut.png", "cat.jpg", "coffee.png"));

}  // namespace
}  // namespace caffe2rt::test::int8_nets_test
