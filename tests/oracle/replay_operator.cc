// Replays one operator. Compares values, types, dims, errors and shape inference.
#include <algorithm>
#include <exception>
#include <memory>
#include <set>
#include <string>

#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/oracle/compare.h"
#include "tests/oracle/original_faults.h"
#include "tests/oracle/replay.h"
#include "tests/oracle/run_operator.h"

namespace caffe2rt::test {
namespace {

bool HasNote(const oracle::OperatorCase& recorded, const std::string& note) {
  return std::find(recorded.note().begin(), recorded.note().end(), note) != recorded.note().end();
}

// An inferred shape must be that of the actual output, or unknown. It must be known if the original
// inferred the actual shape.
std::string CompareInferred(const oracle::OperatorCase& recorded, const oracle::Inferred* inferred,
                            const oracle::Blob& output, const ShapeMap& shapes) {
  const std::string subject = "inference of \"" + output.name() + "\": ";
  const TensorShape want = ShapeOfRecord(output);
  if (want.unknown_shape()) return "";  // the output is not a tensor
  const auto found = shapes.find(output.name());
  const bool unknown = found == shapes.end() || found->second.unknown_shape();
  const std::vector<int64_t> want_dims(want.dims().begin(), want.dims().end());
  if (unknown) {
    const bool must = recorded.inference_agrees() && inferred != nullptr && !inferred->unknown();
    return must ? subject + "got unknown, want " + DimsText(want_dims) : "";
  }
  const TensorShape& got = found->second;
  const std::vector<int64_t> got_dims(got.dims().begin(), got.dims().end());
  if (!HasNote(recorded, "random_shape") && got_dims != want_dims) {
    return subject + "got " + DimsText(got_dims) + ", want " + DimsText(want_dims);
  }
  if (want.data_type() != TensorProto::UNDEFINED && got.data_type() != want.data_type()) {
    return subject + "got type " + TensorProto::DataType_Name(got.data_type()) + ", want " +
           TensorProto::DataType_Name(want.data_type());
  }
  return "";
}

std::string CheckInference(const oracle::OperatorCase& recorded, const OperatorDef& def) {
  NetDef net;
  net.set_name("case");
  *net.add_op() = def;
  ShapeMap shapes;
  for (const oracle::Blob& input : recorded.input()) shapes[input.name()] = ShapeOfRecord(input);
  const std::vector<OpShapes> ops = InferOpShapes({&net}, &shapes);
  if (recorded.throws()) return "";
  if (!ops.empty() && ops[0].failed) {
    const bool excused =
        !recorded.inference_error().empty() || HasNote(recorded, "inference_crashes");
    return excused ? "" : "inference threw: " + ops[0].problem;
  }
  for (const oracle::Blob& output : recorded.output()) {
    const oracle::Inferred* inferred = nullptr;
    for (const oracle::Inferred& candidate : recorded.inferred()) {
      if (candidate.name() == output.name()) inferred = &candidate;
    }
    const std::string difference = CompareInferred(recorded, inferred, output, shapes);
    if (!difference.empty()) return difference;
  }
  return "";
}

// On a device these operators use the device's random numbers, in the original as in this library.
bool DrawsBySeed(const std::string& type) {
  static const std::set<std::string> kTypes = {"GaussianFill", "MSRAFill", "UniformFill",
                                               "UniformIntFill", "XavierFill"};
  return kTypes.contains(type);
}

void MakeBlobs(const oracle::OperatorCase& recorded, Workspace* ws) {
  for (const oracle::Blob& blob : recorded.input()) MakeBlob(blob, ws);
  for (const oracle::Blob& blob : recorded.output_before()) MakeBlob(blob, ws);
}

// Compares a run with the recorded one. `error` is that of the run, or "".
CaseResult ResultOf(const oracle::OperatorCase& recorded, const OperatorDef& def,
                    const ReplayTarget& target, const std::string& error, const Workspace& ws) {
  if (recorded.throws()) {
    if (error.empty() && recorded.error() == "Not Implemented.") {
      return {CaseStatus::kBeyondOriginal, ""};
    }
    return error.empty() ? CaseResult::Failed("ran, want an error: " + recorded.error())
                         : CaseResult();
  }
  if (!error.empty()) return CaseResult::Failed("got an error: " + error);
  CompareRules rules;
  rules.rtol = recorded.rtol();
  rules.moments = target.device != CPU && DrawsBySeed(def.type());
  rules.values = !recorded.stochastic() && !rules.moments;
  rules.dims = !HasNote(recorded, "random_shape");
  for (const oracle::Blob& blob : recorded.output()) {
    const std::string difference = CompareBlob(blob, ws, rules);
    if (!difference.empty()) return CaseResult::Failed(difference);
  }
  return {};
}

CaseResult Run(const oracle::OperatorCase& recorded, const OperatorDef& def,
               const ReplayTarget& target) {
  Workspace ws;
  MakeBlobs(recorded, &ws);
  RunOutcome outcome;
  try {
    outcome = RunOnTarget(target, def, &ws);
  } catch (const std::exception& thrown) {
    return CaseResult::Failed(std::string("threw another exception, want EnforceNotMet: ") +
                              thrown.what());
  }
  if (outcome.excuse != CaseStatus::kPassed) return {outcome.excuse, outcome.error};
  return ResultOf(recorded, def, target, outcome.error, ws);
}

// Empties what an earlier case left, if the operator reads it.
void ForgetOutputs(const oracle::OperatorCases& cases, Workspace* ws) {
  for (const oracle::OperatorCase& recorded : cases.case_()) {
    for (const oracle::Blob& blob : recorded.output_before())
      if (Blob* const left = ws->GetBlob(blob.name())) left->Reset();
  }
}

// Runs the operator, which is created if there is none. Returns the error or "".
std::string RunAgain(const OperatorDef& def, Workspace* ws, std::unique_ptr<OperatorBase>* op) {
  try {
    if (*op == nullptr) *op = CreateOperator(def, ws);
    return (*op)->Run() ? "" : "the run returned false";
  } catch (const EnforceNotMet& thrown) {
    return thrown.message();
  }
}

}  // namespace

CaseResult ReplayReused(const oracle::OperatorCases& cases) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(cases.case_(0).op()), "the case contains no OperatorDef");
    if (!HasOperator(CPU, def.type())) return CaseResult::NotImplemented(def.type());
    Workspace ws;
    std::unique_ptr<OperatorBase> op;
    for (const oracle::OperatorCase& recorded : cases.case_()) {
      ForgetOutputs(cases, &ws);
      MakeBlobs(recorded, &ws);
      CaseResult result = ResultOf(recorded, def, {}, RunAgain(def, &ws, &op), ws);
      if (result.status == CaseStatus::kFailed && FaultOfRecord(recorded, def).empty())
        return CaseResult::Failed(recorded.id() + ": " + result.what);
    }
    return {};
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

CaseResult ReplayOperator(const oracle::OperatorCase& recorded, const ReplayTarget& target) {
  try {
    OperatorDef def;
    CAFFE_ENFORCE(def.ParseFromString(recorded.op()), "the case contains no OperatorDef");
    const std::string missing = MissingFor(target, def.type());
    if (!missing.empty()) return CaseResult::NotImplemented(missing);
    CaseResult result = Run(recorded, def, target);
    if (result.status == CaseStatus::kFailed) {
      const std::string fault = FaultOfRecord(recorded, def);
      if (!fault.empty()) return {CaseStatus::kKnownWrong, fault};
    }
    if (result.status != CaseStatus::kPassed || target.device != CPU) return result;
    const std::string difference = CheckInference(recorded, def);
    return difference.empty() ? CaseResult() : CaseResult::Failed(difference);
  } catch (const UnsupportedBlob& blob) {
    return CaseResult::NotImplemented(blob.what());
  } catch (const std::exception&) {
    return CaseResult::Failed(CurrentExceptionMessage());
  }
}

}  // namespace caffe2rt::test
