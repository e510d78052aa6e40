// Each signature, each name and each field by which the kind of a file is known, and the bytes next
// to them that are of no kind.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/file_kind.h"
#include "tests/caffe2_core/io/wire_writer.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::file_kind_rows_test {
namespace {

using namespace std::string_literals;

FileKindResult Detect(const std::string& bytes) {
  return DetectContentKind(bytes, static_cast<int64_t>(bytes.size()));
}
std::string KindOf(const std::string& bytes) { return FileKindName(Detect(bytes).kind); }

TEST(FileKindRowsTest, SignaturesNameTheirKind) {
  const std::string zip = "PK\x03\x04" + std::string(26, '\0');
  const std::string lmdb = std::string(16, '\0') + "\xde\xc0\xef\xbe";
  const struct {
    std::string bytes;
    const char *kind, *reason;
  } rows[] = {
      {"\x89"
       "C2PK\r\n\x1a",
       "c2pack", "begins with the signature of a packed model"},
      {"\x93NUMPY", "npy", "begins with the signature of .npy"},
      {"\xff\xd8\xff", "jpeg", "begins with the signature of JPEG"},
      {"\x89PNG\r\n\x1a\n", "png", "begins with the signature of PNG"},
      {"\x89HDF\r\n\x1a\n", "hdf5", "begins with the signature of HDF5"},
      {zip + "a.npy", "npz", "a zip archive whose first entry is a .npy file"},
      {zip + "a.txt", "zip", "begins with the signature of zip"},
      {zip + std::string(1088 - 34, 'a') + ".npy", "npz",
       "a zip archive whose first entry is a .npy file"},
      {zip + std::string(1088 - 33, 'a') + ".npy", "zip", "begins with the signature of zip"},
      {"PK\x05\x06" + std::string(18, '\0'), "zip", "begins with the signature of zip"},
      {lmdb, "lmdb", "has the signature of LMDB in its first page"},
  };
  const TempDir dir;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    EXPECT_EQ(KindOf(row.bytes), row.kind);
    EXPECT_EQ(Detect(row.bytes).reason, row.reason);
    EXPECT_FALSE(Detect(row.bytes).text);
    EXPECT_EQ(FileKindName(DetectFileKind(dir.Write("f", row.bytes)).kind), std::string(row.kind));
    if (std::string(row.kind) == "npz" || std::string(row.kind) == "zip") continue;
    EXPECT_NE(KindOf(row.bytes.substr(0, row.bytes.size() - 1)), row.kind);  // a byte is missing
    EXPECT_NE(KindOf("x" + row.bytes), row.kind);
  }
}

TEST(FileKindRowsTest, KindsHaveNamesDescriptionsAndDatabaseTypes) {
  using enum FileKind;
  const struct {
    FileKind kind;
    const char *name, *description, *db_type;
  } rows[] = {{kUnknown, "unknown", "a file of an unknown kind", ""},
              {kNetDef, "NetDef", "a NetDef", ""},
              {kPlanDef, "PlanDef", "a PlanDef", ""},
              {kMetaNetDef, "MetaNetDef", "a MetaNetDef", ""},
              {kTensorProto, "TensorProto", "a TensorProto", ""},
              {kTensorProtos, "TensorProtos", "a TensorProtos", "protodb"},
              {kBlobProto, "BlobProto", "a BlobProto", ""},
              {kPackedModel, "c2pack", "a packed model", ""},
              {kMiniDB, "minidb", "a minidb database", "minidb"},
              {kLevelDB, "leveldb", "a LevelDB database", "leveldb"},
              {kLMDB, "lmdb", "an LMDB database", "lmdb"},
              {kOnnxModel, "onnx", "an ONNX model", ""},
              {kOnnxTensor, "onnx-tensor", "an ONNX tensor", ""},
              {kCaffeText, "prototxt", "a Caffe prototxt", ""},
              {kCaffeModel, "caffemodel", "a Caffe caffemodel", ""},
              {kCaffeBlob, "binaryproto", "a Caffe blob (binaryproto)", ""},
              {kHdf5, "hdf5", "an HDF5 file", ""},
              {kNpy, "npy", "a NumPy array (.npy)", ""},
              {kNpz, "npz", "a NumPy archive (.npz)", ""},
              {kZip, "zip", "a zip archive", ""},
              {kJpeg, "jpeg", "a JPEG image", ""},
              {kPng, "png", "a PNG image", ""}};
  std::vector<std::string> names;
  for (const auto& row : rows) {
    EXPECT_STREQ(FileKindName(row.kind), row.name);
    EXPECT_EQ(FileKindDescription(row.kind), row.description);
    EXPECT_EQ(DBTypeOfKind(row.kind), row.db_type);
    EXPECT_EQ(FileKindFromName(row.name), row.kind);
    if (row.kind != kUnknown) names.emplace_back(row.name);
    // Only messages of Caffe2 have a kind of their own.
    const bool is_message = row.kind >= kNetDef && row.kind <= kBlobProto;
    EXPECT_EQ(FileKindOfMessage(row.name), is_message ? row.kind : kUnknown);
  }
  EXPECT_EQ(FileKindNames(), names);
  EXPECT_EQ(FileKindFromName("ONNX-Tensor"), kOnnxTensor);
  EXPECT_EQ(FileKindOfMessage("netdef"), kUnknown);
}

