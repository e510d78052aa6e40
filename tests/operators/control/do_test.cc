#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::do_test {
namespace {

constexpr char kCreate[] = R"(type: "CreateScope" output: "S")";
constexpr char kHas[] = R"(type: "HasScope" input: "S" output: "has")";
constexpr char kBlobs[] = R"(input: "x" input: "S" output: "y" output: "S" )";
constexpr char kBindings[] = R"(arg { name: "inner_blobs" strings: "in" strings: "out" }
  arg { name: "outer_blobs_idx" ints: 0 ints: 1 } )";

// A Do that writes three times its input, and keeps the product in "t".
std::string Do(const std::string& more = "", const std::string& blobs = kBlobs,
               const std::string& bindings = kBindings) {
  return R"(type: "Do" arg { name: "net" n { name: "triple"
    op { type: "Scale" input: "in" output: "t" arg { name: "scale" f: 3 } }
    op { type: "Copy" input: "t" output: "out" } } } )" +
         blobs + bindings + more;
}

// A gradient operator that writes `factor` times the product of the forward run.
std::string Backward(int factor) {
  return MakeString(R"(type: "Do" is_gradient_op: true input: "S" output: "g" output: "S"
    arg { name: "inner_blobs" strings: "gout" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "net" n { name: "back" op { type: "Scale" input: "t" output: "gout"
      arg { name: "scale" f: )",
                    factor, " } } } }");
}

class DoTest : public testing::Test {
 protected:
  DoTest() {
    Feed<float>(&ws_, "x", {2}, {1, 2});
    (void)ws_.RunOperatorOnce(ParseOp(kCreate));
  }
  bool HasScope() {
    (void)ws_.RunOperatorOnce(ParseOp(kHas));
    return Fetch<bool>(ws_, "has")[0];
  }
  Workspace ws_;
};

TEST_F(DoTest, RunsItsNetInItsOwnWorkspace) {
  RunOp(&ws_, Do());
  ExpectTensor<float>(ws_, "y", {2}, {3, 6});
  EXPECT_FALSE(ws_.HasBlob("t"));
  EXPECT_FALSE(ws_.HasBlob("in"));
  EXPECT_TRUE(HasScope());
}

// Otherwise the operator would use a blob outside that it does not list.
TEST_F(DoTest, RejectsANameThatAnEarlierOperatorHasBound) {
  RunOp(&ws_, Do());
  ExpectThrows(
      [&] {
        RunOp(&ws_, R"(type: "Do" input: "S" output: "S" arg { name: "net" n { name: "write"
          op { type: "Scale" input: "in" output: "in" } } } arg { name: "reuse_workspace" i: 1 })");
      },
      "inner blob \"in\" denotes a blob outside, which an operator that ran in this workspace "
      "before "
      "has bound, want it among inner_blobs");
  // Other blobs of the workspace need no binding.
  RunOp(&ws_, R"(type: "Do" input: "S" output: "z" output: "S" arg { name: "net" n { name: "take"
    op { type: "Copy" input: "t" output: "zz" } } } arg { name: "reuse_workspace" i: 1 }
    arg { name: "inner_blobs" strings: "zz" } arg { name: "outer_blobs_idx" ints: 0 })");
  ExpectTensor<float>(ws_, "z", {2}, {3, 6});
}

TEST_F(DoTest, RunsGradientsInReverseOrder) {
  RunOp(&ws_, Do());
  Feed<float>(&ws_, "x", {2}, {10, 20});
  RunOp(&ws_, Do());
  RunOp(&ws_, Backward(5));
  ExpectTensor<float>(ws_, "g", {2}, {150, 300});
  EXPECT_TRUE(HasScope());
  RunOp(&ws_, Backward(5));
  ExpectTensor<float>(ws_, "g", {2}, {15, 30});
  EXPECT_FALSE(HasScope());
  ExpectThrows([&] { RunOp(&ws_, Backward(5)); }, "the scope \"S\" holds no workspace");
}

TEST_F(DoTest, UpdatesInPlace) {
  for (const int index : {0, 1}) {
    Feed<float>(&ws_, "x", {2}, {1, 2});
    RunOp(&ws_, MakeString(R"(type: "Do" input: "x" input: "S" output: "x" output: "S"
      arg { name: "inner_blobs" strings: "v" } arg { name: "outer_blobs_idx" ints: )",
                           index, R"( } arg { name: "net" n { name: "n"
        op { type: "Scale" input: "v" output: "v" arg { name: "scale" f: 3 } } } })"));
    ExpectTensor<float>(ws_, "x", {2}, {3, 6});
  }
}

TEST_F(DoTest, SeesOnlyBoundBlobs) {
  ExpectThrows(
      [&] {
        RunOp(&ws_, R"(type: "Do" input: "x" input: "S" output: "y" output: "S"
          arg { name: "inner_blobs" strings: "in" strings: "out" }
          arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
          arg { name: "net" n { name: "n" op { type: "Copy" input: "x" output: "out" } } })");
      },
      "non-existing input blob: x");
}

