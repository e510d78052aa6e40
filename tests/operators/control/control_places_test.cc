// Where nets inside of operators run: the files that they may open, the workspaces that a kept operator
// uses after another one, and copies of what is bound.
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/signal_handler.h"
#include "caffe2_core/io/file_access.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::control_places_test {
namespace {

// The body looks for the database "m" in the root folder, and returns whether it exists.
std::string Looks(const std::string& arguments) {
  return R"(type: "ONNXWhile" input: "trips" input: "go" input: "found" output: "found"
    arg { name: "has_trip_count" i: 1 } )" +
         arguments + R"( arg { name: "body" n { name: "body"
      external_input: "i" external_input: "c" external_input: "f"
      external_output: "c" external_output: "e"
      op { type: "DBExists" output: "e" arg { name: "db_name" s: "m" }
           arg { name: "db_type" s: "minidb" } } } })";
}

TEST(ControlPlacesTest, TheBodyOfALoopOpensFilesAsTheWorkspaceAroundDoes) {
  const TempDir dir;
  {
    Workspace ws(dir.path());
    Feed<float>(&ws, "a", {1}, {7});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(
        "type: 'Save' input: 'a' arg { name: 'db' s: 'm' } arg { name: 'db_type' s: 'minidb' }")));
  }
  for (const char* arguments :
       {"", "arg { name: 'save_scopes' i: 1 }", "arg { name: 'disable_scopes' i: 1 }"}) {
    SCOPED_TRACE(arguments);
    const auto run = [&](const std::string& root, const FileAccess& access) {
      Workspace ws(root);
      ws.SetFileAccess(access);
      Feed<int64_t>(&ws, "trips", {1}, {3});
      Feed<bool>(&ws, "go", {1}, {true});
      Feed<bool>(&ws, "found", {}, {false});
      const std::string message =
          MessageOf([&] { (void)ws.RunOperatorOnce(ParseOp(Looks(arguments))); });
      if (message != "(nothing was thrown)") return message;
      return std::string(Fetch<bool>(ws, "found")[0] ? "found" : "not found");
    };
    EXPECT_EQ(run(dir.path(), FileAccess::Free()), "found");
    EXPECT_EQ(run(dir.path("none"), FileAccess::Free()), "not found");
    EXPECT_EQ(run(dir.path(), FileAccess::Below({dir.path()})), "found");
    EXPECT_THAT(run(dir.path(), FileAccess::Off("ask the owner")),
                testing::HasSubstr("ask the owner"));
  }
}

std::string Scaled(const std::string& in, const std::string& out, int factor) {
  return MakeString(R"(type: "Do" input: ")", in, R"(" input: "S" output: ")", out,
                    R"(" output: "S" arg { name: "inner_blobs" strings: "in" strings: "out" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 } arg { name: "net" n { name: "n"
      op { type: "Scale" input: "in" output: "t" arg { name: "scale" f: )",
                    factor, R"( } } op { type: "Copy" input: "t" output: "out" } } })");
}
const std::string kTakeProduct = R"(type: "Do" is_gradient_op: true input: "S" output: "g" output: "S"
    arg { name: "inner_blobs" strings: "g" } arg { name: "outer_blobs_idx" ints: 0 }
    arg { name: "net" n { name: "take" op { type: "Copy" input: "t" output: "g" } } })";

// Two operators use the scope in turn, each with a workspace of its own, which the other one replaces.
TEST(ControlPlacesTest, AKeptDoUsesTheWorkspaceThatTheScopeHasNow) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  for (const char* name : {"y", "z", "g"}) ws.CreateBlob(name);
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "w", {2}, {1, 1});
  const auto first = CreateOperator(ParseOp(Scaled("x", "y", 3)), &ws);
  const auto second = CreateOperator(ParseOp(Scaled("w", "z", 5)), &ws);
  const auto kept_take = CreateOperator(ParseOp(kTakeProduct), &ws);
  for (const float x : {1.0f, 2.0f, 4.0f}) {
    SCOPED_TRACE(x);
    Feed<float>(&ws, "x", {1}, {x});
    Feed<float>(&ws, "w", {2}, {x, -x});
    ASSERT_TRUE(first->Run());
    ExpectTensor<float>(ws, "y", {1}, {3 * x});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kTakeProduct)));
    ExpectTensor<float>(ws, "g", {1}, {3 * x});
    ASSERT_TRUE(second->Run());
    ExpectTensor<float>(ws, "z", {2}, {5 * x, -5 * x});
    ASSERT_TRUE(kept_take->Run());
    ExpectTensor<float>(ws, "g", {2}, {5 * x, -5 * x});
  }
}

// At depth 2, too: the operator keeps a net for each depth.
TEST(ControlPlacesTest, AKeptDoHasANetForEachDepth) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  for (const char* name : {"y", "g"}) ws.CreateBlob(name);
  Feed<float>(&ws, "x", {1}, {1});
  const auto forward = CreateOperator(ParseOp(Scaled("x", "y", 3)), &ws);
  const auto take = CreateOperator(ParseOp(kTakeProduct), &ws);
  for (const float base : {1.0f, 10.0f}) {
    for (int i = 0; i < 3; ++i) {
      Feed<float>(&ws, "x", {1}, {base + static_cast<float>(i)});
      ASSERT_TRUE(forward->Run());
    }
    for (int i = 2; i >= 0; --i) {
      ASSERT_TRUE(take->Run());
      ExpectTensor<float>(ws, "g", {1}, {3 * (base + static_cast<float>(i))});
    }
  }
}

