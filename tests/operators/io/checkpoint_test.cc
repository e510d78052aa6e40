#include "operators/io/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/operator_test.h"

namespace caffe2rt::checkpoint_test {
namespace {

using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::TempDir;

TEST(FormatIterationTest, AcceptsOneIntegerConversion) {
  EXPECT_EQ(FormatIteration("model_%06d.db", 42), "model_000042.db");
  EXPECT_EQ(FormatIteration("m_%d", -1), "m_-1");
  EXPECT_EQ(FormatIteration("m_%lld", int64_t{1} << 40), "m_1099511627776");
  EXPECT_EQ(FormatIteration("m_%x%%", 255), "m_ff%");
  EXPECT_EQ(FormatIteration("%-4u|", 7), "7   |");
  EXPECT_EQ(FormatIteration("plain", 7), "plain");
}

TEST(FormatIterationTest, RejectsFormatsThatReadOtherMemory) {
  for (const char* pattern : {"%s", "%n", "%f", "%", "%5", "%*d", "%1$d", "%c"}) {
    ExpectThrows([&] { FormatIteration(pattern, 1); }, "not for an integer");
  }
  ExpectThrows([&] { FormatIteration("%d_%d", 1); }, "more than one conversion");
  ExpectThrows([&] { FormatIteration("%99999999d", 1); }, "digits of a width");
}

class CheckpointTest : public testing::Test {
 protected:
  CheckpointTest() { Feed<float>(&ws_, "a", {1}, {5}); }
  void Run(const std::string& type, int64_t iteration, const std::string& args) {
    Feed<int64_t>(&ws_, "it", {1}, {iteration});
    RunOp(&ws_, "type: '" + type + "' input: 'it' input: 'a' arg { name: 'db_type' s: 'minidb' } " +
                    args);
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

TEST_F(CheckpointTest, SavesEverySoManyIterations) {
  const std::string args = "arg { name: 'db' s: 'c_%04d' } arg { name: 'every' i: 5 }";
  Run("Checkpoint", 9, args);
  EXPECT_FALSE(std::filesystem::exists(dir_.path("c_0009")));
  Run("Checkpoint", 10, args);
  Workspace read(dir_.path());
  RunOp(&read,
        "type: 'Load' output: 'it' output: 'a' arg { name: 'db' s: 'c_0010' } arg { name: "
        "'db_type' s: 'minidb' }");
  test::ExpectTensor<int64_t>(read, "it", {1}, {10});
  test::ExpectTensor<float>(read, "a", {1}, {5});
}

TEST_F(CheckpointTest, IsSnapshotToo) {
  Run("Snapshot", 7, "arg { name: 'db' s: 's_%d' }");
  EXPECT_TRUE(std::filesystem::exists(dir_.path("s_7")));
}

TEST_F(CheckpointTest, NamesWrongArguments) {
  ExpectThrows([&] { Run("Snapshot", 1, ""); }, "argument \"db\" is required but missing");
  ExpectThrows([&] { Run("Snapshot", 1, "arg { name: 'db' s: '' }"); },
               "argument \"db\" is \"\", want a non-empty string");
  ExpectThrows(
      [&] { Run("Checkpoint", 1, "arg { name: 'db' s: 'x' } arg { name: 'every' i: 0 }"); },
      "argument \"every\" is 0, want above 0");
  ExpectThrows(
      [&] { Run("Checkpoint", 1, "arg { name: 'db' s: 'x' } arg { name: 'every' i: -1 }"); },
      "argument \"every\" is -1, want above 0");
  ExpectThrows([&] { Run("Checkpoint", 1, "arg { name: 'db' s: '%s' }"); }, "not for an integer");
  Feed<int32_t>(&ws_, "wrong", {1}, {1});
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'Checkpoint' input: 'wrong' arg { name: 'db_type' s: 'minidb' } "
              "arg { name: 'db' s: 'x' }");
      },
      "int");
}

}  // namespace
}  // namespace caffe2rt::checkpoint_test
