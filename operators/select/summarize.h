#pragma once
// Summarize: the least and the largest element of a tensor, their mean and standard deviation.
//   data any shape, float, at least one element  ->  optional summary [4]
// With to_file, each run appends a line with the four numbers to the file <blob>.summary in the root
// folder (line_file.h). On a device the host then waits for the numbers.

#include <memory>
#include <string>

#include "caffe2_core/runtime/operator.h"
#include "operators/select/line_file.h"
#include "operators/select/summarize_kernels.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kSummarizeToFile{
    "to_file", false,
    "1: append the numbers to the file <blob>.summary in the root folder; Print names its files in "
    "the same way"};

#pragma GCC visibility push(default)  // for libcaffe2_cuda
// Returns the line for the four numbers.
std::string SummaryLine(const float* summary);
// The file for input `blob` if the argument to_file is set, else null.
std::unique_ptr<LineFile> OpenSummary(const ArgumentHelper& args, const std::string& blob,
                                      const Workspace& ws);
#pragma GCC visibility pop

template <class Context>
class SummarizeOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  SummarizeOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), file_(OpenSummary(this->args(), def.input(0), *ws)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_GT(X.numel(), 0, "elements of input 0 (data) of shape ", X.sizes());
    const float* const x = X.data<float>();
    Tensor* const summary = OutputSize() > 0 ? Output(0) : &summary_;
    summary->Resize(4);
    WriteSummary(context_, X.numel(), x, summary->template mutable_data<float>(), &scratch_);
    if (file_ == nullptr) return true;
    host_.CopyFrom(*summary, &context_);
    context_.FinishDeviceComputation();
    file_->Append(SummaryLine(host_.data<float>()));
    return true;
  }

 private:
  const std::unique_ptr<LineFile> file_;
  Tensor summary_{Context::GetDeviceType()};
  Tensor scratch_{Context::GetDeviceType()};
  Tensor host_{CPU};
};

}  // namespace caffe2rt
