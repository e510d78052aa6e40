// Serializes CUDA tensors and reads them back.
#include "caffe2_core/io/blob_serialization.h"
#include "tests/contexts/cuda/nets/cuda_net_testing.h"

namespace caffe2rt::test::cuda_record_test {
namespace {

class CudaRecordTest : public CudaNetTest {};

std::string RecordOfDevice(int device) {
  CaffeCudaSetDevice(device);
  Workspace ws;
  FeedCuda(&ws, "w", {2}, {3, 4});
  CaffeCudaSetDevice(0);
  return SerializeBlob(*ws.GetBlob("w"), "w");
}

TEST_F(CudaRecordTest, NamesItsDeviceAndIsRestoredOnIt) {
  SKIP_BELOW_DEVICES(2);
  BlobProto proto;
  const std::string record = RecordOfDevice(1);
  ASSERT_TRUE(proto.ParseFromString(record));
  EXPECT_EQ(proto.type(), "Tensor");
  EXPECT_EQ(proto.tensor().device_detail().device_type(), 1);
  EXPECT_EQ(proto.tensor().device_detail().device_id(), 1);
  Blob blob;
  DeserializeBlob(record, &blob);
  ASSERT_TRUE(blob.IsTensor(CUDA));
  EXPECT_EQ(GetGPUIDForPointer(blob.Get<Tensor>().raw_data()), 1);
  EXPECT_EQ(Tensor(blob.Get<Tensor>(), CPU).data<float>()[1], 4.f);
}

TEST_F(CudaRecordTest, MissingDeviceIsAnError) {
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(RecordOfDevice(0)));
  proto.mutable_tensor()->mutable_device_detail()->set_device_id(63);
  Blob blob;
  ExpectThrows([&] { DeserializeBlob(proto, &blob); }, "63");
}

TEST_F(CudaRecordTest, SaveOnTheCpuReadsItAndLoadKeepsTheDeviceOnRequest) {
  SKIP_BELOW_DEVICES(2);
  TempDir dir;
  Workspace ws(dir.path());
  CaffeCudaSetDevice(1);
  FeedCuda(&ws, "w", {3}, {3, 4, 5});
  CaffeCudaSetDevice(0);
  RunOp(&ws, R"(type: "Save" input: "w" arg { name: "db" s: "made" }
                arg { name: "db_type" s: "minidb" } arg { name: "chunk_size" i: 2 })");
  const std::string load = R"(type: "Load" output: "w" arg { name: "db" s: "made" }
                              arg { name: "db_type" s: "minidb" })";
  Workspace kept(dir.path()), plain(dir.path());
  RunOp(&kept, load + R"( arg { name: "keep_device" i: 1 })");
  ASSERT_TRUE(kept.GetBlob("w")->IsTensor(CUDA));
  EXPECT_EQ(GetGPUIDForPointer(kept.GetBlob("w")->Get<Tensor>().raw_data()), 1);
  EXPECT_EQ(FetchCuda(kept, "w"), (std::vector<float>{3, 4, 5}));
  RunOp(&plain, load);
  ExpectTensor<float>(plain, "w", {3}, {3, 4, 5});
}

}  // namespace
}  // namespace caffe2rt::test::cuda_record_test
