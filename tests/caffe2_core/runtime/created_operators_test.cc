// How operators are created and described: engines that lack a feature, arguments that a net passes on, whole
// descriptions, and the position that an error leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/net_operators.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::created_operators_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CreatedOp : public Operator<CPUContext> {
 public:
  CreatedOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {
    CAFFE_ENFORCE(!GetSingleArgument<bool>("bad", false), "argument bad is set");
  }
  bool RunOnDevice() override { return true; }
};
// An engine without columns, and one without rows.
class CreatedFirstOp final : public CreatedOp {
 public:
  CreatedFirstOp(const OperatorDef& def, Workspace* ws) : CreatedOp(def, ws) {
    OPERATOR_NEEDS_FEATURE(!HasArgument("columns"), "it has no columns");
  }
};
class CreatedSecondOp final : public CreatedOp {
 public:
  CreatedSecondOp(const OperatorDef& def, Workspace* ws) : CreatedOp(def, ws) {
    OPERATOR_NEEDS_FEATURE(!HasArgument("rows"), "it has no rows");
  }
};
REGISTER_CPU_OPERATOR(CreatedOperator, CreatedOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(CreatedOperator, FIRST, CreatedFirstOp);
REGISTER_CPU_OPERATOR_WITH_ENGINE(CreatedOperator, SECOND, CreatedSecondOp);
OPERATOR_SCHEMA(CreatedOperator).NumInputs(0, 12).NumOutputs(0, 12);

// The next engine is taken, at last the default one, and each that was not is logged.
TEST(CreatedOperatorsTest, AnEngineThatLacksAFeatureIsReplaced) {
  const struct {
    const char* args;
    const char* engine;
    std::vector<std::string> lacking;
  } rows[] = {
      {"", "FIRST", {}},
      {"arg { name: 'rows' i: 1 }", "FIRST", {}},
      {"arg { name: 'columns' i: 1 }", "SECOND", {"FIRST"}},
      {"arg { name: 'columns' i: 1 } arg { name: 'rows' i: 1 }", "", {"FIRST", "SECOND"}},
  };
  Workspace ws;
  const int threshold = LogThreshold();
  SetLogThreshold(internal::kLogWarning);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.args);
    std::vector<std::string> logged;
    SetLogSink([&](const LogEntry& entry) { logged.emplace_back(entry.text); });
    const auto op = CreateOperator(
        ParseOp(std::string("type: 'CreatedOperator' engine: 'FIRST,SECOND' ") + row.args), &ws);
    SetLogSink(nullptr);
    EXPECT_EQ(op->engine(), row.engine);
    EXPECT_TRUE(op->Run());
    ASSERT_EQ(logged.size(), row.lacking.size());
    for (size_t i = 0; i < logged.size(); ++i) {
      EXPECT_THAT(logged[i], testing::StartsWith("engine \"" + row.lacking[i] +
                                                 "\" of operator CreatedOperator does not support "
                                                 "this def: "));
      EXPECT_THAT(logged[i], HasSubstr(i == 0 ? "it has no columns" : "it has no rows"));
    }
  }
  SetLogThreshold(threshold);
  // Other errors are not passed over.
  EXPECT_THROW(CreateOperator(
                   ParseOp("type: 'CreatedOperator' engine: 'FIRST' arg { name: 'bad' i: 1 }"), &ws),
               EnforceNotMet);
}

