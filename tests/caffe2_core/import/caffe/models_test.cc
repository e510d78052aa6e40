// Published models of Caffe compute their recorded outputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::models_test {
namespace {

// A model with recorded arrays.
struct RecordedModel {
  const char* folder;
  const char* net;
  const char* weights;
  const char* input;   // golden/in__<prefix><input>.npy
  const char* prefix;  // of the files
  std::vector<const char*> outputs;
};
const RecordedModel kRecorded[] = {
    {"c1_cifar10_full_v1", "cifar10_full", "cifar10_full_iter_70000", "data", "", {"prob"}},
    {"c1_cifar10_quick", "cifar10_quick", "cifar10_quick_iter_5000", "data", "", {"prob"}},
    {"c1_lenet_mnist", "mnist_deploy", "lenet_iter_10000", "data", "", {"loss"}},
    {"c1_mobilefacenet", "mobilefacenet", "mobilefacenet", "data", "", {"fc1_scale"}},
    {"c1_mtcnn", "det1", "det1", "data", "det1_", {"conv4-2", "prob1"}},
    {"c1_mtcnn", "det2", "det2", "data", "det2_", {"conv5-2", "prob1"}},
    {"c1_mtcnn", "det3", "det3", "data", "det3_", {"conv6-2", "conv6-3", "prob1"}},
    {"c1_ultraface_rfb320", "RFB-320", "RFB-320", "input", "", {"boxes", "scores"}},
    {"c1_vanilla_landmarks", "vanilla_deploy", "vanillaCNN", "data", "", {"Dense2"}},
    {"c1_wechat_qrcode", "detect", "detect", "data", "detect_", {"detection_output"}},
    {"c1_wechat_qrcode", "sr", "sr", "data", "sr_", {"fc"}},
    {"c1_yufacedetect_v2",
     "yufacedetectnet-open-v2",
     "yufacedetectnet-open-v2",
     "data",
     "",
     {"detection_out"}},
};

class RecordedModelTest : public testing::TestWithParam<RecordedModel> {
 protected:
  std::string File(const std::string& name) const {
    return SharedPath(std::string("models/") + GetParam().folder + "/" + name);
  }
  // Runs the model on its recorded input. Returns the blobs of its layers.
  std::map<std::string, std::string> Run(Workspace* ws) const {
    const RecordedModel& model = GetParam();
    const std::string input = std::string("golden/in__") + model.prefix + model.input + ".npy";
    CaffeModel imported =
        ImportCaffe({.net = File(std::string(model.net) + ".prototxt"),
                     .weights = File(std::string(model.weights) + ".caffemodel")});
    const std::map<std::string, std::string> layers = imported.layer_blobs;
    RunImported(std::move(imported), {{model.input, ReadNpy(File(input))}}, ws);
    return layers;
  }
};

// OpenCV, which recorded the detections, fills the rows behind them with zeros.
Tensor WithoutEmptyRows(const Tensor& recorded) {
  const int64_t columns = recorded.dim(3);
  int64_t rows = recorded.dim(2);
  const float* data = recorded.data<float>();
  while (rows > 0 && data[(rows - 1) * columns + 1] == 0) --rows;
  return Floats({1, 1, rows, columns}, {data, data + rows * columns});
}

// Rows and columns 100 to 199.
Tensor RecordedPart(const Tensor& image) {
  std::vector<float> part;
  for (int64_t y = 100; y < 200; ++y) {
    const float* row = image.data<float>() + y * image.dim(3);
    part.insert(part.end(), row + 100, row + 200);
  }
  return Floats({1, 1, 100, 100}, part);
}

TEST_P(RecordedModelTest, ComputesTheRecordedOutputs) {
  SKIP_WITHOUT_SHARED(std::string("models/") + GetParam().folder);
  Workspace ws;
  const std::map<std::string, std::string> layers = Run(&ws);
  for (const std::string output : GetParam().outputs) {
    const bool detections = output.starts_with("detection");
    const bool cropped = output == "fc";
    const std::string file = std::string("golden/out__") + (detections ? "" : GetParam().prefix) +
                             output + (cropped ? "_crop.npy" : ".npy");
    const auto layer = layers.find(output);
    const std::string blob = layer == layers.end() ? output : layer->second;
    const Tensor recorded = ReadNpy(File(file));
    const Tensor want = detections ? WithoutEmptyRows(recorded) : recorded;
    const Tensor& got = ws.GetBlob(blob)->Get<Tensor>();
    EXPECT_LT(Difference(cropped ? RecordedPart(got) : got, want), 1e-4) << output;
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, RecordedModelTest, testing::ValuesIn(kRecorded),
                         [](const auto& info) {
                           std::string name = std::string(info.param.folder) + "_" + info.param.net;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// Models as strangers published them, with sums and first values of their outputs.
class StrangersTest : public testing::TestWithParam<const char*> {};

Tensor FormulaInput(const std::vector<int64_t>& dims) {
  Tensor x(dims, CPU);
  float* data = x.mutable_data<float>();
  for (int64_t i = 0; i < x.numel(); ++i) {
    data[i] = (static_cast<float>((i * 7919) % 256) - 127.5f) / 128;
  }
  return x;
}

// `name` is that of a layer or of a blob.
void ExpectOutput(const std::string& name, const nlohmann::json& want,
                  const std::map<std::string, std::string>& layers, const Workspace& workspace) {
  const auto layer = layers.find(name);
  const std::string blob = layer == layers.end() ? name : layer->second;
  ASSERT_TRUE(workspace.HasBlob(blob)) << name;
  const Tensor& got = workspace.GetBlob(blob)->Get<Tensor>();
  EXPECT_EQ(got.sizes().vec(), want["shape"].get<std::vector<int64_t>>()) << name;
  double sum = 0;
  for (int64_t i = 0; i < got.numel(); ++i) sum += got.data<float>()[i];
  const double largest = want["max"].get<double>(), tolerance = 1e-4 * std::max(1.0, largest);
  EXPECT_NEAR(sum, want["sum"].get<double>(), tolerance * std::sqrt(got.numel()) + 1e-4) << name;
  const auto first = want["first"].get<std::vector<double>>();
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_NEAR(got.data<float>()[i], first[i], tolerance) << name << " " << i;
  }
}

TEST_P(StrangersTest, ComputesTheRecordedOutputs) {
  SKIP_WITHOUT_SHARED("models/c1_strangers");
  const std::string folder = SharedPath("models/c1_strangers/");
  std::ifstream file(folder + "cases.json");
  for (const nlohmann::json& entry : nlohmann::json::parse(file)) {
    if (entry["id"] != GetParam()) continue;
    const auto dims = entry["dims"].get<std::vector<int64_t>>();
    CaffeImportOptions options = {.net = folder + GetParam() + ".prototxt",
                                  .weights = folder + GetParam() + ".caffemodel"};
    const bool no_shape = entry["id"] == "R17";
    if (no_shape) options.input_shapes["data"] = dims;
    CaffeModel model = ImportCaffe(options);
    ASSERT_EQ(model.inputs.size(), 1u);
    const std::string input = model.inputs[0].name;
    const std::map<std::string, std::string> layers = model.layer_blobs;
    Workspace ws;
    RunImported(std::move(model), {{input, FormulaInput(dims)}}, &ws);
    if (!entry.contains("opencv") || entry["opencv"].is_null()) continue;
    for (const auto& [name, want] : entry["opencv"].items()) ExpectOutput(name, want, layers, ws);
  }
}

INSTANTIATE_TEST_SUITE_P(Recorded, StrangersTest,
                         testing::Values("R01", "R03", "R06", "R08", "R11", "R12", "R15", "R17",
                                         "R19"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace caffe2rt::test::models_test
