// Conditions, bindings, lists and gradients of control operators next to their bounds, and copies of
// several levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/backward_pass.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/control/do_bindings.h"
#include "tests/operators/control/net_gradient.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::control_edges_test {
namespace {

std::string Outcome(Workspace* ws, const std::string& op) {
  return MessageOf([&] { (void)ws->RunOperatorOnce(ParseOp(op)); });
}

constexpr char kSuccess[] = "(nothing was thrown)";

// Elements are counted in their order in memory.
TEST(ControlEdgesTest, AssertLooksAtAllElementsOfAnyShape) {
  Workspace ws;
  const std::string op = "type: 'Assert' input: 'X'";
  const std::string text = op + " arg { name: 'error_msg' s: 'why' }";
  for (const int64_t zero : {0, 1, 2, 3, 4, 5}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{6}, {2, 3}, {3, 2, 1}, {1, 6}, {6, 1}}) {
      SCOPED_TRACE(MakeString(zero, " ", IntArrayRef(dims)));
      const std::string where = MakeString("element ", zero, " of input 0 (X) is ");
      std::vector<bool> bools(6, true);
      bools[static_cast<size_t>(zero)] = false;
      Feed<bool>(&ws, "X", dims, bools);
      EXPECT_THAT(Outcome(&ws, op), testing::EndsWith(where + "false"));
      EXPECT_THAT(Outcome(&ws, text), testing::EndsWith(where + "false: why"));
      std::vector<int32_t> ints(6, -1);
      ints[static_cast<size_t>(zero)] = 0;
      Feed<int32_t>(&ws, "X", dims, ints);
      EXPECT_THAT(Outcome(&ws, op), testing::EndsWith(where + "0"));
      EXPECT_THAT(Outcome(&ws, text), testing::EndsWith(where + "0: why"));
      Feed<int64_t>(&ws, "X", dims, std::vector<int64_t>(ints.begin(), ints.end()));
      EXPECT_THAT(Outcome(&ws, op), testing::EndsWith(where + "0"));
      EXPECT_THAT(Outcome(&ws, text), testing::EndsWith(where + "0: why"));
    }
  }
  Feed<int64_t>(&ws, "X", {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Outcome(&ws, text), kSuccess);
}

// One element of any rank, for If and While, also if the condition is true of all elements.
TEST(ControlEdgesTest, ConditionsHaveOneElement) {
  const std::string copy = R"( n { name: "n" op { type: "Copy" input: "no" output: "c" } } })";
  for (const std::string& op :
       {R"(type: "If" input: "c" output: "c" arg { name: "then_net")" + copy,
        R"(type: "While" input: "c" output: "c" arg { name: "loop_net")" + copy}) {
    for (const std::vector<int64_t>& dims :
         {std::vector<int64_t>{}, {1}, {1, 1}, {2}, {3, 1}, {0}, {1, 0}}) {
      SCOPED_TRACE(MakeString(op, IntArrayRef(dims)));
      Workspace ws;
      int64_t count = 1;
      for (const int64_t dim : dims) count *= dim;
      Feed<bool>(&ws, "no", {1}, {false});
      Feed<bool>(&ws, "c", dims, std::vector<bool>(static_cast<size_t>(count), true));
      const std::string got = Outcome(&ws, op);
      if (count == 1) {
        EXPECT_EQ(got, kSuccess);
        ExpectTensor<bool>(ws, "c", {1}, {false});
      } else {
        EXPECT_THAT(got, testing::EndsWith(MakeString("input 0 (condition) has shape ",
                                                      IntArrayRef(dims), ", want one element")));
      }
    }
  }
}

