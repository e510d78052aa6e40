// The shapes of the tensors in a workspace, and those that follow from them.
#include "caffe2_core/inspect/shape_inference_workspace.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::shape_inference_workspace_test {
namespace {

// "FLOAT [2, 3]".
std::string ShapeLine(const TensorShape& shape) {
  if (shape.unknown_shape()) return shape.dims_size() == 0 ? "unknown" : "unknown, with dims";
  std::string text = TensorProto::DataType_Name(shape.data_type()) + " [";
  for (int i = 0; i < shape.dims_size(); ++i) text += MakeString(i == 0 ? "" : ", ", shape.dims(i));
  return text + "]";
}

// p and hidden are blobs of the parent, which has another hidden.
void FeedShapes(Workspace* parent, Workspace* ws) {
  Feed<double>(parent, "p", {2}, {1, 2});
  Feed<float>(parent, "hidden", {7}, std::vector<float>(7));
  Feed<float>(ws, "hidden", {1, 2}, {1, 2});
  Feed<int64_t>(ws, "none", {3, 0}, {});
  Feed<bool>(ws, "scalar", {}, {true});
  ws->CreateBlob("open")->GetMutableTensor(CPU);
  ws->CreateBlob("untyped")->GetMutableTensor(CPU)->Resize(4, 5);
  ws->CreateBlob("empty");
  *ws->CreateBlob("text")->GetMutable<std::string>() = "a";
  auto* const quantized = ws->CreateBlob("quantized")->GetMutable<Int8TensorCPU>();
  quantized->t.Resize(6);
  quantized->t.mutable_data<uint8_t>();
}

TEST(ShapesOfWorkspaceTest, AreThoseOfTensorsWithAShape) {
  Workspace parent;
  Workspace ws(&parent);
  FeedShapes(&parent, &ws);
  std::vector<std::string> lines;
  for (const auto& [name, shape] : ShapesOfWorkspace(ws))
    lines.push_back(name + " " + ShapeLine(shape));
  EXPECT_EQ(lines, (std::vector<std::string>{"hidden FLOAT [1, 2]", "none INT64 [3, 0]",
                                             "p DOUBLE [2]", "quantized UINT8 [6]",
                                             "scalar BOOL []", "untyped UNDEFINED [4, 5]"}));
  EXPECT_TRUE(ShapesOfWorkspace(Workspace()).empty());
  EXPECT_EQ(ShapeLine(GetTensorShapeOfBlob(nullptr)), "unknown");
  for (const char* const name : {"open", "empty", "text"})
    EXPECT_EQ(ShapeLine(GetTensorShapeOfBlob(ws.GetBlob(name))), "unknown") << name;
  EXPECT_EQ(ShapeLine(GetTensorShapeOfBlob(ws.GetBlob("none"))), "INT64 [3, 0]");
  EXPECT_EQ(ShapeLine(GetTensorShapeOfBlob(ws.GetBlob("quantized"))), "UINT8 [6]");
}

TEST(ShapesOfWorkspaceTest, LeadToThoseOfTheNets) {
  Workspace parent;
  Workspace ws(&parent);
  FeedShapes(&parent, &ws);
  const auto infer = [&](const std::vector<std::string>& texts) {
    std::vector<NetDef> defs;
    for (const std::string& text : texts) defs.push_back(ParseNet(text));
    std::vector<NetDef*> nets;
    for (NetDef& def : defs) nets.push_back(&def);
    std::string lines;
    const TensorShapes shapes = InferBlobShapesAndTypesFromWorkspace(&ws, nets);
    for (const TensorShape& shape : shapes.shapes())
      lines += shape.name() + " " + ShapeLine(shape) + "; ";
    return lines;
  };
  const std::string rest =
      "none INT64 [3, 0]; p DOUBLE [2]; quantized UINT8 [6]; scalar BOOL []; untyped UNDEFINED [4, "
      "5]; ";
  EXPECT_EQ(infer({}), "hidden FLOAT [1, 2]; " + rest);
  EXPECT_EQ(
      infer({R"(op { type: "Relu" input: "hidden" output: "a" })",
             R"(op { type: "Concat" input: "a" input: "hidden" output: "hidden" output: "split"
                           arg { name: "axis" i: 0 } })"}),
      "a FLOAT [1, 2]; hidden FLOAT [2, 2]; none INT64 [3, 0]; p DOUBLE [2]; quantized UINT8 "
      "[6]; scalar BOOL []; split INT32 [2]; untyped UNDEFINED [4, 5]; ");
  // The workspace itself does not change, and a blob that it lacks has no shape.
  EXPECT_EQ(infer({R"(op { type: "Relu" input: "absent" output: "b" })"}),
            "hidden FLOAT [1, 2]; " + rest);
  EXPECT_EQ(infer({R"(op { type: "FC" input: "hidden" input: "none" input: "p" output: "y" })"}),
            "");
  EXPECT_FALSE(ws.HasBlob("a"));
  ExpectTensor<float>(ws, "hidden", {1, 2}, {1, 2});
}

}  // namespace
}  // namespace caffe2rt::test::shape_inference_workspace_test
