// A module that registers again what is built in: an operator, its schema, a gradient, a net type,
// a device, a database type and how blobs are written and read; and a flag, twice. Its static code
// looks up operators, as another thread might at that time.
#include "caffe2_core/base/flags.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ReluAgainOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return false; }
};
REGISTER_CPU_OPERATOR_STR("Relu", ReluAgainOp);
NO_GRADIENT(ConstantFill);
const caffe2rt::internal::NetRegisterer g_net(
    "simple", [](const auto&, auto*) { return std::unique_ptr<caffe2rt::NetBase>(); }, __FILE__);
const caffe2rt::internal::StaticContextRegisterer g_context(
    caffe2rt::CPU, "CPU again", caffe2rt::FindStaticContext(caffe2rt::CPU));
const bool g_database = caffe2rt::db::Caffe2DBRegistry().Register(
    "minidb", [](const auto&, auto) { return std::unique_ptr<caffe2rt::db::DB>(); }, __FILE__);
REGISTER_BLOB_SERIALIZER(caffe2rt::TypeMeta::Id<caffe2rt::Tensor>(), caffe2rt::TensorSerializer);
REGISTER_BLOB_DESERIALIZER(TensorCPU, caffe2rt::TensorDeserializer);
bool DefineModuleTestFlag() {
  caffe2rt::FlagInfo info;
  info.name = "module_test_flag";
  info.file = __FILE__;
  return caffe2rt::RegisterFlag(info, [](const std::string&) {});
}
const bool g_flag = DefineModuleTestFlag(), g_flag_again = DefineModuleTestFlag();
}  // namespace
OPERATOR_SCHEMA(Relu).NumInputs(7);
CAFFE2_MODULE(module_test_conflict, "brings again what is there");

extern "C" {
bool g_module_test_conflict_look_up_threw = [] {
  try {
    caffe2rt::EnsureBuiltinOperators();
    return false;
  } catch (const caffe2rt::EnforceNotMet&) {
    return true;
  }
}();
}