// A record has sizes of its key (at most 65536 bytes) and its value, and a printable key.
TEST(FileKindRowsTest, AMinidbBeginsWithARecord) {
  const auto record = [](int32_t key, int32_t value, const std::string& rest) {
    std::string bytes;
    for (const int32_t size : {key, value}) {
      for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(size >> shift & 255);
    }
    return bytes + rest;
  };
  const std::string one = record(1, 1, "kv");
  EXPECT_EQ(Detect(one).reason, "1 record that fills the file");
  EXPECT_EQ(KindOf(one), "minidb");
  EXPECT_EQ(KindOf(record(65536, 1, std::string(65537, 'k'))), "minidb");
  EXPECT_NE(KindOf(record(65537, 1, std::string(65538, 'k'))), "minidb");
  for (const std::string& other :
       {record(0, 1, "v"), record(1, 0, "k"), record(-1, 1, "kv"), record(1, -1, "kv"),
        record(1, 2, "kv"), record(1, 1, "\x01v"), one.substr(0, 7), one.substr(0, 9)}) {
    EXPECT_NE(KindOf(other), "minidb");
  }
  EXPECT_EQ(Detect(one + record(1, 2, "kv")).reason, "records, but truncated or damaged after 1");
  const TempDir dir;
  for (const char* const rest : {"x", "1234567", "\1\1\1\1\1\1\1\1"}) {
    EXPECT_EQ(DetectFileKind(dir.Write("f", one + one + rest)).reason,
              "records, but truncated or damaged after 2");
  }
  // Of a beginning alone, the records whose headers are there.
  EXPECT_EQ(DetectContentKind(one + one, 1000).reason, "at least 2 records");
  EXPECT_EQ(DetectContentKind(one + one.substr(0, 8), 1000).reason, "at least 2 records");
  EXPECT_EQ(DetectContentKind(one + one.substr(0, 7), 1000).reason, "at least 1 record");
}

TEST(FileKindRowsTest, FieldsOfTextNameTheirKind) {
  const std::pair<const char*, const char*> rows[] = {{"op", "NetDef"},
                                                      {"network", "PlanDef"},
                                                      {"execution_step", "PlanDef"},
                                                      {"nets", "MetaNetDef"},
                                                      {"blobs", "MetaNetDef"},
                                                      {"plans", "MetaNetDef"},
                                                      {"modelInfo", "MetaNetDef"},
                                                      {"protos", "TensorProtos"},
                                                      {"tensor", "BlobProto"},
                                                      {"qtensor", "BlobProto"},
                                                      {"content", "BlobProto"},
                                                      {"data_type", "TensorProto"},
                                                      {"float_data", "TensorProto"},
                                                      {"int32_data", "TensorProto"},
                                                      {"string_data", "TensorProto"},
                                                      {"int64_data", "TensorProto"},
                                                      {"double_data", "TensorProto"},
                                                      {"layer", "prototxt"},
                                                      {"layers", "prototxt"},
                                                      {"input_dim", "prototxt"},
                                                      {"input_shape", "prototxt"},
                                                      {"train_net", "prototxt"},
                                                      {"base_lr", "prototxt"},
                                                      {"lr_policy", "prototxt"},
                                                      {"max_iter", "prototxt"},
                                                      {"solver_mode", "prototxt"},
                                                      {"test_iter", "prototxt"},
                                                      {"ir_version", "onnx"},
                                                      {"opset_import", "onnx"},
                                                      {"graph", "onnx"}};
  for (const auto& [field, kind] : rows) {
    for (const char* const value : {": 1", " : 'x'", " { a: 1 }", " < a: 1 >", ": [1, 2]"}) {
      const std::string text = "foo: 1\n# a comment: x\n"s + field + value;
      EXPECT_EQ(KindOf(text), kind) << text;
      EXPECT_TRUE(Detect(text).text);
      EXPECT_EQ(Detect(text).reason, "text with the field \""s + field + "\"");
    }
  }
  const std::pair<const char*, const char*> texts[] = {
      {"name: 'op: x'", "NetDef"},  // all fields are those of a net
      {"name: 'n' type: 'dag'", "NetDef"},
      {"name: 'n' foo: 1", "unknown"},
      {"foo { op { type: 'x' } }", "unknown"},  // within braces
      {"foo: op", "unknown"},                   // a value
      {"foo: 'a\\'b' op { }", "NetDef"},        // a quote within a string
      {"foo: \"a # b\" op { }", "NetDef"},
      {"foo: -1.5e+3 op { }", "NetDef"},
      {"} op { }", "unknown"},  // a brace that closes nothing
      {"some prose op: x", "unknown"},
      {"# op: 1\nfoo: 1", "unknown"},    // a comment
      {"foo: 'op: 1\nop: 2", "NetDef"},  // a string ends at its line
  };
  for (const auto& [text, kind] : texts) EXPECT_EQ(KindOf(text), kind) << text;
  EXPECT_TRUE(Detect("name: 'n' type: 'dag'").weak);
  // Every field has to be one of a net.
  for (const char* const text :
       {"other: 1 name: 'n'", "name: 'n' other: 1 type: 'dag'", "name: 'n' other: 1"}) {
    EXPECT_EQ(Detect(text).kind, FileKind::kUnknown) << text;
  }
  EXPECT_FALSE(Detect("op { }").weak);
  EXPECT_EQ(Detect("foo: 1").reason, "it is text, but its first fields belong to no known message");
  EXPECT_EQ(Detect("\x07\xff\x01").reason,
            "its bytes match no known message and have no known signature");
}

