#include "caffe2_core/model/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/init_net.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::model_file_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> NamesOf(const Model& model) {
  std::vector<std::string> names;
  for (const NetDef& net : model.init_nets) names.push_back(net.name());
  names.push_back(model.predict_net.name());
  return names;
}

// Writes w = {10, 20} and the nets of a predictor that loads it.
void WritePredictor(const std::string& path, const std::string& type, MetaNetDef meta) {
  const auto add = [&meta](const char* key, const std::string& text) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  };
  add("PREDICT_NET_TYPE", kPredict);
  // Listed before the global init net, which fills the blob that this one reads.
  add("PREDICT_INIT_NET_TYPE", R"(external_input: "v" op { type: "Copy" input: "v" output: "w" })");
  add("GLOBAL_INIT_NET_TYPE", R"(external_input: "!!PREDICTOR_DBREADER"
      op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "v" })");
  Blob net, weight;
  *net.GetMutable<std::string>() = meta.SerializeAsString();
  weight.Reset(new Tensor(Vector({10, 20})));
  const auto database = db::CreateDB(type, path, db::NEW);
  const auto transaction = database->NewTransaction();
  transaction->Put("!!META_NET_DEF", SerializeBlob(net, "!!META_NET_DEF"));
  transaction->Put("v", SerializeBlob(weight, "v"));
  transaction->Commit();
}

class ModelFileTest : public ::testing::Test {
 protected:
  ModelFileOptions Files() const {
    return {.init_nets = {dir_.Write("init.pbtxt", kInit)},
            .predict_net = dir_.Write("net.pbtxt", kPredict)};
  }
  const TempDir dir_;
};

TEST_F(ModelFileTest, LoadsPlainFiles) {
  const Model model = LoadModel(Files());
  EXPECT_THAT(NamesOf(model), ElementsAre("init", "sum"));
  EXPECT_THAT(model.inputs, ElementsAre("x"));
  EXPECT_THAT(model.outputs, ElementsAre("z"));
  EXPECT_THAT(model.files, ElementsAre(dir_.path("init.pbtxt"), dir_.path("net.pbtxt")));
  EXPECT_THAT(model.warnings, IsEmpty());
  EXPECT_EQ(model.db_path, "");
}

TEST_F(ModelFileTest, LoadsNetsInMemoryAsTextAndBinary) {
  const std::string binary = ParseNet(kPredict).SerializeAsString();
  Model model = LoadModelFromMemory({kInit}, binary);
  EXPECT_THAT(NamesOf(model), ElementsAre("init_net", "sum"));
  EXPECT_THAT(model.inputs, ElementsAre("x"));
  EXPECT_THAT(model.outputs, ElementsAre("z"));
  EXPECT_THAT(model.files, IsEmpty());
  Predictor predictor(std::move(model));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  EXPECT_EQ(out[0].data<float>()[0], 11);
}

TEST_F(ModelFileTest, RejectsNetsInMemoryThatDoNotParseAndOptionsThatNameFiles) {
  ExpectThrows([] { LoadModelFromMemory({kInit, "no net"}, kPredict); }, "init net 1");
  ExpectThrows([] { LoadModelFromMemory({}, "no net"); }, "predict net");
  ExpectThrows([] { LoadModelFromMemory({}, kPredict, {.predict_net = "net.pb"}); },
               "the options of a model in memory name files");
}

TEST_F(ModelFileTest, RunsInAWorkspace) {
  Model model = LoadModel(Files());
  Workspace ws;
  EXPECT_THAT(UnfilledInputs(model.predict_net, ws), ElementsAre("x", "w"));
  RunInitNets(&model, &ws);
  EXPECT_THAT(model.init_nets, IsEmpty());
  EXPECT_THAT(UnfilledInputs(model.predict_net, ws), ElementsAre("x"));
  Feed<float>(&ws, "x", {2}, {1, -30});
  ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
  ExpectTensor<float>(ws, "z", {2}, {11, 0});
}

