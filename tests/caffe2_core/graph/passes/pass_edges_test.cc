// Passes for convolutional nets at the edges of what they replace: images of one and three axes,
// channels last, arguments and their defaults, and operators that look alike. Folding is in
// fold_edges_test.cc.
#include <limits>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/graph/passes/fuse_activation.h"
#include "caffe2_core/graph/passes/fuse_sum.h"
#include "caffe2_core/graph/passes/net_values.h"
#include "caffe2_core/graph/passes/onednn_regions.h"
#include "caffe2_core/graph/passes/remove_copies.h"
#include "caffe2_core/graph/passes/user_operators.h"
#include "tests/caffe2_core/graph/passes/pass_run.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::pass_edges_test {
namespace {

using test::Fetch;
using ::testing::ElementsAre;

// y = a + b, where a is a convolution of x, and b one of Relu(a).
std::string SumOfConvs(const std::string& args, const std::string& w, const std::string& add = "") {
  return "op { type: \"Conv\" input: \"x\" input: \"first\" output: \"a\" " + args +
         R"( } op { type: "Relu" input: "a" output: "r" }
            op { type: "Conv" input: "r" input: ")" +
         w + "\" output: \"b\" " + args +
         R"( } op { type: "Add" input: "a" input: "b" output: "y" )" + add + "}";
}

TEST(SumEdgesTest, WindowsKeepTheSizeOfEveryAxis) {
  struct Row {
    std::vector<int64_t> first, second;
    const char* args;
    bool fuses;
  };
  const Row rows[] = {
      {{8, 3, 3, 4},
       {8, 3, 3, 8},
       R"(arg { name: "order" s: "NHWC" } arg { name: "pad" i: 1 })",
       true},
      {{8, 1, 3, 4},
       {8, 1, 3, 8},
       R"(arg { name: "order" s: "NHWC" } arg { name: "pads" ints: [0, 1, 0, 1] })",
       true},
      {{8, 3, 1, 4},
       {8, 3, 1, 8},
       R"(arg { name: "order" s: "NHWC" } arg { name: "pads" ints: [0, 1, 0, 1] })",
       false},
      {{8, 3, 3, 4},
       {8, 3, 8, 3},
       R"(arg { name: "order" s: "NHWC" } arg { name: "pad" i: 1 })",
       false},
      {{8, 4, 1, 3}, {8, 8, 1, 3}, R"(arg { name: "pads" ints: [0, 1, 0, 1] })", true},
      {{8, 4, 3, 1}, {8, 8, 3, 1}, R"(arg { name: "pads" ints: [0, 1, 0, 1] })", false},
      {{8, 4, 3}, {8, 8, 3}, R"(arg { name: "pad" i: 1 })", true},
      {{8, 4, 3}, {8, 8, 3}, R"(arg { name: "pads" ints: [1, 1] })", true},
      {{8, 4, 3}, {8, 8, 3}, R"(arg { name: "pads" ints: [1, 1, 1, 1] })", false},
      {{8, 4, 3},
       {8, 8, 3},
       R"(arg { name: "stride_h" i: 1 } arg { name: "stride_w" i: 1 }
                                arg { name: "pad" i: 1 })",
       false},
      {{8, 4, 3, 3, 3}, {8, 8, 3, 3, 3}, R"(arg { name: "pad" i: 1 })", true},
      {{8, 4, 3, 1, 5}, {8, 8, 3, 1, 5}, R"(arg { name: "pads" ints: [1, 0, 2, 1, 0, 2] })", true},
      {{8, 4, 3, 1, 5}, {8, 8, 3, 1, 5}, R"(arg { name: "pads" ints: [1, 0, 1, 1, 0, 2] })", false},
      {{8, 4, 3, 3}, {8, 8, 3}, R"(arg { name: "pad" i: 1 })", false},
  };
  for (const Row& row : rows) {
    test::PassRun run;
    test::FeedRandom(&run.ws, "first", row.first);
    test::FeedRandom(&run.ws, "w", row.second);
    EXPECT_EQ(run(FuseSum, SumOfConvs(row.args, "w")).size() == 3, row.fuses)
        << row.args << testing::PrintToString(row.second);
    // By the older rules, Add may broadcast what has the same shape here.
    EXPECT_EQ(run(FuseSum, SumOfConvs(row.args, "w", R"(arg { name: "broadcast" i: 1 })")).size(),
              4u);
  }
}

// The axes of an image keep their places: the second convolution has channels last.
TEST(SumEdgesTest, OneConvolutionOfChannelsLastIsNotLikeTheOther) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "first", {8, 4, 3, 3});
  test::FeedRandom(&run.ws, "last", {8, 3, 3, 8});
  test::FeedRandom(&run.ws, "w", {8, 8, 3, 3});
  const auto fuses = [&](const std::string& w, const std::string& order) {
    return run(FuseSum, R"(
        op { type: "Conv" input: "x" input: "first" output: "a" arg { name: "pad" i: 1 } }
        op { type: "Conv" input: "a" input: ")" +
                            w + R"(" output: "b" arg { name: "pad" i: 1 }
             arg { name: "order" s: ")" +
                            order + R"(" } }
        op { type: "Add" input: "a" input: "b" output: "y" })")
               .size() == 2;
  };
  EXPECT_TRUE(fuses("w", "NCHW"));
  EXPECT_FALSE(fuses("last", "NHWC"));
}

