#include "caffe2_core/model/packed_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "caffe2_core/base/isa.h"
#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/tensor/int8_tensor.h"
#include "tests/caffe2_core/model/predictor_nets.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::packed_model_test {
namespace {

using namespace test;  // used throughout this file
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A convolution whose filter is prepared: 16 output channels of 3x3 on 8 input channels.
constexpr char kConvNet[] = R"(name: "conv" external_input: "x" external_input: "f"
    op { type: "Conv" input: "x" input: "f" output: "y" arg { name: "kernel" i: 3 }
         arg { name: "pad" i: 1 } })";
constexpr char kConvInit[] = R"(op { type: "XavierFill" output: "f"
    arg { name: "shape" ints: 16 ints: 8 ints: 3 ints: 3 } })";

class PackedModelTest : public ::testing::Test {
 protected:
  Model LoadPlain(const std::string& init, const std::string& predict) const {
    return LoadModel({.init_nets = {dir_.Write("init.pbtxt", init)},
                      .predict_net = dir_.Write("net.pbtxt", predict)});
  }
  Model LoadPredictNet() const {
    return LoadModel({.predict_net = dir_.Write("net.pbtxt", kPredict)});
  }
  std::string Pack(const std::string& init, const std::string& predict) const {
    Model model = LoadPlain(init, predict);
    Workspace ws;
    RunInitNets(&model, &ws);
    ModelPacker(model, ws).Write(path_);
    return path_;
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("model.c2pack");
};

TEST_F(PackedModelTest, ReturnsTheModelThatWasPacked) {
  const Model plain = LoadPlain(kInit, kPredict);
  const Model packed = LoadModel({.predict_net = Pack(kInit, kPredict)});
  EXPECT_TRUE(IsPackedModel(path_));
  EXPECT_EQ(packed.predict_net.SerializeAsString(), plain.predict_net.SerializeAsString());
  EXPECT_EQ(packed.inputs, plain.inputs);
  EXPECT_EQ(packed.outputs, plain.outputs);
  EXPECT_EQ(packed.placeholders, plain.placeholders);
  EXPECT_THAT(packed.files, ElementsAre(path_));
  EXPECT_THAT(packed.warnings, IsEmpty());
}

TEST_F(PackedModelTest, RunsInAWorkspaceAndInAPredictor) {
  Model model = LoadModel({.predict_net = Pack(kInit, kPredict)});
  Workspace ws;
  RunInitNets(&model, &ws);
  Feed<float>(&ws, "x", {2}, {1, -30});
  ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
  ExpectTensor<float>(ws, "z", {2}, {11, 0});
  Predictor predictor(LoadModel({.predict_net = path_}));
  EXPECT_THAT(predictor.input_names(), ElementsAre("x"));
  std::vector<Tensor> out;
  ASSERT_TRUE(predictor({Vector({1, -30})}, &out));
  EXPECT_EQ(Values(out.at(0)), (std::vector<float>{11, 0}));
}

TEST_F(PackedModelTest, TensorsAreMappedAndCopiedOnWrite) {
  Model model = LoadModel({.predict_net = Pack(kInit, kPredict)});
  Workspace ws;
  RunInitNets(&model, &ws);
  const Tensor& w = ws.GetBlob("w")->Get<Tensor>();
  EXPECT_EQ(reinterpret_cast<uintptr_t>(w.raw_data()) % 64, 0u);
  EXPECT_TRUE(w.storage()->read_only());
  RunOp(&ws, R"(type: "Scale" input: "w" output: "w" arg { name: "scale" f: 2 })");
  ExpectTensor<float>(ws, "w", {2}, {20, 40});
  Workspace second;
  LoadModel({.predict_net = path_}).packed->CreateBlobs(&second);
  ExpectTensor<float>(second, "w", {2}, {10, 20});
}

// Regression: the weight was read-only, so that a write through its alias did not change it.
TEST_F(PackedModelTest, WeightsThatTheNetChangesAreCopies) {
  const std::string net = R"(external_input: "x" external_input: "w" external_output: "y"
    op { type: "Alias" input: "w" output: "a" } op { type: "Sqr" input: "a" output: "a" }
    op { type: "Add" input: "x" input: "w" output: "y" })";
  Model model = LoadModel({.predict_net = Pack(kInit, net)});
  Workspace ws;
  RunInitNets(&model, &ws);
  EXPECT_FALSE(ws.GetBlob("w")->Get<Tensor>().storage()->read_only());
  Feed<float>(&ws, "x", {2}, {1, 2});
  ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
  ExpectTensor<float>(ws, "y", {2}, {101, 402});
}

