#include "caffe2_core/export/onnx_export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::onnx_export_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* name;
  ExportedNet net;
  const char* graph;  // by ONNX's definition of the nodes
};

// One operator from x (and others) to y.
std::string Op(const std::string& type, const std::string& args = "",
               const std::string& inputs = "x", const std::string& outputs = "y") {
  std::string text = "op { type: \"" + type + "\" ";
  for (const auto& [field, names] : {std::pair("input", inputs), {"output", outputs}}) {
    for (size_t i = 0; i < names.size(); i += 2) {
      text += std::string(field) + ": \"" + names[i] + "\" ";
    }
  }
  return text + args + " }";
}

std::vector<Case> ElementwiseCases() {
  return {
      {"same name", {Op("Relu"), {{"x", {{2}}}}}, "y = Relu(x)\n"},
      {"another name", {Op("Negative"), {{"x", {{2}}}}}, "y = Neg(x)\n"},
      {"numpy's broadcast",
       {Op("Add", "", "x b"), {{"x", {{2, 3, 4}}}, {"b", {{3, 1}}}}},
       "y = Add(x, b)\n"},
      {"Caffe2's broadcast of the last dims",
       {Op("Mul", "arg { name: 'broadcast' i: 1 }", "x b"), {{"x", {{2, 3}}}, {"b", {{3}}}}},
       "y = Mul(x, b)\n"},
      {"Caffe2's broadcast from an axis on: a weight gets dims of 1",
       {Op("Add", "arg { name: 'broadcast' i: 1 } arg { name: 'axis' i: 1 }", "x b"),
        {{"x", {{2, 3, 4, 5}}}},
        {{"b", FloatWeight({3})}}},
       "y = Add(x, b)\n"},
      {"the axis as a letter, and B an input",
       {Op("Sub", "arg { name: 'broadcast' i: 1 } arg { name: 'axis_str' s: 'C' }", "x b"),
        {{"x", {{2, 3, 4}}}, {"b", {{3}}}}},
       "y_Reshape = Reshape(b, [3, 1])\ny = Sub(x, y_Reshape)\n"},
      {"order of bools",
       {Op("GT", "", "x b"), {{"x", {{2}, TensorProto::BOOL}}, {"b", {{2}, TensorProto::BOOL}}}},
       "y_Cast = Cast(x) to=6\ny_Cast_1 = Cast(b) to=6\ny = Greater(y_Cast, y_Cast_1)\n"},
      {"not equal",
       {Op("NE", "", "x b"), {{"x", {{2}}}, {"b", {{2}}}}},
       "y_Equal = Equal(x, b)\ny = Not(y_Equal)\n"},
      {"a sum of integers",
       {Op("Sum", "", "x b c"),
        {{"x", {{2}, TensorProto::INT32}},
         {"b", {{2}, TensorProto::INT32}},
         {"c", {{2}, TensorProto::INT32}}}},
       "y_Add = Add(x, b)\ny = Add(y_Add, c)\n"},
      {"the factor has the type of x",
       {Op("Scale", "arg { name: 'scale' f: 0.5 }"), {{"x", {{2}, TensorProto::DOUBLE}}}},
       "y = Mul(x, 0.5 (double))\n"},
      {"Clip",
       {Op("Clip", "arg { name: 'max' f: 6 } arg { name: 'min' f: 0 }"), {{"x", {{2}}}}},
       "y = Clip(x, 0, 6)\n"},
      {"PRelu: slopes stand in front of the spatial axes",
       {Op("PRelu", "", "x w"), {{"x", {{1, 3, 2, 2}}}}, {{"w", FloatWeight({3})}}},
       "y = PRelu(x, w)\n"},
      {"Gelu before opset 20",
       {Op("Gelu"), {{"x", {{2}}}}},
       "y_Mul = Mul(x, 0.707107)\ny_Erf = Erf(y_Mul)\ny_Add = Add(y_Erf, 1)\n"
       "y_Mul_1 = Mul(x, 0.5)\ny = Mul(y_Mul_1, y_Add)\n"},
      {"Gelu since opset 20",
       {Op("Gelu", "arg { name: 'fast_gelu' i: 1 }"), {{"x", {{2}}}}, {}, {"y"}, 20},
       "y = Gelu(x) approximate=tanh\n"},
      {"Dropout in test mode",
       {Op("Dropout", "arg { name: 'is_test' i: 1 }", "x", "y m"), {{"x", {{2}}}}},
       "y = Identity(x)\n"},
  };
}

