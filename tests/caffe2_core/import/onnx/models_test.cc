// Published models of ONNX compute their recorded outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::onnx_models_test {
namespace {

std::vector<float> ValuesOf(const Tensor& tensor) {
  if (tensor.IsType<float16>())
    return {tensor.data<float16>(), tensor.data<float16>() + tensor.numel()};
  if (tensor.IsType<uint8_t>())
    return {tensor.data<uint8_t>(), tensor.data<uint8_t>() + tensor.numel()};
  if (tensor.IsType<int32_t>())
    return {tensor.data<int32_t>(), tensor.data<int32_t>() + tensor.numel()};
  return FloatsOf(tensor);
}

// --- what was recorded of an output ---

std::vector<float> All(const Tensor& y) { return ValuesOf(y); }

// `size` rows and columns of each plane, from `first` on.
std::vector<float> Crop(const Tensor& y, int64_t first, int64_t size) {
  std::vector<float> part;
  const int64_t height = y.dim(2), width = y.dim(3);
  for (int64_t plane = 0; plane < y.dim(0) * y.dim(1); ++plane) {
    for (int64_t row = first; row < first + size; ++row) {
      const float* from = y.data<float>() + (plane * height + row) * width + first;
      part.insert(part.end(), from, from + size);
    }
  }
  return part;
}
std::vector<float> Crop200(const Tensor& y) { return Crop(y, 200, 80); }
std::vector<float> Crop328(const Tensor& y) { return Crop(y, 328, 64); }

// The means of blocks of 4 by 4.
std::vector<float> Means(const Tensor& y) {
  std::vector<float> means;
  for (int64_t row = 0; row < y.dim(2); row += 4) {
    for (int64_t column = 0; column < y.dim(3); column += 4) {
      double sum = 0;
      for (int64_t i = 0; i < 16; ++i) {
        sum += y.data<float>()[(row + i / 4) * y.dim(3) + column + i % 4];
      }
      means.push_back(static_cast<float>(sum / 16));
    }
  }
  return means;
}

// The index of the largest element of each row, or the element.
std::vector<float> Largest(const Tensor& y, bool index) {
  std::vector<float> found;
  const int64_t size = y.dim(2);
  for (int64_t row = 0; row < y.dim(1); ++row) {
    const float* from = y.data<float>() + row * size;
    const float* largest = std::max_element(from, from + size);
    found.push_back(index ? static_cast<float>(largest - from) : *largest);
  }
  return found;
}
std::vector<float> LargestAt(const Tensor& y) { return Largest(y, true); }
std::vector<float> LargestOf(const Tensor& y) { return Largest(y, false); }

struct Recorded {
  const char* output;
  const char* file;  // golden/out__<file>.npy
  std::vector<float> (*part)(const Tensor&) = &All;
};

struct RecordedModel {
  const char* folder;
  const char* file;
  const char* input;
  const char* input_file;  // golden/in__<file>.npy
  double tolerance;        // of the largest value
  std::vector<Recorded> outputs;
};

const RecordedModel kModels[] = {
    {"onnx_superres_zoo",
     "super_resolution",
     "input",
     "input",
     1e-5,
     {{"output", "output_crop_200_280", &Crop200}}},
    {"onnx_ultraface_rfb320",
     "version-RFB-320",
     "input",
     "input",
     1e-4,
     {{"scores", "scores"}, {"boxes", "boxes"}}},
    {"onnx_ultraface_rfb320",
     "version-RFB-320_simplified",
     "input",
     "input",
     1e-4,
     {{"scores", "scores"}}},
    {"onnx_blazeface_front",
     "face_detection_front_128x128_barracuda",
     "input:0",
     "input_0",
     1e-4,
     {{"Identity:0", "Identity_0"},
      {"Identity_1:0", "Identity_1_0"},
      {"Identity_2:0", "Identity_2_0"},
      {"Identity_3:0", "Identity_3_0"}}},
    // Half precision: ONNX Runtime rounds at other places.
    {"onnx_squeezenet11_fp16",
     "SqueezeNet_fp16",
     "data_0",
     "data_0",
     1e-2,
     {{"softmaxout_1", "softmaxout_1"}}},
    {"onnx_ppocr_v4",
     "ch_PP-OCRv4_det_infer",
     "x",
     "det_x",
     1e-3,
     {{"sigmoid_0.tmp_0", "det_map_4x_mean", &Means}}},
    {"onnx_ppocr_v4",
     "ch_PP-OCRv4_rec_infer",
     "x",
     "rec_x",
     1e-4,
     {{"softmax_11.tmp_0", "rec_argmax", &LargestAt}, {"softmax_11.tmp_0", "rec_max", &LargestOf}}},
    {"onnx_ppocr_v4",
     "ch_ppocr_mobile_v2.0_cls_infer",
     "x",
     "cls_x",
     1e-4,
     {{"softmax_0.tmp_0", "cls_out"}}},
    {"onnx_style_candy",
     "candy",
     "inputImage",
     "inputImage_uint8",
     1e-3,
     {{"outputImage", "outputImage_crop_328_392", &Crop328}}},
    {"onnx_shufflenetv2_int8",
     "shufflenet-v2-12-int8",
     "input",
     "input",
     2e-2,
     {{"output", "output"}}},
};

std::string File(const RecordedModel& model, const std::string& name) {
  return SharedPath(std::string("models/") + model.folder + "/" + name);
}

Tensor InputOf(const RecordedModel& model) {
  const Tensor x = ReadNpy(File(model, std::string("golden/in__") + model.input_file + ".npy"));
  if (!x.IsType<uint8_t>()) return x;
  return FloatTensor(x.dims(), ValuesOf(x));  // the model takes floats
}

class OnnxModelsTest : public ::testing::TestWithParam<RecordedModel> {
 protected:
  void ExpectRecorded(const Recorded& output, const Tensor& y) const {
    const std::string file = File(GetParam(), std::string("golden/out__") + output.file + ".npy");
    const std::vector<float> want = ValuesOf(ReadNpy(file)), got = output.part(y);
    ASSERT_EQ(got.size(), want.size()) << output.output;
    double largest = 0, difference = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      largest = std::max<double>(largest, std::abs(want[i]));
      const double now = std::abs(static_cast<double>(got[i]) - want[i]);
      ASSERT_FALSE(std::isnan(now)) << output.output;
      difference = std::max(difference, now);
    }
    EXPECT_LE(difference, GetParam().tolerance * largest) << output.output;
  }
};