// Weights that stay in the file are only verified if that is asked for.
TEST_F(PackedModelTest, VerifiesTensorsThatAreCopied) {
  const auto damage_first_block = [&] {
    std::string bytes = ReadWholeFile(path_);
    bytes[128] = static_cast<char>(bytes[128] ^ 1);
    dir_.Write("model.c2pack", bytes);
  };
  const std::string damaged = "is damaged: the checksum of the elements of \"w\" differs";
  const auto create_blobs = [&] {
    Workspace ws;
    LoadModel({.predict_net = path_}).packed->CreateBlobs(&ws);
  };
  Pack(kInit, R"(external_input: "w" op { type: "Sqr" input: "w" output: "w" })");
  damage_first_block();
  ExpectThrows(create_blobs, damaged);
  Pack(kInit, R"(external_input: "w" op { type: "Sqr" input: "w" output: "y" })");
  damage_first_block();
  create_blobs();
  ExpectThrows([&] { LoadModel({.predict_net = path_, .verify_packed = true}); }, damaged);
  Pack(kInit, R"(external_input: "w" op { type: "Sqr" input: "w" output: "y" })");
  LoadModel({.predict_net = path_, .verify_packed = true});
}

TEST_F(PackedModelTest, RejectsChangedWeightsInOneMemory) {
  const std::string init = std::string(kInit) + R"(op { type: "Alias" input: "w" output: "v" })";
  ExpectThrows(
      [&] {
        Pack(init, R"(external_input: "x" external_input: "w" external_input: "v"
          op { type: "Sqr" input: "v" output: "v" } op { type: "Add" input: "x" input: "w" output: "y" })");
      },
      "share memory that the net changes");
  Pack(init, R"(external_input: "x" external_input: "w" external_input: "v"
    op { type: "Add" input: "v" input: "w" output: "y" })");
}