// The demo of how exporters write weights: binary, with the elements of each operator in one list.
class BinaryModelTest : public ModelFileTest {
 protected:
  ModelFileOptions BinaryFiles(const std::string& init = kInit) const {
    return {.init_nets = {dir_.Write("init.pb", ParseNet(init).SerializeAsString())},
            .predict_net = dir_.Write("net.pb", ParseNet(kPredict).SerializeAsString())};
  }
  static std::string ErrorOf(const std::function<void()>& act) {
    try {
      act();
    } catch (const EnforceNotMet& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(BinaryModelTest, WeightsBecomeBlobsWithoutACopy) {
  Model model = LoadModel(BinaryFiles());
  EXPECT_THAT(NamesOf(model), ElementsAre("init", "sum"));
  EXPECT_THAT(model.inputs, ElementsAre("x"));
  ASSERT_EQ(model.init_weights.at(0).size(), 1u);
  const void* memory = model.init_weights[0][0].values.raw_data();
  Workspace ws;
  RunInitNets(&model, &ws);
  EXPECT_THAT(model.init_weights, IsEmpty());
  ExpectTensor<float>(ws, "w", {2}, {10, 20});
  EXPECT_EQ(ws.GetBlob("w")->Get<Tensor>().raw_data(), memory);
  Predictor predictor(LoadModel(BinaryFiles()));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  EXPECT_EQ(Values(out.at(0)), (std::vector<float>{11, 0}));
}

TEST_F(BinaryModelTest, FindsDatabasesBesideTheInitNet) {
  const ModelFileOptions files = BinaryFiles(std::string(kInit) + R"(
      op { type: "DBExists" output: "e" arg { name: "db_type" s: "minidb" }
           arg { name: "db_name" s: "weights" } })");
  dir_.Write("weights", "x");
  const Model model = LoadModel(files);
  ASSERT_EQ(model.init_weights.at(0).size(), 1u);
  const NetDef& net = model.init_nets.at(0);
  EXPECT_EQ(GetArgument(net.op(net.op_size() - 1), "db_name").s(), dir_.path("weights"));
}

TEST_F(BinaryModelTest, NetsThatNeedTheirExecutorGetTheirWeightsBack) {
  ModelFileOptions options = BinaryFiles();
  options.net_arguments.push_back(MakeArgument("any", 1));
  Model model = LoadModel(options);
  ASSERT_EQ(model.init_weights.at(0).size(), 1u);
  Workspace ws;
  RunInitNets(&model, &ws);
  ExpectTensor<float>(ws, "w", {2}, {10, 20});
}

TEST_F(BinaryModelTest, OperatorsRunInTheirOrder) {
  // The second fill overwrites the first one in its memory; the shape of the third comes from it.
  Model model = LoadModel(BinaryFiles(R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 }
           arg { name: "values" floats: 1 floats: 2 } }
      op { type: "Copy" input: "w" output: "before" }
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 2 }
           arg { name: "values" floats: 10 floats: 20 } }
      op { type: "GivenTensorFill" input: "w" output: "like"
           arg { name: "values" floats: 5 floats: 6 } })"));
  EXPECT_EQ(model.init_weights.at(0).size(), 3u);
  Workspace ws;
  RunInitNets(&model, &ws);
  ExpectTensor<float>(ws, "before", {2}, {1, 2});
  ExpectTensor<float>(ws, "w", {2}, {10, 20});
  ExpectTensor<float>(ws, "like", {2}, {5, 6});
}

