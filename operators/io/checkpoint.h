#pragma once
// Checkpoint, Snapshot (its older name): Save in every n-th iteration.
//   inputs: the iteration (int64, on the CPU or on the operator's device), then the blobs. The
//   iteration is saved too. No outputs.
// The file name is the argument `db` with one printf conversion for an integer, e.g.
// "model_%06d.minidb".

#include <string>

#include "operators/common/host_input.h"
#include "operators/io/save.h"

namespace caffe2rt {

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns `pattern` with its conversion (%d, %06d, %lld, %x, ...) replaced by `value`, and %% by %.
// THROWS if there is a conversion that is not for an integer, or more than one: the pattern comes
// from a file and is not trusted.
std::string FormatIteration(const std::string& pattern, int64_t value);
#pragma GCC visibility pop

inline constexpr ArgumentSpec<std::string> kCheckpointPattern{
    "db", "", "path of the database, e.g. model_%06d.minidb", kNotEmpty, true};
inline constexpr ArgumentSpec<int> kCheckpointEvery{
    "every", 1, "number of iterations between two files", {[](int n) { return n > 0; }, "above 0"}};

template <class Context>
class CheckpointOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  CheckpointOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        pattern_(this->ReadArgument(kCheckpointPattern)),
        every_(this->ReadArgument(kCheckpointEvery)),
        save_def_(def) {
    (void)FormatIteration(pattern_, 0);  // report an invalid pattern when the operator is created
    save_def_.set_type("Save");
  }

  bool RunOnDevice() override {
    const Tensor& iteration = iteration_.Read(*this, 0);
    CAFFE_ENFORCE_GE(iteration.numel(), 1, "elements of input 0 (iteration)");
    const int64_t value = iteration.template data<int64_t>()[0];
    if (value % every_ != 0) return true;
    for (Argument& arg : *save_def_.mutable_arg()) {
      if (arg.name() == kCheckpointPattern.name) arg.set_s(FormatIteration(pattern_, value));
    }
    return SaveOp<Context>(save_def_, this->workspace()).Run();
  }

 private:
  const std::string pattern_;
  const int every_;
  OperatorDef save_def_;
  HostInput iteration_;
};

}  // namespace caffe2rt
