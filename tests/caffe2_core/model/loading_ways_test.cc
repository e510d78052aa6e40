// One model, y = relu(w x), in every kind of file and in memory: what the options say and what the
// model computes does not depend on the way in which it was loaded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/caffe2_core/import/caffe/wire_text.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::loading_ways_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kInitText[] = R"(op { type: "GivenTensorFill" output: "w"
    arg { name: "shape" ints: 1 ints: 2 } arg { name: "values" floats: 2 floats: -3 } }
    arg { name: "answer" s: "of the file" })";
constexpr char kNetText[] = R"(external_input: "x" external_input: "w" external_output: "y"
    op { type: "Mul" input: "x" input: "w" output: "h" } op { type: "Relu" input: "h" output: "y" }
    arg { name: "answer" s: "of the file" })";

std::string OnnxWayBytes() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(18);
  onnx::GraphProto* const graph = model.mutable_graph();
  graph->set_name("g");
  const auto declare = [](const char* name, onnx::ValueInfoProto* info) {
    info->set_name(name);
    auto* const type = info->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    for (const int64_t dim : {1, 2}) type->mutable_shape()->add_dim()->set_dim_value(dim);
  };
  declare("x", graph->add_input());
  declare("y", graph->add_output());
  onnx::TensorProto* const w = graph->add_initializer();
  w->set_name("w");
  w->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t dim : {1, 2}) w->add_dims(dim);
  for (const float value : {2.f, -3.f}) w->add_float_data(value);
  const auto add = [&](const char* type, const std::vector<const char*>& inputs, const char* y) {
    onnx::NodeProto* const node = graph->add_node();
    node->set_op_type(type);
    for (const char* const input : inputs) node->add_input(input);
    node->add_output(y);
  };
  add("Mul", {"x", "w"}, "h");
  add("Relu", {"h"}, "y");
  return model.SerializeAsString();
}

constexpr char kCaffeText[] = R"(
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
    layer { name: "h" type: "InnerProduct" bottom: "x" top: "h"
            inner_product_param { num_output: 2 bias_term: false } }
    layer { name: "y" type: "ReLU" bottom: "h" top: "y" })";

std::string CaffeWayWeights() {
  const std::string w = Bytes(7, Bytes(1, Varint(2) + Varint(2))) +
                        Bytes(5, Raw(2.0f) + Raw(0.0f) + Raw(0.0f) + Raw(-3.0f));
  return Bytes(100, Bytes(1, "h") + Bytes(2, "InnerProduct") + Bytes(7, w));
}

std::string BinaryOf(const char* text) { return ParseNet(text).SerializeAsString(); }

struct LoadingWay {
  const char* name;
  size_t files;  // that the model names
  std::function<Model(ModelFileOptions)> load;
};

class LoadingWaysTest : public testing::Test {
 protected:
  std::vector<LoadingWay> Ways() {
    const std::string init = dir_.Write("i.pbtxt", kInitText),
                      net = dir_.Write("n.pbtxt", kNetText);
    const std::string binary_init = dir_.Write("i.pb", BinaryOf(kInitText)),
                      binary_net = dir_.Write("n.pb", BinaryOf(kNetText));
    const std::string onnx = dir_.Write("m.onnx", OnnxWayBytes());
    const std::string caffe = dir_.Write("c.prototxt", kCaffeText),
                      weights = dir_.Write("c.caffemodel", CaffeWayWeights());
    WritePack(dir_.path("m.c2pack"));
    WriteDatabase(dir_.path("m.minidb"));
    const auto files = [](const std::string& init_file, const std::string& net_file) {
      return [init_file, net_file](ModelFileOptions options) {
        if (!init_file.empty()) options.init_nets = {init_file};
        options.predict_net = net_file;
        return LoadModel(options);
      };
    };
    return {{"text files", 2, files(init, net)},
            {"binary files", 2, files(binary_init, binary_net)},
            {"text in memory", 0,
             [](const ModelFileOptions& options) {
               return LoadModelFromMemory({kInitText}, kNetText, options);
             }},
            {"binary in memory", 0,
             [](const ModelFileOptions& options) {
               const std::string init_bytes = BinaryOf(kInitText), net_bytes = BinaryOf(kNetText);
               return LoadModelFromMemory({init_bytes}, net_bytes, options);
             }},
            {"ONNX file", 1, files("", onnx)},
            {"ONNX in memory", 0,
             [](const ModelFileOptions& options) {
               return LoadModelFromMemory({}, OnnxWayBytes(), options);
             }},
            {"packed file", 1, files("", dir_.path("m.c2pack"))},
            {"database", 1,
             [this](ModelFileOptions options) {
               options.predictor_db = dir_.path("m.minidb");
               return LoadModel(options);
             }},
            {"Caffe files", 2,
             [caffe, weights](ModelFileOptions options) {
               options.predict_net = caffe;
               options.weights = weights;
               return LoadModel(options);
             }},
            {"Caffe in memory", 0, [](const ModelFileOptions& options) {
               return LoadCaffeModelFromMemory(kCaffeText, CaffeWayWeights(), options);
             }}};
  }

