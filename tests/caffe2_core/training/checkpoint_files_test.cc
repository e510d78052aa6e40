#include "caffe2_core/training/checkpoint_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::checkpoint_files_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void SetNumber(const std::string& blob, float value, Workspace* ws) {
  Tensor* const tensor = ws->CreateBlob(blob)->GetMutableTensor(CPU);
  tensor->Resize({1});
  tensor->mutable_data<float>()[0] = value;
}

std::vector<int64_t> IterationsIn(const std::string& folder) {
  std::vector<int64_t> iterations;
  for (const CheckpointFile& file : CheckpointsOf(folder)) iterations.push_back(file.iteration);
  return iterations;
}

std::string ErrorOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
  return "no error";
}

TEST(CheckpointFilesTest, ReadsTheStateAndTheBlobsThatWereSaved) {
  const TempDir dir;
  Workspace ws;
  SetNumber("w", 3, &ws);
  SetNumber("kept", 4, &ws);
  SetNumber("rm", 5, &ws);
  TrainState state;
  state.set_iteration(1204);
  state.set_epoch(2);
  state.set_best(0.981);
  SaveCheckpoint(dir.path("a"), ws, {"w", "rm"}, state, {.values_of = {{"rm", "kept"}}});
  EXPECT_EQ(ReadTrainState(dir.path("a")).SerializeAsString(), state.SerializeAsString());
  Workspace other;
  ASSERT_TRUE(other.RunOperatorOnce(ParseOp(
      R"(type: "Load" output: "w" output: "rm" arg { name: "db_type" s: "minidb" }
         arg { name: "absolute_path" i: 1 } arg { name: "db" s: ")" +
      dir.path("a") + "\" }")));
  EXPECT_EQ(other.GetBlob("w")->Get<Tensor>().data<float>()[0], 3);
  EXPECT_EQ(other.GetBlob("rm")->Get<Tensor>().data<float>()[0], 4);
}

// Blobs besides the reader are written as they are, texts too.
TEST(CheckpointFilesTest, OnlyReadersGetAPosition) {
  const TempDir dir;
  Workspace ws;
  SetNumber("w", 3, &ws);
  *ws.CreateBlob("text")->GetMutable<std::string>() = "seven";
  SaveCheckpoint(dir.path("a"), ws, {"text", "w"}, {},
                 {.reader_position = db::DBReaderPosition{.epoch = 2, .record = 5}});
  Workspace other;
  ASSERT_TRUE(other.RunOperatorOnce(ParseOp(
      R"(type: "Load" output: "text" output: "w" arg { name: "db_type" s: "minidb" }
         arg { name: "absolute_path" i: 1 } arg { name: "db" s: ")" +
      dir.path("a") + "\" }")));
  EXPECT_EQ(other.GetBlob("text")->Get<std::string>(), "seven");
  EXPECT_EQ(other.GetBlob("w")->Get<Tensor>().data<float>()[0], 3);
}

TEST(CheckpointFilesTest, LeavesTheEarlierFileIfOneCannotBeWritten) {
  const TempDir dir;
  Workspace ws;
  SetNumber("w", 3, &ws);
  SaveCheckpoint(dir.path("a"), ws, {"w"}, {});
  const std::string before = ReadWholeFile(dir.path("a"));
  EXPECT_THAT(ErrorOf([&] {
                SaveCheckpoint(dir.path("a"), ws, {"w", "lost"}, {});
              }),
              HasSubstr("blob \"lost\" of the training does not exist"));
  EXPECT_EQ(ReadWholeFile(dir.path("a")), before);
  // And no other file stays.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path()), {}), 1);
}

TEST(CheckpointFilesTest, RejectsOtherFiles) {
  const TempDir dir;
  Workspace ws;
  SetNumber("w", 3, &ws);
  SaveCheckpoint(dir.path("good"), ws, {"w"}, {});
  const std::string good = ReadWholeFile(dir.path("good"));
  struct Case {
    const char* name;
    std::string content;
  };
  const Case cases[] = {{"text", "no checkpoint"},
                        {"cut", good.substr(0, 40)},
                        {"without_state", good.substr(good.size() / 2)}};
  for (const Case& c : cases) {
    dir.Write(c.name, c.content);
    EXPECT_NE(ErrorOf([&] { (void)ReadTrainState(dir.path(c.name)); }), "no error") << c.name;
  }
  EXPECT_NE(ErrorOf([&] { (void)ReadTrainState(dir.path("missing")); }), "no error");
}

TEST(CheckpointFilesTest, FindsCheckpointsInTheOrderOfTheirSteps) {
  const TempDir dir;
  EXPECT_THAT(CheckpointsOf(dir.path()), IsEmpty());
  for (const char* name : {"checkpoint-9", "checkpoint-100", "checkpoint-20", "checkpoint-best",
                           "checkpoint-", "checkpoint-7x", "checkpoint-30.tmp", "other-5"})
    dir.Write(name, "");
  std::filesystem::create_directory(dir.path("checkpoint-50"));
  EXPECT_THAT(IterationsIn(dir.path()), ElementsAre(9, 20, 100));
  EXPECT_EQ(CheckpointsOf(dir.path()).back().path, CheckpointPath(dir.path(), 100));
}

TEST(CheckpointFilesTest, RemovesTheOldestButNotTheBest) {
  struct Case {
    int keep;
    std::vector<int64_t> left;
  };
  const Case cases[] = {{5, {9, 20, 100}}, {3, {9, 20, 100}}, {2, {20, 100}}, {1, {100}}};
  for (const Case& c : cases) {
    const TempDir dir;
    for (const char* name : {"checkpoint-9", "checkpoint-100", "checkpoint-20", "checkpoint-best"})
      dir.Write(name, "");
    RemoveOldCheckpoints(dir.path(), c.keep);
    EXPECT_EQ(IterationsIn(dir.path()), c.left) << c.keep;
    EXPECT_TRUE(std::filesystem::exists(BestCheckpointPath(dir.path()))) << c.keep;
  }
}

}  // namespace
}  // namespace caffe2rt::test::checkpoint_files_test
