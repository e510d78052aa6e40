// Every error of the databases that a caller can cause, whole, and what it leaves behind.
#include <gtest/gtest.h>

#include <climits>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/db.h"
#include "caffe2_core/io/new_database.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::database_refusals_test {
namespace {

namespace fs = std::filesystem;
using db::CreateDB;
using test::ExpectRefusals;
using test::GetAll;
using test::MessageOf;
using test::Put;
using test::Records;
using test::TempDir;

std::string Quoted(const std::string& text) { return "\"" + text + "\""; }

// A record that every type of database accepts.
std::string Record(const std::string& name) {
  TensorProto tensor;
  tensor.set_name(name);
  return tensor.SerializeAsString();
}

// How the messages of a type name its database, and its cursors that are past the end.
struct Words {
  const char *type, *of_cursor, *file;
};
constexpr Words kWords[] = {
    {"minidb", "minidb \"", ""}, {"leveldb", "leveldb \"", ""}, {"lmdb", "lmdb \"", "/data.mdb"}};

TEST(DatabaseRefusalsTest, OfAModeThatDoesNotAllowIt) {
  for (const char* const type : {"minidb", "leveldb", "lmdb", "protodb"}) {
    const TempDir dir;
    const std::string path = dir.path("db");
    Put(type, path, db::NEW, {{"a", Record("a")}});
    const std::string no_read = MakeString(type, " ", Quoted(path), " is not open for READ");
    const std::string no_write =
        MakeString(type, " ", Quoted(path), " is not open for WRITE or NEW");
    const auto reading = CreateDB(type, path, db::READ);
    const auto adding = CreateDB(type, path, db::WRITE);
    ExpectRefusals(
        {{[&] { reading->NewTransaction(); }, no_write}, {[&] { adding->NewCursor(); }, no_read}});
    const auto cursor = reading->NewCursor();
    EXPECT_EQ(cursor->key(), "a");
    adding->NewTransaction()->Put("b", Record("b"));
    adding->Close();
    EXPECT_EQ(GetAll(type, path), (Records{{"a", Record("a")}, {"b", Record("b")}})) << type;
  }
}

TEST(DatabaseRefusalsTest, OfAClosedDatabase) {
  for (const Words& words : kWords) {
    const TempDir dir;
    const std::string path = dir.path("db");
    const auto adding = CreateDB(words.type, path, db::NEW);
    adding->Close();
    const auto reading = CreateDB(words.type, path, db::READ);
    reading->Close();
    ExpectRefusals(
        {{[&] { adding->NewTransaction(); },
          words.of_cursor + path + "\" is not open for WRITE or NEW"},
         {[&] { reading->NewCursor(); }, words.of_cursor + path + "\" is not open for READ"}});
    adding->Close();  // again
    reading->Close();
    EXPECT_EQ(GetAll(words.type, path), Records());
  }
}

TEST(DatabaseRefusalsTest, OfACursorBehindTheLastRecord) {
  for (const Words& words : kWords) {
    const TempDir dir;
    Put(words.type, dir.path("db"), db::NEW, {{"a", "1"}, {"b", "2"}});
    const auto database = CreateDB(words.type, dir.path("db"), db::READ);
    const auto cursor = database->NewCursor();
    EXPECT_EQ(cursor->key() + cursor->value(), "a1");
    cursor->Next();
    EXPECT_EQ(cursor->key() + cursor->value(), "b2");
    cursor->Next();
    EXPECT_FALSE(cursor->Valid());
    const std::string past = MakeString(words.of_cursor, dir.path("db"), words.file,
                                        "\": the cursor is past the last record");
    ExpectRefusals({{[&] { cursor->key(); }, past}, {[&] { cursor->value(); }, past}});
    if (cursor->SupportsSeek()) ExpectRefusals({{[&] { cursor->Next(); }, past}});
    EXPECT_FALSE(cursor->Valid());
    cursor->SeekToFirst();
    EXPECT_EQ(cursor->key() + cursor->value(), "a1");
  }
}

TEST(DatabaseRefusalsTest, OfProtoDB) {
  const TempDir dir;
  const std::string path = dir.path("db");
  {
    const auto database = CreateDB("protodb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", Record("a"));
    ExpectRefusals({
        {[&] { transaction->Put("a", Record("a")); }, "An item with key a already exists."},
        {[&] { transaction->Put("b", "\xff"); },
         "Cannot parse content from the value string: the value of \"b\" is not a TensorProto"},
        {[&] { transaction->Put("b", Record("c")); },
         "Passed key b does not equal to tensor name c"},
    });
    transaction->Put("b", Record("b"));  // those that were rejected did not use its name
  }
  {
    // The names that the file has are taken.
    const auto database = CreateDB("protodb", path, db::WRITE);
    const auto transaction = database->NewTransaction();
    ExpectRefusals(
        {{[&] { transaction->Put("b", Record("b")); }, "An item with key b already exists."}});
  }
  const auto database = CreateDB("protodb", path, db::READ);
  const auto cursor = database->NewCursor();
  EXPECT_EQ(cursor->key(), "a");
  cursor->Next();
  EXPECT_EQ(cursor->key(), "b");
  EXPECT_EQ(cursor->Offset(), 1);
  cursor->Next();
  EXPECT_FALSE(cursor->Valid());
  const std::string past = "protodb: the cursor is past the last record";
  ExpectRefusals({{[&] { cursor->key(); }, past},
                  {[&] { cursor->value(); }, past},
                  {[&] { cursor->Seek("a"); }, "ProtoDB is not designed to support seeking"}});
  cursor->SeekToOffset(1);
  EXPECT_EQ(cursor->value(), Record("b"));
}

TEST(DatabaseRefusalsTest, OfWhatMiniDBCannotStore) {
  const TempDir dir;
  const std::string path = dir.path("db");
  {
    const auto database = CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("a", "1");
    ExpectRefusals({
        {[&] { transaction->Put("", "x"); },
         "minidb does not support an empty key or value, got key \"\" with 1 byte"},
        {[&] { transaction->Put("k", ""); },
         "minidb does not support an empty key or value, got key \"k\" with 0 bytes"},
    });
    transaction->Put("b", "2");  // a rejected record is no failed write
  }
  EXPECT_EQ(GetAll("minidb", path), (Records{{"a", "1"}, {"b", "2"}}));
  const auto database = CreateDB("minidb", path, db::READ);
  const auto cursor = database->NewCursor();
  ExpectRefusals(
      {{[&] { cursor->Seek("a"); }, "MiniDB does not support seeking to a specific key"}});
  EXPECT_EQ(cursor->key(), "a");  // it did not move
}

TEST(DatabaseRefusalsTest, OfWhatLMDBCannotStore) {
  const TempDir dir;
  const std::string path = dir.path("db"), longest(511, 'k');
  const std::string size = "cannot write lmdb " + Quoted(path) +
                           ": MDB_BAD_VALSIZE: Unsupported size of key/DB name/data, or wrong "
                           "DUPFIXED size";
  {
    const auto database = CreateDB("lmdb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    ExpectRefusals({{[&] { transaction->Put("", "x"); }, size},
                    {[&] { transaction->Put(longest + "k", "x"); }, size}});
    transaction->Put(longest, "x");
  }
  EXPECT_EQ(GetAll("lmdb", path), (Records{{longest, "x"}}));
}

