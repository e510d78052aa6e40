#include "operators/io/create_db.h"

#include <gtest/gtest.h>

#include "tests/support/operator_test.h"

namespace caffe2rt::create_db_test {
namespace {

using test::ExpectThrows;
using test::RunOp;
using test::TempDir;

void WriteThreeRecords(const std::string& path) {
  const auto database = db::CreateDB("minidb", path, db::NEW);
  const auto transaction = database->NewTransaction();
  for (const char* key : {"a", "b", "c"}) transaction->Put(key, "v");
}

TEST(CreateDBTest, ReadsEveryRecordByDefault) {
  const TempDir dir;
  WriteThreeRecords(dir.path("m"));
  Workspace ws;
  RunOp(&ws,
        "type: 'CreateDB' output: 'r' arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: '" +
            dir.path("m") + "' }");
  for (const char* expected : {"a", "b", "c"}) {
    std::string key, value;
    ws.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
    EXPECT_EQ(key, expected);
  }
}

TEST(CreateDBTest, OpensAReaderAtItsShard) {
  const TempDir dir;
  WriteThreeRecords(dir.path("m"));
  Workspace ws;
  RunOp(&ws,
        "type: 'CreateDB' output: 'r' arg { name: 'db_type' s: 'minidb' } arg { name: 'num_shards' "
        "i: 2 } "
        "arg { name: 'shard_id' i: 1 } arg { name: 'db' s: '" +
            dir.path("m") + "' }");
  std::string key, value;
  ws.GetBlob("r")->Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(key, "b");
}

TEST(CreateDBTest, NamesWrongArguments) {
  Workspace ws;
  ExpectThrows([&] { RunOp(&ws, "type: 'CreateDB' output: 'r' arg { name: 'db' s: '' }"); },
               "argument \"db\" is \"\", want a non-empty string");
  ExpectThrows(
      [&] {
        RunOp(&ws,
              "type: 'CreateDB' output: 'r' arg { name: 'db' s: 'x' } "
              "arg { name: 'db_type' s: 'foo' }");
      },
      "argument \"db_type\" is \"foo\", want minidb, leveldb, lmdb, protodb or a");
}

}  // namespace
}  // namespace caffe2rt::create_db_test
