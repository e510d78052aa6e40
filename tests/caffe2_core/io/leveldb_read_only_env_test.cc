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

// What is written is read back from memory, renamed and removed there; the disk stays as it was.
TEST(LevelDBReadOnlyEnvTest, FilesInMemoryBehaveLikeFiles) {
  const TempDir dir;
  dir.Write("db/CURRENT", "here");
  const std::string folder = dir.path("db/");
  db::internal::LevelDBReadOnlyEnv env(leveldb::Env::Default());
  leveldb::WritableFile* created = nullptr;
  ASSERT_TRUE(env.NewWritableFile(folder + "000001.log", &created).ok());
  const std::unique_ptr<leveldb::WritableFile> file(created);
  EXPECT_TRUE(file->Append("abcd").ok());
  EXPECT_TRUE(file->Append("ef").ok());
  EXPECT_TRUE(file->Flush().ok() && file->Sync().ok() && file->Close().ok());
  uint64_t size = 0;
  EXPECT_TRUE(env.GetFileSize(folder + "000001.log", &size).ok());
  EXPECT_EQ(size, 6u);

  char scratch[16];
  leveldb::Slice got;
  leveldb::SequentialFile* opened = nullptr;
  ASSERT_TRUE(env.NewSequentialFile(folder + "000001.log", &opened).ok());
  const std::unique_ptr<leveldb::SequentialFile> sequential(opened);
  EXPECT_TRUE(sequential->Read(2, &got, scratch).ok());
  EXPECT_EQ(got.ToString(), "ab");
  EXPECT_TRUE(sequential->Skip(1).ok());
  EXPECT_TRUE(sequential->Read(10, &got, scratch).ok());
  EXPECT_EQ(got.ToString(), "def");
  EXPECT_TRUE(sequential->Read(10, &got, scratch).ok());
  EXPECT_EQ(got.ToString(), "");
  EXPECT_TRUE(sequential->Skip(100).ok());
  EXPECT_TRUE(sequential->Read(1, &got, scratch).ok());
  EXPECT_EQ(got.ToString(), "");

  leveldb::RandomAccessFile* random = nullptr;
  ASSERT_TRUE(env.NewRandomAccessFile(folder + "000001.log", &random).ok());
  const std::unique_ptr<leveldb::RandomAccessFile> anywhere(random);
  for (const auto& [at, want] : {std::pair(0, "abcd"), {4, "ef"}, {6, ""}, {7, ""}}) {
    EXPECT_TRUE(anywhere->Read(static_cast<uint64_t>(at), 4, &got, scratch).ok());
    EXPECT_EQ(got.ToString(), want) << at;
  }

  EXPECT_TRUE(env.FileExists(folder + "000001.log"));
  EXPECT_TRUE(env.RenameFile(folder + "000001.log", folder + "000002.log").ok());
  EXPECT_FALSE(env.FileExists(folder + "000001.log"));
  EXPECT_TRUE(env.FileExists(folder + "000002.log"));
  EXPECT_TRUE(env.FileExists(folder + "CURRENT"));
  EXPECT_TRUE(env.GetFileSize(folder + "CURRENT", &size).ok());
  EXPECT_EQ(size, 4u);  // on the disk
  EXPECT_TRUE(env.RemoveFile(folder + "CURRENT").ok());
  EXPECT_FALSE(env.FileExists(folder + "CURRENT"));
  EXPECT_TRUE(env.GetFileSize(folder + "CURRENT", &size).IsNotFound());
  EXPECT_TRUE(env.NewSequentialFile(folder + "CURRENT", &opened).IsNotFound());
  EXPECT_TRUE(env.NewRandomAccessFile(folder + "CURRENT", &random).IsNotFound());
  EXPECT_TRUE(env.RenameFile(folder + "000002.log", folder + "CURRENT").ok());
  EXPECT_TRUE(env.GetFileSize(folder + "CURRENT", &size).ok());
  EXPECT_EQ(size, 6u);
  EXPECT_TRUE(env.RenameFile(folder + "LOG", folder + "LOG.old").ok());  // of none
  EXPECT_FALSE(env.FileExists(folder + "LOG.old"));
  const std::string appended = env.NewAppendableFile(folder + "000002.log", &created).ToString();
  EXPECT_EQ(appended, "Not implemented: " + folder +
                          "000002.log: appending to a database that is open for reading");
  std::ifstream current(folder + "CURRENT");
  std::string content;
  current >> content;
  EXPECT_EQ(content, "here");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir.path("db")), {}), 1);
}

// The folder is that of CURRENT, the first file that is opened.
TEST(LevelDBReadOnlyEnvTest, OpensRegularFilesOfItsFolderOnly) {
  const TempDir dir;
  for (const char* const name : {"db/CURRENT", "db/000001.ldb", "db/in/000001.ldb", "000001.ldb"})
    dir.Write(name, "x");
  std::filesystem::create_directory(dir.path("db/000002.ldb"));
  db::internal::LevelDBReadOnlyEnv env(leveldb::Env::Default());
  const auto open = [&](const std::string& name) {
    leveldb::RandomAccessFile* opened = nullptr;
    const leveldb::Status status = env.NewRandomAccessFile(dir.path(name), &opened);
    const std::unique_ptr<leveldb::RandomAccessFile> closed(status.ok() ? opened : nullptr);
    return status.ToString();
  };
  const auto outside = [&](const std::string& name) {
    return "Corruption: " + dir.path(name) + ": is not a file in the database's folder";
  };
  EXPECT_EQ(open("db/000001.ldb"), outside("db/000001.ldb"));  // there is no folder yet
  leveldb::SequentialFile* current = nullptr;
  ASSERT_TRUE(env.NewSequentialFile(dir.path("db/CURRENT"), &current).ok());
  const std::unique_ptr<leveldb::SequentialFile> closed(current);
  EXPECT_EQ(open("db/000001.ldb"), "OK");
  EXPECT_EQ(open("db/in/000001.ldb"), outside("db/in/000001.ldb"));
  EXPECT_EQ(open("db/../000001.ldb"), outside("db/../000001.ldb"));
  EXPECT_EQ(open("000001.ldb"), outside("000001.ldb"));
  EXPECT_EQ(open("db/000002.ldb"),
            "IO error: " + dir.path("db/000002.ldb") + ": is not a regular file");
}

}  // namespace
}  // namespace caffe2rt::test::leveldb_read_only_env_test
