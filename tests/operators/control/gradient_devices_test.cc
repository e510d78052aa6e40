// Where the gradients of Do, If and While run, and whole messages of their makers.
#include <map>
#include <set>

#include "tests/operators/control/net_gradient.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::gradient_devices_test {
namespace {

constexpr int kMark = 7;  // stands for a device; the CPU ignores it

// The backward pass of the net, with the forward operator of `type` on the marked device or not.
std::vector<OperatorDef> Backward(const std::string& text, const std::string& type,
                                  const std::string& blob, bool marked) {
  NetDef net = ParseNet(text);
  for (OperatorDef& op : *net.mutable_op()) {
    if (op.type() == type && marked) op.mutable_device_option()->set_random_seed(kMark);
  }
  return GetBackwardPass(net.op(), {{blob, {.dense_ = blob + "_grad"}}}).ops;
}

// Visits the operators of all nets inside.
void VisitInner(const OperatorDef& op, const std::function<void(const OperatorDef&)>& visit) {
  for (const Argument& arg : op.arg()) {
    for (const OperatorDef& inner : arg.n().op()) {
      visit(inner);
      VisitInner(inner, visit);
    }
  }
}

bool IsMarked(const OperatorDef& op) { return op.device_option().random_seed() == kMark; }

constexpr char kScope[] = R"(op { type: "CreateScope" output: "S" } )";
constexpr char kDo[] = R"(op { type: "CreateScope" output: "S" }
  op { type: "Do" input: "X" input: "S" output: "Y" output: "S"
    arg { name: "inner_blobs" strings: "x" strings: "y" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "net" op { type: "Tanh" input: "x" output: "y" } } } })";

TEST(GradientDevicesTest, OfDoIsThatOfTheOperatorForItsCopiesToo) {
  for (const bool marked : {true, false}) {
    const std::vector<OperatorDef> ops = Backward(kDo, "Do", "Y", marked);
    ASSERT_EQ(ops.size(), 1u);
    EXPECT_EQ(ops[0].type(), "Do");
    EXPECT_TRUE(ops[0].is_gradient_op());
    EXPECT_EQ(IsMarked(ops[0]), marked);
    int copies = 0;
    VisitInner(ops[0], [&](const OperatorDef& op) {
      if (op.type() != "Copy") return;
      ++copies;
      EXPECT_EQ(op.has_device_option(), marked);
      EXPECT_EQ(IsMarked(op), marked);
    });
    EXPECT_EQ(copies, 1);
  }
}

TEST(GradientDevicesTest, OfIfIsThatOfTheOperatorForZerosAndCopiesToo) {
  // One net passes the gradient of x on, which is copied, and has no w, whose gradient is 0.
  const std::string net = R"(op { type: "If" input: "c" input: "x" input: "w" output: "y"
    arg { name: "then_net" n { name: "then" op { type: "Sum" input: "x" output: "y" } } }
    arg { name: "else_net" n { name: "else" op { type: "Mul" input: "x" input: "w"
      output: "y" } } } })";
  for (const bool marked : {true, false}) {
    const std::vector<OperatorDef> ops = Backward(net, "If", "y", marked);
    ASSERT_EQ(ops.size(), 1u);
    EXPECT_TRUE(ops[0].is_gradient_op());
    EXPECT_EQ(IsMarked(ops[0]), marked);
    std::set<std::string> types;
    VisitInner(ops[0], [&](const OperatorDef& op) {
      if (op.type() != "Copy" && op.type() != "ConstantFill") return;
      types.insert(op.type());
      EXPECT_EQ(op.has_device_option(), marked) << op.type();
      EXPECT_EQ(IsMarked(op), marked) << op.type();
      if (op.type() == "ConstantFill") {
        EXPECT_EQ(ArgumentHelper(op).GetSingleArgument<float>("value", 1), 0);
      }
    });
    EXPECT_TRUE(types.contains("ConstantFill"));
  }
}

