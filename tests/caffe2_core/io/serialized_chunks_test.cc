// Every element type in chunks of many sizes: the keys, shapes, segments and fields of the records,
// and what is read back from them in any order.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/bfloat16.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/data_type.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::serialized_chunks_test {
namespace {

struct KeyedRecord {
  std::string key;
  BlobProto proto;
};

std::vector<KeyedRecord> RecordsOf(const Blob& blob, int chunk_size) {
  std::vector<KeyedRecord> records;
  SerializeBlob(
      blob, "x",
      [&](const std::string& key, const std::string& bytes) {
        EXPECT_TRUE(records.emplace_back(KeyedRecord{key, {}}).proto.ParseFromString(bytes));
      },
      chunk_size);
  return records;
}

// The fields that have elements, and how many.
std::string FieldsOf(const TensorProto& proto) {
  std::string text;
  const auto add = [&](const char* name, size_t count) {
    if (count > 0) text += MakeString(name, ":", count, " ");
  };
  add("float", static_cast<size_t>(proto.float_data_size()));
  add("double", static_cast<size_t>(proto.double_data_size()));
  add("int32", static_cast<size_t>(proto.int32_data_size()));
  add("int64", static_cast<size_t>(proto.int64_data_size()));
  add("string", static_cast<size_t>(proto.string_data_size()));
  add("bytes", proto.byte_data().size());
  return text;
}

class SerializedChunksTest : public ::testing::Test {
 protected:
  ~SerializedChunksTest() override { GlobalSerializationSettings() = saved_; }

  // `field` is the name of the field, with `each` units for an element.
  template <class T>
  void Check(const std::vector<T>& values, const std::string& field, size_t each = 1) {
    const TypeMeta type = TypeMeta::Make<T>();
    const auto n = static_cast<int64_t>(values.size());
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{n}, {1, n, 1}, {n, 1, 1, 1, 1}}) {
      Blob blob;
      Tensor* const tensor = blob.GetMutable<Tensor>();
      tensor->Resize(dims);
      std::copy(values.begin(), values.end(), tensor->mutable_data<T>());
      for (const int chunk : {1, 2, 3, static_cast<int>(n) - 1, static_cast<int>(n),
                              static_cast<int>(n) + 1, kNoChunking, kDefaultChunkSize}) {
        SCOPED_TRACE(MakeString(type.name(), " ", IntArrayRef(dims), " by ", chunk));
        const std::vector<KeyedRecord> records = RecordsOf(blob, chunk);
        const int64_t step = chunk > 0 ? chunk : n;
        ASSERT_EQ(static_cast<int64_t>(records.size()), (n + step - 1) / step);
        for (size_t i = 0; i < records.size(); ++i) {
          const auto& [key, proto] = records[i];
          const int64_t begin = static_cast<int64_t>(i) * step, end = std::min(n, begin + step);
          EXPECT_EQ(key, MakeString("x#%", i));
          EXPECT_EQ(BlobNameFromKey(key), "x");
          EXPECT_EQ(proto.name(), "x");
          EXPECT_EQ(proto.type(), "Tensor");
          EXPECT_EQ(proto.tensor().name(), "x");
          EXPECT_EQ(proto.tensor().data_type(), TypeMetaToDataType(type));
          const auto& got = proto.tensor().dims();
          EXPECT_EQ(std::vector<int64_t>(got.begin(), got.end()), dims);
          EXPECT_EQ(proto.tensor().segment().begin(), begin);
          EXPECT_EQ(proto.tensor().segment().end(), end);
          EXPECT_EQ(FieldsOf(proto.tensor()),
                    MakeString(field, ":", static_cast<size_t>(end - begin) * each, " "));
        }
        ExpectReadBack(records, *tensor);
      }
    }
  }

  // Reads the records backwards, over what a blob held before.
  static void ExpectReadBack(const std::vector<KeyedRecord>& records, const Tensor& want) {
    Blob read;
    read.GetMutable<Tensor>()->Resize(3);
    read.GetMutable<Tensor>()->mutable_data<int16_t>()[0] = 7;
    for (auto record = records.rbegin(); record != records.rend(); ++record)
      DeserializeBlob(record->proto, &read);
    const Tensor& got = read.Get<Tensor>();
    ASSERT_EQ(got.dims(), want.dims());
    ASSERT_EQ(got.dtype(), want.dtype());
    if (got.IsType<std::string>()) {
      for (int64_t i = 0; i < got.numel(); ++i)
        EXPECT_EQ(got.data<std::string>()[i], want.data<std::string>()[i]);
    } else {
      EXPECT_EQ(std::memcmp(got.raw_data(), want.raw_data(), want.nbytes()), 0);
    }
  }

 private:
  const SerializationSettings saved_ = GlobalSerializationSettings();
};

