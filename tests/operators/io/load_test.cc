#include "operators/io/load.h"

#include <gtest/gtest.h>

#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::load_test {
namespace {

using test::ExpectTensor;
using test::ExpectThrows;
using test::Feed;
using test::Fetch;
using test::RunOp;
using test::SharedPath;
using test::TempDir;

class LoadTest : public testing::Test {
 protected:
  LoadTest() {
    Workspace ws(dir_.path());
    Feed<float>(&ws, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
    Feed<int64_t>(&ws, "pre/b", {3}, {7, 8, 9});
    *ws.CreateBlob("s")->GetMutable<std::string>() = "hello";
    RunOp(&ws, "type: 'Save' input: 'a' input: 'pre/b' input: 's' " + Arg("db", "m") +
                   Arg("db_type", "minidb"));
    RunOp(&ws, "type: 'Save' input: 'a' " + Arg("db", "chunks") + Arg("db_type", "minidb") +
                   "arg { name: 'chunk_size' i: 4 }");
    RunOp(&ws, "type: 'Save' input: 'pre/b' " + Arg("db", "other") + Arg("db_type", "minidb") +
                   Arg("strip_prefix", "pre/"));
  }
  static std::string Arg(const std::string& name, const std::string& value) {
    return "arg { name: '" + name + "' s: '" + value + "' } ";
  }
  static std::string Flag(const std::string& name) { return "arg { name: '" + name + "' i: 1 } "; }
  // Writes a minidb of records with one tensor each.
  std::string WriteDB(const std::vector<std::pair<std::string, std::string>>& records) {
    const auto database = db::CreateDB("minidb", dir_.path("made"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const auto& [key, text] : records) {
      BlobProto proto;
      ParseTextProto(text, "test", &proto);
      transaction->Put(key, proto.SerializeAsString());
    }
    return "made";
  }
  void Load(const std::string& outputs, const std::string& db, const std::string& args = "") {
    RunOp(&ws_, "type: 'Load' " + outputs + " " + Arg("db", db) + Arg("db_type", "minidb") + args);
  }
  void LoadDbs(const std::string& outputs, const std::string& first, const std::string& second,
               const std::string& args = "") {
    RunOp(&ws_, "type: 'Load' " + outputs + " arg { name: 'dbs' strings: '" + first +
                    "' strings: '" + second + "' } " + Arg("db_type", "minidb") + args);
  }
  const TempDir dir_;
  Workspace ws_{dir_.path()};
};

TEST_F(LoadTest, FillsItsOutputsByName) {
  Load("output: 's' output: 'a'", "m");
  ExpectTensor<float>(ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(ws_.GetBlob("s")->Get<std::string>(), "hello");
  EXPECT_FALSE(ws_.HasBlob("pre/b"));
}

TEST_F(LoadTest, JoinsChunks) {
  Load("output: 'a'", "chunks");
  ExpectTensor<float>(ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
}

TEST_F(LoadTest, LoadsAllBlobsOfTheDatabase) {
  Load("", "m", Flag("load_all") + Arg("strip_prefix", "pre/") + Arg("add_prefix", "x/"));
  ExpectTensor<int64_t>(ws_, "x/b", {3}, {7, 8, 9});
  EXPECT_TRUE(ws_.HasBlob("x/a"));
  EXPECT_TRUE(ws_.HasBlob("x/s"));
  ExpectThrows([&] { Load("output: 'zz'", "m", Flag("load_all")); },
               "Output blob name zz does not exist in the db(s).");
}

// The listed outputs must be there; they do not end the loading of all others, in this database and
// in those after it.
TEST_F(LoadTest, LoadsAllBlobsBesidesTheListedOutputs) {
  Load("output: 'a'", "m", Flag("load_all"));
  ExpectTensor<float>(ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
  EXPECT_TRUE(ws_.HasBlob("pre/b"));
  EXPECT_TRUE(ws_.HasBlob("s"));
  for (const auto& [first, second] : {std::pair{"m", "other"}, std::pair{"other", "m"}}) {
    for (const char* outputs : {"output: 'a'", "output: 'b'", "output: 'pre/b'", "output: 's'",
                                "output: 's' output: 'a'", "output: 'b' output: 'pre/b'"}) {
      SCOPED_TRACE(MakeString(first, " ", outputs));
      for (const char* name : {"a", "b", "pre/b", "s"}) ws_.RemoveBlob(name);
      LoadDbs(outputs, first, second, Flag("load_all"));
      ExpectTensor<float>(ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
      ExpectTensor<int64_t>(ws_, "b", {3}, {7, 8, 9});
      ExpectTensor<int64_t>(ws_, "pre/b", {3}, {7, 8, 9});
      EXPECT_EQ(ws_.GetBlob("s")->Get<std::string>(), "hello");
    }
  }
}

TEST_F(LoadTest, MapsNames) {
  Load("output: 'B'", "m", "arg { name: 'source_blob_names' strings: 'pre/b' }");
  ExpectTensor<int64_t>(ws_, "B", {3}, {7, 8, 9});
  Load("output: 'x/b'", "m", Arg("strip_prefix", "pre/") + Arg("add_prefix", "x/"));
  EXPECT_TRUE(ws_.HasBlob("x/b"));
  ExpectThrows(
      [&] {
        Load("output: 'A' output: 'B'", "m",
             "arg { name: 'source_blob_names' strings: 'a' strings: 'a' }");
      },
      "Duplicated source blob name: a");
  ExpectThrows(
      [&] {
        Load("output: 'A'", "m", "arg { name: 'source_blob_names' strings: 'a' strings: 'b' }");
      },
      "argument source_blob_names has 2 names, want 1: one per output");
  ExpectThrows(
      [&] {
        Load("output: 'A'", "m",
             "arg { name: 'source_blob_names' strings: 'a' } " + Arg("strip_prefix", "x"));
      },
      "mutually exclusive");
}

TEST_F(LoadTest, ReadsSeveralDatabases) {
  LoadDbs("output: 'b' output: 'a'", "other", "chunks");
  ExpectTensor<int64_t>(ws_, "b", {3}, {7, 8, 9});
  EXPECT_TRUE(ws_.HasBlob("a"));
  ExpectThrows([&] { LoadDbs("output: 'a' output: 'b'", "m", "chunks"); },
               "Duplicate Key a is found!");
}

TEST_F(LoadTest, ReportsWhatIsMissing) {
  ExpectThrows([&] { Load("output: 'a' output: 'q'", "m"); },
               "Expected to load 2 blobs, got 1 only");
  Load("output: 'a' output: 'q'", "m", Flag("allow_incomplete"));
  EXPECT_TRUE(ws_.GetBlob("q")->IsEmpty());
  ExpectThrows([&] { Load("output: 'a'", "none"); }, "none");
  ExpectThrows(
      [&] { RunOp(&ws_, "type: 'Load' output: 'a' " + Arg("db", "m") + Arg("db_type", "foo")); },
      "argument \"db_type\" is \"foo\", want minidb, leveldb, lmdb, protodb or a");
  ExpectThrows([&] { RunOp(&ws_, "type: 'Load' output: 'a' " + Arg("db", "m")); },
               "Must specify a db type.");
  ExpectThrows([&] { RunOp(&ws_, "type: 'Load' output: 'a' " + Arg("db_type", "minidb")); },
               "Must specify a db name.");
}

TEST_F(LoadTest, LoadsTheFirstOfTwoRecordsIfOutputsAreListed) {
  WriteDB({{"a", "type: 'Tensor' tensor { dims: 1 float_data: 1 }"},
           {"a", "type: 'Tensor' tensor { dims: 1 float_data: 2 }"}});
  Load("output: 'a'", "made");
  ExpectTensor<float>(ws_, "a", {1}, {1});
  ExpectThrows([&] { Load("", "made", Flag("load_all")); },
               "Found an extra part for an already filled tensor: a");
}

TEST_F(LoadTest, GoesByTheKeyAndNotByTheName) {
  WriteDB({{"k", "name: 'n' type: 'Tensor' tensor { name: 'n' dims: 1 float_data: 1 }"}});
  Load("output: 'k'", "made");
  ExpectTensor<float>(ws_, "k", {1}, {1});
}

TEST_F(LoadTest, RejectsIncompleteParts) {
  WriteDB({{"a#%0",
            "type: 'Tensor' tensor { dims: 4 segment { begin: 0 end: 2 } float_data: [1, 2] }"}});
  ExpectThrows([&] { Load("output: 'a'", "made", Flag("allow_incomplete")); },
               "Data size mismatch for blob a. Expected: 4 Read: 2");
  WriteDB(
      {{"a#%0", "type: 'Tensor' tensor { dims: 4 segment { begin: 0 end: 2 } float_data: [1, 2] }"},
       {"a#%1",
        "type: 'Tensor' tensor { dims: 6 segment { begin: 4 end: 6 } float_data: [1, 2] }"}});
  ExpectThrows([&] { Load("output: 'a'", "made"); },
               "6 elements according to one part and 4 according to another");
  WriteDB({{"s", "type: 'std::string' content: 'x' content_num_chunks: 2 content_chunk_id: 0"},
           {"s", "type: 'std::string' content: 'y' content_num_chunks: 2 content_chunk_id: 0"}});
  ExpectThrows([&] { Load("output: 's'", "made"); },
               "Chunk with the same id has occurred twice for: s");
}

TEST_F(LoadTest, IgnoresTheDeviceOfTheRecordByDefault) {
  WriteDB(
      {{"a", "type: 'Tensor' tensor { dims: 1 float_data: 1 device_detail { device_type: 1 } }"}});
  Load("output: 'a'", "made");
  ExpectTensor<float>(ws_, "a", {1}, {1});
  ExpectThrows([&] { Load("output: 'a'", "made", Flag("keep_device")); }, "CUDA");
}

TEST_F(LoadTest, AsksForNoMemoryThatTheRecordsDoNotFill) {
  WriteDB({{"a", "type: 'Tensor' tensor { dims: 1000000 dims: 1000000 float_data: 1 }"}});
  ExpectThrows([&] { Load("output: 'a'", "made"); }, "Incorrect proto field size.");
  WriteDB({{"a",
            "type: 'Tensor' tensor { dims: 1000000 dims: 1000000 segment { begin: 0 end: 1 } "
            "float_data: 1 }"}});
  ExpectThrows([&] { Load("output: 'a'", "made"); }, "memory");
}

TEST_F(LoadTest, ReadsFromAReader) {
  RunOp(&ws_, "type: 'CreateDB' output: 'reader' " + Arg("db", dir_.path("m")) +
                  Arg("db_type", "minidb"));
  RunOp(&ws_, "type: 'Load' input: 'reader' output: 'a'");
  ExpectTensor<float>(ws_, "a", {2, 3}, {0, 1, 2, 3, 4, 5});
}

// Compares every blob of the original's files with the arrays stored beside them.
void ExpectSharedValues(const std::string& file, const std::vector<std::string>& names) {
  Workspace ws(SharedPath("models/c2_files"));
  RunOp(&ws, "type: 'Load' arg { name: 'db' s: '" + file +
                 "' } arg { name: 'db_type' s: 'minidb' } "
                 "arg { name: 'load_all' i: 1 }");
  for (const std::string& name : names) {
    SCOPED_TRACE(file + ": " + name);
    const Tensor want = ReadNpy(SharedPath("models/c2_files/expected/" + name + ".npy"));
    ASSERT_TRUE(ws.HasBlob(name));
    const Tensor& got = ws.GetBlob(name)->Get<Tensor>();
    EXPECT_EQ(got.dims(), want.dims());
    EXPECT_EQ(got.dtype().name(), std::string(want.dtype().name()));
    ASSERT_EQ(NpyBytes(got), NpyBytes(want));
  }
}

TEST(LoadFilesTest, ReadsEveryElementTypeThatTheOriginalWrote) {
  SKIP_WITHOUT_SHARED("models/c2_files/all_types.minidb");
  const std::vector<std::string> names = {
      "f32",    "f64",      "i32",         "i64",       "i16",       "i8",      "u8",     "u16",
      "bool",   "f16",      "f32_special", "f32_empty", "i64_empty", "f32_0d",  "i64_0d", "bool_0d",
      "f32_7d", "f32_long", "i64_long",    "u8_long",   "bool_long", "f16_long"};
  for (const char* file :
       {"all_types.minidb", "all_types_chunk1000.minidb", "all_types_nochunk.minidb"}) {
    ExpectSharedValues(file, names);
    Workspace ws(SharedPath("models/c2_files"));
    RunOp(&ws, MakeString("type: 'Load' output: 'str' output: 'str_long' arg { name: 'db' s: '",
                          file, "' } arg { name: 'db_type' s: 'minidb' }"));
    EXPECT_EQ(Fetch<std::string>(ws, "str")[3], std::string("\0\1\xff binary", 10));
  }
}

TEST(LoadFilesTest, ReadsBytesAsHolders) {
  SKIP_WITHOUT_SHARED("models/c2_files/as_bytes.minidb");
  std::vector<std::string> names;
  const auto database =
      db::CreateDB("minidb", SharedPath("models/c2_files/as_bytes.minidb"), db::READ);
  const auto cursor = database->NewCursor();
  for (; cursor->Valid(); cursor->Next()) names.push_back(BlobNameFromKey(cursor->key()));
  EXPECT_GE(names.size(), 8u);
  std::erase_if(names, [](const std::string& name) { return name.substr(0, 3) == "str"; });
  ExpectSharedValues("as_bytes.minidb", names);
}

TEST(LoadFilesTest, ReadsRenamedBlobs) {
  SKIP_WITHOUT_SHARED("models/c2_files/prefix_stripped.minidb");
  Workspace ws(SharedPath("models/c2_files"));
  RunOp(&ws,
        "type: 'Load' output: 'renamed/a' arg { name: 'db' s: 'prefix_stripped.minidb' } "
        "arg { name: 'db_type' s: 'minidb' }");
  EXPECT_EQ(NpyBytes(ws.GetBlob("renamed/a")->Get<Tensor>()),
            NpyBytes(ReadNpy(SharedPath("models/c2_files/expected/f32.npy"))));
}

TEST(LoadFilesTest, ReadsAnLmdbOfTheOriginal) {
  SKIP_WITHOUT_SHARED("models/c2_lenet_lmdb/LeNet_params");
  Workspace ws(SharedPath("models/c2_lenet_lmdb"));
  RunOp(&ws,
        "type: 'Load' output: 'conv1_w' output: 'conv1_b' arg { name: 'db' s: 'LeNet_params' } "
        "arg { name: 'db_type' s: 'lmdb' }");
  EXPECT_EQ(test::DimsOf(ws, "conv1_w"), (std::vector<int64_t>{20, 1, 5, 5}));
}

}  // namespace
}  // namespace caffe2rt::load_test
