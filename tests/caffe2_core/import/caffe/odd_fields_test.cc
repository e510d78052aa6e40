// Fields that rarely stand together: parameters without a name, sizes and pads of old nets, bottoms with more
// axes than they need, tops beyond the second. Expected values are by hand.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <tuple>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::odd_fields_test {
namespace {

using Lines = std::vector<std::string>;

std::string OddArgumentText(const Argument& arg) {
  if (arg.has_i()) return MakeString(arg.name(), "=", arg.i());
  if (arg.has_f()) return MakeString(arg.name(), "=", arg.f());
  if (arg.floats_size() > 0)
    return MakeString(arg.name(), "=[", absl::StrJoin(arg.floats(), ","), "]");
  return MakeString(arg.name(), "=[", absl::StrJoin(arg.ints(), ","), "]");
}
// "Conv kernels=[1,1] group=1" for each operator.
Lines OddOperators(const NetDef& net) {
  Lines lines;
  for (const OperatorDef& op : net.op()) {
    std::string& line = lines.emplace_back(op.type());
    for (const Argument& arg : op.arg()) line += " " + OddArgumentText(arg);
  }
  return lines;
}
// "Relu: x -> y" for each operator.
Lines OddBlobs(const NetDef& net) {
  Lines lines;
  for (const OperatorDef& op : net.op()) {
    lines.push_back(MakeString(op.type(), ": ", absl::StrJoin(op.input(), " "), " -> ",
                               absl::StrJoin(op.output(), " ")));
  }
  return lines;
}
std::string OddError(const std::string& net, const std::string& weights = "") {
  try {
    (void)ImportCaffeFromMemory(net, weights, {.weights = "w"});
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}
bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// --- forms of layers ---

TEST(CaffeOddFieldsTest, FormsOfLayers) {
  const struct {
    std::string layer;
    const char* dims;
    Lines want;
  } rows[] = {
      {"type: 'Scale' scale_param { axis: 0 num_axes: -1 }",
       "1, 4, 6, 8",
       {"Mul broadcast=1 axis=0"}},
      {"type: 'Scale' scale_param { axis: 3 num_axes: -1 }",
       "1, 4, 6, 8",
       {"Mul broadcast=1 axis=3"}},
      {"type: 'Normalize'", "2, 3", {"Sqr", "ReduceSum axes=[1]", "Add", "Sqrt", "Div", "Mul"}},
      {"type: 'Normalize' norm_param { across_spatial: false }",
       "2, 3",
       {"Sqr", "ReduceSum axes=[1]", "Add", "Sqrt", "Div", "Mul"}},
      {"type: 'Normalize'",
       "2, 3, 5",
       {"Sqr", "ReduceSum axes=[1,2]", "Add", "Sqrt", "Div", "Mul"}},
      {"type: 'L2Norm'", "2, 3, 5", {"Sqr", "ReduceSum axes=[1]", "Add", "Sqrt", "Div", "Mul"}},
      {"type: 'BatchNorm' batch_norm_param { eps: 1e-8 }",
       "1, 2, 1, 1",
       {"SpatialBN is_test=1 epsilon=1e-08"}},
      {"type: 'BatchNorm' batch_norm_param { eps: 0 }",
       "1, 2, 1, 1",
       {"SpatialBN is_test=1 epsilon=1.17549e-38"}},
      {"type: 'Flatten' flatten_param { axis: 0 end_axis: 1 }",
       "1, 4, 6, 8",
       {"Reshape shape=[-1,6,8]"}},
      {"type: 'Flatten' flatten_param { end_axis: 1 }",
       "1, 4, 6, 8, 2",
       {"Reshape shape=[0,-1,6,8,2]"}},
      {"type: 'Flatten' flatten_param { axis: 2 end_axis: 2 }",
       "1, 4, 6, 8",
       {"Reshape shape=[0,0,-1,8]"}},
      {"type: 'Eltwise' bottom: 'x' bottom: 'x' eltwise_param { coeff: [0, -1, 1] }",
       "2, 3",
       {"Scale scale=0", "Scale scale=-1", "Sum"}},
      {"type: 'Reduction' reduction_param { operation: MEAN coeff: 3 }",
       "2, 3",
       {"ReduceMean axes=[0,1] keepdims=0", "Scale scale=3"}},
      {"type: 'Reduction' reduction_param { operation: MEAN axis: -1 coeff: 0 }",
       "2, 3",
       {"ReduceMean axes=[1] keepdims=0", "Scale scale=0"}},
      {"type: 'Reduction' reduction_param { operation: ASUM coeff: -1 }",
       "2, 3",
       {"Abs", "ReduceSum axes=[0,1] keepdims=0", "Scale scale=-1"}},
      {"type: 'Reduction' reduction_param { operation: SUMSQ coeff: 2 axis: 1 }",
       "2, 3",
       {"Sqr", "ReduceSum axes=[1] keepdims=0", "Scale scale=2"}},
      {"type: 'Eltwise' bottom: 'x' bottom: 'x' bottom: 'x' eltwise_param { operation: PROD }",
       "1, 4",
       {"Mul", "Mul", "Mul"}},
      {"type: 'Add' bottom: 'x' bottom: 'x' bottom: 'x' bottom: 'x'",
       "1, 4",
       {"Add", "Add", "Add", "Add"}},
      // ceil_mode goes before round_mode.
      {"type: 'Pooling' pooling_param { kernel_size: 2 ceil_mode: false round_mode: CEIL }",
       "1, 1, 6, 8",
       {"MaxPool kernels=[2,2] strides=[1,1] pads=[0,0,0,0]"}},
      {"type: 'Pooling' pooling_param { kernel_size: 2 ceil_mode: true round_mode: FLOOR }",
       "1, 1, 6, 8",
       {"MaxPool kernels=[2,2] strides=[1,1] pads=[0,0,0,0] legacy_pad=3"}},
      {"type: 'Pooling' pooling_param { kernel_size: 2 round_mode: FLOOR }",
       "1, 1, 6, 8",
       {"MaxPool kernels=[2,2] strides=[1,1] pads=[0,0,0,0]"}},
      {"type: 'Squeeze' squeeze_param { axis: 0 axes: 2 }", "1, 4, 1", {"Squeeze dims=[0]"}},
      {"type: 'Reshape' reshape_param { axis: -1 shape { dim: [1, 1] } }",
       "2, 3",
       {"Reshape shape=[0,0,1,1]"}},
      {"type: 'Reshape' reshape_param { axis: -2 shape { dim: [3, -1] } }",
       "2, 3",
       {"Reshape shape=[0,3,-1]"}},
      {"type: 'Reshape' reshape_param { axis: -3 num_axes: 1 shape { dim: [0, 1] } }",
       "2, 3",
       {"Reshape shape=[0,1,3]"}},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.layer);
    const std::string net =
        Input("x", row.dims) + "layer { name: 'y' bottom: 'x' top: 'y' " + row.layer + " }";
    ASSERT_EQ(OddError(net), "");
    EXPECT_EQ(OddOperators(ImportCaffeFromMemory(net, "", {}).predict_net), row.want);
  }
}

// A factor covers num_axes axes from `axis` on, or all of them.
TEST(CaffeOddFieldsTest, FactorsHaveTheDimsThatTheyCover) {
  for (const auto& [param, want] : {std::pair("axis: 0 num_axes: -1", "[1,4,6,8]"),
                                    {"axis: 1 num_axes: -1", "[4,6,8]"},
                                    {"axis: 3 num_axes: -1", "[8]"},
                                    {"axis: -1", "[8]"},
                                    {"axis: 0", "[1]"},
                                    {"axis: 0 num_axes: 4", "[1,4,6,8]"},
                                    {"axis: 1 num_axes: 2", "[4,6]"},
                                    {"num_axes: 0", "[1]"},
                                    {"", "[4]"}}) {
    for (const auto& [type, field, value] :
         {std::tuple("Scale", "scale_param", "1"), {"Bias", "bias_param", "0"}}) {
      const CaffeModel model = ImportCaffeFromMemory(
          Input("x", "1, 4, 6, 8") + Layer(type, MakeString(field, " { ", param, " }")), "", {});
      EXPECT_EQ(OddOperators(model.init_net),
                Lines{MakeString("ConstantFill shape=", want, " value=", value)})
          << type << " " << param;
    }
  }
}

// Kinds of fillers that Caffe2 has no operator for are those of the scale of xavier.
TEST(CaffeOddFieldsTest, FillersAreOfThreeKinds) {
  for (const auto& [filler, want] :
       {std::pair("", "ConstantFill shape=[3,4] value=0"),
        {"value: 5", "ConstantFill shape=[3,4] value=5"},
        {"type: 'constant' value: 5", "ConstantFill shape=[3,4] value=5"},
        {"type: 'xavier'", "XavierFill shape=[3,4]"},
        {"type: 'gaussian' std: 0.01", "XavierFill shape=[3,4]"},
        {"type: 'msra'", "XavierFill shape=[3,4]"},
        {"type: 'uniform' min: 0 max: 1", "XavierFill shape=[3,4]"}}) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("x", "1, 4") + Layer("InnerProduct",
                                   "inner_product_param { num_output: 3 bias_term: false "
                                   "weight_filler { " +
                                       std::string(filler) + " } }"),
        "", {});
    EXPECT_EQ(OddOperators(model.init_net).at(0), want) << filler;
  }
}

