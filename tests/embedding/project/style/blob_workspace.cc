// Blobs and workspaces.
#include "caffe2/core/blob.h"
#include "caffe2/core/blob_serialization.h"
#include "caffe2/core/workspace.h"
#include "test.h"

using namespace caffe2;  // NOLINT: as users write

static Workspace global_workspace;

STYLE_TEST(BlobsGiveTensorsInEveryWrittenForm) {
  Workspace ws;
  auto* t = ws.CreateBlob("x")->GetMutable<caffe2::TensorCPU>();
  t->Resize(1, 3);
  t->mutable_data<float>()[0] = 1;
  auto& r = *ws.CreateBlob("x")->GetMutable<caffe2::TensorCPU>();
  const auto& y = ws.GetBlob("x")->Get<caffe2::TensorCPU>();
  STYLE_EXPECT(&r == &y && y.data<float>()[0] == 1);
  auto copy = ws.GetBlob("x")->Get<TensorCPU>();
  STYLE_EXPECT(copy.data<float>() == ws.GetBlob("x")->Get<TensorCPU>().data<float>());
  Tensor* u = BlobGetMutableTensor(ws.CreateBlob("x"), DeviceType::CPU);
  u->CopyFrom(TensorCPUFromValues<float>({2}, std::vector<float>{4, 5}));
  STYLE_EXPECT(BlobGetTensor(*ws.GetBlob("x"), CPU).data<float>()[1] == 5);
  Tensor cpu(ws.GetBlob("x")->Get<Tensor>(), CPU);
  STYLE_EXPECT(cpu.numel() == 2);
  STYLE_EXPECT(BlobIsTensorType(*ws.GetBlob("x"), CPU));
  BlobSetTensor(ws.CreateBlob("z"), std::move(cpu));
  BlobGetMutableTensor(ws.CreateBlob("d"), {2, 3}, at::dtype<float>().device(CPU));
  STYLE_EXPECT(ws.GetBlob("d")->Get<Tensor>().nbytes() == 24);
}

STYLE_TEST(BlobsHoldAnything) {
  Blob blob;
  blob.Reset(new std::vector<int>(3));
  STYLE_EXPECT(blob.Get<std::vector<int>>().size() == 3);
  STYLE_EXPECT(!blob.IsType<TensorCPU>());
  STYLE_EXPECT(std::string(blob.meta().name()).find("vector") != std::string::npos);
  STYLE_EXPECT(blob.meta().id() == TypeMeta::Id<std::vector<int>>());
  *blob.GetMutable<string>() = "text";
  const string bytes = SerializeBlob(blob, "b");
  Blob back;
  DeserializeBlob(bytes, &back);
  STYLE_EXPECT(back.Get<string>() == "text");
  STYLE_EXPECT(blob.Serialize("b") == bytes);
  bool threw = false;
  try {
    blob.Get<int>();
  } catch (const std::exception&) {
    threw = true;
  }
  STYLE_EXPECT(threw);
}

STYLE_TEST(WorkspacesHaveRootsAndParents) {
  std::unique_ptr<Workspace> w(new Workspace("root"));
  STYLE_EXPECT(w->RootFolder() == "root");
  w->CreateBlob("a");
  Workspace child(w.get());
  for (const string& n : child.Blobs()) STYLE_EXPECT(child.GetBlob(n) != nullptr);
  STYLE_EXPECT(child.HasBlob("a") && child.LocalBlobs().empty());
  child.CreateLocalBlob("a");
  STYLE_EXPECT(child.RemoveBlob("a") && child.HasBlob("a"));
  const char* name = "g";
  global_workspace.CreateBlob(name);
  STYLE_EXPECT(global_workspace.Blobs().size() == 1);
}
