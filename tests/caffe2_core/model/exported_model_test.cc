#include "caffe2_core/model/exported_model.h"

#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

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

// "x float [2,3]", a line for each input of the graph.
std::string InputsText(const OnnxExport& exported) {
  std::vector<std::string> lines;
  for (const auto& input : exported.model.graph().input()) {
    const auto& type = input.type().tensor_type();
    std::vector<int64_t> dims;
    for (const auto& dim : type.shape().dim()) dims.push_back(dim.dim_value());
    lines.push_back(MakeString(input.name(), " ",
                               onnx::TensorProto::DataType_Name(
                                   static_cast<onnx::TensorProto::DataType>(type.elem_type())),
                               " [", absl::StrJoin(dims, ","), "]"));
  }
  return absl::StrJoin(lines, "; ");
}

// The inputs of an exported net that copies x, as `state` describes it.
std::string InputsOfCopy(const std::function<void(Model*)>& state,
                         const ModelExportOptions& options = {},
                         const std::string& net = R"(op { type: "Copy" input: "x" output: "y" })") {
  Model model;
  model.predict_net = ParseNet("name: 'n' external_output: 'y' " + net);
  model.outputs = {"y"};
  state(&model);
  Workspace ws;
  Feed<float>(&ws, "filled", {1, 4}, {0, 0, 0, 0});
  ws.CreateBlob("empty");
  return InputsText(ExportModel(model, ws, options));
}

TEST(InputsOfExportedModelsTest, ShapesOfOptionsPrecedeThoseOfFiles) {
  const auto all = [](Model* model) {
    model->input_shapes = {{"x", {6}}};
    model->input_dims = {{"x", {7}}};
    model->zero_placeholders = {{.name = "x", .dims = {8}}};
  };
  EXPECT_EQ(InputsOfCopy(all, {.input_shapes = {{"x", {5}}}}), "x FLOAT [5]");
  EXPECT_EQ(InputsOfCopy(all), "x FLOAT [6]");
  const auto without_shape = [&](Model* model) {
    all(model);
    model->input_shapes.clear();
  };
  EXPECT_EQ(InputsOfCopy(without_shape), "x FLOAT [7]");
  const auto any_batch = [&](Model* model) {
    without_shape(model);
    model->input_dims = {{"x", {-1, 7}}};
  };
  EXPECT_EQ(InputsOfCopy(any_batch), "x FLOAT [8]");
  const auto none = [&](Model* model) {
    any_batch(model);
    model->zero_placeholders = {{.name = "x", .dims = {1, 1}}};
  };
  EXPECT_EQ(InputsOfCopy(none, {.input_shapes = {{"x", {}}}}), "x FLOAT []");
  EXPECT_EQ(MessageOf([&] { InputsOfCopy(none); }),
            "the shapes of inputs \"x\" are not known; state them with --input-shape BLOB=DIMS, or "
            "give the weights with --init-net");
}

TEST(InputsOfExportedModelsTest, TypesAreStatedOrThoseOfTheFirstReader) {
  EXPECT_EQ(InputsOfCopy(
                [](Model* model) {
                  model->input_types = {{"x", TensorProto::INT64}};
                },
                {.input_shapes = {{"x", {2, 3}}}}),
            "x INT64 [2,3]");
  constexpr char kIf[] = R"(op { type: "If" input: "c" output: "y"
      arg { name: "then_net" n { op { type: "Relu" input: "x" output: "y" }
                                 external_input: "x" external_output: "y" } }
      arg { name: "else_net" n { op { type: "Abs" input: "x" output: "y" }
                                 external_input: "x" external_output: "y" } } })";
  EXPECT_EQ(InputsOfCopy([](Model*) {}, {.input_shapes = {{"c", {1}}, {"x", {2}}}}, kIf),
            "c BOOL [1]; x FLOAT [2]");
  // Of several types without float, the first one that the operator lists.
  constexpr char kBits[] = R"(op { type: "BitwiseAnd" input: "x" input: "x" output: "y" })";
  EXPECT_EQ(InputsOfCopy([](Model*) {}, {.input_shapes = {{"x", {2}}}, .opset = 18}, kBits),
            "x BOOL [2]");
  // Of the place of the input among those of its reader.
  constexpr char kGather[] = R"(op { type: "Gather" input: "x" input: "i" output: "y" })";
  EXPECT_EQ(InputsOfCopy([](Model*) {}, {.input_shapes = {{"x", {3}}, {"i", {2}}}}, kGather),
            "i INT32 [2]; x FLOAT [3]");
  constexpr char kWhere[] = R"(op { type: "Where" input: "c" input: "x" input: "x" output: "y" })";
  EXPECT_EQ(InputsOfCopy([](Model*) {}, {.input_shapes = {{"c", {2}}, {"x", {2}}}}, kWhere),
            "c BOOL [2]; x FLOAT [2]");
}

