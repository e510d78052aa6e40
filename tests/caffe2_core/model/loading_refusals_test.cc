// Whole errors of what is loaded, packed and prepared in a way that cannot be, and what is accepted
// beside it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "caffe2_core/graph/stated_inputs.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/file_kind.h"
#include "caffe2_core/model/caffe_model.h"
#include "caffe2_core/model/fetched_blobs.h"
#include "caffe2_core/model/given_values.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/packed_weights.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::loading_refusals_test {
namespace {

constexpr char kNet[] = R"(name: "n" external_input: "x" external_output: "y"
    op { type: "Relu" input: "x" output: "y" })";
constexpr char kCaffe[] =
    "layer { name: 'x' type: 'Input' top: 'x' input_param { shape { dim: 2 } } } "
    "layer { name: 'y' type: 'ReLU' bottom: 'x' top: 'y' }";

std::string OnnxModelBytes() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  model.mutable_graph()->set_name("g");
  model.mutable_graph()->add_input()->set_name("x");
  onnx::NodeProto* const node = model.mutable_graph()->add_node();
  node->set_op_type("Relu");
  node->add_input("x");
  node->add_output("y");
  model.mutable_graph()->add_output()->set_name("y");
  return model.SerializeAsString();
}

// Only inputs with a stated shape have dims, and only those of numbers alone a shape.
TEST(LoadedOnnxInputsTest, DimsAreThoseThatTheFileStates) {
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(OnnxModelBytes()));
  auto* const type = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  const auto load = [&] { return LoadModelFromMemory({}, proto.SerializeAsString()); };
  using Dims = std::map<std::string, std::vector<int64_t>>;
  EXPECT_EQ(load().input_dims, Dims());
  EXPECT_EQ(load().inputs, std::vector<std::string>{"x"});
  EXPECT_TRUE(load().input_shapes.empty());
  EXPECT_EQ(load().input_types.at("x"), TensorProto::FLOAT);
  (void)type->mutable_shape();
  EXPECT_EQ(load().input_dims, (Dims{{"x", {}}}));
  type->mutable_shape()->add_dim()->set_dim_param("n");
  type->mutable_shape()->add_dim()->set_dim_value(3);
  EXPECT_EQ(load().input_dims, (Dims{{"x", {-1, 3}}}));
  EXPECT_TRUE(load().input_shapes.empty());
  type->mutable_shape()->mutable_dim(0)->set_dim_value(2);
  EXPECT_EQ(load().input_dims, (Dims{{"x", {2, 3}}}));
  EXPECT_EQ(load().input_shapes.at("x"), (std::vector<int64_t>{2, 3}));
}

// The files that were read, and nets that have names of their own.
TEST(LoadedNetsTest, HaveFilesAndNames) {
  const TempDir dir;
  const std::string fill = "op { type: 'ConstantFill' output: 'w' }",
                    relu = "op { type: 'Relu' input: 'x' output: 'y' }";
  const std::string init = dir.Write("init.pbtxt", fill), predict = dir.Write("net.pbtxt", relu);
  const Model of_files = LoadModel({.init_nets = {init}, .predict_net = predict});
  EXPECT_EQ(std::set<std::string>(of_files.files.begin(), of_files.files.end()),
            (std::set<std::string>{init, predict}));
  EXPECT_EQ(of_files.files.size(), 2u);
  // Weights in a binary file are read in another way.
  const std::string weights = dir.Write(
      "init.pb", ParseNet("op { type: 'GivenTensorFill' output: 'w' arg { name: 'shape' ints: 1 } "
                          "arg { name: 'values' floats: 2 } }")
                     .SerializeAsString());
  const Model with_weights = LoadModel({.init_nets = {weights, init}, .predict_net = predict});
  EXPECT_EQ(std::set<std::string>(with_weights.files.begin(), with_weights.files.end()),
            (std::set<std::string>{weights, init, predict}));
  const Model in_memory = LoadModelFromMemory({fill, fill}, relu);
  EXPECT_TRUE(in_memory.files.empty());
  EXPECT_EQ(in_memory.predict_net.name(), "predict_net");
  ASSERT_EQ(in_memory.init_nets.size(), 2u);
  EXPECT_EQ(in_memory.init_nets[0].name(), "init_net");
  EXPECT_NE(in_memory.init_nets[1].name(), "");
  EXPECT_NE(in_memory.init_nets[1].name(), "init_net");
  const std::string named_fill = "name: 'a' " + fill;
  const Model named = LoadModelFromMemory({named_fill}, "name: 'a' " + relu);
  EXPECT_NE(named.init_nets[0].name(), named.predict_net.name());
}

