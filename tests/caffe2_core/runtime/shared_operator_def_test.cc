#include "caffe2_core/runtime/shared_operator_def.h"

#include <gtest/gtest.h>

#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::shared_operator_def_test {
namespace {

using test::ExpectThrows;
using test::ParseOp;

std::shared_ptr<const OperatorDef> FillDef() {
  return std::make_shared<const OperatorDef>(ParseOp(R"(type: "ConstantFill" output: "x")"));
}

TEST(SharedOperatorDefTest, OperatorSharesTheDefThatTheScopeNames) {
  Workspace ws;
  std::shared_ptr<const OperatorDef> def = FillDef();
  const std::weak_ptr<const OperatorDef> alive = def;
  std::unique_ptr<OperatorBase> op;
  {
    const SharedOperatorDef scope(def);
    op = CreateOperator(*def, &ws);
  }
  EXPECT_EQ(&op->debug_def(), def.get());
  def.reset();
  EXPECT_EQ(op->type(), "ConstantFill");
  EXPECT_EQ(op->debug_def().output(0), "x");
  op.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(SharedOperatorDefTest, OtherDefsAreCopied) {
  Workspace ws;
  const std::shared_ptr<const OperatorDef> def = FillDef();
  const SharedOperatorDef scope(def);
  std::unique_ptr<OperatorBase> op;
  {
    const OperatorDef equal = *def;
    op = CreateOperator(equal, &ws);
    EXPECT_NE(&op->debug_def(), &equal);
  }
  EXPECT_NE(&op->debug_def(), def.get());
  EXPECT_EQ(op->debug_def().output(0), "x");
}

TEST(SharedOperatorDefTest, ScopesNestAndEnd) {
  const std::shared_ptr<const OperatorDef> outer = FillDef(), inner = FillDef();
  {
    const SharedOperatorDef outer_scope(outer);
    {
      const SharedOperatorDef inner_scope(inner);
      EXPECT_EQ(SharedOperatorDef::ShareOrCopy(*outer), outer);
      EXPECT_EQ(SharedOperatorDef::ShareOrCopy(*inner), inner);
    }
    EXPECT_EQ(SharedOperatorDef::ShareOrCopy(*outer), outer);
    EXPECT_NE(SharedOperatorDef::ShareOrCopy(*inner), inner);
  }
  EXPECT_NE(SharedOperatorDef::ShareOrCopy(*outer), outer);
}

TEST(SharedOperatorDefTest, RejectsNull) {
  ExpectThrows([] { SharedOperatorDef{nullptr}; }, "argument def of SharedOperatorDef is null");
}

}  // namespace
}  // namespace caffe2rt::shared_operator_def_test