// The argument of the net reaches the nets in the arguments of its operators, unless they have their own.
TEST(CreatedOperatorsTest, AllowTf32ReachesNestedNets) {
  Workspace ws;
  for (const int wish : {0, 1}) {
    const NetOperators operators(
        std::make_shared<const NetDef>(ParseNet(
            MakeString("arg { name: 'allow_tf32' i: ", wish,
                       " } op { type: 'CreatedOperator' arg { name: 'one' n { name: 'a' } }"
                       " arg { name: 'list' nets { name: 'b' } nets { name: 'c'"
                       " arg { name: 'allow_tf32' i: 7 } } nets { name: 'd' } }"
                       " arg { name: 'rows' i: 3 } }"))),
        &ws);
    const OperatorDef& def = operators[0]->debug_def();
    EXPECT_THAT(def.device_option().extra_info(),
                ElementsAre(MakeString("allow_tf32:", wish)));
    std::vector<int64_t> wishes;
    const auto add = [&](const NetDef& net) {
      ASSERT_EQ(net.arg_size(), 1) << net.name();
      wishes.push_back(GetArgument(net, "allow_tf32").i());
    };
    add(def.arg(0).n());
    for (const NetDef& net : def.arg(1).nets()) add(net);
    EXPECT_THAT(wishes, ElementsAre(wish, wish, 7, wish));
    EXPECT_EQ(def.arg_size(), 3);
  }
  const NetOperators without(
      std::make_shared<const NetDef>(
          ParseNet("op { type: 'CreatedOperator' arg { name: 'one' n { name: 'a' } } }")),
      &ws);
  EXPECT_EQ(without[0]->debug_def().arg(0).n().arg_size(), 0);
}

TEST(CreatedOperatorsTest, DescriptionsNameEightInputsAndOutputs) {
  Workspace ws;
  Feed<float>(&ws, "x", {2, 3}, {1, 2, 3, 4, 5, 6});
  ws.CreateBlob("nothing");
  *ws.CreateBlob("text")->GetMutable<std::string>() = "a";
  ws.CreateBlob("open")->GetMutableTensor(CPU);
  ws.CreateBlob("untyped")->GetMutableTensor(CPU)->Resize(4);
  ws.CreateBlob("quantized")->GetMutable<Int8TensorCPU>()->t.Resize(3);
  ws.GetBlob("quantized")->GetMutable<Int8TensorCPU>()->t.mutable_data<uint8_t>();
  const auto describe = [&](const std::string& text) {
    return CreateOperator(ParseOp("type: 'CreatedOperator' " + text), &ws)->Describe();
  };
  EXPECT_EQ(describe(""), "CreatedOperator");
  EXPECT_EQ(describe("name: 'o' output: 'y'"), "CreatedOperator \"o\", output \"y\"");
  EXPECT_EQ(describe("input: 'x' input: 'nothing' input: 'text' input: 'open' input: 'untyped' "
                     "input: 'quantized' output: 'y' output: 'z'"),
            "CreatedOperator, inputs \"x\" float [2, 3], \"nothing\" (nothing), \"text\" string, "
            "\"open\" (no shape), \"untyped\" (no type) [4], \"quantized\" quantized uint8 [3], "
            "output \"y\", \"z\"");
  std::string eight, outputs;
  for (int i = 0; i < 8; ++i) {
    eight += MakeString(" output: 'o", i, "'");
    outputs += MakeString(i == 0 ? "" : ", ", "\"o", i, "\"");
  }
  EXPECT_EQ(describe(eight), "CreatedOperator, output " + outputs);
  EXPECT_EQ(describe(eight + " output: 'p' output: 'q'"),
            "CreatedOperator, output " + outputs + " and 2 more");
}

TEST(CreatedOperatorsTest, OnlyOperatorsOfANetLeaveTheirPosition) {
  Workspace ws;
  const OperatorDef bad = ParseOp("type: 'CreatedOperator' arg { name: 'bad' i: 1 }");
  ws.last_failed_op_net_position = 7;
  EXPECT_THROW(CreateOperator(bad, &ws), EnforceNotMet);
  EXPECT_EQ(ws.last_failed_op_net_position, 7);
  EXPECT_THROW(CreateOperator(bad, &ws, 0), EnforceNotMet);
  EXPECT_EQ(ws.last_failed_op_net_position, 0);
  EXPECT_EQ(CreateOperator(ParseOp("type: 'CreatedOperator'"), &ws, 4)->net_position(), 4);
  EXPECT_EQ(CreateOperator(ParseOp("type: 'CreatedOperator'"), &ws)->net_position(),
            OperatorBase::kNoNetPositionSet);
  EXPECT_EQ(ws.last_failed_op_net_position, 0);
}

}  // namespace
}  // namespace caffe2rt::test::created_operators_test
