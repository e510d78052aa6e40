// Nets and files of trainings where their parts meet: states that go on, arguments that the net sets
// itself, decays by shape, more images than are read at once, and lines of several steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/training/image_records.h"
#include "caffe2_core/training/model_builder.h"
#include "caffe2_core/training/plan_parts.h"
#include "caffe2_core/training/record_database.h"
#include "caffe2_core/training/training_log.h"
#include "caffe2_core/training/training_nets.h"
#include "caffe2_core/training/training_run.h"
#include "tests/caffe2_core/training/training_records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::training_edges_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TrainDef DefOf(const std::string& text) {
  TrainDef def;
  TextError error;
  EXPECT_TRUE(ParseText("name: \"net\" " + text, &def, &error)) << text;
  return def;
}

std::string LinesOf(const NetDef& net, const std::string& type) {
  std::string text;
  for (const OperatorDef& op : net.op()) {
    if (op.type() != type) continue;
    for (const std::string& input : op.input()) text += input + " ";
    text += "->";
    for (const std::string& output : op.output()) text += " " + output;
    text += "\n";
  }
  return text;
}

// --- models ---

// The LSTM of the papers, in double. Gates are in the order of the operator: input, forget, output,
// and the new value.
struct LstmReference {
  int steps, batch, inputs, units;
  double forget_bias;
  std::map<std::string, std::vector<float>> p;  // the parameters by their suffix
  std::vector<double> h, c;

  std::vector<double> Run(const std::vector<float>& x) {
    std::vector<double> all;
    const auto logistic = [](double v) { return 1 / (1 + std::exp(-v)); };
    for (int t = 0; t < steps; ++t) {
      const std::vector<double> before = h;
      for (int n = 0; n < batch; ++n) {
        for (int u = 0; u < units; ++u) {
          double gates[4];
          for (int gate = 0; gate < 4; ++gate) {
            const auto row = static_cast<size_t>(gate * units + u);
            double sum = static_cast<double>(p.at("_i2h_b")[row]) + p.at("_gates_b")[row];
            for (int i = 0; i < inputs; ++i) {
              sum += static_cast<double>(p.at("_i2h_w")[row * inputs + i]) *
                     x[static_cast<size_t>((t * batch + n) * inputs + i)];
            }
            for (int i = 0; i < units; ++i)
              sum += p.at("_gates_w")[row * units + i] * before[static_cast<size_t>(n * units + i)];
            gates[gate] = sum;
          }
          const auto at = static_cast<size_t>(n * units + u);
          c[at] =
              logistic(gates[1] + forget_bias) * c[at] + logistic(gates[0]) * std::tanh(gates[3]);
          h[at] = logistic(gates[2]) * std::tanh(c[at]);
        }
      }
      all.insert(all.end(), h.begin(), h.end());
    }
    return all;
  }
};

TEST(ModelBuilderEdgesTest, AnLstmContinuesItsStatesOnlyIfAsked) {
  for (const bool keeps : {false, true}) {
    SCOPED_TRACE(keeps);
    const LstmOptions options = {.steps = 2,
                                 .batch_size = 2,
                                 .inputs = 3,
                                 .units = 2,
                                 .forget_bias = keeps ? 0.5f : 0.0f,
                                 .keeps_state = keeps};
    ModelBuilder model("rnn");
    EXPECT_EQ(model.Lstm("data", "l", options), "l");
    Workspace ws;
    LstmReference want{2, 2, 3, 2, options.forget_bias, {}, std::vector<double>(4), {}};
    want.c = want.h;
    uint32_t seed = 1;
    for (const ParamDef& param : model.def().param()) {
      ASSERT_TRUE(ws.RunOperatorOnce(FillOf(param)));
      const std::string suffix = param.name().substr(1);
      if (!suffix.ends_with("_w") && !suffix.ends_with("_b")) continue;
      want.p[suffix] = RandomValues(ws.GetBlob(param.name())->Get<Tensor>().numel(), -1, 1, ++seed);
      Feed<float>(&ws, param.name(), {param.dims().begin(), param.dims().end()}, want.p[suffix]);
    }
    ASSERT_EQ(want.p.size(), 4u);
    for (int run = 0; run < 3; ++run) {
      const std::vector<float> x = RandomValues(12, -2, 2, 100 + static_cast<uint32_t>(run));
      Feed<float>(&ws, "data", {2, 2, 3}, x);
      ASSERT_TRUE(ws.RunNetOnce(model.def().net()));
      if (!keeps) want.h = want.c = std::vector<double>(4);
      const std::vector<double> states = want.Run(x);
      ExpectTensor<float>(ws, "l", {4, 2}, {states.begin(), states.end()}, 1e-5);
    }
  }
}