template <class T>
std::vector<T> Extremes() {
  using Limits = std::numeric_limits<T>;
  return {T(0), T(1), Limits::lowest(), Limits::max(), T(Limits::max() / 2), T(77), T(100)};
}

TEST_F(SerializedChunksTest, NumbersAreInTheFieldOfTheirType) {
  Check<float>({0, -0.0f, 1.5f, INFINITY, -INFINITY, 1e-45f, 3e38f}, "float");
  Check<double>({0, -0.0, 0.1, INFINITY, 5e-324, 1e308, -7}, "double");
  Check<int32_t>(Extremes<int32_t>(), "int32");
  Check<int64_t>(Extremes<int64_t>(), "int64");
  Check<uint32_t>(Extremes<uint32_t>(), "int64");
  Check<uint64_t>(Extremes<uint64_t>(), "int64");
  Check<std::string>({"", "a", std::string(3, '\0'), "\xff\xfe", std::string(300, 'b'), "c", ""},
                     "string");
  std::vector<bfloat16> bits;
  for (const float value : {0.0f, -0.0f, 1.0f, -3.5f, INFINITY, 1e30f, 0.125f})
    bits.push_back(bfloat16(value));
  Check<bfloat16>(bits, "int32");
}

TEST_F(SerializedChunksTest, SmallNumbersAreInIntegersOrBytes) {
  const std::vector<float16> halves = {float16(0.0f),      float16(-0.0f),    float16(1.0f),
                                       float16(-65504.0f), float16(INFINITY), float16(6e-8f),
                                       float16(0.1f)};
  for (const bool as_bytes : {false, true}) {
    SerializationSettings& settings = GlobalSerializationSettings();
    settings.small_integers_as_bytes = as_bytes;
    settings.fp16_as_bytes = false;
    const char* const field = as_bytes ? "bytes" : "int32";
    Check<int8_t>(Extremes<int8_t>(), field);
    Check<uint8_t>(Extremes<uint8_t>(), field);
    Check<int16_t>(Extremes<int16_t>(), field, as_bytes ? 2 : 1);
    Check<uint16_t>(Extremes<uint16_t>(), field, as_bytes ? 2 : 1);
    Check<float16>(halves, "int32");  // has a setting of its own
    settings.small_integers_as_bytes = !as_bytes;
    settings.fp16_as_bytes = as_bytes;
    Check<float16>(halves, field, as_bytes ? 2 : 1);
  }
}

TEST_F(SerializedChunksTest, BooleansAreInIntegersOrBytes) {
  for (const bool as_bytes : {false, true}) {
    GlobalSerializationSettings().small_integers_as_bytes = as_bytes;
    Blob blob;
    Tensor* const tensor = blob.GetMutable<Tensor>();
    tensor->Resize(5);
    for (int i = 0; i < 5; ++i) tensor->mutable_data<bool>()[i] = i % 3 != 1;
    const std::vector<KeyedRecord> records = RecordsOf(blob, 2);
    ASSERT_EQ(records.size(), 3u);
    EXPECT_EQ(FieldsOf(records[2].proto.tensor()), as_bytes ? "bytes:1 " : "int32:1 ");
    ExpectReadBack(records, *tensor);
  }
}

TEST_F(SerializedChunksTest, EmptyTensorsAndScalarsAreOneRecord) {
  for (const int chunk : {1, 5, kNoChunking, kDefaultChunkSize}) {
    Blob scalar, empty;
    scalar.GetMutable<Tensor>()->Resize();
    scalar.GetMutable<Tensor>()->mutable_data<double>()[0] = 2.5;
    empty.GetMutable<Tensor>()->Resize(4, 0, 2);
    empty.GetMutable<Tensor>()->mutable_data<int64_t>();
    for (const Blob* const blob : {&scalar, &empty}) {
      const std::vector<KeyedRecord> records = RecordsOf(*blob, chunk);
      ASSERT_EQ(records.size(), 1u);
      EXPECT_EQ(records[0].key, "x#%0");
      EXPECT_EQ(records[0].proto.tensor().segment().begin(), 0);
      EXPECT_EQ(records[0].proto.tensor().segment().end(), blob == &scalar ? 1 : 0);
      EXPECT_EQ(FieldsOf(records[0].proto.tensor()), blob == &scalar ? "double:1 " : "");
      ExpectReadBack(records, blob->Get<Tensor>());
    }
  }
}