TEST_F(BinaryModelTest, ErrorsAreThoseOfTheWholeNet) {
  for (const char* init :
       {R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 3 }
           arg { name: "values" floats: 10 floats: 20 } })",
        R"(op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: -3 }
           arg { name: "values" floats: 10 floats: 20 } })",
        R"(op { type: "GivenTensorFill" input: "absent" output: "w"
           arg { name: "values" floats: 10 floats: 20 } })",
        R"(op { type: "Int8GivenTensorFill" output: "w" arg { name: "shape" ints: 30 }
           arg { name: "values" s: "bytes" } })",
        R"(op { type: "GivenTensorByteStringToUInt8Fill" output: "w"
           arg { name: "shape" ints: 9 } arg { name: "values" strings: "bytes" } })"}) {
    const ModelFileOptions options = BinaryFiles(init);
    const std::string got = ErrorOf([&] {
      Model model = LoadModel(options);
      ASSERT_EQ(model.init_weights.at(0).size(), 1u);
      Workspace ws;
      RunInitNets(&model, &ws);
    });
    const std::string want = ErrorOf([&] {
      NetDef net = ParseNet(init);
      net.set_name("init");
      Workspace ws;
      RunInitNet(std::move(net), &ws);
    });
    EXPECT_EQ(got, want);
    EXPECT_NE(want, "no error");
  }
}

TEST_F(BinaryModelTest, RestoreWeightsReturnsTheWholeNet) {
  Model model = LoadModel(BinaryFiles());
  NetWithWeights net = std::move(TakeInitNets(&model).at(0));
  RestoreWeights(&net);
  NetDef want = ParseNet(kInit);
  want.set_name("init");
  EXPECT_EQ(net.net.SerializeAsString(), want.SerializeAsString());
}

TEST_F(ModelFileTest, RunsInAPredictor) {
  Predictor predictor(LoadModel(Files()));
  EXPECT_THAT(predictor.input_names(), ElementsAre("x"));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  EXPECT_EQ(Values(out.at(0)), (std::vector<float>{11, 0}));
}

// Records where the values of its argument are.
class ModelFileWeightsOp final : public Operator<CPUContext> {
 public:
  using Operator<CPUContext>::Operator;
  bool RunOnDevice() override {
    values = debug_def().arg(0).floats().data();
    return true;
  }
  static inline const float* values = nullptr;
};
REGISTER_CPU_OPERATOR(ModelFileWeights, ModelFileWeightsOp);
OPERATOR_SCHEMA(ModelFileWeights);

TEST_F(ModelFileTest, NothingCopiesTheWeightsOfInitNets) {
  Model model = LoadModelFromMemory(
      {R"(op { type: "ModelFileWeights" arg { name: "values" floats: 1 floats: 2 } })"}, kPredict);
  const float* const values = model.init_nets.at(0).op(0).arg(0).floats().data();
  Workspace ws;
  RunInitNets(&model, &ws);
  EXPECT_EQ(ModelFileWeightsOp::values, values);
}

