// One step of each optimizer by hand. The net is y = w x + b with x = 3, w = 2, b = 1, label 5: y = 7,
// loss = (y - 5)^2 / 2 = 2, and the gradients are 2 * 3 = 6 of w, 2 of b.
#include "caffe2_core/training/optimizer_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/training_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::optimizer_nets_test {
namespace {

using ::testing::HasSubstr;

TrainDef LineDef(const std::string& optimizer) {
  TrainDef def;
  TextError error;
  const std::string text = R"(name: "line"
    net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
          op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
          op { type: "AveragedLoss" input: "d" output: "loss" } }
    param { name: "w" dims: [1, 1] arg { name: "value" f: 2 } }
    param { name: "b" dims: 1 arg { name: "value" f: 1 } }
    optimizer { )" + std::string(optimizer.starts_with("rate") ? "" : "rate: 0.1 ") +
                           optimizer + "}";
  EXPECT_TRUE(ParseText(text, &def, &error));
  return def;
}

void Feed(const std::string& name, float value, Workspace* ws) {
  Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(1, 1);
  *tensor->mutable_data<float>() = value;
}

struct Line {
  float w, b;
};

Line After(int steps, const std::string& optimizer) {
  const TrainingNets nets = MakeTrainingNets(LineDef(optimizer));
  Workspace ws;
  ws.RunNetOnce(nets.init);
  Feed("data", 3, &ws);
  Feed("label", 5, &ws);
  NetBase* net = ws.CreateNet(nets.train);
  for (int i = 0; i < steps; ++i) net->Run();
  return {*ws.GetBlob("w")->Get<Tensor>().data<float>(),
          *ws.GetBlob("b")->Get<Tensor>().data<float>()};
}

struct StepCase {
  const char* optimizer;
  int steps;
  float w, b;
};

class OptimizerStepTest : public ::testing::TestWithParam<StepCase> {};

TEST_P(OptimizerStepTest, GivesTheValuesByHand) {
  const Line line = After(GetParam().steps, GetParam().optimizer);
  EXPECT_NEAR(line.w, GetParam().w, 2e-5) << GetParam().optimizer;
  EXPECT_NEAR(line.b, GetParam().b, 2e-5) << GetParam().optimizer;
}

INSTANTIATE_TEST_SUITE_P(
    Types, OptimizerStepTest,
    ::testing::Values(
        // w - 0.1 * 6, b - 0.1 * 2.
        StepCase{R"(type: "sgd")", 1, 1.4f, 0.8f},
        // The moments are 0.6 and 0.2; y is then 5, the gradients are 0, and the moments 0.54 and 0.18.
        StepCase{R"(momentum: 0.9)", 1, 1.4f, 0.8f}, StepCase{R"(momentum: 0.9)", 2, 0.86f, 0.62f},
        // The step is 1.9 times the moment.
        StepCase{R"(momentum: 0.9 nesterov: true)", 1, 0.86f, 0.62f},
        // The gradient of w is 6 + 0.5 * 2; a bias has no decay.
        StepCase{R"(weight_decay: 0.5)", 1, 1.3f, 0.8f},
        // The norm of (6, 2) is sqrt(40).
        StepCase{R"(clip_norm: 1)", 1, 2 - 0.6f / std::sqrt(40.f), 1 - 0.2f / std::sqrt(40.f)},
        StepCase{R"(clip_norm: 100)", 1, 1.4f, 0.8f},
        // 0.1 * 6 / sqrt(36) and the same for 2.
        StepCase{R"(type: "adagrad")", 1, 1.9f, 0.9f},
        StepCase{R"(type: "adagrad" arg { name: "epsilon" f: 6 })", 1, 1.95f, 0.975f},
        // The step does not depend on the gradient if epsilon is small. As in Caffe2, whose Iter runs
        // first and whose Adam adds 1, the first correction is that of step 2:
        // sqrt(1 - 0.999^2) / (1 - 0.9^2) * 0.1 / sqrt(0.001) = 0.744138.
        StepCase{R"(type: "adam" arg { name: "epsilon" f: 1e-10 })", 1, 1.9255862f, 0.9255862f},
        // Mean of squares 3.6 and 0.4: 0.6 / sqrt(3.6) = 0.2 / sqrt(0.4) = 0.316228.
        StepCase{R"(type: "rmsprop" arg { name: "epsilon" f: 1e-10 })", 1, 1.683772f, 0.683772f},
        // 0.1 * sqrt(0.05) / sqrt(0.05 * 36 + 0.05) * 6, epsilon being 0.05.
        StepCase{R"(type: "adadelta" arg { name: "epsilon" f: 0.05 })", 1,
                 2 - 0.6f * std::sqrt(0.05f / 1.85f), 1 - 0.2f * std::sqrt(0.05f / 0.25f)},
        // Iteration 1 has the full rate, iteration 2 a tenth of it.
        StepCase{R"(policy: "step" policy_arg { name: "stepsize" i: 2 }
                    policy_arg { name: "gamma" f: 0 })",
                 2, 1.4f, 0.8f}));

struct ErrorCase {
  const char* optimizer;
  const char* text;
};

class OptimizerErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(OptimizerErrorTest, NamesTheProblem) {
  try {
    (void)MakeTrainingNets(LineDef(GetParam().optimizer));
    FAIL() << GetParam().optimizer;
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().text));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Errors, OptimizerErrorTest,
    ::testing::Values(
        ErrorCase{
            R"(type: "sdg")",
            "optimizer \"sdg\" is not known, want one of adadelta, adagrad, adam, rmsprop, sgd"},
        ErrorCase{R"(rate: -1)", "optimizer: rate is -1, want a number above 0"},
        ErrorCase{R"(weight_decay: -1)", "optimizer: weight_decay is -1"},
        ErrorCase{R"(momentum: 1)", "optimizer: momentum is 1, want 0 to less than 1"},
        ErrorCase{R"(type: "adam" momentum: 0.5)", "momentum does not apply to adam"},
        ErrorCase{R"(type: "adam" nesterov: true)", "nesterov does not apply to adam"}));

// Rows 0 and 2 of a table get the gradients of their rows: each 1, because the loss is the sum.
TEST(OptimizerNetsTest, UpdatesRowsOfATable) {
  const std::pair<const char*, float> cases[] = {
      {"sgd", 0.5f}, {"adagrad", 0.5f}, {"adam", 0.372069f}};
  for (const auto& [type, step] : cases) {
    TrainDef def;
    TextError error;
    ASSERT_TRUE(ParseText(
        R"(name: "table"
           net { op { type: "Gather" input: ["table", "data"] output: "rows" }
                 op { type: "SumElements" input: "rows" output: "loss" } }
           param { name: "table" dims: [3, 2] decays: false }
           input { blob: "data" } output: "rows"
           optimizer { rate: 0.5 type: ")" +
            std::string(type) + "\" }",
        &def, &error));
    const TrainingNets nets = MakeTrainingNets(def);
    Workspace ws;
    ws.RunNetOnce(nets.init);
    Tensor* data = ws.CreateBlob("data")->GetMutableTensor(CPU);
    data->Resize(2);
    data->mutable_data<int64_t>()[0] = 2;
    data->mutable_data<int64_t>()[1] = 0;
    ws.RunNetOnce(nets.train);
    const float* table = ws.GetBlob("table")->Get<Tensor>().data<float>();
    for (const int i : {0, 1, 4, 5}) EXPECT_NEAR(table[i], -step, 1e-3) << type;
    for (const int i : {2, 3}) EXPECT_EQ(table[i], 0) << type;
  }
}

}  // namespace
}  // namespace caffe2rt::test::optimizer_nets_test