// The levels of a pyramid: all of 3 x 3 pixels, then four bins of 2 x 2 with a pad of one in front.
TEST(CaffeOddFieldsTest, PyramidsPadTheirFirstBins) {
  const Tensor x = Floats({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto run = [&](const std::string& param) {
    return RunCaffeText(Input("x", "1, 1, 3, 3") + Layer("SPP", "spp_param { " + param + " }"),
                        kNoWeights, {{"x", x}}, "y");
  };
  EXPECT_EQ(Difference(run("pyramid_height: 2"), Floats({1, 5}, {9, 1, 3, 7, 9})), 0);
  EXPECT_EQ(Difference(run("pyramid_height: 2 pool: MAX"), Floats({1, 5}, {9, 1, 3, 7, 9})), 0);
}

// Two bottoms: the only blob is the bias.
TEST(CaffeOddFieldsTest, AFactorThatIsABottomLeavesTheFirstBlobToTheBias) {
  const std::string net = Input("x", "1, 2") + Input("s", "2") +
                          Layer("Scale", "bottom: 's' scale_param { bias_term: true }");
  const std::string weights = "layer { name: 'y' blobs { shape { dim: 2 } data: [100, 200] } }";
  EXPECT_EQ(
      Difference(RunCaffeText(net, weights,
                              {{"x", Floats({1, 2}, {1, 2})}, {"s", Floats({2}, {3, 5})}}, "y"),
                 Floats({1, 2}, {103, 210})),
      0);
  EXPECT_EQ(OddError(net,
                     "layer { name: 'y' blobs { shape { dim: 2 } data: [1, 2] } "
                     "blobs { shape { dim: 2 } data: [1, 2] } }"),
            "cannot import \"net\": line 3, column 1: layer \"y\" of type Scale: it has 2 blobs in "
            "\"w\", want 1 by its fields; give the weights of this net, or correct the layer");
}

// The states of 3 steps of 2 sequences: a row has 2 * 4 numbers.
TEST(CaffeOddFieldsTest, RecurrentOutputsHaveSequencesBehindSteps) {
  for (const char* type : {"LSTM", "RNN"}) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("x", "3, 2, 5") + Input("k", "3, 2") + "layer { name: 'h' type: '" + type +
            "' bottom: 'x' bottom: 'k' top: 'h' recurrent_param { num_output: 4 } }"
            "layer { name: 'y' type: 'InnerProduct' bottom: 'h' top: 'y' inner_product_param { "
            "num_output: 1 bias_term: false } }",
        "", {});
    Lines shapes;
    for (const OperatorDef& op : model.init_net.op()) {
      if (op.output(0) == "y_w") shapes.push_back(OddArgumentText(op.arg(0)));
    }
    EXPECT_EQ(shapes, Lines{"shape=[1,8]"}) << type;
  }
}

