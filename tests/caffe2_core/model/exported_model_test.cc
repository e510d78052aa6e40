#include "caffe2_core/model/exported_model.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::exported_model_test {
namespace {

// y = relu(x * w), with an init net that fills the weight and, as Caffe2's exporters do, x with zeros.
constexpr const char kInit[] = R"(
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 } arg { name: "values" floats: 3 floats: 4 } }
    op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 ints: 2 } })";
constexpr const char kPredict[] = R"(
    name: "n" op { type: "Mul" input: "x" input: "w" output: "h" arg { name: "broadcast" i: 1 } }
    op { type: "Relu" input: "h" output: "y" } external_input: "x" external_input: "w" external_output: "y")";

class ExportedModelTest : public testing::Test {
 protected:
  OnnxExport Export(const ModelExportOptions& options) {
    Model model = LoadModelFromMemory({kInit}, kPredict);
    RunInitNets(&model, &ws_);
    RemoveZeroPlaceholders(&model, &ws_);
    return ExportModel(model, ws_, options);
  }
  Workspace ws_;
};

// The dimensions of the first input.
std::vector<int64_t> InputDims(const OnnxExport& exported) {
  std::vector<int64_t> dims;
  for (const auto& dim : exported.model.graph().input(0).type().tensor_type().shape().dim()) {
    dims.push_back(dim.dim_value());
  }
  return dims;
}

TEST_F(ExportedModelTest, TakesTheShapeOfAnInputFromTheInitNet) {
  const OnnxExport exported = Export({});
  ASSERT_EQ(exported.model.graph().input_size(), 1);
  EXPECT_EQ(exported.model.graph().input(0).name(), "x");
  EXPECT_EQ(InputDims(exported), (std::vector<int64_t>{1, 2}));
  ASSERT_EQ(exported.model.graph().output_size(), 1);
  EXPECT_EQ(exported.model.graph().output(0).name(), "y");
}

TEST_F(ExportedModelTest, PrefersTheShapeThatIsGivenAndExportsTheWeights) {
  const OnnxExport exported = Export({.input_shapes = {{"x", {5, 2}}}, .opset = 13});
  EXPECT_EQ(InputDims(exported), (std::vector<int64_t>{5, 2}));
  EXPECT_EQ(exported.model.opset_import(0).version(), 13);
  ASSERT_EQ(exported.weights.size(), 1u);
  ASSERT_NE(exported.weights[0], nullptr);
  EXPECT_EQ(exported.weights[0]->data<float>()[1], 4);
}

TEST_F(ExportedModelTest, NamesAnInputThatTheNetDoesNotHave) {
  ExpectThrows([&] { Export({.input_shapes = {{"z", {5, 2}}}}); }, "z");
}

}  // namespace
}  // namespace caffe2rt::test::exported_model_test
