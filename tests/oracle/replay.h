#pragma once
// Replays one recorded case. No function throws. A case may crash the process; see isolate.h.

#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/device/device_type.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

// kKnownWrong: the record is wrong. kBeyondOriginal: the original does not implement the operator on the CPU, but this library does.
enum class CaseStatus {
  kPassed,
  kFailed,
  kNotImplemented,
  kNeedsHardware,
  kBeyondOriginal,
  kKnownWrong
};

// Where operators run. On other devices than the CPU, inputs are copied to the device and outputs
// back (tests/support/device_run.h).
struct ReplayTarget {
  DeviceType device = CPU;
  std::string engine;   // use this engine only; empty: the library's default
  bool native = false;  // use the library's own kernels: engine NATIVE if there is one, else ""
};

struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  std::string what;  // the difference (got, want), or the missing feature

  static CaseResult Failed(std::string what) { return {CaseStatus::kFailed, std::move(what)}; }
  static CaseResult NotImplemented(std::string what) {
    return {CaseStatus::kNotImplemented, std::move(what)};
  }
};

CaseResult ReplayOperator(const oracle::OperatorCase& recorded, const ReplayTarget& target = {});
// Runs one operator on all cases, which have the same OperatorDef, in turn: each computes what is
// recorded, whatever the operator has run on before. On the CPU.
CaseResult ReplayReused(const oracle::OperatorCases& cases);
// Runs an operator on `first` and then on `second`, which have the same OperatorDef, and another one
// on `second` alone: either both reject it, or both compute the same bits. If they reject it, the first
// one computes `first` again, as a third one does. On the CPU.
CaseResult ReplayAfter(const oracle::OperatorCase& first, const oracle::OperatorCase& second);
// Runs the operator with an output in the blob of an input. kNotImplemented if the schema does not allow it, or the
// operator rejects it. On the CPU.
CaseResult ReplayInPlace(const oracle::OperatorCase& recorded, int input, int output);
// Runs the operator on these inputs repeated along the axis: each output is what was recorded, repeated along it as often.
// kNotImplemented if an operand lacks the axis, or no values are recorded. On the CPU.
CaseResult ReplayRepeated(const oracle::OperatorCase& recorded, int axis,
                          const std::vector<int>& inputs);
// Exports the operator as a model of ONNX, imports the model and runs it. `with_weights`: all inputs but the
// first are weights of the model. kNotImplemented if it has no ONNX form. On the CPU.
CaseResult ReplayThroughOnnx(const oracle::OperatorCase& recorded, bool with_weights, int opset);
CaseResult ReplaySequence(const oracle::SequenceCase& recorded, const ReplayTarget& target = {});
CaseResult ReplayGradient(const oracle::GradientCase& recorded);
CaseResult ReplayNetGradient(const oracle::NetGradientCase& recorded);

}  // namespace caffe2rt::test