// As it is written, and through the predictor, which optimizes it.
TEST_P(OnnxModelsTest, ComputesItsRecordedOutputs) {
  const RecordedModel& model = GetParam();
  const std::string path = File(model, std::string(model.file) + ".onnx");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path;
  const Tensor x = InputOf(model);
  Workspace ws;
  RunOnnx(ImportOnnx({.net = path, .given_shapes = {{model.input, x.dims()}}}), {{model.input, x}},
          &ws);
  for (const Recorded& output : model.outputs) {
    ExpectRecorded(output, ws.GetBlob(output.output)->Get<Tensor>());
  }
  Predictor predictor(
      LoadModel({.predict_net = path, .onnx = {.given_shapes = {{model.input, x.dims()}}}}));
  Predictor::TensorMap outputs;
  ASSERT_TRUE(predictor({{model.input, x}}, &outputs));
  for (const Recorded& output : model.outputs) {
    ASSERT_TRUE(outputs.contains(output.output)) << output.output;
    ExpectRecorded(output, outputs.at(output.output));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Published, OnnxModelsTest, ::testing::ValuesIn(kModels), [](const auto& row) {
      std::string name = row.param.file;
      std::replace_if(
          name.begin(), name.end(),
          [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

// The model of opset 1, on its own test data.
TEST(OnnxMnistTest, ReadsADigit) {
  const std::string folder = SharedPath("models/onnx_mnist_cntk");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  // A vertical stroke is a one.
  Tensor x({1, 1, 28, 28}, CPU);
  std::fill_n(x.mutable_data<float>(), x.numel(), 0.0f);
  for (int64_t row = 4; row < 24; ++row) {
    for (int64_t column = 13; column < 16; ++column)
      x.mutable_data<float>()[row * 28 + column] = 255;
  }
  Predictor predictor(LoadModel({.predict_net = folder + "/model.onnx"}));
  Predictor::TensorList outputs;
  ASSERT_TRUE(predictor({x}, &outputs));
  const std::vector<float> scores = FloatsOf(outputs[0]);
  EXPECT_EQ(std::max_element(scores.begin(), scores.end()) - scores.begin(), 1);
}

// Voice activity of 100 pieces of a recording; each run gets the state of the one before.
TEST(OnnxSileroTest, FollowsARecording) {
  const std::string folder = SharedPath("models/onnx_silero_vad");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "needs " << folder;
  const std::vector<float> wave = FloatsOf(ReadNpy(folder + "/golden/in__wav_float.npy"));
  const std::vector<float> want =
      FloatsOf(ReadNpy(folder + "/golden/out__speech_prob_per_512.npy"));
  Predictor predictor(LoadModel({.predict_net = folder + "/silero_vad_16k_op15.onnx"}));
  Tensor state = FloatTensor({2, 1, 128}, std::vector<float>(256));
  std::vector<float> context(64);
  for (size_t piece = 0; piece < want.size(); ++piece) {
    std::vector<float> values = context;
    values.insert(values.end(), wave.begin() + static_cast<int64_t>(512 * piece),
                  wave.begin() + static_cast<int64_t>(512 * (piece + 1)));
    context.assign(values.end() - 64, values.end());
    Predictor::TensorMap outputs;
    ASSERT_TRUE(predictor({{"input", FloatTensor({1, 576}, values)},
                           {"state", state},
                           {"sr", IntTensor({}, {16000})}},
                          &outputs));
    EXPECT_NEAR(FloatsOf(outputs.at("output"))[0], want[piece], 1e-3) << "piece " << piece;
    state = outputs.at("stateN").Clone();
  }
  const std::vector<float> last = FloatsOf(ReadNpy(folder + "/golden/out__state_after.npy")),
                           got = FloatsOf(state);
  ASSERT_EQ(got.size(), last.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], last[i], 1e-3) << i;
}

}  // namespace
}  // namespace caffe2rt::test::onnx_models_test