// --- detectors ---

Lines Proposals(const std::string& info, const std::string& param, int anchors) {
  return OddOperators(
      ImportCaffeFromMemory(Input("c", MakeString("1, ", 2 * anchors, ", 2, 2")) +
                                Input("d", MakeString("1, ", 4 * anchors, ", 2, 2")) +
                                Input("i", info) +
                                "layer { name: 'y' type: 'Proposal' bottom: 'c' bottom: 'd' "
                                "bottom: 'i' top: 'y' proposal_param { " +
                                param + " } }",
                            "", {})
          .predict_net);
}

TEST(CaffeOddFieldsTest, SizesOfImagesMayHaveFourAxes) {
  const std::string param = "ratio: 1 scale: 8";
  EXPECT_EQ(Proposals("1, 3, 1, 1", param, 1).at(1), "Reshape shape=[-1,3]");
  EXPECT_EQ(Proposals("1, 3, 1, 1", param, 1).size(), 3u);
  EXPECT_EQ(Proposals("1, 3", param, 1).size(), 2u);
  EXPECT_EQ(Proposals("", param, 1).size(), 2u);
  const std::string net =
      Input("x", "1, 4, 2, 2") + Input("r", "2, 5, 1, 1") +
      Layer("PSROIPooling", "bottom: 'r' psroi_pooling_param { group_size: 2 output_dim: 1 }");
  EXPECT_EQ(OddOperators(ImportCaffeFromMemory(net, "", {}).predict_net).at(0),
            "Reshape shape=[-1,5]");
}

