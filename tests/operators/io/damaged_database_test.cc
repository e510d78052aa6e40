// Databases with one wrong byte: an error that names the database or the record, or the record is left
// out. Nothing crashes, waits, or keeps a file open.
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/record_checksum.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/io/tensor_protos_db_input.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/held_files.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::damaged_database_test {
namespace {

namespace fs = std::filesystem;

constexpr int kRecords = 60;
constexpr int kPlaces = 200;

Records SmallRecords() {
  Records records;
  for (int i = 0; i < kRecords; ++i) {
    TensorProtos record;
    TensorProto* const x = record.add_protos();
    x->set_data_type(TensorProto::BYTE);
    x->add_dims(40);
    x->set_byte_data(std::string(40, static_cast<char>(i)));
    TensorProto* const label = record.add_protos();
    label->set_data_type(TensorProto::INT32);
    label->add_int32_data(i);
    records[MakeString("key", 100 + i)] = record.SerializeAsString();
  }
  return records;
}

// The file with the records.
fs::path LargestFile(const fs::path& database) {
  if (!fs::is_directory(database)) return database;
  fs::path largest;
  for (const auto& entry : fs::directory_iterator(database)) {
    if (largest.empty() || entry.file_size() > fs::file_size(largest)) largest = entry.path();
  }
  return largest;
}

struct Outcome {
  std::string error;  // empty: none
  int64_t skipped = 0;
};

class DamagedDatabaseTest : public testing::TestWithParam<const char*> {
 protected:
  // Reads one and a half epochs.
  Outcome Read(const std::string& path, const std::string& on_error, bool shuffle) {
    Outcome outcome;
    Workspace ws;
    try {
      RunOp(&ws, MakeString("type: 'CreateDB' output: 'r' arg { name: 'db_type' s: '", type_,
                            "' } arg { name: 'db' s: '", path,
                            "' } arg { name: 'shuffle' i: ", shuffle ? 1 : 0, " }"));
      const auto op =
          CreateOperator(ParseOp("type: 'TensorProtosDBInput' input: 'r' output: 'x' output: 'y' "
                                 "arg { name: 'batch_size' i: 10 } arg { name: 'on_error' s: '" +
                                 on_error + "' }"),
                         &ws);
      for (int i = 0; i < kRecords / 10 * 3 / 2; ++i) EXPECT_TRUE(op->Run());
      outcome.skipped = dynamic_cast<TensorProtosDBInputOp<CPUContext>&>(*op).skipped();
    } catch (const EnforceNotMet& error) {
      outcome.error = error.msg();
    }
    return outcome;
  }
  const std::string type_ = GetParam();
  const TempDir dir_;
};

TEST_P(DamagedDatabaseTest, OneWrongByteIsAnErrorOrARecordLess) {
  const std::string good = dir_.path("good"), bad = dir_.path("bad");
  Put(type_, good, db::NEW, SmallRecords());
  if (type_ == "leveldb")
    db::CreateDB(type_, good, db::WRITE)->Close();  // moves the log to a table
  const std::string bytes = ReadWholeFile(LargestFile(good));
  int errors = 0, skips = 0;
  for (int place = 0; place < kPlaces; ++place) {
    fs::remove_all(bad);
    fs::copy(good, bad, fs::copy_options::recursive);
    std::string damaged = bytes;
    const size_t at = bytes.size() * static_cast<size_t>(place) / kPlaces;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << place % 8));
    const fs::path file =
        fs::is_directory(bad) ? fs::path(bad) / LargestFile(good).filename() : fs::path(bad);
    dir_.Write(fs::relative(file, dir_.path()), damaged);
    for (const bool shuffle : {false, true}) {
      SCOPED_TRACE(MakeString("byte ", at, ", shuffle ", shuffle));
      const Outcome stop = Read(bad, "stop", shuffle), skip = Read(bad, "skip", shuffle);
      for (const Outcome& outcome : {stop, skip}) {
        if (outcome.error.empty()) continue;
        EXPECT_TRUE(outcome.error.find(bad) != std::string::npos ||
                    outcome.error.find("record") != std::string::npos)
            << outcome.error;
      }
      // What may be left out is an error otherwise.
      EXPECT_EQ(stop.skipped, 0);
      if (stop.error.empty()) {
        EXPECT_EQ(skip.error, "");
        EXPECT_EQ(skip.skipped, 0);
      }
      errors += stop.error.empty() ? 0 : 1;
      skips += skip.skipped > 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(HeldFiles(dir_.path()), std::vector<std::string>());
  EXPECT_EQ(HeldFiles(bad), std::vector<std::string>());
  EXPECT_GT(errors, kPlaces / 10);
  if (type_ != "leveldb") {
    EXPECT_GT(skips, 10);  // LevelDB's checksums reject blocks of many records
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DamagedDatabaseTest, testing::Values("minidb", "leveldb", "lmdb"));

// What is read is what was written, wherever the wrong byte is.
TEST_P(DamagedDatabaseTest, RecordsWithAChecksumAreReadAsTheyWereOrNotAtAll) {
  const std::string good = dir_.path("good"), bad = dir_.path("bad");
  Records records = SmallRecords();
  for (auto& [key, value] : records) value = WithChecksum(value);
  Put(type_, good, db::NEW, records);
  const std::string bytes = ReadWholeFile(LargestFile(good));
  int errors = 0;
  for (int place = 0; place < kPlaces; ++place) {
    fs::remove_all(bad);
    fs::copy(good, bad, fs::copy_options::recursive);
    std::string damaged = bytes;
    const size_t at = bytes.size() * static_cast<size_t>(place) / kPlaces;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << place % 8));
    const fs::path file =
        fs::is_directory(bad) ? fs::path(bad) / LargestFile(good).filename() : fs::path(bad);
    dir_.Write(fs::relative(file, dir_.path()), damaged);
    SCOPED_TRACE(MakeString("byte ", at));
    try {
      Workspace ws;
      ws.CreateBlob("r")->GetMutable<db::DBReader>()->Open(type_, bad);
      const auto op = CreateOperator(
          ParseOp("type: 'TensorProtosDBInput' input: 'r' output: 'x' output: 'y'"), &ws);
      for (int i = 0; i < kRecords; ++i) {
        ASSERT_TRUE(op->Run());
        const auto label = static_cast<uint8_t>(Fetch<int32_t>(ws, "y")[0]);
        EXPECT_EQ(Fetch<uint8_t>(ws, "x"), std::vector<uint8_t>(40, label));
        EXPECT_LT(label, kRecords);
      }
    } catch (const EnforceNotMet&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, kPlaces / 10);
}

// LevelDB has a checksum for each block of about 64 KiB, and leaves a damaged one out.
TEST(DamagedLevelDBTest, ABlockIsAnErrorOrLeftOut) {
  const TempDir dir;
  const std::string path = dir.path("l");
  std::mt19937 random(1);
  Records records;
  for (int i = 0; i < 100; ++i) {
    TensorProtos record;
    TensorProto* const x = record.add_protos();
    x->set_data_type(TensorProto::INT32);
    x->add_int32_data(i);
    std::string noise(4000, '\0');
    for (char& byte : noise) byte = static_cast<char>(random());
    x->set_name(noise);  // does not compress
    records[MakeString("key", 100 + i)] = record.SerializeAsString();
  }
  Put("leveldb", path, db::NEW, records);
  db::CreateDB("leveldb", path, db::WRITE)->Close();
  const fs::path table = LargestFile(path);
  std::string bytes = ReadWholeFile(table);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  dir.Write(fs::relative(table, dir.path()), bytes);
  Workspace ws;
  const auto create = [&](const std::string& more) {
    ws.CreateBlob("r")->GetMutable<db::DBReader>()->Open("leveldb", path);
    return CreateOperator(ParseOp("type: 'TensorProtosDBInput' input: 'r' output: 'x' " + more),
                          &ws);
  };
  const auto stop = create("");
  std::vector<int> before, all;
  const auto run_all = [&] {
    while (before.size() < 100) {
      stop->Run();
      before.push_back(Fetch<int32_t>(ws, "x")[0]);
    }
  };
  std::string error;
  try {
    run_all();
  } catch (const EnforceNotMet& e) {
    error = e.msg();
  }
  ASSERT_GT(before.size(), 10u);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(before[i], static_cast<int>(i));
  // The next run continues behind the block.
  ASSERT_TRUE(stop->Run());
  const int behind = Fetch<int32_t>(ws, "x")[0];
  EXPECT_NE(error.find("checksum"), std::string::npos) << error;
  const std::string place =
      MakeString("leveldb \"", path, "\": records are damaged after key \"key", 99 + before.size(),
                 "\" and before key \"key", 100 + behind, "\"");
  EXPECT_NE(error.find(place), std::string::npos) << error << ", want " << place;
  EXPECT_GT(behind, static_cast<int>(before.size()));
  EXPECT_LT(behind, 90);

  const auto skip = create("arg { name: 'on_error' s: 'skip' }");
  std::vector<int> want = before;
  for (int i = behind; i < 100; ++i) want.push_back(i);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> got;
    for (size_t i = 0; i < want.size(); ++i) {
      ASSERT_TRUE(skip->Run());
      got.push_back(Fetch<int32_t>(ws, "x")[0]);
    }
    EXPECT_EQ(got, want) << epoch;
  }
  EXPECT_EQ(dynamic_cast<TensorProtosDBInputOp<CPUContext>&>(*skip).skipped(), 2);
}

}  // namespace
}  // namespace caffe2rt::test::damaged_database_test
