// Workspaces, their blobs and nets, in sources in which Tensor is a template over the context.
#include "caffe2/core/workspace.h"

#include "../style/test.h"
#include "caffe2/core/predictor.h"
#include "caffe2/utils/proto_utils.h"

using namespace caffe2;  // NOLINT: as users write

static Workspace global_workspace;

namespace {
NetDef DoubleNet() {
  NetDef net;
  net.set_name("double");
  net.add_external_input("x");
  net.add_external_output("y");
  *net.add_op() = CreateOperatorDef("Add", "", {"x", "x"}, {"y"});
  return net;
}

void FeedX(Workspace* ws, float value) {
  auto* t = ws->CreateBlob("x")->GetMutable<caffe2::TensorCPU>();
  t->Resize(1, 3);
  for (int i = 0; i < t->size(); ++i) t->mutable_data<float>()[i] = value + i;
}
}  // namespace

STYLE_TEST(TemplatedTensorsAreReachedThroughBlobs) {
  FeedX(&global_workspace, 1);
  auto& t = *global_workspace.CreateBlob("x")->GetMutable<caffe2::TensorCPU>();
  const auto& y = global_workspace.GetBlob("x")->Get<caffe2::TensorCPU>();
  STYLE_EXPECT(&t == &y && y.data<float>()[2] == 3);
  auto copy = global_workspace.GetBlob("x")->Get<TensorCPU>();
  STYLE_EXPECT(copy.data<float>() == y.data<float>());
}

STYLE_TEST(BlobsOfTemplatedSourcesHoldAnything) {
  Blob blob;
  blob.Reset(new std::vector<int>(3));
  STYLE_EXPECT(blob.Get<std::vector<int>>().size() == 3 && !blob.IsType<TensorCPU>());
  STYLE_EXPECT(std::string(blob.meta().name()).find("vector") != std::string::npos);
}

STYLE_TEST(TemplatedWorkspacesHaveRootsAndParents) {
  std::unique_ptr<Workspace> w(new Workspace("root"));
  w->CreateBlob("a");
  Workspace child(w.get());
  int count = 0;
  for (const string& n : child.Blobs()) count += child.GetBlob(n) != nullptr;
  STYLE_EXPECT(count == 1 && w->RootFolder() == "root");
}

STYLE_TEST(TemplatedNetsRunInEveryWrittenForm) {
  Workspace ws;
  FeedX(&ws, 2);
  const NetDef def = DoubleNet();
  NetBase* net = ws.CreateNet(def, true);
  STYLE_EXPECT(net->Run());
  const auto& y = ws.GetBlob("y")->Get<TensorCPU>();
  STYLE_EXPECT(y.data<float>()[0] == 4 && y.data<float>()[2] == 8);
  FeedX(&ws, 5);
  auto own = caffe2::CreateNet(def, &ws);
  STYLE_EXPECT(own->Run() && y.data<float>()[1] == 12);
  FeedX(&ws, 0);
  STYLE_EXPECT(ws.RunNet(def.name()) && y.data<float>()[1] == 2);
  FeedX(&ws, 3);
  STYLE_EXPECT(ws.RunNetOnce(def) && y.data<float>()[0] == 6);
}

STYLE_TEST(TemplatedPredictorsMayShareAWorkspace) {
  Workspace ws;
  static caffe2::Predictor* g = new caffe2::Predictor(NetDef(), DoubleNet(), &ws);
  STYLE_EXPECT(g->ws()->GetNet(g->def().name()) != nullptr);
  TensorCPU t({3}, std::vector<float>{1, 2, 3}, nullptr);
  Predictor::TensorVector in({&t}), out;
  STYLE_EXPECT(g->run(in, &out) && out[0]->data<float>()[2] == 6);
  delete g;
}

STYLE_TEST(DeviceOptionsOfTemplatedSourcesHaveOneId) {
  OperatorDef op;
  op.mutable_device_option()->set_device_type(caffe2::CUDA);
  DeviceOption opt;
  opt.set_device_type((int)caffe2::DeviceType::CPU);
  opt.set_cuda_gpu_id(3);
  STYLE_EXPECT(opt.device_id() == 3 && op.device_option().device_type() == caffe2::CUDA);
}