// The outputs follow the inputs, each at its own place, however many there are.
TEST(ControlEdgesTest, BindingsOfManyOutputsHaveTheirPlaces) {
  const std::vector<DoBinding> bindings = ReadDoBindings(
      ParseOp("type: 'Do' input: 'x' input: 'S' output: 'y0' output: 'y1' output: 'y2' output: "
              "'y3' output: 'S' arg { name: 'inner_blobs' strings: 'e' strings: 'd' strings: 'c' "
              "strings: 'b' strings: 'a' } arg { name: 'outer_blobs_idx' ints: 4 ints: 3 ints: 2 "
              "ints: 1 ints: 0 }"));
  std::vector<std::string> texts;
  for (const DoBinding& binding : bindings)
    texts.push_back(MakeString(binding.inner, " ", binding.outer, " ", binding.position));
  EXPECT_THAT(texts, testing::ElementsAre("e y3 5", "d y2 4", "c y1 3", "b y0 2", "a x 0"));
  Workspace ws;
  Feed<float>(&ws, "x", {1}, {1});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  std::string ops;
  for (const auto& [name, factor] : {std::pair{"b", 2}, {"c", 3}, {"d", 4}, {"e", 5}}) {
    ops += MakeString("op { type: 'Scale' input: 'a' output: '", name,
                      "' arg { name: 'scale' f: ", factor, " } } ");
  }
  ASSERT_TRUE(ws.RunOperatorOnce(
      ParseOp("type: 'Do' input: 'x' input: 'S' output: 'y0' output: 'y1' output: 'y2' output: "
              "'y3' output: 'S' arg { name: 'inner_blobs' strings: 'e' strings: 'd' strings: 'c' "
              "strings: 'b' strings: 'a' } arg { name: 'outer_blobs_idx' ints: 4 ints: 3 ints: 2 "
              "ints: 1 ints: 0 } arg { name: 'net' n { name: 'scales' " +
              ops + "} }")));
  for (const auto& [name, value] : {std::pair{"y0", 2.f}, {"y1", 3.f}, {"y2", 4.f}, {"y3", 5.f}}) {
    ExpectTensor<float>(ws, name, {1}, {value});
  }
}

// The gradients of each level read the copies that its own run made, of empty tensors as well.
TEST(ControlEdgesTest, CopiesOfEachLevelAreThoseOfItsRun) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  for (const char* name : {"x", "y", "g"}) ws.CreateBlob(name);
  const auto forward =
      CreateOperator(ParseOp(R"(type: "Do" input: "x" input: "S" output: "y" output: "S"
        arg { name: "copy_external_blobs" i: 1 }
        arg { name: "inner_blobs" strings: "in" strings: "out" }
        arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
        arg { name: "net" n { name: "n" op { type: "Negative" input: "in" output: "out" } } })"),
                     &ws);
  const auto backward = CreateOperator(
      ParseOp(R"(type: "Do" is_gradient_op: true input: "x" input: "S" output: "g" output: "S"
        arg { name: "inner_blobs" strings: "in" strings: "gout" }
        arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
        arg { name: "net" n { name: "back" op { type: "Copy" input: "in" output: "gout" } } })"),
      &ws);
  const std::vector<std::vector<float>> values = {{1, 2}, {}, {3}, {4, 5, 6}, {7}};
  for (int round = 0; round < 2; ++round) {
    for (const std::vector<float>& x : values) {
      Feed<float>(&ws, "x", {static_cast<int64_t>(x.size())}, x);
      ASSERT_TRUE(forward->Run());
    }
    Feed<float>(&ws, "x", {1}, {99});
    for (size_t i = values.size(); i-- > 0;) {
      ASSERT_TRUE(backward->Run());
      ExpectTensor<float>(ws, "g", {static_cast<int64_t>(values[i].size())}, values[i]);
    }
  }
}

