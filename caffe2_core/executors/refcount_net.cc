#include "caffe2_core/executors/refcount_net.h"

#include <algorithm>
#include <vector>

#include "caffe2_core/executors/in_order_run.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/running_net.h"
#include "caffe2_core/runtime/waiting.h"

namespace caffe2rt {
namespace {

class RefcountNet final : public NetBase {
 public:
  RefcountNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws),
        operators_(def, ws),
        run_(debug_def(), operators_, cancelled(), InOrderOfNet(operators_.size())),
        freed_after_(operators_.size()) {
    if (!AccessesUnlistedBlobs()) FindFreed();
  }

  std::vector<OperatorBase*> GetOperators() const override { return operators_.all(); }
  bool Run() override;

 protected:
  bool DoRun() override;

 private:
  bool AccessesUnlistedBlobs() const;
  void FindFreed();
  void RunAndFree(size_t* running);
  void FreeAfter(size_t position) {
    for (Blob* const blob : freed_after_[position]) blob->Reset();
  }

  NetOperators operators_;
  InOrderRun run_;
  std::vector<std::vector<Blob*>> freed_after_;  // by position
};

bool RefcountNet::AccessesUnlistedBlobs() const {
  return std::any_of(operators_.all().begin(), operators_.all().end(), [](const OperatorBase* op) {
    const OpSchema* const schema = OpSchemaRegistry::Schema(op->type());
    return schema != nullptr && schema->accesses_unlisted_blobs(op->debug_def());
  });
}

void RefcountNet::FindFreed() {
  constexpr size_t kNever = SIZE_MAX;
  const NetDependencies blobs = operators_.FindDependencies();
  std::vector<size_t> last_reader(blobs.size(), kNever);
  std::vector<Blob*> objects(blobs.size(), nullptr);
  for (size_t op = 0; op < operators_.size(); ++op) {
    for (const uint32_t blob : blobs.inputs(op)) last_reader[blob] = op;
    const auto outputs = blobs.outputs(op);
    for (size_t i = 0; i < outputs.size(); ++i) {
      objects[outputs[i]] = operators_[op]->Outputs()[i];
      if (last_reader[outputs[i]] == op) last_reader[outputs[i]] = kNever;  // a new value
    }
  }
  const auto keep = [&](uint32_t blob) {
    if (blob < last_reader.size()) last_reader[blob] = kNever;
  };
  for (const uint32_t blob : blobs.read_first()) keep(blob);
  for (size_t op = 0; op < operators_.size(); ++op) {
    for (const uint32_t blob : blobs.nested(op)) keep(blob);
  }
  for (const auto* names : {&external_input(), &external_output()}) {
    for (const std::string& name : *names) {
      const uint32_t blob = blobs.Find(name);
      if (blob != NetBlobs::kNone) keep(blob);
    }
  }
  for (uint32_t blob = 0; blob < blobs.size(); ++blob) {
    if (last_reader[blob] != kNever && objects[blob] != nullptr) {
      freed_after_[last_reader[blob]].push_back(objects[blob]);
    }
  }
}

bool RefcountNet::Run() {
  cancelled().store(false, std::memory_order_relaxed);
  return NetBase::Run();
}

bool RefcountNet::DoRun() {
  if (operators_.HasAsyncPart()) {
    run_.Run();
    for (size_t op = 0; op < operators_.size(); ++op) FreeAfter(op);
    return true;
  }
  const TransientWrites scope;
  const StopScope stop(cancelled());
  size_t running = kNoPosition;
  const RunningNet running_net(Name(), operators_.all(), running);
  try {
    RunAndFree(&running);
  } catch (...) {
    operators_.Fail(running, [] { return std::string(); });
  }
  return true;
}

void RefcountNet::RunAndFree(size_t* running) {
  for (size_t op = 0; op < operators_.size(); ++op) {
    *running = op;
    ThrowIfStoppedBetweenOperators();
    StartOperator(operators_[op], 0);
    FreeAfter(op);
  }
}

}  // namespace

std::unique_ptr<NetBase> NewRefcountNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  return std::make_unique<RefcountNet>(def, ws);
}

}  // namespace caffe2rt
