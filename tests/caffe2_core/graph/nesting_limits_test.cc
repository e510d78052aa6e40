// Nets in the arguments of operators, down to the deepest level that is supported, and in lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/blob_values.h"
#include "caffe2_core/graph/dependencies.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/nested_nets.h"
#include "caffe2_core/graph/net_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::nesting_limits_test {
namespace {

using test::ParseNet;
using test::ParseOp;
using ::testing::Contains;
using ::testing::ElementsAre;

// An operator with `levels` nets inside each other. Each net has the operators `before`, then the
// operator with the next net, whose output is "y"; the innermost net has `innermost`.
OperatorDef Nest(int levels, const std::string& innermost, const std::string& before = "") {
  NetDef net = ParseNet(innermost);
  OperatorDef op;
  for (int i = 0; i < levels; ++i) {
    op = ParseOp(R"(type: "If" output: "y")");
    AddArgument("then_net", net, &op);
    net = ParseNet(before);
    *net.add_op() = op;
  }
  return op;
}

const NetDef& Innermost(const OperatorDef& op, int levels) {
  const OperatorDef* at = &op;
  for (int i = 1; i < levels; ++i) {
    const NetDef& net = at->arg(0).n();
    at = &net.op(net.op_size() - 1);
  }
  return at->arg(0).n();
}

constexpr char kRelu[] = R"(op { type: "Relu" input: "deep" output: "y" })";

TEST(NestingLimitsTest, TheDeepestNetCounts) {
  const NestedBlobs blobs = NestedBlobsOf(Nest(kMaxNetDepth, kRelu));
  EXPECT_THAT(blobs.read, ElementsAre("deep"));
  EXPECT_THAT(blobs.written, ElementsAre("y"));
  EXPECT_TRUE(MayWait(Nest(kMaxNetDepth, R"(op { type: "DequeueBlobs" input: "q" output: "y" })")));
  EXPECT_FALSE(MayWait(Nest(kMaxNetDepth, kRelu)));
  NetDef net;
  for (const char* writer : {"deep", "other"}) {
    *net.add_op() = ParseOp(MakeString(R"(type: "ConstantFill" output: ")", writer, "\""));
  }
  *net.add_op() = Nest(kMaxNetDepth, kRelu);
  EXPECT_THAT(NetDependencies(net).predecessors(2), ElementsAre(0));
}

// One of the nets in a list waits; other arguments are no nets.
TEST(NestingLimitsTest, ListsOfNetsMayWait) {
  const auto waits = [](const std::string& type) {
    return MayWait(ParseOp(R"(type: "T" arg { name: "k" i: 1 } arg { name: "nets" nets { } nets {
        op { type: "Relu" input: "x" output: "y" } op { type: ")" +
                           type + R"(" input: "q" output: "y" } } })"));
  };
  EXPECT_TRUE(waits("DequeueBlobs"));
  EXPECT_FALSE(waits("Relu"));
  OperatorDef op = ParseOp(R"(type: "If" output: "y" arg { name: "k" s: "y" }
      arg { name: "then_net" n { op { type: "If" output: "y" arg { name: "k" s: "y" }
            arg { name: "else_net" n { op { type: "Relu" input: "x" output: "y" } } } } } })");
  RenameOutput(&op, 0, "z");
  EXPECT_EQ(op.arg(0).s(), "y");
  const OperatorDef& inner = op.arg(1).n().op(0);
  EXPECT_EQ(inner.output(0), "z");
  EXPECT_EQ(inner.arg(0).s(), "y");
  EXPECT_EQ(inner.arg(1).n().op(0).output(0), "z");
}

TEST(NestingLimitsTest, OutputsAreRenamedInTheDeepestNet) {
  // The nets write y first, or read what is around them before.
  for (const char* before : {"", R"(op { type: "Copy" input: "y" output: "t" } )"}) {
    OperatorDef op = Nest(kMaxNetDepth, kRelu, before);
    RenameOutput(&op, 0, "z");
    EXPECT_EQ(op.output(0), "z");
    const NetDef& deepest = Innermost(op, kMaxNetDepth);
    EXPECT_EQ(deepest.op(0).output(0), "z") << before;
    EXPECT_EQ(deepest.op(0).input(0), "deep");
  }
}

TEST(NestingLimitsTest, DevicesAndDatabasesOfTheDeepestNetAreFound) {
  NetDef net;
  *net.add_op() =
      Nest(kMaxNetDepth, R"(op { type: "A" output: "y" device_option { device_type: 1 } })");
  EXPECT_THAT(FallBackToCPU(&net), ElementsAre("CUDA"));
  EXPECT_EQ(Innermost(net.op(0), kMaxNetDepth).op(0).device_option().device_type(), 0);
  const test::TempDir dir;
  dir.Write("nets/weights", "");
  dir.Write("root/other", "");
  const std::string load = R"(op { type: "Load" output: "y" arg { name: "db" s: "weights" } })";
  NetDef loads =
      ParseNet(R"(op { type: "T" arg { name: "nets" nets { } nets { )" + load + " } } }");
  *loads.add_op() = Nest(kMaxNetDepth, load);
  FindDatabases(&loads, dir.path("root"), dir.path("nets"));
  EXPECT_EQ(loads.op(0).arg(0).nets(1).op(0).arg(0).s(), dir.path("nets/weights"));
  EXPECT_EQ(Innermost(loads.op(1), kMaxNetDepth).op(0).arg(0).s(), dir.path("nets/weights"));
}

