#pragma once
// Print: prints one line about a tensor to stderr (or the log sink, caffe2_core/base/logging.h) or, with to_file, to the file <blob>.log in the
// root folder, if the workspace's file policy allows it (caffe2_core/io/file_access.h):
//
//   Tensor NAME of type float. Dims: (2,3,): 0,1,2,3,4,5
//
// Prints at most `limit` values (0: 1000), as operator<< prints them, in every every_n-th run.
// Element types: float, double, int32, int64, bool, uint8, string. line_file.h describes the file.

#include <memory>
#include <string>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"
#include "operators/select/line_file.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<bool> kPrintToFile{
    "to_file", false,
    "1: print to the file <blob>.log in the root folder, where %2F replaces each / in the name of "
    "the blob; 0: print to stderr"};
inline constexpr ArgumentSpec<int> kPrintLimit{"limit", 0,
                                               "maximum number of values to print; 0: 1000"};
inline constexpr ArgumentSpec<int> kPrintEveryN{
    "every_n", 1, "print in every n-th run", {[](int n) { return n >= 1; }, "at least 1"}};

// Returns the line without a newline. THROWS if the element type is not listed above.
std::string TensorLine(const std::string& name, const Tensor& tensor, int64_t limit);

// Returns the file name for a blob, e.g. "gpu_0%2Ffc.log" for "gpu_0/fc".
std::string PrintFileName(const std::string& blob);

// Prints tensors as the arguments specify. Not thread safe.
class [[gnu::visibility("default")]] TensorPrinter {
 public:
  // `ws` must outlive the object.
  TensorPrinter(const ArgumentHelper& args, const std::string& name, const Workspace& ws);
  // Counts a run; returns whether it prints.
  bool IsDue() { return runs_++ % every_n_ == 0; }
  // THROWS if the file policy forbids the file, or it cannot be opened or written.
  bool Print(const Tensor& tensor);

 private:
  const std::string name_;
  const int64_t limit_;
  const int every_n_;
  int64_t runs_ = 0;
  std::unique_ptr<LineFile> file_;  // with to_file only
};

// For a tensor on a device, the host waits for it and copies it.
template <class Context>
class PrintOp final : public Operator<Context> {
 public:
  PrintOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), printer_(this->args(), def.input(0), *ws) {}

  bool RunOnDevice() override {
    if (!printer_.IsDue()) return true;
    return printer_.Print(input_.Read(*this, 0));
  }

 private:
  TensorPrinter printer_;
  HostInput input_;
};

}  // namespace caffe2rt