// Files whose content says nothing count by their names.
TEST(LoadedCaffeFilesTest, NamesDecideOverUnknownContent) {
  const TempDir dir;
  for (const auto& [name, is_caffe] : {std::pair("a.caffemodel", true),
                                       {"a.solverstate", true},
                                       {"a.caffemodel.h5", false},
                                       {"a.pb", false},
                                       {"caffemodel", false}}) {
    EXPECT_EQ(IsCaffeNetFile(dir.Write(name, "\xff\xfe\x01 nothing")), is_caffe) << name;
  }
  EXPECT_TRUE(IsCaffeNetFile(dir.Write("a.txt", kCaffe)));
  EXPECT_FALSE(IsCaffeNetFile(dir.Write("b.caffemodel", kNet)));
}

class LoadingRefusalsTest : public testing::Test {
 protected:
  const TempDir dir_;
};

TEST_F(LoadingRefusalsTest, OfFilesThatDoNotGoTogether) {
  const std::string net = dir_.Write("net.pbtxt", kNet),
                    init = dir_.Write("init.pbtxt", "name: 'i'");
  const std::string caffe = dir_.Write("net.prototxt", kCaffe),
                    onnx = dir_.Write("m.onnx", OnnxModelBytes());
  const std::string pack = dir_.path("m.c2pack");
  {
    Model model = LoadModel({.predict_net = net});
    ModelPacker(model, Workspace()).Write(pack);
  }
  DeviceOption cuda, cpu;
  cuda.set_device_type(CUDA);
  cpu.set_device_type(CPU);
  ExpectRefusals({
      {[&] { LoadModel({.init_nets = {init}, .predict_net = caffe}); },
       "init_nets are given with Caffe's net \"" + caffe +
           "\"; its weights are in a caffemodel, want ModelFileOptions::weights"},
      {[&] { LoadModel({.init_nets = {init}, .predict_net = onnx}); },
       "init_nets or weights are given with the ONNX model \"" + onnx +
           "\", which has its weights"},
      {[&] { LoadModel({.predict_net = onnx, .weights = caffe}); },
       "init_nets or weights are given with the ONNX model \"" + onnx +
           "\", which has its weights"},
      {[&] { LoadModel({.predict_net = net, .weights = "w"}); },
       "weights \"w\" are given with \"" + net + "\", which is not a net of Caffe"},
      {[&] { LoadModel({.init_nets = {init}, .predict_net = pack}); },
       "init_nets are given with the packed model \"" + pack + "\", which has its weights"},
      {[&] { LoadModel({.predict_net = pack, .device = cuda}); },
       "packed model \"" + pack +
           "\" runs on the CPU only, got device CUDA; load the nets that it was packed from"},
      {[] { LoadModel({}); },
       "a model is loaded from predict_net or from predictor_db, want one of them, got \"\" and "
       "\"\""},
      {[&] { LoadModel({.predictor_db = onnx}); }, "cannot read \"" + onnx +
                                                       "\" as a database: it is " +
                                                       FileKindDescription(FileKind::kOnnxModel)},
      {[] {
         LoadModelFromMemory({"name: 'i'", "name: 'j'"}, OnnxModelBytes());
       },
       "2 init nets are given with a model of ONNX, which has its weights"},
      {[] { LoadModelFromMemory({}, kCaffe); },
       "cannot read \"predict net\" as NetDef: it is " + FileKindDescription(FileKind::kCaffeText) +
           "; load it with LoadCaffeModelFromMemory (caffe2rt_load_caffe_from_memory in C)"},
      {[] { LoadCaffeModelFromMemory("", "", {}); },
       "the net of Caffe in memory is empty, want the bytes of a prototxt"},
  });
  const std::string files = "the options of a model in memory name files, want none";
  ExpectRefusals({
      {[] { LoadModelFromMemory({}, kNet, {.init_nets = {"i"}}); }, files},
      {[] { LoadModelFromMemory({}, kNet, {.predict_net = "i"}); }, files},
      {[] { LoadModelFromMemory({}, kNet, {.weights = "i"}); }, files},
      {[] { LoadModelFromMemory({}, kNet, {.predictor_db = "i"}); }, files},
      {[] { LoadModelFromMemory({}, kNet, {.db_type = "i"}); }, files},
      {[] { LoadCaffeModelFromMemory(kCaffe, "", {.weights = "i"}); }, files},
  });
  EXPECT_NO_THROW(LoadModel({.predict_net = pack, .device = cpu}));
  EXPECT_NO_THROW(LoadModelFromMemory({}, OnnxModelBytes()));
}

