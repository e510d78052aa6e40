#include "binaries/commands/run_receipt.h"

#include "binaries/commands/output_saver.h"
#include "caffe2_core/base/isa.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/net_check.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/runtime/workspace.h"

namespace caffe2rt {

const std::vector<Option>& ReceiptOptions() {
  static const std::vector<Option> options = {
      {"receipt", "FILE", "", "write hashes of inputs and outputs, for caffe2 receipt compare",
       false, true},
      {"receipt-all", "", "", "with --receipt: hash what every operator writes, too", false, true},
  };
  return options;
}

RunReceipt::RunReceipt(const CommandLine& line)
    : file_(line.Text("receipt")), all_(line.Has("receipt-all")) {
  if (all_ && !wanted())
    throw UsageError("option --receipt-all is given without --receipt FILE, where it is written");
  if (wanted()) CheckWritable(file_);
}

void RunReceipt::KeepInputs(const Model& model, const std::set<std::string>& fed,
                            const Workspace& ws) {
  if (!wanted()) return;
  if (all_) nested_ = std::make_unique<NestedReceipts>();
  receipt_.net = model.predict_net.name();
  receipt_.seed = model.seed;
  std::vector<ReceiptRow> weights;
  for (const std::string& name : InputsOf(model.predict_net)) {
    const std::shared_ptr<Blob> blob = ws.FindBlob(name);
    if (blob == nullptr) continue;
    (fed.contains(name) ? receipt_.inputs : weights).push_back(ReceiptRowOf(name, *blob));
  }
  receipt_.weights = MergedReceiptRows("weights", weights);
}

void RunReceipt::Watch(NetBase* net) {
  if (all_) recorder_ = std::make_unique<ReceiptRecorder>(net, nested_.get());
}

void RunReceipt::Write(const Preparation& preparation, const std::string& executor, int64_t runs,
                       const std::vector<std::string>& outputs,
                       const std::function<const Blob&(const std::string&)>& fetch) {
  if (!wanted()) return;
  receipt_.runs = static_cast<uint64_t>(runs);
  receipt_.version = CAFFE2RT_VERSION;
  receipt_.instruction_set = IsaName(CpuIsa());
  receipt_.threads = GetNumThreads();
  receipt_.executor = executor;
  receipt_.deterministic = preparation.options.deterministic;
  receipt_.passes = preparation.passes;
  for (const std::string& name : outputs) {
    receipt_.outputs.push_back(ReceiptRowOf(name, fetch(name)));
  }
  if (recorder_ != nullptr) receipt_.operators = recorder_->Take();
  Stop();
  WriteFileAtomically(file_, ReceiptAsJson(receipt_));
}

}  // namespace caffe2rt
