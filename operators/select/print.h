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

namespace caffe2rt {

// Writes the line, without its end. THROWS for an element type that is not listed above.
void PrintTensor(const std::string& name, const Tensor& tensor, int64_t limit, std::ostream& out);

class PrintOp final : public OperatorBase {
 public:
  PrintOp(const OperatorDef& def, Workspace* ws);
  bool Run(int stream_id = 0) override;
  // THROWS when the file cannot be opened.
  bool Enqueue(int stream_id) override;

 private:
  const int64_t limit_;
  const int every_n_;
  int64_t runs_ = 0;
  std::string path_;  // with to_file only
  std::ofstream file_;
};

}  // namespace caffe2rt