TEST_F(ModelFileTest, InitNetsRunInTheirOrder) {
  ModelFileOptions options = Files();
  options.init_nets.push_back(dir_.Write("again.pbtxt", R"(external_input: "w"
      op { type: "Add" input: "w" input: "w" output: "w" })"));
  Model model = LoadModel(options);
  Workspace ws;
  RunInitNets(&model, &ws);
  ExpectTensor<float>(ws, "w", {2}, {20, 40});
}

TEST_F(ModelFileTest, NamesThatCollideAreMadeToDiffer) {
  const std::string init = dir_.Write("a/net.pbtxt", kInit);
  ModelFileOptions options{.init_nets = {init, init}, .predict_net = dir_.Write("b/net.pbtxt", R"(
      op { type: "Relu" input: "w" output: "y" })")};
  EXPECT_THAT(NamesOf(LoadModel(options)), ElementsAre("net", "net_", "net__"));
}

TEST_F(ModelFileTest, FindsDatabasesUnderTheRootAndThenBesideTheNet) {
  const std::string net = dir_.Write("nets/net.pbtxt", R"(op { type: "DBExists" output: "e"
      arg { name: "db_type" s: "minidb" } arg { name: "db_name" s: "weights" } })");
  const auto path_of = [&] {
    return GetArgument(LoadModel({.predict_net = net, .root = dir_.path()}).predict_net.op(0),
                       "db_name")
        .s();
  };
  EXPECT_EQ(path_of(), "weights");
  dir_.Write("nets/weights", "x");
  EXPECT_EQ(path_of(), dir_.path("nets/weights"));
  dir_.Write("weights", "x");
  EXPECT_EQ(path_of(), "weights");
}

TEST_F(ModelFileTest, LoadsPredictorDatabasesOfEveryType) {
  for (const std::string type : {"minidb", "leveldb", "lmdb"}) {
    SCOPED_TRACE(type);
    WritePredictor(dir_.path(type), type, MetaNetDef());
    for (const ModelFileOptions& options :
         {ModelFileOptions{.predictor_db = dir_.path(type), .db_type = type},
          ModelFileOptions{.predictor_db = dir_.path(type) + (type == "minidb" ? "" : "//")}}) {
      Model model = LoadModel(options);
      EXPECT_EQ(model.db_type, type);
      EXPECT_EQ(model.db_path, dir_.path(type));
      EXPECT_THAT(model.files, ElementsAre(dir_.path(type)));
      EXPECT_THAT(NamesOf(model), ElementsAre(type + "_init", type + "_init_", "sum"));
      EXPECT_THAT(model.inputs, ElementsAre("x"));
      EXPECT_THAT(model.outputs, ElementsAre("z"));
      Workspace ws;
      RunInitNets(&model, &ws);
      ExpectTensor<float>(ws, "w", {2}, {10, 20});
      Predictor predictor(LoadModel(options));
      std::vector<Tensor> out;
      ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
      EXPECT_EQ(Values(out.at(0)), (std::vector<float>{11, 0}));
    }
  }
}

TEST_F(ModelFileTest, DatabaseListsItsInputsAndOutputs) {
  MetaNetDef meta;
  const auto add = [&meta](const char* key, const char* blob) {
    BlobsMap* const entry = meta.add_blobs();
    entry->set_key(key);
    entry->add_value(blob);
  };
  add("INPUTS_BLOB_TYPE", "w");
  add("OUTPUTS_BLOB_TYPE", "y");
  WritePredictor(dir_.path("p"), "minidb", meta);
  const Model model = LoadModel({.predictor_db = dir_.path("p")});
  EXPECT_THAT(model.inputs, ElementsAre("w"));
  EXPECT_THAT(model.outputs, ElementsAre("y"));
}

// Exporters for phones filled the data blob with a constant.
TEST_F(ModelFileTest, FindsPlaceholdersOfData) {
  const auto placeholders = [&](const std::string& init, const std::string& net) {
    return LoadModel({.init_nets = {dir_.Write("init.pbtxt", init)},
                      .predict_net = dir_.Write("net.pbtxt", net)})
        .placeholders;
  };
  const std::string net = R"(external_input: "w" external_input: "data"
      op { type: "Add" input: "data" input: "w" output: "y" }
      op { type: "Add" input: "y" input: "data" output: "z" })";
  const std::string data = R"(op { type: "ConstantFill" output: "data" })";
  const std::string weight = R"(op { type: "ConstantFill" output: "w" })";
  EXPECT_THAT(placeholders(data + weight, net), ElementsAre("data"));
  // No operator's first input is a constant, and the first operator does not read the first
  // external input.
  EXPECT_THAT(placeholders(weight, net), IsEmpty());
  EXPECT_THAT(placeholders(kInit, kPredict), ElementsAre("x"));
}

// --- devices ---

constexpr auto kStub = static_cast<DeviceType>(24);

// A device that no operator runs on.
class StubStaticContext : public BaseStaticContext {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) const override {
    return GetCPUStaticContext()->New(nbytes);
  }
  std::unique_ptr<BaseContext> CreateContext() override { return nullptr; }
  std::unique_ptr<BaseContext> CreateContext(const DeviceOption&) override { return nullptr; }
  DeviceType GetDeviceType() override { return kStub; }
};

