#include "tests/operators/control/net_gradient.h"

namespace caffe2rt::test::if_gradient_test {
namespace {

void FeedBlobs(Workspace* ws, bool condition) {
  Feed<bool>(ws, "c", {1}, {condition});
  FeedRandom(ws, "x", {2, 3}, 0.2f, 1, 1);
  FeedRandom(ws, "w", {2, 3}, 0.2f, 1, 2);
}

void ExpectGradients(const std::string& net, const std::vector<std::string>& blobs = {"x", "w"}) {
  for (const bool condition : {true, false}) {
    SCOPED_TRACE(condition);
    ExpectNetGradients(
        net, [&](Workspace* ws) { FeedBlobs(ws, condition); }, blobs);
  }
}

constexpr char kBoth[] = R"(
  op { type: "If" input: "c" input: "x" input: "w" output: "s"
    arg { name: "then_net" n { name: "then" op { type: "Mul" input: "x" input: "w" output: "s" } } }
    arg { name: "else_net" n { name: "else" op { type: "Tanh" input: "x" output: "s" } } } })";

TEST(IfGradientTest, DifferentiatesBothNets) { ExpectGradients(kBoth); }

TEST(IfGradientTest, NamesBlobsAsCaffe2) {
  EXPECT_EQ(DescribeBackwardPass(kBoth, "s"),
            "If(c,s_grad,x,w,s)->x_grad,w_grad\n"
            "  then_net then_grad\n"
            "    MulGradient(s_grad,x,w)->x_grad,w_grad\n"
            "  else_net else_grad\n"
            "    TanhGradient(s,s_grad)->x_grad\n"
            "    ConstantFill(w)->w_grad\n");
}

// Add passes one gradient on to both of its inputs. Outside, each has its own, to which others add.
TEST(IfGradientTest, BlobsThatShareAGradientInTheNetsHaveTheirOwn) {
  const auto net = [](const std::string& type) {
    return R"( n { op { type: "Add" input: "x" input: "w" output: "t" } op { type: ")" + type +
           R"(" input: "t" output: "y" } } } )";
  };
  for (const char* rest : {R"(op { type: "Copy" input: "y" output: "s" })",
                           R"(op { type: "Mul" input: "y" input: "x" output: "s" })",
                           R"(op { type: "Mul" input: "y" input: "w" output: "s" })",
                           R"(op { type: "Mul" input: "y" input: "w" output: "v" }
                              op { type: "Mul" input: "v" input: "x" output: "s" })"}) {
    SCOPED_TRACE(rest);
    ExpectGradients(R"(op { type: "If" input: "c" input: "x" input: "w" output: "y"
        arg { name: "then_net")" +
                    net("Tanh") + R"(arg { name: "else_net")" + net("Sigmoid") + "} " + rest);
  }
}

TEST(IfGradientTest, SetsGradientsToZeroWithoutElseNet) {
  const std::string net = R"(
    op { type: "Copy" input: "w" output: "s" }
    op { type: "If" input: "c" input: "x" output: "y" arg { name: "then_net" n { name: "then"
      op { type: "Sigmoid" input: "x" output: "y" } } } })";
  EXPECT_EQ(DescribeBackwardPass(net, "y"),
            "If(c,y,y_grad)->x_grad\n"
            "  then_net then_grad\n"
            "    SigmoidGradient(y,y_grad)->x_grad\n"
            "  else_net then_grad_auto_else_zero_blobs_\n"
            "    ConstantFill(x)->x_grad\n");
}

TEST(IfGradientTest, DifferentiatesUpdatesInPlace) {
  ExpectGradients(R"(
    op { type: "Mul" input: "x" input: "w" output: "y" }
    op { type: "If" input: "c" input: "y" output: "y" arg { name: "then_net" n { name: "then"
      op { type: "Tanh" input: "y" output: "y" } } } }
    op { type: "Mul" input: "y" input: "w" output: "s" })");
}

