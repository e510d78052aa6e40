// Which blobs a net of Caffe has: inputs, outputs, names of blobs that are written again, layers that are
// left out, and the state that decides about layers.
#include <gtest/gtest.h>

#include "tests/caffe2_core/import/caffe/imported_net.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::net_plan_test {
namespace {

using Names = std::vector<std::string>;

// Names are one word each.
std::string Ends(const std::string& field, const std::string& names) {
  std::string text;
  for (size_t begin = 0; begin < names.size();) {
    const size_t end = std::min(names.find(' ', begin), names.size());
    text += field + ": '" + names.substr(begin, end - begin) + "' ";
    begin = end + 1;
  }
  return text;
}
std::string Layer(const std::string& name, const std::string& type, const std::string& bottoms,
                  const std::string& tops, const std::string& more = "") {
  return "layer { name: '" + name + "' type: '" + type + "' " + Ends("bottom", bottoms) +
         Ends("top", tops) + more + " }\n";
}
const std::string kX =
    Layer("in", "Input", "", "x", "input_param { shape { dim: 1 dim: 4 dim: 2 dim: 2 } }");

CaffeModel Import(const std::string& net, const CaffeImportOptions& options = {}) {
  return ImportCaffeFromMemory(net, "", options);
}
// "type(inputs -> outputs)" of each operator.
Names OperatorsOf(const CaffeModel& model) {
  Names lines;
  for (const OperatorDef& op : model.predict_net.op()) {
    std::string line = op.type() + ":";
    for (const std::string& input : op.input()) line += " " + input;
    line += " ->";
    for (const std::string& output : op.output()) line += " " + output;
    lines.push_back(line);
  }
  return lines;
}
Names LayersOf(const CaffeModel& model) {
  Names names;
  for (const OperatorDef& op : model.predict_net.op()) names.push_back(op.debug_info());
  return names;
}

TEST(CaffeNetPlanTest, EveryTopThatNothingReadsIsAnOutput) {
  const std::string slice = Layer("s", "Slice", "x", "a b c d");
  EXPECT_EQ(Import(kX + slice).outputs, (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(
      Import(kX + slice + Layer("r", "ReLU", "b", "e") + Layer("t", "TanH", "e", "f")).outputs,
      (Names{"a", "c", "d", "f"}));
  EXPECT_EQ(Import(kX + slice + Layer("q", "Silence", "a d", "")).outputs, (Names{"b", "c"}));
  const CaffeModel model = Import(kX + slice + Layer("q", "Silence", "c", ""));
  EXPECT_EQ(
      Names(model.predict_net.external_output().begin(), model.predict_net.external_output().end()),
      (Names{"a", "b", "d"}));
  EXPECT_EQ(model.layer_blobs.at("s"), "a");
}

TEST(CaffeNetPlanTest, BlobsThatAreWrittenAgainGetNamesThatNoOtherHas) {
  const std::string net = kX + Layer("a", "ReLU", "x", "h") + Layer("b", "TanH", "h", "h/1") +
                          Layer("c", "AbsVal", "h", "h") + Layer("d", "ReLU", "h", "h");
  EXPECT_EQ(OperatorsOf(Import(net)),
            (Names{"Relu: x -> h/2", "Tanh: h/2 -> h/1", "Abs: h/2 -> h/3", "Relu: h/3 -> h"}));
  // An input that is written again keeps its name, also for those that read it before.
  EXPECT_EQ(OperatorsOf(Import(kX + Layer("a", "ReLU", "x", "x") + Layer("b", "TanH", "x", "x"))),
            (Names{"Relu: x -> x/1", "Tanh: x/1 -> x/2"}));
  // Nothing reads this input: the last one has the name.
  const CaffeModel unread =
      Import(kX + Layer("in2", "Input", "", "y") + Layer("a", "ReLU", "x", "y"));
  EXPECT_EQ(OperatorsOf(unread), (Names{"Relu: x -> y"}));
  ASSERT_EQ(unread.inputs.size(), 1u);
  EXPECT_EQ(unread.inputs[0].name, "x");
}

TEST(CaffeNetPlanTest, IdentitiesInPlaceAreNoSteps) {
  const CaffeModel model = Import(kX + Layer("a", "Dropout", "x", "x") +
                                  Layer("b", "ReLU", "x", "y") + Layer("c", "Dropout", "y", "z"));
  EXPECT_EQ(OperatorsOf(model), (Names{"Relu: x -> y", "Alias: y -> z"}));
  EXPECT_EQ(model.layer_blobs.at("a"), "x");
  EXPECT_EQ(model.layer_blobs.at("c"), "z");
  EXPECT_EQ(model.outputs, Names{"z"});
}

TEST(CaffeNetPlanTest, LayersThatReadLabelsAloneAreLeftOut) {
  const std::string data = Layer("d", "Data", "", "data label") + Layer("r", "ReLU", "data", "r");
  // Both: the label is an input then.
  const CaffeModel both = Import(data + Layer("e", "Eltwise", "r label", "e"),
                                 {.given_shapes = {{"data", {1, 2}}, {"label", {1, 2}}}});
  ASSERT_EQ(both.inputs.size(), 2u);
  EXPECT_EQ(both.inputs[1].name, "label");
  EXPECT_EQ(both.outputs, Names{"e"});
  const CaffeModel labels =
      Import(data + Layer("f", "Flatten", "label", "f") + Layer("g", "Concat", "f label", "g") +
             Layer("h", "ReLU", "g", "h"));
  EXPECT_EQ(labels.outputs, Names{"r"});
  EXPECT_EQ(labels.notes,
            (Names{"layer \"f\" of type Flatten is left out: it reads labels only",
                   "layer \"g\" of type Concat is left out: it reads what is left out",
                   "layer \"h\" of type ReLU is left out: it reads what is left out"}));
  // A second top of an Input is no label.
  EXPECT_EQ(Import(Layer("in", "Input", "", "x l", "input_param { shape { dim: 2 } }") +
                   Layer("f", "Flatten", "l", "f", "flatten_param { axis: 0 }"))
                .outputs,
            Names{"f"});
}

TEST(CaffeNetPlanTest, StagesOfTheOptionsJoinThoseOfTheFile) {
  const std::string net = kX + Layer("a", "ReLU", "x", "a", "include { stage: 'one' }") +
                          Layer("b", "ReLU", "x", "b", "include { stage: 'two' }") +
                          Layer("c", "ReLU", "x", "c", "include { stage: 'one' stage: 'two' }") +
                          Layer("d", "ReLU", "x", "d", "exclude { stage: 'two' }") +
                          Layer("e", "ReLU", "x", "e", "include { min_level: 2 }") +
                          Layer("f", "ReLU", "x", "f", "include { max_level: 1 }");
  const std::string state = "state { stage: 'one' level: 2 } ";
  EXPECT_EQ(LayersOf(Import(net)), (Names{"d", "f"}));
  EXPECT_EQ(LayersOf(Import(state + net)), (Names{"a", "d", "e"}));
  EXPECT_EQ(LayersOf(Import(state + net, {.stages = {"two"}})), (Names{"a", "b", "c", "e"}));
  EXPECT_EQ(LayersOf(Import(state + net, {.level = 1})), (Names{"a", "d", "f"}));
  EXPECT_EQ(LayersOf(Import(net, {.level = -1, .stages = {"one"}})), (Names{"a", "d", "f"}));
}

// Several rules: one of those to include, none of those to exclude.
TEST(CaffeNetPlanTest, RulesOfALayerAreCombined) {
  const std::string net =
      kX + Layer("a", "ReLU", "x", "a", "include { phase: TRAIN } include { stage: 's' }") +
      Layer("b", "ReLU", "x", "b", "exclude { phase: TRAIN } exclude { stage: 's' }") +
      Layer("c", "ReLU", "x", "c", "exclude { phase: TRAIN stage: 's' }") +
      Layer("d", "ReLU", "x", "d", "include { phase: TEST not_stage: 's' not_stage: 't' }");
  EXPECT_EQ(LayersOf(Import(net)), (Names{"b", "c", "d"}));
  EXPECT_EQ(LayersOf(Import(net, {.stages = {"s"}})), (Names{"a", "c"}));
  EXPECT_EQ(LayersOf(Import(net, {.stages = {"t"}})), (Names{"b", "c"}));
  EXPECT_EQ(LayersOf(Import(net, {.train = true})), (Names{"a", "c"}));
  EXPECT_EQ(LayersOf(Import(net, {.train = true, .stages = {"s"}})), Names{"a"});
}

TEST(CaffeNetPlanTest, InputsOfANetComeBeforeItsParameters) {
  const CaffeModel model =
      Import(Layer("p", "Input", "", "p", "input_param { shape { dim: [1, 2] } }") +
             Layer("q", "Input", "", "q", "input_param { shape { dim: [1, 2] } }") +
             Layer("y", "InnerProduct", "q", "y", "inner_product_param { num_output: 2 }") +
             Layer("z", "Eltwise", "p y", "z"));
  EXPECT_EQ(
      Names(model.predict_net.external_input().begin(), model.predict_net.external_input().end()),
      (Names{"p", "q", "y_w", "y_b"}));
  EXPECT_EQ(Names(model.init_net.external_output().begin(), model.init_net.external_output().end()),
            (Names{"y_w", "y_b"}));
}

// --- layers ---

TEST(CaffeNetPlanTest, SeveralMaximaStandInRows) {
  const Tensor x = Floats({2, 1, 1, 3}, {1, 3, 2, 9, 7, 8});
  const auto run = [&](const std::string& param) {
    return RunCaffeText(
        Layer("in", "Input", "", "x", "input_param { shape { dim: [2, 1, 1, 3] } }") +
            Layer("y", "ArgMax", "x", "y", "argmax_param { " + param + " }"),
        "name: 'none'", {{"x", x}}, "y");
  };
  EXPECT_EQ(Difference(run("top_k: 2"), Floats({2, 1, 2}, {1, 2, 0, 2})), 0);
  EXPECT_EQ(
      Difference(run("top_k: 2 out_max_val: true"), Floats({2, 2, 2}, {1, 2, 3, 2, 0, 2, 9, 8})),
      0);
  EXPECT_EQ(Difference(run("top_k: 2 axis: -1"), Floats({2, 1, 1, 2}, {1, 2, 0, 2})), 0);
  EXPECT_EQ(
      Difference(run("top_k: 2 axis: 3 out_max_val: true"), Floats({2, 1, 1, 2}, {3, 2, 9, 8})), 0);
  EXPECT_EQ(Difference(run("top_k: 1 axis: 0"), Floats({1, 1, 1, 3}, {1, 1, 1})), 0);
}

// f = ceil(k / 2), c = (2 f - 1 - f % 2) / (2 f), the weights 1 - |x / f - c|.
TEST(CaffeNetPlanTest, BilinearFiltersOfEverySize) {
  const std::pair<int, std::vector<float>> rows[] = {
      {1, {1}}, {2, {1, 0}}, {3, {0.25f, 0.75f, 0.75f}}, {4, {0.25f, 0.75f, 0.75f, 0.25f}}};
  for (const auto& [size, weights] : rows) {
    std::vector<float> want;
    for (const float row : weights) {
      for (const float column : weights) want.push_back(5 * row * column);
    }
    const Tensor y = RunCaffeText(
        Layer("in", "Input", "", "x", "input_param { shape { dim: [1, 1, 1, 1] } }") +
            Layer("y", "Deconvolution", "x", "y",
                  MakeString("convolution_param { num_output: 1 bias_term: false kernel_size: ",
                             size, " weight_filler { type: 'bilinear' } }")),
        "layer { name: 'other' blobs { shape { dim: 1 } data: 1 } }",
        {{"x", Floats({1, 1, 1, 1}, {5})}}, "y");
    EXPECT_LT(Difference(y, Floats({1, 1, size, size}, want)), 1e-6) << size;
  }
}

}  // namespace
}  // namespace caffe2rt::test::net_plan_test