TEST(ModelBuilderEdgesTest, WritesArgumentsThatAreNotTheDefaults) {
  ModelBuilder model("net");
  model.Conv("a", "b", 4, 6,
             {.kernel = 3,
              .stride = 2,
              .pad = 1,
              .dilation = 5,
              .group = 2,
              .bias = false,
              .fill = "GaussianFill"});
  model.AveragePool("b", "c", {.kernel = 2, .stride = 1});
  model.MaxPool("c", "d", {.kernel = 4, .stride = 3, .global = true});
  model.SpatialBN("d", "e", 3, 0.25f);
  model.Dropout("e", "f", 0.125f);
  EXPECT_EQ(model.Embedding("f", "g", 7, 2), "g");
  const NetDef& net = model.def().net();
  const auto args = [&](int op) {
    std::string text;
    for (const Argument& arg : net.op(op).arg())
      text += MakeString(arg.name(), "=", arg.has_f() ? arg.f() : static_cast<float>(arg.i()), " ");
    return text;
  };
  EXPECT_EQ(args(0), "kernel=3 stride=2 pad=1 dilation=5 group=2 ");
  EXPECT_THAT(net.op(0).input(), ElementsAre("a", "b_w"));
  EXPECT_EQ(args(1), "kernel=2 ");
  EXPECT_EQ(args(2), "global_pooling=1 ");
  EXPECT_EQ(args(3), "is_test=0 momentum=0.25 ");
  EXPECT_EQ(args(4), "ratio=0.125 is_test=0 ");
  EXPECT_THAT(net.op(5).input(), ElementsAre("g_w", "f"));
  std::map<std::string, const ParamDef*> params;
  for (const ParamDef& param : model.def().param()) params[param.name()] = &param;
  EXPECT_EQ(params.at("b_w")->fill(), "GaussianFill");
  EXPECT_THAT(params.at("b_w")->dims(), ElementsAre(6, 2, 3, 3));
  EXPECT_FALSE(params.at("e_rm")->trained());
  EXPECT_FALSE(params.at("e_riv")->trained());
  EXPECT_TRUE(params.at("e_s")->trained());
  EXPECT_FALSE(params.at("g_w")->decays());
  EXPECT_FALSE(params.at("b_w")->has_decays());
  EXPECT_EQ(ArgumentHelper(FillOf(*params.at("e_riv"))).GetSingleArgument<float>("value", 7), 1);
  EXPECT_EQ(ArgumentHelper(FillOf(*params.at("e_rm"))).GetSingleArgument<float>("value", 7), 0);
  EXPECT_EQ(ArgumentHelper(FillOf(*params.at("e_s"))).GetSingleArgument<float>("value", 7), 1);
  ExpectThrows([] { ModelBuilder unnamed(""); }, "a model has no name");
  ExpectThrows([] { (void)FillOf(ParamDef()); }, "a parameter has no name");
}

// --- nets ---

