// A module with an operator that ends the process in the way that the module's flag names.
#include <csignal>
#include <cstdlib>

#include "caffe2_core/base/flags.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {

std::string crash_test_way;
const bool kRegistered =
    caffe2rt::RegisterFlag("crash_test_way", &crash_test_way, "how to crash", __FILE__);

int Recurse(int64_t depth) {
  volatile char frame[1000] = {};
  return depth == 0 ? 0 : Recurse(depth - 1) + frame[0];
}

class CrashTestOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override {
    volatile int zero = 0;
    int* volatile nowhere = nullptr;
    if (crash_test_way == "null pointer") *nowhere = 1;
    if (crash_test_way == "division by zero") zero = 42 / zero;  // g++ does not divide for 1 / x
    if (crash_test_way == "trap") __builtin_trap();
    if (crash_test_way == "abort") std::abort();
    if (crash_test_way == "stack overflow") zero = Recurse(INT64_MAX);
    if (crash_test_way == "bus error") std::raise(SIGBUS);
    if (crash_test_way == "request to end") std::raise(SIGTERM);
    *Output(0, {}, caffe2rt::TypeMeta::Make<int>())->mutable_data<int>() = 42;
    return kRegistered;
  }
};
REGISTER_CPU_OPERATOR(CrashTest, CrashTestOp);

}  // namespace
OPERATOR_SCHEMA(CrashTest).NumInputs(0).NumOutputs(1);
CAFFE2_MODULE(crash_test_module, "crashes");
