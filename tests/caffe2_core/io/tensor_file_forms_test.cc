// The forms in which files hold tensors: folders, lists of messages, databases whose records mix them.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/caffe_datum.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/tensor_file.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::tensor_file_forms_test {
namespace {

namespace fs = std::filesystem;

Tensor OneFloat(float value) {
  Tensor tensor(std::vector<int64_t>{1}, CPU);
  tensor.mutable_data<float>()[0] = value;
  return tensor;
}
template <class Message>
std::string BytesOf(const std::string& text) {
  Message message;
  ParseTextProto(text, "test", &message);
  return message.SerializeAsString();
}
// The names of the blobs in a file, in order, and the first number or the text of each.
std::vector<std::string> ContentOf(const std::string& path, FileKind kind) {
  std::vector<std::string> content;
  ReadTensorFile(path, kind, ProtoKindCheck::kByContent, [&](const std::string& name, Blob* blob) {
    const Tensor* const tensor = FindTensor(*blob);
    content.push_back(
        tensor == nullptr ? MakeString(name, "=", blob->Get<std::string>())
        : tensor->IsType<float>()
            ? MakeString(name, "=", tensor->numel() > 0 ? tensor->data<float>()[0] : -1)
            : MakeString(name, "=", tensor->dtype().name()));
  });
  return content;
}
using Texts = std::vector<std::string>;

class TensorFormsTest : public testing::Test {
 protected:
  std::string Minidb(const std::vector<std::pair<std::string, std::string>>& records) {
    const auto database = db::CreateDB("minidb", dir_.path("d"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const auto& [key, value] : records) transaction->Put(key, value);
    transaction->Commit();
    return dir_.path("d");
  }
  TempDir dir_;
};

TEST_F(TensorFormsTest, AFolderHasTheArraysOfItsFilesInOrder) {
  const std::string folder = dir_.path("folder");
  fs::create_directory(folder);
  for (const char* name : {"b", "a.x", "c"}) {
    WriteNpy(folder + "/" + name + ".npy", OneFloat(static_cast<float>(name[0] - 'a')));
  }
  dir_.Write("folder/notes.txt", "x");
  dir_.Write("folder/npy", "x");
  fs::create_directory(folder + "/d.npy");
  EXPECT_TRUE(IsFolderOfTensors(folder));
  EXPECT_EQ(ContentOf(folder, FileKind::kUnknown), (Texts{"a.x=0", "b=1", "c=2"}));
  EXPECT_EQ(LoadNamedTensors(folder).size(), 3u);
  // A link to a file that is there, and one to a file that is not.
  fs::create_symlink(folder + "/c.npy", folder + "/e.npy");
  EXPECT_EQ(ContentOf(folder, FileKind::kUnknown), (Texts{"a.x=0", "b=1", "c=2", "e=2"}));
  fs::create_symlink(folder + "/gone", folder + "/f.npy");
  ExpectThrows([&] { LoadNamedTensors(folder); }, "f.npy\": No such file or directory");
}

TEST_F(TensorFormsTest, OtherFoldersAndFilesAreNoFoldersOfTensors) {
  fs::create_directory(dir_.path("empty"));
  fs::create_directory(dir_.path("text"));
  dir_.Write("text/a.txt", "x");
  dir_.Write("db/CURRENT", "x");
  WriteNpy(dir_.path("db/a.npy"), OneFloat(1));
  WriteNpy(dir_.path("a.npy"), OneFloat(1));
  for (const char* name : {"empty", "text", "db", "a.npy", "absent"}) {
    EXPECT_FALSE(IsFolderOfTensors(dir_.path(name))) << name;
  }
  ExpectThrows([&] { ContentOf(dir_.path("text"), FileKind::kUnknown); }, "is a file of an unknown");
}

TEST_F(TensorFormsTest, MessagesHaveTheNamesOfTheirFields) {
  const std::string one = "name: 'x' dims: 1 data_type: FLOAT float_data: 4";
  EXPECT_EQ(ContentOf(dir_.Write("t", BytesOf<TensorProto>(one)), FileKind::kTensorProto),
            Texts{"x=4"});
  EXPECT_EQ(ContentOf(dir_.Write("t.pbtxt", one), FileKind::kTensorProto), Texts{"x=4"});
  EXPECT_EQ(ContentOf(dir_.Write("p", BytesOf<TensorProtos>(
                                          "protos { " + one + " } protos { name: 'a' dims: 1 "
                                          "data_type: FLOAT float_data: 5 }")),
                      FileKind::kTensorProtos),
            (Texts{"x=4", "a=5"}));
  const std::string blob = "name: 'b#%0' type: 'Tensor' tensor { dims: 1 float_data: 6 }";
  EXPECT_EQ(ContentOf(dir_.Write("b", BytesOf<BlobProto>(blob)), FileKind::kBlobProto),
            Texts{"b=6"});
  EXPECT_EQ(ContentOf(dir_.Write("s", BytesOf<BlobProto>("name: 's' type: 'std::string' "
                                                         "content: 'text'")),
                      FileKind::kBlobProto),
            Texts{"s=text"});
  WriteNpy(dir_.path("n.npy"), OneFloat(7));
  EXPECT_EQ(ContentOf(dir_.path("n.npy"), FileKind::kNpy), Texts{"=7"});
  for (const FileKind kind : {FileKind::kNpy, FileKind::kNpz, FileKind::kTensorProto,
                              FileKind::kTensorProtos, FileKind::kBlobProto, FileKind::kMiniDB,
                              FileKind::kLevelDB, FileKind::kLMDB}) {
    EXPECT_TRUE(HoldsTensors(kind)) << FileKindName(kind);
  }
  for (const FileKind kind : {FileKind::kUnknown, FileKind::kNetDef, FileKind::kPackedModel,
                              FileKind::kOnnxTensor, FileKind::kJpeg, FileKind::kZip}) {
    EXPECT_FALSE(HoldsTensors(kind)) << FileKindName(kind);
  }
}

// A database printed as text has one blob for each comment with a key.
TEST_F(TensorFormsTest, TextOfADatabaseHasABlobForEachKey) {
  const std::string text =
      "# key: a#%0\nname: 'a' type: 'Tensor' tensor { dims: 2 float_data: 1 "
      "segment { begin: 0 end: 1 } }\n"
      "# key: a#%1\nname: 'a' type: 'Tensor' tensor { dims: 2 float_data: 2 "
      "segment { begin: 1 end: 2 } }\n"
      "# key: s\nname: 's' type: 'std::string' content: 'text'\n";
  EXPECT_EQ(ContentOf(dir_.Write("t", text), FileKind::kBlobProto), (Texts{"a=1", "s=text"}));
  const std::string twice = "# key: s\nname: 's' type: 'std::string' content: 'x'\n";
  ExpectThrows([&] { ContentOf(dir_.Write("u", twice + twice), FileKind::kBlobProto); },
               "contains two tensors named \"s\"");
}

TEST_F(TensorFormsTest, RecordsOfAllKindsComeInTheirOrder) {
  const std::string half = "type: 'Tensor' tensor { dims: 2 float_data: 1 segment { begin: 0 end: 1 } }";
  const std::string rest = "type: 'Tensor' tensor { dims: 2 float_data: 2 segment { begin: 1 end: 2 } }";
  Blob quantized;
  quantized.GetMutable<Int8TensorCPU>()->t.Resize(1);
  quantized.GetMutable<Int8TensorCPU>()->t.mutable_data<uint8_t>()[0] = 3;
  const std::string set = BytesOf<TensorProtos>(
      "protos { name: 'p' dims: 1 data_type: FLOAT float_data: 8 } protos { dims: 0 "
      "data_type: FLOAT }");
  const std::string datum =
      BytesOf<CaffeDatum>("channels: 1 height: 1 width: 2 data: 'ab' label: 5");
  const std::string path = Minidb({{"z#%0", BytesOf<BlobProto>("name: 'z' " + half)},
                                   {"z#%1", BytesOf<BlobProto>("name: 'z' " + rest)},
                                   {"set", set},
                                   {"s", BytesOf<BlobProto>("type: 'std::string' content: 't'")},
                                   {"q", SerializeBlob(quantized, "q")},
                                   {"a", BytesOf<BlobProto>("type: 'Tensor' tensor { dims: 1 "
                                                            "float_data: 9 }")},
                                   {"datum", datum}});
  EXPECT_EQ(ContentOf(path, FileKind::kMiniDB),
            (Texts{"z=1", "set/p=8", "set/1=-1", "s=t", "q=uint8", "a=9", "datum/data=uint8",
                   "datum/label=int32"}));
}

// Records of a database that are copied to another stay as they are; only a Datum is converted.
TEST_F(TensorFormsTest, DatabasesAreCopiedRecordByRecord) {
  const std::string datum = BytesOf<CaffeDatum>("channels: 1 height: 1 width: 2 data: 'ab'");
  const std::string path = Minidb({{"k", "any bytes"}, {"d", datum}});
  for (const TensorFormat format : {TensorFormat::kLMDB, TensorFormat::kLevelDB}) {
    const std::string type = format == TensorFormat::kLMDB ? "lmdb" : "leveldb";
    const TensorTarget target{.path = dir_.path(type) + "//", .format = format, .overwrite = true};
    for (int run = 0; run < 2; ++run) {  // the second one replaces the first
      ConvertTensorFile(path, FileKind::kMiniDB, ProtoKindCheck::kByContent, target);
      const Records records = GetAll(type, dir_.path(type));
      ASSERT_EQ(records.size(), 2u);
      EXPECT_EQ(records.at("k"), "any bytes");
      TensorProtos tensors;
      ASSERT_TRUE(tensors.ParseFromString(records.at("d")));
      ASSERT_EQ(tensors.protos_size(), 2);
      EXPECT_EQ(tensors.protos(0).byte_data(), "ab");
      // A Datum without a label has the label 0.
      ASSERT_EQ(tensors.protos(1).int32_data_size(), 1);
      EXPECT_EQ(tensors.protos(1).int32_data(0), 0);
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 3);  // nothing else is left
}

TEST_F(TensorFormsTest, ListsOfTensorsHoldWholeTensorsWithoutASegment) {
  WriteNpz(dir_.path("a.npz"), {{"x", OneFloat(2)}, {"y", OneFloat(3)}});
  ConvertTensorFile(dir_.path("a.npz"), FileKind::kNpz, ProtoKindCheck::kByContent,
                    {.path = dir_.path("a.pb"), .format = TensorFormat::kTensorProtos});
  TensorProtos list;
  LoadProto(dir_.path("a.pb"), &list);
  ASSERT_EQ(list.protos_size(), 2);
  EXPECT_FALSE(list.protos(0).has_segment());
  EXPECT_EQ(list.protos(1).name(), "y");
  EXPECT_EQ(list.protos(1).float_data(0), 3);
}

TEST_F(TensorFormsTest, ADatumHasTheValuesOfItsShape) {
  const auto is_datum = [](const std::string& text) {
    CaffeDatum datum;
    return ParseDatum(BytesOf<CaffeDatum>(text), &datum);
  };
  EXPECT_TRUE(is_datum("channels: 1 height: 1 width: 2 data: 'ab'"));
  EXPECT_TRUE(is_datum("channels: 2 height: 1 width: 1 float_data: [1, 2]"));
  EXPECT_FALSE(is_datum("channels: 0 height: 1 width: 2 data: ''"));
  EXPECT_FALSE(is_datum("channels: 1 height: 0 width: 2 data: ''"));
  EXPECT_FALSE(is_datum("channels: 1 height: 1 width: 0"));
  EXPECT_FALSE(is_datum("channels: 1 height: 1 width: 2 data: 'abc'"));
  EXPECT_FALSE(is_datum("channels: 1 height: 1 width: 2 data: 'abcd'"));
  EXPECT_FALSE(is_datum("channels: -1 height: -1 width: 1 data: 'a'"));
  EXPECT_FALSE(is_datum("encoded: true data: ''"));
  EXPECT_TRUE(is_datum("encoded: true data: 'x'"));
}

TEST_F(TensorFormsTest, StringsAndReadersAreWrittenWithTheirNames) {
  Blob text, reader;
  *text.GetMutable<std::string>() = "a";
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(text, "t")));
  EXPECT_EQ(proto.name(), "t");
  EXPECT_EQ(proto.type(), "std::string");
  const std::string path = Minidb({{"k", "v"}});
  reader.GetMutable<db::DBReader>()->Open("minidb", path);
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(reader, "r")));
  EXPECT_EQ(proto.name(), "r");
  EXPECT_EQ(proto.type(), "DBReader");
}