TEST_F(DoTest, KeepsCopiesForTheGradient) {
  const std::string backward = R"(type: "Do" is_gradient_op: true input: "x" input: "S" output: "g"
    output: "S" arg { name: "inner_blobs" strings: "in" strings: "gout" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "back" op { type: "Copy" input: "in" output: "gout" } } })";
  RunOp(&ws_, Do());
  Feed<float>(&ws_, "x", {2}, {7, 8});
  RunOp(&ws_, backward);
  ExpectTensor<float>(ws_, "g", {2}, {7, 8});
  Feed<float>(&ws_, "x", {2}, {1, 2});
  RunOp(&ws_, Do(R"(arg { name: "copy_external_blobs" i: 1 })"));
  Feed<float>(&ws_, "x", {2}, {7, 8});
  RunOp(&ws_, backward);
  ExpectTensor<float>(ws_, "g", {2}, {1, 2});
}

// Copies would hide the outer blobs from the next gradient operator in the same workspace.
TEST_F(DoTest, KeepsNoCopiesForAGradient) {
  const std::string backward = R"(type: "Do" is_gradient_op: true input: "x" input: "S" output: "g"
    output: "S" arg { name: "inner_blobs" strings: "in" strings: "gout" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 } arg { name: "copy_external_blobs" i: 1 }
    arg { name: "net" n { name: "back" op { type: "Copy" input: "in" output: "gout" } } })";
  const std::unique_ptr<OperatorBase> forward = CreateOperator(ParseOp(Do()), &ws_);
  for (const float x : {1.0f, 7.0f}) {
    Feed<float>(&ws_, "x", {2}, {x, 2 * x});
    ASSERT_TRUE(forward->Run());
    RunOp(&ws_, backward);
    ExpectTensor<float>(ws_, "g", {2}, {x, 2 * x});
  }
}

// Caffe2 crashes in the second run of such a net.
TEST_F(DoTest, RefreshesTheCopiesInEachRun) {
  NetBase* net = ws_.CreateNet(ParseNet("name: 'outer' op { " + std::string(kCreate) + " } op { " +
                                        Do(R"(arg { name: "copy_external_blobs" i: 1 })") + R"( }
    op { type: "Scale" input: "x" output: "x" arg { name: "scale" f: 10 } }
    op { type: "Do" is_gradient_op: true input: "x" input: "S" output: "g" output: "S"
      arg { name: "inner_blobs" strings: "in" strings: "gout" }
      arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
      arg { name: "net" n { name: "back" op { type: "Add" input: "in" input: "t" output: "gout" } } } })"));
  for (const float x : {1.0f, 2.0f, 3.0f}) {
    Feed<float>(&ws_, "x", {2}, {x, x});
    ASSERT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "y", {2}, {3 * x, 3 * x});
    ExpectTensor<float>(ws_, "g", {2}, {4 * x, 4 * x});
  }
}

TEST_F(DoTest, ReusesTheLastWorkspace) {
  const std::string reuse = R"(arg { name: "reuse_workspace" i: 1 })";
  RunOp(&ws_, Do(reuse));
  RunOp(&ws_, R"(type: "Do" input: "S" output: "z" output: "S" arg { name: "reuse_workspace" i: 1 }
    arg { name: "inner_blobs" strings: "z" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "net" n { name: "triple" op { type: "Copy" input: "t" output: "z" } } })");
  ExpectTensor<float>(ws_, "z", {2}, {3, 6});
  RunOp(&ws_, Backward(1));
  EXPECT_FALSE(HasScope());
  RunOp(&ws_, Do(reuse));
  Feed<float>(&ws_, "x2", {1}, {1});
  ExpectThrows(
      [&] { RunOp(&ws_, Do(reuse, R"(input: "x2" input: "S" output: "y" output: "S" )")); },
      "inner blob \"in\" cannot denote \"x2\"");
}

TEST_F(DoTest, GivesAnotherOperatorANewWorkspace) {
  RunOp(&ws_, Do());
  RunOp(&ws_, Backward(1));
  Feed<float>(&ws_, "x2", {1}, {7});
  RunOp(&ws_, Do("", R"(input: "x2" input: "S" output: "y2" output: "S" )"));
  ExpectTensor<float>(ws_, "y2", {1}, {21});
}

