#include "caffe2_core/training/model_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/training/training_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::model_builder_test {
namespace {

using ::testing::ElementsAre;

std::map<std::string, std::vector<int64_t>> ShapesOfParams(const TrainDef& def) {
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const ParamDef& param : def.param())
    shapes[param.name()] = {param.dims().begin(), param.dims().end()};
  return shapes;
}

template <class T>
void Feed(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& values,
          Workspace* ws) {
  Tensor* tensor = ws->CreateBlob(name)->GetMutableTensor(CPU);
  tensor->Resize(dims);
  std::copy(values.begin(), values.end(), tensor->mutable_data<T>());
}

const Tensor& TensorIn(const Workspace& ws, const std::string& name) {
  return ws.GetBlob(name)->Get<Tensor>();
}

TEST(ModelBuilderTest, GivesEachLayerItsParameters) {
  ModelBuilder model("net");
  std::string x = model.Conv("data", "conv", 4, 8, {.kernel = 3, .pad = 1, .group = 2});
  x = model.Relu(model.SpatialBN(x, "bn", 8));
  x = model.MaxPool(x, "pool", {.kernel = 2, .stride = 2});
  x = model.AveragePool(x, "mean", {.global = true});
  EXPECT_EQ(model.FC(x, "fc", 8, 3), "fc");
  const auto shapes = ShapesOfParams(model.def());
  EXPECT_THAT(shapes.at("conv_w"), ElementsAre(8, 2, 3, 3));
  EXPECT_THAT(shapes.at("conv_b"), ElementsAre(8));
  EXPECT_THAT(shapes.at("bn_riv"), ElementsAre(8));
  EXPECT_THAT(shapes.at("fc_w"), ElementsAre(3, 8));
  EXPECT_EQ(shapes.size(), 8u);
  EXPECT_EQ(ArgumentHelper(model.def().net().op(0)).GetSingleArgument<int>("group", 0), 2);
}

// Layers without options, and what has no function of its own.
TEST(ModelBuilderTest, HasDefaultsAndAnyOperator) {
  ModelBuilder model("net");
  EXPECT_EQ(model.def().name(), "net");
  EXPECT_EQ(model.def().net().name(), "net");
  EXPECT_EQ(model.Conv("x", "c", 2, 3), "c");
  EXPECT_EQ(model.SpatialBN("c", "b", 3), "b");
  EXPECT_EQ(model.Dropout("b", "d"), "d");
  EXPECT_EQ(model.Add("d", "b", "sum"), "sum");
  EXPECT_EQ(model.Relu("sum"), "sum");
  EXPECT_EQ(model.Op("Sqr", {"sum"}, "y", {MakeArgument("a", 1)}), "y");
  OperatorDef* const split = model.AddOp("Split", {"y"}, {"p", "q"}, {MakeArgument("axis", 1)});
  split->set_name("parts");
  EXPECT_EQ(model.Param("w", {4, 5}), "w");
  EXPECT_EQ(model.Param("v", {4}, "GaussianFill", {MakeArgument("std", 2.0f)}), "v");
  EXPECT_EQ(model.Constant("k", {2}, 1.5f), "k");
  model.SetLoss("q");
  const NetDef& net = model.def().net();
  ASSERT_EQ(net.op_size(), 7);
  EXPECT_EQ(ArgumentHelper(net.op(0)).GetSingleArgument<int>("kernel", 0), 1);
  EXPECT_EQ(net.op(0).arg_size(), 1);
  EXPECT_EQ(net.op(0).input_size(), 3);  // with a bias
  EXPECT_EQ(ArgumentHelper(net.op(1)).GetSingleArgument<float>("momentum", 0), 0.9f);
  EXPECT_EQ(ArgumentHelper(net.op(2)).GetSingleArgument<float>("ratio", 0), 0.5f);
  EXPECT_EQ(net.op(3).type(), "Add");
  EXPECT_THAT(net.op(3).input(), ElementsAre("d", "b"));
  EXPECT_EQ(net.op(4).type(), "Relu");
  EXPECT_THAT(net.op(4).output(), ElementsAre("sum"));
  EXPECT_EQ(net.op(5).type(), "Sqr");
  EXPECT_EQ(net.op(5).arg_size(), 1);
  EXPECT_EQ(net.op(6).name(), "parts");
  EXPECT_THAT(net.op(6).output(), ElementsAre("p", "q"));
  EXPECT_EQ(model.def().loss(), "q");
  const int last = model.def().param_size() - 1;
  const ParamDef &k = model.def().param(last), &v = model.def().param(last - 1),
                 &w = model.def().param(last - 2);
  EXPECT_EQ(w.fill(), "ConstantFill");
  EXPECT_THAT(w.dims(), ElementsAre(4, 5));
  EXPECT_TRUE(w.trained());
  EXPECT_EQ(v.fill(), "GaussianFill");
  EXPECT_EQ(v.arg(0).f(), 2);
  EXPECT_FALSE(k.trained());
  EXPECT_EQ(ArgumentHelper(FillOf(k)).GetSingleArgument<float>("value", 0), 1.5f);
  model.Optimizer().set_rate(3);
  model.Input().set_batch_size(7);
  EXPECT_EQ(model.def().optimizer().rate(), 3);
  EXPECT_EQ(model.def().input().batch_size(), 7);
}

