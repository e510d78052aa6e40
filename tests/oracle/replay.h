#pragma once
// Replays one recorded case and says how it went. No function throws; a case may crash, which
// isolate.h is for.

#include <string>

#include "oracle.pb.h"

namespace caffe2rt::test {

enum class CaseStatus { kPassed, kFailed, kNotImplemented };

struct CaseResult {
  CaseStatus status = CaseStatus::kPassed;
  std::string what;  // what differs (got, want), or what is not there

  static CaseResult Failed(std::string what) { return {CaseStatus::kFailed, std::move(what)}; }
  static CaseResult NotImplemented(std::string what) {
    return {CaseStatus::kNotImplemented, std::move(what)};
  }
};

CaseResult ReplayOperator(const oracle::OperatorCase& recorded);
CaseResult ReplaySequence(const oracle::SequenceCase& recorded);
CaseResult ReplayGradient(const oracle::GradientCase& recorded);
CaseResult ReplayNetGradient(const oracle::NetGradientCase& recorded);

}  // namespace caffe2rt::test
