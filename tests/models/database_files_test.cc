// Databases and records that the original wrote contain the expected values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/models/golden_case.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::database_files_test {
namespace {

std::string File(const std::string& name) { return SharedPath("models/c2_files/" + name); }

// The strings of {"shape": [n], "hex": ["6162", ...]}.
std::vector<std::string> ReadHexStrings(const std::string& path) {
  std::vector<std::string> strings;
  const auto json = nlohmann::json::parse(ReadWholeFile(path));
  for (const auto& element : json.at("hex")) {
    const auto& hex = element.get_ref<const std::string&>();
    std::string& bytes = strings.emplace_back();
    for (size_t i = 0; i < hex.size(); i += 2) {
      bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    }
  }
  return strings;
}

// Compares the tensor with expected/NAME.npy, or .json for strings.
void ExpectRecorded(const Workspace& ws, const std::string& blob, const std::string& name) {
  SCOPED_TRACE(blob);
  ASSERT_TRUE(ws.HasBlob(blob));
  const std::string npy = File("expected/" + name + ".npy");
  if (!std::filesystem::exists(npy)) {
    const std::vector<std::string> want = ReadHexStrings(File("expected/" + name + ".json"));
    ExpectTensor<std::string>(ws, blob, {static_cast<int64_t>(want.size())}, want);
    return;
  }
  const Tensor& got = ws.GetBlob(blob)->Get<Tensor>();
  const Tensor want = ReadNpy(npy);
  EXPECT_EQ(RelativeError(got, want), 0) << got.DebugString() << ", want " << want.DebugString();
}

void LoadAll(Workspace* ws, const std::string& file) {
  RunOp(ws, "type: \"Load\" arg { name: \"db\" s: \"" + File(file) +
                "\" } arg { name: \"db_type\" s: \"minidb\" } arg { name: \"absolute_path\" i: 1 }"
                " arg { name: \"load_all\" i: 1 }");
}

class SavedDatabaseTest : public testing::TestWithParam<const char*> {};

TEST_P(SavedDatabaseTest, HoldsEveryElementType) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  EXPECT_EQ(DetectFileKind(File(GetParam())).kind, FileKind::kMiniDB);
  Workspace ws;
  LoadAll(&ws, GetParam());
  const bool as_bytes = std::string(GetParam()) == "as_bytes.minidb";
  EXPECT_EQ(ws.LocalBlobs().size(), as_bytes ? 11u : 25u);
  for (const std::string& name : ws.LocalBlobs()) ExpectRecorded(ws, name, name);
}

INSTANTIATE_TEST_SUITE_P(Files, SavedDatabaseTest,
                         testing::Values("all_types.minidb", "all_types_chunk1000.minidb",
                                         "all_types_nochunk.minidb", "as_bytes.minidb"),
                         [](const auto& file) {
                           return std::filesystem::path(file.param).stem().string();
                         });

TEST(SavedDatabaseTest, HoldsBlobsUnderTheirOtherNames) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  Workspace ws;
  LoadAll(&ws, "prefix_stripped.minidb");
  ExpectRecorded(ws, "renamed/a", "f32");
  ExpectRecorded(ws, "renamed/b", "i64");
}

TEST(SavedDatabaseTest, ReadsStringsAndRejectsUnsupportedTypesByName) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  db::DBReader reader("minidb", File("other_kinds.minidb"));
  int tensors_or_strings = 0, refused = 0;
  for (int i = 0; i < 7; ++i) {
    std::string key, value;
    reader.Read(&key, &value);
    Blob blob;
    try {
      DeserializeBlob(value, &blob);
      ++tensors_or_strings;
      EXPECT_TRUE(key != "rawstring" || blob.IsType<std::string>());
    } catch (const EnforceNotMet& error) {
      ++refused;
      EXPECT_THAT(error.message(), testing::HasSubstr("type")) << key;
    }
  }
  EXPECT_GE(tensors_or_strings, 1);
  EXPECT_EQ(tensors_or_strings + refused, 7);
}

// Compares with the same blobs, written as text by the original.
TEST(SavedDatabaseTest, EqualsItsTextForm) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  for (const std::string name : {"all_types", "other_kinds"}) {
    db::DBReader reader("minidb", File(name + ".minidb"));
    const std::string text = name == "all_types" ? "all_types_blobs.pbtxt" : "other_kinds.pbtxt";
    const std::vector<BlobProto> blobs = LoadBlobProtos(File(text));
    EXPECT_GE(blobs.size(), 7u);
    for (const BlobProto& blob : blobs) {
      std::string key, value;
      reader.Read(&key, &value);
      BlobProto recorded;
      ASSERT_TRUE(recorded.ParseFromString(value)) << key;
      EXPECT_EQ(blob.DebugString(), recorded.DebugString()) << key;
    }
  }
}

TEST(ProtoDatabaseTest, HoldsTensorsByName) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const auto source = db::OpenDB("protodb", File("tensors.protodb"), db::READ);
  const auto cursor = source->NewCursor();
  int i = 0;
  for (; cursor->Valid(); cursor->Next(), ++i) {
    EXPECT_EQ(cursor->key(), "key" + std::to_string(i));
    TensorProto proto;
    ASSERT_TRUE(proto.ParseFromString(cursor->value()));
    const Tensor tensor = TensorDeserializer().Deserialize(proto);
    ASSERT_EQ(tensor.dims(), std::vector<int64_t>{2});
    EXPECT_EQ(tensor.data<float>()[0], static_cast<float>(i));
    EXPECT_EQ(tensor.data<float>()[1], static_cast<float>(i) / 4);
  }
  EXPECT_EQ(i, 3);
}

TEST(RecordsDatabaseTest, HoldsTheTensorsOfTheFirstBatch) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  const Tensor a = ReadNpy(File("expected/records_batch4_a.npy"));
  const Tensor b = ReadNpy(File("expected/records_batch4_b.npy"));
  db::DBReader reader("minidb", File("records.minidb"));
  for (int i = 0; i < 4; ++i) {
    std::string key, value;
    reader.Read(&key, &value);
    TensorProtos record;
    ASSERT_TRUE(record.ParseFromString(value));
    ASSERT_EQ(record.protos_size(), 4);
    const Tensor values = TensorDeserializer().Deserialize(record.protos(0));
    const Tensor number = TensorDeserializer().Deserialize(record.protos(1));
    ASSERT_EQ(values.numel(), 4);
    ASSERT_EQ(number.numel(), 1);
    for (int k = 0; k < 4; ++k) EXPECT_EQ(values.data<float>()[k], a.data<float>()[4 * i + k]);
    EXPECT_EQ(number.data<int32_t>()[0], b.data<int32_t>()[i]);
  }
}

TEST(SerializedBlobTest, HoldsItsTensor) {
  SKIP_WITHOUT_SHARED("models/c2_files");
  Workspace ws;
  DeserializeBlob(ReadWholeFile(File("small_blob.serialized")), ws.CreateBlob("f32"));
  ExpectRecorded(ws, "f32", "f32");
}

}  // namespace
}  // namespace caffe2rt::test::database_files_test
