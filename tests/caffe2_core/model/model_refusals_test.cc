// Texts about the inputs of models, and errors of image preparations and arenas, whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/optimizer.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::model_refusals_test {
namespace {

using ::testing::ElementsAre;

TensorShape Floats(const std::vector<int64_t>& dims) {
  return CreateTensorShape(dims, TensorProto::FLOAT);
}

// The shape that a text suggests for the input x of `op`, whose weights w have the dims.
std::string Suggestion(const std::string& type, const std::vector<int64_t>& w,
                       const std::string& args = "") {
  const NetDef net =
      ParseNet("op { type: \"" + type + "\" input: \"x\" input: \"w\" input: \"b\" output: \"y\" " +
               args + " }");
  const std::string text = InputsNotGivenText(net, {"x"}, {}, {{"w", Floats(w)}});
  const std::string begin = "input \"x\" was not given";
  EXPECT_EQ(text.substr(0, begin.size()), begin);
  return text.substr(begin.size());
}

TEST(ModelRefusalsTest, SuggestsShapesByTheWeightsOfTheFirstOperator) {
  const std::string suggests = "; the net suggests the shape ";
  EXPECT_EQ(Suggestion("FC", {5, 7}), suggests + "float [N, 7]");
  EXPECT_EQ(Suggestion("FCTransposed", {5, 7}), suggests + "float [N, 5]");
  EXPECT_EQ(Suggestion("FC", {5, 7, 1}), "");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 5, 5}), suggests + "float [N, 3, H, W]");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 5, 5}, "arg { name: 'group' i: 4 }"),
            suggests + "float [N, 12, H, W]");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 5}), suggests + "float [N, 3, W]");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 5, 5, 5}), suggests + "float [N, 3, D, H, W]");
  EXPECT_EQ(Suggestion("Conv", {8, 3}), "");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 1, 1, 1, 1}), "");
  EXPECT_EQ(Suggestion("Conv", {8, 5, 6, 3}, "arg { name: 'order' s: 'NHWC' }"),
            suggests + "float [N, H, W, 3]");
  EXPECT_EQ(Suggestion("Conv", {8, 5, 6, 3}, "arg { name: 'order' s: 'nhwc' }"),
            suggests + "float [N, H, W, 3]");
  EXPECT_EQ(Suggestion("Conv", {8, 5, 6, 3}, "arg { name: 'order' s: 'NCHW' }"),
            suggests + "float [N, 5, H, W]");
  EXPECT_EQ(Suggestion("ConvTranspose", {8, 3, 5, 5}, "arg { name: 'group' i: 4 }"),
            suggests + "float [N, 8, H, W]");
  EXPECT_EQ(Suggestion("Conv", {8, 0, 5, 5}), "");
  EXPECT_EQ(Suggestion("Conv", {8, 3, 5, 5}, "arg { name: 'group' i: 0 }"), "");
  EXPECT_EQ(Suggestion("Conv", {8, int64_t{1} << 40, 5, 5}), "");
  EXPECT_EQ(Suggestion("Relu", {8, 3, 5, 5}), "");
}

TEST(ModelRefusalsTest, NamesTheFirstTenInputs) {
  const NetDef net = ParseNet(R"(op { type: "FC" input: "x" input: "w" input: "b" output: "y" }
                                 op { type: "FC" input: "z" input: "v" input: "b" output: "q" })");
  const ShapeMap shapes = {{"w", Floats({2, 3})}, {"v", Floats({2, 4})}};
  EXPECT_EQ(InputsNotGivenText(net, {"x", "z", "a"}, {}, shapes),
            "inputs \"x\" (the net suggests float [N, 3]), \"z\" (the net suggests float [N, 4]), "
            "\"a\" were not given");
  // The zeros of an init net come first, if their shape is that of data.
  EXPECT_EQ(
      InputsNotGivenText(net, {"x", "z"},
                         {{.name = "x", .dims = {1, 9}},
                          {.name = "z", .dims = {1, 1}},
                          {.name = "other", .dims = {7}}},
                         shapes),
      "inputs \"x\" (the net suggests float [1, 9]), \"z\" (the net suggests float [N, 4]) were "
      "not given");
  std::vector<std::string> names;
  std::string listed;
  for (int i = 0; i < 12; ++i) names.push_back(MakeString("i", i));
  for (int i = 0; i < 10; ++i) listed += MakeString(i > 0 ? ", " : "", "\"i", i, "\"");
  EXPECT_EQ(InputsNotGivenText(net, names, {}, {}),
            "inputs " + listed + " and 2 more were not given");
  names.resize(10);
  EXPECT_EQ(InputsNotGivenText(net, names, {}, {}), "inputs " + listed + " were not given");
  EXPECT_EQ(MessageOf([&] { InputsNotGivenText(net, {}, {}, {}); }),
            "argument names of InputsNotGivenText is empty");
}