TEST_F(LoadingRefusalsTest, OfNetsThatAreSwapped) {
  // The init net reads w, which the other one fills, and that one needs nothing.
  const std::string fills =
      dir_.Write("fills", R"(name: "fills" op { type: "ConstantFill" output: "w" })");
  const std::string reads =
      dir_.Write("reads", R"(name: "reads" op { type: "Relu" input: "w" output: "y" })");
  ExpectRefusals({{[&] { LoadModel({.init_nets = {reads}, .predict_net = fills}); },
                   "the init net and the predict net are swapped: init net \"" + reads +
                       "\" reads blob \"w\", which predict net \"" + fills + "\" fills"}});
  EXPECT_NO_THROW(LoadModel({.init_nets = {fills}, .predict_net = reads}));
  EXPECT_NO_THROW(LoadModel({.init_nets = {reads, fills}, .predict_net = fills}));
}

TEST_F(LoadingRefusalsTest, OfDatabases) {
  const auto write = [&](const std::string& name, const std::string& key,
                         const std::string& value) {
    const std::string path = dir_.path(name);
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put(key, value);
    transaction->Commit();
    return path;
  };
  const std::string key = "!!META_NET_DEF";
  Blob text, number;
  *text.GetMutable<std::string>() = "\xff no nets";
  const std::string broken = write("broken", key, "\xff"),
                    nets = write("nets", key, SerializeBlob(text, key));
  const std::string other = write("other", "k", "v");
  ExpectRefusals({
      {[&] { LoadMetaNetDef(broken, "minidb"); },
       "record \"" + key + "\" is not a blob that holds a string"},
      {[&] { LoadMetaNetDef(nets, "minidb"); }, "record \"" + key + "\" holds no MetaNetDef"},
      {[&] { LoadMetaNetDef(other, "minidb"); },
       "database \"" + other + "\" holds no predictor \"" + key + "\""},
      {[&] { LoadMetaNetDef(other, "minidb", "a"); },
       "database \"" + other + "\" holds no predictor \"" + key + "_a\""},
      {[&] { OpenParameterReader(other, "minidb", nullptr); },
       "argument ws of OpenParameterReader is null"},
      {[] { (void)GetNet(MetaNetDef(), "A"); }, "the MetaNetDef has no net \"A\"; it has: "},
  });
}

TEST_F(LoadingRefusalsTest, OfArguments) {
  Workspace ws;
  Feed<float>(&ws, "w", {2, 2}, {1, 2, 3, 4});
  const Tensor& w = ws.GetBlob("w")->Get<Tensor>();
  Tensor output(std::vector<int64_t>{3}, CPU), few(std::vector<int64_t>{2}, CPU);
  few.mutable_data<float>();
  const std::string null = "an argument of PreparedNet is null";
  ExpectRefusals({
      {[] { (void)WhyNotFetchable({nullptr}, "x", {}); },
       "argument nets of WhyNotFetchable has a null net"},
      {[] { RunInitNet(NetDef(), nullptr); },
       "argument ws of RunInitNet is null, want the workspace of its blobs"},
      {[] { NetMemory memory(nullptr, {}, nullptr); }, "argument net of NetMemory is null"},
      {[&] { (void)ReduceWeights(w, WeightStorage::kFull); },
       "argument to of ReduceWeights is kFull, want fewer bits"},
      {[&] { MoveGivenValues(Tensor(few), &output); },
       "elements given for an output of shape [3]: 2"},
      {[&] { PreparedNet net(std::shared_ptr<const NetDef>(), {}, nullptr, &ws); }, null},
      {[&] { PreparedNet net(NetDef(), {}, nullptr, nullptr); }, null},
      {[&] { ws.CreateNet(ParseNet(kNet), PreparationOptions{.threads = 1}, true); },
       "options threads and tuning are settings of the runs of a PreparedNet or Predictor; "
       "Workspace::CreateNet does "
       "not support them: PrepareNet and PreparedNet do"},
      {[] { Predictor p(NetDef(), ParseNet(kNet), nullptr, PredictorOptions{.max_instances = 0}); },
       "max_instances of a predictor is 0, want 1 to 1024"},
      {[] {
         Predictor p(NetDef(), ParseNet(kNet), nullptr, PredictorOptions{.max_instances = 1025});
       },
       "max_instances of a predictor is 1025, want 1 to 1024"},
      {[] { Predictor p(NetDef(), ParseNet(kNet), nullptr, PredictorOptions{.idle_arenas = -1}); },
       "idle_arenas of a predictor is -1, want 0 to 1024"},
      {[] {
         Predictor p(NetDef(), ParseNet(kNet), nullptr, PredictorOptions{.idle_arenas = 1025});
       },
       "idle_arenas of a predictor is 1025, want 0 to 1024"},
  });
  EXPECT_NO_THROW(Predictor(NetDef(), ParseNet(kNet), nullptr,
                            PredictorOptions{.max_instances = 1024, .idle_arenas = 1024}));
}