 private:
  static void WritePack(const std::string& path) {
    Model model = LoadModelFromMemory({kInitText}, kNetText);
    Workspace ws;
    RunInitNets(&model, &ws);
    ModelPacker(model, ws).Write(path);
  }
  static void WriteDatabase(const std::string& path) {
    MetaNetDef meta;
    const auto add = [&](const char* key, const std::string& text) {
      NetsMap* const entry = meta.add_nets();
      entry->set_key(key);
      *entry->mutable_value() = ParseNet(text);
    };
    add("PREDICT_NET_TYPE", kNetText);
    add("GLOBAL_INIT_NET_TYPE", R"(external_input: "!!PREDICTOR_DBREADER"
        op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "w" })");
    Workspace ws;
    Feed<float>(&ws, "w", {1, 2}, {2, -3});
    Blob nets;
    *nets.GetMutable<std::string>() = meta.SerializeAsString();
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(nets, "!!META_NET_DEF"));
    transaction->Put("w", SerializeBlob(*ws.GetBlob("w"), "w"));
    transaction->Commit();
  }

  const TempDir dir_;
};

// The argument `name` of a net as text; "none" if it is missing, "twice" if it is not alone.
std::string ArgumentOf(const NetDef& net, const std::string& name) {
  std::string text = "none";
  for (const Argument& arg : net.arg()) {
    if (arg.name() != name) continue;
    text = text == "none" ? arg.ShortDebugString() : "twice";
  }
  return text;
}

TEST_F(LoadingWaysTest, OptionsReachEveryNet) {
  ModelFileOptions options;
  options.seed = 7;
  options.net_arguments = {MakeArgument("answer", 42), MakeArgument("more", 1)};
  const std::string answer = MakeArgument("answer", 42).ShortDebugString();
  for (const LoadingWay& way : Ways()) {
    SCOPED_TRACE(way.name);
    const Model model = way.load(options);
    EXPECT_EQ(model.seed, 7u);
    EXPECT_EQ(ArgumentOf(model.predict_net, "answer"), answer);
    EXPECT_NE(ArgumentOf(model.predict_net, "more"), "none");
    for (const NetDef& net : model.init_nets) {
      EXPECT_EQ(ArgumentOf(net, "answer"), answer);
      EXPECT_NE(ArgumentOf(net, "more"), "none");
    }
    const Model plain = way.load({});
    EXPECT_FALSE(plain.seed.has_value());
    EXPECT_NE(ArgumentOf(plain.predict_net, "answer"), answer);
    EXPECT_EQ(ArgumentOf(plain.predict_net, "more"), "none");
  }
}

TEST_F(LoadingWaysTest, ModelsNameTheirFilesInputsAndOutputs) {
  for (const LoadingWay& way : Ways()) {
    SCOPED_TRACE(way.name);
    const Model model = way.load({});
    EXPECT_EQ(model.files.size(), way.files);
    EXPECT_THAT(model.inputs, ElementsAre("x"));
    EXPECT_THAT(model.outputs, ElementsAre("y"));
    EXPECT_THAT(model.warnings, IsEmpty());
    EXPECT_THAT(model.zero_placeholders, IsEmpty());
    EXPECT_NE(model.predict_net.name(), "");
    std::set<std::string> names = {model.predict_net.name()};
    for (const NetDef& net : model.init_nets) EXPECT_TRUE(names.insert(net.name()).second);
    EXPECT_EQ(model.db_path.empty(), std::string(way.name) != "database");
    EXPECT_EQ(model.packed == nullptr, std::string(way.name) != "packed file");
    EXPECT_EQ(model.is_onnx, std::string(way.name).starts_with("ONNX"));
  }
}

TEST_F(LoadingWaysTest, ModelsComputeTheSameInAWorkspaceAndAPredictor) {
  ModelFileOptions told;
  told.device.emplace().set_device_type(CPU);
  told.net_arguments = {MakeArgument("answer", 42)};
  for (const LoadingWay& way : Ways()) {
    for (const ModelFileOptions& options : {ModelFileOptions(), told}) {
      SCOPED_TRACE(way.name);
      Model model = way.load(options);
      Workspace ws;
      RunInitNets(&model, &ws);
      EXPECT_THAT(model.init_nets, IsEmpty());
      Feed<float>(&ws, "x", {1, 2}, {0, 0});
      NetBase* const net = CreatePredictNet(model, &ws);
      Predictor predictor(way.load(options));
      EXPECT_THAT(predictor.input_names(), ElementsAre("x"));
      EXPECT_THAT(predictor.output_names(), ElementsAre("y"));
      for (const auto& [x, want] :
           {std::pair<std::vector<float>, std::vector<float>>{{1, 10}, {2, 0}},
            {{-4, -10}, {0, 30}}}) {
        Feed<float>(&ws, "x", {1, 2}, x);
        ASSERT_TRUE(net->Run());
        ExpectTensor<float>(ws, "y", {1, 2}, want);
        Predictor::TensorMap outputs;
        ASSERT_TRUE(
            predictor(Predictor::TensorMap{{"x", ws.GetBlob("x")->Get<Tensor>()}}, &outputs));
        ASSERT_EQ(outputs.size(), 1u);
        const float* const y = outputs.at("y").data<float>();
        EXPECT_EQ(std::vector<float>(y, y + 2), want);
      }
    }
  }
}