TEST_F(DoTest, Nests) {
  (void)ws_.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "V")"));
  RunOp(&ws_, R"(type: "Do" input: "x" input: "V" input: "S" output: "y" output: "V" output: "S"
    arg { name: "inner_blobs" strings: "a" strings: "v" strings: "b" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
    arg { name: "net" n { name: "outer"
      op { type: "Do" input: "a" input: "v" output: "b" output: "v"
        arg { name: "inner_blobs" strings: "p" strings: "q" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
        arg { name: "net" n { name: "inner" op { type: "Negative" input: "p" output: "q" } } } } } })");
  ExpectTensor<float>(ws_, "y", {2}, {-1, -2});
}

TEST_F(DoTest, ReplacesAScopeOfAnotherType) {
  Feed<float>(&ws_, "S2", {1}, {1});
  RunOp(&ws_, Do("", R"(input: "x" input: "S2" output: "y" output: "S2" )"));
  ExpectTensor<float>(ws_, "y", {2}, {3, 6});
}

TEST_F(DoTest, RejectsInvalidBindings) {
  const auto bindings = [](const std::string& inner, const std::string& outer) {
    return MakeString(R"(arg { name: "inner_blobs" )", inner,
                      R"( } arg { name: "outer_blobs_idx" )", outer, " } ");
  };
  const auto expect = [&](const std::string& args, const std::string& error,
                          const std::string& blobs = kBlobs) {
    ExpectThrows([&] { RunOp(&ws_, Do("", blobs, args)); }, error);
  };
  expect("", "is an input or output of the operator, but argument \"inner_blobs\" binds no name");
  expect(bindings("strings: 'in' strings: 'in'", "ints: 0 ints: 1"), "has \"in\" twice");
  expect(bindings("strings: 'in' strings: 'out'", "ints: 0"), "must have as many names");
  expect(bindings("strings: 'in' strings: 'out'", "ints: 0 ints: 2"), "has 2 for \"out\"");
  expect(bindings("strings: 'in' strings: 'out'", "ints: 0 ints: -1"), "has -1 for \"out\"");
  expect(bindings("strings: 'in' strings: 'o' strings: 'p'", "ints: 0 ints: 1 ints: 0"),
         "blob \"x\" is bound to two inner names");
  expect(kBindings, "want the same blob: the scope",
         R"(input: "x" input: "S" output: "S" output: "y" )");
  expect(kBindings, "input \"x\" is listed twice",
         R"(input: "x" input: "x" input: "S" output: "y" output: "S" )");
  expect(kBindings, "the scope \"S\" is also another input",
         R"(input: "S" input: "S" output: "y" output: "S" )");
}

TEST_F(DoTest, RejectsInvalidArguments) {
  ExpectThrows([&] { RunOp(&ws_, R"(type: "Do" )" + std::string(kBlobs) + kBindings); }, "net");
  ExpectThrows(
      [&] { RunOp(&ws_, R"(type: "Do" input: "S" output: "S" arg { name: "net" n { } })"); },
      "the net in argument \"net\" has no name");
  ExpectThrows(
      [&] {
        RunOp(
            &ws_,
            Do(R"(arg { name: "reuse_workspace" i: 1 } arg { name: "copy_external_blobs" i: 1 })"));
      },
      "are both 1, want at most one of them");
  ExpectThrows(
      [&] { RunOp(&ws_, Do(R"(is_gradient_op: true arg { name: "reuse_workspace" i: 1 })")); },
      "is 1 for a gradient operator");
}

// Otherwise the scope would own a workspace that owns the scope.
TEST_F(DoTest, RejectsItsScopeUnderAnotherName) {
  (void)ws_.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "V")"));
  Workspace inner;
  inner.ShareBlob("one", ws_.FindBlob("V"));
  inner.ShareBlob("two", ws_.FindBlob("V"));
  OperatorDef op = ParseOp(R"(type: "Do" input: "one" input: "two" output: "two"
    arg { name: "inner_blobs" strings: "v" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "net" n { name: "n" } })");
  ExpectThrows([&] { (void)inner.RunOperatorOnce(op); }, "is the scope under another name");
}

// Otherwise an operator could work in place that must not.
TEST_F(DoTest, RejectsASecondNameOfABlobInAReusedWorkspace) {
  RunOp(&ws_, Do());
  const OperatorDef reuse = ParseOp(R"(type: "Do" input: "x" input: "S" output: "S"
    arg { name: "inner_blobs" strings: "again" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "reuse_workspace" i: 1 }
    arg { name: "net" n { name: "n" op { type: "Copy" input: "again" output: "t" } } })");
  for (int run = 0; run < 2; ++run) {
    ExpectThrows([&] { (void)ws_.RunOperatorOnce(reuse); },
                 "inner blob \"again\" and inner blob \"in\"");
  }
}

// The workspaces of two scopes hold each other's scope. The net would destroy the scope in which it
// runs.
TEST_F(DoTest, RejectsANetThatFreesItsScope) {
  (void)ws_.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "V")"));
  RunOp(&ws_, R"(type: "Do" input: "S" input: "V" output: "V"
    arg { name: "inner_blobs" strings: "s" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "net" n { name: "look" op { type: "HasScope" input: "s" output: "h" } } })");
  ExpectThrows(
      [&] {
        RunOp(&ws_, R"(type: "Do" input: "V" input: "x" input: "S" output: "S"
    arg { name: "copy_external_blobs" i: 1 }
    arg { name: "inner_blobs" strings: "v" strings: "a" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "outer" op { type: "Do" input: "v" output: "v"
      arg { name: "reuse_workspace" i: 1 } arg { name: "inner_blobs" }
      arg { name: "outer_blobs_idx" }
      arg { name: "net" n { name: "free" op { type: "Free" input: "s" output: "s" } } } } } })");
      },
      "inner blob \"s\" denotes a blob outside");
  ws_.FindBlob("S")->Reset();  // ends the cycle
}

}  // namespace
}  // namespace caffe2rt::test::do_test