TEST(ModelRefusalsTest, NamesWhatReadsNoInput) {
  const NetDef a = ParseNet(R"(name: "n" external_input: "declared"
      op { type: "Relu" input: "data" output: "y" }
      op { type: "If" input: "c" arg { name: "then_net" n { op { type: "Copy" input: "inner"
           output: "z" } } } })");
  const NetDef b = ParseNet(R"(op { type: "Relu" input: "dada" output: "y" })");
  for (const char* name : {"declared", "data", "c", "inner"})
    EXPECT_NO_THROW(CheckInputName({&a}, name)) << name;
  EXPECT_EQ(MessageOf([&] { CheckInputName({&a}, "daata"); }),
            "no operator of net \"n\" reads input \"daata\"; close: \"data\"");
  EXPECT_EQ(MessageOf([&] {
              CheckInputName({&a, &b}, "daata");
            }),
            "no operator of the plan's nets reads input \"daata\"; close: \"data\"");
  EXPECT_EQ(MessageOf([&] { CheckInputName({&b}, "unlike_all"); }),
            "no operator of net \"\" reads input \"unlike_all\"");
  EXPECT_EQ(MessageOf([&] { CheckInputName({nullptr}, "x"); }),
            "argument nets of CheckInputName has a null net");
  EXPECT_EQ(MessageOf([] { RemoveZeroPlaceholders(nullptr, nullptr); }),
            "an argument of RemoveZeroPlaceholders is null");
}

// "name [dims]" of the inputs that the init net fills with nothing but zeros.
std::vector<std::string> Placeholders(const std::string& net, const std::string& init,
                                      const std::vector<std::string>& listed = {}) {
  const NetDef init_def = ParseNet(init);
  std::vector<std::string> found;
  for (const ZeroPlaceholder& p : ZeroPlaceholdersOf(ParseNet(net), {&init_def}, {}, listed))
    found.push_back(MakeString(p.name, " ", p.dims));
  return found;
}

TEST(ModelRefusalsTest, FindsZerosInThePlaceOfData) {
  const auto fill = [](const std::string& name, const std::string& more = "") {
    return "op { type: \"ConstantFill\" output: \"" + name +
           "\" arg { name: \"shape\" ints: 2 ints: 3 } " + more + " } ";
  };
  const std::string net = R"(op { type: "Mul" input: "x" input: "w" output: "y" })";
  EXPECT_THAT(Placeholders(net, fill("x") + fill("w")), ElementsAre("x [2, 3]"));
  EXPECT_THAT(Placeholders(net, fill("w") + fill("x", "arg { name: 'value' f: 0 }")),
              ElementsAre("x [2, 3]"));
  // Not if a value is given, in whatever type, or if the last operator that fills it does not give 0.
  for (const char* value : {"f: 1", "i: 1", "s: 'a'"}) {
    EXPECT_THAT(
        Placeholders(net, fill("w") + fill("x", MakeString("arg { name: 'value' ", value, " }"))),
        ElementsAre());
  }
  EXPECT_THAT(Placeholders(net, fill("w") + fill("x") + R"(op { type: "XavierFill" output: "x" })"),
              ElementsAre());
  EXPECT_THAT(Placeholders(net, fill("w") + fill("x", "input: 'w'")), ElementsAre());
  // Another input is not filled, so that it is the data.
  EXPECT_THAT(Placeholders(net, fill("x")), ElementsAre());
  // The list of a database decides, if an init net fills one of its inputs.
  EXPECT_THAT(Placeholders(net, fill("x") + fill("w"), {"w"}), ElementsAre("w [2, 3]"));
  EXPECT_THAT(Placeholders(net, fill("x") + fill("w"), {"none"}), ElementsAre("x [2, 3]"));
  // The first external input counts where it is read as a first input, the second one not.
  EXPECT_THAT(
      Placeholders(R"(external_input: "w" external_input: "x" )" + net, fill("x") + fill("w")),
      ElementsAre("x [2, 3]"));
  EXPECT_THAT(Placeholders(R"(external_input: "z" )" + net +
                               R"( op { type: "Mul" input: "z" input: "w" output: "q" })",
                           fill("x") + fill("w") + fill("z")),
              ElementsAre("x [2, 3]", "z [2, 3]"));
  // Caffe2's exporter for mobile devices marks inputs by one zero of the shape [1, 1].
  const auto mark = [](const std::string& name, const std::string& value, const std::string& dims) {
    return "op { type: \"GivenTensorFill\" output: \"" + name + "\" arg { name: \"shape\" " + dims +
           " } arg { name: \"values\" " + value + " } } ";
  };
  const std::string one = "ints: 1 ints: 1";
  EXPECT_THAT(Placeholders(net, mark("x", "floats: 0", one) + mark("w", "floats: 0", one)),
              ElementsAre("w [1, 1]", "x [1, 1]"));
  EXPECT_THAT(Placeholders(net, mark("x", "floats: 1", one) + mark("w", "floats: 0", "ints: 1")),
              ElementsAre());
  EXPECT_THAT(Placeholders(net, mark("x", "floats: 0 floats: 0", one)), ElementsAre());
  EXPECT_THAT(Placeholders(net, mark("unread", "floats: 0", one)), ElementsAre());
}

