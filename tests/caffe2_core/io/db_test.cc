#include "caffe2_core/io/db.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::db_test {
namespace {

using db::CreateDB;
using test::ExpectThrows;
using test::GetAll;
using test::Put;
using test::Records;
using test::SharedPath;
using test::TempDir;

// Returns the contents of all files below `path`.
Records Files(const std::string& path) {
  Records files;
  if (!std::filesystem::is_directory(path)) return {{"", ReadWholeFile(path)}};
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    files[entry.path().filename()] = ReadWholeFile(entry.path());
  }
  return files;
}

// Returns ordered keys, with values from small to larger than a page.
Records ManyRecords(int count) {
  Records records;
  for (int i = 0; i < count; ++i) {
    char key[16];
    std::snprintf(key, sizeof(key), "key%05d", i);
    records[key] = std::string(static_cast<size_t>(i % 97 == 0 ? 30000 + i : 1 + i % 300),
                               static_cast<char>('a' + i % 26));
  }
  return records;
}

class DBTest : public testing::TestWithParam<const char*> {
 protected:
  const std::string type_ = GetParam();
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
};

TEST_P(DBTest, GivesBackWhatWasPut) {
  const Records records = ManyRecords(2000);
  Put(type_, path_, db::NEW, records);
  EXPECT_EQ(GetAll(type_, path_), records);
}

TEST_P(DBTest, ShowsCommittedRecordsWhileItIsOpen) {
  const auto database = CreateDB(type_, path_, db::NEW);
  const auto transaction = database->NewTransaction();
  transaction->Put("k", "v");
  transaction->Commit();
  std::string key, value;
  db::DBReader(type_, path_).Read(&key, &value);
  EXPECT_EQ(key + value, "kv");
}

TEST_P(DBTest, IsAbsentUntilTheFirstCommit) {
  for (const db::Mode mode : {db::NEW, db::WRITE}) {
    const std::string path = dir_.path(MakeString("db", mode));
    const auto database = CreateDB(type_, path, mode);
    const auto transaction = database->NewTransaction();
    transaction->Put("k", "v");
    EXPECT_FALSE(db::DBExists(type_, path));
    EXPECT_FALSE(std::filesystem::exists(path));
    transaction->Commit();
    EXPECT_EQ(GetAll(type_, path), (Records{{"k", "v"}}));
  }
}

TEST_P(DBTest, CommitsAgainAndAgain) {
  const auto database = CreateDB(type_, path_, db::NEW);
  {
    const auto transaction = database->NewTransaction();
    transaction->Put("a", "1");
    transaction->Commit();
    transaction->Put("b", "2");
    EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "1"}}));
    transaction->Commit();
    EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "1"}, {"b", "2"}}));
    transaction->Put("c", "3");
  }
  EXPECT_EQ(GetAll(type_, path_).size(), 3u);
  database->NewTransaction()->Put("d", "4");
  EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}}));
  database->Close();
  ExpectThrows([&] { database->NewTransaction(); }, "not open for WRITE or NEW");
  EXPECT_EQ(GetAll(type_, path_).size(), 4u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
}

TEST_P(DBTest, IsNotMadeWhenAnExceptionEndsItsFirstTransaction) {
  {
    const auto database = CreateDB(type_, path_, db::NEW);
    try {
      const auto transaction = database->NewTransaction();
      for (int i = 0; i < 5; ++i) {  // more than is kept in memory
        transaction->Put(MakeString("k", i), std::string(16 << 20, 'v'));
      }
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
    }
  }
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_P(DBTest, TheFirstOfTwoSaversWins) {
  const auto first = CreateDB(type_, path_, db::WRITE);
  const auto second = CreateDB(type_, path_, db::WRITE);
  const auto one = first->NewTransaction(), two = second->NewTransaction();
  one->Put("k", "first");
  two->Put("k", "second");
  one->Commit();
  ExpectThrows([&] { two->Commit(); }, "cannot");
  EXPECT_EQ(GetAll(type_, path_), (Records{{"k", "first"}}));
}

TEST_P(DBTest, AddsToExistingContent) {
  Put(type_, path_, db::NEW, {{"a", "1"}});
  Put(type_, path_, db::WRITE, {{"b", "2"}});
  EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "1"}, {"b", "2"}}));
}

