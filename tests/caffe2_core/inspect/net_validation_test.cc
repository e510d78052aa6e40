#include "caffe2_core/inspect/net_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/inspect/argument_problems.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/sanitizers.h"

namespace caffe2rt::test::net_validation_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// A user's operator that requests file access in its constructor.
class OpensInConstructorOp final : public Operator<CPUContext> {
 public:
  OpensInConstructorOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    ws->file_access().CheckRead(GetSingleArgument<std::string>("file", ""));
  }
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(OpensInConstructor, OpensInConstructorOp);
OPERATOR_SCHEMA(OpensInConstructor).Arg("file", "to read").AccessesFiles();

TEST(NetValidationTest, MakesOperatorsWithoutAccessToFiles) {
  const std::vector<NetFinding> findings = ValidateNet(
      ParseNet(R"(op { type: "OpensInConstructor" arg { name: "file" s: "/etc/passwd" } })"));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("a net may not read \"/etc/passwd\""));
}

class NeedsMemoryInConstructorOp final : public Operator<CPUContext> {
 public:
  NeedsMemoryInConstructorOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws) {
    throw OutOfMemory(__FILE__, __LINE__, "", "out of CPU memory");
  }
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(NeedsMemoryInConstructor, NeedsMemoryInConstructorOp);
OPERATOR_SCHEMA(NeedsMemoryInConstructor);

TEST(NetValidationTest, DoesNotReportTheEndOfMemoryAsAFaultOfTheNet) {
  const NetDef net = ParseNet(R"(op { type: "NeedsMemoryInConstructor" })");
  EXPECT_THROW((void)ValidateNet(net), OutOfMemory);
}

TEST(NetValidationTest, ChecksNetsInArguments) {
  const NetDef net = ParseNet(R"(op { type: "Do" arg { name: "one" n { op { type: "NoSuchOne" } } }
      arg { name: "several" nets { op { type: "Relu" input: "x" output: "y" } }
            nets { op { type: "NoSuchTwo" } } } })");
  std::vector<std::string> texts;
  for (const NetFinding& finding : ValidateNet(net)) texts.push_back(finding.text);
  EXPECT_THAT(texts, Contains(HasSubstr("NoSuchOne")));
  EXPECT_THAT(texts, Contains(HasSubstr("NoSuchTwo")));
}

// Findings are sought 64 nets deep. Blobs of nested nets may be filled by the nets around them.
TEST(NetValidationTest, ChecksNetsInNetsUpToADepth) {
  const auto texts_of = [](const NetDef& net) {
    std::vector<std::string> texts;
    for (const NetFinding& finding : ValidateNet(net)) texts.push_back(finding.path + finding.text);
    return texts;
  };
  for (const int levels : {0, 1, 2, 3, kMaxNetDepth, kMaxNetDepth + 1}) {
    NetDef net = ParseNet(R"(op { type: "NoSuchInner" input: "unknown" output: "y" })");
    std::string path;
    for (int i = 0; i < levels; ++i) {
      NetDef outer = ParseNet(R"(op { type: "NoSuchOuter" })");
      *outer.mutable_op(0)->add_arg() = MakeArgument("a", net);
      net = std::move(outer);
      path += "operator 0 (NoSuchOuter), argument a: ";
    }
    const auto inner = HasSubstr("NoSuchInner");
    const std::vector<std::string> texts = texts_of(net);
    if (levels <= kMaxNetDepth) {
      EXPECT_THAT(texts, Contains(inner)) << levels;
      EXPECT_THAT(texts, Contains(testing::AllOf(testing::StartsWith(path), inner))) << levels;
    } else {
      EXPECT_THAT(texts, Not(Contains(inner)));
    }
  }
  const std::string reads = R"(op { type: "Relu" input: "unknown" output: "y" })";
  EXPECT_THAT(texts_of(ParseNet("external_input: 'x' " + reads)),
              ElementsAre(HasSubstr("Source for input unknown is unknown")));
  EXPECT_THAT(
      texts_of(ParseNet("op { type: 'NoSuchOuter' arg { name: 'a' n { external_input: 'x' " +
                        reads + " } } }")),
      Not(Contains(HasSubstr("Source for input"))));
}

