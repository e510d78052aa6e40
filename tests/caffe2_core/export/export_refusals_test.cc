// What cannot be exported, and from which opset on it can.
#include <gtest/gtest.h>

#include "tests/caffe2_core/export/exported_graph.h"
#include "tests/caffe2_core/export/operator_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::export_refusals_test {
namespace {

using namespace operator_text;  // used throughout this file

constexpr auto kInt64 = TensorProto::INT64, kBool = TensorProto::BOOL;
const ExportedInput kMatrix = {{2, 3}}, kImage = {{1, 2, 6, 6}}, kList = {{2}, kInt64};

struct Refusal {
  ExportedNet net;
  std::string message;
};
void ExpectRefusals(const std::vector<Refusal>& rows) {
  for (const Refusal& row : rows) {
    SCOPED_TRACE(row.net.net);
    ExpectThrows([&] { Export(row.net); }, row.message);
  }
}

TEST(ExportRefusalsTest, OperatorsWithoutACounterpart) {
  const std::map<std::string, ExportedInput> image = {{"x", kImage}};
  const std::map<std::string, Tensor> filter = {{"w", FloatWeight({2, 2, 1, 1})}};
  std::map<std::string, Tensor> four;
  for (const char* name : {"s", "b", "m", "v"}) four[name] = FloatWeight({2});
  ExpectRefusals({
      {{Op("Dropout", "", "x", "y m"), image},
       "Dropout drops elements; want argument is_test 1 in a net that is exported"},
      {{Op("Where", I("broadcast_on_rows", 1), "c x z"),
        {{"c", {{2}, kBool}}, {"x", kMatrix}, {"z", kMatrix}}},
       "argument broadcast_on_rows has no counterpart in ONNX"},
      {{Op("SpatialBN", "", "x s b m v", "y m v p q"), image, four},
       "SpatialBN computes the statistics of its batch; want argument is_test 1 in a net that is "
       "exported"},
      {{Op("LRN", I("size", 3), "x", "y s"), image, {}, {"s"}},
       "output 1 (\"s\") of LRN has no counterpart in ONNX, and it is read"},
      {{Op("LRN", I("size", 3), "x", "y s") + Op("Abs", "", "s", "z"), image},
       "output 1 (\"s\") of LRN has no counterpart in ONNX, and it is read"},
      {{Op("TopK", I("k", 1), "x", "y i f"), image, {}, {"f"}},
       "output 2 (\"f\") of TopK has no counterpart in ONNX, and it is read"},
      {{Op("LayerNorm", "", "x", "y m s"), {{"x", kMatrix}}, {}, {"y"}, 16},
       "LayerNorm needs opset 17; opset: got 16, want at least 17"},
      {{Op("Tile", "", "x t a"), {{"x", kMatrix}, {"t", kList}, {"a", kList}}},
       "inputs 1 and 2 of Tile are computed by the net, want weights or arguments"},
      {{Op("Gather", I("match_outer", 1), "x i"), {{"x", kMatrix}, {"i", kList}}},
       "argument match_outer of Gather has no counterpart in ONNX"},
      {{Op("Conv", I("kernel", 1) + I("global_pooling", 1), "x w"), image, filter},
       "argument global_pooling of a convolution has no counterpart in ONNX"},
      {{Op("ConvTranspose", I("kernel", 1) + I("legacy_pad", 1), "x w"), image, filter},
       "argument legacy_pad of ConvTranspose has no counterpart in ONNX"},
      {{Op("ReduceBackSum", "", "x l"), {{"x", kMatrix}, {"l", {{2}, TensorProto::INT32}}}},
       "input 1 (lengths) of ReduceBackSum has no counterpart in ONNX"},
      {{Op("ReduceMax", "", "x a"), {{"x", kMatrix}, {"a", kList}}, {}, {}, 17},
       "axes of ReduceMax that the net computes need opset 18; choose it with --opset; opset is "
       "17"},
      {{Op("Add", "", "x"), {{"x", kMatrix}}}, "operator Add has 1 input, want at least 2"},
  });
}

TEST(ExportRefusalsTest, WholeNets) {
  ExpectRefusals({
      {{"name: 'n' " + Op("CreateDB", "", "", "r"), {}, {}, {"r"}},
       "cannot export net \"n\": these operators have no ONNX form: CreateDB (\"r\")"},
      {{Op("Sum", "", "a b c d e"), {}},
       "the shapes of inputs \"a\", \"b\", \"c\", \"d\", \"e\" are not known; state them with "
       "--input-shape BLOB=DIMS, or give the weights with --init-net"},
      {{Op("Sum", "", "a b c d e f g"), {}},
       "the shapes of inputs \"a\", \"b\", \"c\", \"d\", \"e\" and 2 more are not known; state"},
      {{Op("Relu"), {{"x", kMatrix}}, {}, {"q"}},
       "blob \"q\" has no value: no input or weight has this name, and the operator that writes it "
       "has no counterpart of this output in ONNX"},
      {{Op("Reshape", "", "x s", "y o"), {{"x", kMatrix}, {"s", kList}}},
       "the shape of output \"y\" is not known; state the shapes of the inputs with --input-shape "
       "BLOB=DIMS"},
      {{Op("Reshape", "", "x s", "h o") + Op("Softmax", "", "h"), {{"x", kMatrix}, {"s", kList}}},
       "the shape of blob \"h\" is not known; state those of the inputs with --input-shape "
       "BLOB=DIMS"},
      {{Op("Relu"), {{"x", kMatrix}}, {}, {"y"}, 25}, "opset is 25, want 13 to 24"},
  });
  for (const int opset : {13, 24}) {
    EXPECT_EQ(GraphText(Export({Op("Relu"), {{"x", kMatrix}}, {}, {"y"}, opset})), "y = Relu(x)\n");
  }
}

TEST(ExportRefusalsTest, VersionsOfTheFormatBelongToOpsets) {
  const std::pair<int, int64_t> rows[] = {{13, 8},  {18, 8},  {19, 9},  {20, 9},
                                          {21, 10}, {22, 10}, {23, 11}, {24, 11}};
  for (const auto& [opset, ir] : rows) {
    const OnnxExport exported = Export({Op("Relu"), {{"x", kMatrix}}, {}, {"y"}, opset});
    EXPECT_EQ(exported.model.ir_version(), ir) << opset;
    EXPECT_EQ(exported.model.opset_import(0).version(), opset);
    EXPECT_EQ(exported.model.opset_import(0).domain(), "");
    EXPECT_EQ(exported.model.producer_name(), "caffe2rt");
    EXPECT_EQ(exported.model.graph().name(), "net");  // of a net without a name
  }
}

// Operators of ONNX's meaning that an opset brought.
TEST(ExportRefusalsTest, FormsBeginWithTheirOpsets) {
  struct Form {
    const char *type, *node;
    int opset;
    const char* inputs;
    std::string args = "";
  };
  const Form forms[] = {{"BitwiseNot", "BitwiseNot", 18, "x"},
                        {"BlackmanWindow", "BlackmanWindow", 17, "x"},
                        {"CenterCropPad", "CenterCropPad", 18, "x s"},
                        {"CumSum", "CumSum", 14, "x s"},
                        {"DFT", "DFT", 20, "x"},
                        {"GRU", "GRU", 14, "x w r"},
                        {"GridSample", "GridSample", 20, "x w"},
                        {"HammingWindow", "HammingWindow", 17, "x"},
                        {"HannWindow", "HannWindow", 17, "x"},
                        {"LSTM", "LSTM", 14, "x w r"},
                        {"MelWeightMatrix", "MelWeightMatrix", 17, "x s w r z"},
                        {"ONNXCol2Im", "Col2Im", 18, "x s w"},
                        {"ONNXDeformConv", "DeformConv", 19, "x w r"},
                        {"ONNXRoiAlign", "RoiAlign", 16, "x w r"},
                        {"RNN", "RNN", 14, "x w r"},
                        {"STFT", "STFT", 17, "x s"},
                        {"TensorScatter", "TensorScatter", 24, "x w"},
                        {"Trilu", "Trilu", 14, "x"}};
  for (const Form& form : forms) {
    SCOPED_TRACE(form.type);
    ExportedNet net = {Op(form.type, form.args, form.inputs), {}, {}, {}, form.opset};
    // Shapes that fit nothing in particular: inference then knows no more, and the nodes need none.
    for (const char* name : {"x", "s", "w", "r", "z"}) net.inputs[name] = {{1}};
    EXPECT_NE(GraphText(Export(net)).find(std::string("y = ") + form.node + "("),
              std::string::npos);
    --net.opset;
    if (net.opset < kMinOnnxExportOpset) continue;
    ExpectThrows([&] { Export(net); },
                 MakeString("operator ", form.node, " needs opset ", form.opset,
                            "; choose it with --opset; opset: got ", net.opset, ", want at least ",
                            form.opset));
  }
}

// An attribute that an opset brought: the value that says nothing is left out before it.
TEST(ExportRefusalsTest, AttributesBeginWithTheirOpsets) {
  struct Attribute {
    const char *type, *name;
    int opset;
    std::string plain, other;  // arguments; no plain one for lists
  };
  const std::string list = "arg { name: 'dilations' ints: 2 ints: 2 } ";
  const Attribute rows[] = {
      {"ONNXAveragePool", "dilations", 19, "", list},
      {"DequantizeLinear", "block_size", 21, I("block_size", 0), I("block_size", 2)},
      {"DequantizeLinear", "output_dtype", 23, I("output_dtype", 0), I("output_dtype", 1)},
      {"ONNXLpPool", "ceil_mode", 18, I("ceil_mode", 0), I("ceil_mode", 1)},
      {"ONNXLpPool", "dilations", 18, "", list},
      {"QuantizeLinear", "block_size", 21, I("block_size", 0), I("block_size", 2)},
      {"QuantizeLinear", "output_dtype", 21, I("output_dtype", 0), I("output_dtype", 3)},
      {"QuantizeLinear", "saturate", 19, I("saturate", 1), I("saturate", 0)},
      {"Resize", "antialias", 18, I("antialias", 0), I("antialias", 1)},
      {"Resize", "axes", 18, "", "arg { name: 'axes' ints: 0 } "},
      {"Resize", "keep_aspect_ratio_policy", 18, S("keep_aspect_ratio_policy", "stretch"),
       S("keep_aspect_ratio_policy", "not_larger")},
      {"ScatterElements", "reduction", 16, S("reduction", "none"), S("reduction", "add")},
      {"ScatterND", "reduction", 16, S("reduction", "none"), S("reduction", "mul")}};
  for (const Attribute& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " ", row.name));
    const auto graph = [&](const std::string& args, int opset) {
      ExportedNet net = {Op(row.type, args, "x s w"), {}, {}, {}, opset};
      for (const char* name : {"x", "s", "w"}) net.inputs[name] = {{1}};
      return GraphText(Export(net));
    };
    const std::string shown = std::string(" ") + row.name + "=";
    EXPECT_NE(graph(row.other, row.opset).find(shown), std::string::npos);
    ExpectThrows([&] { graph(row.other, row.opset - 1); },
                 MakeString("argument ", row.name, " needs opset ", row.opset, ", got ",
                            row.opset - 1, "; choose it with --opset"));
    if (row.plain.empty()) continue;
    EXPECT_NE(graph(row.plain, row.opset).find(shown), std::string::npos);
    EXPECT_EQ(graph(row.plain, row.opset - 1).find(shown), std::string::npos);
  }
  // ONNX's SpaceToDepth has one order.
  const ExportedNet depth = {Op("SpaceToDepth", I("blocksize", 2) + S("mode", "DCR")),
                             {{"x", kImage}}};
  EXPECT_EQ(GraphText(Export(depth)), "y = SpaceToDepth(x) blocksize=2\n");
  ExpectThrows(
      [] {
        Export({Op("SpaceToDepth", I("blocksize", 2) + S("mode", "CRD")), {{"x", kImage}}});
      },
      "argument mode needs opset 25, got 17; choose it with --opset");
}

