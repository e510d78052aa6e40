#include "caffe2_core/inspect/net_validation.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::unavailable_test {
namespace {

constexpr const char* kTypes[] = {"ATen",
                                  "NCCLAllreduce",
                                  "NCCLBroadcast",
                                  "Python",
                                  "RedisStoreHandlerCreate"};

// An operator of the type with as few blobs as its schema allows, which all exist.
OperatorDef SmallestOf(const std::string& type, Workspace* ws) {
  const OpSchema& schema = *OpSchemaRegistry::Schema(type);
  OperatorDef def;
  def.set_type(type);
  for (int i = 0; i < schema.min_input(); ++i) {
    def.add_input(MakeString("in", i));
    ws->CreateBlob(def.input(i));
  }
  for (int i = 0; i < schema.min_output(); ++i) def.add_output(MakeString("out", i));
  return def;
}

TEST(UnavailableTest, ReportsWhatIsMissingWhenAnOperatorIsCreated) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Workspace ws;
    const OpSchema* const schema = OpSchemaRegistry::Schema(type);
    ASSERT_NE(schema, nullptr);
    EXPECT_FALSE(schema->missing().empty());
    ExpectThrows([&] { CreateOperator(SmallestOf(type, &ws), &ws); },
                 MakeString("Cannot create operator of type '", type, "' on the device 'CPU'"));
    ExpectThrows([&] { CreateOperator(SmallestOf(type, &ws), &ws); },
                 "this operator needs " + schema->missing());
  }
}

TEST(UnavailableTest, AreNotListedAsOperators) {
  for (const char* type : kTypes) EXPECT_FALSE(HasOperator(CPU, type)) << type;
}

TEST(UnavailableTest, AreReportedByValidation) {
  for (const char* type : kTypes) {
    SCOPED_TRACE(type);
    Workspace ws;
    NetDef net;
    net.set_name("n");
    *net.add_op() = SmallestOf(type, &ws);
    for (const std::string& input : net.op(0).input()) net.add_external_input(input);
    std::string found;
    for (const NetFinding& finding : ValidateNet(net)) found += finding.text + "\n";
    EXPECT_THAT(found, testing::HasSubstr(MakeString("operator type \"", type,
                                                     "\" is known to Caffe2 but not available: it "
                                                     "needs ",
                                                     OpSchemaRegistry::Schema(type)->missing())));
  }
}

class BroughtOperator final : public OperatorBase {
 public:
  using OperatorBase::OperatorBase;
  bool Run(int /*stream_id*/) override { return true; }
};

TEST(UnavailableTest, CanBeTakenOverOnce) {
  const OpSchema* const before = OpSchemaRegistry::Schema("Python");
  ASSERT_NE(before, nullptr);
  OpSchemaRegistry::NewSchema("Python", "brought.cc").NumInputs(1).NumOutputs(0);
  RegisterCpuOperator<BroughtOperator>("Python", "brought.cc");
  EXPECT_NO_THROW(OpSchemaRegistry::ThrowConflicts());
  Workspace ws;
  ws.CreateBlob("x");
  OperatorDef def;
  def.set_type("Python");
  def.add_input("x");
  EXPECT_TRUE(ws.RunOperatorOnce(def));
  EXPECT_EQ(OpSchemaRegistry::Schema("Python")->file(), "brought.cc");
  EXPECT_FALSE(before->missing().empty()) << "references to the first schema stay valid";

  OpSchemaRegistry::NewSchema("Python", "second.cc");
  ExpectThrows([] { OpSchemaRegistry::ThrowConflicts(); },
               "is registered twice: in brought.cc and in second.cc");
}

}  // namespace
}  // namespace caffe2rt::test::unavailable_test
