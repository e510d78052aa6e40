#include "caffe2_core/io/file_access.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::file_access_test {
namespace {

namespace fs = std::filesystem;
using test::ExpectThrows;
using test::TempDir;

// A root folder with files and links, and a sibling folder that nets must not reach.
class FileAccessTest : public testing::Test {
 protected:
  FileAccessTest() {
    dir_.Write("root/a.db", "a");
    dir_.Write("root/folder/b.db", "b");
    dir_.Write("outside/bait", "bait");
    dir_.Write("root2/c.db", "c");
    root_ = fs::canonical(dir_.path("root")).string();
  }
  std::string In(const std::string& name) const { return root_ + "/" + name; }
  void Link(const std::string& target, const std::string& name) const {
    fs::create_symlink(target, In(name));
  }
  FileAccess Below() const { return FileAccess::Below({root_}); }
  void ExpectRefused(const std::string& path, const std::string& reason) const {
    SCOPED_TRACE(path);
    ExpectThrows([&] { Below().CheckRead(path); }, "a net may not read \"" + path + "\": ");
    ExpectThrows([&] { Below().CheckRead(path); }, reason);
    ExpectThrows([&] { Below().CheckWrite(path); }, reason);
  }

  const TempDir dir_;
  std::string root_;
};

TEST_F(FileAccessTest, FreeAcceptsAnyPathUnchanged) {
  EXPECT_EQ(FileAccess::Free().CheckRead("../any//where"), "../any//where");
  EXPECT_EQ(FileAccess::Free().CheckWrite("/dev/null"), "/dev/null");
}

TEST_F(FileAccessTest, OffRejectsAllAndNamesTheRemedy) {
  ExpectThrows([&] { FileAccess::Off().CheckRead(In("a.db")); },
               "\": nets may not access any file; Workspace::SetFileAccess or "
               "PredictorOptions::file_access allows it");
  ExpectThrows([&] { FileAccess::Off("a flag allows it").CheckWrite(In("new")); },
               "a net may not write \"" + In("new") + "\"");
  ExpectThrows([&] { FileAccess::Off("a flag allows it").CheckWrite(In("new")); },
               "; a flag allows it");
}

TEST_F(FileAccessTest, BelowAllowsFilesFoldersAndNewOnes) {
  EXPECT_EQ(Below().CheckRead(In("a.db")), In("a.db"));
  EXPECT_EQ(Below().CheckRead(In("folder/../a.db")), In("a.db"));
  EXPECT_EQ(Below().CheckRead(In("folder//./b.db")), In("folder/b.db"));
  EXPECT_EQ(Below().CheckWrite(In("folder")), In("folder"));
  EXPECT_EQ(Below().CheckWrite(In("new.db")), In("new.db"));
  EXPECT_EQ(Below().CheckWrite(In("folder/new/newer/")), In("folder/new/newer"));
  EXPECT_EQ(Below().CheckRead(root_), root_);
}

TEST_F(FileAccessTest, BelowResolvesRelativePathsFromTheCurrentFolder) {
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  const FileAccess here = FileAccess::Below({"."});
  EXPECT_EQ(here.roots(), std::vector<std::string>{root_});
  EXPECT_EQ(here.CheckRead("./a.db"), In("a.db"));
  EXPECT_EQ(here.CheckWrite("new"), In("new"));
  ExpectThrows([&] { here.CheckRead("../outside/bait"); }, "it is not below \"" + root_ + "\"");
  fs::current_path(before);
}

TEST_F(FileAccessTest, BelowRejectsPathsThatLeaveTheRoot) {
  const std::string outside = "it is not below \"" + root_ + "\"";
  ExpectRefused(In("../outside/bait"), outside);
  ExpectRefused(In("folder/../../outside/new"), outside);
  ExpectRefused(In(".."), outside);
  ExpectRefused("/etc/passwd", outside);
  ExpectRefused("/", outside);
  // A sibling whose name begins with the name of the root.
  ExpectRefused(dir_.path("root2/c.db"), outside);
  ExpectRefused(In("missing/../../outside/bait"),
                "it has \"..\" after a folder that does not exist");
  ExpectRefused("", "its name is empty");
  ExpectRefused(In("a.db") + std::string("\0/../x", 6), "its name has a null character");
  ExpectRefused(In("a.db/x"), "Not a directory");
  ExpectRefused(In(std::string(5000, 'x')), "File name too long");
}

TEST_F(FileAccessTest, BelowAllowsEachOfSeveralRoots) {
  const std::string second = fs::canonical(dir_.path("root2")).string();
  const std::string third = fs::canonical(dir_.path("outside")).string();
  const FileAccess access =
      FileAccess::Below({root_, In("none"), second, root_ + "/.", third, second + "/../root2"});
  EXPECT_EQ(access.roots(), (std::vector<std::string>{root_, In("none"), second, third}));
  EXPECT_EQ(access.CheckRead(In("a.db")), In("a.db"));
  EXPECT_EQ(access.CheckRead(second + "/c.db"), second + "/c.db");
  EXPECT_EQ(access.CheckWrite(third + "/new/./newer"), third + "/new/newer");
  EXPECT_EQ(access.CheckWrite(third + "/new/."), third + "/new");
  ExpectThrows([&] { access.CheckRead(dir_.path("root3")); }, "it is not below");
}

TEST_F(FileAccessTest, BelowWritesNoRootItself) {
  const std::string outside = "it is not below \"" + root_ + "\"";
  ExpectThrows([&] { Below().CheckWrite(root_); }, outside);
  ExpectThrows([&] { Below().CheckWrite(In("folder/..")); }, outside);
  const FileAccess missing = FileAccess::Below({In("none")});
  ExpectThrows([&] { missing.CheckWrite(In("none/.")); }, "it is not below");
  const FileAccess both = FileAccess::Below({root_, In("folder")});
  EXPECT_EQ(both.CheckWrite(In("folder")), In("folder"));
  const FileAccess all = FileAccess::Below({"/"});
  EXPECT_EQ(all.CheckRead("/"), "/");
  EXPECT_EQ(all.CheckWrite(In("new")), In("new"));
  ExpectThrows([&] { all.CheckWrite("/"); }, "it is not below \"/\"");
}

TEST_F(FileAccessTest, PromisesNoRemedyForAPathThatNoPolicyCanOpen) {
  Link("itself", "itself");
  const auto message = [&](const std::string& name) -> std::string {
    try {
      Below().CheckRead(In(name));
    } catch (const EnforceNotMet& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_THAT(message("itself"), testing::EndsWith("Too many levels of symbolic links"));
  EXPECT_THAT(message(std::string(300, 'x')), testing::EndsWith("File name too long"));
  EXPECT_THAT(message("../outside/bait"), testing::EndsWith("allows it"));
}

TEST_F(FileAccessTest, BelowFollowsNoLinkOutOfTheRoot) {
  const std::string outside = "it is not below \"" + root_ + "\"";
  Link(dir_.path("outside/bait"), "to_bait");
  Link("../outside", "to_outside");
  Link("to_outside", "to_link");
  Link(dir_.path("outside/none"), "to_none");
  Link("itself", "itself");
  ExpectRefused(In("to_bait"), outside);
  ExpectRefused(In("to_outside"), outside);
  ExpectRefused(In("to_outside/new"), outside);
  ExpectRefused(In("to_link/bait"), outside);
  ExpectRefused(In("to_outside/../outside/bait"), outside);
  ExpectRefused(In("to_none"), "is a symbolic link to a file that does not exist");
  ExpectRefused(In("to_none/new"), "is a symbolic link to a file that does not exist");
  ExpectRefused(In("itself"), "Too many levels of symbolic links");
}

TEST_F(FileAccessTest, BelowFollowsLinksThatStay) {
  Link("folder/b.db", "to_file");
  Link(In("folder"), "to_folder");
  EXPECT_EQ(Below().CheckRead(In("to_file")), In("folder/b.db"));
  EXPECT_EQ(Below().CheckWrite(In("to_folder/new")), In("folder/new"));
}

TEST_F(FileAccessTest, ARootMayBeALinkAndSeveralMayBeGiven) {
  Link(dir_.path("outside"), "root_link");
  const FileAccess both = FileAccess::Below({In("folder"), In("root_link"), ""});
  EXPECT_EQ(both.roots().size(), 2u);
  EXPECT_EQ(both.CheckRead(In("root_link/bait")),
            fs::canonical(dir_.path("outside/bait")).string());
  EXPECT_EQ(both.CheckRead(In("folder/b.db")), In("folder/b.db"));
  ExpectThrows([&] { both.CheckRead(In("a.db")); }, "it is not below \"");
  ExpectThrows([&] { FileAccess::Below({""}).CheckRead(In("a.db")); }, "no folder is given");
  ExpectThrows([&] { FileAccess::Below({In("none")}).CheckRead(In("a.db")); }, "is not below");
}

TEST_F(FileAccessTest, BelowRejectsPipesAndDevices) {
  ASSERT_EQ(mkfifo(In("pipe").c_str(), 0600), 0);
  ExpectRefused(In("pipe"), "it is a pipe, want a regular file or a folder");
  const FileAccess devices = FileAccess::Below({"/dev"});
  ExpectThrows([&] { devices.CheckRead("/dev/zero"); }, "it is a device");
  ExpectThrows([&] { devices.CheckWrite("/dev/null"); }, "it is a device");
}

TEST_F(FileAccessTest, BelowLooksAtTheFilesOfADatabasesFolder) {
  fs::create_directories(In("lmdb"));
  Link(dir_.path("outside/bait"), "lmdb/data.mdb");
  ExpectRefused(In("lmdb"), "entry \"" + In("lmdb/data.mdb") + "\": it is a symbolic link out");
  fs::remove(In("lmdb/data.mdb"));
  Link("none", "lmdb/data.mdb");
  ExpectRefused(In("lmdb"), "is a symbolic link to a file that does not exist");
  fs::remove(In("lmdb/data.mdb"));
  ASSERT_EQ(mkfifo(In("lmdb/data.mdb").c_str(), 0600), 0);
  ExpectRefused(In("lmdb"), "entry \"" + In("lmdb/data.mdb") + "\": it is a pipe");
  fs::remove(In("lmdb/data.mdb"));
  fs::create_hard_link(dir_.path("outside/bait"), In("lmdb/LOG"));
  EXPECT_EQ(Below().CheckRead(In("lmdb")), In("lmdb"));
  ExpectThrows([&] { Below().CheckWrite(In("lmdb")); }, "it has a second name (hard link)");
}

TEST_F(FileAccessTest, ScopesDecideWhatADeserializedReaderMayOpen) {
  const auto write = [](const std::string& path) {
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("key", "value");
  };
  write(In("reader"));
  write(dir_.path("outside/reader"));
  Blob inside, outside, copy;
  inside.Reset(new db::DBReader("minidb", In("reader")));
  outside.Reset(new db::DBReader("minidb", dir_.path("outside/reader")));
  const std::string record = SerializeBlob(outside, "r");
  const FileAccess below = Below(), off = FileAccess::Off();
  {
    const FileAccessScope scope(below);
    DeserializeBlob(SerializeBlob(inside, "r"), &copy);
    std::string key, value;
    copy.Get<db::DBReader>().Read(&key, &value);
    EXPECT_EQ(key, "key");
    ExpectThrows([&] { DeserializeBlob(record, &copy); }, "a net may not read");
    {
      const FileAccessScope inner(off);
      ExpectThrows([&] { DeserializeBlob(SerializeBlob(inside, "r"), &copy); }, "not access any");
    }
    ExpectThrows([&] { DeserializeBlob(record, &copy); }, "is not below");
  }
  DeserializeBlob(record, &copy);
  EXPECT_TRUE(copy.Get<db::DBReader>().IsOpen());
}

TEST_F(FileAccessTest, ElementsOfATensorOpenNoDatabase) {
  db::CreateDB("minidb", In("reader"), db::NEW)->Close();
  Blob reader, copy;
  reader.Reset(new db::DBReader("minidb", In("reader")));
  BlobProto outer;
  outer.set_type("Tensor");
  outer.mutable_tensor()->add_dims(1);
  outer.mutable_tensor()->set_data_type(TensorProto::UNDEFINED);
  outer.mutable_tensor()->add_string_data(SerializeBlob(reader, "r"));
  ExpectThrows([&] { DeserializeBlob(outer, &copy); },
               "an element of a tensor cannot be a DBReader");
}

class HostileLevelDBTest : public FileAccessTest {
 protected:
  HostileLevelDBTest() {
    const auto database = db::CreateDB("leveldb", In("ldb"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("key", "value");
  }
  void ExpectCannotOpen(const std::string& reason) {
    ExpectThrows([&] { db::CreateDB("leveldb", In("ldb"), db::READ); }, reason);
  }
};

TEST_F(HostileLevelDBTest, MayNotNameAFileOutsideOfItsFolder) {
  for (const char* name : {"../../outside/bait", "/../a.db", "./MANIFEST-000002"}) {
    dir_.Write("root/ldb/CURRENT", std::string(name) + "\n");
    ExpectCannotOpen("is not a file in the database's folder");
  }
}

TEST_F(HostileLevelDBTest, MayNotHoldPipes) {
  for (const auto& entry : fs::directory_iterator(In("ldb"))) {
    const std::string name = entry.path().filename();
    if (!name.starts_with("MANIFEST") && !name.ends_with(".log")) continue;
    SCOPED_TRACE(name);
    fs::rename(entry.path(), In("kept"));
    ASSERT_EQ(mkfifo(entry.path().c_str(), 0600), 0);
    ExpectCannotOpen("is not a regular file");
    fs::remove(entry.path());
    fs::rename(In("kept"), entry.path());
  }
  fs::remove(In("ldb/CURRENT"));
  ASSERT_EQ(mkfifo(In("ldb/CURRENT").c_str(), 0600), 0);
  ExpectCannotOpen("is not a regular file");
}

TEST_F(HostileLevelDBTest, MayNotHoldATableThatIsAPipe) {
  db::CreateDB("leveldb", In("ldb"), db::WRITE)->Close();  // moves the log into a table file
  int tables = 0;
  for (const auto& entry : fs::directory_iterator(In("ldb"))) {
    if (entry.path().extension() != ".ldb") continue;
    ++tables;
    fs::remove(entry.path());
    ASSERT_EQ(mkfifo(entry.path().c_str(), 0600), 0);
  }
  ASSERT_GT(tables, 0);
  ExpectThrows(
      [&] {
        const auto database = db::CreateDB("leveldb", In("ldb"), db::READ);
        database->NewCursor()->SeekToFirst();
      },
      "is not a regular file");
}

TEST_F(FileAccessTest, AHostileLMDBMayNotHoldPipes) {
  fs::create_directory(In("lmdb"));
  ASSERT_EQ(mkfifo(In("lmdb/data.mdb").c_str(), 0600), 0);
  ExpectThrows([&] { db::CreateDB("lmdb", In("lmdb"), db::READ); },
               "cannot read lmdb \"" + In("lmdb") + "\": data.mdb is not a regular file");
  EXPECT_FALSE(db::DBExists("lmdb", In("lmdb")));
}

// A link in a folder may lead to the root itself: nothing is written to it by its own name.
TEST_F(FileAccessTest, AFolderMayHaveALinkToItsRoot) {
  Link(root_, "folder/up");
  EXPECT_EQ(Below().CheckRead(In("folder")), In("folder"));
  EXPECT_EQ(Below().CheckWrite(In("folder")), In("folder"));
  ExpectThrows([&] { Below().CheckWrite(In("folder/up")); }, "it is not below");
}

TEST_F(FileAccessTest, ARootCountsOnceHoweverItIsGiven) {
  const FileAccess access =
      FileAccess::Below({root_, In("folder/.."), dir_.path("root"), In("folder"), root_ + "/"});
  EXPECT_EQ(access.roots(), (std::vector<std::string>{root_, In("folder")}));
  ExpectThrows([&] { access.CheckRead("/etc/passwd"); },
               "it is not below \"" + root_ + "\" or \"" + In("folder") + "\"");
}

}  // namespace
}  // namespace caffe2rt::file_access_test
