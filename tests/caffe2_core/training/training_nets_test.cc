#include "caffe2_core/training/training_nets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/training/model_builder.h"

namespace caffe2rt::test::training_nets_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::string> TypesOf(const NetDef& net) {
  std::vector<std::string> types;
  for (const OperatorDef& op : net.op()) types.push_back(op.type());
  return types;
}

ModelBuilder ConvNet() {
  ModelBuilder model("small");
  std::string x = model.Conv("data", "conv", 1, 4, {.kernel = 3, .bias = false});
  x = model.Relu(model.SpatialBN(x, "bn", 4));
  x = model.Dropout(x, "drop", 0.25f);
  model.SoftmaxLoss(model.FC(x, "fc", 16, 3), "label");
  return model;
}

TEST(TrainingNetsTest, LeavesRunningStatisticsOutOfTheTrainedParameters) {
  const TrainingNets nets = MakeTrainingNets(ConvNet().def());
  EXPECT_THAT(nets.trained, UnorderedElementsAre("conv_w", "bn_s", "bn_b", "fc_w", "fc_b"));
  EXPECT_THAT(nets.parameters,
              UnorderedElementsAre("conv_w", "bn_s", "bn_b", "bn_rm", "bn_riv", "fc_w", "fc_b"));
}

TEST(TrainingNetsTest, TheTestNetComputesAsInUse) {
  const TrainingNets nets = MakeTrainingNets(ConvNet().def());
  for (const OperatorDef& op : nets.test.op()) {
    if (op.type() != "SpatialBN" && op.type() != "Dropout") continue;
    EXPECT_TRUE(GetFlagArgument(op, "is_test")) << op.type();
    EXPECT_EQ(op.output_size(), 1) << op.type();
  }
  EXPECT_THAT(TypesOf(nets.test), ElementsAre("Conv", "SpatialBN", "Relu", "Dropout", "FC",
                                              "SoftmaxWithLoss", "Accuracy"));
}

TEST(TrainingNetsTest, SetsArgumentsThatTheNetLeavesOpen) {
  TrainDef def;
  TextError parse_error;
  ASSERT_TRUE(ParseText(R"(name: "open"
      net { op { type: "Conv" input: ["data", "w"] output: "c" arg { name: "kernel" i: 3 } }
            op { type: "Conv" input: ["c", "v"] output: "e" arg { name: "kernel" i: 1 }
                 arg { name: "deterministic" i: 0 } }
            op { type: "Dropout" input: "e" output: "d" arg { name: "ratio" f: 0.5 } }
            op { type: "SquaredL2Distance" input: ["d", "label"] output: "l" }
            op { type: "AveragedLoss" input: "l" output: "loss" } }
      param { name: "w" dims: [2, 1, 3, 3] } param { name: "v" dims: [1, 2, 1, 1] } )",
                        &def, &parse_error));
  const TrainingNets nets = MakeTrainingNets(def);
  const OperatorDef &first = nets.train.op(0), &second = nets.train.op(1);
  EXPECT_TRUE(GetFlagArgument(first, "deterministic"));
  EXPECT_FALSE(GetFlagArgument(second, "deterministic"));
  const OperatorDef& dropout = nets.train.op(2);
  EXPECT_FALSE(GetFlagArgument(dropout, "is_test", true));
  EXPECT_THAT(dropout.output(), ElementsAre("d", "d_mask"));
  EXPECT_TRUE(GetFlagArgument(nets.test.op(2), "is_test"));
  EXPECT_THAT(nets.test.op(2).output(), ElementsAre("d"));
}

TEST(TrainingNetsTest, PredictsWhatIsComparedWithTheLabel) {
  const TrainingNets nets = MakeTrainingNets(ConvNet().def());
  EXPECT_THAT(nets.outputs, ElementsAre("softmax"));
  EXPECT_THAT(TypesOf(nets.predict),
              ElementsAre("Conv", "SpatialBN", "Relu", "Dropout", "FC", "Softmax"));
  EXPECT_EQ(nets.predict.external_input(0), "data");

  ModelBuilder regression("line");
  regression.SquaredLoss(regression.FC("data", "y", 2, 1), "label");
  const TrainingNets line = MakeTrainingNets(regression.def());
  EXPECT_THAT(line.outputs, ElementsAre("y"));
  EXPECT_THAT(TypesOf(line.predict), ElementsAre("FC"));
}

struct ErrorCase {
  std::string def;
  const char* text;
};

class TrainingNetsErrorTest : public ::testing::TestWithParam<ErrorCase> {};

TEST_P(TrainingNetsErrorTest, NamesTheProblem) {
  TrainDef def;
  TextError parse_error;
  ASSERT_TRUE(ParseText("name: \"bad\" " + GetParam().def, &def, &parse_error));
  try {
    (void)MakeTrainingNets(def);
    FAIL() << GetParam().def;
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(), HasSubstr(GetParam().text));
  }
}

const char kLine[] = R"(
    net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
          op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
          op { type: "AveragedLoss" input: "d" output: "loss" } } )";
const char kWeight[] = R"(param { name: "w" dims: [1, 2] } )";
const char kBias[] = R"(param { name: "b" dims: 1 } )";

INSTANTIATE_TEST_SUITE_P(
    Errors, TrainingNetsErrorTest,
    ::testing::Values(
        ErrorCase{"", "has no net: field `net` has no operators"},
        ErrorCase{
            std::string(kLine) + kWeight,
            "reads blob \"b\", which is neither a parameter nor one of the inputs data, label"},
        ErrorCase{std::string(kLine) + kWeight + kBias + R"(param { name: "c" dims: 1 })",
                  "parameter \"c\" is not read by the net; it reads data, w, b, label"},
        ErrorCase{std::string(kLine) + kWeight + kBias + R"(param { name: "w" dims: 1 })",
                  "parameter \"w\" is filled twice"},
        ErrorCase{std::string(kLine) + kWeight + kBias + R"(loss: "lost")",
                  "no operator of the net writes the loss \"lost\""},
        ErrorCase{std::string(kLine) + kWeight + kBias + R"(accuracy: "acc")",
                  "no operator of the net writes the accuracy \"acc\""},
        ErrorCase{std::string(kLine) + kWeight + kBias + R"(output: "z")",
                  "no operator of the net writes the output \"z\" of the predictor"},
        ErrorCase{std::string(kLine) + R"(param { name: "w" dims: [1, 2] trained: false }
                             param { name: "b" dims: 1 trained: false })",
                  "has no parameter to train"}));

}  // namespace
}  // namespace caffe2rt::test::training_nets_test
