// The operators of every optimizer, dense and for rows, as whole lines, and every error, whole.
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/training/optimizer_nets.h"
#include "tests/caffe2_core/training/operator_line.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::optimizer_lines_test {
namespace {

TrainedParameter Parameter(const std::string& name, bool sparse, bool decays = true) {
  TrainedParameter parameter;
  parameter.name = name;
  if (sparse) {
    parameter.gradient.indices_ = name + "_rows";
    parameter.gradient.values_ = name + "_values";
  } else {
    parameter.gradient.dense_ = name + "_grad";
  }
  parameter.decays = decays;
  return parameter;
}

using Lines = std::vector<std::string>;

// What the optimizer adds, to the init net and to the net of a step.
std::pair<Lines, Lines> LinesOf(const std::string& def,
                                const std::vector<TrainedParameter>& parameters) {
  OptimizerDef optimizer;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(def, &optimizer)) << def;
  NetDef init, train;
  AddOptimizer(optimizer, parameters, &init, &train);
  std::pair<Lines, Lines> lines;
  for (const OperatorDef& op : init.op()) lines.first.push_back(OperatorLine(op, true));
  for (const OperatorDef& op : train.op()) lines.second.push_back(OperatorLine(op, true));
  return lines;
}

const Lines kAlwaysFilled = {"ConstantFill -> optimizer_iteration shape=1, dtype=10 value=0",
                             "ConstantFill -> optimizer_one shape=1, value=1"};

