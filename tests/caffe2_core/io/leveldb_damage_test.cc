// Damage of LevelDB databases: logs written fragment by fragment, and tables with a wrong end. What
// is reported, and what a cursor can still read.
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/leveldb_log.h"
#include "caffe2_core/io/record_checksum.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::leveldb_damage_test {
namespace {

namespace fs = std::filesystem;
using db::CreateDB;
using db::internal::LevelDBLogDamage;

std::string Little(uint64_t value, int count) {
  std::string bytes;
  for (int i = 0; i < count; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

// {checksum of type and data, size, type, data}. Types: 1 whole, 2 first, 3 middle, 4 last.
std::string Fragment(char type, const std::string& data) {
  const uint32_t crc = Crc32c(type + data);
  const uint32_t masked = (crc >> 15 | crc << 17) + 0xa282ead8u;
  return Little(masked, 4) + Little(data.size(), 2) + type + data;
}

// A batch that puts keys of less than 128 bytes: {sequence, count} and {1, size, key, size, value}.
std::string Batch(const std::vector<std::string>& keys, const std::string& value = "v") {
  std::string bytes = Little(1, 8) + Little(keys.size(), 4);
  for (const std::string& key : keys) {
    bytes += '\1';
    bytes += static_cast<char>(key.size());
    bytes += key;
    bytes += static_cast<char>(value.size());
    bytes += value;
  }
  return bytes;
}

std::string Flipped(std::string bytes, size_t at) {
  bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
  return bytes;
}

TEST(LevelDBDamageTest, NamesTheFirstFragmentOfALogThatIsWrong) {
  constexpr size_t kBlock = 32768;
  const std::string a = Fragment(1, Batch({"a"})), bc = Fragment(1, Batch({"b", "c"}));
  const std::string whole = Batch({"d", "e", "f"});
  // The first part ends in the middle of the record "e", behind its key.
  const size_t cut = 12 + 5 + 3;
  const std::string first = Fragment(2, whole.substr(0, cut)), middle = Fragment(3, ""),
                    last = Fragment(4, whole.substr(cut));
  const std::string parts = first + middle + last;
  std::string deletes = Little(1, 8) + Little(1, 4) + std::string("\0\1z", 3);
  // A fragment with one record, whose value fills its block up to `rest` bytes. The size of the
  // value has three bytes of seven bits.
  const auto filler = [&](size_t rest) {
    const size_t value = kBlock - rest - 7 - (12 + 3 + 3);
    std::string bytes = Little(1, 8) + Little(1, 4) + "\1\1g";
    for (int shift = 0; shift < 21; shift += 7)
      bytes += static_cast<char>((value >> shift & 127) | (shift < 14 ? 128 : 0));
    return Fragment(1, bytes + std::string(value, '\1'));
  };
  const struct {
    std::string log;
    std::string damage;  // "": none
  } rows[] = {
      {"", ""},
      {a + bc + parts, ""},
      {a + bc.substr(0, 6), ""},     // a process was killed before it had written a header
      {Flipped(a, 0), "at byte 0"},  // the checksum
      {Flipped(a, 6), "at byte 0"},  // the type
      {Flipped(a, a.size() - 1), "at byte 0"},  // the value
      {a + Flipped(bc, 10), MakeString("at byte ", a.size(), ", at or after the record \"a\"")},
      {a + bc + Flipped(a, 4),
       MakeString("at byte ", a.size() + bc.size(), ", at or after the record \"c\"")},
      {a + bc.substr(0, bc.size() - 1),
       MakeString("at byte ", a.size(), ", at or after the record \"a\"")},  // its end is missing
      {a + bc.substr(0, 7), MakeString("at byte ", a.size(), ", at or after the record \"a\"")},
      {a + first + Flipped(middle, 1) + last,
       MakeString("at byte ", a.size() + first.size(), ", at or after the record \"e\"")},
      {first + middle + Flipped(last, 8),
       MakeString("at byte ", first.size() + middle.size(), ", at or after the record \"e\"")},
      {parts + Flipped(a, 8),
       MakeString("at byte ", parts.size(), ", at or after the record \"f\"")},
      {Fragment(1, deletes) + Flipped(a, 8),
       MakeString("at byte ", deletes.size() + 7, ", at or after the record \"z\"")},
      // The rest of a block is too short for a header, or zeros.
      {filler(6) + std::string(6, '\0') + a, ""},
      {filler(6) + std::string(6, '\0') + Flipped(a, 8),
       "at byte 32768, at or after the record \"g\""},
      {filler(6) + std::string(6, '\7') + Flipped(a, 8),
       "at byte 32768, at or after the record \"g\""},
      {filler(30) + std::string(30, '\0') + Flipped(a, 8),
       "at byte 32768, at or after the record \"g\""},
      {filler(7) + Fragment(2, "") + Fragment(4, Batch({"h"})), ""},
      // A fragment does not go on in the next block, whatever its checksum.
      {filler(20) + Fragment(1, Batch({"h"}) + std::string(10, 'x')),
       "at byte 32748, at or after the record \"g\""},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    const TempDir dir;
    dir.Write("000004.log", rows[i].log);
    dir.Write("000005.ldb", Flipped(a, 0));  // is no log
    EXPECT_EQ(LevelDBLogDamage(dir.path()),
              rows[i].damage.empty() ? "" : "; log \"000004.log\" is damaged " + rows[i].damage);
  }
}

TEST(LevelDBDamageTest, NamesTheFirstLogThatIsDamaged) {
  const TempDir dir;
  const std::string a = Fragment(1, Batch({"a"}));
  dir.Write("000012.log", Flipped(a, 8));
  dir.Write("000003.log", a);
  EXPECT_EQ(LevelDBLogDamage(dir.path()), "; log \"000012.log\" is damaged at byte 0");
  dir.Write("000003.log", a + Flipped(a, 8));
  EXPECT_EQ(LevelDBLogDamage(dir.path()), MakeString("; log \"000003.log\" is damaged at byte ",
                                                     a.size(), ", at or after the record \"a\""));
}

// Makes a database with one table, and returns the table's path: opening the database for writing
// moves its log there.
std::string MakeTable(const std::string& path, const Records& records) {
  Put("leveldb", path, db::NEW, records);
  CreateDB("leveldb", path, db::WRITE)->Close();
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".ldb") return entry.path().string();
  }
  return {};
}

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes += static_cast<char>((value & 127) | 128);
  return bytes + static_cast<char>(value);
}

