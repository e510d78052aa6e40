// The fuzzer's parts can fail, and a short run of it is clean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "caffe2_core/io/proto_file.h"
#include "tests/fuzz/exercise.h"
#include "tests/fuzz/mutate_bytes.h"
#include "tests/fuzz/mutate_net.h"
#include "tests/fuzz/random.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test {
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

TEST(ExerciseTest, TellsARunFromARefusal) {
  const NetDef good = ParseNet(R"(name: "n" op { type: "Relu" input: "X" output: "Y" })");
  const ExerciseResult ran = Exercise(ProtoToText(good), FileKind::kNetDef, nullptr);
  EXPECT_NE(ran.outcome, Outcome::kFailed) << ran.error;
  const ExerciseResult refused = Exercise("op { type: \"Nowhere\" }", FileKind::kNetDef, nullptr);
  EXPECT_EQ(refused.outcome, Outcome::kRefused);
  EXPECT_THAT(refused.error, testing::HasSubstr("Nowhere"));
}

TEST(CaffeFuzzTest, RunsClean) {
  const int status =
      std::system((std::string(CAFFE2_FUZZ_PROGRAM) + " --runs 200 --seed 7").c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace caffe2rt::test
