// Nets of one layer compute values that numpy computed from the definitions of Caffe's layers.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::layer_cases_test {
namespace {

std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  std::error_code missing;
  const std::string folder = SharedPath("oracle_import/caffe_layers");
  for (const auto& file : std::filesystem::directory_iterator(folder, missing)) {
    if (file.path().extension() == ".npz") names.push_back(file.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class LayerCasesTest : public testing::TestWithParam<std::string> {};

TEST_P(LayerCasesTest, ComputesTheRecordedValues) {
  const std::string stem = SharedPath("oracle_import/caffe_layers/" + GetParam());
  NamedTensors inputs;
  Tensor want;
  for (auto& [name, tensor] : ReadNpz(stem + ".npz")) {
    if (name == "y") want = tensor;
    if (name.starts_with("in_")) inputs.emplace_back(name.substr(3), tensor);
  }
  Workspace ws;
  RunImported(ImportCaffe({.net = stem + ".prototxt", .weights = stem + ".caffemodel"}), inputs,
              &ws);
  EXPECT_LT(Difference(ws.GetBlob("y")->Get<Tensor>(), want), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Recorded, LayerCasesTest, testing::ValuesIn(CaseNames()),
                         [](const auto& info) { return info.param; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LayerCasesTest);

TEST(LayerCasesTest, AreThere) {
  SKIP_WITHOUT_SHARED("oracle_import/caffe_layers");
  EXPECT_GE(CaseNames().size(), 89u);
}

}  // namespace
}  // namespace caffe2rt::test::layer_cases_test