TEST_F(LoadingRefusalsTest, OfRunsWithoutAnEnd) {
  Workspace ws;
  Feed<float>(&ws, "x", {2}, {-1, 2});
  NetBase* const net = ws.CreateNet(ParseNet(
      R"(name: "n" op { type: "Relu" input: "x" output: "h" }
          op { type: "Abs" input: "h" output: "y" })"));
  NetMemory memory(net, {}, std::make_shared<ArenaStock>());
  memory.Begin();
  EXPECT_EQ(MessageOf([&] { memory.Begin(); }),
            "Begin of a net's memory without End of the run before");
  memory.End(false);
  EXPECT_TRUE(memory.Run());
  EXPECT_EQ(Fetch<float>(ws, "y"), (std::vector<float>{0, 2}));
}

TEST_F(LoadingRefusalsTest, OfPackedModels) {
  Model model = LoadModelFromMemory({}, kNet);
  Workspace ws;
  ModelPacker narrow(model, ws, WeightStorage::kFloat16);
  EXPECT_EQ(MessageOf([&] { narrow.Prepare({}, &ws); }),
            "the net is prepared, but its weights are stored with fewer bits; want one of both");
  const std::string path = dir_.path("p.c2pack");
  ModelPacker(model, ws).Write(path);
  EXPECT_EQ(MessageOf([&] { PackedModel::Open(path)->CreateBlobs(nullptr); }),
            "argument ws of PackedModel::CreateBlobs is null");
}

// --- what is loaded from ONNX and Caffe ---

TEST_F(LoadingRefusalsTest, ModelsOfOnnxStateTheirInputs) {
  onnx::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(OnnxModelBytes()));
  auto* const type = proto.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(onnx::TensorProto::FLOAT);
  type->mutable_shape()->add_dim()->set_dim_param("n");
  type->mutable_shape()->add_dim()->set_dim_value(3);
  const std::string bytes = proto.SerializeAsString();
  const Model open = LoadModelFromMemory({}, bytes);
  EXPECT_TRUE(open.is_onnx);
  EXPECT_EQ(open.inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(open.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(open.input_types.at("x"), TensorProto::FLOAT);
  EXPECT_EQ(open.input_dims.at("x"), (std::vector<int64_t>{-1, 3}));
  EXPECT_EQ(open.output_dims.at("y"), (std::vector<int64_t>{-1, 3}));
  EXPECT_TRUE(open.input_shapes.empty());
  ModelFileOptions options;
  options.onnx.dims["n"] = 2;
  const Model fixed = LoadModelFromMemory({}, bytes, options);
  EXPECT_EQ(fixed.input_shapes.at("x"), (std::vector<int64_t>{2, 3}));
  const Model file = LoadModel({.predict_net = dir_.Write("m.onnx", bytes)});
  EXPECT_EQ(file.files, std::vector<std::string>{dir_.path("m.onnx")});
  EXPECT_EQ(file.layer_blobs.at("y"), "y");
}

TEST_F(LoadingRefusalsTest, ModelsOfCaffeStateTheirInputs) {
  const Model model = LoadModel({.predict_net = dir_.Write("net.prototxt", kCaffe)});
  EXPECT_FALSE(model.is_onnx);
  EXPECT_EQ(model.inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(model.outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(model.input_shapes.at("x"), std::vector<int64_t>{2});
  EXPECT_EQ(model.layer_blobs.at("y"), "y");
  ASSERT_TRUE(model.caffe_transform.has_value());
  EXPECT_EQ(model.caffe_transform->scale, 1);
  EXPECT_EQ(model.files, std::vector<std::string>{dir_.path("net.prototxt")});
  EXPECT_EQ(model.predict_net.name(), "net");
}

// Nets that were imported from ONNX state their inputs and outputs in arguments.
TEST_F(LoadingRefusalsTest, InputsWithoutDimsAreStatedByTheirTypeAlone) {
  NetDef net = ParseNet(R"(name: "n" external_input: "x" external_input: "s" external_output: "y"
      op { type: "Add" input: "x" input: "s" output: "y" })");
  StateInput("x", {.type = TensorProto::INT64}, &net);
  StateInput("s", {.type = TensorProto::DOUBLE, .has_dims = true}, &net);
  StateOutput("y", {-1, 4}, &net);
  const Model model = LoadModelFromMemory({}, net.SerializeAsString());
  EXPECT_EQ(model.input_types, (std::map<std::string, TensorProto_DataType>{
                                   {"x", TensorProto::INT64}, {"s", TensorProto::DOUBLE}}));
  EXPECT_FALSE(model.input_dims.contains("x")) << "its rank is not known";
  EXPECT_EQ(model.input_dims.at("s"), std::vector<int64_t>());
  EXPECT_EQ(model.output_dims.at("y"), (std::vector<int64_t>{-1, 4}));
  EXPECT_TRUE(model.input_shapes.empty());
  EXPECT_FALSE(model.is_onnx);
}

}  // namespace
}  // namespace caffe2rt::test::loading_refusals_test
