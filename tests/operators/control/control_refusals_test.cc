// Whole messages of Do about its bindings and modes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/control/do_bindings.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::control_refusals_test {
namespace {

constexpr char kNet[] = R"( arg { name: "net" n { name: "copy"
  op { type: "Copy" input: "in" output: "out" } } })";

struct RejectedDo {
  std::string blobs;
  std::vector<std::string> names;
  std::vector<int> places;
  std::string message;
  std::string more = "";
};

std::string DoOf(const RejectedDo& row) {
  std::string text = R"(type: "Do" )" + row.blobs + R"( arg { name: "inner_blobs")";
  for (const std::string& name : row.names) text += " strings: \"" + name + "\"";
  text += R"( } arg { name: "outer_blobs_idx")";
  for (const int place : row.places) text += MakeString(" ints: ", place);
  return text + " }" + kNet + row.more;
}

// The operator's own sentence begins after its frame.
void ExpectRejectedDos(const std::vector<RejectedDo>& rows) {
  for (const RejectedDo& row : rows) {
    Workspace ws;
    (void)ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")"));
    Feed<float>(&ws, "x", {2}, {1, 2});
    Feed<float>(&ws, "v", {2}, {1, 2});
    const std::string got = MessageOf([&] { RunOp(&ws, DoOf(row)); });
    EXPECT_TRUE(got == row.message || got.ends_with(": " + row.message))
        << "got:  " << got << "\nwant: " << row.message;
  }
}

const std::string kBlobs = R"(input: "x" input: "S" output: "y" output: "S")";

// The bindings are read by makers of gradients, too, which create no operator.
TEST(ControlRefusalsTest, OfBindingsKeepTheScopeApart) {
  const auto message = [](const std::string& blobs, const std::string& arguments) {
    return MessageOf(
        [&] { (void)ReadDoBindings(ParseOp("type: 'Do' " + blobs + " " + arguments)); });
  };
  const std::string two =
      "arg { name: 'inner_blobs' strings: 'in' strings: 'out' } arg { name: 'outer_blobs_idx' "
      "ints: "
      "0 ints: 1 }";
  EXPECT_EQ(message("input: 'x' input: 'S' output: 'y' output: 'S'", two), "(nothing was thrown)");
  EXPECT_EQ(message("input: 'x' input: 'S' output: 'S' output: 'S'", two),
            "the scope \"S\" is also another output, want it as the last one only");
  EXPECT_EQ(message("input: 'S' input: 'S' output: 'y' output: 'S'", two),
            "the scope \"S\" is also another input, want it as the last one only");
  EXPECT_EQ(message("input: 'x' input: 'x' input: 'S' output: 'S'", two),
            "input \"x\" is listed twice, want different blobs");
  EXPECT_EQ(message("input: 'x' input: 'S' output: 'S' output: 'y'", two),
            "the last input is \"S\" and the last output is \"y\", want the same blob: the scope");
  for (const char* none : {"", "input: 'S'", "output: 'S'"}) {
    EXPECT_THAT(message(none, ""), testing::EndsWith(", want at least one of each: the scope"));
  }
}

// Positions count the outputs behind the inputs without the scope between them.
TEST(ControlRefusalsTest, BindingsHaveThePlacesOfTheirBlobs) {
  const std::vector<DoBinding> bindings = ReadDoBindings(ParseOp(
      "type: 'Do' input: 'x' input: 'w' input: 'S' output: 'y' output: 'z' output: 'S' arg { "
      "name: 'inner_blobs' strings: 'd' strings: 'a' strings: 'c' strings: 'b' } arg { name: "
      "'outer_blobs_idx' ints: 3 ints: 0 ints: 2 ints: 1 }"));
  ASSERT_EQ(bindings.size(), 4u);
  std::vector<std::string> texts;
  for (const DoBinding& binding : bindings)
    texts.push_back(MakeString(binding.inner, " ", binding.outer, " ", binding.position));
  EXPECT_THAT(texts, testing::ElementsAre("d z 4", "a x 0", "c y 3", "b w 1"));
}

TEST(ControlRefusalsTest, OfBindingsNameBlobsAndPlaces) {
  ExpectRejectedDos({
      {R"(input: "x" output: "S")",
       {},
       {},
       "the last input is \"x\" and the last output is \"S\", want the same blob: the scope"},
      {R"(input: "x" input: "x" input: "S" output: "S")",
       {"in"},
       {0},
       "input \"x\" is listed twice, want different blobs"},
      {R"(input: "S" input: "S" output: "S")",
       {},
       {},
       "the scope \"S\" is also another input, want it as the last one only"},
      {kBlobs,
       {"in", "out"},
       {0},
       "argument \"inner_blobs\" must have as many names as argument \"outer_blobs_idx\" has "
       "indices: got 2, want 1"},
      {kBlobs,
       {"in", "in"},
       {0, 1},
       "argument \"inner_blobs\" has \"in\" twice, want different names"},
      {kBlobs,
       {"in", "out"},
       {0, 2},
       "argument \"outer_blobs_idx\" has 2 for \"out\", want at least 0 and less than 2, the "
       "number of inputs and outputs without the scope"},
      {kBlobs,
       {"in", "out"},
       {-1, 1},
       "argument \"outer_blobs_idx\" has -1 for \"in\", want at least 0 and less than 2, the "
       "number of inputs and outputs without the scope"},
      {kBlobs, {"in", "out"}, {1, 1}, "blob \"y\" is bound to two inner names, want one"},
      {kBlobs,
       {"in"},
       {0},
       "blob \"y\" is an input or output of the operator, but argument \"inner_blobs\" binds no "
       "name to it"},
  });
}

TEST(ControlRefusalsTest, OfModesNameBothArguments) {
  const std::string reuse = R"( arg { name: "reuse_workspace" i: 1 })";
  ExpectRejectedDos({
      {kBlobs,
       {"in", "out"},
       {0, 1},
       "argument \"reuse_workspace\" is 1 for a gradient operator, want 0: it takes a workspace "
       "off the stack",
       reuse + " is_gradient_op: true"},
      {kBlobs,
       {"in", "out"},
       {0, 1},
       "arguments \"reuse_workspace\" and \"copy_external_blobs\" are both 1, want at most one of "
       "them",
       reuse + R"( arg { name: "copy_external_blobs" i: 1 })"},
      {kBlobs,
       {"in", "out"},
       {0, 1},
       "the scope \"S\" holds no workspace, want one in which the forward operator has run",
       " is_gradient_op: true"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::control_refusals_test