// A transaction that ends in an exception may be written in part, so nothing of the new database is
// kept, and no later transaction is committed.
TEST(DatabaseRefusalsTest, OfATransactionAfterOneThatEndedInAnException) {
  const std::pair<const char*, const char*> rows[] = {
      {"minidb", "an earlier write to the minidb failed, nothing is committed"},
      {"leveldb", "an earlier write to leveldb \"PATH\" failed, nothing is committed"},
      {"lmdb", "an earlier write to lmdb \"PATH\" failed, nothing is committed"}};
  for (const auto& [type, text] : rows) {
    const TempDir dir;
    const std::string path = dir.path("db");
    std::string want = text;
    if (const size_t at = want.find("PATH"); at != std::string::npos) want.replace(at, 4, path);
    {
      const auto database = CreateDB(type, path, db::NEW);
      try {
        const auto transaction = database->NewTransaction();
        transaction->Put("a", "1");
        throw std::runtime_error("x");
      } catch (const std::runtime_error&) {
      }
      const auto transaction = database->NewTransaction();
      const std::string put = MessageOf([&] { transaction->Put("b", "2"); });
      EXPECT_EQ(put, std::string(type) == "minidb" ? want : "(nothing was thrown)");
      ExpectRefusals({{[&] { transaction->Commit(); }, want}});
    }
    EXPECT_TRUE(fs::is_empty(dir.path())) << type;
  }
}

