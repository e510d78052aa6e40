#include "caffe2_core/runtime/net_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/proto_file.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(NetValidationTest, FindsNothingInAGoodNet) {
  EXPECT_THAT(ValidateNet(ParseNet(R"(
      external_input: "x" external_output: "y" op { type: "Relu" input: "x" output: "y" })")),
              IsEmpty());
}

TEST(NetValidationTest, TellsWhatConstructorsRefuse) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      external_input: "x" external_input: "w"
      op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" f: 3 } }
      op { type: "Conv" input: "x" input: "w" output: "b" arg { name: "kernel" i: 3 }
           arg { name: "order" s: "NHCW" } }
      op { type: "Conv" input: "x" input: "w" output: "c" arg { name: "kernel" i: 3 } })"));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_THAT(findings[0].ops, ElementsAre(0));
  EXPECT_THAT(findings[0].text, HasSubstr("operator Conv: "));
  EXPECT_THAT(findings[0].text, HasSubstr("kernel"));
  EXPECT_THAT(findings[1].ops, ElementsAre(1));
  EXPECT_THAT(findings[1].text, HasSubstr("NHCW"));
}

TEST(NetValidationTest, PassesOverWhatCaffe2sHelpersGiveToEveryOperator) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      external_input: "x" op { type: "Relu" input: "x" output: "y" arg { name: "use_cudnn" i: 1 }
        arg { name: "cudnn_exhaustive_search" i: 0 } arg { name: "ordr" s: "NCHW" } })"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("\"ordr\""));
}

TEST(NetValidationTest, JoinsTheSameFindingOfSeveralOperators) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      op { type: "Yolo" output: "a" } op { type: "Relu" input: "a" output: "b" } op { type: "Yolo" output: "c" })"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].ops, ElementsAre(0, 2));
  EXPECT_EQ(findings[0].missing_type, "Yolo");
}

TEST(NetValidationTest, PutsErrorsFirst) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      type: "dag" op { type: "LeakyRelu" input: "a" output: "b" arg { name: "wrong" i: 1 } } op { type: "Nope" output: "c" })"));
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].kind, NetFindingKind::kError);
  EXPECT_EQ(findings[1].kind, NetFindingKind::kWarning);
  EXPECT_EQ(findings[2].kind, NetFindingKind::kNote);
}

TEST(NetValidationTest, NamesDevicesThatCannotBe) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      op { type: "Relu" input: "a" output: "b" device_option { device_type: 99 } })"));
  ASSERT_FALSE(findings.empty());
  EXPECT_THAT(findings[0].text, HasSubstr("device type 99 is not known"));
}

TEST(NetValidationTest, NamesUnknownNetTypes) {
  const std::vector<NetFinding> findings =
      ValidateNet(ParseNet(R"(type: "simpel" op { type: "Relu" input: "a" output: "b" })"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("net type \"simpel\" is not known; close: simple"));
}

TEST(NetValidationTest, ReadsStepNetsThatAreText) {
  const std::vector<NetFinding> findings = ValidateNet(ParseNet(R"(
      op { type: "RecurrentNetwork" arg { name: "step_net" s: "op { type: \"Nope\" output: \"y\" }" } })"));
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].missing_type, "Nope");
  EXPECT_EQ(findings[1].path, "operator 0 (RecurrentNetwork), argument step_net: ");
}

TEST(NetValidationTest, ChecksPlans) {
  PlanDef plan;
  ParseTextProto(R"(network { name: "a" } network { name: "a" }
      execution_step { name: "s" network: "a" substep { network: "b" } only_once: true report_net: "a" })",
                 "plan", &plan);
  std::string all;
  for (const NetFinding& finding : ValidatePlan(plan)) all += finding.text + "\n";
  EXPECT_THAT(all, HasSubstr("two nets are named \"a\""));
  EXPECT_THAT(all, HasSubstr("it has both substeps and networks"));
  EXPECT_THAT(all, HasSubstr("only_once is given without should_stop_blob"));
  EXPECT_THAT(all, HasSubstr("report_net without report_interval"));
  EXPECT_THAT(all, HasSubstr("net \"b\" is not in the plan"));
}

TEST(NetValidationTest, ChecksThreadsStepsAndRacesOfPlans) {
  const auto texts = [](const std::string& text) {
    PlanDef plan;
    ParseTextProto(R"(network { name: "a" op { type: "Relu" input: "x" output: "x" } } )" + text,
                   "plan", &plan);
    std::vector<std::string> all;
    for (const NetFinding& finding : ValidatePlan(plan)) {
      EXPECT_EQ(finding.kind, NetFindingKind::kError);
      all.push_back(finding.text);
    }
    return all;
  };
  EXPECT_THAT(texts(R"(execution_step { name: "s" num_concurrent_instances: 2000
                         substep { network: "a" } })"),
              testing::ElementsAre(HasSubstr("step \"s\" runs 2000 threads at once")));
  EXPECT_THAT(texts(R"(execution_step { num_concurrent_instances: 2
                         substep { name: "t" network: "a" } })"),
              testing::ElementsAre(HasSubstr("blob \"x\" is written by step \"t\"")));
  EXPECT_THAT(texts(R"(execution_step { num_concurrent_instances: 2
                         substep { create_workspace: true network: "a" } })"),
              testing::IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test
