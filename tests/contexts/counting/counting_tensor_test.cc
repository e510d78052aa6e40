// Tensors and serialized records of the counting device.
#include <gtest/gtest.h>

#include "caffe2_core/io/blob_serialization.h"
#include "tests/contexts/counting/counting_context.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::counting_tensor_test {
namespace {

CountingCounts Counts() { return CountingDevice::Get(0).counts(); }

TEST(CountingTensorTest, WaitsForTheCopyOfWhatWasReadOnly) {
  Tensor tensor(Tensor({4}, CPU), kCounting);
  tensor.mutable_data<float>();
  tensor.MarkReadOnly();
  const CountingCounts before = Counts();
  tensor.mutable_data<float>();
  EXPECT_EQ(Counts().copies_same_device, before.copies_same_device + 1);
  EXPECT_EQ(Counts().waits, before.waits + 1);
}

TEST(CountingSerializationTest, TensorComesBackOnTheVeryDevice) {
  CountingDevice::SetCurrent(1);
  Blob blob;
  Tensor host({2}, CPU);
  host.mutable_data<float>()[1] = 3;
  blob.GetMutableTensor(kCounting)->CopyFrom(host);
  CountingDevice::SetCurrent(0);
  const std::string record = SerializeBlob(blob, "w");
  Blob read;
  DeserializeBlob(record, &read);
  EXPECT_EQ(CountingDevice::Of(read.Get<Tensor>().raw_data()), 1);
  EXPECT_EQ(CountingDevice::Current(), 0);
  EXPECT_EQ(Tensor(read.Get<Tensor>(), CPU).data<float>()[1], 3.f);
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  proto.mutable_tensor()->mutable_device_detail()->set_device_id(7);
  ExpectThrows([&] { DeserializeBlob(proto, &read); }, "counting device 7");
  EXPECT_EQ(CountingDevice::Current(), 0);
}

TEST(CountingSerializationTest, ChunkedTensorComesBackOnTheDevice) {
  Tensor host({1000}, CPU);
  for (int i = 0; i < 1000; ++i) host.mutable_data<float>()[i] = static_cast<float>(i) / 8;
  Blob blob;
  blob.GetMutableTensor(kCounting)->CopyFrom(host);
  std::vector<std::string> records;
  SerializeBlob(
      blob, "w", [&](const std::string&, const std::string& record) { records.push_back(record); },
      300);
  ASSERT_EQ(records.size(), 4u);
  Blob read;
  for (const std::string& record : records) {
    BlobProto proto;
    ASSERT_TRUE(proto.ParseFromString(record));
    EXPECT_EQ(proto.tensor().device_detail().device_type(), 20);
    EXPECT_TRUE(proto.tensor().device_detail().has_device_id());
    EXPECT_EQ(proto.tensor().device_detail().device_id(), 0);
    DeserializeBlob(record, &read);
  }
  ASSERT_TRUE(read.IsTensor(kCounting));
  const Tensor back(read.Get<Tensor>(), CPU);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(back.data<float>()[i], static_cast<float>(i) / 8);
}

}  // namespace
}  // namespace caffe2rt::test::counting_tensor_test
