// Registers what good.cc registers again, under the name of a source that many modules have.
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace {
class ModuleTestAgainOp final : public caffe2rt::Operator<caffe2rt::CPUContext> {
 public:
  using caffe2rt::Operator<caffe2rt::CPUContext>::Operator;
  bool RunOnDevice() override { return true; }
};
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
#line 1 "op.cc"
REGISTER_CPU_OPERATOR(ModuleTestAnswer, ModuleTestAgainOp);
OPERATOR_SCHEMA(ModuleTestAnswer).NumInputs(0).NumOutputs(1);
NO_GRADIENT(ModuleTestAnswer);
REGISTER_CAFFE2_DB(ModuleTestAnswer, ModuleTestDB);
REGISTER_NET(ModuleTestAnswer, ModuleTestNet);
