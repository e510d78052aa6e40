#include "caffe2_core/io/new_database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::new_database_test {
namespace {

namespace fs = std::filesystem;
using test::ExpectThrows;

// What lies at the path, and what each type of database says of it: part of the error, or "" if it
// may be created there.
TEST(NewDatabaseTest, WhatMayBeReplacedDependsOnTheType) {
  const test::TempDir dir;
  fs::create_directory(dir.path("empty"));
  fs::create_directory(dir.path("full"));
  dir.Write("full/file", "content");
  dir.Write("file", "content");
  fs::create_symlink(dir.path("nothing"), dir.path("link"));
  const struct {
    const char *name, *lmdb, *leveldb, *minidb;
  } rows[] = {{"new", "", "", ""},
              {"file", "it exists; remove it", "it exists and is not an empty folder", ""},
              {"empty", "it exists; remove it", "", "it is a folder; remove it"},
              {"full", "it exists; remove it", "it exists and is not an empty folder",
               "it is a folder; remove it"},
              {"link", "it exists; remove it", "it exists and is not an empty folder", ""},
              {"absent/new", "does not exist", "does not exist", "does not exist"}};
  for (const auto& row : rows) {
    for (const auto& [type, error] :
         {std::pair("lmdb", row.lmdb), {"leveldb", row.leveldb}, {"minidb", row.minidb}}) {
      SCOPED_TRACE(testing::Message() << type << " at " << row.name);
      if (error[0] == '\0') {
        EXPECT_NO_THROW(db::CheckNewDatabase(type, dir.path(row.name)));
      } else {
        ExpectThrows([&, type = type] { db::CheckNewDatabase(type, dir.path(row.name)); }, error);
      }
    }
  }
  ExpectThrows([&] { db::CheckNewDatabase("mdb", dir.path("new")); },
               "database type \"mdb\" is not known");
}

// No file is created beside a pipe or a device, which is written directly.
TEST(NewDatabaseTest, APipeMayBeInAFolderThatCannotBeWritten) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const FileDescriptor read_end(fds[0]), write_end(fds[1]);
  EXPECT_NO_THROW(db::CheckNewDatabase("minidb", MakeString("/proc/self/fd/", fds[1])));
}

// A type of a user's may need no folder, and its name need not be a path.
TEST(NewDatabaseTest, TypesOfUsersCheckTheirOwnNames) {
  for (const char* const name : {"/no/such/folder/name", "", "host:7"}) {
    EXPECT_NO_THROW(db::CheckNewDatabase("forward_only", name));
    EXPECT_NO_THROW(db::CheckNewDatabaseFolder("forward_only", name));
  }
  for (const char* const type : {"minidb", "leveldb", "lmdb", "protodb"}) {
    ExpectThrows([&] { db::CheckNewDatabaseFolder(type, "/no/such/folder/name"); },
                 "its folder \"/no/such/folder\" does not exist");
  }
}

// The permissions of files and folders are those of Caffe2, less those that the process masks.
TEST(NewDatabaseTest, PermissionsAreThoseThatTheProcessAllows) {
  for (const mode_t mask : {mode_t{0027}, mode_t{0}}) {
    const test::TempDir dir;
    const mode_t before = umask(mask);
    WriteFileAtomically(dir.path("file"), "x");
    for (const char* const type : {"minidb", "leveldb", "lmdb"}) {
      test::Put(type, dir.path(type), db::NEW, {{"k", "v"}});
    }
    umask(before);
    const auto mode_of = [&](const char* name) {
      struct stat info;
      return stat(dir.path(name).c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
    };
    EXPECT_EQ(mode_of("file"), 0666 & ~mask);
    EXPECT_EQ(mode_of("minidb"), 0666 & ~mask);
    EXPECT_EQ(mode_of("leveldb"), 0755 & ~mask);
    EXPECT_EQ(mode_of("lmdb"), 0744 & ~mask);
  }
}

// Caffe2's names and its classes' names open the same databases.
TEST(NewDatabaseTest, EveryTypeHasTwoNames) {
  const test::TempDir dir;
  TensorProto tensor;
  tensor.set_name("a");
  const test::Records records = {{"a", tensor.SerializeAsString()}};
  const std::pair<const char*, const char*> rows[] = {
      {"minidb", "MiniDB"}, {"leveldb", "LevelDB"}, {"lmdb", "LMDB"}, {"protodb", "ProtoDB"}};
  std::vector<std::string> names;
  for (const auto& [first, second] : rows) {
    for (const auto& [to, from] : {std::pair(first, second), {second, first}}) {
      SCOPED_TRACE(to);
      names.emplace_back(to);
      const std::string path = dir.path(to);
      db::CheckNewDatabase(to, path);
      db::CheckNewDatabaseFolder(to, path);
      EXPECT_FALSE(db::DBExists(from, path));
      test::Put(to, path, db::NEW, records);
      EXPECT_TRUE(db::DBExists(from, path));
      EXPECT_EQ(test::GetAll(from, path), records);
      const db::DBReader reader(from, path);
      EXPECT_EQ(reader.NumRecords(), 1);
      EXPECT_EQ(reader.ToProto("r").db_type(), from);
    }
  }
  std::vector<std::string> known = db::Caffe2DBRegistry().Keys();
  for (const std::string& name : names) {
    EXPECT_EQ(std::count(known.begin(), known.end(), name), 1) << name;
    EXPECT_NE(db::Caffe2DBRegistry().File(name).find("io/db.cc"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace caffe2rt::new_database_test
