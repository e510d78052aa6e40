// Nets and predictors of sources in which Tensor is a template over the context.
#include "../style/test.h"
#include "caffe2/core/init.h"
#include "caffe2/core/net.h"
#include "caffe2/core/predictor.h"
#include "caffe2/observers/time_observer.h"
#include "caffe2/proto/metanet.pb.h"
#include "caffe2/utils/proto_utils.h"

using namespace caffe2;  // NOLINT: as users write

namespace {
NetDef InitNet() {
  NetDef net;
  net.set_name("init");
  *net.add_op() = CreateOperatorDef(
      "ConstantFill", "", std::vector<string>{}, {"w"},
      {MakeArgument<std::vector<int>>("shape", {2}), MakeArgument<float>("value", 3)});
  return net;
}
NetDef PredictNet() {
  NetDef net;
  net.set_name("predict");
  net.add_external_input("x");
  net.add_external_input("w");
  net.add_external_output("y");
  *net.add_op() = CreateOperatorDef("Mul", "", {"x", "w"}, {"y"});
  return net;
}
MetaNetDef MetaNet() {
  MetaNetDef meta;
  auto* init = meta.add_nets();
  init->set_key("GLOBAL_INIT_NET_TYPE");
  *init->mutable_value() = InitNet();
  auto* predict = meta.add_nets();
  predict->set_key("PREDICT_NET_TYPE");
  *predict->mutable_value() = PredictNet();
  auto* inputs = meta.add_blobs();
  inputs->set_key("INPUTS_BLOB_TYPE");
  inputs->add_value("x");
  auto* outputs = meta.add_blobs();
  outputs->set_key("OUTPUTS_BLOB_TYPE");
  outputs->add_value("y");
  return meta;
}
}  // namespace

STYLE_TEST(TemplatedPredictorsRunOnPointers) {
  caffe2::Predictor predictor(InitNet(), PredictNet());
  TensorCPU input;
  input.Resize(std::vector<int>({2}));
  input.mutable_data<float>()[0] = 2;
  input.mutable_data<float>()[1] = 4;
  caffe2::Predictor::TensorVector inputVec({&input}), outputVec;
  STYLE_EXPECT(predictor.run(inputVec, &outputVec));
  TensorCPU& out = *(outputVec[0]);
  STYLE_EXPECT(out.data<float>()[0] == 6 && outputVec.front()->data<float>()[1] == 12);
  for (auto* tensor : outputVec) STYLE_EXPECT(tensor->dims() == (std::vector<TIndex>{2}));
  auto* heap = new Predictor::TensorVector({&input});
  STYLE_EXPECT(predictor.run(*heap, &outputVec) && outputVec.size() == 1);
  delete heap;
  STYLE_EXPECT(predictor.ws()->GetNet(predictor.def().name()) != nullptr);
}

STYLE_TEST(TemplatedPredictorsAcceptMapsOfPointers) {
  Workspace parent;
  Predictor predictor(MetaNet(), &parent);
  Predictor with_flag(MetaNet(), &parent, true);
  TensorCPU input;
  Predictor::TensorMap named{{"x", &input}};
  input.Resize(2);
  input.mutable_data<float>()[0] = 1;
  input.mutable_data<float>()[1] = 5;
  Predictor::TensorVector out;
  STYLE_EXPECT(predictor.run_map(named, &out) && out[0]->data<float>()[1] == 15);
  Predictor::TensorMap results;
  STYLE_EXPECT(with_flag.run_map_outputs(named, &results));
  STYLE_EXPECT(results["y"]->data<float>()[0] == 3);
}

STYLE_TEST(TemplatedNetsRunInAWorkspace) {
  Workspace workspace("tmp");
  STYLE_EXPECT(workspace.RunNetOnce(InitNet()));
  auto* x = workspace.CreateBlob("x")->GetMutable<TensorCPU>();
  x->Resize(2);
  x->mutable_data<float>()[0] = x->mutable_data<float>()[1] = 2;
  CAFFE_ENFORCE(workspace.CreateNet(PredictNet()));
  CAFFE_ENFORCE(workspace.RunNet(PredictNet().name()));
  STYLE_EXPECT(workspace.GetBlob("y")->Get<TensorCPU>().data<float>()[0] == 6);
  auto net = caffe2::CreateNet(PredictNet(), &workspace);
  auto* observer = static_cast<const TimeObserver<NetBase>*>(
      net->AttachObserver(make_unique<TimeObserver<NetBase>>(net.get())));
  net->Run();
  STYLE_EXPECT(observer->average_time() > 0);
}