TEST(InputsOfExportedModelsTest, AFilledBlobIsAnInputWithoutOthers) {
  constexpr char kNet[] = R"(op { type: "Copy" input: "filled" output: "y" })";
  const auto placeholder = [](Model* model) { model->placeholders = {"filled", "empty", "none"}; };
  EXPECT_EQ(InputsOfCopy(placeholder, {}, kNet), "filled FLOAT [1,4]");
  EXPECT_EQ(InputsOfCopy([](Model*) {}, {}, kNet), "");  // a weight
  constexpr char kTwo[] = R"(op { type: "Add" input: "x" input: "filled" output: "y" })";
  EXPECT_EQ(InputsOfCopy(placeholder, {.input_shapes = {{"x", {1, 4}}}}, kTwo), "x FLOAT [1,4]");
  EXPECT_EQ(MessageOf([&] {
              InputsOfCopy(
                  [&](Model* model) {
                    placeholder(model);
                    model->inputs = {"x"};
                  },
                  {}, kTwo);
            }),
            "the shapes of inputs \"x\" are not known; state them with --input-shape BLOB=DIMS, or "
            "give the weights with --init-net");
  // Beside inputs that the model lists, a filled blob is a weight.
  EXPECT_EQ(InputsOfCopy(
                [&](Model* model) {
                  placeholder(model);
                  model->inputs = {"x"};
                },
                {}, kNet),
            "");
}

// A blob that the workspace holds is a weight, unless it is an input: then its value is not that of other runs.
TEST(InputsOfExportedModelsTest, InputsAreNoWeightsWhateverTheWorkspaceHolds) {
  Model model;
  model.predict_net = ParseNet(
      "name: 'n' external_output: 'y' op { type: 'Tile' input: 'x' input: 't' output: 'y' "
      "arg { name: 'axis' i: 0 } }");
  model.outputs = {"y"};
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {1, 2});
  Feed<int32_t>(&ws, "t", {1}, {3});
  const auto message = [&](const ModelExportOptions& options) {
    return MessageOf([&] { ExportModel(model, ws, options); });
  };
  // As a weight, it becomes an argument.
  EXPECT_EQ(message({.input_shapes = {{"x", {2}}}}), "(nothing was thrown)");
  EXPECT_EQ(message({.input_shapes = {{"x", {2}}, {"t", {1}}}}),
            "export of operator 0 (Tile) of net \"n\": inputs 1 and 2 of Tile are computed by the "
            "net, want weights or arguments");
  const OnnxExport exported = ExportModel(model, ws, {.input_shapes = {{"x", {2}}}});
  EXPECT_EQ(exported.model.graph().initializer_size(), 1);  // the repeats
  EXPECT_EQ(exported.weights[0], nullptr);
}

// Of tensors without a type, only those without elements are weights: their type is then what lacks.
TEST(InputsOfExportedModelsTest, TensorsWithoutDataAreNoWeights) {
  const auto message = [](const std::vector<int64_t>& dims) {
    Model model;
    model.predict_net = ParseNet(
        "name: 'n' external_output: 'y' op { type: 'Add' input: 'x' input: 'w' output: 'y' }");
    model.outputs = {"y"};
    Workspace ws;
    ws.CreateBlob("w")->GetMutableTensor(CPU)->Resize(dims);
    ws.CreateBlob("text")->GetMutable<std::string>();
    return MessageOf([&] { ExportModel(model, ws, {.input_shapes = {{"x", {2}}}}); });
  };
  EXPECT_EQ(message({2}).substr(0, 38), "the shapes of inputs \"w\" are not known");
  EXPECT_EQ(message({0}).substr(0, 52), "export of operator 0 (Add) of net \"n\": element type ");
}

TEST(InputsOfExportedModelsTest, NamesAreThoseOfTheNet) {
  EXPECT_EQ(MessageOf([] {
              InputsOfCopy([](Model*) {}, {.input_shapes = {{"quite_other", {1}}}});
            }),
            "no operator of net \"n\" reads input \"quite_other\"");
}

}  // namespace
}  // namespace caffe2rt::test::exported_model_test