// A later transaction commits nothing of it either, and readers see the old records.
TEST(DatabaseRefusalsTest, OfAMinidbWhoseFirstTransactionEndedInAnException) {
  const TempDir dir;
  const std::string path = dir.path("db");
  Put("minidb", path, db::NEW, {{"old", "1"}});
  for (const db::Mode mode : {db::WRITE, db::NEW}) {
    const auto database = CreateDB("minidb", path, mode);
    try {
      const auto transaction = database->NewTransaction();
      transaction->Put("a", "1");
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
    }
    const auto transaction = database->NewTransaction();
    const std::string want = "an earlier write to the minidb failed, nothing is committed";
    ExpectRefusals(
        {{[&] { transaction->Put("b", "2"); }, want}, {[&] { transaction->Commit(); }, want}});
  }
  EXPECT_EQ(GetAll("minidb", path), (Records{{"old", "1"}}));
}

// In a database that is there already, only the transaction itself is lost.
TEST(DatabaseRefusalsTest, NothingOfATransactionThatEndedInAnException) {
  for (const char* const type : {"leveldb", "lmdb"}) {
    const TempDir dir;
    const std::string path = dir.path("db");
    Put(type, path, db::NEW, {{"a", "1"}});
    {
      const auto database = CreateDB(type, path, db::WRITE);
      try {
        const auto transaction = database->NewTransaction();
        transaction->Put("b", "2");
        throw std::runtime_error("x");
      } catch (const std::runtime_error&) {
      }
      const auto transaction = database->NewTransaction();
      transaction->Put("c", "3");
      transaction->Commit();
    }
    EXPECT_EQ(GetAll(type, path), (Records{{"a", "1"}, {"c", "3"}})) << type;
  }
}