Lines With(Lines lines, const Lines& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

TEST(OptimizerLinesTest, OfEveryOptimizer) {
  const std::string i = kIterationBlob, l = kLearningRateBlob,
                    rate = "LearningRate " + i + " -> " + l;
  struct Row {
    const char* optimizer;
    bool sparse;
    Lines fills;
    Lines updates;
    const char* base;
  };
  for (const Row& row :
       std::vector<Row>{{"type: 'sgd'",
                         false,
                         {},
                         {"WeightedSum w optimizer_one w_grad " + l + " -> w"},
                         "-0.5"},
                        // The sum has no arguments.
                        {"type: 'sgd' arg { name: 'epsilon' f: 0.25 }",
                         true,
                         {},
                         {"ScatterWeightedSum w optimizer_one w_rows w_values " + l + " -> w"},
                         "-0.5"},
                        {"type: 'sgd' momentum: 0.75",
                         false,
                         {"ConstantFill w -> w_momentum"},
                         {"MomentumSGDUpdate w_grad w_momentum " + l +
                          " w -> w_grad w_momentum w momentum=0.75"},
                         "0.5"},
                        {"type: 'sgd' nesterov: true",
                         false,
                         {"ConstantFill w -> w_momentum"},
                         {"MomentumSGDUpdate w_grad w_momentum " + l +
                          " w -> w_grad w_momentum w momentum=0 nesterov=1"},
                         "0.5"},
                        {"type: 'sgd' momentum: 0.75",
                         true,
                         {"ConstantFill w -> w_momentum"},
                         {"SparseMomentumSGDUpdate w_values w_momentum " + l +
                          " w w_rows -> w_values w_momentum w momentum=0.75"},
                         "0.5"},
                        {"type: 'adagrad'",
                         false,
                         {"ConstantFill w -> w_squared_sum"},
                         {"Adagrad w w_squared_sum w_grad " + l + " -> w w_squared_sum"},
                         "-0.5"},
                        {"type: 'adagrad' arg { name: 'epsilon' f: 0.25 }",
                         true,
                         {"ConstantFill w -> w_squared_sum"},
                         {"SparseAdagrad w w_squared_sum w_rows w_values " + l +
                          " -> w w_squared_sum epsilon=0.25"},
                         "-0.5"},
                        {"type: 'adadelta'",
                         false,
                         {"ConstantFill w -> w_mean_squares", "ConstantFill w -> w_squared_steps"},
                         {"Adadelta w w_mean_squares w_squared_steps w_grad " + l +
                          " -> w w_mean_squares w_squared_steps"},
                         "-0.5"},
                        {"type: 'adam'",
                         false,
                         {"ConstantFill w -> w_first_moment", "ConstantFill w -> w_second_moment"},
                         {"Adam w w_first_moment w_second_moment w_grad " + l + " " + i +
                          " -> w w_first_moment w_second_moment"},
                         "-0.5"},
                        {"type: 'adam'",
                         true,
                         {"ConstantFill w -> w_first_moment", "ConstantFill w -> w_second_moment"},
                         {"SparseAdam w w_first_moment w_second_moment w_rows w_values " + l + " " +
                          i + " -> w w_first_moment w_second_moment"},
                         "-0.5"},
                        {"type: 'rmsprop' momentum: 0.5",
                         false,
                         {"ConstantFill w -> w_mean_squares", "ConstantFill w -> w_moment"},
                         {"RmsProp w_grad w_mean_squares w_moment " + l +
                              " -> w_grad w_mean_squares w_moment momentum=0.5",
                          "WeightedSum w optimizer_one w_grad optimizer_one -> w"},
                         "-0.5"}}) {
    SCOPED_TRACE(MakeString(row.optimizer, row.sparse ? " of rows" : ""));
    const auto [init, train] = LinesOf(std::string(row.optimizer) + " rate: 0.5 policy: 'fixed'",
                                       {Parameter("w", row.sparse)});
    EXPECT_EQ(init, With(kAlwaysFilled, row.fills));
    EXPECT_EQ(train, With({"Iter " + i + " -> " + i, rate + " policy=fixed base_lr=" + row.base},
                          row.updates));
  }
}

// Decay comes before clipping, and both before the updates; each parameter has its own blobs.
TEST(OptimizerLinesTest, OfDecayAndClipping) {
  const std::string i = kIterationBlob, l = kLearningRateBlob;
  const auto [init, train] = LinesOf(
      "type: 'sgd' rate: 0.5 weight_decay: 0.25 clip_norm: 3 policy: 'step' "
      "policy_arg { name: 'stepsize' i: 7 }",
      {Parameter("w", false), Parameter("b", false, false)});
  EXPECT_EQ(init,
            With(kAlwaysFilled, {"ConstantFill -> optimizer_weight_decay shape=1, value=0.25"}));
  EXPECT_EQ(
      train,
      (Lines{"Iter " + i + " -> " + i,
             "LearningRate " + i + " -> " + l + " stepsize=7 policy=step base_lr=-0.5",
             "WeightedSum w_grad optimizer_one w optimizer_weight_decay -> w_grad",
             "SumSqrElements w_grad -> w_grad_squares", "SumSqrElements b_grad -> b_grad_squares",
             "Sum w_grad_squares b_grad_squares -> optimizer_gradient_norm",
             "Sqrt optimizer_gradient_norm -> optimizer_gradient_norm",
             "ClipTensorByScaling w_grad optimizer_gradient_norm -> w_grad threshold=3",
             "ClipTensorByScaling b_grad optimizer_gradient_norm -> b_grad threshold=3",
             "WeightedSum w optimizer_one w_grad " + l + " -> w",
             "WeightedSum b optimizer_one b_grad " + l + " -> b"}));
}

TEST(OptimizerLinesTest, OfErrors) {
  const auto error = [](const std::string& def, const std::vector<TrainedParameter>& parameters) {
    return MessageOf([&] { (void)LinesOf(def, parameters); });
  };
  const std::vector<TrainedParameter> dense = {Parameter("w", false)},
                                      rows = {Parameter("w", true)};
  const std::string sgd = "type: 'sgd' rate: 0.5 ";
  EXPECT_EQ(error("type: 'nosuch' rate: 1", dense),
            "optimizer \"nosuch\" is not known, want one of adadelta, adagrad, adam, rmsprop, sgd");
  EXPECT_EQ(
      error("type: 'momentum' rate: 1", dense),
      "optimizer \"momentum\" is not known, want one of adadelta, adagrad, adam, rmsprop, sgd");
  EXPECT_EQ(error("type: 'sgd' rate: 0", dense), "optimizer: rate is 0, want a number above 0");
  EXPECT_EQ(error("type: 'sgd' rate: -1", dense), "optimizer: rate is -1, want a number above 0");
  EXPECT_EQ(error("type: 'sgd' rate: inf", dense), "optimizer: rate is inf, want a number above 0");
  EXPECT_EQ(error("type: 'sgd' rate: nan", dense), "optimizer: rate is nan, want a number above 0");
  EXPECT_EQ(error(sgd + "weight_decay: -1", dense),
            "optimizer: weight_decay is -1, want a number above 0");
  EXPECT_EQ(error(sgd + "clip_norm: -0.5", dense),
            "optimizer: clip_norm is -0.5, want a number above 0");
  EXPECT_EQ(error(sgd + "momentum: 1", dense), "optimizer: momentum is 1, want 0 to less than 1");
  EXPECT_EQ(error(sgd + "momentum: -0.5", dense),
            "optimizer: momentum is -0.5, want 0 to less than 1");
  EXPECT_EQ(error("type: 'adam' rate: 1 momentum: 0.5", dense),
            "optimizer: momentum does not apply to adam, but to sgd and rmsprop");
  EXPECT_EQ(error("type: 'rmsprop' rate: 1 nesterov: true", dense),
            "optimizer: nesterov does not apply to rmsprop, but to sgd");
  EXPECT_EQ(
      error("type: 'rmsprop' rate: 1", rows),
      "parameter \"w\" has a gradient of rows, for which optimizer \"rmsprop\" has no operator; "
      "sgd, adagrad and adam have one");
  EXPECT_EQ(error("type: 'adadelta' rate: 1", rows),
            "parameter \"w\" has a gradient of rows, for which optimizer \"adadelta\" has no "
            "operator; sgd, adagrad and adam have one");
  EXPECT_EQ(
      error(sgd + "weight_decay: 0.5", rows),
      "parameter \"w\" has a gradient of rows, which cannot have a weight decay; set `decays: "
      "false`");
  EXPECT_EQ(error(sgd, {}),
            "net \"\" has no parameter to train: no blob that is filled has a gradient");
  NetDef net;
  EXPECT_EQ(MessageOf([&] { AddOptimizer({}, dense, nullptr, &net); }),
            "a net of AddOptimizer is null");
  EXPECT_EQ(MessageOf([&] { AddOptimizer({}, dense, &net, nullptr); }),
            "a net of AddOptimizer is null");
  EXPECT_EQ(error(sgd + "momentum: 0.99 weight_decay: 0 clip_norm: 0", dense),
            "(nothing was thrown)");
}

}  // namespace
}  // namespace caffe2rt::test::optimizer_lines_test
