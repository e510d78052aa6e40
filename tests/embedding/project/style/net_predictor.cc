// Nets and predictors.
#include "caffe2/core/net.h"
#include "caffe2/core/predictor.h"
#include "caffe2/observers/time_observer.h"
#include "caffe2/predictor/predictor_utils.h"
#include "test.h"

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
struct Derived : Predictor {
  using Predictor::Predictor;
};
}  // namespace

STYLE_TEST(PredictorsRunOnPointers) {
  Predictor p(InitNet(), PredictNet());
  TensorCPU t;
  t.Resize(2);
  t.mutable_data<float>()[0] = 2;
  t.mutable_data<float>()[1] = 4;
  Predictor::TensorVector in({&t}), out;
  STYLE_EXPECT(p.run(in, &out));
  TensorCPU& o = *(out[0]);
  STYLE_EXPECT(o.data<float>()[0] == 6 && out.front()->data<float>()[1] == 12);
  auto* heap = new Predictor::TensorVector({&t});
  STYLE_EXPECT(p.run(*heap, &out) && out.size() == 1);
  delete heap;
  STYLE_EXPECT(p.def().name() == "predict" && p.ws()->GetNet(p.def().name()) != nullptr);
}

STYLE_TEST(PredictorsRunOnValues) {
  Workspace ws;
  static Predictor* p = new Predictor(InitNet(), PredictNet(), &ws);
  Tensor t = TensorCPUFromValues<float>({2}, std::vector<float>{1, 2});
  Predictor::TensorList in{t};
  Predictor::TensorList out;
  STYLE_EXPECT((*p)(in, &out) && out[0].data<float>()[1] == 6);
  STYLE_EXPECT(p->operator()(in, &out));
  Predictor::TensorMap named, results;
  named.emplace("x", t);
  STYLE_EXPECT((*p)(named, &results) && results.at("y").data<float>()[0] == 3);
  delete p;
  Derived derived(InitNet(), PredictNet());
  STYLE_EXPECT(derived(in, &out));
  Predictor configured(makePredictorConfig(InitNet(), PredictNet()));
  STYLE_EXPECT(configured(in, &out) && out[0].data<float>()[0] == 3);
}

STYLE_TEST(PredictorsAcceptMapsOfPointersToo) {
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
  Workspace ws;
  Predictor p(meta, &ws, true);
  TensorCPU t;
  Predictor::TensorMap named{{"x", &t}}, results;  // filled before the tensor is
  t.Resize(2);
  t.mutable_data<float>()[0] = 1;
  t.mutable_data<float>()[1] = 4;
  Predictor::TensorVector out;
  STYLE_EXPECT(p.run_map(named, &out) && out[0]->data<float>()[1] == 12);
  STYLE_EXPECT(p.run_map_outputs(named, &results) && results["y"]->data<float>()[0] == 3);
  TensorCPU* y = results["y"];
  STYLE_EXPECT(y->data<float>()[1] == 12);
  // With the weights given, the init net need not run.
  STYLE_EXPECT(ws.RunNetOnce(InitNet()));
  Predictor without_init(meta, &ws, false);
  STYLE_EXPECT(without_init.run_map(named, &out) && out[0]->data<float>()[0] == 3);
}

STYLE_TEST(PredictorsMayOpenFiles) {
  NetDef net = PredictNet();
  *net.add_op() = CreateOperatorDef(
      "DBExists", "", std::vector<string>{}, {"exists"},
      {MakeArgument<string>("db_type", "minidb"), MakeArgument<string>("db_name", "nowhere")});
  net.add_external_output("exists");
  Predictor p(InitNet(), net);
  Tensor t = TensorCPUFromValues<float>({2}, std::vector<float>{1, 2});
  Predictor::TensorList out;
  STYLE_EXPECT(p(Predictor::TensorList{t}, &out) && out.size() == 2 && !out[1].data<bool>()[0]);
}

STYLE_TEST(NetsAreMadeByWorkspacesAndAlone) {
  Workspace ws;
  STYLE_EXPECT(ws.RunNetOnce(InitNet()));
  BlobSetTensor(ws.CreateBlob("x"), TensorCPUFromValues<float>({2}, std::vector<float>{1, 2}));
  NetDef def = PredictNet();
  NetBase* net = ws.CreateNet(def, true);
  STYLE_EXPECT(net->Run());
  auto own = caffe2::CreateNet(def, &ws);
  STYLE_EXPECT(own->Run() && own->GetOperators().size() == 1);
  STYLE_EXPECT(ws.RunNet(def.name()) && ws.GetNet("predict") == net);
  STYLE_EXPECT(ws.RunOperatorOnce(def.op(0)));
  auto shared = std::make_shared<NetDef>(def);
  STYLE_EXPECT(ws.CreateNet(shared, true) != nullptr);
  ws.DeleteNet(def.name());
  auto* observer = static_cast<const caffe2::TimeObserver*>(
      own->AttachObserver(caffe2::make_unique<caffe2::TimeObserver>(own.get())));
  own->Run();
  STYLE_EXPECT(observer->average_time() > 0);
}