TEST(DatabaseRefusalsTest, OfPathsThatCannotBeOpened) {
  const TempDir dir;
  const std::string none = dir.path("none"), folder = dir.path("folder"), file = dir.path("file");
  fs::create_directory(folder);
  dir.Write("folder/inside", "x");
  dir.Write("file", "x");
  const auto open = [](const char* type, const std::string& path, db::Mode mode) {
    return [=] { CreateDB(type, path, mode); };
  };
  const std::string in_none = none + "/db", link = dir.path("link");
  fs::create_symlink(none, link);
  ExpectRefusals({
      {open("minidb", none, db::READ),
       "cannot open " + Quoted(none) + ": No such file or directory"},
      {open("minidb", folder, db::READ),
       "cannot read " + Quoted(folder) + ": it is a directory, want a file"},
      {open("minidb", folder, db::WRITE), "Cannot open file: " + folder + ": Is a directory"},
      {open("minidb", folder, db::NEW), "cannot write " + Quoted(folder) + ": it is a directory"},
      {open("minidb", in_none, db::NEW),
       MakeString("cannot create a file in ", Quoted(none), " to write ", Quoted(in_none),
                  ": No such file or directory")},
      {open("minidb", in_none, db::WRITE),
       MakeString("cannot create a file in ", Quoted(none), " to write ", Quoted(in_none),
                  ": No such file or directory")},
      {open("protodb", none, db::READ),
       "cannot open " + Quoted(none) + ": No such file or directory"},
      {open("leveldb", none, db::READ),
       MakeString("cannot open leveldb ", Quoted(none), ": Invalid argument: ", none,
                  ": does not exist (create_if_missing is false)")},
      {open("leveldb", folder, db::NEW),
       "cannot create leveldb " + Quoted(folder) + ": it exists and is not an empty folder"},
      {open("leveldb", file, db::NEW),
       "cannot create leveldb " + Quoted(file) + ": it exists and is not an empty folder"},
      {open("leveldb", in_none, db::NEW),
       MakeString("cannot create a folder in ", Quoted(none), " to write ", Quoted(in_none),
                  ": No such file or directory")},
      {open("lmdb", none, db::READ), "cannot open " + Quoted(none) + ": No such file or directory"},
      {open("lmdb", folder, db::READ),
       "cannot open " + Quoted(folder + "/data.mdb") + ": No such file or directory"},
      {open("lmdb", folder, db::NEW),
       "cannot create the folder " + Quoted(folder) + " for a new lmdb: File exists"},
      {open("lmdb", file, db::NEW),
       "cannot create the folder " + Quoted(file) + " for a new lmdb: File exists"},
      {open("lmdb", folder, db::WRITE),
       "cannot open lmdb " + Quoted(folder) + " for writing: it holds no LMDB"},
      {open("lmdb", link, db::WRITE),
       "cannot open lmdb " + Quoted(link) + ": No such file or directory"},
      {open("lmdb", in_none, db::WRITE),
       MakeString("cannot create a folder in ", Quoted(none), " to write ", Quoted(in_none),
                  ": No such file or directory")},
  });
  EXPECT_FALSE(fs::exists(none));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST(DatabaseRefusalsTest, OfADatabaseOfAnotherType) {
  const TempDir dir;
  const std::string path = dir.path("db");
  Put("minidb", path, db::NEW, {{"a", "1"}});
  const auto text = [&](const char* type) {
    return MakeString("cannot open ", Quoted(path), " as ", type,
                      ": it is a minidb database; want the type minidb");
  };
  ExpectRefusals({
      {[&] { CreateDB("lmdb", path, db::READ); }, text("lmdb")},
      {[&] { CreateDB("LevelDB", path, db::READ); }, text("LevelDB")},
      {[&] { CreateDB("lmdb", path, db::WRITE); }, text("lmdb")},
      {[&] { CreateDB("protodb", path, db::READ); }, text("protodb")},
      {[&] { CreateDB("protodb", path, db::WRITE); }, text("protodb")},
      // Its type is no reason why a new one cannot be created.
      {[&] { CreateDB("lmdb", path, db::NEW); },
       "cannot create the folder " + Quoted(path) + " for a new lmdb: File exists"},
  });
  // A damaged database of the wanted type keeps its error, in both spellings of the type.
  const std::string damaged = dir.Write("damaged", std::string("\1\0\0\0\1\0\0\0a", 9));
  ExpectRefusals({{[&] { CreateDB("MiniDB", damaged, db::READ)->NewCursor(); },
                   "minidb " + Quoted(damaged) +
                       " is truncated or damaged: at byte 0 of 9 there is no complete record"}});
}

// The record {3, 2, "key", "vv"} has 13 bytes.
TEST(DatabaseRefusalsTest, OfDamagedMinidbs) {
  const TempDir dir;
  const std::string record("\3\0\0\0\2\0\0\0keyvv", 13);
  const struct {
    std::string bytes;
    size_t at;
  } rows[] = {
      {record + "\1", 13},                                           // a part of a header
      {record + std::string("\1\0\0\0\1\0\0", 7), 13},               // a byte less than a header
      {record + std::string("\1\0\0\0\1\0\0\0k", 9), 13},            // a byte less than a record
      {record + std::string("\0\0\0\0\1\0\0\0kv", 10), 13},          // no key
      {record + std::string("\1\0\0\0\0\0\0\0kv", 10), 13},          // no value
      {record + std::string("\377\377\377\377\1\0\0\0kv", 10), 13},  // a negative size
      {record + std::string("\1\0\0\0\377\377\377\377kv", 10), 13},
      {record + std::string("\377\377\377\177\377\377\377\177kv", 10), 13},  // sizes that overflow
      {record.substr(0, 12), 0},
      {record.substr(0, 8), 0},
      {std::string(1, '\0'), 0},
  };
  for (const auto& row : rows) {
    const std::string path = dir.Write("db", row.bytes);
    ExpectRefusals(
        {{[&] { GetAll("minidb", path); },
          MakeString("minidb ", Quoted(path), " is truncated or damaged: at byte ", row.at, " of ",
                     row.bytes.size(), " there is no complete record")}});
    if (row.at == 0) continue;
    const auto database = CreateDB("minidb", path, db::READ);
    const auto cursor = database->NewCursor();
    EXPECT_EQ(cursor->key() + cursor->value(), "keyvv");
    EXPECT_EQ(cursor->Offset(), 0);
    EXPECT_THROW(cursor->Next(), EnforceNotMet);
    EXPECT_FALSE(cursor->Valid());
    EXPECT_FALSE(cursor->IsBehindDamage());
    cursor->SeekToFirst();
    EXPECT_EQ(cursor->key(), "key");
  }
  // The smallest record that is one.
  EXPECT_EQ(GetAll("minidb", dir.Write("db", record + std::string("\1\0\0\0\1\0\0\0kv", 10))),
            (Records{{"key", "vv"}, {"k", "v"}}));
}

TEST(DatabaseRefusalsTest, OfTypesWithoutOffsets) {
  const TempDir dir;
  Put("leveldb", dir.path("db"), db::NEW, {{"a", "1"}});
  const auto database = CreateDB("leveldb", dir.path("db"), db::READ);
  const auto cursor = database->NewCursor();
  EXPECT_FALSE(cursor->SupportsOffsets());
  EXPECT_EQ(cursor->Offset(), -1);
  ExpectRefusals(
      {{[&] { cursor->SeekToOffset(0); }, "a cursor of this type of database has no offsets"}});
  const std::string unknown =
      "Cannot open db: x of type mdb: database type \"mdb\" is not known; known types: LMDB, "
      "LevelDB";
  EXPECT_TRUE(MessageOf([] { db::OpenDB("mdb", "x", db::READ); }).starts_with(unknown));
}

TEST(DatabaseRefusalsTest, OfPathsForNewDatabases) {
  const TempDir dir;
  fs::create_directory(dir.path("folder"));
  dir.Write("file", "content");
  const std::string in_none = dir.path("none/new");
  const std::string no_folder =
      MakeString("cannot create the database ", Quoted(in_none), ": its folder ",
                 Quoted(dir.path("none")), " does not exist");
  const auto refused = [](const char* type, const std::string& path, const std::string& why) {
    return MakeString("cannot create ", type, " ", Quoted(path), ": ", why,
                      "; remove it, or choose another path");
  };
  const std::string file = dir.path("file"), folder = dir.path("folder");
  ExpectRefusals({
      {[&] { db::CheckNewDatabase("lmdb", in_none); }, no_folder},
      {[&] { db::CheckNewDatabase("LevelDB", in_none); }, no_folder},
      {[&] { db::CheckNewDatabase("protodb", in_none); }, no_folder},
      {[&] { db::CheckNewDatabaseFolder("minidb", in_none); }, no_folder},
      {[&] { db::CheckNewDatabase("LMDB", file); }, refused("lmdb", file, "it exists")},
      {[&] { db::CheckNewDatabase("LevelDB", file); },
       refused("leveldb", file, "it exists and is not an empty folder")},
      {[&] { db::CheckNewDatabase("MiniDB", folder); },
       refused("minidb", folder, "it is a folder")},
      {[&] { db::CheckNewDatabase("ProtoDB", folder); },
       refused("protodb", folder, "it is a folder")},
  });
  for (const char* const type : {"mdb", "Minidb"}) {  // the names are exact
    const std::string unknown =
        MakeString("database type \"", type, "\" is not known; known types: LMDB");
    EXPECT_TRUE(MessageOf([&] { db::CheckNewDatabase(type, file); }).starts_with(unknown));
    EXPECT_TRUE(MessageOf([&] { db::CheckNewDatabaseFolder(type, file); }).starts_with(unknown));
  }
  db::CheckNewDatabase("protodb", file);
  db::CheckNewDatabaseFolder("lmdb", file);                             // of its folder alone
  EXPECT_EQ(std::distance(fs::directory_iterator(dir.path()), {}), 2);  // and nothing is left there
}

}  // namespace
}  // namespace caffe2rt::database_refusals_test