// A layer that is frozen stays as in use, also in the training.
TEST(TrainingNetsEdgesTest, ArgumentsThatTheNetSetsStay) {
  const TrainingNets nets = MakeTrainingNets(DefOf(R"(
      net { op { type: "SpatialBN" input: ["data", "s", "b", "m", "v"] output: "n"
                 arg { name: "is_test" i: 1 } }
            op { type: "Dropout" input: "n" output: "d" arg { name: "is_test" i: 1 } }
            op { type: "Dropout" input: "d" output: "k" output: "mask" }
            op { type: "FC" input: ["k", "w", "c"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      param { name: "s" dims: 2 trained: false } param { name: "b" dims: 2 trained: false }
      param { name: "m" dims: 2 trained: false } param { name: "v" dims: 2 trained: false }
      param { name: "w" dims: [1, 2] } param { name: "c" dims: 1 })"));
  for (int i = 0; i < 2; ++i) {
    const OperatorDef& op = nets.train.op(i);
    EXPECT_EQ(op.arg_size(), 1) << op.type();
    EXPECT_TRUE(GetFlagArgument(op, "is_test")) << op.type();
    EXPECT_EQ(op.output_size(), 1);
  }
  EXPECT_FALSE(GetFlagArgument(nets.train.op(2), "is_test", true));
  EXPECT_THAT(nets.train.op(2).output(), ElementsAre("k", "mask"));
  EXPECT_THAT(nets.test.op(2).output(), ElementsAre("k"));
  EXPECT_THAT(nets.trained, ElementsAre("w", "c"));
}

TEST(TrainingNetsEdgesTest, WeightsDecayWithTwoDimensionsUnlessTheDefinitionDecides) {
  const TrainingNets nets = MakeTrainingNets(DefOf(R"(
      net { op { type: "FC" input: ["data", "w", "b"] output: "x" }
            op { type: "FC" input: ["x", "v", "c"] output: "y" }
            op { type: "FC" input: ["y", "u", "d"] output: "z" }
            op { type: "SquaredL2Distance" input: ["z", "label"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      init_net { op { type: "XavierFill" output: "u" arg { name: "shape" ints: 2 ints: 2 } }
                 op { type: "ConstantFill" output: "d" arg { name: "shape" ints: 2 } } }
      param { name: "w" dims: [2, 2] } param { name: "b" dims: 2 }
      param { name: "v" dims: [2, 2] decays: false } param { name: "c" dims: 2 decays: true }
      optimizer { weight_decay: 0.5 })"));
  std::string decays = LinesOf(nets.train, "WeightedSum");
  decays.resize(decays.find("w optimizer_one w_grad"));  // the updates
  EXPECT_EQ(decays,
            "w_grad optimizer_one w optimizer_weight_decay -> w_grad\n"
            "c_grad optimizer_one c optimizer_weight_decay -> c_grad\n"
            "u_grad optimizer_one u optimizer_weight_decay -> u_grad\n");
}

// Nets of other formats have the numbers of their arithmetic among the weights.
TEST(TrainingNetsEdgesTest, ScalarsThatAnInitNetGivesAreConstants) {
  const TrainingNets nets = MakeTrainingNets(DefOf(R"(
      net { op { type: "FC" input: ["data", "w", "b"] output: "x" }
            op { type: "Mul" input: ["x", "half"] output: "h" }
            op { type: "Mul" input: ["h", "one"] output: "z" }
            op { type: "SquaredL2Distance" input: ["z", "label"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      init_net { op { type: "XavierFill" output: "w" arg { name: "shape" ints: 2 ints: 2 } }
                 op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 2 } }
                 op { type: "GivenTensorFill" output: "half"
                      arg { name: "shape" } arg { name: "values" floats: 0.5 } }
                 op { type: "GivenTensorFill" output: "one"
                      arg { name: "shape" ints: 1 } arg { name: "values" floats: 1 } } })"));
  EXPECT_THAT(nets.trained, ElementsAre("w", "b", "one"));
}

// The gradients of both inputs of a sum are one blob, which the update of the first would overwrite.
TEST(TrainingNetsEdgesTest, ParametersThatShareAGradientAreUpdatedAlike) {
  TrainDef def = DefOf(R"(
      net { op { type: "Sum" input: ["w", "v"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "v" dims: [1, 2] }
      output: "y" optimizer { rate: 0.25 momentum: 0.5 })");
  def.mutable_input()->add_blob("label");
  const TrainingNets nets = MakeTrainingNets(def);
  EXPECT_EQ(LinesOf(nets.train, "Copy"), "y_grad -> v_own_grad\n");
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(nets.init));
  Feed<float>(&ws, "label", {1, 2}, {8, -4});
  NetBase* const net = ws.CreateNet(nets.train);
  // y - label is the gradient of both; the moment is 0.5 m + 0.25 g.
  std::vector<float> w = {0, 0}, m = {0, 0};
  for (int step = 0; step < 3; ++step) {
    ASSERT_TRUE(net->Run());
    for (size_t i = 0; i < 2; ++i) {
      m[i] = 0.5f * m[i] + 0.25f * (2 * w[i] - (i == 0 ? 8.0f : -4.0f));
      w[i] -= m[i];
    }
    ExpectTensor<float>(ws, "w", {1, 2}, w, 1e-6);
    ExpectTensor<float>(ws, "v", {1, 2}, w, 1e-6);
  }
}

TEST(TrainingNetsEdgesTest, ThePredictorHasOnlyWhatItsOutputsNeed) {
  // "x" is overwritten; the branch of "side" and what only the loss reads are left out.
  const std::string net = R"(
      net { op { type: "FC" input: ["data", "w", "b"] output: "x" }
            op { type: "Tanh" input: "x" output: "side" }
            op { type: "Relu" input: "x" output: "x" }
            op { type: "Copy" input: "label" output: "goal" }
            op { type: "SquaredL2Distance" input: ["x", "goal"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 } )";
  const TrainingNets nets = MakeTrainingNets(DefOf(net));
  EXPECT_THAT(nets.outputs, ElementsAre("x"));
  EXPECT_THAT(nets.predict.external_input(), ElementsAre("data", "w", "b"));
  EXPECT_THAT(nets.predict.external_output(), ElementsAre("x"));
  EXPECT_EQ(LinesOf(nets.predict, "Tanh") + LinesOf(nets.predict, "Relu"), "x -> x\n");
  EXPECT_EQ(nets.predict.op_size(), 2);
  EXPECT_EQ(nets.predict.name(), "net");
  const TrainingNets both = MakeTrainingNets(DefOf(net + "output: \"side\" output: \"x\""));
  EXPECT_THAT(both.outputs, ElementsAre("side", "x"));
  EXPECT_EQ(both.predict.op_size(), 3);
  ExpectThrows(
      [] {
        TrainDef def = DefOf(R"(
            net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
                  op { type: "AveragedLoss" input: "y" output: "loss" } }
            param { name: "w" dims: [1, 2] } param { name: "b" dims: 1 })");
        (void)MakeTrainingNets(def);
      },
      "no operator compares the net's result with the label \"label\"");
}

TEST(TrainingNetsEdgesTest, PrefixesNameAllBlobsOfTheNetButThoseToKeep) {
  NetDef net = ParseNet(R"(op { type: "Add" input: "a" input: "k" output: "a" control_input: "b"
                                control_input: "k" })");
  PrefixBlobs("p_", {"k", "unused"}, &net);
  EXPECT_THAT(net.op(0).input(), ElementsAre("p_a", "k"));
  EXPECT_THAT(net.op(0).output(), ElementsAre("p_a"));
  EXPECT_THAT(net.op(0).control_input(), ElementsAre("p_b", "k"));
  // Outputs that only the training needs, unless another operator reads them.
  const NetDef read =
      TestNetOf(ParseNet(R"(op { type: "Dropout" input: "x" output: "y" output: "m" }
      op { type: "Dropout" input: "y" output: "z" output: "n" } op { type: "Copy" input: "m" output: "q" })"));
  EXPECT_THAT(read.op(0).output(), ElementsAre("y", "m"));
  EXPECT_THAT(read.op(1).output(), ElementsAre("z"));
  EXPECT_FALSE(read.op(2).arg_size() > 0);
}

TEST(PlanPartsTest, StepsHaveTheirNumberOfIterations) {
  ExecutionStep outer;
  EXPECT_FALSE(AddStep("once", "net", 1, &outer)->has_num_iter());
  EXPECT_EQ(AddStep("twice", "net", 2, &outer)->num_iter(), 2);
  const ExecutionStep& never = *AddStep("never", "", 0, &outer);
  EXPECT_TRUE(never.has_num_iter());
  EXPECT_EQ(never.num_iter(), 0);
  EXPECT_THAT(never.network(), IsEmpty());
  EXPECT_THAT(outer.substep(0).network(), ElementsAre("net"));
  EXPECT_EQ(outer.substep_size(), 3);
}

// --- files ---

// Images are read in groups of 64.
TEST(ImageRecordsEdgesTest, KeysAndErrorsCountAllImages) {
  const TempDir dir;
  SavePng(dir.path("a.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  dir.Write("bad.png", "no image");
  for (const int count : {64, 65, 130}) {
    SCOPED_TRACE(count);
    std::vector<LabelledFile> files;
    for (int i = 0; i < count; ++i) {
      const bool bad = i == 63 || i == 100;
      files.push_back({MakeString(i), dir.path(bad ? "bad.png" : "a.png"), i});
    }
    std::vector<std::string> errors;
    ImageRecordOptions options;
    options.on_error = [&](const std::string& name, const std::string&) { errors.push_back(name); };
    const auto records =
        Collect([&](const RecordAcceptor& accept) { ImageRecords(files, options, accept); });
    ASSERT_EQ(records.size(), static_cast<size_t>(count - (count > 100 ? 2 : 1)));
    size_t at = 0;
    for (int i = 0; i < count; ++i) {
      if (i == 63 || i == 100) continue;
      EXPECT_EQ(records[at++].key, RecordKey(i, 8) + "_" + MakeString(i));
    }
    if (count > 100) {
      EXPECT_THAT(errors, ElementsAre("63", "100"));
    } else {
      EXPECT_THAT(errors, ElementsAre("63"));
    }
  }
}

// 45 steps in an epoch: a line of the log for two of them, and one for the last.
TEST(TrainingLogEdgesTest, LinesAreMeansOfTheStepsSinceTheLastOne) {
  const TempDir dir;
  RecordDatabase database("minidb", dir.path("data"));
  for (int i = 0; i < 45; ++i) {
    TrainingRecord record{.key = RecordKey(i, 8), .tensors = {}};
    TensorProto* const x = record.tensors.add_protos();
    x->add_dims(1);
    x->set_data_type(TensorProto::FLOAT);
    x->add_float_data(static_cast<float>(i % 7) - 3);
    AddLabel(i % 3 == 0 ? 1 : 0, LabelDims::kOne, &record.tensors);
    database.Acceptor()(record);
  }
  database.Finish();
  ModelBuilder model("line");
  model.SoftmaxLoss(model.FC("data", "fc", 1, 2), "label");
  model.Input().set_batch_size(1);
  RunDef run;
  *run.mutable_train() = model.def();
  run.mutable_data()->set_path(dir.path("data"));
  run.mutable_data()->set_type("minidb");
  run.set_epochs(2);
  TrainingCallbacks callbacks;
  std::vector<TrainingProgress> steps;
  callbacks.on_step = [&](const TrainingProgress& progress) { steps.push_back(progress); };
  std::vector<double> epoch_accuracies;
  callbacks.on_epoch = [&](const EpochResult& result) {
    epoch_accuracies.push_back(result.accuracy);
  };
  TrainingRun(dir.path("run"), run).Run(callbacks);
  ASSERT_EQ(steps.size(), 90u);
  const std::string text = ReadWholeFile(dir.path("run/log.jsonl"));
  const TrainingLog log(dir.path("run/log.jsonl"), static_cast<int64_t>(text.size()));
  std::vector<int64_t> iterations;
  int64_t right = 0;
  for (const LogLine& line : log.lines()) {
    if (!line.loss) continue;  // of an epoch
    iterations.push_back(line.iteration);
    // What the callback got for the step is the mean that the line has.
    const TrainingProgress& step = steps[static_cast<size_t>(line.iteration) - 1];
    EXPECT_NEAR(*line.loss, step.loss, 1e-5) << line.iteration;
    EXPECT_NEAR(*line.accuracy, step.accuracy, 1e-5) << line.iteration;
    const int64_t since = iterations.size() > 1
                              ? iterations.back() - iterations[iterations.size() - 2]
                              : line.iteration;
    right += std::llround(step.accuracy * static_cast<double>(since));
    // A step has one record, so that its accuracy is 0 or 1.
    const double count = step.accuracy * static_cast<double>(since);
    EXPECT_NEAR(count, std::round(count), 1e-6) << line.iteration;
    EXPECT_LE(step.accuracy, 1);
  }
  std::vector<int64_t> want;
  for (int64_t i = 2; i <= 44; i += 2) want.push_back(i);
  want.push_back(45);
  for (int64_t i = 46; i <= 90; i += 2) want.push_back(i);
  EXPECT_EQ(iterations, want);
  ASSERT_EQ(epoch_accuracies.size(), 2u);
  EXPECT_NEAR((epoch_accuracies[0] + epoch_accuracies[1]) * 45, static_cast<double>(right), 1e-6);
  EXPECT_EQ(steps[44].share, 1);
  EXPECT_EQ(steps[44].epoch, 1);
  EXPECT_EQ(steps[45].epoch, 2);
  EXPECT_NEAR(steps[45].share, 1.0 / 45, 1e-12);
}

}  // namespace
}  // namespace caffe2rt::test::training_edges_test