// A database is written where the name is, with a slash at its end or behind a link.
TEST_F(TensorFormsTest, FoldersOfDatabasesAreReplacedWhereTheyAre) {
  const std::string from = dir_.path("x.npy"), other = dir_.path("y.npy");
  WriteNpy(from, OneFloat(1));
  WriteNpy(other, OneFloat(2));
  const auto convert = [&](const std::string& source, const std::string& to, TensorFormat format) {
    ConvertTensorFile(source, FileKind::kNpy, ProtoKindCheck::kByContent,
                      {.path = to, .format = format, .overwrite = true});
  };
  for (const auto& [format, kind] : {std::pair(TensorFormat::kLevelDB, FileKind::kLevelDB),
                                     {TensorFormat::kLMDB, FileKind::kLMDB}}) {
    const std::string folder = dir_.path(FileKindName(kind));
    convert(from, folder + "//", format);
    EXPECT_EQ(ContentOf(folder, kind), (Texts{"x=1"}));
    convert(other, folder + "/", format);
    EXPECT_EQ(ContentOf(folder, kind), (Texts{"y=2"}));
    const std::string link = folder + ".link";
    fs::create_directory_symlink(folder, link);
    convert(from, link, format);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::is_symlink(folder));
    EXPECT_EQ(ContentOf(folder, kind), (Texts{"x=1"}));
    fs::remove(link);
  }
  // Nothing else is left there.
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_.path()), {}), 4);
}

