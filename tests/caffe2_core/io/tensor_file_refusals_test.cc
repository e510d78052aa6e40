// Every error of files of tensors and of their conversion, whole, and what each format keeps.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_file.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::tensor_file_refusals_test {
namespace {

namespace fs = std::filesystem;

BlobProto Parse(const std::string& text) {
  BlobProto proto;
  ParseTextProto(text, "test", &proto);
  return proto;
}

Tensor Floats(const std::vector<float>& values) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(values.size())}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

class TensorFileRefusalsTest : public testing::Test {
 protected:
  // A minidb of these records. Returns its path.
  std::string Database(const std::string& name,
                       const std::vector<std::pair<std::string, std::string>>& records) {
    const auto database = db::CreateDB("minidb", dir_.path(name), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const auto& [key, value] : records) transaction->Put(key, value);
    transaction->Commit();
    return dir_.path(name);
  }
  static std::string Record(const std::string& name, const std::string& tensor) {
    return Parse(MakeString("name: '", name, "' type: 'Tensor' tensor { ", tensor, " }"))
        .SerializeAsString();
  }
  std::function<void()> Load(const std::string& path) {
    return [path] { LoadNamedTensors(path); };
  }
  std::function<void()> Convert(const std::string& path, const TensorTarget& target) {
    return [path, target] {
      ConvertTensorFile(path, DetectFileKind(path).kind, ProtoKindCheck::kByContent, target);
    };
  }
  TempDir dir_;
};

TEST_F(TensorFileRefusalsTest, OfDatabases) {
  const std::string half = "dims: 2 segment { begin: 0 end: 1 } float_data: 1";
  const std::string other = "dims: 2 segment { begin: 1 end: 2 } float_data: 2";
  const std::string three = "dims: 3 segment { begin: 1 end: 2 } float_data: 2";
  const std::string short_one = Database("a", {{"x#%0", Record("x", half)}});
  const std::string short_before =
      Database("b", {{"x#%0", Record("x", half)}, {"y", Record("y", "dims: 1 float_data: 1")}});
  const std::string too_long = Database(
      "c", {{"x#%0", Record("x", half)}, {"x#%1", Record("x", "dims: 2 float_data: [1, 2]")}});
  const std::string unequal =
      Database("d", {{"x#%0", Record("x", half)}, {"x#%1", Record("x", three)}});
  const std::string twice = Database("e", {{"x#%0", Record("x", "dims: 1 float_data: 1")},
                                           {"y", Record("y", "dims: 1 float_data: 1")},
                                           {"x#%0", Record("x", "dims: 1 float_data: 1")}});
  const std::string text = Database(
      "f", {{"s", Parse("name: 's' type: 'std::string' content: 'a'").SerializeAsString()}});
  const std::string reader =
      Database("g", {{"r", Parse("name: 'r' type: 'DBReader' content: 'a'").SerializeAsString()}});
  const std::string noise = Database("h", {{"k", "\xff\xff"}});
  ExpectRefusals({
      {Load(short_one), "elements of tensor \"x\" in \"" + short_one + "\": got 1, want 2"},
      {Load(short_before), "elements of tensor \"x\" in \"" + short_before + "\": got 1, want 2"},
      {Load(too_long),
       "elements in the records of tensor \"x\" of \"" + too_long + "\": got 3, want at most 2"},
      {Load(unequal), "elements of tensor \"x\" of \"" + unequal +
                          "\" in one record, want as many as in the first (got 3, want 2)"},
      {Load(twice), "file \"" + twice + "\" contains two tensors named \"x\""},
      {Load(text), "blob \"s\" of \"" + text + "\" is a string, want a tensor"},
      {Load(reader),
       "blob \"r\" of \"" + reader + "\" is a \"DBReader\", want a tensor or a string"},
      {Load(noise),
       "record \"k\" of \"" + noise + "\" has 2 bytes that are neither a blob nor TensorProtos"},
  });
  const std::string whole = Database("i", {{"x#%0", Record("x", half)},
                                           {"x#%1", Record("x", other)},
                                           {"z#%0", Record("z", "dims: 0")}});
  const NamedTensors read = LoadNamedTensors(whole);
  ASSERT_EQ(read.size(), 2u);
  EXPECT_EQ(read[0].second.data<float>()[1], 2);
  EXPECT_EQ(read[1].first, "z");
}