// b and c are parts of a, and d has memory of its own.
TEST_F(PackedModelTest, RejectsPartsOfAWeightIfEitherIsChanged) {
  Workspace ws;
  float* const a = FeedRange<float>(&ws, "a", {8})->mutable_data<float>();
  Feed<float>(&ws, "d", {2}, {7, 8});
  for (const auto& [name, begin] : {std::pair("b", a + 1), std::pair("c", a + 4)}) {
    Tensor* const part = ws.CreateBlob(name)->GetMutableTensor(CPU);
    part->Resize(2);
    part->ShareExternalPointer(begin);
  }
  const auto pack = [&](const std::string& changed) {
    const Model model =
        LoadModel({.predict_net = dir_.Write("net.pbtxt",
                                             R"(op { type: "Add" input: "b" input: "c" output: "y" }
             op { type: "Add" input: "a" input: "d" output: "z" } op { type: "Sqr" input: ")" +
                                                 changed + R"(" output: ")" + changed + "\" }")});
    return MessageOf([&] { ModelPacker(model, ws).Write(path_); });
  };
  const auto share = [](const std::string& first, const std::string& second) {
    return "blobs \"" + first + "\" and \"" + second +
           "\" share memory that the net changes, and a packed model keeps them apart; want blobs "
           "with memory of their own";
  };
  EXPECT_EQ(pack("a"), share("a", "b"));
  EXPECT_EQ(pack("b"), share("a", "b"));
  EXPECT_EQ(pack("c"), share("a", "c"));
  EXPECT_EQ(pack("d"), "(nothing was thrown)");
  Workspace got;
  PackedModel::Open(path_)->CreateBlobs(&got);
  ExpectTensor<float>(got, "a", {8}, {0, 1, 2, 3, 4, 5, 6, 7});
  ExpectTensor<float>(got, "b", {2}, {1, 2});
  ExpectTensor<float>(got, "c", {2}, {4, 5});
}

TEST_F(PackedModelTest, KeepsEveryElementTypeAndOtherBlobs) {
  const Model model = LoadPredictNet();
  Workspace ws;
  Feed<int64_t>(&ws, "int64", {2, 1}, {1, -5});
  Feed<bool>(&ws, "bool", {2}, {true, false});
  Feed<uint8_t>(&ws, "uint8", {}, {200});
  Feed<float>(&ws, "empty", {0, 3}, {});
  Feed<std::string>(&ws, "strings", {2}, {"a", "bc"});
  *ws.CreateBlob("text")->GetMutable<std::string>() = "content";
  auto* quantized = ws.CreateBlob("quantized")->GetMutable<Int8TensorCPU>();
  quantized->scale = 0.5f;
  quantized->zero_point = 7;
  quantized->t.Resize(2);
  quantized->t.mutable_data<uint8_t>()[1] = 9;
  ws.CreateBlob("nothing");
  ModelPacker(model, ws).Write(path_);
  Workspace got;
  PackedModel::Open(path_)->CreateBlobs(&got);
  ExpectTensor<int64_t>(got, "int64", {2, 1}, {1, -5});
  ExpectTensor<bool>(got, "bool", {2}, {true, false});
  ExpectTensor<uint8_t>(got, "uint8", {}, {200});
  ExpectTensor<float>(got, "empty", {0, 3}, {});
  ExpectTensor<std::string>(got, "strings", {2}, {"a", "bc"});
  EXPECT_EQ(got.GetBlob("text")->Get<std::string>(), "content");
  const auto& read = got.GetBlob("quantized")->Get<Int8TensorCPU>();
  EXPECT_EQ(read.scale, 0.5f);
  EXPECT_EQ(read.zero_point, 7);
  EXPECT_EQ(read.t.data<uint8_t>()[1], 9);
  EXPECT_FALSE(got.HasBlob("nothing"));
}

TEST_F(PackedModelTest, KeepsBlobsOfOperators) {
  Pack(R"(op { type: "CreateCounter" output: "c" arg { name: "init_count" i: 5 } })",
       R"(external_input: "c" external_output: "y" op { type: "CountUp" input: "c" output: "y" })");
  Model packed = LoadModel({.predict_net = path_});
  Workspace ws;
  RunInitNets(&packed, &ws);
  EXPECT_TRUE(CreatePredictNet(packed, &ws)->Run());
  EXPECT_EQ(Fetch<int64_t>(ws, "y"), std::vector<int64_t>{5});
}

TEST_F(PackedModelTest, ReportsBlobsThatCannotBeStored) {
  struct Unknown {};
  Workspace ws;
  ws.CreateBlob("odd")->Reset(new Unknown);
  const Model model = LoadPredictNet();
  ExpectThrows([&] { ModelPacker(model, ws); }, "odd");
}

// The init net of a predictor database leaves the reader of the database in the workspace.
TEST_F(PackedModelTest, PacksAModelOfAPredictorDatabase) {
  MetaNetDef meta;
  const auto add = [&meta](const char* key, const std::string& text) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  };
  add("PREDICT_NET_TYPE", kPredict);
  add("PREDICT_INIT_NET_TYPE", "");
  add("GLOBAL_INIT_NET_TYPE", R"(external_input: "!!PREDICTOR_DBREADER"
      op { type: "Load" input: "!!PREDICTOR_DBREADER" output: "w" })");
  Blob net, weight;
  *net.GetMutable<std::string>() = meta.SerializeAsString();
  weight.GetMutableTensor(CPU)->Resize(2);
  weight.GetMutableTensor(CPU)->mutable_data<float>()[0] = 10;
  weight.GetMutableTensor(CPU)->mutable_data<float>()[1] = 20;
  {
    const auto database = db::CreateDB("minidb", dir_.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(net, "!!META_NET_DEF"));
    transaction->Put("w", SerializeBlob(weight, "w"));
    transaction->Commit();
  }
  Model model = LoadModel({.predictor_db = dir_.path("p")});
  Workspace ws;
  RunInitNets(&model, &ws);
  const ModelPacker packer(model, ws);
  EXPECT_EQ(packer.num_tensors(), 1u);
  packer.Write(path_);
  Workspace got;
  PackedModel::Open(path_)->CreateBlobs(&got);
  EXPECT_THAT(got.LocalBlobs(), ElementsAre("w"));
  ExpectTensor<float>(got, "w", {2}, {10, 20});
}

