// The parts of the fuzzer detect failures, and a short run of the fuzzer succeeds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/generate_operators.h"
#include "tests/fuzz/generate_plan.h"
#include "tests/fuzz/hostile_files.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/fuzz/mutate_png.h"
#include "tests/fuzz/mutate_records.h"
#include "tests/fuzz/random.h"
#include "tests/fuzz/seeds.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
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

TEST(CorrectChecksumsTest, RestoresTheChecksumsThatLibpngWrote) {
  const TempDir dir;
  SavePng(dir.path("a.png"), {.width = 2, .height = 2, .rgb = std::vector<uint8_t>(12)});
  const std::string png = ReadWholeFile(dir.path("a.png"));
  std::string damaged = png;
  damaged[29] ^= 1;              // in the checksum of the first chunk
  damaged[png.size() - 1] ^= 1;  // in that of the last
  ExpectThrows([&] { DecodeImage(damaged, "a.png"); }, "CRC error");
  CorrectChecksums(&damaged);
  EXPECT_EQ(damaged, png);
}

TEST(CorrectChecksumsTest, StopsAtAChunkThatIsTooLong) {
  std::string cut = "\x89PNG\r\n\x1a\n" + std::string(12, '\x7f');
  const std::string before = cut;
  CorrectChecksums(&cut);
  EXPECT_EQ(cut, before);
}

std::string MiniDBRecord(const std::string& key, const std::string& value) {
  const int32_t sizes[2] = {static_cast<int32_t>(key.size()), static_cast<int32_t>(value.size())};
  return std::string(reinterpret_cast<const char*>(sizes), sizeof(sizes)) + key + value;
}

TEST(MutateRecordsTest, KeepsASequenceOfRecords) {
  const std::string original =
      MiniDBRecord("first", "1") + MiniDBRecord("second", "22") + MiniDBRecord("third", "333");
  const BytesMutator mutate_bytes = [](Random* random, std::string* bytes) {
    MutateBytes("spliced", random, bytes);
  };
  std::set<std::string> results;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    Random random(seed);
    std::string bytes = original;
    ASSERT_TRUE(MutateRecords(&random, mutate_bytes, &bytes));
    size_t at = 0;
    while (at + 8 <= bytes.size()) {
      int32_t sizes[2];
      std::memcpy(sizes, bytes.data() + at, sizeof(sizes));
      ASSERT_GT(sizes[0], 0);
      ASSERT_GT(sizes[1], 0);
      at += 8 + static_cast<size_t>(sizes[0]) + static_cast<size_t>(sizes[1]);
    }
    EXPECT_EQ(at, bytes.size()) << seed;
    results.insert(bytes);
  }
  EXPECT_GT(results.size(), 30u);
  std::string other = "no records";
  Random random(1);
  EXPECT_FALSE(MutateRecords(&random, mutate_bytes, &other));
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

TEST(GenerateOperatorsTest, MakesInputsThatOftenFit) {
  int ran = 0;
  constexpr int kNets = 200;
  for (uint64_t seed = 1; seed <= kNets; ++seed) {
    Random random(seed);
    const NetDef net = GenerateOperatorNet("Lengths", &random);
    bool has_type = false;
    for (const OperatorDef& op : net.op())
      has_type |= op.type().find("Lengths") != std::string::npos;
    EXPECT_TRUE(has_type) << ProtoToText(net);
    Random again(seed);
    EXPECT_EQ(ProtoToText(GenerateOperatorNet("Lengths", &again)), ProtoToText(net));
    const ExerciseResult result = Exercise(ProtoToText(net), FileKind::kNetDef, nullptr);
    EXPECT_NE(result.outcome, Outcome::kFailed) << result.error << ProtoToText(net);
    if (result.outcome == Outcome::kRan) ++ran;
  }
  EXPECT_GT(ran, kNets / 10);
}