TEST_F(TensorFileRefusalsTest, OfOtherFiles) {
  const std::string net = dir_.Write("n.pbtxt", "op { type: 'Relu' }"), none = dir_.path("none");
  fs::create_directory(dir_.path("empty"));
  ExpectRefusals({
      {Load(net), "file \"" + net +
                      "\" is a NetDef, want .npy, .npz, TensorProto(s), BlobProto or a database"},
      {Load(none),
       "cannot read \"" + none + "\": cannot open \"" + none + "\": No such file or directory"},
      {Load(dir_.path("empty")),
       "cannot read \"" + dir_.path("empty") + "\": it is a folder that contains no database"},
  });
}

// What a target cannot hold, or that it cannot be replaced. It stays as it was.
TEST_F(TensorFileRefusalsTest, OfTargets) {
  const std::string two = dir_.path("two.npz"), none = dir_.path("none.npz"),
                    bad = dir_.path("bad.npz");
  WriteNpz(two, {{"x", Floats({1})}, {"y", Floats({2})}});
  WriteNpz(none, {});
  WriteNpz(bad, {{"x", Floats({1})}, {"y#%0", Floats({2})}});
  const std::string text = Database(
      "text", {{"x", Record("x", "dims: 1 float_data: 1")},
               {"s", Parse("name: 's' type: 'std::string' content: 'a'").SerializeAsString()}});
  Blob quantized;
  auto* q = quantized.GetMutable<Int8TensorCPU>();
  q->t.Resize(1);
  *q->t.mutable_data<uint8_t>() = 3;
  const std::string small = Database("small", {{"q", SerializeBlob(quantized, "q")}});
  dir_.Write("old", "as it was");
  dir_.Write("net", "op { type: 'Relu' }");
  Put("leveldb", dir_.path("lev"), db::NEW, {{"a", "1"}});
  const std::string old = dir_.path("old"), net = dir_.path("net"), lev = dir_.path("lev");
  const auto count = [&] { return std::distance(fs::directory_iterator(dir_.path()), {}); };
  const auto before = count();
  using enum TensorFormat;
  ExpectRefusals({
      {Convert(two, {.path = old, .format = kNpy}),
       "cannot write \"" + old +
           "\": a .npy file holds one tensor, got \"x\" and \"y\"; want .npz"},
      {[&] {
         ConvertTensorFile(none, FileKind::kNpz, ProtoKindCheck::kByContent,
                           {.path = old, .format = kNpy});
       },
       "cannot write \"" + old + "\": there is no tensor"},
      {Convert(small, {.path = old, .format = kNpy}),
       "blob \"q\" is a quantized tensor, which .npy cannot hold; want a database"},
      {Convert(text, {.path = old, .format = kNpz}),
       "blob \"s\" is a string, which .npz cannot hold; want a database"},
      {Convert(text, {.path = old, .format = kTensorProtos}),
       "blob \"s\" is a string, which TensorProtos cannot hold; want a database"},
      {Convert(small, {.path = old, .format = kTensorProtosText}),
       "blob \"q\" is a quantized tensor, which TensorProtos cannot hold; want a database"},
      {Convert(two, {.path = old, .format = kMiniDB}),
       "cannot write \"" + old + "\": it exists; --overwrite replaces a database"},
      {Convert(two, {.path = lev, .format = kLevelDB}),
       "cannot write \"" + lev + "\": it exists; --overwrite replaces a database"},
      {Convert(two, {.path = net, .format = kMiniDB, .overwrite = true}),
       "cannot replace \"" + net + "\": it is a NetDef, want a minidb database"},
      {Convert(two, {.path = lev, .format = kLMDB, .overwrite = true}),
       "cannot replace \"" + lev + "\": it is a LevelDB database, want a lmdb database"},
      {Convert(bad, {.path = dir_.path("new"), .format = kLMDB}),
       "tensor \"y#%0\" cannot be written to a database: its name contains \"#%\""},
      {Convert(bad, {.path = lev, .format = kLevelDB, .overwrite = true}),
       "tensor \"y#%0\" cannot be written to a database: its name contains \"#%\""},
      {Convert(text, {.path = dir_.path("./text"), .format = kMiniDB, .overwrite = true}),
       "cannot convert \"" + text + "\" to itself"},
      {Convert(lev, {.path = lev + "/", .format = kLevelDB, .overwrite = true}),
       "cannot convert \"" + lev + "\" to itself"},
  });
  EXPECT_EQ(count(), before);
  EXPECT_EQ(GetAll("leveldb", lev), (Records{{"a", "1"}}));
  EXPECT_EQ(ReadNpz(two).size(), 2u);
  std::string bytes;
  ReadStringFromFile(old.c_str(), &bytes);
  EXPECT_EQ(bytes, "as it was");
}

