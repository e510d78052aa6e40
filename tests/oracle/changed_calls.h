#pragma once
// Calls of operators that differ from recorded ones by the element type, the rank or one size of an
// input. They measure `caffe2 check`: it should reject a call if and only if the operator does.
//
//   const ChangedCalls calls(SharedPath("oracle"));
//   std::mt19937 random(1);
//   const CallVerdict verdict = Judge(calls.Draw(&random));

#include <map>
#include <random>
#include <string>
#include <vector>

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

 private:
  // A call of the operator type, with `type` empty if the drawn input cannot change in the drawn way.
  ChangedCall DrawOf(const std::string& type, std::mt19937* random) const;

  std::map<std::string, std::vector<oracle::OperatorCase>> cases_;
};

struct CallVerdict {
  std::string check;  // what `caffe2 check` reports; empty if nothing
  std::string run;    // the error of the operator; empty if it ran

  bool missed() const { return check.empty() && !run.empty(); }
  bool false_alarm() const { return !check.empty() && run.empty(); }
};

// What the check knows of the inputs.
enum class KnownInputs { kShapes, kValues };

// Checks the call and then runs it. THROWS what is not an EnforceNotMet.
CallVerdict Judge(const ChangedCall& call, KnownInputs known = KnownInputs::kValues);

}  // namespace caffe2rt::test
