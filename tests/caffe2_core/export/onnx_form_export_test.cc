// Operators with ONNX's meaning, as the importer writes them, become the nodes they came from. The nodes
// are those of ONNX's definition.
#include <gtest/gtest.h>

#include "caffe2_core/graph/op_schema.h"
#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::onnx_form_export_test {
namespace {

std::string Op(const std::string& type, const std::string& args, const std::string& inputs = "x") {
  std::string text = "op { type: \"" + type + "\" output: 'y' ";
  for (size_t i = 0; i < inputs.size(); i += 2) {
    text += std::string("input: \"") + inputs[i] + "\" ";
  }
  return text + args + " }";
}

std::string Ints(const std::string& name, const std::vector<int64_t>& values) {
  std::string text = "arg { name: '" + name + "' ";
  for (const int64_t value : values) text += MakeString("ints: ", value, " ");
  return text + "} ";
}

std::string Int(const std::string& name, int64_t value) {
  return MakeString("arg { name: '", name, "' i: ", value, " } ");
}

std::string Text(const std::string& name, const std::string& value) {
  return "arg { name: '" + name + "' s: '" + value + "' } ";
}

const ExportedInput kFloats = {{4, 5}}, kList = {{2}, TensorProto::INT64}, kImage = {{1, 2, 4, 5}};

TEST(OnnxFormExportTest, WritesTheNode) {
  struct {
    const char* name;
    ExportedNet net;
    const char* graph;
  } const rows[] = {
      {"parameters that are arguments become inputs",
       {Op("ONNXSlice", Ints("starts", {1}) + Ints("ends", {3}) + Ints("axes", {-1})),
        {{"x", kFloats}}},
       "y = Slice(x, [1], [3], [-1])\n"},
      {"parameters that are given when it runs stay inputs",
       {Op("ONNXSlice", "", "x s e"), {{"x", kFloats}, {"s", kList}, {"e", kList}}, {}, {}},
       "y = Slice(x, s, e)\n"},
      {"an empty tensor stands for an absent input",
       {Op("ONNXSlice", "", "x s e a t"),
        {{"x", kFloats}, {"s", kList}, {"e", kList}, {"t", kList}},
        {{"a", IntWeight({})}},
        {}},
       "y = Slice(x, s, e, , t)\n"},
      {"a gap before a parameter",
       {Op("Pad", Ints("pads", {0, 1, 0, 0}) + Text("mode", "edge")), {{"x", kFloats}}},
       "y = Pad(x, [0, 1, 0, 0]) mode=edge\n"},
      {"one number is a scalar for Trilu",
       {Op("Trilu", Int("k", 1) + Int("upper", 0)), {{"x", kFloats}}},
       "y = Trilu(x, 1) upper=0\n"},
      {"attributes that an older opset lacks, with the value that changes nothing",
       {Op("Resize", Ints("sizes", {1, 2, 8, 10}) + Int("antialias", 0) + Text("mode", "nearest")),
        {{"x", kImage}},
        {},
        {"y"},
        17},
       "y = Resize(x, , , [1, 2, 8, 10]) mode=nearest\n"},
      {"the same in an opset that has them",
       {Op("Resize", Ints("sizes", {1, 2, 8, 10}) + Int("antialias", 0) + Text("mode", "nearest")),
        {{"x", kImage}},
        {},
        {"y"},
        18},
       "y = Resize(x, , , [1, 2, 8, 10]) antialias=0 mode=nearest\n"},
      {"element types have ONNX's numbers",
       {Op("EyeLike", Int("dtype", TensorProto::DOUBLE)), {{"x", kFloats}}},
       "y = EyeLike(x) dtype=11\n"},
      {"inputs that are left out",
       {Op("LSTM", Int("hidden_size", 3) + Ints("omitted_inputs", {3, 4}), "x w r h"),
        {{"x", {{2, 1, 4}}}, {"w", {{1, 12, 4}}}, {"r", {{1, 12, 3}}}, {"h", {{1, 1, 3}}}}},
       "y = LSTM(x, w, r, , , h) hidden_size=3\n"},
      {"computed axes stay an input",
       {Op("ReduceSum", Int("keepdims", 0), "x a"), {{"x", kFloats}, {"a", kList}}, {}, {}},
       "y = ReduceSum(x, a) keepdims=0 noop_with_empty_axes=0\n"},
      {"no axes: nothing is reduced",
       {Op("ReduceMax", Int("noop_with_empty_axes", 1)), {{"x", kFloats}}},
       "y = Identity(x)\n"},
      {"parts of different sizes",
       {"op { type: 'Split' input: 'x' output: 'y' output: 'z' arg { name: 'axis' i: 1 } "
        "arg { name: 'uneven' i: 1 } }",
        {{"x", kFloats}}},
       "y, z = Split(x, [3, 2]) axis=1\n"},
      {"bytes of IsNaN become bools by a cast",
       {Op("IsNaN", "") + "op { type: 'Cast' input: 'y' output: 'z' arg { name: 'to' i: 5 } }",
        {{"x", kFloats}},
        {},
        {"z"}},
       "y_IsNaN = IsNaN(x)\ny = Cast(y_IsNaN) to=2\nz = Cast(y) to=9\n"},
      {"a normalization of the last axis needs no rank",
       {"op { type: 'Reshape' input: 'x' input: 's' output: 'h' output: 'o' } "
        "op { type: 'LayerNorm' input: 'h' input: 'g' input: 'b' output: 'y' output: 'm' output: "
        "'d' "
        "arg { name: 'axis' i: -1 } arg { name: 'elementwise_affine' i: 1 } arg { name: 'epsilon' "
        "f: 0.5 } }",
        {{"x", kFloats}, {"s", kList}},
        {{"g", FloatWeight({5})}, {"b", FloatWeight({5})}},
        {}},
       "h = Reshape(x, s)\ny = LayerNormalization(h, g, b) axis=-1 epsilon=0.5\n"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(GraphText(Export(row.net)), row.graph);
  }
}

TEST(OnnxFormExportTest, ReportsWhatAnOpsetLacks) {
  struct {
    ExportedNet net;
    const char* message;
  } const rows[] = {
      {{Op("BitwiseNot", ""), {{"x", {{2}, TensorProto::INT32}}}, {}, {"y"}, 17},
       "BitwiseNot needs opset 18; choose it with --opset"},
      {{Op("Resize", Ints("sizes", {1, 2, 8, 10}) + Int("antialias", 1)),
        {{"x", kImage}},
        {},
        {"y"},
        17},
       "argument antialias needs opset 18, got 17"},
      {{Op("ReduceMax", "", "x a"), {{"x", kFloats}, {"a", kList}}, {}, {}, 17},
       "that the net computes need opset 18"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.message);
    ExpectThrows([&] { Export(row.net); }, row.message);
  }
}

TEST(OnnxFormExportTest, StatesDimsOfOutputsThatARunDecides) {
  const ExportedInput shape = {{3}, TensorProto::INT64};
  const ExportedNet net = {Op("ONNXExpand", "", "x s"), {{"x", kFloats}, {"s", shape}}};
  ExpectThrows([&] { Export(net); }, "the shape of output \"y\" is not known");
  const OnnxExport exported = Export(net, {{"y", {-1, 4, 5}}});
  const auto& type = exported.model.graph().output(0).type().tensor_type();
  EXPECT_EQ(type.elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(type.shape().dim_size(), 3);
  EXPECT_FALSE(type.shape().dim(0).has_dim_value());
  EXPECT_EQ(type.shape().dim(2).dim_value(), 5);
}

}  // namespace
}  // namespace caffe2rt::test::onnx_form_export_test