// The folder disappears while the new database is written next to it: the source, a pipe, is read
// then.
TEST_F(TensorFileRefusalsTest, OfADatabaseThatIsGoneBeforeItIsReplaced) {
  Put("leveldb", dir_.path("lev"), db::NEW, {{"a", "1"}});
  const std::string lev = dir_.path("lev"), pipe = dir_.path("x.npy");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] {
    std::ofstream file(pipe, std::ios::binary);  // waits for the reader
    fs::remove_all(lev);
    file << NpyBytes(Floats({1}));
  });
  ExpectRefusals({{[&] {
                     ConvertTensorFile(
                         pipe, FileKind::kNpy, ProtoKindCheck::kByContent,
                         {.path = lev, .format = TensorFormat::kLevelDB, .overwrite = true});
                   },
                   "cannot replace \"" + lev + "\": No such file or directory"}});
  writer.join();
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 1);  // the pipe
}

// All formats give back names, types, shapes and values, also where a database replaces another.
TEST_F(TensorFileRefusalsTest, ConversionsKeepWhatEachFormatHolds) {
  const std::string source = dir_.path("in.npz");
  Tensor words(std::vector<int64_t>{1, 2}, CPU);
  int64_t* const numbers = words.mutable_data<int64_t>();
  numbers[0] = INT64_MIN;
  numbers[1] = 7;
  WriteNpz(source, {{"b", Floats({1.5f, -2})}, {"a", words}});
  using enum TensorFormat;
  for (const TensorFormat format :
       {kNpz, kTensorProtos, kTensorProtosText, kMiniDB, kLevelDB, kLMDB}) {
    SCOPED_TRACE(static_cast<int>(format));
    const std::string path = dir_.path("out" + std::to_string(static_cast<int>(format)));
    for (int run = 0; run < 2; ++run) {
      Convert(source, {.path = path, .format = format, .overwrite = run == 1})();
      NamedTensors read = LoadNamedTensors(path);
      ASSERT_EQ(read.size(), 2u);
      // Databases other than minidb are in the order of their keys.
      const bool sorted = format == kLevelDB || format == kLMDB;
      EXPECT_EQ(read[0].first, sorted ? "a" : "b");
      if (sorted) std::swap(read[0], read[1]);
      EXPECT_EQ(read[1].first, "a");
      EXPECT_EQ(read[0].second.dims(), std::vector<int64_t>{2});
      EXPECT_EQ(read[0].second.data<float>()[1], -2);
      EXPECT_EQ(read[1].second.dims(), (std::vector<int64_t>{1, 2}));
      EXPECT_EQ(read[1].second.data<int64_t>()[0], INT64_MIN);
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 7);  // nothing else is left
  // The format of one array has no name.
  const std::string one = dir_.path("one.npz");
  WriteNpz(one, {{"x", Floats({3})}});
  Convert(one, {.path = dir_.path("w.npy"), .format = kNpy})();
  const auto name_of = [&](const std::string& name) {
    Convert(dir_.path("w.npy"), {.path = dir_.path("named.npz"), .name = name})();
    return ReadNpz(dir_.path("named.npz"))[0].first;
  };
  EXPECT_EQ(name_of(""), "w");
  EXPECT_EQ(name_of("given"), "given");
}

}  // namespace
}  // namespace caffe2rt::test::tensor_file_refusals_test