// Only what the gradient's net reads and neither it nor an outer blob provides is kept for it.
TEST(ControlEdgesTest, SavedBlobsAreThoseThatTheGradientDoesNotCompute) {
  const auto saved = [](const std::string& ops) {
    const NetDef net = ParseNet(
        R"(op { type: "CreateScope" output: "S" }
           op { type: "Do" input: "X" input: "W" input: "S" output: "Y" output: "S"
             arg { name: "inner_blobs" strings: "x" strings: "w" strings: "y" }
             arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
             arg { name: "net" n { name: "net" )" +
        ops + " } } }");
    const BackwardPass pass = GetBackwardPass(net.op(), {{"Y", {.dense_ = "Y_grad"}}});
    CAFFE_ENFORCE_EQ(pass.ops.size(), 1u, "operators");
    return ArgumentHelper(pass.ops[0]).GetRepeatedArgument<std::string>("saved_fwd_blobs");
  };
  // MulGradient has two outputs, one of which TanhGradient reads.
  EXPECT_THAT(saved(R"(op { type: "Tanh" input: "x" output: "u" }
                       op { type: "Mul" input: "u" input: "w" output: "y" })"),
              testing::ElementsAre("u"));
  EXPECT_THAT(saved(R"(op { type: "Tanh" input: "x" output: "u" }
                       op { type: "Sigmoid" input: "w" output: "v" }
                       op { type: "Mul" input: "u" input: "v" output: "y" })"),
              testing::UnorderedElementsAre("u", "v"));
  EXPECT_THAT(saved(R"(op { type: "Mul" input: "x" input: "w" output: "y" })"), testing::IsEmpty());
}

TEST(ControlEdgesTest, SparseGradientsOfAnyOutputAreNamed) {
  const std::string net = R"(op { type: "CreateScope" output: "S" }
    op { type: "Do" input: "X" input: "S" output: "Y" output: "Z" output: "S"
      arg { name: "inner_blobs" strings: "x" strings: "y" strings: "z" }
      arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 }
      arg { name: "net" n { name: "net" op { type: "Tanh" input: "x" output: "y" }
        op { type: "Sqr" input: "x" output: "z" } } } })";
  const GradientWrapper dense{.dense_ = "given"}, sparse{.indices_ = "i", .values_ = "v"};
  const auto message = [&](const GradientStart& start) {
    return MessageOf([&] { (void)GetBackwardPass(ParseNet(net).op(), start); });
  };
  EXPECT_EQ(message({{"Y", dense}, {"Z", {.dense_ = "other"}}}), kSuccess);
  EXPECT_EQ(message({{"Z", dense}}), kSuccess);
  EXPECT_THAT(message({{"Y", dense}, {"Z", sparse}}),
              testing::EndsWith("the gradient of output \"Z\" is sparse, want a dense one"));
  EXPECT_THAT(message({{"Y", sparse}, {"Z", dense}}),
              testing::EndsWith("the gradient of output \"Y\" is sparse, want a dense one"));
}

// Nets may be nested kMaxNetDepth - 1 deep in the net of an operator.
TEST(ControlEdgesTest, NestingHasAnExactLimit) {
  const auto nested = [](int depth) {
    OperatorDef op = ParseOp(R"(type: "Copy" input: "x" output: "y")");
    for (int i = 0; i < depth; ++i) {
      OperatorDef outer = ParseOp(R"(type: "If" input: "c" input: "x" output: "y")");
      NetDef net;
      *net.add_op() = std::move(op);
      AddArgument("then_net", net, &outer);
      op = std::move(outer);
    }
    return op;
  };
  Workspace ws;
  Feed<bool>(&ws, "c", {1}, {true});
  Feed<float>(&ws, "x", {1}, {3});
  ASSERT_TRUE(ws.RunOperatorOnce(nested(kMaxNetDepth - 1)));
  ExpectTensor<float>(ws, "y", {1}, {3});
  for (const int depth : {kMaxNetDepth, kMaxNetDepth + 1}) {
    const OperatorDef op = nested(depth);
    EXPECT_THAT(
        MessageOf([&] { (void)ws.RunOperatorOnce(op); }),
        testing::HasSubstr(MakeString("nesting depth of the nets in argument \"then_net\": got ",
                                      kMaxNetDepth, ", want at most ", kMaxNetDepth - 1)));
  }
}

