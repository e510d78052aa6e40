// The loss that is added to a net without one.
#include "caffe2_core/training/initial_weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_text.h"

namespace caffe2rt::test::initial_weights_test {
namespace {

using ::testing::ElementsAreArray;

struct LossCase {
  const char* name;
  const char* net;   // its operators
  const char* loss;  // asked for
  std::vector<std::string> want;
  const char* want_loss;
};

// Type, inputs and outputs.
std::string TextOf(const OperatorDef& op) {
  std::string text = op.type();
  for (const std::string& blob : op.input()) text += " " + blob;
  text += " >";
  for (const std::string& blob : op.output()) text += " " + blob;
  return text;
}

TrainDef NetOf(const std::string& operators) {
  TrainDef def;
  TextError error;
  EXPECT_TRUE(ParseText("name: \"n\" net { " + operators + " }", &def, &error)) << operators;
  return def;
}

class AddLossTest : public ::testing::TestWithParam<LossCase> {};

TEST_P(AddLossTest, ComparesTheOutputWithTheLabel) {
  TrainDef def = NetOf(GetParam().net);
  AddLoss(GetParam().loss, &def);
  std::vector<std::string> got;
  for (const OperatorDef& op : def.net().op()) got.push_back(TextOf(op));
  EXPECT_THAT(got, ElementsAreArray(GetParam().want));
  EXPECT_EQ(def.loss(), GetParam().want_loss);
}

INSTANTIATE_TEST_SUITE_P(
    Losses, AddLossTest,
    ::testing::Values(LossCase{"Squared",
                               R"(op { type: "Relu" input: "data" output: "y" })",
                               "squared",
                               {"Relu data > y", "SquaredL2Distance y label > distance",
                                "AveragedLoss distance > loss"},
                               "loss"},
                      LossCase{"Softmax",
                               R"(op { type: "Relu" input: "data" output: "y" })",
                               "softmax",
                               {"Relu data > y", "SoftmaxWithLoss y label > softmax loss",
                                "Accuracy softmax label > accuracy"},
                               "loss"},
                      LossCase{"SoftmaxAtTheEnd",
                               R"(op { type: "Relu" input: "data" output: "y" }
                    op { type: "Softmax" input: "y" output: "softmax" })",
                               "softmax",
                               {"Relu data > y", "SoftmaxWithLoss y label > softmax loss",
                                "Accuracy softmax label > accuracy"},
                               "loss"},
                      LossCase{"SoftmaxInPlace",
                               R"(op { type: "Relu" input: "data" output: "y" }
                    op { type: "Softmax" input: "y" output: "y" })",
                               "softmax",
                               {"Relu data > y", "SoftmaxWithLoss y label > softmax loss",
                                "Accuracy softmax label > accuracy"},
                               "loss"},
                      LossCase{"SoftmaxInside",
                               R"(op { type: "Softmax" input: "data" output: "y" }
                    op { type: "Relu" input: "y" output: "z" })",
                               "softmax",
                               {"Softmax data > y", "Relu y > z",
                                "SoftmaxWithLoss z label > softmax loss",
                                "Accuracy softmax label > accuracy"},
                               "loss"},
                      LossCase{"TakenNames",
                               R"(op { type: "Relu" input: "data" output: "loss" }
                    op { type: "Relu" input: "loss" output: "softmax" })",
                               "softmax",
                               {"Relu data > loss", "Relu loss > softmax",
                                "SoftmaxWithLoss softmax label > softmax_of_loss loss_of_loss",
                                "Accuracy softmax_of_loss label > accuracy"},
                               "loss_of_loss"},
                      LossCase{"OfTheNet",
                               R"(op { type: "AveragedLoss" input: "data" output: "mine" })",
                               "mine",
                               {"AveragedLoss data > mine"},
                               "mine"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(AddedLossTest, KeepsTheAxisOfTheSoftmaxForThePredictor) {
  TrainDef def = NetOf(R"(op { type: "FC" input: ["data", "w", "b"] output: "y" }
                          op { type: "Softmax" input: "y" output: "z" arg { name: "axis" i: 2 } })");
  for (const char* const name : {"w", "b"}) {
    ParamDef* const param = def.add_param();
    param->set_name(name);
    param->add_dims(2);
  }
  def.mutable_param(0)->add_dims(2);
  AddLoss("softmax", &def);
  EXPECT_EQ(ArgumentHelper(def.net().op(1)).GetSingleArgument<int>("axis", 1), 2);
  const NetDef predict = MakeTrainingNets(def).predict;
  ASSERT_EQ(predict.op_size(), 2);
  EXPECT_EQ(TextOf(predict.op(1)), "Softmax y > z");
  EXPECT_EQ(ArgumentHelper(predict.op(1)).GetSingleArgument<int>("axis", 1), 2);
}

TEST(AddedLossTest, WantsOneOutput) {
  TrainDef def = NetOf(R"(op { type: "Relu" input: "data" output: "a" }
                          op { type: "Relu" input: "data" output: "b" })");
  EXPECT_THROW(AddLoss("squared", &def), EnforceNotMet);
}

}  // namespace
}  // namespace caffe2rt::test::initial_weights_test