size_t HandleBytes(const std::string& bytes, size_t at) {
  const size_t begin = at;
  for (int numbers = 0; numbers < 2; ++at) numbers += (bytes[at] & 0x80) == 0;
  return at - begin;
}

TEST(LevelDBDamageTest, ChecksTheBlocksInTheEndOfATable) {
  const TempDir dir;
  const std::string path = dir.path("db"), table = MakeTable(path, {{"a", "1"}, {"b", "2"}});
  ASSERT_FALSE(table.empty());
  const std::string good = ReadWholeFile(table);
  const size_t size = good.size(), footer = size - 48;
  const size_t first = HandleBytes(good, footer), second = HandleBytes(good, footer + first);
  const std::string index = good.substr(footer + first, second);
  const std::string magic = good.substr(size - 8);
  // The footer with other handles: of the metaindex, which LevelDB needs only for filters, and of
  // the index.
  const auto with = [&](const std::string& handles) {
    return good.substr(0, footer) + handles + std::string(40 - handles.size(), '\0') + magic;
  };
  const std::string damaged =
      "leveldb table \"" + table + "\" is damaged: its footer points to a block outside the file";
  const struct {
    std::string bytes, reason;  // "": none
  } rows[] = {
      {good, ""},
      {with(Varint(0) + Varint(size - 5) + index),
       ""},  // up to the end, with its trailer of 5 bytes
      {with(Varint(0) + Varint(size - 4) + index), damaged},
      {with(Varint(7) + Varint(size - 12) + index), ""},
      {with(Varint(7) + Varint(size - 11) + index), damaged},
      {with(Varint(size - 5) + Varint(0) + index), ""},
      {with(Varint(size - 4) + Varint(0) + index), damaged},
      {with(Varint(size + 1) + Varint(0) + index), damaged},
      {with(Varint(0) + Varint(size + 1) + index), damaged},
      {with(Varint(0) + Varint(UINT64_MAX) + index), damaged},
      {with(Varint(UINT64_MAX) + Varint(0) + index), damaged},
      {with(Varint(0) + Varint(0) + Varint(size) + Varint(0)), damaged},
      {with(Varint(0) + Varint(0) + Varint(1) + Varint(size)), damaged},
      {with(std::string(40, '\x80')), damaged},  // a number without an end
      {good.substr(0, 47), "bytes of leveldb table \"" + table + "\": got 47, want at least 48"},
      {"", "bytes of leveldb table \"" + table + "\": got 0, want at least 48"},
  };
  for (size_t i = 0; i < std::size(rows); ++i) {
    SCOPED_TRACE(i);
    WriteFileAtomically(table, rows[i].bytes);
    if (rows[i].reason.empty()) {
      EXPECT_EQ(GetAll("leveldb", path), (Records{{"a", "1"}, {"b", "2"}}));
      continue;
    }
    const std::string want = MakeString(
        "cannot read leveldb \"", path,
        "\": records are damaged from the first one to the last one: Corruption: ", rows[i].reason);
    ExpectRefusals({{[&] { GetAll("leveldb", path); }, want}});
  }
  WriteFileAtomically(table, good);
  EXPECT_EQ(GetAll("leveldb", path).size(), 2u);  // reading has changed nothing
  // Tables of older versions of LevelDB have another ending.
  const std::string older = table.substr(0, table.size() - 4) + ".sst";
  fs::rename(table, older);
  EXPECT_EQ(GetAll("leveldb", path).size(), 2u);
  // Their blocks are checked, too, but LevelDB reports the name that it tried first.
  WriteFileAtomically(older, with(Varint(0) + Varint(size - 4) + index));
  EXPECT_THROW(GetAll("leveldb", path), EnforceNotMet);
  WriteFileAtomically(older, with(Varint(0) + Varint(size - 5) + index));
  EXPECT_EQ(GetAll("leveldb", path).size(), 2u);
}