// Around the centre 2 of a base of 5; halves of sides are rounded to even numbers: a height of
// 10 * 0.25 = 2.5 and a width of 5 / 2.
TEST(CaffeOddFieldsTest, SidesOfAnchorsAreRoundedToEven) {
  const auto anchors = [](const std::string& param) {
    const CaffeModel model = ImportCaffeFromMemory(
        Input("c", "1, 2, 2, 2") + Input("d", "1, 4, 2, 2") + Input("i", "1, 3") +
            "layer { name: 'y' type: 'Proposal' bottom: 'c' bottom: 'd' bottom: 'i' top: 'y' "
            "proposal_param { base_size: 5 " +
            param + " } }",
        "", {});
    const Tensor& values = model.weights.at(0).values;
    return std::vector<float>(values.data<float>(), values.data<float>() + values.numel());
  };
  using Box = std::vector<float>;
  EXPECT_EQ(anchors("ratio: 0.25 scale: 1"), (Box{-2.5f, 1.5f, 6.5f, 2.5f}));
  EXPECT_EQ(anchors("ratio: 0.25 scale: 2"), (Box{-7.5f, 0.5f, 11.5f, 3.5f}));
  EXPECT_EQ(anchors("ratio: 4 scale: 1"), (Box{1.5f, -1.5f, 2.5f, 5.5f}));
  EXPECT_EQ(anchors("ratio: 1 scale: 1"), (Box{0, 0, 4, 4}));
}

// --- nets ---

TEST(CaffeOddFieldsTest, LabelsOfMemoryHaveARowForEachImage) {
  const auto inputs = [](const std::string& param) {
    std::string text;
    for (const CaffeInput& input :
         ImportCaffeFromMemory("layer { type: 'MemoryData' top: 'x' top: 'l' top: 'm' "
                               "memory_data_param { " +
                                   param +
                                   " channels: 3 height: 4 width: 5 } } "
                                   "layer { name: 'y' type: 'Concat' bottom: 'x' bottom: 'l' "
                                   "bottom: 'm' top: 'y' concat_param { axis: 0 } }",
                               "", {.given_shapes = {{"x", {2}}}})
             .inputs)
      text += MakeString(input.name, " ", input.dims, " ");
    return text;
  };
  EXPECT_EQ(inputs("batch_size: 7"), "x [2] l [7] m [7] ");
  EXPECT_EQ(inputs(""), "x [2] l [1] m [1] ");
}

// Rates alone share nothing.
TEST(CaffeOddFieldsTest, ParametersWithoutANameAreNotShared) {
  const auto net = [](const std::string& params) {
    return Input("x", "1, 2") +
           Layer("InnerProduct", "inner_product_param { num_output: 2 } " + params, "a") +
           "layer { name: 'y' type: 'InnerProduct' bottom: 'a' top: 'y' inner_product_param { "
           "num_output: 2 } " +
           params + " }";
  };
  const std::string rates = "param { lr_mult: 1 decay_mult: 1 } param { lr_mult: 2 }";
  const std::string weights =
      "layer { name: 'a' blobs { shape { dim: [2, 2] } data: [1, 2, 3, 4] } blobs { shape { dim: "
      "2 } data: [5, 6] } }";
  EXPECT_TRUE(Has(OddError(net(rates), weights),
                  "have no blobs for 1 layer of the net: \"y\" of type InnerProduct"));
  EXPECT_TRUE(Has(OddError(net("param { name: '' } param { name: '' }"), weights),
                  "have no blobs for 1 layer of the net: \"y\" of type InnerProduct"));
  EXPECT_EQ(OddError(net("param { name: 'w' } param { name: 'b' }"), weights), "");
  EXPECT_EQ(ImportCaffeFromMemory(net(rates), "", {}).init_net.op_size(), 4);
}

