// The replayer with cases built here, and the program with the recorded cases.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>

#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/oracle/case_file.h"
#include "tests/oracle/isolate.h"
#include "tests/oracle/original_faults.h"
#include "tests/oracle/replay.h"
#include "tests/oracle/report.h"
#include "tests/support/json.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::oracle_test {
namespace {

using testing::HasSubstr;

class OracleTestDoubleOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    CAFFE_ENFORCE_EQ(x.dim(), 1, "rank of the input");
    Tensor* y = Output(0);
    y->ResizeLike(x);
    for (int64_t i = 0; i < x.numel(); ++i) y->mutable_data<float>()[i] = 2 * x.data<float>()[i];
    return true;
  }
};
class OracleTestCrashOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { std::_Exit(7); }
};
REGISTER_CPU_OPERATOR(OracleTestDouble, OracleTestDoubleOp);
REGISTER_CPU_OPERATOR(OracleTestCrash, OracleTestCrashOp);
OPERATOR_SCHEMA(OracleTestDouble).NumInputs(1).NumOutputs(1).IdenticalTypeAndShape();
OPERATOR_SCHEMA(OracleTestCrash).NumInputs(0, 1).NumOutputs(1);

std::string Floats(const std::vector<int64_t>& dims, const std::vector<float>& values) {
  TensorProto proto;
  proto.set_data_type(TensorProto::FLOAT);
  for (const int64_t dim : dims) proto.add_dims(dim);
  for (const float value : values) proto.add_float_data(value);
  return proto.SerializeAsString();
}

oracle::OperatorCase DoubleCase(const std::vector<float>& y) {
  oracle::OperatorCase recorded;
  recorded.set_id("case");
  recorded.set_op(
      ParseOp("type: \"OracleTestDouble\" input: \"X\" output: \"Y\"").SerializeAsString());
  recorded.add_input()->set_name("X");
  recorded.mutable_input(0)->set_tensor(Floats({2}, {1, 4}));
  recorded.add_output()->set_name("Y");
  recorded.mutable_output(0)->set_tensor(Floats({static_cast<int64_t>(y.size())}, y));
  return recorded;
}

TEST(ReplayOperatorTest, AllowsTheToleranceOfTheLargestValue) {
  oracle::OperatorCase recorded = DoubleCase({2.01f, 8});
  EXPECT_THAT(ReplayOperator(recorded).what, HasSubstr("got 2, want 2.01"));
  recorded.set_rtol(0.01);
  EXPECT_EQ(ReplayOperator(recorded).status, CaseStatus::kPassed);
}

TEST(ReplayOperatorTest, ComparesDimsTypesAndErrors) {
  EXPECT_THAT(ReplayOperator(DoubleCase({2, 8, 1})).what, HasSubstr("got dims [2], want [3]"));
  oracle::OperatorCase throws = DoubleCase({2, 8});
  throws.set_throws(true);
  EXPECT_THAT(ReplayOperator(throws).what, HasSubstr("ran, want an error"));
  throws.set_error("Not Implemented.");
  EXPECT_EQ(ReplayOperator(throws).status, CaseStatus::kBeyondOriginal);
  throws.mutable_input(0)->set_tensor(Floats({1, 2}, {1, 4}));
  EXPECT_EQ(ReplayOperator(throws).status, CaseStatus::kPassed);
  throws.set_throws(false);
  EXPECT_THAT(ReplayOperator(throws).what, HasSubstr("rank of the input"));
}

TEST(ReplayOperatorTest, SkipsMissingOperators) {
  oracle::OperatorCase recorded = DoubleCase({2, 8});
  recorded.set_op(ParseOp("type: \"OracleTestNowhere\"").SerializeAsString());
  EXPECT_EQ(ReplayOperator(recorded).status, CaseStatus::kNotImplemented);
  recorded = DoubleCase({2, 8});
  recorded.mutable_input(0)->set_opaque("a queue");
  EXPECT_EQ(ReplayOperator(recorded).status, CaseStatus::kNotImplemented);
}

TEST(ReplaySequenceTest, RequiresTheErrorAtItsOperator) {
  oracle::SequenceCase recorded;
  recorded.set_net(ParseNet(R"(op { type: "OracleTestDouble" input: "X" output: "Y" }
                               op { type: "OracleTestDouble" input: "Z" output: "Y" })")
                       .SerializeAsString());
  for (const char* name : {"X", "Z"}) {
    recorded.add_input()->set_name(name);
    const std::vector<int64_t> dims =
        name[0] == 'Z' ? std::vector<int64_t>{1, 1} : std::vector<int64_t>{1};
    recorded.mutable_input()->rbegin()->set_tensor(Floats(dims, {3}));
  }
  recorded.add_output()->set_name("Y");
  recorded.mutable_output(0)->set_tensor(Floats({1}, {6}));
  EXPECT_THAT(ReplaySequence(recorded).what, HasSubstr("operator 1: got an error"));
  recorded.set_throws(true);
  recorded.set_failed_op(1);
  EXPECT_EQ(ReplaySequence(recorded).what, "");
  recorded.set_failed_op(0);
  EXPECT_THAT(ReplaySequence(recorded).what, HasSubstr("want operator 0 to fail"));
}

