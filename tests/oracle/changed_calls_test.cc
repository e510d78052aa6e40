// `caffe2 check` on calls that differ from recorded ones by one type, rank or size.
#include "tests/oracle/changed_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/graph/accepted_inputs.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/isolate.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::changed_calls_test {
namespace {

using testing::HasSubstr;

oracle::Blob BlobOf(const std::string& name, const std::vector<int64_t>& dims,
                    TensorProto_DataType type) {
  TensorProto tensor;
  tensor.set_data_type(type);
  int64_t count = 1;
  for (const int64_t dim : dims) {
    tensor.add_dims(dim);
    count *= dim;
  }
  for (int64_t i = 0; i < count; ++i) {
    if (type == TensorProto::FLOAT) {
      tensor.add_float_data(1);
    } else {
      tensor.add_int32_data(1);
    }
  }
  oracle::Blob blob;
  blob.set_name(name);
  blob.set_tensor(tensor.SerializeAsString());
  return blob;
}

ChangedCall Call(const std::string& op, const std::vector<oracle::Blob>& inputs) {
  ChangedCall call;
  call.call.set_op(ParseOp(op).SerializeAsString());
  for (const oracle::Blob& input : inputs) *call.call.add_input() = input;
  return call;
}

TEST(JudgeTest, ComparesTheCheckWithTheRun) {
  const std::string accuracy = "type: 'Accuracy' input: 'X' input: 'L' output: 'Y'";
  const oracle::Blob x = BlobOf("X", {2, 3}, TensorProto::FLOAT);
  const CallVerdict fine = CheckAndRun(Call(accuracy, {x, BlobOf("L", {2}, TensorProto::INT32)}));
  EXPECT_EQ(fine.check + fine.run, "");
  const CallVerdict rejected =
      CheckAndRun(Call(accuracy, {x, BlobOf("L", {3}, TensorProto::INT32)}));
  EXPECT_THAT(rejected.check, HasSubstr("elements of input 1 (labels)"));
  EXPECT_THAT(rejected.run, HasSubstr("elements of input 1 (labels)"));
  // A sum of lengths is a value.
  const ChangedCall lengths = Call("type: 'LengthsSum' input: 'X' input: 'L' output: 'Y'",
                                   {x, BlobOf("L", {1}, TensorProto::INT32)});
  EXPECT_THAT(CheckAndRun(lengths).check, HasSubstr("sum of input 1 (LENGTHS)"));
  const CallVerdict missed = CheckAndRun(lengths, KnownInputs::kShapes);
  EXPECT_TRUE(missed.missed());
  EXPECT_FALSE(missed.false_alarm());
}

TEST(ChangedCallsTest, ChangeOneTypeRankOrSize) {
  TempDir dir;
  oracle::OperatorCases cases;
  oracle::OperatorCase* const recorded = cases.add_case_();
  recorded->set_op(ParseOp("type: 'Relu' input: 'X' output: 'Y'").SerializeAsString());
  *recorded->add_input() = BlobOf("X", {2, 3}, TensorProto::FLOAT);
  dir.Write("operators/Relu.pb", cases.SerializeAsString());
  const ChangedCalls calls(dir.path());
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    const ChangedCall call = calls.Draw(&random);
    SCOPED_TRACE(call.change);
    const TensorShape shape = ShapeOfRecord(call.call.input(0));
    const std::vector<int64_t> dims(shape.dims().begin(), shape.dims().end());
    const bool same_rank = dims.size() == 2;
    const int other_sizes = same_rank ? (dims[0] != 2) + (dims[1] != 3) : 0;
    EXPECT_EQ((shape.data_type() != TensorProto::FLOAT) + !same_rank + other_sizes, 1);
    EXPECT_EQ(call.type, "Relu");
    EXPECT_EQ(call.kind, !same_rank ? "rank" : other_sizes > 0 ? "size" : "type");
  }
}