DeviceOption Device(int type) {
  static const bool once = [] {
    RegisterStaticContext(kStub, "MODELSTUB", new StubStaticContext);
    OperatorRegistryOf(kStub)->Register(
        "Relu", [](const OperatorDef&, Workspace*) { return nullptr; }, __FILE__);
    return true;
  }();
  (void)once;
  DeviceOption device;
  device.set_device_type(type);
  return device;
}

TEST_F(ModelFileTest, PlacesNetsOnADeviceAndReportsWhatStays) {
  ModelFileOptions options = Files();
  options.device = Device(kStub);
  const Model model = LoadModel(options);
  EXPECT_EQ(model.predict_net.op(0).device_option().device_type(), CPU);
  EXPECT_EQ(model.predict_net.op(1).device_option().device_type(), kStub);
  EXPECT_THAT(model.warnings,
              ElementsAre("operators without an implementation for MODELSTUB run on the CPU: Add, "
                          "GivenTensorFill"));
}

TEST_F(ModelFileTest, FallsBackToTheCpuWhenAskedTo) {
  ModelFileOptions options = Files();
  options.predict_net = dir_.Write("net.pbtxt", R"(name: "far"
      op { type: "Relu" input: "x" output: "y" device_option { device_type: 3 } })");
  const auto device_of = [](const Model& model) {
    return model.predict_net.op(0).device_option().device_type();
  };
  const Model as_written = LoadModel(options);
  EXPECT_EQ(device_of(as_written), 3);
  EXPECT_THAT(as_written.warnings, IsEmpty());
  options.device_fallback = true;
  options.init_nets.push_back(
      dir_.Write("more.pbtxt",
                 R"(op { type: "Relu" input: "w" output: "v" device_option { device_type: 4 } })"));
  const Model fallen = LoadModel(options);
  EXPECT_EQ(device_of(fallen), CPU);
  EXPECT_THAT(
      fallen.warnings,
      ElementsAre(
          "net \"far\" asks for OPENCL, OPENGL, which is not available: it runs on the CPU"));
  // No warning is given when the CPU was requested explicitly.
  options.device_fallback = false;
  options.device = Device(CPU);
  const Model on_cpu = LoadModel(options);
  EXPECT_EQ(device_of(on_cpu), CPU);
  EXPECT_THAT(on_cpu.warnings, IsEmpty());
}

TEST_F(ModelFileTest, RunsOnTheCpuWhateverDevicesTheNetsName) {
  ModelFileOptions options = Files();
  (void)Device(kStub);
  options.predict_net = dir_.Write("net.pbtxt", R"(device_option { device_type: 24 }
      op { type: "Relu" input: "x" output: "y" device_option { device_type: 24 } })");
  options.device = Device(CPU);
  const Model model = LoadModel(options);
  EXPECT_EQ(model.predict_net.op(0).device_option().device_type(), CPU);
  EXPECT_EQ(model.predict_net.device_option().device_type(), CPU);
  EXPECT_EQ(GetArgumentPtr(model.predict_net, "inject_copies"), nullptr);
  EXPECT_THAT(model.warnings, IsEmpty());
}