// A gradient that is passed on unchanged gets the name that the other net uses.
TEST(IfGradientTest, UnitesTheNamesOfGradients) {
  ExpectGradients(R"(
    op { type: "If" input: "c" input: "x" input: "w" output: "y"
      arg { name: "then_net" n { name: "then" op { type: "Sum" input: "x" input: "w" output: "y" } } }
      arg { name: "else_net" n { name: "else" op { type: "Sigmoid" input: "x" output: "y" } } } }
    op { type: "Sqr" input: "y" output: "s" })");
}

// Both nets call it "t_grad" and no other blob shares it: it is not copied.
TEST(IfGradientTest, KeepsTheNameOnWhichBothNetsAgree) {
  EXPECT_EQ(DescribeBackwardPass(R"(
    op { type: "If" input: "c" input: "x" output: "y"
      arg { name: "then_net" n { name: "then" op { type: "Sum" input: "x" output: "t" }
        op { type: "Tanh" input: "t" output: "y" } } }
      arg { name: "else_net" n { name: "else" op { type: "Sum" input: "x" output: "t" }
        op { type: "Sigmoid" input: "t" output: "y" } } } })",
                                 "y"),
            "If(c,y,y_grad)->t_grad\n"
            "  then_net then_grad\n"
            "    TanhGradient(y,y_grad)->t_grad\n"
            "  else_net else_grad\n"
            "    SigmoidGradient(y,y_grad)->t_grad\n");
}

// The gradients of "x" and "w" in the first net are those of "t".
TEST(IfGradientTest, GivesEachBlobItsOwnGradient) {
  ExpectGradients(R"(
    op { type: "If" input: "c" input: "x" input: "w" output: "y"
      arg { name: "then_net" n { name: "then" op { type: "Sum" input: "x" input: "w" output: "t" }
        op { type: "Tanh" input: "t" output: "y" } } }
      arg { name: "else_net" n { name: "else" op { type: "Sigmoid" input: "x" output: "y" } } } }
    op { type: "Mul" input: "y" input: "w" output: "z" }
    op { type: "Mul" input: "z" input: "x" output: "s" })");
}

// The gradients of several readers are added up, and those of nets are renamed inside too.
TEST(IfGradientTest, AddsUpGradientsOfSeveralReaders) {
  ExpectGradients(R"(
    op { type: "If" input: "c" input: "x" input: "w" output: "y"
      arg { name: "then_net" n { name: "then" op { type: "Mul" input: "x" input: "w" output: "y" } } }
      arg { name: "else_net" n { name: "else" op { type: "Tanh" input: "x" output: "t" }
        op { type: "Mul" input: "t" input: "x" output: "y" } } } }
    op { type: "If" input: "c" input: "x" input: "y" output: "z"
      arg { name: "then_net" n { name: "then2" op { type: "Mul" input: "x" input: "y" output: "z" } } }
      arg { name: "else_net" n { name: "else2" op { type: "Sqr" input: "y" output: "z" } } } }
    op { type: "Mul" input: "z" input: "x" output: "s" })");
}

// A net that passes the given gradient on returns a copy of it if the other net has none.
TEST(IfGradientTest, LeavesTheGivenGradientAsItIs) {
  const std::string pass = R"(n { name: "pass" op { type: "Sum" input: "x" output: "y" } })",
                    other = R"(n { name: "other" op { type: "Sqr" input: "w" output: "y" } })";
  for (const bool pass_first : {true, false}) {
    NetDef net = ParseNet(R"(name: "n" op { type: "If" input: "c" input: "x" input: "w" output: "y"
      arg { name: "then_net" )" +
                          (pass_first ? pass : other) + R"( } arg { name: "else_net" )" +
                          (pass_first ? other : pass) + " } }");
    const GradientMap gradients = AddGradientOperators(&net, {{"y", {.dense_ = "dy"}}});
    for (const bool condition : {true, false}) {
      SCOPED_TRACE(MakeString(pass_first, condition));
      Workspace ws;
      Feed<bool>(&ws, "c", {1}, {condition});
      Feed<float>(&ws, "x", {2}, {1, 2});
      Feed<float>(&ws, "w", {2}, {3, 4});
      Feed<float>(&ws, "dy", {2}, {5, 6});
      ASSERT_TRUE(ws.RunNetOnce(net));
      const bool passes = condition == pass_first;
      ExpectTensor<float>(ws, "dy", {2}, {5, 6});
      ExpectTensor<float>(ws, gradients.at("x").dense_, {2},
                          passes ? std::vector<float>{5, 6} : std::vector<float>{0, 0});
      ExpectTensor<float>(ws, gradients.at("w").dense_, {2},  // 2 w dy
                          passes ? std::vector<float>{0, 0} : std::vector<float>{30, 48});
    }
  }
}