// One step of one unit: all weights of the gates are 0 but those of the input, which are 1. With x = 1
// all gates are logistic(1) = 0.731059, the new value is tanh(1) = 0.761594; the cell is their product,
// 0.556770, and the output 0.731059 * tanh(0.556770) = 0.369606.
TEST(ModelBuilderTest, ComputesAStepOfAnLstm) {
  ModelBuilder model("rnn");
  model.Lstm("data", "lstm", {.steps = 1, .batch_size = 1, .inputs = 1, .units = 1});
  Workspace ws;
  for (const ParamDef& param : model.def().param()) {
    OperatorDef fill = FillOf(param);
    if (param.name() == "lstm_i2h_w")
      fill = CreateOperatorDef(
          "ConstantFill", "", {}, {param.name()},
          {MakeArgument("shape", std::vector<int>{4, 1}), MakeArgument("value", 1.0f)});
    if (param.name() == "lstm_gates_w")
      fill = CreateOperatorDef(
          "ConstantFill", "", {}, {param.name()},
          {MakeArgument("shape", std::vector<int>{4, 1}), MakeArgument("value", 0.0f)});
    ws.RunOperatorOnce(fill);
  }
  Feed<float>("data", {1, 1, 1}, {1}, &ws);
  ws.RunNetOnce(model.def().net());
  EXPECT_NEAR(TensorIn(ws, "lstm_0_c").data<float>()[0], 0.556770f, 1e-5);
  EXPECT_NEAR(TensorIn(ws, "lstm").data<float>()[0], 0.369606f, 1e-5);
}

// The sum of the first inputs, 0 or 1: a task that needs the memory of earlier steps.
TEST(ModelBuilderTest, TrainsAnLstmThatKeepsItsState) {
  ModelBuilder model("parity");
  constexpr int64_t kSteps = 3, kBatch = 2;
  const std::string x = model.Lstm(
      "data", "lstm",
      {.steps = kSteps, .batch_size = kBatch, .inputs = 1, .units = 4, .keeps_state = true});
  model.SoftmaxLoss(model.FC(x, "scores", 4, 2), "label");
  model.Optimizer().set_type("adam");
  model.Optimizer().set_rate(0.05f);
  const TrainingNets nets = MakeTrainingNets(model.def());
  Workspace ws;
  ws.SetRandomSeed(1);
  ws.RunNetOnce(nets.init);
  Feed<float>("data", {kSteps, kBatch, 1}, {1, 0, 0, 0, 1, 1}, &ws);
  // The label of a step is the input of the step before.
  Feed<int32_t>("label", {kSteps * kBatch}, {1, 1, 1, 0, 0, 0}, &ws);
  NetBase* const net = ws.CreateNet(nets.train);
  net->Run();
  const float first = TensorIn(ws, "loss").data<float>()[0];
  const std::vector<float> state(TensorIn(ws, "lstm_h_state").data<float>(),
                                 TensorIn(ws, "lstm_h_state").data<float>() + 8);
  EXPECT_NE(state[0], 0);
  for (int i = 0; i < 100; ++i) net->Run();
  EXPECT_LT(TensorIn(ws, "loss").data<float>()[0], first / 4);
}

TEST(ModelBuilderTest, TrainsResidualsAndEmbeddings) {
  ModelBuilder model("words");
  model.Input().add_blob("data");
  model.Input().add_blob("label");
  const std::string x = model.Embedding("data", "embed", 5, 4);
  const std::string y = model.Add(model.FC(x, "fc", 4, 4), x, "sum");
  model.SoftmaxLoss(model.FC(y, "scores", 4, 5), "label");
  model.Optimizer().set_type("adagrad");
  model.Optimizer().set_rate(0.5f);
  const TrainingNets nets = MakeTrainingNets(model.def());
  Workspace ws;
  ws.SetRandomSeed(1);
  ws.RunNetOnce(nets.init);
  Feed<int32_t>("data", {5}, {0, 1, 2, 3, 4}, &ws);
  Feed<int32_t>("label", {5}, {1, 2, 3, 4, 0}, &ws);
  NetBase* const net = ws.CreateNet(nets.train);
  for (int i = 0; i < 60; ++i) net->Run();
  EXPECT_EQ(TensorIn(ws, "accuracy").data<float>()[0], 1);
}

}  // namespace
}  // namespace caffe2rt::test::model_builder_test