// Judges random calls in other processes, because a wrong operator may crash. A result fails if the
// check accepts what the run rejects, or the reverse.
std::vector<CaseResult> JudgeRandomCalls(uint32_t seed, int count) {
  const ChangedCalls calls(SharedPath("oracle"));
  std::mt19937 random(seed);
  std::vector<CaseEntry> entries;
  for (int i = 0; i < count; ++i) {
    ChangedCall call = calls.Draw(&random);
    const auto replay = [call] {
      const CallVerdict verdict = CheckAndRun(call);
      const std::string subject = call.type + " " + call.call.id() + ", " + call.change + ": ";
      if (verdict.missed()) return CaseResult::Failed("missed: " + subject + verdict.run);
      if (verdict.false_alarm()) return CaseResult::Failed("alarm: " + subject + verdict.check);
      return CaseResult();
    };
    entries.push_back({call.call.id(), call.type, replay});
  }
  return RunCases(entries, {});
}

// On average over the seeds.
constexpr size_t kMostMissed = 2;
constexpr int kCalls = 240;

TEST(ChangedCallsTest, CheckRejectsWhatRunRejects) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  const char* const setting = std::getenv("CAFFE2_TEST_CHANGED_CALLS");
  const uint32_t seeds = setting != nullptr ? static_cast<uint32_t>(std::atoi(setting)) : 4;
  std::vector<std::string> missed, others;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    const size_t missed_before = missed.size();
    for (const CaseResult& result : JudgeRandomCalls(seed, kCalls)) {
      if (result.status == CaseStatus::kPassed) continue;
      (result.what.starts_with("missed: ") ? missed : others).push_back(result.what);
    }
    std::cout << "seed " << seed << ": " << missed.size() - missed_before << " of " << kCalls
              << " missed" << std::endl;
  }
  EXPECT_LE(missed.size(), kMostMissed * seeds) << testing::PrintToString(missed);
  EXPECT_THAT(others, testing::IsEmpty());
}

// Returns what the table of accepted inputs lacks of a call, or "".
std::string LackingIn(const oracle::OperatorCase& call, const std::string& type) {
  for (int i = 0; i < call.input_size(); ++i) {
    const std::optional<AcceptedInput> accepted = FindAcceptedInput(type, i);
    const TensorShape shape = ShapeOfRecord(call.input(i));
    if (!accepted.has_value() || shape.data_type() == TensorProto::UNDEFINED) continue;
    const auto lacks = [](const auto& values, auto value) {
      return std::find(values.begin(), values.end(), value) == values.end();
    };
    const std::string input = MakeString(type, " ", call.id(), ": input ", i, " ran as ");
    if (lacks(accepted->types, shape.data_type())) return input + DataTypeName(shape.data_type());
    if (shape.dims_size() <= kMostTriedRank && lacks(accepted->ranks, shape.dims_size()))
      return MakeString(input, "rank ", shape.dims_size());
  }
  return "";
}

TEST(AcceptedInputsTest, HoldEveryRecordedCallAndEveryChangedOneThatRuns) {
  SKIP_WITHOUT_SHARED("oracle/operators");
  EnsureBuiltinOperators();
  const ChangedCalls calls(SharedPath("oracle"));
  std::vector<std::string> lacking;
  for (const auto& [type, recorded] : calls.recorded()) {
    for (const oracle::OperatorCase& call : recorded) {
      if (std::string what = LackingIn(call, type); !what.empty()) lacking.push_back(what);
    }
  }
  std::mt19937 random(5);
  std::vector<CaseEntry> entries;
  for (int i = 0; i < 4 * kCalls; ++i) {
    const auto replay = [call = calls.Draw(&random)] {
      const bool runs = RunError(call.call).empty();
      return CaseResult::Failed(runs ? LackingIn(call.call, call.type) : "");
    };
    entries.push_back({"", "", replay});
  }
  for (const CaseResult& result : RunCases(entries, {})) {
    if (!result.what.empty()) lacking.push_back(result.what);
  }
  EXPECT_THAT(lacking, testing::IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::changed_calls_test