TEST(IfGradientTest, DifferentiatesNestedNets) {
  ExpectGradients(R"(
    op { type: "Not" input: "c" output: "d" }
    op { type: "If" input: "c" input: "x" input: "w" input: "d" output: "y"
      arg { name: "then_net" n { name: "then"
        op { type: "If" input: "d" input: "x" input: "w" output: "y"
          arg { name: "then_net" n { name: "a" op { type: "Tanh" input: "x" output: "y" } } }
          arg { name: "else_net" n { name: "b" op { type: "Mul" input: "x" input: "w" output: "y" } } } } } }
      arg { name: "else_net" n { name: "else" op { type: "Sigmoid" input: "w" output: "y" } } } }
    op { type: "Mul" input: "y" input: "x" output: "s" })");
}

TEST(IfGradientTest, RunsOnTheDeviceOfTheForwardNets) {
  NetDef net = ParseNet(R"(op { type: "If" input: "c" input: "x" output: "y"
    arg { name: "then_net" n { device_option { random_seed: 7 }
      op { type: "Tanh" input: "x" output: "y" } } }
    arg { name: "else_net" n { op { type: "Sigmoid" input: "x" output: "y" } } } })");
  AddGradientOperators(&net, {{"y", {}}});
  const OperatorDef& gradient = net.op(net.op_size() - 1);
  ASSERT_EQ(gradient.type(), "If");
  const ArgumentHelper arguments(gradient);
  const NetDef then_net = arguments.GetSingleArgument<NetDef>("then_net", NetDef());
  const NetDef else_net = arguments.GetSingleArgument<NetDef>("else_net", NetDef());
  EXPECT_EQ(then_net.device_option().random_seed(), 7u);
  EXPECT_EQ(then_net.op(0).type(), "TanhGradient");
  EXPECT_FALSE(else_net.has_device_option());
  EXPECT_EQ(else_net.op(0).type(), "SigmoidGradient");
}

TEST(IfGradientTest, IsUnknownToGetGradientForOp) {
  const OperatorDef op = ParseOp(R"(type: "If" input: "c" input: "x" output: "y"
    arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "y" } } })");
  ExpectThrows([&] { (void)GetGradientForOp(op, {{.dense_ = "y_grad"}}); }, "not implemented");
}

TEST(IfGradientTest, RejectsSparseGradients) {
  ExpectThrows(
      [&] {
        (void)DescribeBackwardPass(R"(
          op { type: "If" input: "c" input: "x" input: "i" output: "y" arg { name: "then_net" n {
            name: "look" op { type: "Gather" input: "x" input: "i" output: "y" } } } })",
                                   "y");
      },
      "the gradient of blob \"x\" in net \"look\" is sparse, want a dense one");
}

TEST(IfGradientTest, RejectsAConditionThatItsNetsOverwrite) {
  NetDef net = ParseNet(R"(op { type: "If" input: "c" input: "x" output: "y" output: "c"
      arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "y" }
                                 op { type: "Not" input: "c" output: "c" } } } })");
  ExpectThrows(
      [&] {
        AddGradientOperators(&net, {{"y", {}}});
      },
      "If needs the value of blob \"c\", its condition");
}

}  // namespace
}  // namespace caffe2rt::test::if_gradient_test
