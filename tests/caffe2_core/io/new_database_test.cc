#include "caffe2_core/io/new_database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
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

}  // namespace
}  // namespace caffe2rt::new_database_test