// The arguments of the activation, with their defaults, follow it into the fused operator.
TEST(ActivationEdgesTest, ArgumentsOfEveryActivationAreKept) {
  struct Row {
    const char *type, *args, *fused;
  };
  const std::string least = MakeString(std::numeric_limits<float>::lowest());
  const Row rows[] = {
      {"Relu", "", ""},
      {"Relu", R"(arg { name: "order" s: "NHWC" })", ""},
      {"ReluN", "", " n=6"},
      {"ReluN", R"(arg { name: "n" f: 2 })", " n=2"},
      {"LeakyRelu", R"(arg { name: "alpha" f: 0.5 })", " alpha=0.5"},
      {"ThresholdedRelu", "", " alpha=1"},
      {"Elu", R"(arg { name: "alpha" f: 0.25 })", " alpha=0.25"},
      {"Selu", R"(arg { name: "scale" f: 2 })", " alpha=1.67326 scale=2"},
      {"HardSigmoid", "", " alpha=0.2 beta=0.5"},
      {"HardSigmoid", R"(arg { name: "beta" f: 0.25 })", " alpha=0.2 beta=0.25"},
      {"Gelu", R"(arg { name: "fast_gelu" i: 1 })", " fast_gelu=1"},
      {"Gelu", "", " fast_gelu=0"},
      {"Sigmoid", "", ""},
      {"Clip", R"(arg { name: "min" f: -0.5 } arg { name: "max" f: 0.5 })", " min=-0.5 max=0.5"},
  };
  test::PassRun run;
  test::FeedRandom(&run.ws, "w", {4, 3, 1, 1}, -2, 2, 1);
  for (const Row& row : rows) {
    SCOPED_TRACE(MakeString(row.type, " ", row.args));
    run.ws.RemoveBlob("x");
    const std::string text = MakeString(
        R"(op { type: "Conv" input: "x" input: "w" output: "a" arg { name: "kernel" i: 1 } }
           op { type: ")",
        row.type, R"(" input: "a" output: "y" )", row.args, " }");
    EXPECT_THAT(run(FuseActivation, text), ElementsAre("ConvFusion(x w) -> y"));
    std::string fused;
    for (const Argument& arg : run.net.op(0).arg()) {
      if (!arg.name().starts_with("activation_")) continue;
      fused += MakeString(" ", arg.name().substr(11), "=",
                          arg.has_f() ? MakeString(arg.f()) : MakeString(arg.i()));
    }
    EXPECT_EQ(fused, row.fused);
    EXPECT_EQ(ArgumentHelper(run.net.op(0)).GetSingleArgument<std::string>("activation", ""),
              row.type);
    test::FeedRandom(&run.ws, "x", {2, 3, 5, 5}, -2, 2, 2);
    run.ws.RunNetOnce(test::ParseNet(text));
    const auto want = Fetch<float>(run.ws, "y");
    run.ws.RunNetOnce(run.net);
    test::ExpectTensor<float>(run.ws, "y", {2, 4, 5, 5}, want, 1e-5);
  }
}

