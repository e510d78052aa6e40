#include "tests/operators/control/net_gradient.h"

namespace caffe2rt::test::while_gradient_test {
namespace {

void FeedBlobs(Workspace* ws) {
  Feed<bool>(ws, "c", {1}, {true});
  Feed<float>(ws, "one", {1}, {1});
  Feed<float>(ws, "limit", {1}, {3});
  FeedRandom(ws, "x", {2, 3}, 0.5f, 1, 1);
  FeedRandom(ws, "w", {2, 3}, 0.5f, 1, 2);
  FeedRandom(ws, "y", {2, 3}, 0.5f, 1, 3);
}

// Runs a Do three times. "v" starts as the square of "x".
std::string Loop(const std::string& blobs, const std::string& body, const std::string& after) {
  return R"(op { type: "Sqr" input: "x" output: "v" }
    op { type: "Sub" input: "one" input: "one" output: "i" }
    op { type: "CreateScope" output: "S" }
    op { type: "While" input: "c" )" +
         blobs + R"( input: "i" input: "one" input: "limit" output: "i" output: "c"
      arg { name: "cond_net" n { name: "test" op { type: "LT" input: "i" input: "limit" output: "c" }
        op { type: "Add" input: "i" input: "one" output: "i" } } }
      arg { name: "loop_net" n { name: "loop" op { type: "Do" )" +
         blobs + body + " } } } }\n" + after;
}

std::string Body(const std::string& inner, const std::string& outer, const std::string& ops) {
  return R"( arg { name: "copy_external_blobs" i: 1 } arg { name: "inner_blobs" )" + inner +
         R"( } arg { name: "outer_blobs_idx" )" + outer +
         R"( } arg { name: "net" n { name: "body" )" + ops + " } }";
}

// v = v * w, three times
std::string Powers() {
  return Loop(R"(input: "v" input: "w" input: "S" output: "v" output: "S")",
              Body("strings: 'v' strings: 'w'", "ints: 0 ints: 1",
                   R"(op { type: "Sum" input: "v" output: "old" }
                      op { type: "Mul" input: "old" input: "w" output: "v" })"),
              R"(op { type: "Mul" input: "v" input: "x" output: "s" })");
}

TEST(WhileGradientTest, CarriesAndAddsUpGradients) {
  ExpectNetGradients(Powers(), FeedBlobs, {"x", "w"});
}

// Two carried blobs, of which only one has a gradient after the loop.
TEST(WhileGradientTest, StartsGradientsOfOtherCarriedBlobsAtZero) {
  ExpectNetGradients(
      R"(op { type: "Sqr" input: "y" output: "u" })" +
          Loop(
              R"(input: "v" input: "u" input: "S" output: "v" output: "u" output: "S")",
              Body(
                  "strings: 'v' strings: 'u'", "ints: 0 ints: 1",
                  R"(op { type: "Sum" input: "v" output: "v0" } op { type: "Sum" input: "u" output: "u0" }
                       op { type: "Mul" input: "v0" input: "u0" output: "v" }
                       op { type: "Sqr" input: "u0" output: "u" })"),
              R"(op { type: "Copy" input: "v" output: "s" })"),
      FeedBlobs, {"x", "y"});
}

// Only the last value of "z" is used after the loop.
TEST(WhileGradientTest, UsesTheGradientOfAnOutputOnce) {
  ExpectNetGradients(Loop(R"(input: "v" input: "w" input: "S" output: "v" output: "z" output: "S")",
                          Body("strings: 'v' strings: 'w' strings: 'z'", "ints: 0 ints: 1 ints: 3",
                               R"(op { type: "Sum" input: "v" output: "old" }
                   op { type: "Mul" input: "old" input: "w" output: "v" }
                   op { type: "Mul" input: "old" input: "old" output: "z" })"),
                          R"(op { type: "Mul" input: "v" input: "z" output: "s" })"),
                     FeedBlobs, {"x", "w"});
}

// The loop runs not at all, or overwrites "v" without reading it.
TEST(WhileGradientTest, PassesTheGradientOnIfTheLoopDoesNotRun) {
  const std::string overwrites =
      Loop(R"(input: "v" input: "w" input: "S" output: "v" output: "S")",
           Body("strings: 'v' strings: 'w'", "ints: 0 ints: 1",
                R"(op { type: "Tanh" input: "w" output: "v" })"),
           R"(op { type: "Mul" input: "v" input: "x" output: "s" })");
  for (const float limit : {0.0f, 3.0f}) {
    SCOPED_TRACE(limit);
    const auto feed = [&](Workspace* ws) {
      FeedBlobs(ws);
      Feed<float>(ws, "limit", {1}, {limit});
    };
    ExpectNetGradients(overwrites, feed, {"x", "w"});
    ExpectNetGradients(Powers(), feed, {"x", "w"});
  }
}

TEST(WhileGradientTest, DifferentiatesNestedOperators) {
  ExpectNetGradients(Loop(R"(input: "v" input: "w" input: "S" output: "v" output: "S")",
                          Body("strings: 'v' strings: 'w'", "ints: 0 ints: 1", R"(
             op { type: "ReduceFrontMean" input: "w" output: "m" arg { name: "num_reduce_dim" i: 2 } }
             op { type: "GT" input: "m" input: "m" output: "no" }
             op { type: "CreateScope" output: "T" }
             op { type: "Sum" input: "v" output: "old" }
             op { type: "If" input: "no" input: "old" input: "w" input: "T" output: "n" output: "T"
               arg { name: "then_net" n { name: "a" op { type: "Copy" input: "old" output: "n" } } }
               arg { name: "else_net" n { name: "b" op { type: "Do" input: "old" input: "w" input: "T"
                 output: "n" output: "T"
                 arg { name: "inner_blobs" strings: "p" strings: "q" strings: "r" }
                 arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
                 arg { name: "copy_external_blobs" i: 1 }
                 arg { name: "net" n { name: "mul" op { type: "Tanh" input: "p" output: "t" }
                   op { type: "Mul" input: "t" input: "q" output: "r" } } } } } } }
             op { type: "Copy" input: "n" output: "v" })"),
                          R"(op { type: "Mul" input: "v" input: "x" output: "s" })"),
                     FeedBlobs, {"x", "w"});
}

TEST(WhileGradientTest, NamesBlobsAsCaffe2WithoutCarriedBlobs) {
  EXPECT_EQ(DescribeBackwardPass(Loop(R"(input: "x" input: "S" output: "z" output: "S")",
                                      Body("strings: 'x' strings: 'z'", "ints: 0 ints: 1",
                                           R"(op { type: "Sigmoid" input: "x" output: "z" })"),
                                      ""),
                                 "z"),
            "HasScope(S)->gradient_loop_cond_net/cond\n"
            "While(gradient_loop_cond_net/cond,z,z_grad,S)->x_grad,S\n"
            "  loop_net loop_grad\n"
            "    Do(z,z_grad,S)->x_grad,S\n"
            "      net body_grad\n"
            "        SigmoidGradient(z,z/_DO_OPERATOR_INNER_GRAD_)->x_grad\n"
            "        Copy(x_grad)->x/_DO_OPERATOR_INNER_GRAD_COPY_\n"
            "  cond_net gradient_loop_cond_net\n"
            "    HasScope(S)->gradient_loop_cond_net/cond\n");
}

TEST(WhileGradientTest, RunsOnTheDeviceOfTheForwardLoop) {
  for (const bool placed : {true, false}) {
    std::string text = Powers();
    const std::string loop = R"(n { name: "loop")";
    if (placed) text.insert(text.find(loop) + loop.size(), " device_option { random_seed: 7 }");
    NetDef net = ParseNet(text);
    AddGradientOperators(&net, {{"s", {}}});
    const NetDef* gradient = nullptr;
    for (const OperatorDef& op : net.op()) {
      if (op.type() != "While") continue;
      for (const Argument& argument : op.arg()) {
        if (argument.name() == "loop_net") gradient = &argument.n();
      }
    }
    ASSERT_NE(gradient, nullptr);
    EXPECT_EQ(gradient->name(), "loop_grad");
    EXPECT_EQ(gradient->has_device_option(), placed);
    EXPECT_EQ(gradient->device_option().random_seed(), placed ? 7u : 0u);
  }
}

TEST(WhileGradientTest, RejectsLoopsThatItCannotDifferentiate) {
  ExpectThrows(
      [&] {
        (void)DescribeBackwardPass(
            R"(op { type: "While" input: "c" input: "x" output: "x" output: "c"
          arg { name: "loop_net" n { name: "loop" op { type: "Tanh" input: "x" output: "x" } } } })",
            "x");
      },
      "net \"loop\" has 1 operator, the first one of type Tanh; a While with a gradient needs one "
      "Do");
  std::string without_copies = Powers();
  without_copies.replace(without_copies.find("copy_external_blobs"), 19, "reuse_workspace");
  ExpectThrows([&] { (void)DescribeBackwardPass(without_copies, "v"); },
               "argument \"copy_external_blobs\" is 0, want 1");
}

}  // namespace
}  // namespace caffe2rt::test::while_gradient_test