TEST_P(DBTest, MakesADatabaseToAddTo) {
  Put(type_, path_, db::WRITE, {{"a", "1"}});
  EXPECT_EQ(GetAll(type_, path_), (Records{{"a", "1"}}));
}

TEST_P(DBTest, ReadsAnEmptyDatabase) {
  CreateDB(type_, path_, db::NEW)->Close();
  EXPECT_EQ(GetAll(type_, path_), Records());
  EXPECT_TRUE(db::DBExists(type_, path_));
  db::DBReader reader(type_, path_);
  std::string key, value;
  ExpectThrows([&] { reader.Read(&key, &value); }, "has no records");
}

TEST_P(DBTest, ReadingCreatesAndChangesNothing) {
  Put(type_, path_, db::NEW, ManyRecords(500));
  const Records before = Files(path_);
  GetAll(type_, path_);
  { db::DBReader reader(type_, path_); }
  EXPECT_EQ(Files(path_), before);
  EXPECT_FALSE(db::DBExists(type_, dir_.path("none")));
  EXPECT_FALSE(std::filesystem::exists(dir_.path("none")));
}

TEST_P(DBTest, DropsATransactionThatAnExceptionEnds) {
  try {
    const auto database = CreateDB(type_, path_, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("k", "v");
    throw std::runtime_error("x");
  } catch (const std::runtime_error&) {
  }
  if (db::DBExists(type_, path_)) {
    EXPECT_EQ(GetAll(type_, path_), Records());
  }
}

TEST_P(DBTest, RejectsTheWrongMode) {
  Put(type_, path_, db::NEW, {{"a", "1"}});
  ExpectThrows([&] { CreateDB(type_, path_, db::READ)->NewTransaction(); },
               "not open for WRITE or NEW");
  ExpectThrows([&] { CreateDB(type_, path_, db::WRITE)->NewCursor(); }, "not open for READ");
  ExpectThrows([&] { CreateDB(type_, dir_.path("none"), db::READ); }, "none");
}

TEST_P(DBTest, ReaderGoesRoundInShards) {
  Put(type_, path_, db::NEW, {{"a", "1"}, {"b", "2"}, {"c", "3"}, {"d", "4"}, {"e", "5"}});
  db::DBReader reader(type_, path_, 2, 1);
  std::string key, value, keys;
  for (int i = 0; i < 4; ++i) {
    reader.Read(&key, &value);
    keys += key;
  }
  EXPECT_EQ(keys, "bdbd");
  reader.SeekToFirst();
  reader.Read(&key, &value);
  EXPECT_EQ(key, "b");
  ExpectThrows([&] { db::DBReader(type_, path_, 9, 8); },
               "records, want more than 8: the shard id");
  ExpectThrows([&] { db::DBReader(type_, path_, 2, 2); }, "shard_id");
}

TEST_P(DBTest, ReaderServesManyThreads) {
  const Records records = ManyRecords(100);
  Put(type_, path_, db::NEW, records);
  db::DBReader reader(type_, path_);
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      std::string key, value;
      for (int i = 0; i < 200; ++i) {
        reader.Read(&key, &value);
        right += records.at(key) == value;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(right, 800);
}

// A training that is resumed goes on with the records that it has not seen.
TEST_P(DBTest, ReopensAReaderWhereItStood) {
  Put(type_, path_, db::NEW, {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  db::DBReader reader(type_, path_);
  std::string key, value;
  for (const char* const next : {"b", "c", "a"}) {
    reader.Read(&key, &value);
    const DBReaderProto proto = reader.ToProto("r");
    db::DBReader(proto).Read(&key, &value);
    EXPECT_EQ(key, next);
    EXPECT_EQ(proto.key(), next);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DBTest, testing::Values("minidb", "leveldb", "lmdb"));

class SeekTest : public DBTest {};

TEST_P(SeekTest, SeeksToTheKeyOrTheNext) {
  const Records records = ManyRecords(2000);
  Put(type_, path_, db::NEW, records);
  const auto database = CreateDB(type_, path_, db::READ);
  const auto cursor = database->NewCursor();
  ASSERT_TRUE(cursor->SupportsSeek());
  for (const char* key : {"key00000", "key01234", "key00777x", "a", "key01999"}) {
    cursor->Seek(key);
    ASSERT_TRUE(cursor->Valid()) << key;
    EXPECT_EQ(cursor->key(), records.lower_bound(key)->first);
    EXPECT_EQ(cursor->value(), records.lower_bound(key)->second);
    cursor->Next();
    const auto next = std::next(records.lower_bound(key));
    EXPECT_EQ(cursor->Valid(), next != records.end());
    if (cursor->Valid()) {
      EXPECT_EQ(cursor->key(), next->first);
    }
  }
  cursor->Seek("z");
  EXPECT_FALSE(cursor->Valid());
  ExpectThrows([&] { cursor->key(); }, "past the last record");
  ExpectThrows([&] { cursor->Next(); }, "past the last record");
}

INSTANTIATE_TEST_SUITE_P(Types, SeekTest, testing::Values("leveldb", "lmdb"));

TEST(DBRegistryTest, KnowsItsTypes) {
  EXPECT_EQ(CreateDB("foo", "x", db::READ), nullptr);
  EXPECT_FALSE(db::DBExists("foo", "x"));
  ExpectThrows([] { db::DBReader("foo", "x"); },
               "database type \"foo\" is not known; known types: LMDB");
  const TempDir dir;
  Put("MiniDB", dir.path("m"), db::NEW, {{"a", "1"}});
  EXPECT_EQ(GetAll("minidb", dir.path("m")).size(), 1u);
  std::string key, value;
  ExpectThrows([&] { db::DBReader().Read(&key, &value); }, "Reader not initialized.");
  DBReaderProto proto;
  proto.set_db_type("minidb");
  proto.set_source(dir.path("m"));
  db::DBReader(proto).Read(&key, &value);
  EXPECT_EQ(value, "1");
  proto.set_key("gone");
  proto.set_name("r");
  ExpectThrows([&] { db::DBReader{proto}; },
               "reader \"r\" stood at the record with the key \"gone\", which database");
}

TEST(DBRegistryTest, NamesTheTypeThatADatabaseHas) {
  const TempDir dir;
  const std::pair<const char*, const char*> types[] = {{"lmdb", "an LMDB database"},
                                                       {"leveldb", "a LevelDB database"},
                                                       {"minidb", "a minidb database"}};
  for (const auto& [type, description] : types) {
    Put(type, dir.path(type), db::NEW, {{"a", "1"}});
    for (const auto& [other, unused] : types) {
      if (std::string(type) == other) continue;
      for (const db::Mode mode : {db::READ, db::WRITE}) {
        ExpectThrows(
            [&, type = type, other = other] { CreateDB(other, dir.path(type), mode); },
            std::string("as ") + other + ": it is " + description + "; want the type " + type);
      }
      EXPECT_EQ(GetAll(type, dir.path(type)).size(), 1u) << type << " opened as " << other;
    }
  }
}

TEST(MiniDBTest, WritesTheFormatOfTheOriginal) {
  const TempDir dir;
  Put("minidb", dir.path("m"), db::NEW, {{"key", "vv"}, {"l", "w"}});
  EXPECT_EQ(ReadWholeFile(dir.path("m")),
            std::string("\3\0\0\0\2\0\0\0keyvv\1\0\0\0\1\0\0\0lw", 23));
}

TEST(MiniDBTest, ReplacesTheFileOnlyWhenCommitted) {
  const TempDir dir;
  Put("minidb", dir.path("m"), db::NEW, {{"old", "1"}});
  const auto database = CreateDB("minidb", dir.path("m"), db::NEW);
  const auto transaction = database->NewTransaction();
  transaction->Put("new", "2");
  EXPECT_EQ(GetAll("minidb", dir.path("m")).count("old"), 1u);
  transaction->Commit();
  EXPECT_EQ(GetAll("minidb", dir.path("m")), (Records{{"new", "2"}}));
}

TEST(MiniDBTest, ACursorReadsTheFileThatWasOpened) {
  const TempDir dir;
  Put("minidb", dir.path("m"), db::NEW, {{"a", "1"}});
  const auto database = CreateDB("minidb", dir.path("m"), db::READ);
  std::filesystem::remove(dir.path("m"));
  EXPECT_EQ(database->NewCursor()->key(), "a");
  Put("minidb", dir.path("m"), db::NEW, {{"b", "1"}});
  EXPECT_EQ(database->NewCursor()->key(), "a");
}

TEST(MiniDBTest, LaterCommitsGoToItsOwnFileWhateverHasTheName) {
  const TempDir dir;
  const auto first = CreateDB("minidb", dir.path("m"), db::NEW);
  const auto second = CreateDB("minidb", dir.path("m"), db::NEW);
  const auto one = first->NewTransaction(), two = second->NewTransaction();
  const auto put = [](db::Transaction& transaction, const std::string& key) {
    transaction.Put(key, "v");
    transaction.Commit();
  };
  put(*one, "a1");
  put(*two, "b1");
  put(*one, "a2");
  put(*two, "b2");
  EXPECT_EQ(GetAll("minidb", dir.path("m")), (Records{{"b1", "v"}, {"b2", "v"}}));
  std::filesystem::rename(dir.path("m"), dir.path("moved"));
  put(*two, "b3");
  EXPECT_FALSE(std::filesystem::exists(dir.path("m")));
  EXPECT_EQ(GetAll("minidb", dir.path("moved")), (Records{{"b1", "v"}, {"b2", "v"}, {"b3", "v"}}));
}

TEST(MiniDBTest, RejectsEmptyKeysAndDamagedFiles) {
  const TempDir dir;
  ExpectThrows([&] { Put("minidb", dir.path("m"), db::NEW, {{"", "x"}}); }, "an empty key");
  ExpectThrows([&] { Put("minidb", dir.path("m"), db::NEW, {{"x", ""}}); }, "empty key or value");
  const std::string record("\3\0\0\0\2\0\0\0keyvv", 13);
  for (const std::string& bytes :
       {record + "\1", record.substr(0, 12), std::string("\3\0\0\0\xff\xff\xff\x7fkey", 11),
        std::string("\xff\xff\xff\xff\2\0\0\0key", 11), std::string(20, '\0')}) {
    ExpectThrows([&] { GetAll("minidb", dir.Write("bad", bytes)); }, "is truncated or damaged");
  }
  // The records before the damage can be read.
  const auto database = CreateDB("minidb", dir.Write("bad", record + "\1"), db::READ);
  EXPECT_EQ(database->NewCursor()->value(), "vv");
}

TEST(LMDBTest, RejectsModeNewForExistingPaths) {
  const TempDir dir;
  Put("lmdb", dir.path("l"), db::NEW, {{"a", "1"}});
  ExpectThrows([&] { CreateDB("lmdb", dir.path("l"), db::NEW); }, "File exists");
  Put("leveldb", dir.path("v"), db::NEW, {{"a", "1"}});
  ExpectThrows([&] { CreateDB("leveldb", dir.path("v"), db::NEW); }, "exists");
  std::filesystem::create_directory(dir.path("empty"));
  ExpectThrows([&] { CreateDB("lmdb", dir.path("empty"), db::NEW); }, "File exists");
  Put("leveldb", dir.path("empty"), db::NEW, {{"a", "1"}});
  EXPECT_EQ(GetAll("leveldb", dir.path("empty")), (Records{{"a", "1"}}));
}

TEST(LMDBTest, OpensItsOwnFilesAgainAndAgain) {
  const TempDir dir;
  Records all;
  for (int round = 0; round < 12;
       ++round) {  // overwriting creates free pages, also for values that span pages
    Records records;
    for (const auto& [key, value] : ManyRecords(300)) {
      if ((key.back() + round) % 3 == 0) records[key] = value + std::string(round * 700, 'z');
    }
    Put("lmdb", dir.path("l"), round == 0 ? db::NEW : db::WRITE, records);
    for (const auto& [key, value] : records) all[key] = value;
    ASSERT_EQ(GetAll("lmdb", dir.path("l")), all) << round;
  }
}

TEST(LMDBTest, ReadsTheFileOfTheOriginal) {
  SKIP_WITHOUT_SHARED("models/c2_lenet_lmdb/LeNet_params");
  const Records records = GetAll("lmdb", SharedPath("models/c2_lenet_lmdb/LeNet_params"));
  EXPECT_TRUE(records.contains("conv1_w#%0"));
  for (const auto& [key, value] : records) {
    BlobProto proto;
    EXPECT_TRUE(ParseProtoFromLargeString(value, &proto)) << key;
    EXPECT_EQ(key, proto.name() + "#%0");
  }
}

TEST(ProtoDBTest, HoldsTensorsByName) {
  const TempDir dir;
  TensorProto tensor;
  tensor.set_name("a");
  tensor.add_float_data(1);
  tensor.add_dims(1);
  {
    const auto database = CreateDB("protodb", dir.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", tensor.SerializeAsString());
    ExpectThrows([&] { transaction->Put("a", tensor.SerializeAsString()); }, "already exists");
    ExpectThrows([&] { transaction->Put("b", tensor.SerializeAsString()); },
                 "does not equal to tensor name a");
    ExpectThrows([&] { transaction->Put("c", "\xff"); }, "is not a TensorProto");
  }
  EXPECT_EQ(GetAll("protodb", dir.path("p")), (Records{{"a", tensor.SerializeAsString()}}));
  tensor.set_name("b");
  Put("protodb", dir.path("p"), db::WRITE, {{"b", tensor.SerializeAsString()}});
  EXPECT_EQ(GetAll("protodb", dir.path("p")).size(), 2u);
  ExpectThrows([&] { CreateDB("protodb", dir.Write("bad", "\xff"), db::READ); }, "as TensorProtos");
}

TEST(ProtoDBTest, ReadsTheFileOfTheOriginal) {
  SKIP_WITHOUT_SHARED("models/c2_files/tensors.protodb");
  const Records records = GetAll("protodb", SharedPath("models/c2_files/tensors.protodb"));
  ASSERT_EQ(records.size(), 3u);
  for (int i = 0; i < 3; ++i) {
    TensorProto tensor;
    ASSERT_TRUE(tensor.ParseFromString(records.at(MakeString("key", i))));
    EXPECT_EQ(tensor.float_data(0), i);
    EXPECT_EQ(tensor.float_data(1), i / 4.f);
  }
}

// A pipe is written directly, each commit at once.
TEST(MiniDBTest, EveryCommitGoesToAPipe) {
  int fds[2];
  ASSERT_EQ(pipe(fds), 0);
  const FileDescriptor read_end(fds[0]);
  FileDescriptor write_end(fds[1]);
  {
    const auto database = CreateDB("minidb", MakeString("/proc/self/fd/", fds[1]), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", "1");
    transaction->Commit();
    transaction->Put("b", "22");
    transaction->Commit();
  }
  write_end.Close();
  char bytes[64];
  std::string got;
  for (ssize_t count; (count = read(read_end.get(), bytes, sizeof(bytes))) > 0;)
    got.append(bytes, static_cast<size_t>(count));
  EXPECT_EQ(got, std::string("\1\0\0\0\1\0\0\0a1\1\0\0\0\2\0\0\0b22", 21));
}

// The file belongs to whoever comes next, once the database is closed.
TEST(ProtoDBTest, IsWrittenByTheFirstCloseAlone) {
  const TempDir dir;
  TensorProto tensor;
  tensor.set_name("a");
  auto database = CreateDB("protodb", dir.path("p"), db::NEW);
  database->NewTransaction()->Put("a", tensor.SerializeAsString());
  EXPECT_FALSE(std::filesystem::exists(dir.path("p")));
  database->Close();
  EXPECT_EQ(GetAll("protodb", dir.path("p")).size(), 1u);
  std::filesystem::remove(dir.path("p"));
  database->Close();
  database.reset();
  EXPECT_FALSE(std::filesystem::exists(dir.path("p")));
}

// Any message may be a protodb: that a file is one explains no error of another type.
TEST(DBTypeTest, AnErrorDoesNotProposeProtoDB) {
  const TempDir dir;
  TensorProto tensor;
  tensor.set_name("a");
  tensor.set_data_type(TensorProto::INT32);
  Put("protodb", dir.path("p"), db::NEW, {{"a", tensor.SerializeAsString()}});
  Put("minidb", dir.path("m"), db::NEW, {{"a", "1"}});
  for (const char* const type : {"leveldb", "lmdb"}) {
    try {
      CreateDB(type, dir.path("p"), db::READ);
      ADD_FAILURE() << type;
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message().find("want the type"), std::string::npos) << error.message();
    }
    ExpectThrows([&] { CreateDB(type, dir.path("m"), db::READ); }, "want the type minidb");
  }
}

}  // namespace
}  // namespace caffe2rt::db_test