struct EdgeConstants final : NetConstants {
  const Tensor* Find(std::string_view) const override { return nullptr; }
  std::string Add(const std::string& name, Tensor) override { return name; }
  std::vector<Tensor> Evaluate(const OperatorDef&) override { return {}; }
};

// Nothing states which operators there are.
TEST(ActivationEdgesTest, NeedsToKnowTheOperators) {
  EdgeConstants constants;
  PassContext context{.constants = constants};
  const NetDef net = test::ParseNet(R"(
      op { type: "Conv" input: "x" input: "w" output: "a" }
      op { type: "Relu" input: "a" output: "y" })");
  EXPECT_EQ(FuseActivation(net, context).op_size(), 2);
  context.has_operator = [](const std::string&, DeviceType) { return false; };
  EXPECT_EQ(FuseActivation(net, context).op_size(), 2);
  context.has_operator = [](const std::string&, DeviceType) { return true; };
  EXPECT_EQ(FuseActivation(net, context).op_size(), 1);
  const NetDef sum = test::ParseNet(R"(
      op { type: "Conv" input: "x" input: "w" output: "a" }
      op { type: "Sum" input: "a" input: "z" output: "y" })");
  EXPECT_EQ(FuseSum(sum, context).op_size(), 1);
  context.has_operator = nullptr;
  EXPECT_EQ(FuseSum(sum, context).op_size(), 2);
}

// What other processes or files see is more than the outputs.
TEST(PlainEdgesTest, CommunicationAndFilesAreEffects) {
  EdgeConstants constants;
  PassContext context{.constants = constants};
  for (const char* op : {R"(type: "Allgather" input: "world" input: "x" output: "y")",
                         R"(type: "Barrier" input: "world")",
                         R"(type: "DBExists" output: "y" arg { name: "db_name" s: "d" }
                            arg { name: "db_type" s: "minidb" })"}) {
    const NetDef net = test::ParseNet(MakeString("op { ", op, " }"));
    std::string why;
    EXPECT_TRUE(OpSchemaRegistry::Schema(net.op(0).type())->Verify(net.op(0), &why)) << why;
    EXPECT_FALSE(NetValues(net, context).is_plain(0)) << op;
  }
}

// Relu writes y only if nothing else reads a, counting those that read copies of it before.
TEST(CopyEdgesTest, ReadersOfCopiesReadTheSourceFromThenOn) {
  test::PassRun run;
  run.kept = {"y", "z"};
  EXPECT_THAT(run(RemoveCopies, R"(
      op { type: "Relu" input: "x" output: "a" } op { type: "Copy" input: "a" output: "b" }
      op { type: "Copy" input: "a" output: "y" } op { type: "Tanh" input: "b" output: "z" })"),
              ElementsAre("Relu(x) -> a", "Copy(a) -> y", "Tanh(a) -> z"));
  EXPECT_THAT(run(RemoveCopies, R"(
      op { type: "Relu" input: "x" output: "a" } op { type: "Copy" input: "a" output: "y" }
      op { type: "Copy" input: "a" output: "b" } op { type: "Tanh" input: "b" output: "z" })"),
              ElementsAre("Relu(x) -> a", "Copy(a) -> y", "Tanh(a) -> z"));
  // Both copies are kept: Relu can write only one of them.
  EXPECT_THAT(run(RemoveCopies, R"(
      op { type: "Relu" input: "x" output: "a" } op { type: "Copy" input: "a" output: "y" }
      op { type: "Copy" input: "a" output: "z" })"),
              ElementsAre("Relu(x) -> a", "Copy(a) -> y", "Copy(a) -> z"));
  // Relu would work in place on what it reads.
  run.kept = {"y"};
  EXPECT_THAT(run(RemoveCopies, R"(
      op { type: "Relu" input: "y" output: "a" } op { type: "Copy" input: "a" output: "y" })"),
              ElementsAre("Relu(y) -> a", "Copy(a) -> y"));
  // A second output of the operator that computes the source keeps its place.
  EXPECT_THAT(run(RemoveCopies, R"(
      op { type: "Split" input: "x" output: "a" output: "b" }
      op { type: "Copy" input: "b" output: "y" })"),
              ElementsAre("Split(x) -> a y"));
}