TEST(ExportRefusalsTest, FormsHaveTheNamesOfOnnx) {
  const std::pair<const char*, const char*> rows[] = {
      {"Acosh", "Acosh"},
      {"Asinh", "Asinh"},
      {"Atanh", "Atanh"},
      {"BitShift", "BitShift"},
      {"Compress", "Compress"},
      {"ConvInteger", "ConvInteger"},
      {"DepthToSpace", "DepthToSpace"},
      {"Det", "Det"},
      {"DynamicQuantizeLinear", "DynamicQuantizeLinear"},
      {"Einsum", "Einsum"},
      {"GatherElements", "GatherElements"},
      {"GatherND", "GatherND"},
      {"Hardmax", "Hardmax"},
      {"IsInf", "IsInf"},
      {"MatMulInteger", "MatMulInteger"},
      {"MaxUnpool", "MaxUnpool"},
      {"NonZero", "NonZero"},
      {"ONNXAbs", "Abs"},
      {"ONNXArgMax", "ArgMax"},
      {"ONNXArgMin", "ArgMin"},
      {"ONNXCeil", "Ceil"},
      {"ONNXClip", "Clip"},
      {"ONNXConvTranspose", "ConvTranspose"},
      {"ONNXDropout", "Dropout"},
      {"ONNXExp", "Exp"},
      {"ONNXExpand", "Expand"},
      {"ONNXFloor", "Floor"},
      {"ONNXLog", "Log"},
      {"ONNXMatMul", "MatMul"},
      {"ONNXMax", "Max"},
      {"ONNXMaxPool", "MaxPool"},
      {"ONNXMin", "Min"},
      {"ONNXMod", "Mod"},
      {"ONNXOneHot", "OneHot"},
      {"ONNXPow", "Pow"},
      {"ONNXRange", "Range"},
      {"ONNXSqueeze", "Squeeze"},
      {"ONNXTile", "Tile"},
      {"ONNXTopK", "TopK"},
      {"ONNXUnique", "Unique"},
      {"ONNXWhere", "Where"},
      {"QLinearConv", "QLinearConv"},
      {"QLinearMatMul", "QLinearMatMul"},
      {"ReverseSequence", "ReverseSequence"},
      {"Round", "Round"},
      {"TfIdfVectorizer", "TfIdfVectorizer"},
      {"Unsqueeze", "Unsqueeze"}};
  for (const auto& [type, node] : rows) {
    SCOPED_TRACE(type);
    ExportedNet net = {Op(type, "", "x s w"), {}, {}, {}, 13};
    for (const char* name : {"x", "s", "w"}) net.inputs[name] = {{1}};
    EXPECT_EQ(GraphText(Export(net)), MakeString("y = ", node, "(x, s, w)\n"));
  }
}

