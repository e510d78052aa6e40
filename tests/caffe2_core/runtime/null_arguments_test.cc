// A null pointer passed to a public function of the core that needs an object causes an error that
// names the argument, never a crash.
#include <gtest/gtest.h>

#include "caffe2_core/executors/simple_net.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/device_fallback.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/graph/net_summary.h"
#include "caffe2_core/graph/shape_inference.h"
#include "caffe2_core/inspect/shape_inference_workspace.h"
#include "caffe2_core/inspect/time_observer.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/io/proto_text.h"
#include "caffe2_core/model/device_placement.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/plan/plan_executor.h"
#include "caffe2_core/runtime/init.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::null_arguments_test {
namespace {

const char kNet[] = R"(name: "n" op { type: "Relu" input: "x" output: "y" } external_input: "x")";
const char kFill[] = R"(type: "ConstantFill" output: "y" arg { name: "shape" ints: 1 })";

TEST(NullArgumentsTest, OfNetsAndOperators) {
  Workspace* const no_workspace = nullptr;
  const std::shared_ptr<const NetDef> no_def;
  Workspace ws;
  ExpectThrows([&] { CreateNet(ParseNet(kNet), no_workspace); },
               "argument ws of CreateNet is null");
  ExpectThrows([&] { CreateNet(no_def, &ws); }, "argument def of a net is null");
  ExpectThrows([&] { NewSimpleNet(no_def, &ws); }, "argument def of a net is null");
  ExpectThrows([&] { NewSimpleNet(std::make_shared<NetDef>(ParseNet(kNet)), no_workspace); },
               "argument ws of CreateOperator is null");
  ExpectThrows([&] { ws.CreateNet(no_def); }, "argument def of CreateNet is null");
  ExpectThrows([&] { CreateOperator(ParseOp(kFill), no_workspace); },
               "argument ws of CreateOperator is null");
  ExpectThrows([&] { CreateOperator(ParseOp(kFill), no_workspace, 3); },
               "argument ws of CreateOperator is null");
  ExpectThrows([&] { AddGlobalNetObserverCreator(nullptr); }, "argument creator");
  ExpectThrows([&] { TimeObserver observer(nullptr); }, "argument net of TimeObserver is null");
  ExpectThrows([&] { RunCountNetObserver observer(nullptr); },
               "argument net of RunCountNetObserver is null");
}

TEST(NullArgumentsTest, OfPlansAndProcesses) {
  PlanDef plan;
  *plan.add_network() = ParseNet(kNet);
  plan.add_execution_step()->add_network("n");
  ExpectThrows([&] { RunPlanOnWorkspace(nullptr, plan, [](int) { return true; }); },
               "argument ws of RunPlanOnWorkspace is null");
  int argc = 1;
  char** argv = nullptr;
  ExpectThrows([&] { GlobalInit(nullptr, &argv); }, "argument argc or argv");
  ExpectThrows([&] { GlobalInit(&argc, nullptr); }, "argument argc or argv");
  ExpectThrows([&] { GlobalInit(&argc, &argv); }, "argument argc or argv");
}

TEST(NullArgumentsTest, OfAPredictor) {
  Predictor predictor(NetDef(), ParseNet(kNet));
  Tensor x(CPU);
  x.CopyFrom(std::vector<float>{1});
  const Predictor::TensorList list = {x};
  const Predictor::TensorMap map = {{"x", x}};
  const char want[] = "argument outputs of a predictor is null";
  ExpectThrows([&] { predictor(list, nullptr); }, want);
  ExpectThrows([&] { predictor(map, static_cast<Predictor::TensorList*>(nullptr)); }, want);
  ExpectThrows([&] { predictor(map, static_cast<Predictor::TensorMap*>(nullptr)); }, want);
  ExpectThrows([&] { predictor.run({&x}, nullptr); }, want);
  ExpectThrows([&] { predictor.run_map(Predictor::TensorPointerMap{{"x", &x}}, nullptr); }, want);
  ExpectThrows([&] { predictor.run_map(map, nullptr); }, want);
  Predictor::TensorVector outputs;
  ExpectThrows([&] { predictor.run({nullptr}, &outputs); }, "input 0 is null");
  Predictor::TensorList results;
  ASSERT_TRUE(predictor(list, &results));  // the predictor remains usable
  EXPECT_EQ(results[0].data<float>()[0], 1);
}

TEST(NullArgumentsTest, OfFunctionsOnNets) {
  DeviceOption cpu;
  ShapeMap shapes;
  ExpectThrows([&] { FallBackToCPU(nullptr); }, "argument net of FallBackToCPU is null");
  ExpectThrows([&] { NameNet(nullptr, "n"); }, "argument net of NameNet is null");
  ExpectThrows([&] { FindDatabases(nullptr, ".", "."); }, "argument net of FindDatabases is null");
  ExpectThrows([&] { PlaceNet(nullptr, cpu); }, "argument net of PlaceNet is null");
  ExpectThrows([&] { ParseDevice("cuda:0", nullptr); }, "argument device");
  ExpectThrows([&] { GetMutableArgument("a", true, static_cast<NetDef*>(nullptr)); },
               "argument def of GetMutableArgument is null");
  ExpectThrows([&] { InferBlobShapesAndTypes({nullptr}, &shapes); }, "has a null net at 0");
  ExpectThrows([&] { InferBlobShapesAndTypes({}, nullptr); }, "argument shapes");
  ExpectThrows([&] { InferOpShapes({nullptr}, &shapes); }, "has a null net at 0");
  ExpectThrows([&] { InferBlobShapesAndTypesFromMap({}, {nullptr}); }, "has a null net at 0");
  ExpectThrows([&] { SummarizeNet({nullptr}, NetDef(), {}, {}); }, "has a null net at 0");
  ExpectThrows([&] { InferBlobShapesAndTypesFromWorkspace(nullptr, {}); }, "argument ws");
}

TEST(NullArgumentsTest, OfReadersOfProtos) {
  const TempDir dir;
  const std::string file = dir.Write("net.pbtxt", kNet);
  google::protobuf::Message* const none = nullptr;
  const char want[] = "argument proto, which receives the message read, is null";
  ExpectThrows([&] { LoadProto(file, none); }, want);
  ExpectThrows([&] { ParseProto(kNet, "x", none); }, want);
  ExpectThrows([&] { ParseTextProto(kNet, "x", none); }, want);
  ExpectThrows([&] { ParseBinaryProto("", "x", none); }, want);
  ExpectThrows([&] { ParseProtoFromText(kNet, none); }, want);
  ExpectThrows([&] { ParseProtoFromLargeString("", none); }, want);
  ExpectThrows([&] { ReadProtoFromFile(file, none); }, want);
  ExpectThrows([&] { ReadProtoFromTextFile(file, none); }, want);
  ExpectThrows([&] { ReadProtoFromBinaryFile(file, none); }, want);
  NetDef net;
  std::string bytes;
  const char* const no_path = nullptr;
  ExpectThrows([&] { ReadProtoFromFile(no_path, &net); }, "argument path");
  ExpectThrows([&] { ReadStringFromFile(no_path, &bytes); }, "argument path");
  ExpectThrows([&] { ReadStringFromFile(file.c_str(), nullptr); }, "argument bytes");
  ExpectThrows([&] { WriteStringToFile("", no_path); }, "argument path");
  TextError error;
  ExpectThrows([&] { ParseText("", none, &error); }, "argument proto of ParseText is null");
  ExpectThrows([&] { ParseText("", &net, nullptr); }, "argument error of ParseText is null");
}

TEST(NullArgumentsTest, OfBlobsAndTheirRecords) {
  Tensor tensor(CPU);
  tensor.CopyFrom(std::vector<float>{1});
  Blob blob;
  BlobSetTensor(&blob, Tensor(tensor));
  const std::string record = blob.Serialize("x");
  BlobProto proto;
  ASSERT_TRUE(proto.ParseFromString(record));
  const TypeMeta meta = TypeMeta::Make<Tensor>();
  ExpectThrows([&] { DeserializeBlob(record, nullptr); },
               "argument blob of DeserializeBlob is null");
  ExpectThrows([&] { DeserializeBlob(proto, nullptr); },
               "argument blob of DeserializeBlob is null");
  ExpectThrows([&] { TensorDeserializer().Deserialize(proto, nullptr); }, "argument blob");
  ExpectThrows([&] { TensorDeserializer().Deserialize(proto.tensor(), nullptr); },
               "argument tensor of Deserialize is null");
  ExpectThrows([&] { SerializeBlob(nullptr, meta, "x"); }, "cannot serialize blob \"x\"");
  ExpectThrows([&] { blob.Serialize("x", nullptr); }, "argument acceptor of SerializeBlob is null");
  ExpectThrows([&] { TensorSerializer().Serialize(&tensor, meta, "x", nullptr); },
               "argument acceptor of Serialize is null");
  ExpectThrows([&] { TensorSerializer().Serialize(nullptr, meta, "x", [](auto&, auto&) {}); },
               "argument object of Serialize is null");
  ExpectThrows([&] { TensorSerializer().Serialize(tensor, "x", nullptr, 0, 0); },
               "argument proto of Serialize is null");
  ExpectThrows([&] { BlobSetTensor(nullptr, Tensor(CPU)); },
               "argument blob of BlobSetTensor is null");
  ExpectThrows([&] { BlobGetMutableTensor(nullptr, CPU); },
               "argument blob of BlobGetMutableTensor is null");
  ExpectThrows([&] { AddArgument("k", 1, nullptr); }, "argument def of AddArgument is null");
  ExpectThrows([] { db::DBReader reader(nullptr); }, "a DBReader needs a database");
  db::DBReader reader;
  std::string value;
  ExpectThrows([&] { reader.Read(nullptr, &value); }, "argument key or value");
  ExpectThrows([&] { reader.Read(&value, nullptr); }, "argument key or value");
  int side = 0;
  const Image image{.width = 1, .height = 1, .rgb = {1, 2, 3}};
  ExpectThrows([&] { ResizedSize(image, 1, nullptr, &side); }, "argument width or height");
  ExpectThrows([&] { ResizedSize(image, 1, &side, nullptr); }, "argument width or height");
}

TEST(NullArgumentsTest, OfAWorkspaceMeanNoParent) {
  Workspace ws(nullptr);
  EXPECT_EQ(ws.shared(), nullptr);
  ExpectThrows([&] { ws.AddBlobMapping(nullptr, {}); }, "another workspace");
  EXPECT_TRUE(ws.RunOperatorOnce(ParseOp(kFill)));
}

}  // namespace
}  // namespace caffe2rt::test::null_arguments_test