std::vector<std::string> EntriesOf(const MetaNetDef& meta) {
  std::vector<std::string> entries;
  for (const auto& entry : meta.applicationspecificinfo())
    entries.push_back(entry.key() + "=" + entry.value());
  return entries;
}

TEST(ModelRefusalsTest, ImagePreparationsAreEntriesOfADatabase) {
  ImagePreparation preparation;
  MetaNetDef none, some;
  AddImagePreparation(preparation, &none);
  EXPECT_THAT(EntriesOf(none), ElementsAre());
  preparation.known = true;
  preparation.classes = {"cat", "dog"};
  preparation.transform.resize_to = {.width = 5, .height = 7};
  preparation.transform.crop_to = {.width = 3, .height = 4};
  preparation.transform.mean = {1, 2.5f};
  preparation.transform.scale = {0.5f};
  preparation.transform.std = {2};
  AddImagePreparation(preparation, &some);
  EXPECT_THAT(EntriesOf(some),
              ElementsAre("image.size=5x7", "image.channels=rgb", "image.mean=1,2.5",
                          "image.scale=0.5", "image.std=2", "classes=cat\ndog"));
  const ImagePreparation back = ImagePreparationOf(some);
  EXPECT_TRUE(back.known);
  EXPECT_EQ(back.classes, preparation.classes);
  EXPECT_EQ(back.transform.resize_to.width, 5);
  EXPECT_EQ(back.transform.resize_to.height, 7);
  EXPECT_EQ(back.transform.mean, preparation.transform.mean);
  EXPECT_EQ(back.transform.scale, preparation.transform.scale);
  EXPECT_EQ(back.transform.std, preparation.transform.std);
  EXPECT_FALSE(back.transform.grey || back.transform.bgr);
  preparation.transform.resize = 8;
  preparation.transform.bgr = true;
  MetaNetDef cut;
  AddImagePreparation(preparation, &cut);
  EXPECT_EQ(EntriesOf(cut)[0], "image.size=3x4");
  EXPECT_EQ(EntriesOf(cut)[1], "image.resize=8");
  EXPECT_EQ(EntriesOf(cut)[2], "image.channels=bgr");
  const ImagePreparation cut_back = ImagePreparationOf(cut);
  EXPECT_EQ(cut_back.transform.resize, 8);
  EXPECT_EQ(cut_back.transform.crop_to.width, 3);
  EXPECT_EQ(cut_back.transform.crop_to.height, 4);
  EXPECT_EQ(cut_back.transform.resize_to.width, 0);
  EXPECT_TRUE(cut_back.transform.bgr && !cut_back.transform.grey);
  preparation.transform.grey = true;
  MetaNetDef grey;
  AddImagePreparation(preparation, &grey);
  EXPECT_EQ(EntriesOf(grey)[2], "image.channels=grey");
}

TEST(ModelRefusalsTest, ImagePreparationsThatCannotBeReadAreNamed) {
  const auto error = [](const std::string& key, const std::string& value) {
    MetaNetDef meta;
    auto* const entry = meta.add_applicationspecificinfo();
    entry->set_key(key);
    entry->set_value(value);
    return MessageOf([&] { ImagePreparationOf(meta); });
  };
  for (const auto& [key, values] : std::vector<std::pair<std::string, std::vector<std::string>>>{
           {"image.size",
            {"", "5", "5x", "0x5", "5x0", "-1x5", "5x7x9", "100001x5", "5x100001", "axb"}},
           {"image.resize", {"", "0", "-1", "a"}},
           {"image.channels", {"", "RGB"}},
           {"image.mean", {"", "1,", "a"}},
           {"image.scale", {"1;2"}},
           {"image.std", {"x"}}}) {
    const std::string want = key == "image.size"       ? "WIDTHxHEIGHT"
                             : key == "image.resize"   ? "a number of pixels"
                             : key == "image.channels" ? "grey, rgb or bgr"
                                                       : "numbers with commas between them";
    for (const std::string& value : values) {
      EXPECT_EQ(error(key, value), "entry \"" + key + "\" of the predictor's database is \"" +
                                       value + "\", want " + want);
    }
  }
  EXPECT_EQ(error("image.size", "100000x1"), "(nothing was thrown)");
  EXPECT_EQ(error("image.resize", "1"), "(nothing was thrown)");
  EXPECT_EQ(error("other", ""), "(nothing was thrown)");
  MetaNetDef other;
  other.add_applicationspecificinfo()->set_key("other");
  EXPECT_FALSE(ImagePreparationOf(other).known);
}