TEST(FileKindRowsTest, FieldsOfBinaryMessagesNameTheirKind) {
  const auto bytes = [](uint32_t field, const std::string& content) {
    std::string message;
    AppendBytes(static_cast<int>(field), content, &message);
    return message;
  };
  const std::string version = "\x08\x07", graph = bytes(7, "\x0a\x02xy");
  const std::string dims = "\x08\x01\x10\x03\x18\x08\x20\x08", floats = bytes(5, "abcdefgh");
  const std::string layer = bytes(100, bytes(2, "Convolution"));
  const std::string old_layer = bytes(2, bytes(4, "conv1") + "\x28\x04");
  const struct {
    std::string message;
    const char *kind, *reason;
  } rows[] = {
      {version + graph, "onnx", "has the version and graph of ONNX"},
      {version + bytes(8, "\x0a\x02xy"), "onnx", "has the version and graph of ONNX"},
      {bytes(1, "net") + layer, "caffemodel", "has Caffe's layers"},
      {bytes(1, "net") + old_layer, "caffemodel", "has Caffe's layers"},
      {dims + floats, "binaryproto", "has the fields of Caffe's blob"},
      {bytes(7, "\x0a\x02\x03\x04") + floats, "binaryproto", "has the fields of Caffe's blob"},
      {"\x08\x02\x10\x01" + bytes(8, "x") + bytes(9, "abcdefgh"), "onnx-tensor",
       "has the fields of ONNX's tensor"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.reason);
    EXPECT_EQ(KindOf(row.message), row.kind);
    EXPECT_EQ(Detect(row.message).reason, row.reason);
  }
  for (const std::string& other :
       {version + bytes(6, "xy"), graph, "\x08\xe8\x07" + graph, version + "\x10\x01" + graph}) {
    EXPECT_NE(KindOf(other), "onnx");
  }
  for (const std::string& other :
       {bytes(1, "\x01") + layer, bytes(1, "net") + bytes(100, bytes(2, "\x01")),
        bytes(1, "net") + bytes(2, bytes(4, "conv1") + bytes(5, "x"))}) {
    EXPECT_NE(KindOf(other), "caffemodel");
  }
  for (const std::string& other : {dims.substr(0, 6) + floats, dims + bytes(5, "abcdefg"), dims,
                                   dims + floats + bytes(10, "x")}) {
    EXPECT_NE(KindOf(other), "binaryproto");
  }
}

TEST(FileKindRowsTest, FoldersAreDatabasesByTheirFiles) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("none"));
  dir.Write("lmdb/data.mdb", "");
  dir.Write("lmdb/CURRENT", "");
  dir.Write("leveldb/CURRENT", "");
  const std::pair<const char*, const char*> rows[] = {
      {"none", "it is a folder that contains no database"},
      {"lmdb", "a folder with data.mdb"},
      {"leveldb", "a folder with CURRENT"}};
  for (const auto& [name, reason] : rows) {
    const FileKindResult found = DetectFileKind(dir.path(name));
    EXPECT_EQ(found.reason, reason);
    EXPECT_EQ(DBTypeOfKind(found.kind), name == "none"s ? "" : name);
  }
  EXPECT_EQ(DetectFileKind(dir.path("absent")).reason,
            "cannot open \"" + dir.path("absent") + "\": No such file or directory");
}

}  // namespace
}  // namespace caffe2rt::test::file_kind_rows_test
