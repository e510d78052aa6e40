// `caffe2 inspect` on plans and init nets.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::inspect_plan_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPlan[] = R"(
name: "p"
network { name: "init" op { type: "ConstantFill" output: "w" } }
network { name: "train" op { type: "Add" input: "w" input: "x" output: "w" } }
execution_step { name: "first" network: "init" }
execution_step { name: "loop" num_iter: 3 network: "train" })";

TEST(InspectPlanTest, FollowsBlobsFromNetToNet) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", kPlan);
  const ProgramResult text = RunCaffe2({"inspect", plan});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out,
              AllOf(ContainsRegex("blob +written by +read by"), ContainsRegex("w +init +train\n"),
                    ContainsRegex("x +\\(outside\\) +train\n"),
                    ContainsRegex("w +train +train \\(next iteration\\)\n")));
  const ProgramResult json = RunCaffe2({"inspect", plan, "--json"});
  EXPECT_EQ(JsonAt(json.out, "/blobs"),
            R"([{"blob":"w","written_by":"init","read_by":"train"},)"
            R"({"blob":"x","read_by":"train"},)"
            R"({"blob":"w","written_by":"train","read_by":"train","next_iteration":true}])");
  EXPECT_THAT(RunCaffe2({"inspect", plan, "--limit", "1"}).out, HasSubstr("... --limit 3 prints"));
}

// A step reads its stop blob; in a loop that may be the one of the iteration before.
TEST(InspectPlanTest, StopBlobsFlowToSteps) {
  const TempDir dir;
  const std::string plan = dir.Write("plan.pbtxt", R"(name: "p"
      network { name: "a" op { type: "ConstantFill" output: "t" } }
      network { name: "b" op { type: "ConstantFill" output: "s" } }
      execution_step { name: "outer" num_iter: 2
                       substep { name: "in" network: "a" should_stop_blob: "s" }
                       substep { name: "last" network: "b" }
                       substep { network: "a" should_stop_blob: "s" } })");
  const ProgramResult text = RunCaffe2({"inspect", plan});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("\n  blob  written by  read by\n"
                                  "  s     (outside)   step in\n"));
  EXPECT_THAT(text.out, HasSubstr("\n  s     b           step in (next iteration)\n"));
  EXPECT_THAT(text.out, HasSubstr("\n  s     b           step without name\n"));
  const std::string flows = JsonAt(RunCaffe2({"inspect", plan, "--json"}).out, "/blobs");
  EXPECT_THAT(flows, HasSubstr(R"({"blob":"s","stops_step":"in"})"));
  EXPECT_THAT(flows, HasSubstr(R"({"blob":"s","written_by":"b","stops_step":"in",)"
                               R"("next_iteration":true})"));
  EXPECT_THAT(flows, HasSubstr(R"({"blob":"s","written_by":"b","stops_step":""})"));
}

TEST(InspectDatabaseTest, ListsAsManyRecordsAsAsked) {
  const TempDir dir;
  std::string records;
  for (const char* key : {"one", "two", "six"})
    records += std::string("\3\0\0\0\2\0\0\0", 8) + key + "vv";
  const std::string out = RunCaffe2({"inspect", dir.Write("db", records), "--limit", "2"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("one"), HasSubstr("two"), Not(HasSubstr("six")),
                         HasSubstr("... --limit 3 prints")));
}

TEST(InspectPlanTest, CountsTheParametersOfAnInitNet) {
  const TempDir dir;
  const std::string init = dir.Write("init.pbtxt", R"(
      op { type: "XavierFill" output: "w" arg { name: "shape" ints: 20 ints: 5 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 20 } })");
  const ProgramResult text = RunCaffe2({"inspect", init});
  EXPECT_THAT(text.out, AllOf(ContainsRegex("w +float \\[20, 5\\] +100 +400 B"),
                              HasSubstr("total: 120 parameters (480 B)")));
  const ProgramResult json = RunCaffe2({"inspect", init, "--json"});
  EXPECT_EQ(JsonAt(json.out, "/nets/0/parameters"), "120");
  EXPECT_EQ(JsonAt(json.out, "/nets/0/parameter_bytes"), "480");
  EXPECT_EQ(JsonAt(json.out, "/nets/0/operators/0/parameters"), "100");
  EXPECT_EQ(JsonAt(json.out, "/nets/0/operators/0/output_bytes"), "400");
}

}  // namespace
}  // namespace caffe2rt::test::inspect_plan_test