TEST(ModelRefusalsTest, ArenasHaveALimit) {
  ArenaStock stock(0);
  std::vector<MemoryArena*> arenas;
  std::string error;
  while (error.empty() && arenas.size() < 100000) {
    error = MessageOf([&] { arenas.push_back(stock.Lease(nullptr)); });
    if (error == "(nothing was thrown)") error.clear();
  }
  EXPECT_EQ(error, MakeString("all ", arenas.size(), " arenas are leased"));
  stock.Return(arenas[0]);
  EXPECT_EQ(stock.Lease(arenas[0]), arenas[0]);
  for (MemoryArena* arena : arenas) stock.Return(arena);
}

TEST(ModelRefusalsTest, NullArgumentsAreNamed) {
  Model model;
  Workspace ws;
  DeviceOption device;
  ExpectRefusals({
      {[&] { RunInitNets(nullptr, &ws); }, "an argument of RunInitNets is null"},
      {[&] { RunInitNets(&model, nullptr); }, "an argument of RunInitNets is null"},
      {[&] { CreatePredictNet(model, nullptr); }, "argument ws of CreatePredictNet is null"},
      {[&] { TakeInitNets(nullptr); }, "argument model of TakeInitNets is null"},
      {[&] { RemoveZeroPlaceholders(&model, nullptr); },
       "an argument of RemoveZeroPlaceholders is null"},
      {[] { RequestDeviceCopies(nullptr); }, "argument net of RequestDeviceCopies is null"},
      {[] { MoveUnsupportedToCPU(nullptr); }, "argument net of MoveUnsupportedToCPU is null"},
      {[&] { MoveBlobToDevice("x", device, nullptr); }, "argument ws of MoveBlobToDevice is null"},
      {[] { ParseDevice("cuda", nullptr); }, "argument device of ParseDevice is null"},
      {[&] { ParseDevice("cuda:x", &device); },
       "device \"cuda:x\" does not end in a number, want a device such as cuda:0"},
      {[&] { ParseDevice("cuda:", &device); },
       "device \"cuda:\" does not end in a number, want a device such as cuda:0"},
      {[&] { ParseDevice("cuda:123456", &device); },
       "device \"cuda:123456\" does not end in a number, want a device such as cuda:0"},
      {[] { ReportNet({}, nullptr); },
       "argument net of ReportNet is null, want a net that was created"},
      {[] { PrepareNet(NetDef(), {}, nullptr); },
       "argument ws of PrepareNet is null, want the workspace with the weights"},
      {[] { OptimizeNet(NetDef(), {}, nullptr); },
       "argument ws of OptimizeNet is null, want the workspace with the weights"},
  });
  EXPECT_TRUE(ParseDevice("cuda:12345", &device));
  EXPECT_EQ(device.device_type(), CUDA);
  EXPECT_EQ(device.device_id(), 12345);
  EXPECT_FALSE(ParseDevice("unlike", &device));
}

