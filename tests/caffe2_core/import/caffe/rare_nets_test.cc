// Nets with rare numbers of axes, levels and inputs, layers in the forms of forks without weights, files that are
// nearly text, and what errors call the net and its weights. Expected values are by hand.
#include <absl/strings/str_join.h>
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/import/caffe/weights_file.h"
#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::rare_nets_test {
namespace {

using Names = std::vector<std::string>;

CaffeModel ImportRare(const std::string& net, const std::string& weights = "",
                      const CaffeImportOptions& options = {}) {
  return ImportCaffeFromMemory(net, weights, options);
}
Names RareOutputs(const NetDef& net) {
  Names names;
  for (const OperatorDef& op : net.op()) names.push_back(op.output(0));
  return names;
}
// "Relu: x -> y" for each operator.
Names RareBlobs(const NetDef& net) {
  Names lines;
  for (const OperatorDef& op : net.op()) {
    lines.push_back(MakeString(op.type(), ": ", absl::StrJoin(op.input(), " "), " -> ",
                               absl::StrJoin(op.output(), " ")));
  }
  return lines;
}
std::vector<int64_t> IntsOfArgument(const OperatorDef& op, const char* name) {
  return ArgumentHelper(op).GetRepeatedArgument<int64_t>(name);
}
std::string RareError(const std::string& net, const std::string& weights = "",
                      const CaffeImportOptions& options = {}) {
  try {
    (void)ImportCaffeFromMemory(net, weights, options);
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

// --- states ---

TEST(CaffeRareNetsTest, LevelsMayBeNegative) {
  const auto layers = [](const std::string& state, int64_t level) {
    return RareOutputs(ImportRare(state + Input("x", "1, 2") +
                                      Layer("ReLU", "include { max_level: -1 }", "a") +
                                      Layer("ReLU", "include { min_level: -1 }", "b") +
                                      Layer("ReLU", "exclude { max_level: -1 }", "c") +
                                      Layer("ReLU", "include { min_level: -2 max_level: -2 }", "d"),
                                  "", {.level = level})
                           .predict_net);
  };
  EXPECT_EQ(layers("", 0), (Names{"b", "c"}));
  EXPECT_EQ(layers("", -1), (Names{"a", "b"}));
  EXPECT_EQ(layers("", -2), (Names{"a", "d"}));
  EXPECT_EQ(layers("state { level: -2 } ", 0), (Names{"a", "d"}));
  EXPECT_EQ(layers("state { level: -2 } ", -1), (Names{"a", "b"}));
  EXPECT_EQ(layers("state { level: -2 } ", 1), (Names{"b", "c"}));
}

TEST(CaffeRareNetsTest, ThePhaseOfTheOptionsGoesBeforeThatOfTheFile) {
  const auto layers = [](const std::string& state, bool train) {
    return RareOutputs(ImportRare(state + Input("x", "1, 2") +
                                      Layer("ReLU", "include { phase: TRAIN }", "a") +
                                      Layer("ReLU", "exclude { phase: TRAIN }", "b"),
                                  "", {.train = train})
                           .predict_net);
  };
  for (const char* state : {"", "state { phase: TEST } ", "state { phase: 1 } ", "state { } "}) {
    EXPECT_EQ(layers(state, false), Names{"b"}) << state;
    EXPECT_EQ(layers(state, true), Names{"a"}) << state;
  }
  for (const char* state : {"state { phase: TRAIN } ", "state { phase: 0 } "}) {
    EXPECT_EQ(layers(state, false), Names{"a"}) << state;
    EXPECT_EQ(layers(state, true), Names{"a"}) << state;
  }
}

// --- inputs ---

// Only inputs that a layer reads count.
TEST(CaffeRareNetsTest, AnInputThatIsReplacedUnreadIsNone) {
  const CaffeModel later = ImportRare(Input("x", "1, 2") + Input("x", "1, 3") + Layer("ReLU", ""));
  ASSERT_EQ(later.inputs.size(), 1u);
  EXPECT_EQ(later.inputs[0].dims, (std::vector<int64_t>{1, 3}));
  EXPECT_EQ(RareBlobs(later.predict_net), Names{"Relu: x -> y"});
  const CaffeModel earlier =
      ImportRare(Input("x", "1, 2") + Layer("ReLU", "") + Input("x", "1, 3"));
  ASSERT_EQ(earlier.inputs.size(), 1u);
  EXPECT_EQ(earlier.inputs[0].name, "x");
  EXPECT_EQ(earlier.inputs[0].dims, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(RareBlobs(earlier.predict_net), Names{"Relu: x -> y"});
  EXPECT_EQ(earlier.outputs, Names{"y"});
  EXPECT_EQ(RareError(Input("x", "1, 2") + Layer("ReLU", "") + Input("x", "1, 3") +
                      Layer("TanH", "", "z")),
            "cannot import \"net\": two inputs have the name \"x\"");
}

TEST(CaffeRareNetsTest, InputsOfANetMayHaveNoShape) {
  const CaffeModel model = ImportRare("input: 'x' input: 'u' " + Layer("ReLU", ""));
  ASSERT_EQ(model.inputs.size(), 1u);
  EXPECT_EQ(model.inputs[0].name, "x");
  EXPECT_TRUE(model.inputs[0].dims.empty());
  EXPECT_EQ(
      Names(model.predict_net.external_input().begin(), model.predict_net.external_input().end()),
      Names{"x"});
}

TEST(CaffeRareNetsTest, InputsHaveAtMost32Axes) {
  std::string ones = "1";
  for (int i = 1; i < 32; ++i) ones += ", 1";
  EXPECT_EQ(RareError(Input("x", ones) + Layer("ReLU", "")), "");
  EXPECT_EQ(RareError(Input("x", ones + ", 1") + Layer("ReLU", "")),
            "cannot import \"net\": input \"x\" has 33 axes, want at most 32");
}

// --- the first generation ---

// Both bottoms of a layer may read the padding.
TEST(CaffeRareNetsTest, SeveralBottomsMayReadOnePaddingLayer) {
  const CaffeModel model = ImportRare(
      "input: 'x' input_dim: [1, 1, 4, 4] input: 'z' input_dim: [1, 1, 4, 4] "
      "layers { layer { name: 'p' type: 'padding' pad: 2 } bottom: 'x' top: 'p' } "
      "layers { layer { name: 'c' type: 'conv' num_output: 1 kernelsize: 3 biasterm: false } "
      "bottom: 'p' bottom: 'z' bottom: 'p' top: 'a' top: 'b' top: 'e' }");
  EXPECT_EQ(RareBlobs(model.predict_net),
            (Names{"Conv: x c_w -> a", "Conv: z c_w -> b", "Conv: x c_w -> e"}));
  for (const OperatorDef& op : model.predict_net.op())
    EXPECT_EQ(IntsOfArgument(op, "pads"), (std::vector<int64_t>{2, 2, 2, 2}));
}

// A layer of the first generation has its blobs within the inner message, or beside it.
TEST(CaffeRareNetsTest, BlobsMayStandBesideTheInnerMessage) {
  const std::string net =
      Input("x", "1, 2") +
      Layer("InnerProduct", "inner_product_param { num_output: 1 bias_term: false }");
  const auto run = [&](const std::string& inner, const std::string& outer) {
    const auto blob = [](const std::string& data) {
      return data.empty() ? "" : "blobs { shape { dim: [1, 2] } data: [" + data + "] } ";
    };
    const Tensor y = RunCaffeText(
        net,
        "layers { layer { name: 'y' type: 'innerproduct' " + blob(inner) + "} " + blob(outer) + "}",
        {{"x", Floats({1, 2}, {1, 10})}}, "y");
    return *y.data<float>();
  };
  EXPECT_EQ(run("2, 3", ""), 32);
  EXPECT_EQ(run("", "4, 5"), 54);
  EXPECT_EQ(run("2, 3", "4, 5"), 54);
}

TEST(CaffeRareNetsTest, TypesOfTheSecondGenerationMayBeNumbers) {
  for (const auto& [type, want] :
       {std::pair("18", "Relu: x -> y"), {"RELU", "Relu: x -> y"}, {"23", "Tanh: x -> y"}}) {
    const CaffeModel model =
        ImportRare(MakeString("input: 'x' input_dim: [1, 1, 1, 1] layers { name: 'y' type: ", type,
                              " bottom: 'x' top: 'y' }"));
    EXPECT_EQ(RareBlobs(model.predict_net), Names{want}) << type;
  }
}

// --- layers ---

// One statistic for each channel, which is axis 1 however many axes there are.
TEST(CaffeRareNetsTest, StatisticsFollowTheSecondAxis) {
  for (const auto& [dims, channels] :
       {std::pair("2, 3", 3), {"1, 2, 3", 2}, {"1, 2, 3, 4", 2}, {"4, 2, 3, 5, 6", 2}}) {
    for (const char* type : {"BatchNorm", "BN", "BatchNormScale", "CuDNNBatchNorm"}) {
      SCOPED_TRACE(MakeString(type, " of [", dims, "]"));
      const CaffeModel model = ImportRare(Input("x", dims) + Layer(type, ""));
      ASSERT_EQ(model.predict_net.op_size(), 1);
      EXPECT_EQ(model.predict_net.op(0).type(), "SpatialBN");
      ASSERT_EQ(model.init_net.op_size(), 4);
      for (const OperatorDef& op : model.init_net.op())
        EXPECT_EQ(IntsOfArgument(op, "shape"), std::vector<int64_t>{channels});
    }
  }
}

// Without weights, the layers of forks have the fields of BatchNorm.
TEST(CaffeRareNetsTest, MergedLayersWithoutWeightsAreBatchNorms) {
  for (const char* type : {"BatchNormScale", "CuDNNBatchNorm", "BatchNorm"}) {
    SCOPED_TRACE(type);
    const auto import = [&](const std::string& param) {
      return ImportRare(Input("x", "1, 2, 3, 4") + Layer(type, param)).predict_net;
    };
    const NetDef eps = import("batch_norm_param { eps: 0.5 } bn_param { eps: 0.25 }");
    ASSERT_EQ(eps.op_size(), 1);
    EXPECT_EQ(ArgumentHelper(eps.op(0)).GetSingleArgument<float>("epsilon", 0), 0.5f);
    EXPECT_EQ(import("batch_norm_param { use_global_stats: false }").op(0).type(), "ReduceMean");
  }
  const NetDef bn = ImportRare(Input("x", "1, 2, 3, 4") +
                               Layer("BN", "batch_norm_param { eps: 0.5 } bn_param { eps: 0.25 }"))
                        .predict_net;
  EXPECT_EQ(ArgumentHelper(bn.op(0)).GetSingleArgument<float>("epsilon", 0), 0.25f);
}

TEST(CaffeRareNetsTest, SoftmaxAlongEachAxisOfThree) {
  const float log3 = std::log(3.0f);
  const auto run = [&](const std::string& dims, const std::string& axis) {
    std::vector<int64_t> sizes;
    for (const char c : dims) {
      if (c >= '0' && c <= '9') sizes.push_back(c - '0');
    }
    return RunCaffeText(Input("x", dims) + Layer("Softmax", "softmax_param { axis: " + axis + " }"),
                        kNoWeights, {{"x", Floats(sizes, {0, log3, 0, log3, 0, 0})}}, "y");
  };
  for (const char* axis : {"0", "-3"}) {
    EXPECT_LT(Difference(run("2, 1, 3", axis),
                         Floats({2, 1, 3}, {0.25f, 0.75f, 0.5f, 0.75f, 0.25f, 0.5f})),
              1e-6)
        << axis;
  }
  for (const char* axis : {"1", "-2"}) {
    EXPECT_LT(Difference(run("1, 2, 3", axis),
                         Floats({1, 2, 3}, {0.25f, 0.75f, 0.5f, 0.75f, 0.25f, 0.5f})),
              1e-6)
        << axis;
  }
  for (const char* axis : {"2", "-1"}) {
    EXPECT_LT(Difference(run("1, 3, 2", axis),
                         Floats({1, 3, 2}, {0.25f, 0.75f, 0.25f, 0.75f, 0.5f, 0.5f})),
              1e-6)
        << axis;
  }
}

// A blob of the old format loses its leading ones, but keeps an axis.
TEST(CaffeRareNetsTest, OldBlobsKeepTheirLastAxis) {
  const auto shape = [](const std::string& type, const std::string& dims, int count) {
    std::string blob = "blobs { " + dims;
    for (int i = 0; i < count; ++i) blob += " data: 2";
    const CaffeModel model =
        ImportRare(Input("x", "") + Layer(type, ""), "layer { name: 'y' " + blob + " } }");
    return IntsOfArgument(model.init_net.op(0), "shape");
  };
  using Dims = std::vector<int64_t>;
  for (const char* type : {"Scale", "Bias"}) {
    EXPECT_EQ(shape(type, "num: 1 channels: 1 height: 1 width: 1", 1), Dims{1}) << type;
    EXPECT_EQ(shape(type, "num: 1 channels: 1 height: 1 width: 3", 3), Dims{3}) << type;
    EXPECT_EQ(shape(type, "num: 1 channels: 3 height: 1 width: 1", 3), (Dims{3, 1, 1})) << type;
    EXPECT_EQ(shape(type, "shape { dim: [1, 3] }", 3), (Dims{1, 3})) << type;
  }
}

TEST(CaffeRareNetsTest, LayersWithoutAShapeAssumeFourAxes) {
  const auto axes = [](const std::string& type, const std::string& param, const char* name) {
    const CaffeModel model = ImportRare(Input("x", "") + Layer(type, param));
    for (const OperatorDef& op : model.predict_net.op()) {
      if (ArgumentHelper(op).HasArgument(name)) return IntsOfArgument(op, name);
    }
    return std::vector<int64_t>();
  };
  using Axes = std::vector<int64_t>;
  EXPECT_EQ(axes("MVN", "", "axes"), (Axes{2, 3}));
  EXPECT_EQ(axes("MVN", "mvn_param { across_channels: true }", "axes"), (Axes{1, 2, 3}));
  EXPECT_EQ(axes("Normalize", "", "axes"), (Axes{1, 2, 3}));
  EXPECT_EQ(axes("Normalize", "norm_param { across_spatial: false }", "axes"), Axes{1});
  EXPECT_EQ(axes("L2Norm", "", "axes"), Axes{1});
  EXPECT_EQ(axes("Permute", "permute_param { order: 2 }", "axes"), (Axes{2, 0, 1, 3}));
  EXPECT_EQ(axes("Softmax", "softmax_param { axis: 0 }", "axes"), (Axes{3, 1, 2, 0}));
}

// The axes that Permute does not name follow, as many as its bottom has.
TEST(CaffeRareNetsTest, PermuteKeepsTheRankOfItsBottom) {
  const auto axes = [](const std::string& dims) {
    const CaffeModel model =
        ImportRare(Input("x", dims) + Layer("Permute", "permute_param { order: 1 }"));
    return IntsOfArgument(model.predict_net.op(0), "axes");
  };
  using Axes = std::vector<int64_t>;
  EXPECT_EQ(axes("2, 3"), (Axes{1, 0}));
  EXPECT_EQ(axes("2, 3, 4"), (Axes{1, 0, 2}));
  EXPECT_EQ(axes("2, 3, 4, 5"), (Axes{1, 0, 2, 3}));
  EXPECT_EQ(axes("2, 3, 4, 5, 6"), (Axes{1, 0, 2, 3, 4}));
}

// What a layer needs between its bottoms and its tops is called by its name and the operator.
TEST(CaffeRareNetsTest, IntermediateBlobsAreCalledByTheirOperators) {
  EXPECT_EQ(RareOutputs(ImportRare(Input("x", "1, 2, 3") + Layer("Softmax", "")).predict_net),
            (Names{"y/transpose", "y/softmax", "y"}));
  EXPECT_EQ(RareOutputs(ImportRare(Input("x", "1, 2, 3") + Layer("MVN", "")).predict_net),
            (Names{"y/reducemean", "y/sub", "y/sqr", "y/reducemean_2", "y/sqrt", "y/add", "y"}));
  const CaffeModel power =
      ImportRare(Input("x", "1, 2") + Layer("Power", "power_param { power: 2 shift: 3 }"));
  EXPECT_EQ(RareBlobs(power.predict_net), (Names{"Add: x y_shift -> y/add", "Pow: y/add -> y"}));
}

// --- files ---

// The first 4,096 bytes decide: a text has no control characters but spaces.
TEST(CaffeRareNetsTest, FilesWithControlCharactersInTheirBeginningAreNoTexts) {
  const std::string net = Input("x", "1, 2") + Layer("ReLU", "");
  const auto comment = [](size_t size, char last) {
    return "#" + std::string(size - 2, 'c') + last;
  };
  for (const char byte : {'\x7f', '\x01', '\x08', '\x0e', '\x1f'}) {
    EXPECT_EQ(RareError(comment(4097, byte) + "\n" + net), "") << static_cast<int>(byte);
    EXPECT_NE(RareError(comment(4096, byte) + "\n" + net), "") << static_cast<int>(byte);
  }
  for (const char byte : {'\t', '\v', '\f', '\r', '\x80', '\xff', '~', ' '})
    EXPECT_EQ(RareError(comment(9, byte) + "\n" + net), "") << static_cast<int>(byte);
}

TEST(CaffeRareNetsTest, ErrorsHaveTheNamesOfTheOptions) {
  const std::string net =
      Input("x", "1, 2") + Layer("InnerProduct", "inner_product_param { num_output: 1 }");
  const std::string other = "layer { name: 'b' blobs { shape { dim: 1 } data: 1 } }";
  const std::string tail =
      " have no blobs for 1 layer of the net: \"y\" of type InnerProduct; want the weights of "
      "this net";
  EXPECT_EQ(RareError(net, other), "cannot import \"net\": the weights \"weights\"" + tail);
  EXPECT_EQ(RareError(net, other, {.net = "n.prototxt", .weights = "w.caffemodel"}),
            "cannot import \"n.prototxt\": the weights \"w.caffemodel\"" + tail);
  EXPECT_EQ(RareError("name: 'n'", "", {.net = "n.prototxt"}),
            "file \"n.prototxt\" is not a net of Caffe: it has no layers");
  EXPECT_EQ(RareError("a: }", "", {.net = "n.prototxt"}),
            "cannot read \"n.prototxt\": line 1, column 4: got \"}\", want a value");
}

}  // namespace
}  // namespace caffe2rt::test::rare_nets_test