TEST(CaffeOddFieldsTest, ASplitInPlaceHasItsOtherTops) {
  const std::string net = Input("x", "1, 2") + Layer("ReLU", "", "h") +
                          "layer { name: 's' type: 'Split' bottom: 'h' top: 'h' top: 'g' } "
                          "layer { name: 'a' type: 'TanH' bottom: 'h' top: 'a' } "
                          "layer { name: 'b' type: 'AbsVal' bottom: 'g' top: 'b' }";
  const CaffeModel model = ImportCaffeFromMemory(net, "", {});
  EXPECT_EQ(OddBlobs(model.predict_net), (Lines{"Relu: x -> h/1", "Alias: h/1 -> h",
                                                "Alias: h/1 -> g", "Tanh: h -> a", "Abs: g -> b"}));
  EXPECT_EQ(model.layer_blobs.at("s"), "h");
  EXPECT_EQ(model.outputs, (Lines{"a", "b"}));
}

TEST(CaffeOddFieldsTest, AllTopsOfDataBehindTheFirstAreLabels) {
  const std::string data = "layer { name: 'd' type: 'Data' top: 'x' top: 'l' top: 'm' } ";
  for (const char* label : {"l", "m"}) {
    const CaffeModel model = ImportCaffeFromMemory(
        data + Layer("ReLU", "") + "layer { name: 'f' type: 'Flatten' bottom: '" + label +
            "' top: 'f' }",
        "", {});
    EXPECT_EQ(model.outputs, Lines{"y"}) << label;
    EXPECT_EQ(model.notes, Lines{"layer \"f\" of type Flatten is left out: it reads labels only"})
        << label;
  }
  // One bottom that is no label is enough, wherever it stands.
  for (const char* bottoms : {"bottom: 'x' bottom: 'l'", "bottom: 'l' bottom: 'x'"}) {
    const CaffeModel model =
        ImportCaffeFromMemory(data + "layer { name: 'y' type: 'Concat' top: 'y' " + bottoms +
                                  " concat_param { axis: 0 } }",
                              "", {});
    EXPECT_EQ(model.outputs, Lines{"y"}) << bottoms;
    EXPECT_TRUE(model.notes.empty()) << bottoms;
  }
}

// Whichever of the bottoms is left out.
TEST(CaffeOddFieldsTest, OneBottomThatIsLeftOutIsEnough) {
  const std::string head = Input("x", "1, 2") + Layer("ReLU", "", "r") +
                           "layer { name: 'l' type: 'EuclideanLoss' bottom: 'x' bottom: 'x' top: "
                           "'l' } ";
  for (const char* bottoms : {"bottom: 'r' bottom: 'l'", "bottom: 'l' bottom: 'r'"}) {
    const CaffeModel model = ImportCaffeFromMemory(
        head + "layer { name: 's' type: 'Eltwise' top: 's' " + bottoms + " }", "", {});
    EXPECT_EQ(model.outputs, Lines{"r"}) << bottoms;
    EXPECT_EQ(model.notes,
              (Lines{"layer \"l\" of type EuclideanLoss is left out: it is for training",
                     "layer \"s\" of type Eltwise is left out: it reads what is left out"}))
        << bottoms;
  }
}

// --- the first generation ---