TEST(ModelRefusalsTest, OfPredictors) {
  const NetDef init = ParseNet(R"(name: "init" op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: 2 } arg { name: "value" f: 3 } })");
  const NetDef net = ParseNet(R"(name: "n" external_input: "x" external_input: "w"
      external_output: "y" op { type: "Mul" input: "x" input: "w" output: "y" })");
  Predictor predictor(init, net);
  Tensor x({2}, CPU), other({3}, CPU);
  for (Tensor* const tensor : {&x, &other}) {
    float* const data = tensor->mutable_data<float>();
    std::fill(data, data + tensor->numel(), 2.f);
  }
  Predictor::TensorList list;
  Predictor::TensorMap map;
  Predictor::TensorVector pointers;
  const auto config = [](bool with_net, bool with_ws) {
    return PredictorConfig{.predict_net = with_net ? std::make_shared<NetDef>() : nullptr,
                           .input_names = {},
                           .output_names = {},
                           .parameter_names = {},
                           .ws = with_ws ? std::make_shared<Workspace>() : nullptr};
  };
  const std::string null = "argument outputs of a predictor is null";
  const std::string many = "inputs.size() <= external_input_size: got 3, want at most 2";
  const std::string unknown =
      "Blob does not exist: z; the predictor's inputs are x, w; close: x, w";
  const std::string want = "a predictor's config needs predict_net and ws";
  ExpectRefusals({
      {[&] { predictor({x}, static_cast<Predictor::TensorList*>(nullptr)); }, null},
      {[&] {
         predictor(Predictor::TensorMap{{"x", x}}, static_cast<Predictor::TensorList*>(nullptr));
       },
       null},
      {[&] { predictor(Predictor::TensorMap{}, static_cast<Predictor::TensorMap*>(nullptr)); },
       null},
      {[&] { predictor.run({&x}, nullptr); }, null},
      {[&] {
         predictor.run_map({{"x", &x}}, nullptr);
       },
       null},
      {[&] {
         predictor({x, x, x}, &list);
       },
       many},
      {[&] {
         predictor.run({&x, &x, &x}, &pointers);
       },
       many},
      {[&] { predictor.run({nullptr}, &pointers); }, "input 0 is null"},
      {[&] {
         predictor.run({&x, nullptr}, &pointers);
       },
       "input 1 is null"},
      {[&] {
         predictor.run_map({{"x", nullptr}}, &pointers);
       },
       "input \"x\" is null"},
      {[&] {
         predictor.run_map({{"z", &x}}, &pointers);
       },
       unknown},
      {[&] {
         predictor(Predictor::TensorMap{{"z", x}}, &map);
       },
       unknown},
      {[&] { const Predictor none(config(false, true)); }, want},
      {[&] { const Predictor none(config(true, false)); }, want},
  });
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(predictor.run_map({{"x", &x}}, &pointers));
    ASSERT_EQ(pointers.size(), 1u);
    EXPECT_EQ(pointers[0]->data<float>()[1], 6);
    const std::string text = MessageOf([&] { predictor.run({&other}, &pointers); });
    EXPECT_NE(text.find("\"x\" float [3], \"w\" float [2]"), std::string::npos) << text;
  }
}

TEST(ModelRefusalsTest, ReportsOfNetsAreObjects) {
  const NetReport report = {.net = "n",
                            .passes = {"p", "q"},
                            .new_constants = {"c"},
                            .freed_constants = {"f", "g"},
                            .instruction_set = "AVX2",
                            .threads = 3,
                            .deterministic = true,
                            .operators = {{.type = "Relu", .output = "y", .device = "CPU"},
                                          {.type = "Conv",
                                           .output = "z",
                                           .device = "CUDA:1",
                                           .kernel = "k",
                                           .implementation = "i",
                                           .x_layout = "x",
                                           .y_layout = "w",
                                           .reason = "r"}}};
  EXPECT_EQ(NetReportAsJson(report), R"({
  "net": "n",
  "passes": [
    "p",
    "q"
  ],
  "new_constants": [
    "c"
  ],
  "freed_constants": [
    "f",
    "g"
  ],
  "instruction_set": "AVX2",
  "threads": 3,
  "deterministic": true,
  "operators": [
    {
      "type": "Relu",
      "output": "y",
      "device": "CPU"
    },
    {
      "type": "Conv",
      "output": "z",
      "device": "CUDA:1",
      "kernel": "k",
      "implementation": "i",
      "x_layout": "x",
      "y_layout": "w",
      "reason": "r"
    }
  ]
}
)");
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  NetBase* const net = ws.CreateNet(ParseNet(R"(name: "m" op { type: "Relu" input: "x" output: "y" }
      op { type: "ZeroGradient" input: "y" })"));
  Preparation preparation;
  preparation.passes = {"p"};
  preparation.options.threads = 5;
  preparation.options.deterministic = true;
  const NetReport made = ReportNet(preparation, net);
  EXPECT_EQ(made.net, "m");
  EXPECT_EQ(made.passes, preparation.passes);
  EXPECT_EQ(made.threads, 5);
  EXPECT_TRUE(made.deterministic);
  ASSERT_EQ(made.operators.size(), 2u);
  EXPECT_EQ(made.operators[0].output, "y");
  EXPECT_EQ(made.operators[0].device, "CPU");
  EXPECT_EQ(made.operators[1].type, "ZeroGradient");
  EXPECT_EQ(made.operators[1].output, "");
}

}  // namespace
}  // namespace caffe2rt::test::model_refusals_test