// Another operator's workspace comes in between, so that the next one needs copies again.
TEST(ControlPlacesTest, AKeptDoCopiesIntoTheWorkspaceThatTheScopeHasNow) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  for (const char* name : {"y", "z", "g"}) ws.CreateBlob(name);
  Feed<float>(&ws, "x", {1}, {1});
  Feed<float>(&ws, "w", {2}, {1, 1});
  const auto first = CreateOperator(
      ParseOp(Scaled("x", "y", 3) + R"( arg { name: "copy_external_blobs" i: 1 })"), &ws);
  const auto second = CreateOperator(ParseOp(Scaled("w", "z", 5)), &ws);
  const std::string take_input =
      R"(type: "Do" is_gradient_op: true input: "x" input: "S" output: "g"
    output: "S" arg { name: "inner_blobs" strings: "in" strings: "g" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "take" op { type: "Copy" input: "in" output: "g" } } })";
  for (const float x : {1.0f, 2.0f, 4.0f}) {
    SCOPED_TRACE(x);
    Feed<float>(&ws, "x", {1}, {x});
    ASSERT_TRUE(first->Run());
    Feed<float>(&ws, "x", {1}, {-7});
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(take_input)));
    ExpectTensor<float>(ws, "g", {1}, {x});
    ASSERT_TRUE(second->Run());
    ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(kTakeProduct)));
    ExpectTensor<float>(ws, "g", {2}, {5, 5});
  }
}

// Any number but 0 is true; of several, the first one counts.
TEST(ControlPlacesTest, AConditionOfALoopIsFalseAtZeroOnly) {
  const std::string op = R"(type: "ONNXWhile" input: "trips" input: "go" input: "x" output: "last"
    arg { name: "has_trip_count" i: 1 } arg { name: "has_cond" i: 1 }
    arg { name: "body" n { name: "body" external_input: "i" external_input: "c" external_input: "a"
      external_output: "c" external_output: "b"
      op { type: "Scale" input: "a" output: "b" arg { name: "scale" f: 2 } } } })";
  Workspace ws;
  Feed<int64_t>(&ws, "trips", {2}, {3, 99});
  Feed<float>(&ws, "x", {1}, {1});
  const auto last = [&] {
    EXPECT_TRUE(ws.RunOperatorOnce(ParseOp(op)));
    return Fetch<float>(ws, "last")[0];
  };
  for (const int32_t go : {-1, 2, INT32_MIN}) {
    Feed<int32_t>(&ws, "go", {1}, {go});
    EXPECT_EQ(last(), 8) << go;
  }
  Feed<int32_t>(&ws, "go", {2}, {0, 1});
  EXPECT_EQ(last(), 1);
  for (const int64_t go : {int64_t{-1}, int64_t{1} << 32, INT64_MIN}) {
    Feed<int64_t>(&ws, "go", {1}, {go});
    EXPECT_EQ(last(), 8) << go;
  }
  Feed<int64_t>(&ws, "go", {2}, {0, 1});
  EXPECT_EQ(last(), 1);
  Feed<bool>(&ws, "go", {2}, {true, false});
  EXPECT_EQ(last(), 8);
  Feed<bool>(&ws, "go", {1}, {false});
  EXPECT_EQ(last(), 1);
}

// An operator that sends SIGINT to the process.
class ControlPlacesRaiseOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return std::raise(SIGINT) == 0; }
};
REGISTER_CPU_OPERATOR(ControlPlacesRaise, ControlPlacesRaiseOp);
OPERATOR_SCHEMA(ControlPlacesRaise).NumInputs(0).NumOutputs(0);

// The signal of the first iteration ends the loop behind it.
TEST(ControlPlacesTest, ASignalEndsLoopsAfterTheIteration) {
  const SignalHandler handled;  // as a program that runs a plan
  const std::string raise = R"(op { type: "ControlPlacesRaise" } )";
  Workspace ws;
  for (const char* loop :
       {R"(type: "ONNXWhile" input: "trips" input: "c" output: "unused"
           arg { name: "has_trip_count" i: 1 }
           arg { name: "body" n { name: "b" external_input: "i" external_input: "c"
             external_output: "c" )",
        R"(type: "While" input: "c" output: "c" arg { name: "loop_net" n { name: "b" )"}) {
    Feed<int64_t>(&ws, "trips", {1}, {5});
    Feed<bool>(&ws, "c", {1}, {true});
    const std::string got =
        MessageOf([&] { (void)ws.RunOperatorOnce(ParseOp(loop + raise + "} }")); });
    EXPECT_THAT(got, testing::EndsWith("the loop was interrupted by a signal after 1 iterations"));
  }
}

// An operator that stops the run around it.
std::atomic<bool>& RunIsStopped() {
  static std::atomic<bool> stopped{false};
  return stopped;
}
class ControlPlacesStopOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override { return RunIsStopped() = true; }
};
REGISTER_CPU_OPERATOR(ControlPlacesStop, ControlPlacesStopOp);
OPERATOR_SCHEMA(ControlPlacesStop).NumInputs(0).NumOutputs(0);

