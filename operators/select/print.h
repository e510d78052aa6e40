#pragma once
// Print: one line about a tensor, to stderr or, with to_file, to <root folder>/<blob>.log:
//
//   Tensor NAME of type float. Dims: (2,3,): 0,1,2,3,4,5
//
// At most `limit` values (0: 1000), as operator<< prints them; every every_n-th run. The file is
// cut by the first run. Element types: float, double, int32, int64, bool, uint8, string.

#include <fstream>
#include <ostream>
#include <string>

#include "caffe2_core/runtime/operator.h"
#include "operators/common/host_input.h"

namespace caffe2rt {

// Writes the line, without its end. THROWS for an element type that is not listed above.
void PrintTensor(const std::string& name, const Tensor& tensor, int64_t limit, std::ostream& out);

// The arguments, and where the lines go.
class TensorPrinter {
 public:
  TensorPrinter(const ArgumentHelper& args, const std::string& name, const Workspace& ws);
  // Counts a run; whether it prints.
  bool IsDue() { return runs_++ % every_n_ == 0; }
  // THROWS when the file cannot be opened.
  bool Print(const Tensor& tensor);

 private:
  const std::string name_;
  const int64_t limit_;
  const int every_n_;
  int64_t runs_ = 0;
  std::string path_;  // with to_file only
  std::ofstream file_;
};

// On a device the host waits for the tensor.
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