TEST(RunCasesTest, ReportsWhichCaseEndedTheProcessAndContinues) {
  TempDir dir;
  oracle::OperatorCases cases;
  for (int i = 0; i < 3; ++i) *cases.add_case_() = DoubleCase({2, 8});
  cases.mutable_case_(1)->set_op(
      ParseOp("type: \"OracleTestCrash\" output: \"Y\"").SerializeAsString());
  dir.Write("operators/Any.pb", cases.SerializeAsString());
  const std::vector<std::string> paths = ListCaseFiles(dir.path());
  ASSERT_EQ(paths.size(), 1u);
  const std::vector<CaseEntry> entries = ReadCaseFile(paths[0], {});
  const std::vector<CaseResult> results = RunCases(entries, {});
  ASSERT_EQ(results.size(), 3u);
  EXPECT_EQ(results[0].what + results[2].what, "");
  EXPECT_EQ(results[1].what, "ended the process with code 7");
}

// Whether a case has damaged this process.
bool damaged = false;

TEST(RunCasesTest, ACaseThatDamagesTheProcessIsOneFailure) {
  std::vector<CaseEntry> entries(4);
  for (CaseEntry& entry : entries) {
    entry.replay = [] { return damaged ? CaseResult::Failed("damaged before") : CaseResult{}; };
  }
  entries[1].replay = [] {
    damaged = true;
    return CaseResult{};
  };
  const std::vector<CaseResult> results = RunCases(
      entries, {.why_unusable = [] { return std::string(damaged ? "an illegal access" : ""); }});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[1].what, "after the case: an illegal access");
  EXPECT_EQ(results[0].what + results[2].what + results[3].what, "");
}

TEST(ReportTest, KeepsCasesApartThatADeviceMayComputeOtherwise) {
  Report report({}, {{"b", "all digits cancel"}}, true);
  report.Add({"a", "Mul", {}}, CaseResult::Failed("got 1"));
  report.Add({"b", "Mul", {}}, CaseResult::Failed("got 2"));
  std::ostringstream news;
  report.PrintNews(news);
  EXPECT_EQ(news.str(), "FAIL a Mul: got 1\ndiffers on the device b Mul: all digits cancel\n");
  EXPECT_EQ(report.failed(), 1);
  EXPECT_EQ(report.Summary(),
            "0 passed, 1 failed, 0 not implemented, 0 need hardware, "
            "1 differ on the device");
}

TEST(ReportTest, KeepsCasesWhereTheOriginalIsWrongApart) {
  TempDir dir;
  Report report(ReadKnownWrong(dir.Write("known.tsv", "# comment\nb\tit divides by zero\n")));
  report.Add({"a", "Conv", {}}, {});
  report.Add({"b", "Conv", {}}, CaseResult::Failed("1, want 2"));
  report.Add({"c", "FC", {}}, CaseResult::NotImplemented("operator FC"));
  EXPECT_EQ(report.Summary(), "1 passed, 0 failed, 1 not implemented");
  report.Add({"d", "FC", {}}, CaseResult::Failed("3, want 4"));
  EXPECT_EQ(report.Summary(), "1 passed, 1 failed, 1 not implemented");
  report.Add({"e", "FC", {}}, {CaseStatus::kBeyondOriginal, ""});
  EXPECT_EQ(report.Summary(),
            "1 passed, 1 failed, 1 not implemented, 1 not implemented by the original");
  std::ostringstream out;
  report.PrintNews(out);
  EXPECT_EQ(out.str(), "known wrong b Conv: it divides by zero\nFAIL d FC: 3, want 4\n");
}

TEST(ReportTest, PrintsCountsAndFailuresAsJson) {
  Report report({{"b", "it divides by zero"}}, {}, true);
  report.Add({"a", "Conv", {}}, {});
  report.Add({"b", "Conv", {}}, CaseResult::Failed("1, want 2"));
  report.Add({"c\xff", "FC", {}}, CaseResult::Failed("a \"quoted\"\n name"));
  std::ostringstream out;
  report.PrintJson(out);
  EXPECT_EQ(JsonAt(out.str(), "/failed"), "1");
  EXPECT_EQ(JsonAt(out.str(), "/summary"),
            R"("1 passed, 1 failed, 0 not implemented, 0 need hardware")");
  EXPECT_EQ(JsonAt(out.str(), "/types/Conv"),
            R"({"passed":1,"failed":0,"not_implemented":0,"known_wrong":1,"need_hardware":0,)"
            R"("not_implemented_by_original":0})");
  EXPECT_EQ(JsonAt(out.str(), "/cases/0"),
            R"({"result":"known wrong","id":"b","type":"Conv","what":"it divides by zero"})");
  EXPECT_EQ(JsonAt(out.str(), "/cases/1"),
            "{\"result\":\"failed\",\"id\":\"c\xef\xbf\xbd\",\"type\":\"FC\","
            R"("what":"a \"quoted\"\n name"})");
}