// All nets get copies if one of them names a device: the weights may be there.
TEST_F(ModelFileTest, RequestsCopiesIfANetNamesADevice) {
  EXPECT_EQ(GetArgumentPtr(LoadModel(Files()).predict_net, "inject_copies"), nullptr);
  ModelFileOptions options = Files();
  options.init_nets.push_back(dir_.Write("more.pbtxt", R"(
      op { type: "Relu" input: "w" output: "v" device_option { device_type: 24 } })"));
  (void)Device(kStub);
  for (const bool fallback : {false, true}) {
    options.device_fallback = fallback;
    const Model model = LoadModel(options);
    for (const NetDef* net : {&model.init_nets[0], &model.init_nets[1], &model.predict_net})
      EXPECT_EQ(GetArgument(*net, "inject_copies").i(), 1);
    EXPECT_EQ(model.init_nets[1].op(0).device_option().device_type(), kStub);
  }
}

TEST_F(ModelFileTest, WarnsOfOperatorsThatTheNamedDeviceLacks) {
  ModelFileOptions options = Files();
  (void)Device(kStub);
  options.predict_net = dir_.Write("net.pbtxt", R"(device_option { device_type: 24 }
      op { type: "Relu" input: "x" output: "y" } op { type: "Softmax" input: "y" output: "z" })");
  EXPECT_FALSE(LoadModel(options).predict_net.op(1).has_device_option());
  options.device_fallback = true;
  const Model model = LoadModel(options);
  EXPECT_EQ(model.predict_net.op(1).device_option().device_type(), CPU);
  EXPECT_THAT(model.warnings,
              ElementsAre("operators without an implementation for the device that they name run "
                          "on the CPU: Softmax"));
}

// They replace what the nets state.
TEST_F(ModelFileTest, SetsArgumentsOfEveryNet) {
  const std::string sync = MakeArgument("cuda_sync", 1).SerializeAsString();
  for (const char* const stated : {"", R"( arg { name: "cuda_sync" s: "never" })"}) {
    ModelFileOptions options{.init_nets = {dir_.Write("init.pbtxt", std::string(kInit) + stated)},
                             .predict_net = dir_.Write("n.pbtxt", std::string(kPredict) + stated)};
    options.net_arguments = {MakeArgument("cuda_sync", 1)};
    const Model model = LoadModel(options);
    for (const NetDef* net : {&model.init_nets.at(0), &model.predict_net})
      EXPECT_EQ(net->arg_size() == 1 ? net->arg(0).SerializeAsString() : "none", sync);
  }
}

// --- errors ---

TEST_F(ModelFileTest, RejectsOptionsThatNameNoModelOrTwo) {
  const std::string net = dir_.Write("net.pbtxt", kPredict);
  ExpectThrows([] { LoadModel({}); }, "want one of them, got \"\" and \"\"");
  ExpectThrows([&] { LoadModel({.predict_net = net, .predictor_db = "p"}); },
               "want one of them, got \"" + net + "\" and \"p\"");
  ExpectThrows([&] { LoadModel({.init_nets = {net}, .predictor_db = "p"}); },
               "init_nets are given with predictor_db \"p\", which has its own");
  ExpectThrows([&] { LoadModel({.predict_net = net, .db_type = "lmdb"}); },
               "db_type \"lmdb\" is given without predictor_db");
}

TEST_F(ModelFileTest, NamesFilesThatAreNoModel) {
  ExpectThrows([&] { LoadModel({.predict_net = dir_.path("absent")}); }, dir_.path("absent"));
  const std::string text = dir_.Write("text", "no database");
  ExpectThrows([&] { LoadModel({.predictor_db = text}); }, "; set ModelFileOptions::db_type");
  ExpectThrows([&] { LoadModel({.predictor_db = text, .db_type_remedy = "ask"}); }, "; ask");
  Blob weight;
  weight.Reset(new Tensor(Vector({1})));
  {
    const auto database = db::CreateDB("minidb", dir_.path("weights"), db::NEW);
    database->NewTransaction()->Put("v", SerializeBlob(weight, "v"));
  }
  ExpectThrows([&] { LoadModel({.predictor_db = dir_.path("weights")}); }, "holds no predictor");
}

TEST_F(ModelFileTest, NamesAnUnknownTypeOfNet) {
  Model model = LoadModel({.predict_net = dir_.Write("net.pbtxt", "name: 'n' type: 'odd'")});
  Workspace ws;
  ExpectThrows([&] { CreatePredictNet(model, &ws); },
               "net \"n\" has type \"odd\", which is not known");
  ExpectThrows([&] { CreatePredictNet(model, nullptr); }, "is null");
  ExpectThrows([&] { RunInitNets(&model, nullptr); }, "is null");
  ExpectThrows([&] { RunInitNets(nullptr, &ws); }, "is null");
}

}  // namespace
}  // namespace caffe2rt::model_file_test
