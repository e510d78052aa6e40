// Runs every operator that opens files, with paths that leave the root, and with links, pipes and
// devices.
#include "caffe2_core/io/file_access.h"

#include <sys/stat.h>

#include <filesystem>
#include <memory>
#include <ostream>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::file_access_test {
namespace {

namespace fs = std::filesystem;
using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::TempDir;

std::string Arg(const std::string& name, const std::string& value) {
  return " arg { name: '" + name + "' s: '" + value + "' }";
}
const char kAbsolute[] = " arg { name: 'absolute_path' i: 1 }";

struct OpenerCase {
  const char* op;    // the operator without its path and its database type
  const char* path;  // the name of the argument that holds the path
};

// Used as the test's name in listings.
std::ostream& operator<<(std::ostream& out, const OpenerCase& opener) { return out << opener.op; }

// A workspace whose root folder contains a database, and a sibling folder with another database.
class PolicyFixture : public testing::Test {
 protected:
  PolicyFixture() {
    fs::create_directories(dir_.path("root/folder"));
    fs::create_directories(dir_.path("outside"));
    root_ = fs::canonical(dir_.path("root")).string();
    outside_ = fs::canonical(dir_.path("outside")).string();
    WriteDatabase(root_ + "/m");
    WriteDatabase(outside_ + "/m");
    before_ = ReadWholeFile(outside_ + "/m");
    ws_ = std::make_unique<Workspace>(root_);
    ws_->SetFileAccess(FileAccess::Below({root_}));
    Feed<float>(ws_.get(), "a", {1}, {1});
    Feed<int64_t>(ws_.get(), "it", {1}, {4});
  }
  ~PolicyFixture() override {
    EXPECT_EQ(ReadWholeFile(outside_ + "/m"), before_);
    EXPECT_EQ(std::distance(fs::directory_iterator(outside_), {}), 1);
  }
  static void WriteDatabase(const std::string& path) {
    Workspace ws("/");
    Feed<float>(&ws, "a", {1}, {7});
    RunOp(&ws, "type: 'Save' input: 'a'" + Arg("db", path) + Arg("db_type", "minidb"));
  }
  const TempDir dir_;
  std::string root_, outside_, before_;
  std::unique_ptr<Workspace> ws_;
};

class FilePolicyTest : public PolicyFixture, public testing::WithParamInterface<OpenerCase> {
 protected:
  static bool TakesPathAsItIs() {
    return std::string(GetParam().op).find("CreateDB") != std::string::npos;
  }
  void Open(const std::string& path, const std::string& type, const std::string& more = "") {
    const std::string at = TakesPathAsItIs() && !path.starts_with('/') ? root_ + "/" + path : path;
    RunOp(ws_.get(), GetParam().op + Arg(GetParam().path, at) + Arg("db_type", type) + more);
  }
  void ExpectRefused(const std::string& path, const std::string& reason,
                     const std::string& more = "") {
    for (const char* type : {"minidb", "leveldb", "lmdb", "protodb"}) {
      SCOPED_TRACE(path + " as " + type);
      ExpectThrows([&] { Open(path, type, more); }, "a net may not ");
      ExpectThrows([&] { Open(path, type, more); }, reason);
    }
  }
};

TEST_P(FilePolicyTest, OpensWhatIsBelowTheRoot) {
  Open("m", "minidb");
  fs::create_symlink("m", root_ + "/link");
  Open("link", "minidb");
  fs::create_symlink(".", root_ + "/folder/up");
  Open("folder/up/../m", "minidb");
}

TEST_P(FilePolicyTest, LeavesTheRootOnNoPath) {
  const std::string reason = "it is not below \"" + root_ + "\"; ";
  ExpectRefused("../outside/m", reason);
  ExpectRefused("folder/../../outside/m", reason);
  ExpectRefused(outside_ + "/m", reason, TakesPathAsItIs() ? "" : kAbsolute);
  fs::create_symlink("../outside", root_ + "/to_folder");
  ExpectRefused("to_folder/m", reason);
  ExpectRefused("to_folder/new", reason);
  fs::create_symlink(outside_ + "/m", root_ + "/to_file");
  ExpectRefused("to_file", reason);
  fs::create_symlink(outside_ + "/new", root_ + "/to_new");
  ExpectRefused("to_new", "is a symbolic link to a file that does not exist");
}

TEST_P(FilePolicyTest, OpensNoPipeAndNoDevice) {
  ASSERT_EQ(mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  ExpectRefused("pipe", "it is a pipe, want a regular file or a folder");
  fs::create_symlink("/dev/zero", root_ + "/zero");
  ExpectRefused("zero", "it is not below");
  ws_->SetFileAccess(FileAccess::Below({root_, "/dev"}));
  ExpectRefused("zero", "it is a device, want a regular file or a folder");
  ASSERT_EQ(mkfifo((root_ + "/folder/data.mdb").c_str(), 0600), 0);
  ExpectRefused("folder", "entry \"" + root_ + "/folder/data.mdb\": it is a pipe");
}

TEST_P(FilePolicyTest, OpensNothingWhenAccessIsOff) {
  ws_->SetFileAccess(FileAccess::Off());
  ExpectRefused("m",
                "nets may not access any file; Workspace::SetFileAccess or "
                "PredictorOptions::file_access allows it");
}

TEST_P(FilePolicyTest, GoesAnywhereWhenAccessIsFree) {
  ws_->SetFileAccess(FileAccess::Free());
  fs::create_directories(dir_.path("free"));
  WriteDatabase(dir_.path("free/m"));
  Open("../free/m", "minidb");
}

TEST_P(FilePolicyTest, FollowsThePolicyOfTheParentWorkspace) {
  auto child = std::make_unique<Workspace>(root_, ws_.get());
  ws_.swap(child);
  ExpectRefused("../outside/m", "it is not below");
  Open("m", "minidb");
  ws_.swap(child);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, FilePolicyTest,
    testing::Values(OpenerCase{"type: 'Save' input: 'a'", "db"},
                    OpenerCase{"type: 'Checkpoint' input: 'it' input: 'a'", "db"},
                    OpenerCase{"type: 'Snapshot' input: 'it' input: 'a'", "db"},
                    OpenerCase{"type: 'Load' output: 'a'", "db"},
                    OpenerCase{"type: 'CreateDB' output: 'reader'", "db"},
                    OpenerCase{"type: 'DBExists' output: 'exists'", "db_name"}),
    [](const auto& info) {
      const std::string op = info.param.op;
      return op.substr(7, op.find('\'', 7) - 7);
    });

class LoadPolicyTest : public PolicyFixture {};

TEST_F(LoadPolicyTest, ReadsFromAReaderWhateverThePolicy) {
  ws_->SetFileAccess(FileAccess::Off());
  ws_->CreateBlob("reader")->Reset(new db::DBReader("minidb", outside_ + "/m"));
  RunOp(ws_.get(), "type: 'Load' input: 'reader' output: 'a'");
  ExpectTensor<float>(*ws_, "a", {1}, {7});
}

TEST_F(LoadPolicyTest, ChecksEachOfSeveralDatabases) {
  ExpectThrows(
      [&] {
        RunOp(ws_.get(),
              "type: 'Load' output: 'b' arg { name: 'dbs' strings: 'm' strings: '../outside/m' }"
              " arg { name: 'load_all' i: 1 }" +
                  Arg("db_type", "minidb"));
      },
      "a net may not read \"" + root_ + "/../outside/m\"");
}

TEST_F(LoadPolicyTest, NamesTheFoldersInWhichItSoughtADatabase) {
  const std::string load = "type: 'Load' output: 'a'" + Arg("db_type", "minidb");
  const std::string sought = "; \"none\" was sought in \"" + root_ + "\" and \"" + outside_ + "\"";
  const auto message = [&](const std::string& db) {
    return test::MessageOf([&] { RunOp(ws_.get(), load + db); });
  };
  ws_->SetFileAccess(FileAccess::Below({root_, outside_}));
  EXPECT_NE(message(Arg("db", "none")).find(sought), std::string::npos);
  EXPECT_NE(message(" arg { name: 'dbs' strings: 'm' strings: 'none' }").find(sought),
            std::string::npos);
  EXPECT_EQ(message(Arg("db", root_ + "/none") + kAbsolute).find("was sought"), std::string::npos);
  ws_->SetFileAccess(FileAccess::Below({root_}));
  const std::string single = message(Arg("db", "none"));
  EXPECT_NE(single.find(root_ + "/none"), std::string::npos);
  EXPECT_EQ(single.find("was sought"), std::string::npos);
}

TEST_F(LoadPolicyTest, OpensNoDatabaseThatARecordNames) {
  Workspace free("/");
  free.CreateBlob("reader")->Reset(new db::DBReader("minidb", outside_ + "/m"));
  RunOp(&free,
        "type: 'Save' input: 'reader'" + Arg("db", root_ + "/readers") + Arg("db_type", "minidb"));
  const std::string load = "type: 'Load' output: 'reader'" + Arg("db_type", "minidb");
  ExpectThrows([&] { RunOp(ws_.get(), load + Arg("db", "readers")); },
               "a net may not read \"" + outside_ + "/m\"");
  // Nor may it do so when the database itself is opened by a reader.
  ws_->SetFileAccess(FileAccess::Off());
  ws_->CreateBlob("source")->Reset(new db::DBReader("minidb", root_ + "/readers"));
  ExpectThrows([&] { RunOp(ws_.get(), "type: 'Load' input: 'source' output: 'reader'"); },
               "nets may not access any file");
  RunOp(&free, load + Arg("db", root_ + "/readers"));
  EXPECT_TRUE(free.GetBlob("reader")->Get<db::DBReader>().IsOpen());
}

TEST_F(LoadPolicyTest, ReadsAndMakesFoldersOfDatabases) {
  for (const char* type : {"leveldb", "lmdb"}) {
    Feed<float>(ws_.get(), "a", {1}, {3});
    RunOp(ws_.get(), "type: 'Save' input: 'a'" + Arg("db", type) + Arg("db_type", type));
    Feed<float>(ws_.get(), "a", {1}, {0});
    RunOp(ws_.get(), "type: 'Load' output: 'a'" + Arg("db", type) + Arg("db_type", type));
    ExpectTensor<float>(*ws_, "a", {1}, {3});
  }
}

}  // namespace
}  // namespace caffe2rt::file_access_test