std::vector<Case> WindowCases() {
  const std::string nhwc = "arg { name: 'order' s: 'NHWC' }";
  return {
      {"Conv with one number for both axes",
       {Op("Conv",
           "arg { name: 'kernel' i: 3 } arg { name: 'pad' i: 1 } arg { name: 'group' i: 2 }",
           "x w b"),
        {{"x", {{1, 4, 8, 8}}}},
        {{"w", FloatWeight({6, 2, 3, 3})}, {"b", FloatWeight({6})}}},
       "y = Conv(x, w, b) kernel_shape=[3,3] strides=[1,1] pads=[1,1,1,1] dilations=[1,1] "
       "group=2\n"},
      {"Conv in NHWC, four different pads",
       {Op("Conv",
           nhwc + "arg { name: 'kernel_h' i: 3 } arg { name: 'kernel_w' i: 2 } arg { name: 'pad_t' "
                  "i: 1 }"
                  "arg { name: 'pad_l' i: 2 } arg { name: 'pad_b' i: 3 } arg { name: 'pad_r' i: 4 }"
                  "arg { name: 'stride' i: 2 }",
           "x w"),
        {{"x", {{1, 8, 8, 4}}}},
        {{"w", FloatWeight({6, 3, 2, 4})}}},
       "y_Transpose = Transpose(w) perm=[0,3,1,2]\ny_Transpose_1 = Transpose(x) perm=[0,3,1,2]\n"
       "y_Conv = Conv(y_Transpose_1, y_Transpose) kernel_shape=[3,2] strides=[2,2] pads=[1,2,3,4]"
       " dilations=[1,1] group=1\n"
       "y = Transpose(y_Conv) perm=[0,2,3,1]\n"},
      // 6 pixels, windows of 3 at a distance of 2: Caffe rounds 1.5 + 1 up to 3 windows, the last
      // of which ends one pixel outside.
      {"a pool that rounds up",
       {Op("MaxPool",
           "arg { name: 'kernel' i: 3 } arg { name: 'stride' i: 2 } arg { name: 'legacy_pad' i: 3 "
           "}"),
        {{"x", {{1, 1, 6, 6}}}}},
       "y = MaxPool(x) kernel_shape=[3,3] strides=[2,2] pads=[0,0,1,1]\n"},
      // SAME: 5 pixels at a distance of 2 are 3 windows, (3 - 1) * 2 + 4 - 5 = 3 pads.
      {"a pool with padding SAME",
       {Op("AveragePool",
           "arg { name: 'kernel' i: 4 } arg { name: 'stride' i: 2 } arg { name: 'legacy_pad' i: 2 "
           "}"),
        {{"x", {{1, 1, 5, 5}}}}},
       "y = AveragePool(x) kernel_shape=[4,4] strides=[2,2] pads=[1,1,2,2] count_include_pad=0\n"},
      {"a global pool",
       {Op("AveragePool", "arg { name: 'global_pooling' i: 1 }"), {{"x", {{1, 3, 5, 5}}}}},
       "y = GlobalAveragePool(x)\n"},
      {"one spatial axis",
       {Op("MaxPool", "arg { name: 'kernel' i: 2 }"), {{"x", {{1, 3, 5}}}}},
       "y = MaxPool(x) kernel_shape=[2] strides=[1] pads=[0,0]\n"},
      {"pads of an image",
       {Op("PadImage", "arg { name: 'pads' ints: [1, 2, 3, 4] } arg { name: 'mode' s: 'reflect' }"),
        {{"x", {{1, 3, 8, 8}}}}},
       "y = Pad(x, [0, 0, 1, 2, 0, 0, 3, 4]) mode=reflect\n"},
      {"nearest pixels",
       {Op("ResizeNearest", "arg { name: 'height_scale' f: 2 } arg { name: 'width_scale' f: 3 }"),
        {{"x", {{1, 3, 4, 4}}}}},
       "y = Resize(x, , [1, 1, 2, 3]) mode=nearest coordinate_transformation_mode=asymmetric"
       " nearest_mode=floor\n"},
      {"a shuffle of 6 channels in 2 groups",
       {Op("ChannelShuffle", "arg { name: 'group' i: 2 }"), {{"x", {{1, 6, 4, 5}}}}},
       "y_Reshape = Reshape(x, [0, 2, 3, -1])\ny_Transpose = Transpose(y_Reshape) perm=[0,2,1,3]\n"
       "y = Reshape(y_Transpose, [-1, 6, 4, 5])\n"},
  };
}

