// What is left of files and databases when the objects that hold them end: without a commit, with an
// exception in flight, one after the other.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy_streams.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::io_ends_test {
namespace {

namespace fs = std::filesystem;

// A record that every type of database accepts.
std::string ValueOf(const std::string& key) {
  TensorProto tensor;
  tensor.set_name(key);
  return tensor.SerializeAsString();
}
// The keys in the order of the cursor, each as often as it is there.
std::string KeysIn(const std::string& type, const std::string& path) {
  std::string keys;
  const auto database = db::OpenDB(type, path, db::READ);
  const auto cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) keys += cursor->key() + " ";
  return keys;
}

class DatabaseEndsTest : public testing::TestWithParam<const char*> {
 protected:
  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
};

TEST_P(DatabaseEndsTest, AnEmptyOneAppearsWhenItsObjectEnds) {
  {
    const auto database = db::OpenDB(type_, path_, db::NEW);
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_TRUE(db::DBExists(type_, path_));
  EXPECT_EQ(KeysIn(type_, path_), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 1);
}

TEST_P(DatabaseEndsTest, NothingAppearsWhileAnExceptionIsInFlight) {
  try {
    const auto database = db::OpenDB(type_, path_, db::NEW);
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_TRUE(fs::is_empty(dir_.path()));
}

TEST_P(DatabaseEndsTest, EachRecordIsWrittenOnce) {
  for (const db::Mode mode : {db::NEW, db::WRITE}) {
    const auto database = db::OpenDB(type_, path_, mode);
    const std::string first = mode == db::NEW ? "a" : "d";
    for (char key = first[0]; key < first[0] + 3; ++key) {
      const auto transaction = database->NewTransaction();
      transaction->Put(std::string(1, key), ValueOf(std::string(1, key)));
      transaction->Commit();
      transaction->Commit();  // of nothing
    }
    database->Close();
    database->Close();
  }
  EXPECT_EQ(KeysIn(type_, path_), "a b c d e f ");
}

// What is done to the files after a database was closed is not undone by closing it again.
TEST_P(DatabaseEndsTest, ASecondCloseWritesNothing) {
  for (const db::Mode mode : {db::NEW, db::WRITE}) {
    {
      const auto database = db::OpenDB(type_, path_, mode);
      database->NewTransaction()->Put(mode == db::NEW ? "a" : "b",
                                      ValueOf(mode == db::NEW ? "a" : "b"));
      database->Close();
      EXPECT_EQ(KeysIn(type_, path_), mode == db::NEW ? "a " : "a b ");
      fs::rename(path_, dir_.path("moved"));
      database->Close();
      EXPECT_FALSE(fs::exists(path_));
    }
    EXPECT_FALSE(fs::exists(path_));
    EXPECT_EQ(KeysIn(type_, dir_.path("moved")), mode == db::NEW ? "a " : "a b ");
    fs::rename(dir_.path("moved"), path_);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 1);
}

TEST_P(DatabaseEndsTest, CursorsReturnToTheFirstRecord) {
  {
    const auto database = db::OpenDB(type_, path_, db::NEW);
    const auto transaction = database->NewTransaction();
    for (const char* key : {"a", "b", "c"}) transaction->Put(key, ValueOf(key));
  }
  const auto database = db::OpenDB(type_, path_, db::READ);
  const auto cursor = database->NewCursor();
  for (int run = 0; run < 2; ++run) {
    std::string keys;
    for (; cursor->Valid(); cursor->Next()) keys += cursor->key();
    EXPECT_EQ(keys, "abc");
    EXPECT_THROW((void)cursor->key(), EnforceNotMet);
    EXPECT_THROW((void)cursor->value(), EnforceNotMet);
    cursor->SeekToFirst();
  }
  EXPECT_EQ(cursor->SupportsOffsets(), type_ == "minidb" || type_ == "protodb");
  EXPECT_EQ(cursor->SupportsSeek(), type_ == "leveldb" || type_ == "lmdb");
  if (cursor->SupportsOffsets()) {
    const int64_t first = cursor->Offset();
    cursor->Next();
    const int64_t second = cursor->Offset();
    cursor->Next();
    cursor->SeekToOffset(first);  // backwards
    EXPECT_EQ(cursor->key(), "a");
    cursor->SeekToOffset(second);
    EXPECT_EQ(cursor->key(), "b");
    EXPECT_EQ(cursor->value(), ValueOf("b"));
    EXPECT_THROW(cursor->Seek("a"), EnforceNotMet);
  } else {
    cursor->Seek("aa");
    EXPECT_EQ(cursor->key(), "b");
    cursor->Seek("a");
    EXPECT_EQ(cursor->key(), "a");
    cursor->Seek("d");
    EXPECT_FALSE(cursor->Valid());
    EXPECT_THROW(cursor->SeekToOffset(0), EnforceNotMet);
  }
}

// A device on which every write fails.
TEST(MiniDBEndsTest, NothingIsWrittenAfterAFailure) {
  for (const db::Mode mode : {db::WRITE, db::NEW}) {
    const auto database = db::OpenDB("minidb", "/dev/full", mode);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", "1");
    ExpectThrows([&] { transaction->Commit(); }, "No space left on device");
    const std::string failed = "an earlier write to the minidb failed, nothing is committed";
    ExpectThrows([&] { transaction->Commit(); }, failed);
    ExpectThrows([&] { transaction->Put("b", "2"); }, failed);
    const auto other = database->NewTransaction();
    ExpectThrows([&] { other->Put("b", "2"); }, failed);
    ExpectThrows([&] { other->Commit(); }, failed);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DatabaseEndsTest,
                         testing::Values("minidb", "leveldb", "lmdb", "protodb"));

int OpenFiles() {
  return static_cast<int>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

TEST(FileEndsTest, AssignedDescriptorsCloseWhatTheyHeld) {
  const TempDir dir;
  const std::string path = dir.Write("a", "abc");
  const int before = OpenFiles();
  {
    FileDescriptor file = OpenForReading(path);
    EXPECT_EQ(OpenFiles(), before + 1);
    file = OpenForReading(path);
    EXPECT_EQ(OpenFiles(), before + 1);
    FileDescriptor& same = file;
    file = std::move(same);
    EXPECT_TRUE(file);
    FileDescriptor moved = std::move(file);
    EXPECT_FALSE(file);  // NOLINT: a moved-from descriptor is empty
    EXPECT_EQ(FileSize(moved, path), 3);
    EXPECT_EQ(OpenFiles(), before + 1);
    moved.Close();
    moved.Close();
    EXPECT_EQ(OpenFiles(), before);
  }
  EXPECT_EQ(OpenFiles(), before);
}

TEST(FileEndsTest, BytesThatAreOverwrittenMayBeFlushedOrNot) {
  const TempDir dir;
  constexpr size_t kBuffer = 1 << 20;
  AtomicFile file(dir.path("a"));
  file.Write(std::string(kBuffer - 2, 'a'));
  file.Write("bbbb");  // does not fit: what was before is written now
  file.Overwrite(1, "xy");
  file.Overwrite(static_cast<int64_t>(kBuffer) - 3, "12");  // on both sides
  file.Write("cc");
  file.Overwrite(static_cast<int64_t>(kBuffer) + 3, "z");  // the last byte
  ExpectThrows([&] { file.Overwrite(static_cast<int64_t>(kBuffer) + 3, "zz"); }, "it has 1048580");
  ExpectThrows([&] { file.Overwrite(-1, "z"); }, "cannot overwrite bytes -1 to 0");
  EXPECT_EQ(file.size(), static_cast<int64_t>(kBuffer) + 4);
  file.Commit();
  std::string want = std::string(kBuffer - 2, 'a') + "bbbbcz";
  want.replace(1, 2, "xy");
  want.replace(kBuffer - 3, 2, "12");
  EXPECT_TRUE(ReadWholeFile(dir.path("a")) == want);
}

TEST(FileEndsTest, LargeMessagesAreReadAsSmallOnes) {
  const TempDir dir;
  NetDef net;
  net.set_name("large");
  OperatorDef& op = *net.add_op();
  op.set_type("GivenTensorFill");
  Argument& values = *op.add_arg();
  values.set_name("values");
  for (int i = 0; i < 300000; ++i) values.add_floats(static_cast<float>(i));
  const std::string bytes = net.SerializeAsString();
  ASSERT_GT(bytes.size(), size_t{1} << 20);
  NetDef read;
  read.set_name("before");
  LoadProto(dir.Write("n.pb", bytes), &read);
  EXPECT_EQ(read.name(), "large");
  ASSERT_EQ(read.op_size(), 1);
  EXPECT_EQ(read.op(0).arg(0).floats(299999), 299999);
  // Cut, and of another kind.
  EXPECT_THROW(LoadProto(dir.Write("cut.pb", bytes.substr(0, bytes.size() - 2)), &read),
               EnforceNotMet);
  PlanDef plan;
  ExpectThrows([&] { LoadProto(dir.path("n.pb"), &plan); }, "it is a NetDef");
  // Zeros behind a message are no part of it.
  EXPECT_THROW(LoadProto(dir.Write("zeros.pb", bytes + std::string(8, '\0')), &read),
               EnforceNotMet);
  NetDef small;
  small.add_op()->set_type("Relu");
  EXPECT_THROW(ParseBinaryProto(small.SerializeAsString() + std::string(1, '\0'), "x", &read),
               EnforceNotMet);
  EXPECT_THROW(ParseBinaryProto(small.SerializeAsString() + "\x0c", "x", &read), EnforceNotMet);
}

TEST(FileEndsTest, NamesInArchivesAreMarkedAsUtf8IfTheyAreNotAscii) {
  const TempDir dir;
  Tensor tensor(std::vector<int64_t>{1}, CPU);
  tensor.mutable_data<uint8_t>();
  const std::pair<std::string, int> rows[] = {{"plain", 0}, {"\xc3\xa9", 8}, {"\xff", 0},
                                              {"a\xc3", 0}, {"\xc3\xa9\xe2\x82\xac", 8}};
  for (const auto& [name, flag] : rows) {
    NpzStream archive(dir.path("a.npz"));
    archive.Add(name, tensor);
    archive.Finish();
    const std::string bytes = ReadWholeFile(dir.path("a.npz"));
    const size_t directory = bytes.find("PK\1\2");
    ASSERT_NE(directory, std::string::npos);
    // Bit 11 of the flags, in the entry and in its record.
    EXPECT_EQ(bytes[7], flag) << name;
    EXPECT_EQ(bytes[directory + 9], flag) << name;
    EXPECT_EQ(bytes[6], 0);
  }
}

}  // namespace
}  // namespace caffe2rt::test::io_ends_test