// Each net has the device and the name of the net whose gradient it is. What is added for a net that
// does not exist has the name of the other one.
TEST(GradientDevicesTest, NetsOfIfKeepTheirDevicesAndNames) {
  const auto nets = [](const std::string& then_net, const std::string& else_net) {
    const std::vector<OperatorDef> ops = Backward(
        R"(op { type: "If" input: "c" input: "x" output: "y" arg { name: "then_net" n { )" +
            then_net + R"( op { type: "Tanh" input: "x" output: "y" } } } )" + else_net + " }",
        "If", "y", false);
    std::map<std::string, std::string> texts;
    for (const Argument& arg : ops.at(0).arg()) {
      if (!arg.has_n()) continue;
      texts[arg.name()] =
          MakeString(arg.n().name(), " ",
                     arg.n().has_device_option() ? arg.n().device_option().random_seed() : 0u);
    }
    return texts;
  };
  using Texts = std::map<std::string, std::string>;
  const std::string sigmoid = R"( op { type: "Sigmoid" input: "x" output: "y" } } } )";
  EXPECT_EQ(nets("name: 't' device_option { random_seed: 4 }",
                 "arg { name: 'else_net' n { name: 'e' device_option { random_seed: 5 }" + sigmoid),
            (Texts{{"then_net", "t_grad 4"}, {"else_net", "e_grad 5"}}));
  EXPECT_EQ(
      nets("name: 't'", "arg { name: 'else_net' n { device_option { random_seed: 5 }" + sigmoid),
      (Texts{{"then_net", "t_grad 0"}, {"else_net", " 5"}}));
  EXPECT_EQ(
      nets("device_option { random_seed: 4 }", "arg { name: 'else_net' n { name: 'e'" + sigmoid),
      (Texts{{"then_net", " 4"}, {"else_net", "e_grad 0"}}));
  // Without an else_net, y is what it was before, and x has the gradient 0.
  EXPECT_EQ(nets("name: 't' device_option { random_seed: 4 }", ""),
            (Texts{{"then_net", "t_grad 4"}, {"else_net", "t_grad_auto_else_zero_blobs_ 0"}}));
}

TEST(GradientDevicesTest, OfWhileIsThatOfTheOperatorForAllThatItAdds) {
  // v = v * w in place, and z is used after the loop only.
  const std::string net = std::string(kScope) + R"(
    op { type: "While" input: "c" input: "v" input: "w" input: "S" output: "v" output: "z"
         output: "c" output: "S"
      arg { name: "loop_net" n { name: "loop" op { type: "Do" input: "v" input: "w" input: "S"
        output: "v" output: "z" output: "S" arg { name: "copy_external_blobs" i: 1 }
        arg { name: "inner_blobs" strings: "v" strings: "w" strings: "z" }
        arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 3 }
        arg { name: "net" n { name: "body" op { type: "Sum" input: "v" output: "old" }
          op { type: "Mul" input: "old" input: "w" output: "v" }
          op { type: "Sqr" input: "old" output: "z" } } } } } } }
    op { type: "Mul" input: "v" input: "z" output: "s" })";
  for (const bool marked : {true, false}) {
    std::map<std::string, int> added;
    for (const OperatorDef& op : Backward(net, "While", "s", marked)) {
      const auto check = [&](const OperatorDef& some) {
        if (some.type() != "Copy" && some.type() != "ConstantFill" && some.type() != "Scale" &&
            (some.type() != "Sum" || some.input_size() != 2)) {
          return;
        }
        if (some.type() == "Copy" && some.output(0).find("_DO_OPERATOR_") != std::string::npos)
          return;
        ++added[some.type()];
        EXPECT_EQ(IsMarked(some), marked) << some.type() << " -> " << some.output(0);
        if (some.type() == "Scale") {
          EXPECT_EQ(ArgumentHelper(some).GetSingleArgument<float>("scale", 1), 0);
        }
        if (some.type() == "ConstantFill") {
          EXPECT_EQ(ArgumentHelper(some).GetSingleArgument<float>("value", 1), 0);
        }
      };
      check(op);
      if (op.type() != "While") continue;
      EXPECT_EQ(IsMarked(op), marked);
      EXPECT_TRUE(op.is_gradient_op());
      for (const Argument& arg : op.arg()) {
        for (const OperatorDef& inner : arg.n().op()) check(inner);
      }
    }
    // Copies of the two given gradients, and of those of v and w at the end; 0 for the sum of w;
    // 0 for the gradient of z after the last iteration.
    EXPECT_EQ(added, (std::map<std::string, int>{
                         {"Copy", 4}, {"ConstantFill", 1}, {"Scale", 1}, {"Sum", 1}}));
  }
}