class PreparedTest : public PackedModelTest {
 protected:
  // Packs the convolution after a run on `x`. Returns the output of that run.
  std::vector<float> PackPrepared() {
    Model model = LoadPlain(kConvInit, kConvNet);
    Workspace ws;
    RunInitNets(&model, &ws);
    const ModelPacker packer(model, ws);
    FeedInput(&ws);
    EXPECT_TRUE(CreatePredictNet(model, &ws)->Run());
    forms_ = packer.num_forms();
    packer.Write(path_);
    return Fetch<float>(ws, "y");
  }
  static void FeedInput(Workspace* ws) { FeedRandom(ws, "x", {1, 8, 14, 14}); }
  std::vector<float> RunPacked(Workspace* ws) const {
    Model model = LoadModel({.predict_net = path_});
    RunInitNets(&model, ws);
    FeedInput(ws);
    EXPECT_TRUE(CreatePredictNet(model, ws)->Run());
    return Fetch<float>(*ws, "y");
  }

  size_t forms_ = 0;
};

TEST_F(PreparedTest, FormsOfTheFileAreUsed) {
  const std::vector<float> want = PackPrepared();
  ASSERT_EQ(forms_, 1u) << "the convolution does not prepare its filter on this machine";
  Workspace ws;
  EXPECT_EQ(RunPacked(&ws), want);
  const auto forms = ws.GetBlob("f")->Get<Tensor>().storage()->forms().List();
  ASSERT_EQ(forms.size(), 1u);
  const auto file = PackFile::Open(path_);
  // The net did not make one of its own: it lies in the mapping, behind the elements.
  const auto* elements = static_cast<const char*>(ws.GetBlob("f")->Get<Tensor>().raw_data());
  const auto* form = static_cast<const char*>(forms.begin()->second.data.get());
  const PackedTensor& packed = file->index().tensor(0);
  EXPECT_EQ(form - elements,
            static_cast<int64_t>(packed.form(0).block().offset() - packed.block().offset()));
}

TEST_F(PreparedTest, FormsOfAnotherSizeAreMadeAgain) {
  const std::vector<float> want = PackPrepared();
  ASSERT_EQ(forms_, 1u);
  const auto file = PackFile::Open(path_);
  PackedIndex index = file->index();
  const PackedTensor& packed = file->index().tensor(0);
  PackWriter writer(path_);
  *index.mutable_tensor(0)->mutable_block() =
      writer.Add(file->data(packed.block()), packed.block().size());
  *index.mutable_tensor(0)->mutable_form(0)->mutable_block() = writer.Add("short", 5);
  writer.Finish(index);
  Workspace ws;
  EXPECT_EQ(RunPacked(&ws), want);
}

TEST_F(PreparedTest, FormsOfAnotherInstructionSetAreIgnoredWithANote) {
  const std::vector<float> want = PackPrepared();
  const auto file = PackFile::Open(path_);
  PackedIndex index = file->index();
  PackWriter writer(path_);
  PackedTensor* tensor = index.mutable_tensor(0);
  *tensor->mutable_block() =
      writer.Add(file->data(tensor->block()), file->index().tensor(0).block().size());
  const std::string zeros(file->index().tensor(0).form(0).block().size(), '\0');
  *tensor->mutable_form(0)->mutable_block() = writer.Add(zeros.data(), zeros.size());
  index.set_instruction_set("vax");
  writer.Finish(index);
  const Model model = LoadModel({.predict_net = path_});
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_THAT(model.warnings[0], ::testing::HasSubstr("prepared for vax"));
  Workspace ws;
  EXPECT_EQ(RunPacked(&ws), want);
}

TEST_F(PackedModelTest, RunsThatWriteWeightsDoNotChangeWhatIsPacked) {
  Model model = LoadPlain(kInit, R"(external_input: "w"
      op { type: "Scale" input: "w" output: "w" arg { name: "scale" f: 3 } })");
  Workspace ws;
  RunInitNets(&model, &ws);
  const ModelPacker packer(model, ws);
  ASSERT_TRUE(CreatePredictNet(model, &ws)->Run());
  ExpectTensor<float>(ws, "w", {2}, {30, 60});
  packer.Write(path_);
  Workspace got;
  PackedModel::Open(path_)->CreateBlobs(&got);
  ExpectTensor<float>(got, "w", {2}, {10, 20});
}