// Values that do not compress, so that a block of the table has about 16 of them.
Records NoisyRecords(int count) {
  Records records;
  uint32_t state = 1;
  for (int i = 0; i < count; ++i) {
    std::string value;
    for (int k = 0; k < 4000; ++k) {
      state = state * 1664525 + 1013904223;
      value += static_cast<char>(state >> 24);
    }
    records[MakeString("key", 100 + i)] = value;
  }
  return records;
}

// Reads all; where the cursor reports damage, it goes on behind it.
Records ReadOn(db::Cursor* cursor, std::vector<std::string>* errors) {
  Records records;
  while (cursor->Valid()) {
    records[cursor->key()] = cursor->value();
    try {
      cursor->Next();
    } catch (const EnforceNotMet& error) {
      errors->push_back(error.message());
      EXPECT_TRUE(cursor->IsBehindDamage());
    }
  }
  return records;
}

TEST(LevelDBDamageTest, NamesTheRecordsAroundADamagedBlock) {
  const TempDir dir;
  const Records records = NoisyRecords(100);
  const std::string path = dir.path("db"), table = MakeTable(path, records);
  const std::string good = ReadWholeFile(table);
  // A record of a block in the middle, of the first one and of the last one.
  for (const char* const key : {"key150", "key100", "key199"}) {
    SCOPED_TRACE(key);
    const size_t at = good.find(records.at(key).substr(100, 50));
    ASSERT_NE(at, std::string::npos);
    WriteFileAtomically(table, Flipped(good, at));
    const auto database = CreateDB("leveldb", path, db::READ);
    std::vector<std::string> errors;
    std::unique_ptr<db::Cursor> cursor;
    const auto open = [&] { cursor = database->NewCursor(); };
    if (std::string(key) == "key100") {
      // The first move meets it: there is no cursor.
      const std::string message = MessageOf(open);
      const std::string begin =
          MakeString("cannot read leveldb \"", path,
                     "\": records are damaged from the first one and before key \"");
      ASSERT_TRUE(message.starts_with(begin)) << message;
      const std::string next = message.substr(begin.size(), 6);
      EXPECT_GT(next, "key110");
      EXPECT_LT(next, "key125");
      EXPECT_EQ(message.substr(begin.size() + 6), "\": Corruption: block checksum mismatch");
      continue;
    }
    open();
    const Records read = ReadOn(cursor.get(), &errors);
    ASSERT_EQ(errors.size(), 1u);
    // What is missing lies between the keys that the error names.
    std::string before, behind;
    for (const auto& [name, value] : records) {
      if (read.contains(name)) {
        EXPECT_EQ(read.at(name), value);
        if (name < key) before = name;
        if (name > key && behind.empty()) behind = name;
      }
    }
    EXPECT_FALSE(read.contains(key));
    EXPECT_GT(read.size(), 70u);
    EXPECT_LT(read.size(), 95u);
    const std::string end =
        behind.empty() ? " to the last one" : " and before key \"" + behind + "\"";
    EXPECT_EQ(errors[0],
              MakeString("cannot read leveldb \"", path, "\": records are damaged after key \"",
                         before, "\"", end, ": Corruption: block checksum mismatch"));
    // A seek into the block says so, too; one to another block is none the worse for it.
    const std::string message = MessageOf([&] { cursor->Seek(key); });
    EXPECT_TRUE(message.starts_with(MakeString("cannot read leveldb \"", path,
                                               "\": records are damaged from the first one", end)))
        << message;
    cursor->Seek("key130");
    EXPECT_EQ(cursor->value(), records.at("key130"));
  }
}

TEST(LevelDBDamageTest, AMissingTableEndsInAnError) {
  const TempDir dir;
  const std::string path = dir.path("db"), table = MakeTable(path, {{"a", "1"}});
  fs::remove(table);
  EXPECT_FALSE(db::DBExists("leveldb", path));
  const std::string message = MessageOf([&] { CreateDB("leveldb", path, db::READ); });
  EXPECT_TRUE(message.starts_with("cannot open leveldb \"" + path +
                                  "\": Corruption: 1 missing files; e.g.: " + table))
      << message;
}

}  // namespace
}  // namespace caffe2rt::test::leveldb_damage_test
