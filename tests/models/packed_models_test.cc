// Trained nets that were packed with their prepared nets run in another workspace without preparing
// any weight, and compute their recorded outputs.
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/data_type.h"
#include "tests/models/golden_case.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::packed_models_test {
namespace {

class PackedModelsTest : public testing::TestWithParam<GoldenCase> {
 protected:
  const GoldenCase& golden() const { return GetParam(); }
  std::string File(const std::string& name) const { return golden().folder + "/" + name; }

  PreparationOptions Options(const Model& model) const {
    PreparationOptions options{.free_constants = true, .packed = model.packed};
    for (const auto& [blob, file] : golden().inputs) options.inputs.insert(blob);
    for (const GoldenCase::Output& output : golden().outputs) options.kept.insert(output.blob);
    return options;
  }
  void FeedInputs(Workspace* ws) const {
    for (const auto& [blob, file] : golden().inputs) {
      *ws->CreateBlob(blob)->GetMutableTensor(CPU) = ReadNpy(File(file));
    }
  }
  // Returns the net that was prepared.
  NetDef Pack() const {
    Model model = LoadModel({.init_nets = {File(golden().init)},
                             .predict_net = File(golden().predict),
                             .root = golden().folder,
                             .device = DeviceOption()});
    Workspace ws(golden().folder);
    RunInitNets(&model, &ws);
    // The value of an input that the init net fills is no constant, and it is not packed.
    for (const auto& [blob, file] : golden().inputs) ws.RemoveBlob(blob);
    ModelPacker packer(model, ws);
    FeedInputs(&ws);
    Preparation prepared = packer.Prepare(Options(model), &ws);
    PreparedNet(prepared.net, {}, nullptr, &ws).Run();
    packer.Write(path_);
    return prepared.net;
  }
  void ExpectGolden(const Workspace& ws) const {
    for (const GoldenCase::Output& output : golden().outputs) {
      const Tensor& got = ws.GetBlob(output.blob)->Get<Tensor>();
      EXPECT_LE(RelativeError(Crop(got, output.crop), ReadNpy(File(output.file))),
                golden().tolerance)
          << output.blob;
    }
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("model.c2pack");
};

TEST_P(PackedModelsTest, PrepareNoWeightWhenTheyAreMapped) {
  const NetDef prepared_when_packed = Pack();
  PackFile::Open(path_)->Verify();
  Model model =
      LoadModel({.predict_net = path_, .root = golden().folder, .device = DeviceOption()});
  Workspace ws(golden().folder);
  const PreparedForms::Counts before = PreparedForms::Count();
  RunInitNets(&model, &ws);
  FeedInputs(&ws);
  const Preparation prepared = PrepareNet(std::move(model.predict_net), Options(model), &ws);
  EXPECT_EQ(prepared.net.SerializeAsString(), prepared_when_packed.SerializeAsString());
  PreparedNet net(prepared.net, {}, nullptr, &ws);
  for (int i = 0; i < 2; ++i) {
    net.Run();
    ExpectGolden(ws);
  }
  const PreparedForms::Counts after = PreparedForms::Count();
  EXPECT_EQ(after.made - before.made, 0);
  std::printf("%s: %d weights from the file\n", golden().Name().c_str(),
              static_cast<int>(after.mapped - before.mapped));
}

// Regression: a predictor took the packed weights that its net declares as inputs for data.
TEST_P(PackedModelsTest, PredictorsPrepareNoWeight) {
  (void)Pack();
  PredictorOptions options{.file_access = FileAccess::Free()};
  Predictor::TensorMap inputs, outputs;
  for (const auto& [blob, file] : golden().inputs) {
    const Tensor& input = inputs.emplace(blob, ReadNpy(File(file))).first->second;
    options.input_shapes[blob] = CreateTensorShape(input.dims(), TypeMetaToDataType(input.dtype()));
  }
  const PreparedForms::Counts before = PreparedForms::Count();
  // In the model's folder: a predictor looks for its files in the current one.
  const std::filesystem::path folder = std::filesystem::current_path();
  std::filesystem::current_path(golden().folder);
  Predictor predictor(
      LoadModel({.predict_net = path_, .root = golden().folder, .device = DeviceOption()}),
      options);
  for (int i = 0; i < 2; ++i) predictor(inputs, &outputs);
  std::filesystem::current_path(folder);
  EXPECT_EQ(PreparedForms::Count().made - before.made, 0);
  EXPECT_GT(PreparedForms::Count().mapped, before.mapped);
  for (const GoldenCase::Output& output : golden().outputs) {
    const auto got = outputs.find(output.blob);
    if (got == outputs.end()) continue;  // an inner blob
    EXPECT_LE(RelativeError(Crop(got->second, output.crop), ReadNpy(File(output.file))),
              golden().tolerance)
        << output.blob;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PackedModelsTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PackedModelsTest);

}  // namespace
}  // namespace caffe2rt::test::packed_models_test
