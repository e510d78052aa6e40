#include "tests/fuzz/prepare_process.h"

#include <csignal>
#include <memory>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/fuzz/work_budget.h"

namespace caffe2rt::test {

void PrepareProcess(size_t memory_limit_bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  GlobalCPUMemoryOptions().limit_bytes = memory_limit_bytes;
  SetLogThreshold(3);
  EnsureBuiltinOperators();
  // Plans and predictors create nets themselves, so nets are watched through an observer creator.
  AddGlobalNetObserverCreator([](NetBase* net) -> std::unique_ptr<ObserverBase<NetBase>> {
    WatchNet(net);
    return nullptr;
  });
}

}  // namespace caffe2rt::test
