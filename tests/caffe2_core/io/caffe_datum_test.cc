#include "caffe2_core/io/caffe_datum.h"

#include <gtest/gtest.h>

#include <climits>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/tensor_file.h"
#include "tests/caffe2_core/io/records.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::caffe_datum_test {
namespace {

using test::TempDir;

CaffeDatum Bytes(const std::string& data) {
  CaffeDatum datum;
  datum.set_channels(3);
  datum.set_height(1);
  datum.set_width(2);
  datum.set_data(data);
  datum.set_label(7);
  return datum;
}

Tensor Read(const TensorProto& proto) {
  Tensor tensor(CPU);
  TensorDeserializer().Deserialize(proto, &tensor);
  return tensor;
}

TEST(CaffeDatumTest, BecomesAnImageAndALabel) {
  CaffeDatum datum;
  ASSERT_TRUE(ParseDatum(Bytes("abcdef").SerializeAsString(), &datum));
  const TensorProtos tensors = DatumToTensorProtos(datum);
  ASSERT_EQ(tensors.protos_size(), 2);
  const Tensor data = Read(tensors.protos(0)), label = Read(tensors.protos(1));
  EXPECT_EQ(data.dims(), (std::vector<int64_t>{3, 1, 2}));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data<uint8_t>()), 6), "abcdef");
  EXPECT_EQ(label.dim(), 0);
  EXPECT_EQ(label.data<int32_t>()[0], 7);
}

TEST(CaffeDatumTest, KeepsFloatsAndDecodesImages) {
  CaffeDatum floats = Bytes("");
  floats.clear_data();
  for (int i = 0; i < 6; ++i) floats.add_float_data(static_cast<float>(i) / 2);
  EXPECT_EQ(Read(DatumToTensorProtos(floats).protos(0)).data<float>()[5], 2.5f);

  const TempDir dir;
  SavePng(dir.path("a.png"), {.width = 2, .height = 1, .rgb = {1, 2, 3, 4, 5, 6}});
  CaffeDatum encoded, parsed;
  encoded.set_data(ReadWholeFile(dir.path("a.png")));
  encoded.set_encoded(true);
  encoded.set_label(-7);
  ASSERT_TRUE(ParseDatum(encoded.SerializeAsString(), &parsed));
  const TensorProtos tensors = DatumToTensorProtos(parsed);
  ASSERT_EQ(tensors.protos_size(), 2);
  EXPECT_EQ(tensors.protos(1).name(), "label");
  EXPECT_EQ(tensors.protos(1).int32_data(0), -7);
  const Tensor image = Read(DatumToTensorProtos(parsed).protos(0));
  EXPECT_EQ(image.dims(), (std::vector<int64_t>{3, 1, 2}));
  const uint8_t want[] = {3, 6, 2, 5, 1, 4};  // blue, green, red
  EXPECT_TRUE(std::equal(want, want + 6, image.data<uint8_t>()));
}

TEST(CaffeDatumTest, OtherRecordsAreNone) {
  CaffeDatum datum;
  EXPECT_FALSE(ParseDatum(Bytes("abcde").SerializeAsString(), &datum));    // too few bytes
  EXPECT_FALSE(ParseDatum(Bytes("abcdefg").SerializeAsString(), &datum));  // too many
  EXPECT_FALSE(ParseDatum("", &datum));
  BlobProto blob;
  blob.set_name("b");
  blob.set_type("Tensor");
  EXPECT_FALSE(ParseDatum(blob.SerializeAsString(), &datum));
  TensorProtos tensors;
  tensors.add_protos()->add_dims(2);
  EXPECT_FALSE(ParseDatum(tensors.SerializeAsString(), &datum));
}

TEST(CaffeDatumTest, ShapesMatchTheNumberOfValues) {
  const auto parses = [](int channels, int height, int width, const CaffeDatum& content) {
    CaffeDatum datum = content, parsed;
    datum.set_channels(channels);
    datum.set_height(height);
    datum.set_width(width);
    return ParseDatum(datum.SerializeAsString(), &parsed);
  };
  CaffeDatum bytes, floats, encoded, empty;
  bytes.set_data("abcdef");
  for (int i = 0; i < 6; ++i) floats.add_float_data(1);
  encoded.set_encoded(true);
  for (const CaffeDatum& six : {bytes, floats}) {
    EXPECT_TRUE(parses(1, 2, 3, six));
    EXPECT_TRUE(parses(6, 1, 1, six));
    EXPECT_FALSE(parses(2, 2, 3, six));
    EXPECT_FALSE(parses(1, 1, 4, six));
    EXPECT_FALSE(parses(1, 2, 2, six));
    EXPECT_FALSE(parses(-1, -2, 3, six));
    EXPECT_FALSE(parses(1, -2, -3, six));
    EXPECT_FALSE(parses(0, 2, 3, six));
    EXPECT_FALSE(parses(1, 0, 3, six));
    EXPECT_FALSE(parses(1, 2, 0, six));
    EXPECT_FALSE(parses(INT_MAX, INT_MAX, INT_MAX, six));
  }
  EXPECT_FALSE(parses(1, 1, 1, empty));
  EXPECT_FALSE(parses(0, 0, 0, encoded));  // without an image
  encoded.set_data("x");
  EXPECT_TRUE(parses(0, 0, 0, encoded));
  CaffeDatum parsed;
  EXPECT_FALSE(ParseDatum(Bytes("abcdef").SerializeAsString() + "\xe2\x03\x01z", &parsed));
}

TEST(CaffeDatumTest, ADatabaseIsConvertedRecordByRecord) {
  const TempDir dir;
  test::Put(
      "lmdb", dir.path("datum"), db::NEW,
      {{"0", Bytes("abcdef").SerializeAsString()}, {"1", Bytes("ghijkl").SerializeAsString()}});
  ConvertTensorFile(dir.path("datum"), FileKind::kLMDB, ProtoKindCheck::kByContent,
                    {.path = dir.path("new"), .format = TensorFormat::kLevelDB});
  const auto records = test::GetAll("leveldb", dir.path("new"));
  TensorProtos tensors;
  ASSERT_TRUE(tensors.ParseFromString(records.at("1")));
  EXPECT_EQ(tensors.protos(0).byte_data(), "ghijkl");
  const NamedTensors named = LoadNamedTensors(dir.path("datum"));
  ASSERT_EQ(named.size(), 4u);
  EXPECT_EQ(named[0].first, "0/data");
  EXPECT_EQ(named[3].first, "1/label");
}

}  // namespace
}  // namespace caffe2rt::caffe_datum_test