TEST(CaffeOddFieldsTest, PaddingLayersGiveTheirPadToConvolutionsAndPools) {
  const auto pads = [](const std::string& padding, const std::string& layer) {
    const CaffeModel model = ImportCaffeFromMemory(
        "input: 'x' input_dim: [1, 1, 6, 6] layers { layer { name: 'p' type: 'padding' " + padding +
            " } bottom: 'x' top: 'p' } layers { layer { name: 'y' " + layer +
            " } bottom: 'p' top: 'y' }",
        "", {});
    EXPECT_EQ(model.predict_net.op_size(), 1);
    EXPECT_EQ(model.predict_net.op(0).input(0), "x");
    return ArgumentHelper(model.predict_net.op(0)).GetRepeatedArgument<int64_t>("pads");
  };
  using List = std::vector<int64_t>;
  const std::string conv = "type: 'conv' num_output: 1 kernelsize: 3",
                    pool = "type: 'pool' kernelsize: 3 stride: 1";
  for (const std::string& layer : {conv, pool}) {
    EXPECT_EQ(pads("pad: 1", layer), (List{1, 1, 1, 1})) << layer;
    EXPECT_EQ(pads("pad: 2", layer), (List{2, 2, 2, 2})) << layer;
    EXPECT_EQ(pads("", layer), (List{0, 0, 0, 0})) << layer;
    EXPECT_EQ(pads("pad: 1", layer + " pad: 2"), (List{1, 1, 1, 1})) << layer;
  }
}

// --- files ---

TEST(CaffeOddFieldsTest, SolversAreKnownByAnyOfTheirFields) {
  for (const char* field :
       {"net: 'n'", "base_lr: 1", "lr_policy: 'step'", "solver_mode: GPU", "train_net: 't'",
        "train_net_param { }", "max_iter: 3", "snapshot_prefix: 's'", "net_param { }"}) {
    EXPECT_TRUE(Has(OddError(field), "is a solver of Caffe, not a net")) << field;
    EXPECT_FALSE(Has(OddError(field + (" " + Input("x", "1") + Layer("ReLU", ""))), "solver"))
        << field;
  }
  // A net of Caffe2 has operators.
  EXPECT_EQ(OddError("net: 'n' op { type: 'Relu' }"),
            "file \"net\" is not a net of Caffe: it has no layers");
}

// The last one of a field counts, and of a message as a whole.
TEST(CaffeOddFieldsTest, TheLastOfAFieldCounts) {
  const auto alpha = [](const std::string& params) {
    const CaffeModel model =
        ImportCaffeFromMemory(Input("x", "1, 2") + Layer("ELU", params), "", {});
    return OddOperators(model.predict_net).at(0);
  };
  EXPECT_EQ(alpha("elu_param { alpha: 2 alpha: 3 }"), "Elu alpha=3");
  EXPECT_EQ(alpha("elu_param { alpha: 2 alpha: 3 alpha: 4 }"), "Elu alpha=4");
  EXPECT_EQ(alpha("elu_param { alpha: 2 beta: 5 alpha: 3 }"), "Elu alpha=3");
  EXPECT_EQ(alpha("elu_param { alpha: 2 alpha: 3 beta: 5 }"), "Elu alpha=3");
  EXPECT_EQ(alpha("elu_param { alpha: 2 } elu_param { }"), "Elu alpha=1");
  EXPECT_EQ(alpha("elu_param { } elu_param { alpha: 2 }"), "Elu alpha=2");
}

// A dim of the old format that is absent is 0, and one that is negative is no dim.
TEST(CaffeOddFieldsTest, OldDimsAreFourNumbers) {
  const std::string net =
      Input("x", "1, 2") +
      Layer("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }");
  const auto binary = [](const std::string& dims) {
    return Bytes(100, Bytes(1, "y") + Bytes(7, dims + Bytes(5, Raw(1.0f) + Raw(2.0f))));
  };
  const auto text = [](const std::string& dims) {
    return "layer { name: 'y' blobs { " + dims + " data: [1, 2] } }";
  };
  const std::string ones = Number(1, 1) + Number(2, 1);
  EXPECT_EQ(OddError(net, binary(ones + Number(3, 1) + Number(4, 2))), "");
  EXPECT_EQ(OddError(net, text("num: 1 channels: 1 height: 1 width: 2")), "");
  EXPECT_TRUE(Has(OddError(net, binary(ones + Number(4, 2))), "has shape [1, 1, 0, 2] in \"w\""));
  EXPECT_TRUE(
      Has(OddError(net, text("num: 1 channels: 1 width: 2")), "has shape [1, 1, 0, 2] in \"w\""));
  EXPECT_TRUE(Has(OddError(net, binary(ones + Number(3, ~uint64_t{0}) + Number(4, 2))),
                  "dimension of a shape, want at least 0 (got -1"));
}

}  // namespace
}  // namespace caffe2rt::test::odd_fields_test
