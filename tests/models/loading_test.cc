// Models compute the same bits however their weights are loaded: by protobuf's parser and the
// operators of the init net, read directly, and packed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/models/golden_case.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::loading_test {
namespace {

bool HaveSameBits(const Tensor& a, const Tensor& b) {
  if (a.dims() != b.dims() || a.dtype() != b.dtype()) return false;
  if (a.numel() == 0) return true;
  if (!a.dtype().IsPlainData()) return true;  // compared by its users
  return std::memcmp(a.raw_data(), b.raw_data(), a.nbytes()) == 0;
}

class LoadingTest : public testing::TestWithParam<GoldenCase> {
 protected:
  const GoldenCase& golden() const { return GetParam(); }
  std::string File(const std::string& name) const { return golden().folder + "/" + name; }
  ModelFileOptions Options() const {
    return {.init_nets = {File(golden().init)},
            .predict_net = File(golden().predict),
            .root = golden().folder,
            .device_fallback = true};
  }

  void Run(const Model& model, Workspace* ws) const {
    for (const auto& [blob, file] : golden().inputs) {
      *ws->CreateBlob(blob)->GetMutableTensor(CPU) = ReadNpy(File(file));
    }
    ASSERT_TRUE(CreatePredictNet(model, ws)->Run());
  }

  // Compares all tensors, weights and outputs.
  static void ExpectSame(const Workspace& got, const Workspace& want) {
    int compared = 0;
    for (const std::string& name : want.Blobs()) {
      const Tensor* tensor = FindTensor(*want.GetBlob(name));
      if (tensor == nullptr || !tensor->IsShaped()) continue;
      ASSERT_TRUE(got.HasBlob(name)) << name;
      const Tensor* other = FindTensor(*got.GetBlob(name));
      ASSERT_NE(other, nullptr) << name;
      EXPECT_TRUE(HaveSameBits(*other, *tensor)) << name << ": " << other->DebugString();
      ++compared;
    }
    EXPECT_GT(compared, 2);
  }
};

TEST_P(LoadingTest, EveryWayReturnsTheSameBits) {
  Workspace want(golden().folder);
  ASSERT_TRUE(want.RunNetOnce(LoadNetForCPU(File(golden().init))));
  Model model = LoadModel(Options());
  Workspace direct(golden().folder);
  RunInitNets(&model, &direct);
  ExpectSame(direct, want);

  const TempDir dir;
  const std::string path = dir.path("model.c2pack"), prepared_path = dir.path("prepared.c2pack");
  ModelPacker packer(model, direct);
  packer.Write(path);
  Run(model, &want);
  Run(model, &direct);
  ExpectSame(direct, want);
  packer.Write(prepared_path);
  for (const std::string& file : {path, prepared_path}) {
    SCOPED_TRACE(file);
    Model packed =
        LoadModel({.predict_net = file, .root = golden().folder, .device_fallback = true});
    packed.packed->Verify();
    Workspace ws(golden().folder);
    RunInitNets(&packed, &ws);
    Run(packed, &ws);
    ExpectSame(ws, want);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LoadingTest, testing::ValuesIn(ReadGoldenCases()),
                         [](const auto& row) { return row.param.Name(); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LoadingTest);

TEST(DirectWeightsTest, AreReadFromTheFilesOfExporters) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet");
  const std::string folder = SharedPath("models/c2_squeezenet");
  const Model model = LoadModel({.init_nets = {folder + "/init_net.pb"},
                                 .predict_net = folder + "/predict_net.pb",
                                 .device_fallback = true});
  // All weights of SqueezeNet: 26 convolutions with filter and bias.
  EXPECT_EQ(model.init_weights.at(0).size(), 52u);
}

}  // namespace
}  // namespace caffe2rt::test::loading_test
