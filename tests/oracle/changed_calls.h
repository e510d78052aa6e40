#pragma once
// Calls of operators that differ from recorded ones by the element type, the rank or one size of an
// input. They measure `caffe2 check`: it should reject a call if and only if the operator does.
//
//   const ChangedCalls calls(SharedPath("oracle"));
//   std::mt19937 random(1);
//   const CallVerdict verdict = CheckAndRun(calls.Draw(&random));

#include <map>
#include <random>
#include <string>
#include <vector>

#include "caffe2rt/caffe2.pb.h"
#include "oracle.pb.h"

namespace caffe2rt::test {

struct ChangedCall {
  oracle::OperatorCase call;
  std::string type;    // the operator type
  std::string kind;    // "type", "rank" or "size"
  std::string change;  // such as "input 1: float [2, 3] -> int64 [2, 3]"
};

class ChangedCalls {
 public:
  // Reads the recorded calls that succeed, of each operator type with an input tensor. THROWS if
  // the folder cannot be read.
  explicit ChangedCalls(const std::string& folder);

  // A call of a random operator type.
  ChangedCall Draw(std::mt19937* random) const;

  // The recorded calls by operator type.
  const std::map<std::string, std::vector<oracle::OperatorCase>>& recorded() const {
    return cases_;
  }

 private:
  // A call of the operator type, with `type` empty if the drawn input cannot change in the drawn way.
  ChangedCall DrawOf(const std::string& type, std::mt19937* random) const;

  std::map<std::string, std::vector<oracle::OperatorCase>> cases_;
};

// The recorded call with other dims and another element type of an input. Elements keep their values
// as far as the type can hold them.
oracle::OperatorCase WithInput(const oracle::OperatorCase& call, int input,
                               const std::vector<int64_t>& dims, TensorProto_DataType type);

std::vector<int64_t> DimsOf(const TensorProto& tensor);

// The tensor of an input, of a quantized one its elements. Without an element type if the input is
// no tensor.
TensorProto RecordedTensor(const oracle::Blob& blob);

// Runs the call. Returns the operator's error, or "". THROWS what is not an EnforceNotMet.
std::string RunError(const oracle::OperatorCase& call);

struct CallVerdict {
  std::string check;  // what `caffe2 check` reports; empty if nothing
  std::string run;    // the error of the operator; empty if it ran

  bool missed() const { return check.empty() && !run.empty(); }
  bool false_alarm() const { return !check.empty() && run.empty(); }
};

// What the check knows of the inputs.
enum class KnownInputs { kShapes, kValues };

// Checks the call and then runs it. THROWS what is not an EnforceNotMet.
CallVerdict CheckAndRun(const ChangedCall& call, KnownInputs known = KnownInputs::kValues);

}  // namespace caffe2rt::test
