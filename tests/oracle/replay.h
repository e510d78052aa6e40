#pragma once
// Replays one recorded case and says how it went. No function throws; a case may crash, which
// isolate.h is for.

#include <string>
#include <utility>

#include "caffe2_core/device/device_type.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

enum class CaseStatus { kPassed, kFailed, kNotImplemented, kNeedsHardware };

// Where operators run. On another device than the CPU their inputs are copied there and their
// outputs back (tests/support/device_run.h).
struct ReplayTarget {
  DeviceType device = CPU;
  std::string engine;   // this one alone; empty: whatever the library takes
  bool native = false;  // the library's own kernels: engine NATIVE where there is one, else ""
};

struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  std::string what;  // what differs (got, want), or what is not there

  static CaseResult Failed(std::string what) { return {CaseStatus::kFailed, std::move(what)}; }
  static CaseResult NotImplemented(std::string what) {
    return {CaseStatus::kNotImplemented, std::move(what)};
  }
};

CaseResult ReplayOperator(const oracle::OperatorCase& recorded, const ReplayTarget& target = {});
CaseResult ReplaySequence(const oracle::SequenceCase& recorded, const ReplayTarget& target = {});
CaseResult ReplayGradient(const oracle::GradientCase& recorded);
CaseResult ReplayNetGradient(const oracle::NetGradientCase& recorded);

}  // namespace caffe2rt::test
