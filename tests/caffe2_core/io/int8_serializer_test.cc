#include "caffe2_core/io/int8_serializer.h"

#include <climits>
#include <cmath>

#include "caffe2_core/model/predictor.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::int8_serializer_test {
namespace {

using test::ExpectThrows;

template <class T>
Blob Quantized(const std::vector<T>& values, float scale, int zero_point) {
  Blob blob;
  auto* value = blob.GetMutable<Int8TensorCPU>();
  value->scale = scale;
  value->zero_point = zero_point;
  value->t.Resize(static_cast<int64_t>(values.size()), 1);
  std::copy(values.begin(), values.end(), value->t.mutable_data<T>());
  return blob;
}

BlobProto RecordOf(const Blob& blob) {
  BlobProto proto;
  EXPECT_TRUE(proto.ParseFromString(SerializeBlob(blob, "q")));
  return proto;
}

// The record that Caffe2 writes.
TEST(Int8SerializerTest, WritesTheFieldsOfTheOriginal) {
  const BlobProto proto = RecordOf(Quantized<uint8_t>({0, 1, 255}, 0.5f, 7));
  EXPECT_EQ(proto.ShortDebugString(),
            "name: \"q\" type: \"Int8TensorCPU\" qtensor { dims: 3 dims: 1 precision: 8 scale: 0.5 "
            "bias: 7 is_signed: false data: 0 data: 1 data: 255 name: \"q\" data_type: UINT8 }");
  EXPECT_EQ(RecordOf(Quantized<int32_t>({-2, 70000}, 0.25f, 0)).qtensor().ShortDebugString(),
            "dims: 2 dims: 1 precision: 8 scale: 0.25 bias: 0 is_signed: false data: -2 "
            "data: 70000 name: \"q\" data_type: INT32");
}

TEST(Int8SerializerTest, ReadsWhatItWrites) {
  Blob blob;
  DeserializeBlob(SerializeBlob(Quantized<uint8_t>({0, 1, 255}, 0.05f, 7), "q"), &blob);
  const auto& bytes = blob.Get<Int8TensorCPU>();
  EXPECT_EQ(bytes.scale, 0.05f);
  EXPECT_EQ(bytes.zero_point, 7);
  EXPECT_EQ(bytes.t.dims(), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(bytes.t.data<uint8_t>()[2], 255);
  DeserializeBlob(SerializeBlob(Quantized<int32_t>({-2, 70000}, 0.05f, 0), "q"), &blob);
  EXPECT_EQ(blob.Get<Int8TensorCPU>().t.data<int32_t>()[1], 70000);
  DeserializeBlob(SerializeBlob(Quantized<uint8_t>({}, 1, 0), "q"), &blob);
  EXPECT_EQ(blob.Get<Int8TensorCPU>().t.numel(), 0);
}

TEST(Int8SerializerTest, KeepsEveryZeroPointAndScale) {
  for (const int zero_point : {INT_MIN, -129, -1, 0, 1, 128, 255, 256, INT_MAX}) {
    for (const float scale : {-0.5f, 0.0f, 1e-30f, 0.1f, 3e30f}) {
      Blob blob;
      DeserializeBlob(SerializeBlob(Quantized<uint8_t>({3}, scale, zero_point), "q"), &blob);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().zero_point, zero_point);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().scale, scale);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().t.data<uint8_t>()[0], 3);
      DeserializeBlob(SerializeBlob(Quantized<int32_t>({-3}, scale, zero_point), "q"), &blob);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().zero_point, zero_point);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().scale, scale);
      EXPECT_EQ(blob.Get<Int8TensorCPU>().t.data<int32_t>()[0], -3);
    }
  }
}

TEST(Int8SerializerTest, RejectsRecordsThatDescribeNoQuantizedTensor) {
  const BlobProto good = RecordOf(Quantized<uint8_t>({1, 2}, 0.5f, 7));
  const auto expect_throws = [&](const std::function<void(QTensorProto*)>& change,
                                 const std::string& part) {
    BlobProto bad = good;
    change(bad.mutable_qtensor());
    Blob blob;
    ExpectThrows([&] { DeserializeBlob(bad, &blob); }, part);
    EXPECT_TRUE(blob.IsEmpty());
  };
  expect_throws([](QTensorProto* q) { q->set_dims(0, 3); }, "as many as in its field data");
  expect_throws([](QTensorProto* q) { q->set_dims(0, -2); }, "dimension of a shape");
  expect_throws(
      [](QTensorProto* q) {
        q->set_dims(0, INT64_MAX);
        q->set_dims(1, 4);
      },
      "overflow");
  expect_throws([](QTensorProto* q) { q->set_precision(4); }, "precision of quantized tensor");
  expect_throws([](QTensorProto* q) { q->set_is_signed(true); }, "want unsigned elements");
  expect_throws([](QTensorProto* q) { q->set_is_multiparam(true); }, "and one scale");
  expect_throws([](QTensorProto* q) { q->set_scale(NAN); }, "want a finite number");
  for (const double bias : {0.5, 1e10, -1e10, static_cast<double>(NAN)}) {
    expect_throws([&](QTensorProto* q) { q->set_bias(bias); }, "want an integer of 32 bits");
  }
  expect_throws([](QTensorProto* q) { q->set_data(0, 256); }, "elements outside 0 to 255");
  expect_throws([](QTensorProto* q) { q->set_data(0, -1); }, "elements outside 0 to 255");
  expect_throws([](QTensorProto* q) { q->set_data_type(TensorProto::FLOAT); },
                "want UINT8 or INT32");
  BlobProto bad = good;
  bad.clear_qtensor();
  Blob blob;
  ExpectThrows([&] { DeserializeBlob(bad, &blob); }, "has no field qtensor");
}

TEST(Int8SerializerTest, RejectsUnwrittenTensors) {
  Blob blob;
  blob.GetMutable<Int8TensorCPU>();
  ExpectThrows([&] { SerializeBlob(blob, "q"); }, "nothing has been written to it");
  auto* value = blob.GetMutable<Int8TensorCPU>();
  value->t.Resize(1);
  *value->t.mutable_data<float>() = 1;
  ExpectThrows([&] { SerializeBlob(blob, "q"); }, "want uint8 or int32");
}

// Instances of a predictor share quantized weights, and a net that writes one gets its own copy.
TEST(Int8TensorTest, PredictorsShareWeightsThatNetsDoNotWrite) {
  const NetDef init = test::ParseNet(R"(
    op { type: "Int8GivenTensorFill" output: "W" arg { name: "shape" ints: 2 }
         arg { name: "values" s: "AB" } arg { name: "Y_scale" f: 0.5 } })");
  const NetDef net = test::ParseNet(R"(
    external_input: "W" external_output: "Y"
    op { type: "Int8Sum" input: "W" input: "W" output: "W"
         arg { name: "Y_scale" f: 0.5 } }
    op { type: "Int8Dequantize" input: "W" output: "Y" })");
  Predictor predictor(init, net);
  for (const float scale : {1.0f, 2.0f}) {
    Predictor::TensorMap outputs;
    ASSERT_TRUE(predictor(Predictor::TensorMap(), &outputs));
    EXPECT_EQ(outputs.at("Y").data<float>()[0], std::min(65 * scale, 127.5f));
    EXPECT_EQ(outputs.at("Y").data<float>()[1], std::min(66 * scale, 127.5f));
  }
}

}  // namespace
}  // namespace caffe2rt::int8_serializer_test
