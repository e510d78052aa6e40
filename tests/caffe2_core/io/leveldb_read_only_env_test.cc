#include "caffe2_core/io/leveldb_read_only_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace caffe2rt::test::leveldb_read_only_env_test {
namespace {

using ::testing::UnorderedElementsAre;

// A folder shows the files on disk and those in memory, each by its name without the folder.
TEST(LevelDBReadOnlyEnvTest, ListsWhatWasWrittenBesideWhatIsThere) {
  const TempDir dir;
  const std::string folder = dir.path("db");
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/000003.log") << "log";
  std::ofstream(folder + "/LOCK") << "";
  db::internal::LevelDBReadOnlyEnv env(leveldb::Env::Default());
  leveldb::WritableFile* file = nullptr;
  ASSERT_TRUE(env.NewWritableFile(folder + "/MANIFEST-000004", &file).ok());
  const std::unique_ptr<leveldb::WritableFile> closed(file);
  ASSERT_TRUE(env.RemoveFile(folder + "/LOCK").ok());
  std::vector<std::string> names;
  ASSERT_TRUE(env.GetChildren(folder, &names).ok());
  std::erase_if(names, [](const std::string& name) { return name.starts_with('.'); });
  EXPECT_THAT(names, UnorderedElementsAre("000003.log", "MANIFEST-000004"));
  EXPECT_FALSE(std::filesystem::exists(folder + "/MANIFEST-000004"));
  EXPECT_TRUE(std::filesystem::exists(folder + "/LOCK"));
}

}  // namespace
}  // namespace caffe2rt::test::leveldb_read_only_env_test