TEST_F(TensorFormsTest, AnEmptyFolderNeedsNoPermission) {
  WriteNpy(dir_.path("x.npy"), OneFloat(1));
  fs::create_directory(dir_.path("empty"));
  const TensorTarget target = {.path = dir_.path("empty"), .format = TensorFormat::kLevelDB};
  ConvertTensorFile(dir_.path("x.npy"), FileKind::kNpy, ProtoKindCheck::kByContent, target);
  EXPECT_EQ(ContentOf(dir_.path("empty"), FileKind::kLevelDB), (Texts{"x=1"}));
  ExpectThrows(
      [&] {
        ConvertTensorFile(dir_.path("x.npy"), FileKind::kNpy, ProtoKindCheck::kByContent, target);
      },
      "it exists; --overwrite replaces a database");
}

// A link to nothing may be meant for something that comes back.
TEST_F(TensorFormsTest, ALinkToNothingIsNotReplacedUnasked) {
  WriteNpy(dir_.path("x.npy"), OneFloat(1));
  for (const TensorFormat format :
       {TensorFormat::kMiniDB, TensorFormat::kLevelDB, TensorFormat::kLMDB}) {
    const std::string link = dir_.path("link");
    fs::create_symlink(dir_.path("absent"), link);
    ExpectThrows(
        [&] {
          ConvertTensorFile(dir_.path("x.npy"), FileKind::kNpy, ProtoKindCheck::kByContent,
                            {.path = link, .format = format});
        },
        "cannot write \"" + link + "\": it exists; --overwrite replaces a database");
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::exists(dir_.path("absent")));
    fs::remove(link);
  }
}

}  // namespace
}  // namespace caffe2rt::test::tensor_file_forms_test
