// The parts of the fuzzer detect failures, and a short run of the fuzzer succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <functional>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/generate_plan.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/fuzz/random.h"
#include "tests/support/json.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::fuzz_test {
namespace {

TEST(MutateBytesTest, DependsOnTheSeedAlone) {
  const std::string original(200, 'a');
  std::string first = original, second = original, third = original;
  Random a(1), b(1), c(2);
  MutateBytes("other", &a, &first);
  MutateBytes("other", &b, &second);
  MutateBytes("other", &c, &third);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, third);
  EXPECT_NE(first, original);
}

TEST(MutateBytesTest, NeverEmptiesOrFloods) {
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(1 + random.Below(100), 'x');
    MutateBytes("spliced", &random, &bytes);
    ASSERT_FALSE(bytes.empty());
    ASSERT_LT(bytes.size(), size_t{1} << 17);
  }
}

TEST(MutateNetTest, ChangesTheNetAndKeepsItParsable) {
  const NetDef original = ParseNet(R"(name: "n" op { type: "Relu" input: "X" output: "Y" })");
  int changed = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    NetDef net = original;
    MutateNet(&random, &net);
    NetDef parsed;
    EXPECT_TRUE(parsed.ParseFromString(net.SerializeAsString()));
    changed += parsed.SerializeAsString() != original.SerializeAsString() ? 1 : 0;
  }
  EXPECT_GT(changed, 30);
}

TEST(GeneratePlanTest, MakesPlansOfEveryForm) {
  int concurrent = 0, instances = 0, nested = 0, workspaces = 0, stops = 0, reports = 0, files = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    const PlanDef plan = GeneratePlan(&random);
    PlanDef parsed;
    ASSERT_TRUE(parsed.ParseFromString(plan.SerializeAsString()));
    const std::string text = ProtoToText(plan);
    const auto has = [&](const char* part) { return text.find(part) != std::string::npos ? 1 : 0; };
    concurrent += has("concurrent_substeps: true");
    instances += has("num_concurrent_instances");
    nested += has("    substep {");
    workspaces += has("create_workspace: true");
    stops += has("should_stop_blob: \"stop\"");
    reports += has("report_net");
    files += has("\"Save\"");
  }
  for (const int count : {concurrent, instances, nested, workspaces, stops, reports, files}) {
    EXPECT_GT(count, 10);
  }
}

TEST(HostileFilesTest, NoticeWhatTouchesTheBaits) {
  const std::vector<std::function<void(const HostileFiles&)>> attacks = {
      [](const HostileFiles& files) {
        WriteStringToFile("bait", (files.baits() + "/bait").c_str());
      },
      [](const HostileFiles& files) { WriteStringToFile("x", (files.baits() + "/new").c_str()); },
      [](const HostileFiles& files) { WriteStringToFile("x", (files.baits() + "/../x").c_str()); },
      [](const HostileFiles& files) {
        WriteStringToFile("other", (files.scratch() + "/link_to_file").c_str());
      },
  };
  for (const auto& attack : attacks) {
    const HostileFiles files;
    WriteStringToFile("x", (files.scratch() + "/saved").c_str());
    files.CheckBaits();
    files.Renew();
    EXPECT_FALSE(std::filesystem::exists(files.scratch() + "/saved"));
    attack(files);
    ExpectThrows([&] { files.CheckBaits(); }, "a net accessed a file outside its folder");
  }
}

TEST(ExerciseTest, LetsNetsReachTheCurrentFolderAlone) {
  const std::filesystem::path before = std::filesystem::current_path();
  const HostileFiles files;
  std::filesystem::current_path(files.scratch());
  int refused = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    OperatorDef op = CreateOperatorDef("DBExists", "", {}, {"exists"});
    AddArgument("db_name", HostilePath(&random), &op);
    AddArgument("db_type", std::string("protodb"), &op);
    NetDef net;
    net.set_name("n");
    *net.add_op() = op;
    const ExerciseResult result = Exercise(ProtoToText(net), FileKind::kNetDef, nullptr);
    EXPECT_NE(result.outcome, Outcome::kFailed);
    refused += result.error.find("a net may not read") != std::string::npos;
  }
  EXPECT_GT(refused, 10);
  files.CheckBaits();
  std::filesystem::current_path(before);
}

TEST(ExerciseTest, TellsARunFromARefusal) {
  const NetDef good = ParseNet(R"(name: "n" op { type: "Relu" input: "X" output: "Y" })");
  const ExerciseResult ran = Exercise(ProtoToText(good), FileKind::kNetDef, nullptr);
  EXPECT_NE(ran.outcome, Outcome::kFailed) << ran.error;
  const ExerciseResult refused = Exercise("op { type: \"Nowhere\" }", FileKind::kNetDef, nullptr);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_THAT(refused.error, testing::HasSubstr("Nowhere"));
}

TEST(CaffeFuzzTest, RunsClean) {
  const TempDir dir;
  const std::string summary = dir.path("summary.json");
  const int status = std::system(
      (std::string(CAFFE2_FUZZ_PROGRAM) + " --runs 200 --seed 7 --json > " + summary).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const std::string json = ReadWholeFile(summary);
  const auto count = [&](const char* name) { return std::stoi(JsonAt(json, name)); };
  EXPECT_EQ(count("/ran") + count("/refused") + count("/over_budget"), 200);
  EXPECT_EQ(count("/failed"), 0);
}

}  // namespace
}  // namespace caffe2rt::test::fuzz_test
