#pragma once
// Checks what a test runs: RunOp (operator_test.h) compares the shapes of each run with those that the schema infers,
// and runs of an operator that only computes with runs of another operator of the same definition.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"

namespace caffe2rt::test {

class RepeatedRun {
 public:
  // To be called before the run. Null if an input is no CPU tensor, or the operator runs on a device.
  static std::unique_ptr<RepeatedRun> Of(const Workspace& ws, const OperatorDef& def);

  // Whether ExpectSame runs the operator: not if it has effects or keeps memory, or if an input is large or has
  // no plain elements.
  bool repeats() const { return repeats_; }

  // Expects of the run, whose outputs are in `ws`, that
  //   the schema infers the shapes of its outputs, or does not know them, also if the shape of one
  //   input is unknown,
  // and if it is repeated, that
  //   its inputs are unchanged, except for those that are outputs,
  //   an operator that has run on other inputs (other_inputs.h) computes the same,
  //   and so does one with an output in place of an input, where the schema allows that, and one
  //   on other element types (other_types.h).
  void ExpectSame(const Workspace& ws);

 private:
  explicit RepeatedRun(const OperatorDef& def) : def_(def) {}
  void ExpectInferredFrom(const std::vector<TensorShape>& shapes, const Workspace& ws) const;
  void ExpectInferred(const Workspace& ws) const;
  bool ExpectSameValues(const std::string& name, const Tensor& want) const;
  // Whether the operator has run on inputs of these shapes several times, so that other inputs are skipped.
  bool HasRunOften() const;
  void ExpectRepeated(const Workspace& ws);
  void ExpectSameInPlace(const std::map<std::string, Tensor>& outputs);

  const OperatorDef def_;
  std::vector<TensorShape> shapes_;  // of the inputs
  bool repeats_ = false;
  Workspace copies_;  // of the inputs, if it repeats
};

}  // namespace caffe2rt::test
