#include "caffe2_core/executors/simple_net.h"

#include "caffe2_core/executors/in_order_run.h"
#include "caffe2_core/runtime/net_operators.h"

namespace caffe2rt {
namespace {

class SimpleNet final : public NetBase {
 public:
  SimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws)
      : NetBase(def, ws),
        operators_(def, ws),
        run_(debug_def(), operators_, cancelled(), InOrderOfNet(operators_.size())) {}

  std::vector<OperatorBase*> GetOperators() const override { return operators_.all(); }

  bool Run() override {
    cancelled().store(false, std::memory_order_relaxed);
    return NetBase::Run();
  }

 protected:
  bool DoRun() override {
    run_.Run();
    return true;
  }

 private:
  NetOperators operators_;
  InOrderRun run_;
};

}  // namespace

std::unique_ptr<NetBase> NewSimpleNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) {
  return std::make_unique<SimpleNet>(def, ws);
}

}  // namespace caffe2rt
