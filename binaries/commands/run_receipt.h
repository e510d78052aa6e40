#pragma once
// --receipt and --receipt-all of `caffe2 run`: a file with checksums of what the run was given and of
// what it computed, for `caffe2 receipt compare`.

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "binaries/command_line.h"
#include "caffe2_core/inspect/receipt.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/preparation.h"

namespace caffe2rt {

// --receipt and --receipt-all
const std::vector<Option>& ReceiptOptions();

class RunReceipt {
 public:
  // THROWS UsageError if --receipt-all is given without a file, and if the file cannot be written.
  explicit RunReceipt(const CommandLine& line);

  bool wanted() const { return !file_.empty(); }
  // Call it before the net is prepared and created, when all inputs are in the workspace.
  void KeepInputs(const Model& model, const std::set<std::string>& fed, const Workspace& ws);
  // With --receipt-all, records what the operators write. `net` must exist until Write or Stop.
  void Watch(NetBase* net);
  void Stop() { recorder_.reset(); }
  // Writes the file after the last of `runs` runs. THROWS if that fails.
  void Write(const Preparation& preparation, const std::string& executor, int64_t runs,
             const std::vector<std::string>& outputs,
             const std::function<const Blob&(const std::string&)>& fetch);

 private:
  const std::string file_;
  const bool all_;
  Receipt receipt_;
  std::unique_ptr<NestedReceipts> nested_;  // made before the net is created
  std::unique_ptr<ReceiptRecorder> recorder_;
};

}  // namespace caffe2rt