TEST(NetValidationTest, FindsNothingInAGoodNet) {
  EXPECT_THAT(ValidateNet(ParseNet(R"(
      external_input: "x" external_output: "y" op { type: "Relu" input: "x" output: "y" })")),
              IsEmpty());
}

TEST(NetValidationTest, ReportsWhatConstructorsReject) {
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

// A user's operator whose checks are known to its constructor alone.
class ChecksInConstructorOp final : public Operator<CPUContext> {
 public:
  ChecksInConstructorOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    const int rows = GetSingleArgument<int>("rows", 1),
              columns = GetSingleArgument<int>("columns", 1);
    CAFFE_ENFORCE(rows > 0, "argument rows is ", rows, ", want above 0");
    CAFFE_ENFORCE(columns % rows == 0, "argument columns is ", columns,
                  ", want a multiple of rows");
    CAFFE_ENFORCE(GetSingleArgument<std::string>("mode", "a") == "a", "argument mode, want a");
    CAFFE_ENFORCE(HasArgument("rows") || !HasArgument("strict"), "argument strict needs rows");
  }
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(ChecksInConstructor, ChecksInConstructorOp);
OPERATOR_SCHEMA(ChecksInConstructor)
    .Arg("rows", "rows")
    .Arg("columns", "columns")
    .Arg("mode", "mode")
    .Arg("strict", "strict");

std::vector<std::string> ProblemsOf(const std::string& args) {
  std::vector<std::string> texts;
  for (const NetFinding& finding :
       ValidateNet(ParseNet("op { type: \"ChecksInConstructor\" " + args + " }"))) {
    EXPECT_EQ(finding.kind, NetFindingKind::kError) << finding.text;
    texts.push_back(finding.text);
  }
  return texts;
}

TEST(NetValidationTest, ReportsAllErrorsOfAConstructor) {
  EXPECT_THAT(
      ProblemsOf(R"(arg { name: "mode" s: "b" } arg { name: "columns" i: 7 }
                            arg { name: "rows" i: 2 })"),
      ElementsAre("operator ChecksInConstructor: argument columns is 7, want a multiple of rows",
                  "operator ChecksInConstructor: argument mode, want a"));
  // Without the wrong argument, another one would be an error.
  EXPECT_THAT(ProblemsOf(R"(arg { name: "rows" i: 0 } arg { name: "strict" i: 1 })"),
              ElementsAre("operator ChecksInConstructor: argument rows is 0, want above 0"));
}

// A user's operator whose arguments have no valid default.
class HasNoDefaultsOp final : public Operator<CPUContext> {
 public:
  HasNoDefaultsOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    const int kernel = GetSingleArgument<int>("kernel", 0);
    CAFFE_ENFORCE_GE(kernel, 1, "kernel");
    const auto fraction = GetSingleArgument<float>("fraction", 0);
    CAFFE_ENFORCE(fraction > 0 && fraction < 1, "argument fraction is ", fraction);
    for (const int stride : GetRepeatedArgument<int>("strides", {0}))
      CAFFE_ENFORCE_GE(stride, 1, "strides");
  }
  bool RunOnDevice() override { return true; }
};
REGISTER_CPU_OPERATOR(HasNoDefaults, HasNoDefaultsOp);
OPERATOR_SCHEMA(HasNoDefaults)
    .Arg("kernel", "kernel")
    .Arg("fraction", "fraction")
    .Arg("strides", "strides");

TEST(NetValidationTest, ReportsErrorsBehindArgumentsWithoutAValidDefault) {
  std::vector<std::string> texts;
  for (const NetFinding& finding : ValidateNet(ParseNet(
           R"(op { type: "HasNoDefaults" arg { name: "strides" ints: 2 ints: -2 }
                   arg { name: "fraction" f: 7 } arg { name: "kernel" i: -1 } })"))) {
    texts.push_back(finding.text);
  }
  EXPECT_THAT(texts, ElementsAre("operator HasNoDefaults: kernel: got -1, want at least 1",
                                 "operator HasNoDefaults: argument fraction is 7",
                                 "operator HasNoDefaults: strides: got -2, want at least 1"));
}

// The constructor demands each argument of the list, in order, with the one value that it accepts.
ArgumentProblems::Create Demands(const std::vector<Argument>& wanted) {
  return [wanted](const OperatorDef& op) {
    for (const Argument& want : wanted) {
      const Argument* const has = GetArgumentPtr(op, want.name());
      CAFFE_ENFORCE(has != nullptr, "argument ", want.name(), " is missing");
      CAFFE_ENFORCE(has->ShortDebugString() == want.ShortDebugString(), "argument ", want.name(),
                    " is wrong");
    }
  };
}

// Behind an argument of which only `valid` is accepted, the error of another one is found if `valid`
// is among the values that are tried.
TEST(NetValidationTest, TriesOnesAndHalvesInPlaceOfArguments) {
  struct Case {
    std::string wrong, valid;
    bool is_tried;
  };
  const Case cases[] = {
      {"f: 7", "f: 1", true},
      {"f: 7", "f: 0.5", true},
      {"f: 7", "f: 2", false},
      {"floats: 7 floats: 8", "floats: 1 floats: 1", true},
      {"floats: 7 floats: 8", "floats: 0.5 floats: 0.5", true},
      {"floats: 7 floats: 8", "floats: 1 floats: 2", false},
      {"i: 7", "i: 1", true},
      {"i: 7", "i: 2", false},
      {"ints: 7 ints: 8", "ints: 1 ints: 1", true},
      {"ints: 7 ints: 8", "ints: 1 ints: 2", false},
      {"s: \"a\"", "s: \"b\"", false},
  };
  for (const Case& c : cases) {
    const OperatorDef op = ParseOp(
        "type: \"Any\" arg { name: \"hidden\" i: 9 } "
        "arg { name: \"first\" " +
        c.wrong + " }");
    const OperatorDef want =
        ParseOp("arg { name: \"first\" " + c.valid + " } " + "arg { name: \"hidden\" i: 1 }");
    const auto problems = ArgumentProblems().Of(nullptr, op, "argument first is wrong",
                                                Demands({want.arg(0), want.arg(1)}));
    if (c.is_tried) {
      EXPECT_THAT(problems, ElementsAre("argument first is wrong", "argument hidden is wrong"))
          << c.valid;
    } else {
      EXPECT_THAT(problems, Not(Contains("argument hidden is wrong"))) << c.valid;
    }
  }
}

TEST(NetValidationTest, MakesNoOperatorsOfMuchData) {
  for (const bool much : {false, true}) {
    OperatorDef op = ParseOp(R"(arg { name: "first" i: 7 } arg { name: "hidden" i: 7 })");
    op.add_arg()->set_s(std::string(much ? 4'000'000 : 200'000, 'x'));
    const OperatorDef want = ParseOp(R"(arg { name: "first" i: 1 } arg { name: "hidden" i: 1 })");
    const auto problems = ArgumentProblems().Of(nullptr, op, "argument first is wrong",
                                                Demands({want.arg(0), want.arg(1)}));
    EXPECT_EQ(problems.size(), much ? 1u : 2u);
  }
}

TEST(NetValidationTest, EndsOnManyBrokenOperators) {
  const int broken = kHasAddressSanitizer ? 200 : 2000;
  NetDef net = ParseNet(R"(op { type: "ChecksInConstructor" arg { name: "rows" i: 0 } })");
  for (int i = 0; i < 200; ++i) *net.mutable_op(0)->add_arg() = MakeArgument(MakeString("a", i), i);
  for (int i = 0; i < broken; ++i) *net.add_op() = net.op(0);
  EXPECT_FALSE(ValidateNet(net).empty());
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
      type: "rnn" op { type: "LeakyRelu" input: "a" output: "b" arg { name: "wrong" i: 1 } } op { type: "Nope" output: "c" })"));
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

TEST(NetValidationTest, SuggestsNamesForTheFirstOfManyUnknownTypes) {
  NetDef net;
  for (int i = 0; i < 5000; ++i) {
    net.add_op()->set_type(MakeString("ConvTransposed", i));
  }
  const std::vector<NetFinding> findings = ValidateNet(net);
  ASSERT_EQ(findings.size(), 5000u);
  EXPECT_THAT(findings.front().text, HasSubstr("close: "));
  EXPECT_EQ(findings.back().text, "operator type \"ConvTransposed4999\" is not known");
}

TEST(NetValidationTest, SuggestsNamesForTheFirstOfManyUnknownNets) {
  PlanDef plan;
  ExecutionStep* step = plan.add_execution_step();
  for (int i = 0; i < 3000; ++i) {
    plan.add_network()->set_name(MakeString("network number ", i));
    step->add_network(MakeString("network mumber ", i));
  }
  const std::vector<NetFinding> findings = ValidatePlan(plan);
  ASSERT_EQ(findings.size(), 3000u);
  EXPECT_THAT(findings.front().text, HasSubstr("close: "));
  EXPECT_THAT(findings.back().text, ::testing::Not(HasSubstr("close: ")));
}

// If every finding repeated a long name, the findings would be many times larger than the file.
TEST(NetValidationTest, ShortensTheNamesThatFindingsRepeat) {
  const std::string long_name(100000, 'n');
  NetDef net;
  net.set_name(long_name);
  net.add_external_input("x");
  OperatorDef* op = net.add_op();
  op->set_type(long_name);
  for (int i = 0; i < 200; ++i) op->add_input(MakeString("lost", i));
  Argument* arg = op->add_arg();
  arg->set_name(long_name);
  for (int i = 0; i < 200; ++i) arg->mutable_n()->add_op()->set_type(MakeString("Nope", i));
  PlanDef plan;
  *plan.add_network() = net;
  plan.add_execution_step()->set_name(long_name);
  for (int i = 0; i < 200; ++i) plan.mutable_execution_step(0)->add_network(MakeString("no", i));
  size_t bytes = 0;
  for (const NetFinding& finding : ValidatePlan(plan)) {
    bytes += finding.path.size() + finding.text.size();
  }
  EXPECT_LT(bytes, 5 * long_name.size());
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

// Another implementation replaces an engine that does not exist, but for operators that communicate.
TEST(NetValidationTest, EnginesOfCommunicationAreNotReplaced) {
  const auto notes = [](const std::string& op) {
    std::vector<std::string> texts;
    for (const NetFinding& finding : ValidateNet(ParseNet("op { " + op + " engine: \"NOPE\" }"))) {
      if (finding.text.find("another one runs") != std::string::npos) texts.push_back(finding.text);
    }
    return texts;
  };
  EXPECT_THAT(notes(R"(type: "Relu" input: "x" output: "y")"),
              testing::ElementsAre(
                  "engine \"NOPE\" has no implementation on the device CPU: another one runs"));
  EXPECT_THAT(notes(R"(type: "Allreduce" input: "w" input: "x" output: "x")"), testing::IsEmpty());
  EXPECT_THAT(notes(R"(type: "Barrier" input: "w")"), testing::IsEmpty());
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
}  // namespace caffe2rt::test::net_validation_test