std::vector<Case> MatrixAndNormCases() {
  return {
      {"FC with the four-dimensional weights of Caffe's files",
       {Op("FC", "", "x w b"),
        {{"x", {{2, 3, 1, 1}}}},
        {{"w", FloatWeight({5, 3, 1, 1})}, {"b", FloatWeight({5})}}},
       "y_Flatten = Flatten(x) axis=1\ny = Gemm(y_Flatten, w, b) transB=1\n"},
      {"FC that keeps two axes",
       {Op("FC", "arg { name: 'axis' i: 2 }", "x w b"),
        {{"x", {{2, 4, 3}}}},
        {{"w", FloatWeight({5, 3})}, {"b", FloatWeight({5})}}},
       "y_Flatten = Flatten(x) axis=2\ny_Gemm = Gemm(y_Flatten, w, b) transB=1\n"
       "y = Reshape(y_Gemm, [2, 4, 5])\n"},
      {"a transposed operand",
       {Op("MatMul", "arg { name: 'trans_b' i: 1 }", "x b"), {{"x", {{2, 3}}}, {"b", {{4, 3}}}}},
       "y_Transpose = Transpose(b) perm=[1,0]\ny = MatMul(x, y_Transpose)\n"},
      {"batch norm in test mode",
       {Op("SpatialBN", "arg { name: 'is_test' i: 1 } arg { name: 'epsilon' f: 0.5 }", "x s b m v"),
        {{"x", {{1, 3, 2, 2}}}},
        {{"s", FloatWeight({3})},
         {"b", FloatWeight({3})},
         {"m", FloatWeight({3})},
         {"v", FloatWeight({3})}}},
       "y = BatchNormalization(x, s, b, m, v) epsilon=0.5\n"},
      {"Softmax over all axes behind the first",
       {Op("Softmax"), {{"x", {{2, 3, 4}}}}},
       "y_Shape = Shape(x)\ny_Flatten = Flatten(x) axis=1\n"
       "y_Softmax = Softmax(y_Flatten) axis=-1\ny = Reshape(y_Softmax, y_Shape)\n"},
      {"Softmax over the last axis",
       {Op("Softmax", "arg { name: 'axis' i: 2 }"), {{"x", {{2, 3, 4}}}}},
       "y = Softmax(x) axis=-1\n"},
      {"axes of a sum are an input",
       {Op("ReduceSum", "arg { name: 'axes' ints: 1 } arg { name: 'keepdims' i: 0 }"),
        {{"x", {{2, 3}}}}},
       "y = ReduceSum(x, [1]) keepdims=0\n"},
      {"axes of a mean are an attribute",
       {Op("ReduceMean", "arg { name: 'axes' ints: 1 }"), {{"x", {{2, 3}}}}},
       "y = ReduceMean(x) keepdims=1 axes=[1]\n"},
      {"and an input since opset 18",
       {Op("ReduceMean", "arg { name: 'axes' ints: 1 }"), {{"x", {{2, 3}}}}, {}, {"y"}, 18},
       "y = ReduceMean(x, [1]) keepdims=1\n"},
      {"the last two dims",
       {Op("ReduceBackMean", "arg { name: 'num_reduce_dim' i: 2 }"), {{"x", {{2, 3, 4}}}}},
       "y = ReduceMean(x) keepdims=0 axes=[1,2]\n"},
  };
}