// The loop of the gradient has the device and the name of the forward one; its condition is that of the
// scope, whatever the forward condition was.
TEST(GradientDevicesTest, NetsOfWhileKeepTheirDevicesAndNames) {
  for (const bool in_place : {false, true}) {
    for (const bool named : {false, true}) {
      for (const bool marked : {false, true}) {
        const std::string out = in_place ? "x" : "y";
        const std::string net = MakeString(
            R"(op { type: "CreateScope" output: "S" } op { type: "While" input: "c" input: "x"
              input: "S" output: ")",
            out, R"(" output: "c" output: "S" arg { name: "cond_net" n { name: "test"
              device_option { random_seed: 3 } op { type: "Not" input: "c" output: "c" } } }
            arg { name: "loop_net" n { )",
            named ? R"(name: "loop" )" : "", marked ? "device_option { random_seed: 7 } " : "",
            R"(op { type: "Do" input: "x" input: "S" output: ")", out,
            R"(" output: "S" arg { name: "copy_external_blobs" i: 1 }
              arg { name: "inner_blobs" strings: "a")",
            in_place ? "" : R"( strings: "b")", R"( } arg { name: "outer_blobs_idx" ints: 0)",
            in_place ? "" : " ints: 1", R"( } arg { name: "net" n { name: "body"
              op { type: "Tanh" input: "a" output: ")",
            in_place ? "a" : "b", R"(" } } } } } } })");
        SCOPED_TRACE(net);
        int loops = 0;
        for (const OperatorDef& op : Backward(net, "While", out, false)) {
          if (op.type() != "While") continue;
          ++loops;
          for (const Argument& arg : op.arg()) {
            if (arg.name() == "loop_net") {
              EXPECT_EQ(arg.n().name(), named ? "loop_grad" : "");
              EXPECT_EQ(arg.n().has_device_option(), marked);
              EXPECT_EQ(arg.n().device_option().random_seed(), marked ? 7u : 0u);
            } else if (arg.name() == "cond_net") {
              EXPECT_NE(arg.n().name(), "");
              EXPECT_FALSE(arg.n().has_device_option());
              ASSERT_EQ(arg.n().op_size(), 1);
              EXPECT_EQ(arg.n().op(0).type(), "HasScope");
              EXPECT_EQ(arg.n().op(0).input(0), "S");
              EXPECT_EQ(arg.n().op(0).output(0), op.input(0));
            }
          }
        }
        EXPECT_EQ(loops, 1);
      }
    }
  }
}

TEST(GradientDevicesTest, MakersNameWhatTheyCannotDifferentiate) {
  const auto pass = [](const std::string& text, const std::string& blob,
                       const GradientWrapper& of) {
    return [text, blob, of] { (void)GetBackwardPass(ParseNet(text).op(), {{blob, of}}); };
  };
  const auto loop = [](const std::string& ops) {
    return R"(op { type: "While" input: "c" input: "x" output: "x" output: "c"
      arg { name: "loop_net" n { name: "loop" )" +
           ops + " } } }";
  };
  const std::string tanh = R"(op { type: "Tanh" input: "x" output: "x" } )";
  const GradientWrapper dense{.dense_ = "given"};
  const std::string overwritten = R"(op { type: "If" input: "c" input: "x" output: "y" output: "c"
    arg { name: "then_net" n { op { type: "Tanh" input: "x" output: "y" } } } })";
  struct MakerRow {
    std::function<void()> act;
    std::string message;
  };
  const std::vector<MakerRow> rows = {
      {pass(loop(""), "x", dense),
       "net \"loop\" has 0 operators; a While with a gradient needs one Do as its loop"},
      {pass(loop(tanh + tanh), "x", dense),
       "net \"loop\" has 2 operators, the first one of type Tanh; a While with a gradient needs "
       "one Do as its loop"},
      {pass(kDo, "Y", {.indices_ = "i", .values_ = "v"}),
       "the gradient of output \"Y\" is sparse, want a dense one"},
      {pass(kDo, "S", dense),
       "the scope \"S\" has a gradient, \"given\"; only tensors can have one"},
      {pass(overwritten, "y", dense),
       "If needs the value of blob \"c\", its condition, that the operator read, but its nets "
       "overwrite it; write to another blob there"}};
  for (const MakerRow& row : rows) {
    const std::string got = MessageOf(row.act);
    EXPECT_TRUE(got == row.message || got.ends_with(": " + row.message))
        << "got:  " << got << "\nwant: " << row.message;
  }
}

// "W" is both a blob that the net reads and, by its name, the gradient of "Y".
TEST(GradientDevicesTest, DoNamesAGradientWithTheNameOfABlob) {
  const std::string net = std::string(kScope) + R"(
    op { type: "Do" input: "X" input: "W" input: "S" output: "Y" output: "S"
      arg { name: "inner_blobs" strings: "x" strings: "w" strings: "y" }
      arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
      arg { name: "net" n { name: "net"
        op { type: "Mul" input: "x" input: "w" output: "y" } } } })";
  ExpectThrows(
      [&] {
        (void)GetBackwardPass(ParseNet(net).op(), {{"Y", {.dense_ = "W"}}});
      },
      "the gradient of Do uses \"W\" for two purposes; give the gradient another name");
}

}  // namespace
}  // namespace caffe2rt::test::gradient_devices_test
