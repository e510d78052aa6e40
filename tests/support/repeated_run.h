#pragma once
// Repeats what a test runs: RunOp (operator_test.h) compares each run of an operator that only computes with runs of
// another operator of the same definition, on copies of the inputs.

#include <map>
#include <memory>
#include <string>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

class RepeatedRun {
 public:
  // Copies the inputs, which the operator is about to read. Null if the run cannot be repeated: the operator has
  // effects, works in place, or keeps memory, or an input is not a small CPU tensor of plain elements.
  static std::unique_ptr<RepeatedRun> Of(const Workspace& ws, const OperatorDef& def);

  // Expects of the run, whose outputs are in `ws`, that
  //   its inputs are unchanged,
  //   the schema infers the shapes of its outputs, or does not know them,
  //   an operator that has run on other inputs (other_inputs.h) computes the same.
  void ExpectSame(const Workspace& ws);

 private:
  explicit RepeatedRun(const OperatorDef& def) : def_(def) {}
  void ExpectInferred(const Workspace& ws) const;
  void ExpectSameValues(const std::string& name, const Tensor& want) const;

  const OperatorDef def_;
  Workspace copies_;
};

}  // namespace caffe2rt::test