std::vector<Case> ShapeCases() {
  return {
      // Caffe2 counts from one behind the end: -1 is the end, -2 the last element.
      {"negative indices of Slice",
       {Op("Slice", "arg { name: 'starts' ints: [0, 1] } arg { name: 'ends' ints: [-1, -2] }"),
        {{"x", {{4, 5}}}}},
       "y = Slice(x, [0, 1], [9223372036854775807, -1])\n"},
      {"Slice by weights",
       {Op("Slice", "", "x s e"), {{"x", {{4}}}}, {{"s", IntWeight({1})}, {"e", IntWeight({3})}}},
       "y = Slice(x, [1], [3])\n"},
      {"a stack of tensors, and its sizes",
       {Op("Concat", "arg { name: 'axis' i: 0 } arg { name: 'add_axis' i: 1 }", "x b", "y s"),
        {{"x", {{2}}}, {"b", {{2}}}},
        {},
        {"y", "s"}},
       "y_Unsqueeze = Unsqueeze(x, [0])\ny_Unsqueeze_1 = Unsqueeze(b, [0])\n"
       "s = Cast([1, 1]) to=6\ny = Concat(y_Unsqueeze, y_Unsqueeze_1) axis=0\n"},
      {"channels of NHWC",
       {Op("Concat", "arg { name: 'order' s: 'NHWC' }", "x b", "y s"),
        {{"x", {{1, 2, 2, 3}}}, {"b", {{1, 2, 2, 1}}}}},
       "y = Concat(x, b) axis=3\n"},
      {"equal parts",
       {Op("Split", "arg { name: 'axis' i: 1 }", "x", "y z"), {{"x", {{2, 6}}}}, {}, {"y", "z"}},
       "y, z = Split(x, [3, 3]) axis=1\n"},
      {"a shape that is a weight, and the old shape",
       {Op("Reshape", "", "x s", "y o"),
        {{"x", {{2, 6}}}},
        {{"s", IntWeight({0, 3, 2})}},
        {"y", "o"}},
       "o = Shape(x)\ny = Reshape(x, [0, 3, 2])\n"},
      {"each position once",
       {Op("ExpandDims", "arg { name: 'dims' ints: [0, 2, 0] }"), {{"x", {{4, 5}}}}},
       "y = Unsqueeze(x, [0, 2])\n"},
      {"a tile",
       {Op("Tile", "arg { name: 'tiles' i: 3 } arg { name: 'axis' i: -1 }"), {{"x", {{4, 5}}}}},
       "y = Tile(x, [1, 3])\n"},
      {"a constant of x's shape",
       {Op("ConstantFill", "arg { name: 'value' f: 2.5 }"), {{"x", {{4, 5}}}}},
       "y_Shape = Shape(x)\ny = Expand(2.5, y_Shape)\n"},
      {"dims in another order",
       {Op("Shape", "arg { name: 'axes' ints: [1, 0] }"), {{"x", {{4, 5}}}}},
       "y_Shape = Shape(x)\ny = Gather(y_Shape, [1, 0])\n"},
  };
}

std::vector<Case> NameCases() {
  return {
      {"the last value of a blob has its name",
       {Op("Relu") + Op("Tanh", "", "y") + Op("Abs", "", "y"), {{"x", {{2}}}}},
       "y_value = Relu(x)\ny_value_1 = Tanh(y_value)\ny = Abs(y_value_1)\n"},
      {"an output in place of an input gets another name",
       {Op("Relu", "", "x", "x"), {{"x", {{2}}}}, {}, {"x"}},
       "x_value = Relu(x)\nx_out = Identity(x_value)\n"},
      {"an output that is an input",
       {Op("Relu"), {{"x", {{2}}}}, {}, {"y", "x"}},
       "y = Relu(x)\nx_out = Identity(x)\n"},
      {"a weight that the net overwrites",
       {Op("Add", "", "x w", "w"), {{"x", {{2}}}}, {{"w", FloatWeight({2})}}, {"w"}},
       "w = Add(x, w_initial)\n"},
  };
}

TEST(OnnxExportTest, WritesNodes) {
  for (const auto& cases :
       {ElementwiseCases(), WindowCases(), MatrixAndNormCases(), ShapeCases(), NameCases()}) {
    for (const Case& row : cases) {
      SCOPED_TRACE(row.name);
      EXPECT_EQ(GraphText(Export(row.net)), row.graph);
    }
  }
}

