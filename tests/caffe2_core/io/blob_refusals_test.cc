// Every error of records of blobs, whole, and the values next to each bound that are accepted.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/int8_serializer.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::blob_refusals_test {
namespace {

BlobProto Parse(const std::string& text) {
  BlobProto proto;
  ParseTextProto(text, "test", &proto);
  return proto;
}

Tensor ReadTensor(const std::string& fields) {
  Blob blob;
  DeserializeBlob(Parse("name: 'x' type: 'Tensor' tensor { name: 'x' " + fields + " }"), &blob);
  return blob.Get<Tensor>();
}

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

Tensor Floats(const std::vector<float>& values) {
  Tensor tensor(std::vector<int64_t>{static_cast<int64_t>(values.size())}, CPU);
  std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
  return tensor;
}

Blob BlobOf(Tensor tensor) {
  Blob blob;
  *blob.GetMutable<Tensor>() = std::move(tensor);
  return blob;
}

struct Pair {};
// Writes two records.
class PairSerializer final : public BlobSerializerBase {
 public:
  void Serialize(const void*, TypeMeta, const std::string& name,
                 SerializationAcceptor acceptor) override {
    acceptor(name, "one");
    acceptor(name, "two");
  }
};
REGISTER_BLOB_SERIALIZER((TypeMeta::Id<Pair>()), PairSerializer);

// Plain data, of which a tensor has no records.
class NumberDeserializer final : public BlobDeserializerBase {
 public:
  void Deserialize(const BlobProto&, Blob* blob) override { *blob->GetMutable<int>() = 1; }
};
REGISTER_BLOB_DESERIALIZER(blob_refusals_test_number, NumberDeserializer);

TEST(BlobRefusalsTest, OfTheFieldsOfATensor) {
  const struct {
    std::string fields, want;
  } rows[] = {
      {Repeated("dims: 1 ", 65) + "float_data: 1", "rank of tensor \"x\": got 65, want at most 64"},
      {"dims: 2 dims: -1", "dimension of a shape, want at least 0 (got -1, want at least 0)"},
      {"dims: 2 segment { begin: 1 end: 3 } float_data: [1, 2]",
       "Invalid chunk 1 3 with total tensor size 2 of tensor \"x\""},
      {"dims: 2 segment { begin: -1 end: 1 } float_data: [1, 2]",
       "Invalid chunk -1 1 with total tensor size 2 of tensor \"x\""},
      {"dims: 2 segment { begin: 2 end: 1 }",
       "Invalid chunk 2 1 with total tensor size 2 of tensor \"x\""},
      {"dims: 1 storage_type: EXTERNAL",
       "tensor \"x\" keeps its data in another file (storage_type EXTERNAL), which is not read"},
      {"dims: 1 float_data: 1 external_data { record_id: 'f' }",
       "tensor \"x\" keeps its data in another file (storage_type EXTERNAL), which is not read"},
      {"dims: 1 data_type: INT32 data_format: 1 raw_data: 'ab'",
       "tensor \"x\" of type int32 has data_format FMT_BFLOAT16, which only FLOAT may have"},
      {"dims: 2 data_format: 1 raw_data: 'abc'",
       "Incorrect proto field size. Tensor \"x\" of type float has 3 bytes of raw_data, want 4"},
      {"dims: 1 data_format: 2 float_data: 1", "data_format of tensor \"x\": got 2, want 0"},
      {"dims: 1 data_type: STRING raw_data: 'a'",
       "tensor \"x\" of type string has raw_data, want its typed field"},
      {"dims: 1 data_type: STRING storage_type: RAW",
       "tensor \"x\" of type string has raw_data, want its typed field"},
      {"dims: 3 float_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type float has 2 elements, want 3"},
      {"dims: 3 segment { begin: 1 end: 3 } float_data: [1, 2, 3]",
       "Incorrect proto field size. Tensor \"x\" of type float has 3 elements, want 2"},
      {"dims: 2 raw_data: 'abcd'",
       "Incorrect proto field size. Tensor \"x\" of type float has 4 bytes, want 8"},
      {"dims: 2 storage_type: RAW float_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type float has 0 bytes, want 8"},
      {"dims: 2 data_type: BYTE byte_data: 'abc'",
       "Incorrect proto field size. Tensor \"x\" of type BYTE has 3 bytes, want 2"},
      {"dims: 2 data_type: BYTE int32_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type BYTE has 0 bytes, want 2"},
      {"dims: 2 data_type: INT16 byte_data: 'abc'",
       "Incorrect proto field size. Tensor \"x\" of type int16 has 3 bytes, want 4"},
      {"dims: 2 data_type: DOUBLE float_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type double has 0 elements, want 2"},
      {"dims: 2 data_type: INT64 int32_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type int64 has 0 elements, want 2"},
      {"dims: 2 data_type: UINT32 int32_data: [1, 2]",
       "Incorrect proto field size. Tensor \"x\" of type uint32 has 0 elements, want 2"},
      {"dims: 2 data_type: UNDEFINED",
       "Incorrect proto field size. Tensor \"x\" of type UNDEFINED has 0 elements, want 2"},
      {"dims: 1 data_type: ZERO_COLLISION_HASH int32_data: 1",
       "data type 14 of a TensorProto has no element type"},
  };
  for (const auto& row : rows) ExpectRefusals({{[&] { ReadTensor(row.fields); }, row.want}});
  EXPECT_EQ(ReadTensor(Repeated("dims: 1 ", 64) + "float_data: 1").dim(), 64);
  // The data of a tensor that has none are not read, wherever they are.
  EXPECT_EQ(ReadTensor("dims: 3 storage_type: NO_CONTENT").numel(), 3);
  EXPECT_EQ(ReadTensor("dims: 2 segment { begin: 2 end: 2 }").numel(), 2);
  EXPECT_EQ(ReadTensor("dims: 0").numel(), 0);
}

TEST(BlobRefusalsTest, ARejectedRecordLeavesTheTensorAsItWas) {
  Blob blob = BlobOf(Floats({1, 2}));
  const void* const memory = blob.Get<Tensor>().raw_data();
  for (const char* const fields :
       {"dims: 3 float_data: [1, 2]", "dims: 2 segment { begin: 1 end: 3 } float_data: [7, 8]",
        "dims: 2 data_type: INT32 float_data: [7, 8]", "dims: 1 data_format: 2 float_data: 7"}) {
    EXPECT_THROW(
        DeserializeBlob(Parse(MakeString("type: 'Tensor' tensor { ", fields, " }")), &blob),
        EnforceNotMet);
    EXPECT_EQ(blob.Get<Tensor>().dims(), std::vector<int64_t>{2});
    EXPECT_EQ(blob.Get<Tensor>().raw_data(), memory);
    EXPECT_EQ(blob.Get<Tensor>().data<float>()[1], 2);
  }
}

TEST(BlobRefusalsTest, OfTensorsOfObjects) {
  const auto read = [](const std::vector<BlobProto>& elements) {
    BlobProto outer = Parse("name: 'x' type: 'Tensor' tensor { name: 'x' data_type: UNDEFINED }");
    outer.mutable_tensor()->add_dims(static_cast<int64_t>(elements.size()));
    for (const BlobProto& element : elements)
      outer.mutable_tensor()->add_string_data(element.SerializeAsString());
    Blob blob;
    DeserializeBlob(outer, &blob);
  };
  const BlobProto text = Parse("type: 'std::string' content: 'a'");
  const BlobProto tensor = Parse("type: 'Tensor' tensor { dims: 1 float_data: 1 }");
  const BlobProto number = Parse("type: 'blob_refusals_test_number'");
  BlobProto reader = Parse("name: 'r' type: 'DBReader'");
  DBReaderProto state;
  state.set_name("r");
  state.set_source("f");
  state.set_db_type("minidb");
  reader.set_content(state.SerializeAsString());
  ExpectRefusals({
      {[&] {
         read({text, tensor});
       },
       MakeString("tensor \"x\" has elements of type ", TypeMeta::Name<Tensor>(), " and ",
                  TypeMeta::Name<std::string>())},
      {[&] { read({number}); },
       "tensor \"x\" has elements of type int32, which cannot be tensor elements"},
      {[&] { read({reader}); },
       "a net may not read \"f\": nets may not access any file; an element of a tensor cannot be a "
       "DBReader"},
  });
  read({text, text});
  TensorProto objects;
  objects.set_name("x");
  objects.set_data_type(TensorProto::UNDEFINED);
  objects.add_dims(0);
  Tensor elsewhere(IDEEP);
  ExpectRefusals({{[&] { TensorDeserializer().Deserialize(objects, &elsewhere); },
                   "tensor \"x\" has objects as elements, want it on the CPU"}});
}

// Eight records within each other may be read, and as many again after an error.
TEST(BlobRefusalsTest, OfRecordsWithinRecords) {
  const auto nested = [](int records) {
    BlobProto proto = Parse("type: 'std::string' content: 'x'");
    for (int i = 1; i < records; ++i) {
      BlobProto outer = Parse("type: 'Tensor' tensor { dims: 1 data_type: UNDEFINED }");
      outer.mutable_tensor()->add_string_data(proto.SerializeAsString());
      proto = outer;
    }
    return proto;
  };
  for (int run = 0; run < 2; ++run) {
    Blob blob;
    ExpectRefusals({{[&] { DeserializeBlob(nested(9), &blob); },
                     "blobs within blobs in a record: got 8, want less than 8"}});
    DeserializeBlob(nested(8), &blob);
    EXPECT_EQ(SerializeBlob(blob, "").empty(), false);
  }
}

TEST(BlobRefusalsTest, OfRecords) {
  Blob blob;
  Tensor tensor(CPU);
  const std::string no_type =
      "No registered deserializer for type \"Pair\": blob \"p\" cannot be read; known types: ";
  ExpectRefusals({
      {[&] { DeserializeBlob(std::string("\xff"), &blob); },
       "Cannot parse content into a BlobProto: 1 byte"},
      {[&] { DeserializeBlob(std::string(1500, '\xff'), &blob); },
       "Cannot parse content into a BlobProto: 1.5 KiB"},
      {[&] { DeserializeBlob(Parse("name: 'r' type: 'DBReader' content: '\\377'"), &blob); },
       "Cannot parse content into a DBReaderProto: blob \"r\""},
      {[&] { DeserializeBlob(Parse("name: 'x' type: 'TensorCPU'"), &blob); },
       "blob \"x\" of type TensorCPU has no tensor in its record"},
      {[&] { DeserializeBlob(BlobProto(), nullptr); }, "argument blob of DeserializeBlob is null"},
      {[&] { TensorDeserializer().Deserialize(BlobProto(), static_cast<Blob*>(nullptr)); },
       "argument blob of Deserialize is null"},
      {[&] { TensorDeserializer().Deserialize(TensorProto(), static_cast<Tensor*>(nullptr)); },
       "argument tensor of Deserialize is null"},
  });
  EXPECT_TRUE(MessageOf([&] {
                DeserializeBlob(Parse("name: 'p' type: 'Pair'"), &blob);
              }).starts_with(no_type));
  EXPECT_TRUE(blob.IsEmpty());
  for (const char* const type : {"Tensor", "TensorCPU", "TensorCUDA"}) {
    DeserializeBlob(Parse(MakeString("type: '", type, "' tensor { dims: 1 float_data: 4 }")),
                    &blob);
    EXPECT_EQ(blob.Get<Tensor>().data<float>()[0], 4);
  }
  EXPECT_EQ(BlobNameFromKey("a#%0"), "a");
  EXPECT_EQ(BlobNameFromKey("a#b%c#%12#%3"), "a#b%c");
  EXPECT_EQ(BlobNameFromKey("a"), "a");
}

TEST(BlobRefusalsTest, OfWhatIsWritten) {
  const auto accept = [](const std::string&, const std::string&) {};
  Blob number, pair, shapeless, typeless;
  *number.GetMutable<int>() = 1;
  pair.GetMutable<Pair>();
  shapeless.GetMutableTensor(CPU);
  typeless.GetMutableTensor(CPU)->Resize(2);
  const Tensor two = Floats({1, 2});
  TensorProto proto;
  TensorSerializer serializer;
  const TypeMeta meta = TypeMeta::Make<Tensor>();
  const std::string unwritten =
      "cannot serialize tensor \"b\": it has no shape or no element type, nothing has been written "
      "to it";
  uint8_t byte = 0;
  Tensor large(std::vector<int64_t>{int64_t{INT32_MAX} + 1}, CPU);
  large.ShareExternalPointer(&byte);  // its elements are not read
  const Blob large_blob = BlobOf(large);
  ExpectRefusals({
      {[&] { SerializeBlob(Blob(), "b"); }, "cannot serialize blob \"b\": it is empty"},
      {[&] { SerializeBlob(pair, "b", nullptr); }, "argument acceptor of SerializeBlob is null"},
      {[&] { SerializeBlob(number, "b"); },
       "No known serializer for int32: blob \"b\" cannot be written"},
      {[&] { SerializeBlob(pair, "b"); }, "blob \"b\" has more than one record, want one"},
      {[&] { SerializeBlob(shapeless, "b"); }, unwritten},
      {[&] { SerializeBlob(typeless, "b"); }, unwritten},
      {[&] { serializer.Serialize(nullptr, meta, "b", accept); },
       "argument object of Serialize is null"},
      {[&] { serializer.Serialize(&two, meta, "b", nullptr); },
       "argument acceptor of Serialize is null"},
      {[&] { serializer.Serialize(number, "b", accept); },
       "blob \"b\" has type int32, want a Tensor"},
      {[&] { serializer.Serialize(two, "b", nullptr, 0, 0); },
       "argument proto of Serialize is null"},
      {[&] { serializer.Serialize(typeless.Get<Tensor>(), "b", &proto, 0, 0); }, unwritten},
      {[&] { serializer.Serialize(two, "b", &proto, 3, 1); },
       "chunk of tensor \"b\" begins at 3, want at most its size 2"},
      {[&] { SerializeBlob(large_blob, "b"); },
       "elements in one record of tensor \"b\", set a smaller chunk_size: got 2147483648, want at "
       "most 2147483647"},
      {[&] { serializer.Serialize(large, "b", &proto, 0, 0); },
       "elements in one record of tensor \"b\": got 2147483648, want at most 2147483647"},
  });
  serializer.Serialize(two, "b", &proto, 2, 1);
  EXPECT_EQ(proto.float_data_size(), 0);
  EXPECT_EQ(proto.segment().begin(), 2);
  EXPECT_EQ(proto.segment().end(), 2);
  serializer.Serialize(two, "b", &proto, 1, 7);
  EXPECT_EQ(proto.float_data_size(), 1);
  EXPECT_EQ(proto.float_data(0), 2);
}

TEST(BlobRefusalsTest, OfQuantizedTensors) {
  const BlobProto good = Parse(
      "name: 'q' type: 'Int8TensorCPU' qtensor { dims: 2 precision: 8 scale: 0.5 bias: 7 "
      "is_signed: "
      "false data: [0, 255] name: 'q' data_type: UINT8 }");
  const std::string bias = "bias (zero point) of quantized tensor \"q\" is ";
  const struct {
    std::function<void(QTensorProto*)> change;
    std::string want;
  } rows[] = {
      {[](QTensorProto* q) { q->set_precision(4); },
       "precision of quantized tensor \"q\": got 4, want 8"},
      {[](QTensorProto* q) { q->set_is_signed(true); },
       "quantized tensor \"q\" is signed or has several scales, want unsigned elements and one "
       "scale"},
      {[](QTensorProto* q) { q->set_is_multiparam(true); },
       "quantized tensor \"q\" is signed or has several scales, want unsigned elements and one "
       "scale"},
      {[](QTensorProto* q) { q->set_scale(INFINITY); },
       "scale of quantized tensor \"q\" is inf, want a finite number"},
      {[](QTensorProto* q) { q->set_bias(0.5); }, bias + "0.5, want an integer of 32 bits"},
      {[](QTensorProto* q) { q->set_bias(2147483648.0); },
       bias + "2.14748e+09, want an integer of 32 bits"},
      {[](QTensorProto* q) { q->set_bias(-2147483649.0); },
       bias + "-2.14748e+09, want an integer of 32 bits"},
      {[](QTensorProto* q) { q->set_bias(NAN); }, bias + "nan, want an integer of 32 bits"},
      {[](QTensorProto* q) { q->set_dims(0, 3); },
       "elements of the shape of quantized tensor \"q\", want as many as in its field data (got 3, "
       "want 2)"},
      {[](QTensorProto* q) { q->set_data_type(TensorProto::INT8); },
       "quantized tensor \"q\" has elements of type INT8, want UINT8 or INT32"},
      {[](QTensorProto* q) { q->set_data(1, 256); },
       "quantized tensor \"q\" of type UINT8 has elements outside 0 to 255"},
      {[](QTensorProto* q) { q->set_data(0, -1); },
       "quantized tensor \"q\" of type UINT8 has elements outside 0 to 255"},
  };
  Blob blob;
  *blob.GetMutable<std::string>() = "as it was";
  for (const auto& row : rows) {
    BlobProto bad = good;
    row.change(bad.mutable_qtensor());
    ExpectRefusals({{[&] { DeserializeBlob(bad, &blob); }, row.want}});
    EXPECT_EQ(blob.Get<std::string>(), "as it was");
  }
  ExpectRefusals({{[&] { DeserializeBlob(Parse("name: 'q' type: 'Int8TensorCPU'"), &blob); },
                   "blob \"q\" of type Int8TensorCPU has no field qtensor"}});
  for (const int32_t zero : {INT_MIN, -1, INT_MAX}) {
    BlobProto limit = good;
    limit.mutable_qtensor()->set_bias(zero);
    DeserializeBlob(limit, &blob);
    const auto& value = blob.Get<Int8TensorCPU>();
    EXPECT_EQ(value.zero_point, zero);
    EXPECT_EQ(value.scale, 0.5f);
    EXPECT_EQ(value.t.data<uint8_t>()[0], 0);
    EXPECT_EQ(value.t.data<uint8_t>()[1], 255);
  }
  BlobProto wide = good;
  wide.mutable_qtensor()->set_data_type(TensorProto::INT32);
  wide.mutable_qtensor()->set_data(0, -1);
  DeserializeBlob(wide, &blob);
  EXPECT_EQ(blob.Get<Int8TensorCPU>().t.data<int32_t>()[0], -1);
  EXPECT_EQ(blob.Get<Int8TensorCPU>().t.data<int32_t>()[1], 255);

  Blob unwritten, floats;
  unwritten.GetMutable<Int8TensorCPU>();
  floats.GetMutable<Int8TensorCPU>()->t = Floats({1});
  ExpectRefusals({
      {[&] { SerializeBlob(unwritten, "q"); },
       "cannot serialize tensor \"q\": it has no shape or no element type, nothing has been "
       "written "
       "to it"},
      {[&] { SerializeBlob(floats, "q"); },
       "quantized tensor \"q\" has elements of type float, want uint8 or int32"},
  });
}

}  // namespace
}  // namespace caffe2rt::test::blob_refusals_test
