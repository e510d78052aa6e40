// Tensors of a device with several numbers, written and read: the device and its number are kept, and
// the device that was current stays current.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "caffe2_core/device/context.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2rt/caffe2.pb.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::blob_device_test {
namespace {

constexpr auto kNumbered = static_cast<DeviceType>(16);
int g_current = 0;
int g_copied_on = -1, g_finished = 0;
std::map<void*, int> g_device_of;  // by address

class NumberedStatic final : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    void* const memory = std::calloc(nbytes == 0 ? 1 : nbytes, 1);
    g_device_of[memory] = g_current;
    return {memory, MemoryDeleter(&std::free)};
  }
  std::unique_ptr<BaseContext> CreateContext() override { return CreateContext(DeviceOption()); }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption& option) override;
  DeviceType GetDeviceType() override { return kNumbered; }
  void ExtractDeviceOption(DeviceOption* option, const void* data) override {
    option->set_device_type(kNumbered);
    const auto found = g_device_of.find(const_cast<void*>(data));
    option->set_device_id(found != g_device_of.end() ? found->second : g_current);
  }
};
NumberedStatic* TheNumbered() {
  static auto* const context = new NumberedStatic;
  return context;
}

class NumberedContext final : public BaseContext {
 public:
  explicit NumberedContext(const DeviceOption& option) : id_(option.device_id()) {}
  BaseStaticContext* GetStaticContext() const override { return TheNumbered(); }
  DeviceType device_type() const override { return kNumbered; }
  void SwitchToDevice(int) override { g_current = id_; }
  void WaitEvent(const Event&) override {}
  void Record(Event*, const char*) const override {}
  void FinishDeviceComputation() override { ++g_finished; }
  void CopyBytesSameDevice(size_t n, const void* src, void* dst) override {
    std::memcpy(dst, src, n);
  }
  void CopyBytesFromCPU(size_t n, const void* src, void* dst) override {
    g_copied_on = g_current;
    std::memcpy(dst, src, n);
  }
  void CopyBytesToCPU(size_t n, const void* src, void* dst) override { std::memcpy(dst, src, n); }

 private:
  const int id_;
};
std::unique_ptr<BaseContext> NumberedStatic::CreateContext(const DeviceOption& option) {
  return std::make_unique<NumberedContext>(option);
}
REGISTER_STATIC_CONTEXT(16, "NUMBERED", TheNumbered());

BlobProto RecordOf(const std::string& fields) {
  BlobProto proto;
  ParseTextProto("name: 'x' type: 'Tensor' tensor { name: 'x' " + fields + " }", "test", &proto);
  return proto;
}

TEST(BlobDeviceTest, ReadsATensorToTheDeviceThatItsRecordNames) {
  g_current = 1;
  g_finished = 0;
  Blob blob;
  DeserializeBlob(RecordOf("dims: 3 data_type: FLOAT float_data: [1, 2, 3] "
                           "device_detail { device_type: 16 device_id: 4 }"),
                  &blob);
  ASSERT_TRUE(blob.IsTensor(kNumbered));
  EXPECT_EQ(blob.Get<Tensor>().data<float>()[2], 3);
  EXPECT_EQ(g_device_of.at(blob.Get<Tensor>().storage()->data()), 4);
  EXPECT_EQ(g_copied_on, 4);
  EXPECT_EQ(g_current, 1);  // as before
  EXPECT_GT(g_finished, 0);
  // Without a number, the current one is used.
  DeserializeBlob(RecordOf("dims: 1 data_type: INT32 int32_data: 7 device_detail { device_type: 16 }"),
                  &blob);
  EXPECT_EQ(blob.Get<Tensor>().data<int32_t>()[0], 7);
  EXPECT_EQ(g_current, 1);
  EXPECT_EQ(TensorDeserializer()
                .Deserialize(RecordOf("dims: 1 float_data: 5 device_detail { device_type: 16 }")
                                 .tensor())
                .GetDeviceType(),
            kNumbered);
}

TEST(BlobDeviceTest, ReadsPartsToTheirPlaces) {
  g_current = 0;
  Blob blob;
  for (const char* part : {"float_data: [3, 4] segment { begin: 2 end: 4 }",
                           "float_data: [1, 2] segment { begin: 0 end: 2 }"}) {
    DeserializeBlob(RecordOf(MakeString("dims: 4 data_type: FLOAT device_detail { device_type: 16 "
                                        "device_id: 2 } ",
                                        part)),
                    &blob);
  }
  const float* const data = blob.Get<Tensor>().data<float>();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(data[i], static_cast<float>(i + 1));
  EXPECT_EQ(g_device_of.at(blob.Get<Tensor>().storage()->data()), 2);
  DeserializeBlob(RecordOf("dims: 0 data_type: FLOAT device_detail { device_type: 16 }"), &blob);
  EXPECT_EQ(blob.Get<Tensor>().numel(), 0);
}

// A tensor on this device may be read from a record of another one, whose number does not count.
TEST(BlobDeviceTest, NumbersOfOtherDevicesDoNotCount) {
  g_current = 3;
  Tensor tensor(kNumbered);
  TensorDeserializer().Deserialize(
      RecordOf("dims: 1 data_type: FLOAT float_data: 9 device_detail { device_type: 1 device_id: 5 }")
          .tensor(),
      &tensor);
  EXPECT_EQ(tensor.data<float>()[0], 9);
  EXPECT_EQ(g_device_of.at(tensor.storage()->data()), 3);
  EXPECT_EQ(g_current, 3);
}

TEST(BlobDeviceTest, TheDeviceBeforeIsCurrentAgainAfterAnError) {
  g_current = 1;
  Tensor tensor(kNumbered);
  EXPECT_THROW(TensorDeserializer().Deserialize(
                   RecordOf("dims: 1 data_type: STRING string_data: 'a' "
                            "device_detail { device_type: 16 device_id: 4 }")
                       .tensor(),
                   &tensor),
               EnforceNotMet);
  EXPECT_EQ(g_current, 1);
}

TEST(BlobDeviceTest, WritesTheDeviceAndItsNumber) {
  g_current = 6;
  Tensor tensor(std::vector<int64_t>{2}, kNumbered);
  float* const data = tensor.mutable_data<float>();
  data[0] = 1;
  data[1] = 2;
  g_current = 0;
  Blob blob;
  *blob.GetMutableTensor(kNumbered) = tensor;
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(blob, "x")));
  EXPECT_EQ(proto.tensor().device_detail().device_type(), 16);
  EXPECT_EQ(proto.tensor().device_detail().device_id(), 6);
  EXPECT_EQ(proto.tensor().float_data(1), 2);
  Tensor host(std::vector<int64_t>{1}, CPU);
  host.mutable_data<float>();
  *blob.GetMutableTensor(CPU) = host;
  ASSERT_TRUE(proto.ParseFromString(SerializeBlob(blob, "x")));
  EXPECT_TRUE(proto.tensor().device_detail().has_device_type());
  EXPECT_EQ(proto.tensor().device_detail().device_type(), 0);
}

TEST(BlobDeviceTest, UserDevicesThatAreMissingAreErrors) {
  Blob blob;
  for (const int type : {15, 17, 31}) {
    const auto read = [&] {
      DeserializeBlob(RecordOf(MakeString("dims: 1 float_data: 1 device_detail { device_type: ",
                                          type, " }")),
                      &blob);
    };
    if (type < kFirstUserDeviceType) {
      read();
      EXPECT_TRUE(blob.IsTensor(CPU)) << type;
    } else {
      EXPECT_THROW(read(), EnforceNotMet) << type;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::blob_device_test