TEST(OnnxExportTest, StatesInputsOutputsAndVersions) {
  const OnnxExport exported = Export({"name: 'n' external_input: 'x'" + Op("FC", "", "x w b"),
                                      {{"x", {{2, 3}}}},
                                      {{"w", FloatWeight({5, 3})}, {"b", FloatWeight({5})}}});
  const onnx::GraphProto& graph = exported.model.graph();
  EXPECT_EQ(graph.name(), "n");
  ASSERT_EQ(graph.input_size(), 1);
  EXPECT_EQ(graph.input(0).name(), "x");
  EXPECT_EQ(graph.input(0).type().tensor_type().elem_type(), onnx::TensorProto::FLOAT);
  ASSERT_EQ(graph.output_size(), 1);
  EXPECT_EQ(graph.output(0).type().tensor_type().shape().dim(1).dim_value(), 5);
  EXPECT_EQ(graph.initializer_size(), 2);
  EXPECT_EQ(exported.model.opset_import(0).version(), 17);
  EXPECT_EQ(exported.model.ir_version(), 8);
  EXPECT_THAT(exported.notes, IsEmpty());
}

TEST(OnnxExportTest, NamesNodesByOperators) {
  const OnnxExport exported =
      Export({Op("Swish", "name: 'act' debug_info: 'layer 3'"), {{"x", {{2}}}}});
  ASSERT_EQ(exported.model.graph().node_size(), 2);
  EXPECT_EQ(exported.model.graph().node(0).name(), "act");
  EXPECT_NE(exported.model.graph().node(1).name(), "act");
  EXPECT_EQ(exported.model.graph().node(1).doc_string(), "layer 3");
  // A copy for the name of an output belongs to no operator.
  const OnnxExport copied = Export(
      {Op("Relu", "name: 'act' debug_info: 'layer 3'", "x", "x"), {{"x", {{2}}}}, {}, {"x"}});
  ASSERT_EQ(copied.model.graph().node_size(), 2);
  EXPECT_EQ(copied.model.graph().node(1).name(), "");
  EXPECT_EQ(copied.model.graph().node(1).doc_string(), "");
}

TEST(OnnxExportTest, NotesOutputsWithOtherNames) {
  EXPECT_THAT(Export({Op("Relu", "", "x", "x"), {{"x", {{2}}}}, {}, {"x"}}).notes,
              ElementsAre(HasSubstr("output \"x\" is called \"x_out\"")));
}