// The last operator of the iteration stops the run, which ends the loop although it would end anyway.
TEST(ControlPlacesTest, AStoppedRunEndsLoopsAfterTheIteration) {
  Workspace ws;
  Feed<bool>(&ws, "no", {1}, {false});
  Feed<int64_t>(&ws, "trips", {1}, {1});
  const std::string loops[] = {
      R"(type: "While" input: "c" output: "c" arg { name: "loop_net" n { name: "b"
         op { type: "Copy" input: "no" output: "c" } )",
      R"(type: "ONNXWhile" input: "trips" input: "c" input: "x" output: "x"
         arg { name: "has_trip_count" i: 1 } arg { name: "body" n { name: "b" external_input: "i"
         external_input: "c" external_input: "v" external_output: "c" external_output: "w"
         op { type: "Copy" input: "v" output: "w" } )"};
  for (const std::string& loop : loops) {
    for (const bool stops : {false, true}) {
      RunIsStopped() = false;
      const StopScope scope(RunIsStopped());
      Feed<bool>(&ws, "c", {1}, {true});
      Feed<float>(&ws, "x", {1}, {2});
      const std::string got = MessageOf([&] {
        (void)ws.RunOperatorOnce(
            ParseOp(loop + (stops ? "op { type: 'ControlPlacesStop' } } }" : "} }")));
      });
      if (stops) {
        EXPECT_THAT(got,
                    testing::EndsWith("the run was stopped while the operator waited or looped"));
      } else {
        EXPECT_EQ(got, "(nothing was thrown)");
      }
    }
  }
}

// An operator lists what its net reads, and what it writes, of the blobs that an earlier one has bound.
TEST(ControlPlacesTest, ANetInAReusedWorkspaceBindsWhatItReadsOrWrites) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  Feed<float>(&ws, "x", {1}, {2});
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(Scaled("x", "y", 3))));
  const auto message = [&](const std::string& from, const std::string& to) {
    return MessageOf([&] {
      (void)ws.RunOperatorOnce(ParseOp(MakeString(
          R"(type: "Do" input: "S" output: "S" arg { name: "reuse_workspace" i: 1 }
             arg { name: "net" n { name: "n" op { type: "Copy" input: ")",
          from, R"(" output: ")", to, R"(" } } })")));
    });
  };
  EXPECT_EQ(message("t", "own"), "(nothing was thrown)");
  EXPECT_THAT(message("in", "own"),
              testing::HasSubstr("inner blob \"in\" denotes a blob outside, which an operator"));
  EXPECT_THAT(message("t", "out"),
              testing::HasSubstr("inner blob \"out\" denotes a blob outside, which an operator"));
  ExpectTensor<float>(ws, "y", {1}, {6});
}

// What is not a tensor is bound, but not copied; a blob that is written later is copied as it is then.
TEST(ControlPlacesTest, CopiesOfBoundBlobsAreOfTensorsOnly) {
  Workspace ws;
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateScope" output: "S")")));
  ASSERT_TRUE(ws.RunOperatorOnce(ParseOp(R"(type: "CreateCounter" output: "count")")));
  for (const char* name : {"n", "g", "m"}) ws.CreateBlob(name);
  const auto forward = CreateOperator(ParseOp(R"(type: "Do" input: "count" input: "S" output: "n"
    output: "S" arg { name: "copy_external_blobs" i: 1 }
    arg { name: "inner_blobs" strings: "k" strings: "v" } arg { name: "outer_blobs_idx" ints: 0 ints: 1 }
    arg { name: "net" n { name: "up" op { type: "CountUp" input: "k" output: "v" } } })"),
                                      &ws);
  const auto backward =
      CreateOperator(ParseOp(R"(type: "Do" is_gradient_op: true input: "count" input: "n"
    input: "S" output: "g" output: "m" output: "S"
    arg { name: "inner_blobs" strings: "k" strings: "v" strings: "g" strings: "m" }
    arg { name: "outer_blobs_idx" ints: 0 ints: 1 ints: 2 ints: 3 }
    arg { name: "net" n { name: "back" op { type: "Copy" input: "v" output: "g" }
      op { type: "RetrieveCount" input: "k" output: "m" } } })"),
                     &ws);
  for (int64_t run = 0; run < 3; ++run) {
    ASSERT_TRUE(forward->Run());
    ExpectTensor<int64_t>(ws, "n", {}, {run});
    Feed<int64_t>(&ws, "n", {1}, {99});
    ASSERT_TRUE(backward->Run());
    ExpectTensor<int64_t>(ws, "g", {}, {run});      // the copy
    ExpectTensor<int64_t>(ws, "m", {}, {run + 1});  // the counter itself
  }
}

}  // namespace
}  // namespace caffe2rt::test::control_places_test