// Each net needs what the one before it made: w = [2, 3] becomes [20, 30], and b = [1, 1] + w.
TEST_F(LoadingWaysTest, EveryInitNetRunsInItsOrder) {
  const TempDir dir;
  constexpr const char* kInits[] = {
      R"(op { type: "GivenTensorFill" output: "w"
          arg { name: "shape" ints: 1 ints: 2 } arg { name: "values" floats: 2 floats: 3 } })",
      R"(external_input: "w"
          op { type: "Scale" input: "w" output: "w" arg { name: "scale" f: 10 } })",
      R"(external_input: "w" op { type: "GivenTensorFill" output: "b"
          arg { name: "shape" ints: 1 ints: 2 } arg { name: "values" floats: 1 floats: 1 } }
          op { type: "Add" input: "b" input: "w" output: "b" })"};
  const std::string net = R"(external_input: ["x", "b"] external_output: "y"
      op { type: "Add" input: "x" input: "b" output: "y" })";
  for (const bool binary : {false, true}) {
    std::vector<std::string> bytes, files;
    for (const char* init : kInits) {
      bytes.push_back(binary ? BinaryOf(init) : init);
      files.push_back(dir.Write("init" + std::to_string(files.size()), bytes.back()));
    }
    const std::string net_file = dir.Write("sum.pbtxt", net);
    for (const bool in_memory : {false, true}) {
      SCOPED_TRACE(testing::Message() << "binary " << binary << ", in memory " << in_memory);
      const auto load = [&] {
        return in_memory ? LoadModelFromMemory({bytes.begin(), bytes.end()}, net, {})
                         : LoadModel({.init_nets = files, .predict_net = net_file});
      };
      Model model = load();
      EXPECT_EQ(model.init_nets.size(), 3u);
      Workspace ws;
      RunInitNets(&model, &ws);
      Feed<float>(&ws, "x", {1, 2}, {1, 2});
      ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
      ExpectTensor<float>(ws, "y", {1, 2}, {22, 33});
      Predictor predictor(load());
      EXPECT_THAT(predictor.input_names(), ElementsAre("x"));
      for (int run = 0; run < 2; ++run) {
        Predictor::TensorMap outputs;
        ASSERT_TRUE(
            predictor(Predictor::TensorMap{{"x", ws.GetBlob("x")->Get<Tensor>()}}, &outputs));
        const float* const y = outputs.at("y").data<float>();
        EXPECT_EQ(std::vector<float>(y, y + 2), (std::vector<float>{22, 33}));
      }
    }
  }
}

// The init nets as well, and nets in arguments. A device that a file names need not be there.
TEST_F(LoadingWaysTest, TheCpuRunsEveryNetIfItIsAskedFor) {
  const std::string device = " device_option { device_type: 1 device_id: 2 } ";
  const std::string fill = "op { type: 'ConstantFill' arg { name: 'shape' ints: 1 } output: ";
  const std::string init = fill + "'a' " + device + " } " + fill + "'b' }" + device;
  const std::string net =
      "op { type: 'Add' input: 'a' input: 'b' output: 'y' } op { type: 'If' input: 'c' output: 'y' "
      "arg { name: 'then_net' n { op { type: 'Copy' input: 'a' output: 'y' " +
      device + " } } } }" + device;
  DeviceOption cpu;
  cpu.set_device_type(CPU);
  ModelFileOptions options;
  options.device = cpu;
  const Model model = LoadModelFromMemory({init, kInitText, init}, net, options);
  ASSERT_EQ(model.init_nets.size(), 3u);
  const auto expect_cpu = [](const NetDef& def) {
    EXPECT_EQ(def.device_option().device_type(), CPU);
    for (const OperatorDef& op : def.op()) {
      EXPECT_EQ(op.device_option().device_type(), CPU) << op.ShortDebugString();
    }
  };
  for (const NetDef& def : model.init_nets) expect_cpu(def);
  expect_cpu(model.predict_net);
  expect_cpu(GetArgument(model.predict_net.op(1), "then_net").n());
  EXPECT_THAT(model.warnings, IsEmpty());
  Model runs =
      LoadModelFromMemory({init}, "op { type: 'Add' input: 'a' input: 'b' output: 'y' }", options);
  Workspace ws;
  RunInitNets(&runs, &ws);
  EXPECT_TRUE(CreatePredictNet(runs, &ws)->Run());
  ExpectTensor<float>(ws, "y", {1}, {0});
}

}  // namespace
}  // namespace caffe2rt::test::loading_ways_test
