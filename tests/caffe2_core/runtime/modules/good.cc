// A module with one operator, whose name a database type and a net type have, too.
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/module.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestAnswerOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override {
    *Output(0, {}, caffe2rt::TypeMeta::Make<int>())->mutable_data<int>() = 42;
    return true;
  }
};
REGISTER_CPU_OPERATOR(ModuleTestAnswer, ModuleTestAnswerOp);
class ModuleTestDB final : public caffe2rt::db::DB {
 public:
  using caffe2rt::db::DB::DB;
  void Close() override {}
  std::unique_ptr<caffe2rt::db::Cursor> NewCursor() override { return nullptr; }
  std::unique_ptr<caffe2rt::db::Transaction> NewTransaction() override { return nullptr; }
};
class ModuleTestNet final : public caffe2rt::NetBase {
 public:
  using caffe2rt::NetBase::NetBase;
  std::vector<caffe2rt::OperatorBase*> GetOperators() const override { return {}; }
};
}  // namespace
OPERATOR_SCHEMA(ModuleTestAnswer).NumInputs(0).NumOutputs(1);
NO_GRADIENT(ModuleTestAnswer);
REGISTER_CAFFE2_DB(ModuleTestAnswer, ModuleTestDB);
REGISTER_NET(ModuleTestAnswer, ModuleTestNet);
CAFFE2_MODULE(module_test_good, "answers");