// The carried value becomes int32 in the first iteration, and is listed before.
TEST(ControlEdgesTest, ItemsOfAListHaveOneType) {
  const auto loop = [](int type) {
    return MakeString(R"(type: "ONNXWhile" input: "trips" input: "go" input: "x" output: "last"
      output: "all" arg { name: "has_trip_count" i: 1 } arg { name: "body" n { name: "body"
      external_input: "i" external_input: "c" external_input: "a" external_output: "c"
      external_output: "b" external_output: "item"
      op { type: "Copy" input: "a" output: "item" }
      op { type: "Cast" input: "item" output: "b" arg { name: "to" i: )",
                      type, " } } } }");
  };
  Workspace ws;
  Feed<int64_t>(&ws, "trips", {1}, {2});
  Feed<bool>(&ws, "go", {1}, {true});
  Feed<float>(&ws, "x", {2}, {1, 2});
  for (const auto& [type, name] : {std::pair{2, "int"}, {10, "long"}, {5, "bool"}}) {
    const std::string got = Outcome(&ws, loop(type));
    EXPECT_THAT(got, testing::HasSubstr("item 1 of list 0 has elements of type "));
    EXPECT_THAT(got, testing::EndsWith(", want float as the first one")) << name;
  }
  EXPECT_EQ(Outcome(&ws, loop(1)), kSuccess);
  ExpectTensor<float>(ws, "all", {4}, {1, 2, 1, 2});
}

// Lists without an iteration, of which each has its own type and shape.
TEST(ControlEdgesTest, EachListHasItsOwnEmptyShape) {
  const auto loop = [](const std::string& lists) {
    return R"(type: "ONNXWhile" input: "trips" input: "go" output: "p" output: "q"
      arg { name: "has_trip_count" i: 1 } arg { name: "empty_lists" )" +
           lists + R"( } arg { name: "body" n { name: "body" external_input: "i" external_input: "c"
      external_output: "c" external_output: "c" external_output: "c" } })";
  };
  Workspace ws;
  Feed<int64_t>(&ws, "trips", {1}, {0});
  Feed<bool>(&ws, "go", {1}, {true});
  Feed<float>(&ws, "q", {2}, {1, 2});
  EXPECT_EQ(Outcome(&ws, loop("ints: 10 ints: 1 ints: 0 ints: 1 ints: 2 ints: 0 ints: 3")),
            kSuccess);
  ExpectTensor<int64_t>(ws, "p", {0}, {});
  ExpectTensor<float>(ws, "q", {0, 3}, {});
  EXPECT_EQ(Outcome(&ws, loop("")), kSuccess);
  ExpectTensor<int32_t>(ws, "p", {0}, {});
  ExpectTensor<int32_t>(ws, "q", {0}, {});
  const std::string first = "ints: 10 ints: 1 ints: 0 ";
  const std::string want = " numbers, want type, rank and dimensions for each of 2 lists";
  EXPECT_THAT(Outcome(&ws, loop(first)), testing::EndsWith("argument empty_lists has 3" + want));
  EXPECT_THAT(Outcome(&ws, loop(first + "ints: 1 ints: 2 ints: 0")),
              testing::EndsWith("argument empty_lists has 6" + want));
  EXPECT_THAT(Outcome(&ws, loop(first + "ints: 1 ints: 1 ints: 0 ints: 4")),
              testing::EndsWith("numbers in argument empty_lists for 2 lists: got 6, want 7"));
  EXPECT_THAT(Outcome(&ws, loop(first + "ints: 1 ints: 2 ints: 1 ints: 0")),
              testing::EndsWith("argument empty_lists has shape [1, 0], want one without rows"));
  EXPECT_THAT(Outcome(&ws, loop(first + "ints: 1 ints: 1 ints: 1")),
              testing::EndsWith("argument empty_lists has shape [1], want one without rows"));
}

// The loop sets v to a constant, so that what v was before has no gradient.
TEST(ControlEdgesTest, LoopsThatOverwriteAValueEndItsGradient) {
  const std::string loop =
      R"(op { type: "Mul" input: "x" input: "x" output: "v" }
         op { type: "Sub" input: "one" input: "one" output: "i" }
         op { type: "CreateScope" output: "S" }
         op { type: "While" input: "c" input: "v" input: "S" input: "i" input: "one" input: "limit"
           output: "v" output: "S" output: "i" output: "c"
           arg { name: "cond_net" n { name: "test"
             op { type: "LT" input: "i" input: "limit" output: "c" }
             op { type: "Add" input: "i" input: "one" output: "i" } } }
           arg { name: "loop_net" n { name: "loop" op { type: "Do" input: "v" input: "S"
             output: "v" output: "S" arg { name: "copy_external_blobs" i: 1 }
             arg { name: "inner_blobs" strings: "v" } arg { name: "outer_blobs_idx" ints: 0 }
             arg { name: "net" n { name: "body" op { type: "GivenTensorFill" output: "v"
               arg { name: "shape" ints: 2 } arg { name: "values" floats: 3 floats: 4 } } } } } } } }
         op { type: "Mul" input: "v" input: "x" output: "s" })";
  const auto feed = [](Workspace* ws) {
    Feed<bool>(ws, "c", {1}, {true});
    Feed<float>(ws, "one", {1}, {1});
    Feed<float>(ws, "limit", {1}, {2});
    Feed<float>(ws, "x", {2}, {0.5f, 2});
  };
  ExpectNetGradients(loop, feed, {"x"});
}

}  // namespace
}  // namespace caffe2rt::test::control_edges_test
