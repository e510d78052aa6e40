#include "operators/io/save.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/operator_test.h"

namespace caffe2rt::save_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::RunOp;
using test::TempDir;

std::vector<std::string> Keys(const std::string& path) {
  std::vector<std::string> keys;
  const auto database = db::CreateDB("minidb", path, db::READ);
  const auto cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) keys.push_back(cursor->key());
  return keys;
}

class SaveTest : public testing::Test {
 protected:
  SaveTest() {
    Feed<float>(&ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
    Feed<int64_t>(&ws_, "pre/b", {3}, {0, 1, 2});
    *ws_.CreateBlob("s")->GetMutable<std::string>() = "hello";
  }
  void Save(const std::string& inputs, const std::string& args) {
    RunOp(&ws_, "type: 'Save' " + inputs +
                    " arg { name: 'db_type' s: 'minidb' } arg { name: 'db' s: 'x' } " + args);
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

TEST_F(SaveTest, WritesRecordsOfTensorsAndOfOtherBlobs) {
  Save("input: 'a' input: 'pre/b' input: 's'", "");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"a#%0", "pre/b#%0", "s"}));
}

TEST_F(SaveTest, CutsTensorsByChunkSize) {
  Save("input: 'a'", "arg { name: 'chunk_size' i: 2 }");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"a#%0", "a#%1", "a#%2"}));
}

TEST_F(SaveTest, RenamesBlobs) {
  Save("input: 'a' input: 'pre/b'", "arg { name: 'strip_prefix' s: 'pre/' }");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"a#%0", "b#%0"}));
  Save("input: 'pre/b'", "arg { name: 'strip_prefix' s: 're/' }");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"b#%0"}));
  Save("input: 'a' input: 's'", "arg { name: 'blob_name_overrides' strings: 'x' strings: 'y' }");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"x#%0", "y"}));
}

TEST_F(SaveTest, AcceptsAnAbsolutePathByArgument) {
  RunOp(&ws_,
        "type: 'Save' input: 'a' arg { name: 'db_type' s: 'minidb' } arg { name: 'absolute_path' "
        "i: 1 } "
        "arg { name: 'db' s: '" +
            dir_.path("abs") + "' }");
  EXPECT_TRUE(std::filesystem::exists(dir_.path("abs")));
}

TEST_F(SaveTest, LeavesTheOldFileWhenABlobCannotBeWritten) {
  Save("input: 'a'", "");
  ws_.CreateBlob("v")->GetMutable<std::vector<int>>();
  ExpectThrows([&] { Save("input: 's' input: 'v'", ""); }, "No known serializer");
  EXPECT_EQ(Keys(dir_.path("x")), (std::vector<std::string>{"a#%0"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_.path()), {}), 1);
}

TEST_F(SaveTest, NamesWrongArguments) {
  ExpectThrows([&] { RunOp(&ws_, "type: 'Save' input: 'a' arg { name: 'db' s: 'x' }"); },
               "Must specify a db type.");
  ExpectThrows([&] { RunOp(&ws_, "type: 'Save' input: 'a' arg { name: 'db_type' s: 'minidb' }"); },
               "argument \"db\" is required but missing");
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'Save' input: 'a' arg { name: 'db_type' s: 'minidb' } "
              "arg { name: 'db' s: '' }");
      },
      "argument \"db\" is \"\", want a non-empty string");
  ExpectThrows([&] { Save("input: 'a' input: 'a'", ""); }, "Duplicated input: a");
  ExpectThrows(
      [&] { Save("input: 'a'", "arg { name: 'blob_name_overrides' strings: 'x' strings: 'y' }"); },
      "argument blob_name_overrides has 2 names, want 1: one per input");
  ExpectThrows(
      [&] {
        Save("input: 'a'",
             "arg { name: 'blob_name_overrides' strings: 'x' } "
             "arg { name: 'strip_prefix' s: 'y' }");
      },
      "mutually exclusive");
  ExpectThrows(
      [&] {
        RunOp(&ws_,
              "type: 'Save' input: 'a' arg { name: 'db' s: 'x' } "
              "arg { name: 'db_type' s: 'foo' }");
      },
      "argument \"db_type\" is \"foo\", want minidb, leveldb, lmdb, protodb or a");
}

}  // namespace
}  // namespace caffe2rt::save_test