// Files, output and random numbers of the nets in a list order the operator as those of one net do.
TEST(NestingLimitsTest, EffectsInListsOfNetsOrderOperators) {
  const char* const print = R"(op { type: "Print" input: "x" } )";
  const auto predecessors = [&](const std::string& nets) {
    const NetDef def = ParseNet(std::string(print) + R"(op { type: "T" arg { name: "nets" )" +
                                nets + " } } " + print);
    const NetDependencies net(def);
    const auto of = [&](size_t op) {
      return std::vector<uint32_t>(net.predecessors(op).begin(), net.predecessors(op).end());
    };
    return std::pair(of(1), of(2));
  };
  const std::vector<uint32_t> none, first = {0}, second = {1};
  EXPECT_EQ(predecessors("nets { } nets { op { type: \"Print\" input: \"z\" } }"),
            std::pair(first, second));
  EXPECT_EQ(predecessors("nets { } nets { op { type: \"Relu\" input: \"z\" } }"),
            std::pair(none, first));
}

// Only blobs that operators of the net list have indices: t is known to the nested net alone.
TEST(NestingLimitsTest, BlobsOfNestedNetsAreListedOnceIfTheNetHasThem) {
  const NetDef def = ParseNet(R"(op { type: "Relu" input: "x" output: "a" }
      op { type: "If" input: "c" arg { name: "then_net" n {
           op { type: "Alias" input: "a" output: "t" }
           op { type: "Sum" input: "a" input: "t" input: "c" output: "a" } } } }
      op { type: "Alias" input: "a" output: "b" })");
  const NetDependencies net(def);
  EXPECT_THAT(net.nested(1), ElementsAre(net.Find("a")));
  EXPECT_THAT(net.nested(0), ElementsAre());
  ASSERT_EQ(net.same_memory().size(), 1u);
  EXPECT_EQ(net.same_memory()[0].first, net.Find("a"));
  EXPECT_EQ(net.same_memory()[0].second, net.Find("b"));
  EXPECT_EQ(net.memory(net.Find("a")), net.memory(net.Find("b")));
  EXPECT_EQ(net.Find("t"), NetBlobs::kNone);
}

// All ranks must communicate in the same order, in whichever worlds, and print in that of the net.
TEST(NestingLimitsTest, EffectsOfOneKindKeepTheirOrder) {
  const auto predecessors = [](const std::string& first, const std::string& last) {
    const NetDef def = ParseNet("op { " + first + R"( } op { type: "Relu" input: "u" output: "v" }
                                op { )" +
                                last + " }");
    const NetDependencies net(def);
    EXPECT_TRUE(net.predecessors(1).empty());
    return std::vector<uint32_t>(net.predecessors(2).begin(), net.predecessors(2).end());
  };
  const std::string gather = R"(type: "Allgather" input: "world" input: "x" output: "a")",
                    barrier = R"(type: "Barrier" input: "other")",
                    print = R"(type: "Print" input: "z")",
                    nested = R"(type: "If" input: "c" arg { name: "then_net" n { op { )" + barrier +
                             " } } }";
  EXPECT_THAT(predecessors(gather, barrier), ElementsAre(0));
  EXPECT_THAT(predecessors(barrier, gather), ElementsAre(0));
  EXPECT_THAT(predecessors(gather, nested), ElementsAre(0));
  EXPECT_THAT(predecessors(nested, gather), ElementsAre(0));
  EXPECT_THAT(predecessors(print, print), ElementsAre(0));
  EXPECT_TRUE(predecessors(gather, print).empty());
  EXPECT_TRUE(predecessors(print, barrier).empty());
}

// An operator may write a blob twice: both values have keys of their own.
TEST(NestingLimitsTest, ValuesThatOneOperatorWritesTwiceHaveTwoKeys) {
  std::vector<std::string> keys;
  for (const BlobValue& value : ListBlobValues(ParseNet(R"(
           op { type: "Split" input: "v" output: "x" output: "x" }
           op { type: "Relu" input: "x" output: "x" })"))) {
    keys.push_back(value.key);
  }
  EXPECT_THAT(keys, ElementsAre("v", "x after operator 0", "x after operator 0_", "x"));
}

}  // namespace
}  // namespace caffe2rt::nesting_limits_test