TEST(ExportRefusalsTest, ParametersOfFormsBecomeInputsOfTheirPlaces) {
  const std::string list = "arg { name: 'v' ints: 1 ints: 2 } ";
  const auto ints = [&](const std::string& name) {
    std::string text = list;
    return text.replace(text.find("'v'"), 3, "'" + name + "'");
  };
  struct {
    const char* type;
    std::string args;
    const char* graph;
    int opset = 18;
  } const rows[] = {
      {"CenterCropPad", ints("shape"), "y = CenterCropPad(x, [1, 2])\n"},
      {"ONNXCol2Im", ints("image_shape") + ints("block_shape"), "y = Col2Im(x, [1, 2], [1, 2])\n"},
      {"ONNXExpand", ints("shape"), "y = Expand(x, [1, 2])\n"},
      {"ONNXSqueeze", ints("axes"), "y = Squeeze(x, [1, 2])\n"},
      {"ONNXTile", ints("repeats"), "y = Tile(x, [1, 2])\n"},
      {"ONNXTopK", I("k", 3), "y = TopK(x, [3])\n"},
      {"Unsqueeze", ints("axes"), "y = Unsqueeze(x, [1, 2])\n"},
      {"Pad", ints("pads") + ints("axes"), "y = Pad(x, [1, 2], , [1, 2])\n"},
      {"ONNXSlice", ints("starts") + ints("ends") + ints("steps"),
       "y = Slice(x, [1, 2], [1, 2], , [1, 2])\n"},
      {"Resize", "arg { name: 'scales' floats: 1 floats: 0.5 }", "y = Resize(x, , [1, 0.5])\n"},
      {"Resize", "arg { name: 'roi' floats: 1 floats: 0.5 } " + ints("sizes"),
       "y = Resize(x, [1, 0.5], , [1, 2])\n"},
      {"Trilu", I("k", -1), "y = Trilu(x, -1)\n"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(GraphText(Export({Op(row.type, row.args), {{"x", {{1}}}}, {}, {}, row.opset})),
              row.graph);
  }
  // Two inputs, and three arguments behind them.
  EXPECT_EQ(GraphText(Export({Op("NonMaxSuppression",
                                 I("max_output_boxes_per_class", 5) +
                                     "arg { name: 'iou_threshold' f: 0.5 } "
                                     "arg { name: 'score_threshold' f: 0.25 } " +
                                     I("center_point_box", 1),
                                 "x s"),
                              {{"x", {{1}}}, {"s", {{1}}}},
                              {},
                              {}})),
            "y = NonMaxSuppression(x, s, [5], 0.5, 0.25) center_point_box=1\n");
}

}  // namespace
}  // namespace caffe2rt::test::export_refusals_test