TEST_F(SerializedChunksTest, TheSettingIsTheDefaultChunkSize) {
  Blob blob;
  blob.GetMutable<Tensor>()->Resize(10);
  blob.GetMutable<Tensor>()->mutable_data<float>();
  GlobalSerializationSettings().tensor_chunk_size = 4;
  EXPECT_EQ(RecordsOf(blob, kDefaultChunkSize).size(), 3u);
  EXPECT_EQ(RecordsOf(blob, kNoChunking).size(), 1u);
  EXPECT_EQ(RecordsOf(blob, 5).size(), 2u);
  BlobProto whole;
  ASSERT_TRUE(whole.ParseFromString(SerializeBlob(blob, "x")));  // one record, whatever is set
  EXPECT_EQ(whole.tensor().float_data_size(), 10);
}

// Elements outside of a segment stay as they are, while the shape stays.
TEST_F(SerializedChunksTest, PartsFillTheirPlacesOnly) {
  TensorProto part;
  part.set_data_type(TensorProto::INT32);
  part.add_dims(5);
  part.mutable_segment()->set_begin(1);
  part.mutable_segment()->set_end(3);
  part.add_int32_data(8);
  part.add_int32_data(9);
  Tensor tensor(std::vector<int64_t>{5}, CPU);
  for (int i = 0; i < 5; ++i) tensor.mutable_data<int32_t>()[i] = i;
  TensorDeserializer().Deserialize(part, &tensor);
  EXPECT_EQ(std::vector<int32_t>(tensor.data<int32_t>(), tensor.data<int32_t>() + 5),
            (std::vector<int32_t>{0, 8, 9, 3, 4}));
  for (const auto& [begin, end] :
       {std::pair(-1, 1), std::pair(4, 6), std::pair(3, 1), std::pair(5, 7)}) {
    part.mutable_segment()->set_begin(begin);
    part.mutable_segment()->set_end(end);
    EXPECT_THROW(TensorDeserializer().Deserialize(part, &tensor), EnforceNotMet) << begin;
  }
  part.mutable_segment()->set_begin(5);
  part.mutable_segment()->set_end(5);
  part.clear_int32_data();
  TensorDeserializer().Deserialize(part, &tensor);  // nothing, at the end
  EXPECT_EQ(tensor.data<int32_t>()[4], 4);
}

// No size, or less, is the whole rest.
TEST_F(SerializedChunksTest, APartEndsWhereTheTensorEnds) {
  Tensor tensor(std::vector<int64_t>{5}, CPU);
  for (int i = 0; i < 5; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  const struct {
    size_t begin;
    int32_t chunk_size;
    int64_t end;
  } rows[] = {{0, 0, 5}, {0, -1, 5}, {2, -7, 5}, {2, 0, 5}, {2, 2, 4},
              {2, 3, 5}, {2, 4, 5},  {5, 0, 5},  {5, 1, 5}, {0, 1, 1}};
  for (const auto& row : rows) {
    TensorProto proto;
    TensorSerializer().Serialize(tensor, "x", &proto, row.begin, row.chunk_size);
    EXPECT_EQ(proto.segment().begin(), static_cast<int64_t>(row.begin));
    EXPECT_EQ(proto.segment().end(), row.end) << row.begin << " " << row.chunk_size;
    ASSERT_EQ(proto.float_data_size(), row.end - static_cast<int64_t>(row.begin));
    for (int i = 0; i < proto.float_data_size(); ++i)
      EXPECT_EQ(proto.float_data(i), static_cast<float>(row.begin) + static_cast<float>(i));
  }
}

// The pointers of a deserializer are not handed out: memory that it wrote may be released.
TEST_F(SerializedChunksTest, TensorsThatAreReadMayBeReleased) {
  Blob blob;
  Tensor* const source = blob.GetMutableTensor(CPU);
  source->Resize(20000);
  std::fill_n(source->mutable_data<float>(), 20000, 2.f);
  Blob read;
  read.Deserialize(blob.Serialize("x"));
  Tensor tensor = read.Get<Tensor>();
  tensor.MarkReadOnly();
  tensor.storage()->forms().Get(
      "form", 1, [](void*) {},
      {.offset = 0, .nbytes = tensor.nbytes(), .restore = [](const void*, void* data) {
         std::fill_n(static_cast<float*>(data), 20000, 2.f);
       }});
  EXPECT_EQ(tensor.storage()->ReleaseData(), 80000u);
  EXPECT_EQ(tensor.data<float>()[19999], 2.f);
}

}  // namespace
}  // namespace caffe2rt::test::serialized_chunks_test
