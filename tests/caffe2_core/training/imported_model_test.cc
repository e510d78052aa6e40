// A model of ONNX is trained: its gradients, its constants, its loss.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/import/onnx/onnx_import.h"
#include "caffe2_core/inspect/gradient_check.h"
#include "caffe2_core/io/net_weights.h"
#include "caffe2_core/training/initial_weights.h"
#include "caffe2_core/training/training_nets.h"
#include "tests/caffe2_core/import/onnx/imported_onnx.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::imported_model_test {
namespace {

std::string Node(const std::string& type, const std::vector<std::string>& inputs,
                 const std::string& output, const std::string& attributes = "") {
  std::string text = "node { op_type: '" + type + "' output: '" + output + "' ";
  for (const std::string& input : inputs) text += "input: '" + input + "' ";
  return text + attributes + "} ";
}

std::string Weights(const std::string& name, const std::vector<int>& dims, float first) {
  std::string text = "initializer { name: '" + name + "' data_type: 1 ";
  int count = 1;
  for (const int dim : dims) {
    text += "dims: " + std::to_string(dim) + " ";
    count *= dim;
  }
  for (int i = 0; i < count; ++i) {
    text +=
        "float_data: " + std::to_string(first + 0.25f * static_cast<float>(i * 7 % 5 - 2)) + " ";
  }
  return text + "} ";
}

// Attention of three places, a normalization in small operators, and the first place alone.
std::string Graph() {
  const std::string last = "attribute { name: 'axes' ints: -1 type: INTS } ";
  return Weights("q", {2, 2}, 0.1f) + Weights("k", {2, 2}, -0.2f) + Weights("v", {2, 4}, 0.3f) +
         Weights("head", {4, 1}, 0.5f) + Weights("gain", {4}, 1) + Weights("root", {}, 1.5f) +
         Weights("epsilon", {}, 1) + "initializer { name: 'first' data_type: 7 int64_data: 0 } " +
         Node("MatMul", {"x", "q"}, "xq") + Node("MatMul", {"x", "k"}, "xk") +
         Node("MatMul", {"x", "v"}, "xv") +
         Node("Transpose", {"xk"}, "xkt",
              "attribute { name: 'perm' ints: [0, 2, 1] type: INTS } ") +
         Node("MatMul", {"xq", "xkt"}, "s") + Node("Div", {"s", "root"}, "t") +
         Node("Softmax", {"t"}, "p", "attribute { name: 'axis' i: -1 type: INT } ") +
         Node("MatMul", {"p", "xv"}, "a") + Node("ReduceMean", {"a"}, "m", last) +
         Node("Sub", {"a", "m"}, "d") + Node("Mul", {"d", "d"}, "dd") +
         Node("ReduceMean", {"dd"}, "vv", last) + Node("Add", {"vv", "epsilon"}, "ve") +
         Node("Sqrt", {"ve"}, "sd") + Node("Div", {"d", "sd"}, "n") +
         Node("Mul", {"n", "gain"}, "g") +
         Node("Gather", {"g", "first"}, "c", "attribute { name: 'axis' i: 1 type: INT } ") +
         Node("MatMul", {"c", "head"}, "y") + OnnxValue("input", "x", {"N", "3", "2"}) +
         OnnxValue("output", "y", {"N", "1"});
}

TrainDef Definition() {
  OnnxModel model = ImportOnnxFromMemory(OnnxBytes(Graph()), {});
  NetWithWeights init{.net = std::move(model.init_net), .weights = std::move(model.weights)};
  RestoreWeights(&init);
  TrainDef def;
  def.set_name("model");
  *def.mutable_net() = model.predict_net;
  *def.mutable_init_net() = init.net;
  for (const char* const blob : {"x", "label"}) def.mutable_input()->add_blob(blob);
  def.mutable_optimizer()->set_rate(0.1f);
  AddLoss("squared", &def);
  return def;
}

void FeedData(Workspace* ws) {
  FeedRandom(ws, "x", {4, 3, 2}, -1, 1, 1);
  Feed<float>(ws, "label", {4, 1}, {1, -1, 0.5f, 2});
}

TEST(ImportedModelTest, WeightsHaveTheGradientsOfDifferenceQuotients) {
  TrainDef def = Definition();
  def.mutable_net()->clear_external_input();  // the label is one, too
  Workspace ws;
  ws.RunNetOnce(def.init_net());
  FeedData(&ws);
  const std::vector<std::string> weights = {"q", "k", "v", "gain", "head"};
  const std::vector<CheckedGradient> checks =
      CheckGradients(def.net(), {def.loss()}, {.wrt = weights}, &ws);
  ASSERT_EQ(checks.size(), weights.size());
  for (const CheckedGradient& check : checks) {
    EXPECT_GT(check.elements, 0) << check.blob;
    EXPECT_EQ(check.wrong, 0) << check.blob << ": " << check.worst.computed << ", want "
                              << check.worst.quotient;
  }
}

TEST(ImportedModelTest, TrainsItsWeightsAndKeepsItsConstants) {
  const TrainingNets nets = MakeTrainingNets(Definition());
  EXPECT_THAT(nets.trained, testing::UnorderedElementsAre("q", "k", "v", "gain", "head"));
  Workspace ws;
  ASSERT_TRUE(ws.RunNetOnce(nets.init));
  FeedData(&ws);
  std::vector<float> losses;
  for (int step = 0; step < 20; ++step) {
    ASSERT_TRUE(ws.RunNetOnce(nets.train));
    losses.push_back(Fetch<float>(ws, nets.loss).at(0));
  }
  EXPECT_LT(losses.back(), 0.8f * losses.front());
  EXPECT_EQ(Fetch<float>(ws, "root"), std::vector<float>{1});
  EXPECT_EQ(Fetch<float>(ws, "epsilon"), std::vector<float>{0.5f});
}

}  // namespace
}  // namespace caffe2rt::test::imported_model_test