TEST_F(PackedModelTest, TensorsKeepTheFileMapped) {
  Pack(kInit, kPredict);
  Tensor w;
  {
    Workspace ws;
    PackedModel::Open(path_)->CreateBlobs(&ws);
    w = ws.GetBlob("w")->Get<Tensor>();
  }
  EXPECT_EQ(Values(w), (std::vector<float>{10, 20}));
}

// As those of other nets: below the root, else beside the file.
TEST_F(PackedModelTest, FindsTheDatabasesOfItsNet) {
  const std::string pack = dir_.path("models/model.c2pack");
  dir_.Write("models/near.db", "");
  dir_.Write("root/both.db", "");
  dir_.Write("models/both.db", "");
  Model model = LoadModel({.predict_net = dir_.Write("net.pbtxt", R"(
      op { type: "CreateDB" output: "a" arg { name: "db" s: "near.db" } }
      op { type: "CreateDB" output: "b" arg { name: "db" s: "both.db" } }
      op { type: "CreateDB" output: "c" arg { name: "db" s: "/absolute.db" } })")});
  Workspace ws;
  ModelPacker(model, ws).Write(pack);
  const Model packed = LoadModel({.predict_net = pack, .root = dir_.path("root")});
  std::vector<std::string> found;
  for (const OperatorDef& op : packed.predict_net.op()) found.push_back(GetArgument(op, "db").s());
  EXPECT_THAT(found,
              ElementsAre(dir_.path("models/near.db"), dir_.path("root/both.db"), "/absolute.db"));
  EXPECT_EQ(packed.predict_net.name(), "net");
}

TEST_F(PackedModelTest, ReportsOptionsThatDoNotFit) {
  Pack(kInit, kPredict);
  const std::string init = dir_.Write("init.pbtxt", kInit);
  ExpectThrows([&] { LoadModel({.init_nets = {init}, .predict_net = path_}); },
               "which has its weights");
  ExpectThrows([&] { LoadModel({.predict_net = init, .predictor_db = path_}); },
               "want one of them");
  EXPECT_FALSE(IsPackedModel(init));
  EXPECT_FALSE(IsPackedModel(dir_.path("absent")));
  EXPECT_FALSE(IsPackedModel(dir_.path()));
  ExpectThrows([&] { PackedModel::Open(init); }, "signature");
}

// A form is a prepared copy of a weight, of which one weight may have several.
TEST_F(PreparedTest, CountsTheFormsOfAllWeightsAndWritesThoseOfConstants) {
  Workspace ws;
  for (const char* name : {"a", "b", "c"}) Feed<float>(&ws, name, {2}, {1, 2});
  const auto prepare = [&](const char* blob, const char* key) {
    ws.GetBlob(blob)->Get<Tensor>().storage()->forms().Get(
        key, 16, [](void* to) { std::memset(to, 0, 16); });
  };
  const auto pack = [&](const std::string& ops) {
    const Model model =
        LoadModel({.predict_net = dir_.Write("net.pbtxt",
                                             "external_input: 'x' external_input: 'a' "
                                             "external_input: 'b' external_input: 'c' " +
                                                 ops)});
    const ModelPacker packer(model, ws);
    packer.Write(path_);
    std::string forms = MakeString(packer.num_forms(), " ");
    const auto file = PackFile::Open(path_);
    for (const PackedTensor& tensor : file->index().tensor())
      forms += MakeString(tensor.name(), tensor.form_size());
    return forms + (file->index().instruction_set().empty() ? "" : " isa");
  };
  const std::string sum = "op { type: 'Sum' input: ['x', 'a', 'b', 'c'] output: 'y' } ";
  EXPECT_EQ(pack(sum), "0 a0b0c0");
  prepare("a", "k");
  EXPECT_EQ(pack(sum), "1 a1b0c0 isa");
  prepare("a", "l");
  prepare("c", "k");
  EXPECT_EQ(pack(sum), "3 a2b0c1 isa");
  // What the net changes has no forms in the file.
  EXPECT_EQ(pack(sum + "op { type: 'Sqr' input: 'a' output: 'a' }").substr(2), "a0b0c1 isa");
  EXPECT_EQ(pack(sum + "op { type: 'Sum' input: ['a', 'c'] output: 'a' } "
                       "op { type: 'Copy' input: 'a' output: 'c' }")
                .substr(2),
            "a0b0c0");
}

}  // namespace
}  // namespace caffe2rt::packed_model_test