TEST(OnnxExportTest, ReportsWhatHasNoCounterpart) {
  const struct {
    ExportedNet net;
    const char* message;
  } cases[] = {
      {{Op("Relu") + Op("GenerateProposals", "", "y") + Op("CreateDB", "name: 'db'", "", "r") +
            Op("CreateDB", "", "", "s"),
        {{"x", {{2}}}}},
       "these operators have no ONNX form: CreateDB (2 times, the first is \"db\"), "
       "GenerateProposals (\"y\")"},
      {{Op("Add", "", "x b"), {{"x", {{2}}}}},
       "the shapes of inputs \"b\" are not known; state them with --input-shape"},
      {{Op("Relu"), {{"x", {{2}}}}, {}, {"y"}, 12}, "opset is 12, want 13 to 24"},
      {{Op("Dropout", "arg { name: 'is_test' i: 0 }", "x", "y m"), {{"x", {{2}}}}},
       "want argument is_test 1"},
      {{Op("LRN", "arg { name: 'size' i: 3 }", "x", "y s"), {{"x", {{1, 2, 3, 4}}}}, {}, {"s"}},
       "output 1 (\"s\") of LRN has no counterpart in ONNX"},
      {{Op("Tile", "", "x t") + Op("Cast", "", "x", "t"), {{"x", {{2}}}, {"t", {{1}}}}},
       "inputs 1 and 2 of Tile are computed by the net"},
      {{Op("Split", "arg { name: 'axis' i: 1 }", "x s", "y z"),
        {{"x", {{2, 6}}}, {"s", {{2}, TensorProto::INT32}}},
        {},
        {"y", "z"}},
       "input 1 (split) of Split is computed by the net, want a weight"},
      // A weight has the name of a blob that the net writes.
      {{Op("Add", "", "s s", "s") + Op("Slice", "", "x s e"),
        {{"x", {{4}}}},
        {{"s", IntWeight({1})}, {"e", IntWeight({3})}}},
       "inputs 1 and 2 (starts, ends) of Slice are computed by the net, want weights"},
      {{Op("LayerNorm", "", "x", "y m s"), {{"x", {{2, 3}}}}, {}, {"y"}, 16}, "needs opset 17"},
      {{Op("ResizeNearest", "", "x s"), {{"x", {{1, 1, 2, 2}}}, {"s", {{2}}}}},
       "input 1 (scales) of ResizeNearest is computed by the net, want a weight"},
      {{Op("UpsampleBilinear", "", "x s"), {{"x", {{1, 1, 2, 2}}}, {"s", {{2}}}}},
       "input 1 (scales) of UpsampleBilinear is computed by the net, want a weight"},
      {{Op("AveragePool", "arg { name: 'kernel' i: 2 } arg { name: 'dilation' i: 2 }"),
        {{"x", {{1, 1, 6, 6}}}},
        {},
        {"y"},
        18},
       "AveragePool with a dilation needs opset 19; want --opset 19"},
      {{Op("MaxPool",
           "arg { name: 'kernel' i: 2 } arg { name: 'pads' ints: -1 ints: 0 ints: 0 ints: 0 }"),
        {{"x", {{1, 1, 6, 6}}}}},
       "MaxPool with negative pads has no counterpart in ONNX"},
      {{Op("MaxPool", "arg { name: 'kernel' i: 2 } arg { name: 'strides' ints: 1 }"),
        {{"x", {{1, 1, 6, 6}}}}},
       "numbers of argument strides: got 1, want 2"},
      {{Op("RoIAlign", "", "x r"), {{"x", {{1, 1, 6, 6}}}, {"r", {{2, 4}}}}},
       "columns of input 1 (RoIs); RoIs without the number of an image have no counterpart: got 4, "
       "want 5"},
      {{Op("RoIAlign", "arg { name: 'aligned' i: 1 }", "x r"),
        {{"x", {{1, 1, 6, 6}}}, {"r", {{2, 5}}}},
        {},
        {"y"},
        15},
       "RoIAlign with aligned needs opset 16"},
      {{Op("LRN", "arg { name: 'size' i: 0 }"), {{"x", {{1, 2, 6, 6}}}}},
       "argument size of LRN is 0, which has no counterpart in ONNX"},
      {{Op("MatMul", "", "x b s"), {{"x", {{2, 3}}}, {"b", {{3, 2}}}, {"s", {{2}}}}},
       "input 2 (shape) of MatMul has no counterpart in ONNX"},
      {{Op("ConstantFill", "", "x v"), {{"x", {{2, 3}}}, {"v", {{1}}}}},
       "input 1 (value) of ConstantFill has no counterpart in ONNX"},
      {{Op("ConstantFill",
           "arg { name: 'shape' ints: 1 } arg { name: 'dtype' i: 4 } arg { name: 'value' s: 'a' }",
           ""),
        {}},
       "ConstantFill of strings has no counterpart in ONNX"},
      {{Op("Add", "arg { name: 'broadcast' i: 1 } arg { name: 'axis' i: 1 }", "x b"),
        {{"x", {{2, 3}}}, {"b", {{3, 4}}}}},
       "dims of input 0 behind those of input 1, which begin at axis 1: got -1, want at least 0"},
      {{Op("Add", "arg { name: 'broadcast' i: 1 } arg { name: 'axis_str' s: 'Q' }", "x b"),
        {{"x", {{2, 3}}}, {"b", {{3}}}}},
       "argument axis_str is \"Q\", want a letter of NCHW"},
      {{Op("If"), {{"x", {{1}}}}}, "argument \"then_net\" is missing, want a net"},
  };
  // The oldest opsets that suffice.
  const ExportedInput image = {{1, 1, 6, 6}}, rois = {{2, 5}};
  for (const auto& [arguments, opset] : {std::pair("", 15), {"arg { name: 'aligned' i: 1 }", 16}})
    EXPECT_NO_THROW(
        Export({Op("RoIAlign", arguments, "x r"), {{"x", image}, {"r", rois}}, {}, {"y"}, opset}));
  for (const auto& row : cases) {
    SCOPED_TRACE(row.message);
    ExpectThrows([&] { Export(row.net); }, row.message);
  }
}

TEST(OnnxExportTest, ListsItsTypes) {
  EXPECT_THAT(OnnxExportTypes(), ::testing::Contains("Conv"));
  EXPECT_THAT(OnnxExportTypes(), ::testing::Not(::testing::Contains("GenerateProposals")));
}

}  // namespace
}  // namespace caffe2rt::test::onnx_export_test