TEST(CaffeOracleTest, PassesTheRecordedCases) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  const std::string command =
      BuildPath(CAFFE2_ORACLE_PROGRAM) + " '" + SharedPath("oracle") + "' 2>&1";
  FILE* pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof(buffer), pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  EXPECT_EQ(WEXITSTATUS(status), 0) << output;
  EXPECT_THAT(output, HasSubstr(" passed, 0 failed, "));
}

TEST(FaultOfRecordTest, RecognizesCasesByArgumentsAndInputs) {
  struct Row {
    const char* op;
    std::vector<int64_t> x;
    TensorProto::DataType type_of_x;
    bool is_wrong;
  };
  const char* const conv = "type: 'ConvGradient' input: 'X' input: 'W' input: 'dY' ";
  const std::string nhwc = std::string(conv) + "arg { name: 'order' s: 'NHWC' }";
  const char* const slice = "type: 'SliceGradient' input: 'X' input: 'dY'";
  for (const Row& row : {Row{nhwc.c_str(), {1, 4, 5, 4, 2}, TensorProto::FLOAT, true},
                         {nhwc.c_str(), {1, 4, 4, 5, 2}, TensorProto::FLOAT, false},
                         {nhwc.c_str(), {1, 4, 5, 2}, TensorProto::FLOAT, false},
                         {conv, {1, 4, 5, 4, 2}, TensorProto::FLOAT, false},
                         {slice, {2}, TensorProto::INT64, true},
                         {slice, {2}, TensorProto::FLOAT, false}}) {
    oracle::OperatorCase recorded;
    TensorProto x, dy;
    for (const int64_t dim : row.x) x.add_dims(dim);
    x.set_data_type(row.type_of_x);
    dy.set_data_type(TensorProto::FLOAT);
    for (const auto& [name, tensor] : {std::pair{"X", &x}, {"dY", &dy}}) {
      oracle::Blob* const blob = recorded.add_input();
      blob->set_name(name);
      blob->set_tensor(tensor->SerializeAsString());
    }
    EXPECT_EQ(!FaultOfRecord(recorded, ParseOp(row.op)).empty(), row.is_wrong)
        << row.op << testing::PrintToString(row.x);
  }
}

// Whether the record of an operator is known to be wrong. Its inputs are integers I and three floats X.
bool IsWrong(const std::string& op, const std::vector<int32_t>& integers) {
  TensorProto index, data;
  index.set_data_type(TensorProto::INT32);
  index.add_dims(static_cast<int64_t>(integers.size()));
  for (const int32_t i : integers) index.add_int32_data(i);
  data.set_data_type(TensorProto::FLOAT);
  data.add_dims(3);
  oracle::OperatorCase recorded;
  for (const auto& [name, tensor] : {std::pair("I", &index), std::pair("X", &data)}) {
    oracle::Blob* blob = recorded.add_input();
    blob->set_name(name);
    blob->set_tensor(tensor->SerializeAsString());
  }
  return !FaultOfRecord(recorded, ParseOp(op)).empty();
}

TEST(FaultOfRecordTest, RecognizesGradientsOfSegmentsThatAreCutOff) {
  for (const std::string type : {"PackSegments", "UnpackSegments"}) {
    const std::string op = "type: '" + type + "' input: 'I' input: 'X'";
    const std::string cut = " arg { name: 'max_length' i: 2 }", gradient = " is_gradient_op: true";
    EXPECT_TRUE(IsWrong(op + cut + gradient, {1, 3}));
    EXPECT_FALSE(IsWrong(op + cut + gradient, {1, 2}));
    EXPECT_FALSE(IsWrong(op + gradient, {1, 3}));
    EXPECT_FALSE(IsWrong(op + cut, {1, 3}));
  }
}

TEST(FaultOfRecordTest, RecognizesIndicesThatAreNoPermutation) {
  const char* const forward = "type: 'BatchPermutation' input: 'X' input: 'I'";
  const char* const gradient = "type: 'BatchPermutationGradient' input: 'I' input: 'X'";
  for (const char* const op : {forward, gradient}) {
    EXPECT_FALSE(IsWrong(op, {2, 0, 1}));
    EXPECT_TRUE(IsWrong(op, {2, 0, 3}));
    EXPECT_TRUE(IsWrong(op, {2, -1, 1}));
  }
  EXPECT_FALSE(IsWrong(forward, {2, 0, 2}));
  EXPECT_TRUE(IsWrong(gradient, {2, 0, 2}));
  EXPECT_FALSE(IsWrong(gradient, {2, 0, 1, 1}));  // the last one is not used
}

}  // namespace
}  // namespace caffe2rt::test::oracle_test