TEST(GenerateOperatorsTest, MakesSmallNets) {
  for (uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    ASSERT_LT(GenerateOperatorNet("", &random).ByteSizeLong(), size_t{4} << 20) << seed;
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
    HostileFiles files;
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

TEST(ExerciseTest, DistinguishesARunFromAnError) {
  const NetDef good = ParseNet(R"(name: "n" op { type: "Relu" input: "X" output: "Y" })");
  const ExerciseResult ran = Exercise(ProtoToText(good), FileKind::kNetDef, nullptr);
  EXPECT_NE(ran.outcome, Outcome::kFailed) << ran.error;
  const ExerciseResult refused = Exercise("op { type: \"Nowhere\" }", FileKind::kNetDef, nullptr);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_THAT(refused.error, testing::HasSubstr("Nowhere"));
}

TEST(ExerciseTest, StopsANetThatWaitsOrLoopsForEver) {
  const std::string flag = R"(op { type: "GivenTensorBoolFill" output: "c"
    arg { name: "shape" ints: 1 } arg { name: "values" ints: 1 } } )";
  for (const std::string& ops : std::vector<std::string>{
           R"(op { type: "CreateBlobsQueue" output: "q" }
              op { type: "DequeueBlobs" input: "q" output: "x" })",
           flag + R"(op { type: "While" input: "c" arg { name: "loop_net" n { name: "l" } } })",
           flag + R"(op { type: "GivenTensorInt64Fill" output: "trips" arg { name: "shape" ints: 1 }
                arg { name: "values" ints: 4611686018427387904 } }
              op { type: "ONNXWhile" input: "trips" input: "c"
                arg { name: "has_trip_count" i: 1 }
                arg { name: "body" n { name: "b" external_input: "i" external_input: "go"
                  external_output: "go" } } })"}) {
    const NetDef net = ParseNet("name: 'n' " + ops);
    const ExerciseResult result = Exercise(ProtoToText(net), FileKind::kNetDef, nullptr);
    EXPECT_EQ(result.outcome, Outcome::kRefused) << ops;
    EXPECT_THAT(result.error, testing::HasSubstr("the run was stopped")) << ops;
  }
}

TEST(ExerciseTest, StopsANetThatExceedsTheBudget) {
  AddGlobalNetObserverCreator([](NetBase* net) -> std::unique_ptr<ObserverBase<NetBase>> {
    WatchNet(net);
    return nullptr;
  });
  const std::string net = ProtoToText(ParseNet(R"(
      name: "n" op { type: "ConstantFill" output: "X" arg { name: "shape" ints: 1000 } })"));
  EXPECT_EQ(ExerciseAs(FileKind::kNetDef, net, nullptr, {.elements = 999}).outcome,
            Outcome::kOverBudget);
  EXPECT_EQ(ExerciseAs(FileKind::kNetDef, net, nullptr, {.elements = 1000}).outcome, Outcome::kRan);
  ClearGlobalNetObservers();
}

// Runs every file of the folder as the target of that name does, and returns the kinds.
std::set<FileKind> RunSeeds(const std::string& folder, bool must_run) {
  const std::filesystem::path before = std::filesystem::current_path();
  HostileFiles files;
  std::filesystem::current_path(files.scratch());
  std::set<FileKind> kinds;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string bytes = ReadWholeFile(entry.path());
    const FileKind kind = DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
    const ExerciseResult result = ExerciseAs(kind, bytes, nullptr);
    EXPECT_NE(result.outcome, Outcome::kFailed) << entry.path() << ": " << result.error;
    if (must_run) {
      EXPECT_EQ(result.outcome, Outcome::kRan) << entry.path() << ": " << result.error;
    }
    kinds.insert(kind);
    files.Renew();
  }
  std::filesystem::current_path(before);
  return kinds;
}

TEST(WriteSeedsTest, WritesValidFilesOfEachKind) {
  const TempDir dir;
  WriteSeeds(dir.path());
  EXPECT_EQ(RunSeeds(dir.path("net_text"), false), std::set{FileKind::kNetDef});
  EXPECT_EQ(RunSeeds(dir.path("net_binary"), false), std::set{FileKind::kNetDef});
  EXPECT_EQ(RunSeeds(dir.path("init_net"), false), std::set{FileKind::kNetDef});
  EXPECT_EQ(RunSeeds(dir.path("pack"), false), std::set{FileKind::kPackedModel});
  EXPECT_EQ(RunSeeds(dir.path("plan"), false), std::set{FileKind::kPlanDef});
  EXPECT_EQ(RunSeeds(dir.path("minidb"), true), std::set{FileKind::kMiniDB});
  EXPECT_EQ(RunSeeds(dir.path("tensor"), true),
            (std::set{FileKind::kTensorProto, FileKind::kTensorProtos, FileKind::kBlobProto}));
}

TEST(CorpusTest, HoldsValidArraysAndImages) {
  EXPECT_EQ(RunSeeds(SourcePath("tests/fuzz/corpus/numpy"), true),
            (std::set{FileKind::kNpy, FileKind::kNpz}));
  EXPECT_EQ(RunSeeds(SourcePath("tests/fuzz/corpus/image"), false),
            (std::set{FileKind::kJpeg, FileKind::kPng}));
}

TEST(CorpusTest, HoldsValidModelsOfCaffe) {
  EXPECT_EQ(RunSeeds(SourcePath("tests/fuzz/corpus/caffe_text"), true),
            std::set{FileKind::kCaffeText});
}

TEST(CaffeFuzzTest, RunsClean) {
  const int status = std::system((BuildPath(CAFFE2_FUZZ_PROGRAM) + " --runs 200 --seed 7").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace caffe2rt::test::fuzz_test