TEST(UserOperatorEdgesTest, AllListsAreRemoved) {
  NetDef net = test::ParseNet(R"(op { type: "A" arg { name: "k" i: 1 } } op { type: "B" })");
  const std::string before = net.SerializeAsString();
  MarkUserOperators(&net);
  for (const OperatorDef& op : net.op()) EXPECT_EQ(UserOperatorsOf(op).size(), 1u);
  RemoveUserOperators(&net);
  EXPECT_EQ(net.SerializeAsString(), before);
}

NetDef PlaceDeterministically(NetDef net, PassContext& context) {
  context.deterministic = true;
  return PlaceOnednnRegions(std::move(net), context);
}

// bf16 is not on all machines, which must give the same bytes with int8.
TEST(OnednnEdgesTest, NothingIsRoundedIfAllMachinesGiveTheSameBytes) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w1", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
  test::FeedRandom(&run.ws, "w2", {64, 64, 3, 3}, -0.04f, 0.04f, 2);
  const auto conv = [](const char* x, const char* w, const char* y) {
    return MakeString("op { type: \"Conv\" input: \"", x, "\" input: \"", w, "\" output: \"", y,
                      R"(" arg { name: "kernel" i: 3 } arg { name: "pad" i: 1 } } )");
  };
  const std::string net = conv("x", "w1", "a") + conv("a", "w2", "b") + conv("b", "w2", "y");
  const auto rounds = [&](Precision precision, bool deterministic) {
    run.precision = precision;
    run(deterministic ? PlaceDeterministically : PlaceOnednnRegions, net);
    return run.net.DebugString().find("bf16") != std::string::npos;
  };
  EXPECT_FALSE(rounds(Precision::kFloat32, false));
  EXPECT_TRUE(rounds(Precision::kBfloat16, false));
  EXPECT_TRUE(rounds(Precision::kBfloat16, true));
  EXPECT_TRUE(rounds(Precision::kInt8, false));
  EXPECT_FALSE(rounds(Precision::kInt8, true));
}

// What reads the input on the CPU does not read the copy.
TEST(OnednnEdgesTest, ReadersOnTheCpuDoNotKeepTheCopyInFloat) {
  test::PassRun run;
  test::FeedRandom(&run.ws, "w1", {64, 3, 3, 3}, -0.2f, 0.2f, 1);
  test::FeedRandom(&run.ws, "w2", {64, 64, 3, 3}, -0.04f, 0.04f, 2);
  run.precision = Precision::kBfloat16;
  run.kept = {"y", "z"};
  const char* const convs = R"(
      op { type: "Conv" input: "x" input: "w1" output: "a" arg { name: "kernel" i: 3 }
           arg { name: "pad" i: 1 } }
      op { type: "Conv" input: "a" input: "w2" output: "y" arg { name: "kernel" i: 3 }
           arg { name: "pad" i: 1 } } )";
  for (const char* reader :
       {"", R"(op { type: "Exp" input: "x" output: "z" })", R"(op { type: "Print" input: "x" })"}) {
    run(PlaceOnednnRegions, std::string(convs) + reader);
    ASSERT_EQ(run.net.op(0).type(), "CopyFromCPUInput");
    EXPECT_EQ(ArgumentHelper(run.net.op(0)).GetSingleArgument<std::string>("output_precision", ""),
              "bf16")
        << reader;
  }
}

}  // namespace
}  // namespace caffe2rt::pass_edges_test
