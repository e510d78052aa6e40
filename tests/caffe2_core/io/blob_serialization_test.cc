#include "caffe2_core/io/blob_serialization.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::blob_serialization_test {
namespace {

using test::ExpectThrows;
using test::SharedPath;

template <class T>
Blob TensorBlob(const std::vector<int64_t>& dims, const std::vector<T>& values) {
  Blob blob;
  Tensor* tensor = BlobGetMutableTensor(&blob, CPU);
  tensor->Resize(dims);
  T* data = tensor->mutable_data<T>();
  for (size_t i = 0; i < values.size(); ++i) data[i] = values[i];
  return blob;
}

template <class T>
std::vector<T> Values(const Tensor& tensor) {
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

std::map<std::string, std::string> Records(const Blob& blob, const std::string& name,
                                           int chunk_size) {
  std::map<std::string, std::string> records;
  blob.Serialize(
      name, [&](const std::string& k, const std::string& v) { records[k] = v; }, chunk_size);
  return records;
}

BlobProto Parse(const std::string& text) {
  BlobProto proto;
  ParseTextProto(text, "test", &proto);
  return proto;
}

Tensor Read(const std::string& text) {
  Blob blob;
  DeserializeBlob(Parse(text), &blob);
  return blob.Get<Tensor>();
}

// Checks which field holds the values of type T, and that reading returns the same values.
template <class T>
void ExpectRoundTrip(const std::vector<T>& values, const std::string& data_fields) {
  const Blob blob = TensorBlob<T>({static_cast<int64_t>(values.size())}, values);
  const std::string record = SerializeBlob(blob, "x");
  BlobProto want = Parse(MakeString(
      "name: 'x' type: 'Tensor' tensor { dims: ", values.size(), " ", data_fields,
      " name: 'x' device_detail { device_type: 0 } segment { begin: 0 end: ", values.size(),
      " } }"));
  BlobProto got;
  ASSERT_TRUE(got.ParseFromString(record));
  EXPECT_EQ(got.DebugString(), want.DebugString());
  Blob read;
  read.Deserialize(record);
  EXPECT_EQ(std::memcmp(read.Get<Tensor>().raw_data(), blob.Get<Tensor>().raw_data(),
                        values.size() * sizeof(T)),
            0);
  EXPECT_TRUE(read.Get<Tensor>().IsType<T>());
}

TEST(BlobSerializationTest, PutsEachElementTypeIntoItsField) {
  ExpectRoundTrip<float>({1.5f, -2}, "data_type: FLOAT float_data: [1.5, -2]");
  ExpectRoundTrip<double>({1.5, -2}, "data_type: DOUBLE double_data: [1.5, -2]");
  ExpectRoundTrip<int32_t>({INT32_MIN, 7}, "data_type: INT32 int32_data: [-2147483648, 7]");
  ExpectRoundTrip<int64_t>({INT64_MIN, 7},
                           "data_type: INT64 int64_data: [-9223372036854775808, 7]");
  ExpectRoundTrip<int16_t>({-32768, 7}, "data_type: INT16 int32_data: [-32768, 7]");
  ExpectRoundTrip<int8_t>({-128, 7}, "data_type: INT8 int32_data: [-128, 7]");
  ExpectRoundTrip<uint8_t>({255, 7}, "data_type: UINT8 int32_data: [255, 7]");
  ExpectRoundTrip<uint16_t>({65535, 7}, "data_type: UINT16 int32_data: [65535, 7]");
  ExpectRoundTrip<uint32_t>({UINT32_MAX, 7}, "data_type: UINT32 int64_data: [4294967295, 7]");
  ExpectRoundTrip<uint64_t>({UINT64_MAX, 7}, "data_type: UINT64 int64_data: [-1, 7]");
  // 1.0 is 0x3f80, -2.0 is 0xc000.
  ExpectRoundTrip<bfloat16>({bfloat16(1.f), bfloat16(-2.f)},
                            "data_type: BFLOAT16 int32_data: [16256, 49152]");
  // 1.0 is 0x3c00, -2.0 is 0xc000.
  ExpectRoundTrip<float16>({float16::FromBits(0x3c00), float16::FromBits(0xc000)},
                           "data_type: FLOAT16 int32_data: [15360, 49152]");
}

TEST(BlobSerializationTest, KeepsBooleansAndStrings) {
  Blob flags = TensorBlob<bool>({2}, {});
  flags.GetMutable<Tensor>()->mutable_data<bool>()[0] = true;
  Blob read;
  read.Deserialize(flags.Serialize("f"));
  EXPECT_TRUE(read.Get<Tensor>().data<bool>()[0]);
  EXPECT_FALSE(read.Get<Tensor>().data<bool>()[1]);
  const Blob words = TensorBlob<std::string>({2}, {"a", std::string("\0x", 2)});
  read.Deserialize(words.Serialize("w"));
  EXPECT_EQ(Values<std::string>(read.Get<Tensor>()), Values<std::string>(words.Get<Tensor>()));
}

TEST(BlobSerializationTest, WritesBytesIfTheSettingsRequireThem) {
  GlobalSerializationSettings().fp16_as_bytes = true;
  GlobalSerializationSettings().small_integers_as_bytes = true;
  ExpectRoundTrip<float16>({float16::FromBits(0x3c00)},
                           "data_type: FLOAT16 byte_data: '\\x00\\x3c'");
  ExpectRoundTrip<int16_t>({-2}, "data_type: INT16 byte_data: '\\xfe\\xff'");
  ExpectRoundTrip<uint8_t>({200}, "data_type: UINT8 byte_data: '\\xc8'");
  ExpectRoundTrip<int32_t>({3}, "data_type: INT32 int32_data: 3");
  Blob read;
  for (const auto& [key, record] : Records(TensorBlob<uint8_t>({5}, {1, 2, 3, 4, 5}), "a", 2)) {
    read.Deserialize(record);
  }
  EXPECT_EQ(Values<uint8_t>(read.Get<Tensor>()), (std::vector<uint8_t>{1, 2, 3, 4, 5}));
  GlobalSerializationSettings() = {};
}

TEST(BlobSerializationTest, CutsTensorsIntoChunks) {
  const Blob blob = TensorBlob<int32_t>({5}, {1, 2, 3, 4, 5});
  const auto records = Records(blob, "a", 2);
  ASSERT_EQ(records.size(), 3u);
  const BlobProto last = [&] {
    BlobProto proto;
    proto.ParseFromString(records.at("a#%2"));
    return proto;
  }();
  EXPECT_EQ(last.tensor().segment().begin(), 4);
  EXPECT_EQ(last.tensor().segment().end(), 5);
  EXPECT_EQ(last.tensor().dims(0), 5);
  Blob read;  // the order does not matter
  for (const char* key : {"a#%2", "a#%0", "a#%1"}) read.Deserialize(records.at(key));
  EXPECT_EQ(Values<int32_t>(read.Get<Tensor>()), (std::vector<int32_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(Records(blob, "a", kNoChunking).size(), 1u);
  EXPECT_EQ(Records(blob, "a", kDefaultChunkSize).count("a#%0"), 1u);
  EXPECT_EQ(Records(TensorBlob<float>({0, 3}, {}), "e", 2).count("e#%0"), 1u);
  EXPECT_EQ(BlobNameFromKey("a#%12"), "a");
  EXPECT_EQ(BlobNameFromKey("a"), "a");
}

TEST(BlobSerializationTest, KeepsStringBlobs) {
  Blob blob;
  *blob.GetMutable<std::string>() = "hello";
  EXPECT_EQ(Records(blob, "s", kDefaultChunkSize).count("s"), 1u);
  Blob read;
  read.Deserialize(blob.Serialize("s"));
  EXPECT_EQ(read.Get<std::string>(), "hello");
}

TEST(BlobSerializationTest, NamesTheTypeWithoutSerializer) {
  Blob blob;
  blob.GetMutable<std::vector<int>>();
  ExpectThrows([&] { blob.Serialize("v"); }, "No known serializer for vector<int32>");
  ExpectThrows([&] { Blob().Serialize("e"); }, "it is empty");
  blob.Reset(new Tensor(CPU));
  ExpectThrows([&] { blob.Serialize("t"); }, "nothing has been written to it");
  Blob read;
  ExpectThrows([&] { read.Deserialize(Parse("name: 'm' type: 'Foo'")); },
               "No registered deserializer for type \"Foo\"");
  ExpectThrows([&] { read.Deserialize(std::string("\xff\xff")); },
               "Cannot parse content into a BlobProto");
  ExpectThrows([&] { Read("type: 'Tensor'"); }, "has no tensor");
}

TEST(TensorDeserializerTest, ReadsEveryFormOfTheData) {
  // 1.0 and -2.0 as bfloat16 are 0x3f80 and 0xc000.
  EXPECT_EQ(
      Values<float>(Read(
          "type: 'Tensor' tensor { dims: 2 data_format: 1 raw_data: '\\x80\\x3f\\x00\\xc0' }")),
      (std::vector<float>{1, -2}));
  EXPECT_EQ(
      Values<int32_t>(Read("type: 'Tensor' tensor { dims: 1 data_type: INT32 storage_type: RAW "
                           "raw_data: '\\x01\\x02\\x00\\x00' }")),
      (std::vector<int32_t>{513}));
  EXPECT_EQ(Values<uint8_t>(
                Read("type: 'TensorCPU' tensor { dims: 3 data_type: BYTE byte_data: 'abc' }")),
            (std::vector<uint8_t>{'a', 'b', 'c'}));
  const Tensor flags =
      Read("type: 'Tensor' tensor { dims: 2 data_type: BOOL byte_data: '\\x00\\x07' }");
  EXPECT_FALSE(flags.data<bool>()[0]);
  EXPECT_EQ(*static_cast<const uint8_t*>(flags.raw_data()) +
                *(static_cast<const uint8_t*>(flags.raw_data()) + 1),
            1);
  const Tensor scalar = Read("type: 'Tensor' tensor { float_data: 3 }");
  EXPECT_EQ(scalar.dim(), 0);
  EXPECT_EQ(scalar.data<float>()[0], 3);
  const Tensor shape = Read("type: 'Tensor' tensor { dims: 4 storage_type: NO_CONTENT }");
  EXPECT_EQ(shape.dims(), std::vector<int64_t>{4});
}

TEST(TensorDeserializerTest, RejectsInconsistentData) {
  const auto refuse = [](const std::string& fields, const std::string& part) {
    SCOPED_TRACE(fields);
    ExpectThrows([&] { Read("name: 'x' type: 'Tensor' tensor { name: 'x' " + fields + " }"); },
                 part);
  };
  refuse("dims: 3 float_data: [1, 2]",
         "Incorrect proto field size. Tensor \"x\" of type float has 2 elements, want 3");
  refuse("dims: 1000000000000 float_data: 1", "Incorrect proto field size.");
  refuse("dims: 2 data_type: FLOAT int32_data: [1, 2]", "Incorrect proto field size.");
  refuse("dims: 2 data_type: UINT8 byte_data: 'abc'", "has 3 bytes, want 2");
  refuse("dims: 2 data_format: 1 raw_data: 'abc'", "has 3 bytes of raw_data, want 4");
  refuse("dims: 2 data_format: 7 float_data: [1, 2]", "data_format");
  refuse("dims: 1 data_type: STRING raw_data: 'abc'", "want its typed field");
  refuse("dims: -1", "at least 0");
  refuse("dims: 4611686018427387904 dims: 4 dims: 0", "overflow");
  refuse("dims: 2 segment { begin: 1 end: 3 } float_data: [1, 2]",
         "Invalid chunk 1 3 with total tensor size 2");
  refuse("dims: 2 segment { begin: -1 end: 1 } float_data: [1, 2]", "Invalid chunk");
  refuse("dims: 1 storage_type: EXTERNAL", "EXTERNAL");
  refuse("dims: 1 external_data { record_id: '/etc/passwd' }", "EXTERNAL");
  refuse("dims: 1 data_type: ZERO_COLLISION_HASH int32_data: 1", "data type 14");
  refuse("dims: 1 float_data: 1 device_detail { device_type: 31 }", "31");
  refuse("dims: 1 float_data: 1 device_detail { device_type: 4000 }", "4000");
  std::string many;
  for (int i = 0; i < 100; ++i) many += "dims: 1 ";
  refuse(many + "float_data: 1", "rank of tensor");
}

TEST(TensorDeserializerTest, ReadsDataOfAMissingDeviceToTheCpu) {
  BlobProto proto;
  proto.set_name("w");
  proto.set_type("Tensor");
  proto.mutable_tensor()->add_dims(2);
  for (const float value : {3.f, 4.f}) proto.mutable_tensor()->add_float_data(value);
  proto.mutable_tensor()->mutable_device_detail()->set_device_type(6);  // HIP
  proto.mutable_tensor()->mutable_device_detail()->set_device_id(1);
  Blob blob;
  DeserializeBlob(proto, &blob);
  ASSERT_TRUE(blob.IsTensor(CPU));
  EXPECT_EQ(blob.Get<Tensor>().data<float>()[1], 4.f);
  EXPECT_EQ(TensorDeserializer().Deserialize(proto.tensor()).data<float>()[0], 3.f);
}

TEST(TensorDeserializerTest, BoundsRecordsWithinRecords) {
  BlobProto proto = Parse("type: 'std::string' content: 'x'");
  for (int i = 0; i < 2; ++i) {
    BlobProto outer = Parse("type: 'Tensor' tensor { dims: 1 data_type: UNDEFINED }");
    outer.mutable_tensor()->add_string_data(proto.SerializeAsString());
    proto = outer;
  }
  Blob blob;
  blob.Deserialize(proto);  // a tensor that contains a tensor that contains a string
  EXPECT_EQ(blob.Get<Tensor>().data<Tensor>()[0].data<std::string>()[0], "x");
  EXPECT_EQ(SerializeBlob(blob, "b").empty(), false);
  for (int i = 0; i < 20; ++i) {
    BlobProto outer = Parse("type: 'Tensor' tensor { dims: 1 data_type: UNDEFINED }");
    outer.mutable_tensor()->add_string_data(proto.SerializeAsString());
    proto = outer;
  }
  ExpectThrows([&] { blob.Deserialize(proto); }, "blobs within blobs");
}

TEST(TensorSerializerTest, WritesAPart) {
  const Blob blob = TensorBlob<float>({4}, {1, 2, 3, 4});
  TensorProto proto;
  TensorSerializer().Serialize(blob.Get<Tensor>(), "x", &proto, 1, 2);
  EXPECT_EQ(proto.float_data_size(), 2);
  EXPECT_EQ(proto.segment().begin(), 1);
  Tensor tensor(CPU);
  TensorDeserializer().Deserialize(proto, &tensor);
  EXPECT_EQ(Values<float>(tensor), (std::vector<float>{0, 2, 3, 0}));  // new memory is zero
  ExpectThrows([&] { TensorSerializer().Serialize(blob.Get<Tensor>(), "x", &proto, 5, 2); },
               "begins at 5");
}

TEST(TensorSerializerTest, APartEndsWithTheTensor) {
  const Blob blob = TensorBlob<float>({4}, {1, 2, 3, 4});
  TensorProto proto;
  for (const int chunk_size : {2, 100, 0}) {
    TensorSerializer().Serialize(blob.Get<Tensor>(), "x", &proto, 3, chunk_size);
    EXPECT_EQ(proto.segment().begin(), 3);
    EXPECT_EQ(proto.segment().end(), 4);
    ASSERT_EQ(proto.float_data_size(), 1);
    EXPECT_EQ(proto.float_data(0), 4);
  }
  TensorSerializer().Serialize(blob.Get<Tensor>(), "x", &proto, 4, 2);  // nothing is left
  EXPECT_EQ(proto.segment().begin(), 4);
  EXPECT_EQ(proto.segment().end(), 4);
  EXPECT_EQ(proto.float_data_size(), 0);
}

TEST(BlobSerializationTest, KeepsWhereAReaderReads) {
  const test::TempDir dir;
  { db::CreateDB("minidb", dir.path("m"), db::NEW)->NewTransaction()->Put("k", "v"); }
  Blob blob;
  blob.GetMutable<db::DBReader>()->Open("minidb", dir.path("m"));
  Blob read;
  read.Deserialize(blob.Serialize("r"));
  std::string key, value;
  read.Get<db::DBReader>().Read(&key, &value);
  EXPECT_EQ(value, "v");
}

TEST(BlobSerializationTest, WritesTheBytesOfTheOriginal) {
  SKIP_WITHOUT_SHARED("models/c2_files/small_blob.serialized");
  const std::string bytes = ReadWholeFile(SharedPath("models/c2_files/small_blob.serialized"));
  Blob blob;
  DeserializeBlob(bytes, &blob);
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(bytes));
  EXPECT_EQ(SerializeBlob(blob, proto.name()), bytes);
}

// A tensor of a device that is not there is read to the CPU, and the log names it.
TEST(BlobSerializationTest, ATensorOfAnAbsentDeviceIsReadWithAWarning) {
  TensorProto proto;
  proto.set_name("w");
  proto.add_dims(2);
  proto.set_data_type(TensorProto::FLOAT);
  proto.add_float_data(1);
  proto.add_float_data(-2);
  proto.mutable_device_detail()->set_device_type(HIP);
  std::vector<std::string> texts;
  const int before = LogThreshold();
  SetLogThreshold(1);
  SetLogSink([&](const LogEntry& entry) { texts.emplace_back(entry.text); });
  const Tensor tensor = TensorDeserializer().Deserialize(proto);
  SetLogSink(nullptr);
  SetLogThreshold(before);
  EXPECT_EQ(tensor.GetDeviceType(), CPU);
  EXPECT_EQ(tensor.data<float>()[1], -2);
  EXPECT_EQ(texts, (std::vector<std::string>{"tensor \"w\" was saved on HIP, which is not "
                                             "available: it is read to the CPU"}));
}

}  // namespace
}  // namespace caffe2rt::blob_serialization_test
