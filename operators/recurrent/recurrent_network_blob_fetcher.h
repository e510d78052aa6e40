#pragma once
// RecurrentNetworkBlobFetcher: copies the blobs of the time steps of a RecurrentNetwork to the
// workspace.
//   step_workspaces  ->  blob_names, strings
// Blob "x" of time step 3 becomes "<prefix>_x3". The blobs of a step are in alphabetical order.

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/recurrent/step_workspaces.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<std::string> kFetcherPrefix{"prefix", "rnn",
                                                          "how the names of the copies begin"};

// The names are on the CPU on every device.
template <class Context>
class RecurrentNetworkBlobFetcherOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  RecurrentNetworkBlobFetcherOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), prefix_(this->ReadArgument(kFetcherPrefix)) {}

  bool RunOnDevice() override {
    // A copy, because the blob may be replaced by that of a step.
    const std::shared_ptr<StepWorkspaces> steps =
        OperatorBase::template Input<ScratchWorkspaces>(0).steps;
    context_.FinishDeviceComputation();
    names_.clear();
    for (size_t i = 0; steps != nullptr && i < steps->size(); ++i) Fetch(*steps, i);
    Tensor* const names = this->OutputTensor(0, CPU);
    names->Resize(static_cast<int64_t>(names_.size()));
    std::string* const to = names->template mutable_data<std::string>();
    for (size_t i = 0; i < names_.size(); ++i) to[i] = names_[i];
    return true;
  }

 private:
  void Fetch(StepWorkspaces& steps, size_t i) {
    for (const std::string& blob : steps[i].LocalBlobs()) {
      const std::shared_ptr<Blob> from = steps[i].FindBlob(blob);
      CAFFE_ENFORCE(from != nullptr && from->template IsType<Tensor>(), "blob \"", blob,
                    "\" of time step ", i, " is not a tensor");
      names_.push_back(MakeString(prefix_, "_", blob, i));
      this->workspace()
          ->CreateBlob(names_.back())
          ->GetMutableTensor(CPU)
          ->CopyFrom(from->template Get<Tensor>());
    }
  }

  const std::string prefix_;
  std::vector<std::string> names_;
};

}  // namespace caffe2rt
