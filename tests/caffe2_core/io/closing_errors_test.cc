// Errors that end in a destructor, which does not throw: they are logged, and nothing is left half
// done.
#include <gtest/gtest.h>

#include <filesystem>
#include <iterator>
#include <stdexcept>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/records_ahead.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::closing_errors_test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

// The errors that are logged while the object exists.
class LoggedErrors {
 public:
  LoggedErrors() {
    SetLogSink([this](const LogEntry& entry) {
      if (entry.severity == 2) texts.emplace_back(entry.text);
    });
  }
  ~LoggedErrors() { SetLogSink(nullptr); }
  LoggedErrors(const LoggedErrors&) = delete;
  LoggedErrors& operator=(const LoggedErrors&) = delete;
  Texts texts;
};

struct ClosingRow {
  const char* type;
  const char* close;  // what the destructor does
  std::string reason;
};

class ClosingErrorsTest : public testing::Test {
 protected:
  // A folder with a file takes the place of a new database.
  void TakePlace() const { dir_.Write("db/file", "x"); }
  void ExpectPlaceTaken(const std::string& type) const {
    EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 1) << type;
    EXPECT_EQ(std::distance(fs::directory_iterator(path_), {}), 1) << type;
    fs::remove_all(path_);
  }
  const TempDir dir_;
  const std::string path_ = dir_.path("db");
  const std::string in_place_ =
      "cannot put \"" + path_ + "\" in place: something else was created there in the meantime";
  const ClosingRow rows_[4] = {
      {"minidb", "close minidb", "cannot rename the new file to \"" + path_ + "\": Is a directory"},
      {"leveldb", "close leveldb", in_place_},
      {"lmdb", "close lmdb", in_place_},
      {"protodb", "write protodb", "cannot write \"" + path_ + "\": it is a directory"}};
};

std::string ValueNamed(const std::string& key) {
  TensorProto tensor;
  tensor.set_name(key);
  return tensor.SerializeAsString();
}

TEST_F(ClosingErrorsTest, ADatabaseThatCannotAppearIsLogged) {
  for (const ClosingRow& row : rows_) {
    LoggedErrors errors;
    {
      const auto database = db::OpenDB(row.type, path_, db::NEW);
      TakePlace();
    }
    EXPECT_EQ(errors.texts,
              (Texts{MakeString("cannot ", row.close, " \"", path_, "\": ", row.reason)}));
    ExpectPlaceTaken(row.type);
  }
}

// Close throws what the destructor would log, and the destructor is silent then.
TEST_F(ClosingErrorsTest, CloseThrowsAndTheDestructorIsSilent) {
  for (const ClosingRow& row : rows_) {
    LoggedErrors errors;
    {
      const auto database = db::OpenDB(row.type, path_, db::NEW);
      TakePlace();
      ExpectThrows([&] { database->Close(); }, row.reason);
      database->Close();  // of a closed one
    }
    EXPECT_EQ(errors.texts, Texts()) << row.type;
    ExpectPlaceTaken(row.type);
  }
}

// The error of a transaction is logged once: its database does not commit after it.
TEST_F(ClosingErrorsTest, ATransactionThatCannotBeCommittedIsLogged) {
  for (const ClosingRow& row : rows_) {
    LoggedErrors errors;
    {
      const auto database = db::OpenDB(row.type, path_, db::NEW);
      const auto transaction = database->NewTransaction();
      transaction->Put("a", ValueNamed("a"));
      TakePlace();
    }
    const bool by_database = std::string(row.type) == "protodb";
    EXPECT_EQ(errors.texts,
              (Texts{by_database ? MakeString("cannot write protodb \"", path_, "\": ", row.reason)
                                 : "cannot commit a transaction: " + row.reason}));
    ExpectPlaceTaken(row.type);
  }
}

TEST_F(ClosingErrorsTest, NothingIsLoggedWhileAnExceptionIsInFlight) {
  for (const ClosingRow& row : rows_) {
    LoggedErrors errors;
    try {
      const auto database = db::OpenDB(row.type, path_, db::NEW);
      const auto transaction = database->NewTransaction();
      transaction->Put("a", ValueNamed("a"));
      TakePlace();
      throw std::runtime_error("x");
    } catch (const std::runtime_error&) {
    }
    EXPECT_EQ(errors.texts, Texts()) << row.type;
    ExpectPlaceTaken(row.type);
  }
}

// The reader has lost its place, and says why at the next read.
TEST_F(ClosingErrorsTest, RecordsThatCannotBePutBackAreLogged) {
  Put("minidb", path_, db::NEW, {{"a", "1"}, {"b", "2"}, {"c", "3"}});
  const db::DBReader reader("minidb", path_);
  LoggedErrors errors;
  db::RecordsAhead ahead;
  ahead.Attach(reader);
  ASSERT_TRUE(ahead.Begin());
  db::DBRecord record;
  ASSERT_TRUE(ahead.Read(&record));
  fs::resize_file(path_, 4);
  ahead.Release();
  // The header of the first record has 8 bytes.
  const std::string reason = "file \"" + path_ + "\" is truncated: it ends before byte 8";
  ASSERT_EQ(errors.texts.size(), 1u);
  EXPECT_EQ(errors.texts[0].rfind("cannot put records back that were read ahead: ", 0), 0u);
  EXPECT_NE(errors.texts[0].find(reason), std::string::npos) << errors.texts[0];
  for (int i = 0; i < 2; ++i) ExpectThrows([&] { reader.Read(&record); }, reason);
  EXPECT_EQ(errors.texts.size(), 1u);
}

}  // namespace
}  // namespace caffe2rt::test::closing_errors_test
