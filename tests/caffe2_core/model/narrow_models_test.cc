// What decides about the preparation of a model in narrow cases: weights that are listed as inputs,
// what a packed net was prepared for, precisions without ranges, and operators that are not
// rehearsed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/graph/passes/conv_layouts.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/meta_net.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/net_report.h"
#include "caffe2_core/model/onnx_model.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/packed_preparation.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/model/rehearsal.h"
#include "caffe2_core/runtime/workspace.h"
#include "caffe2rt/onnx.pb.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::narrow_models_test {
namespace {

using ::testing::ElementsAre;

// y = m (3 x + 1). The factor is folded into the convolution if it is a constant.
constexpr char kFolded[] = R"(
    name: "n" external_input: "x" external_input: "w" external_input: "b" external_input: "m"
    external_output: "y"
    op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
    op { type: "Mul" input: "t" input: "m" output: "y" })";
constexpr char kFoldedInit[] = R"(
    op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
         arg { name: "values" floats: 3 } }
    op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
         arg { name: "values" floats: 1 } }
    op { type: "GivenTensorFill" output: "m" arg { name: "shape" ints: 1 }
         arg { name: "values" floats: 2 } })";

Tensor OneNumber(const std::vector<int64_t>& dims, float value) {
  Tensor tensor(dims, CPU);
  tensor.mutable_data<float>()[0] = value;
  return tensor;
}

// --- inputs of predictors ---

MetaNetDef FoldedMeta(const std::vector<std::string>& inputs) {
  MetaNetDef meta;
  for (const auto& [key, text] :
       {std::pair("PREDICT_NET_TYPE", kFolded), {"GLOBAL_INIT_NET_TYPE", kFoldedInit}}) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  }
  if (inputs.empty()) return meta;
  BlobsMap* const entry = meta.add_blobs();
  entry->set_key("INPUTS_BLOB_TYPE");
  for (const std::string& input : inputs) entry->add_value(input);
  return meta;
}

// A weight that is listed as an input is none of the constants, so that it is not folded.
TEST(NarrowPredictorTest, ListedInputsAreNoConstants) {
  const struct {
    std::vector<std::string> listed;
    size_t operators;
  } rows[] = {{{}, 1}, {{"x"}, 1}, {{"x", "m"}, 2}, {{"m", "x"}, 2}};
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::PrintToString(row.listed));
    Predictor predictor(FoldedMeta(row.listed));
    if (!row.listed.empty()) {
      EXPECT_EQ(predictor.input_names(), row.listed);
    }
    EXPECT_EQ(predictor.Report().operators.size(), row.operators);
    Predictor::TensorMap inputs = {{"x", OneNumber({1, 1, 1, 1}, 5)}}, outputs;
    ASSERT_TRUE(predictor(inputs, &outputs));
    EXPECT_EQ(outputs.at("y").data<float>()[0], 32);
    if (row.operators == 1 && !row.listed.empty()) continue;
    inputs["m"] = OneNumber({1}, 10);
    ASSERT_TRUE(predictor(inputs, &outputs));
    EXPECT_EQ(outputs.at("y").data<float>()[0], 160);
  }
}

// --- packed nets ---

class NarrowPackTest : public testing::Test {
 protected:
  NarrowPackTest() {
    Model model = LoadModelFromMemory({kFoldedInit}, kFolded);
    Workspace ws;
    RunInitNets(&model, &ws);
    ModelPacker packer(model, ws);
    Feed<float>(&ws, "x", {1, 1, 1, 2}, {5, 5});
    packer.Prepare({.inputs = {"x"}, .kept = {"y"}}, &ws);
    packer.Write(path_);
  }
  // Whether the stored net is used with options that `change` has changed.
  bool IsUsed(const std::function<void(PreparationOptions*)>& change) const {
    Model model = LoadModel({.predict_net = path_});
    Workspace ws;
    RunInitNets(&model, &ws);
    PreparationOptions options{.inputs = {"x"}, .kept = {"y"}};
    options.input_shapes["x"] =
        CreateTensorShape(std::vector<int64_t>{1, 1, 1, 2}, TensorProto::FLOAT);
    change(&options);
    const std::optional<Preparation> used =
        UseStoredPreparation(*model.packed, model.predict_net, options, &ws);
    if (used.has_value()) {
      EXPECT_EQ(used->net.op_size(), 1);
      EXPECT_EQ(ws.HasBlob("m"), !options.free_constants);
    }
    return used.has_value();
  }
  const TempDir dir_;
  const std::string path_ = dir_.path("m.c2pack");
};

TEST_F(NarrowPackTest, EachConditionAloneDecides) {
  const struct {
    const char* what;
    bool used;
    std::function<void(PreparationOptions*)> change;
  } rows[] = {
      {"the same", true, [](PreparationOptions*) {}},
      {"no input is known", true, [](PreparationOptions* o) { o->inputs.clear(); }},
      {"a constant is an input", false, [](PreparationOptions* o) { o->inputs.insert("m"); }},
      {"an input that nothing reads", true, [](PreparationOptions* o) { o->inputs.insert("q"); }},
      {"nothing is kept", true, [](PreparationOptions* o) { o->kept.clear(); }},
      {"another blob is kept", false, [](PreparationOptions* o) { o->kept.insert("t"); }},
      {"no shape is known", true, [](PreparationOptions* o) { o->input_shapes.clear(); }},
      {"another shape", false, [](PreparationOptions* o) { o->input_shapes["x"].set_dims(3, 3); }},
      {"another rank", false, [](PreparationOptions* o) { o->input_shapes["x"].add_dims(1); }},
      {"another type", false,
       [](PreparationOptions* o) { o->input_shapes["x"].set_data_type(TensorProto::DOUBLE); }},
      {"a shape that the file lacks", false,
       [](PreparationOptions* o) { o->input_shapes["z"] = o->input_shapes["x"]; }},
      {"deterministic", false, [](PreparationOptions* o) { o->deterministic = true; }},
      {"without a pass", false,
       [](PreparationOptions* o) { o->without_passes = {"fold_batch_norm"}; }},
      {"another precision", false,
       [](PreparationOptions* o) { o->precision = Precision::kBfloat16; }},
      {"smaller filters", false, [](PreparationOptions* o) { o->winograd_filter_bytes = 1; }},
      {"freed constants", true, [](PreparationOptions* o) { o->free_constants = true; }},
  };
  for (const auto& row : rows) EXPECT_EQ(IsUsed(row.change), row.used) << row.what;
}

// A constant counts if it is the memory of the file, not if it has the same bytes or is only read.
TEST_F(NarrowPackTest, OtherMemoryIsAnotherWeight) {
  const auto is_used = [&](const char* name, float value, bool read_only) {
    Model model = LoadModel({.predict_net = path_});
    Workspace ws;
    RunInitNets(&model, &ws);
    if (name != nullptr) {
      Tensor other = OneNumber(ws.GetBlob(name)->Get<Tensor>().dims(), value);
      if (read_only) other.MarkReadOnly();
      ws.GetBlob(name)->Reset(new Tensor(std::move(other)));
    }
    return UseStoredPreparation(*model.packed, model.predict_net, {.inputs = {"x"}, .kept = {"y"}},
                                &ws)
        .has_value();
  };
  EXPECT_TRUE(is_used(nullptr, 0, false));
  for (const char* name : {"w", "b", "m"}) {
    for (const bool read_only : {false, true}) {
      EXPECT_FALSE(is_used(name, 7, read_only)) << name << read_only;
    }
  }
  // The same file, opened twice, has its weights at another address.
  Model model = LoadModel({.predict_net = path_}), again = LoadModel({.predict_net = path_});
  Workspace ws;
  RunInitNets(&again, &ws);
  const PreparationOptions options{.inputs = {"x"}, .kept = {"y"}};
  EXPECT_FALSE(UseStoredPreparation(*model.packed, model.predict_net, options, &ws).has_value());
  EXPECT_TRUE(UseStoredPreparation(*again.packed, again.predict_net, options, &ws).has_value());
}

// What was kept when the file was made may be read, though it is no output: the Conv is not folded.
TEST_F(NarrowPackTest, KeptBlobsAreThoseOfTheFile) {
  const std::string path = dir_.path("kept.c2pack");
  {
    Model model = LoadModelFromMemory({kFoldedInit}, kFolded);
    Workspace ws;
    RunInitNets(&model, &ws);
    ModelPacker packer(model, ws);
    EXPECT_EQ(packer.Prepare({.inputs = {"x"}, .kept = {"t"}}, &ws).net.op_size(), 2);
    packer.Write(path);
  }
  const auto is_used = [&](const std::set<std::string>& kept) {
    Model model = LoadModel({.predict_net = path});
    Workspace ws;
    RunInitNets(&model, &ws);
    return UseStoredPreparation(*model.packed, model.predict_net, {.inputs = {"x"}, .kept = kept},
                                &ws)
        .has_value();
  };
  EXPECT_TRUE(is_used({}));
  EXPECT_TRUE(is_used({"t"}));
  EXPECT_TRUE(is_used({"t", "y"}));
  EXPECT_FALSE(is_used({"t", "w"}));
  EXPECT_FALSE(is_used({"w"}));
}

// --- precisions ---

// Bytes need the ranges of inputs, whatever the net states about their cost.
TEST(NarrowPrecisionTest, AutoTakesBytesWithRangesOnly) {
  NetDef net = ParseNet(kFolded);
  const PreparationOptions options{
      .deterministic = true, .precision = Precision::kAuto, .min_snr_db = 30};
  *net.add_arg() = MakeArgument(kInt8SnrArgument, 35.0f);
  *net.add_arg() = MakeArgument(kPairLimitedSnrArgument, 35.0f);
  EXPECT_EQ(ChosenPrecision(net, options), Precision::kFloat32);
  *net.mutable_op(0)->add_arg() = MakeArgument("input_min", 0.0f);
  EXPECT_EQ(ChosenPrecision(net, options), Precision::kFloat32);
  *net.mutable_op(0)->add_arg() = MakeArgument("input_max", 5.0f);
  EXPECT_EQ(ChosenPrecision(net, options),
            WhyNoInt8Convs().empty() ? Precision::kInt8 : Precision::kFloat32);
}

// --- rehearsals ---

TEST(NarrowRehearsalTest, OperatorsWithNetsAreNotRehearsed) {
  const auto computes = [](const std::string& op) {
    return OnlyComputes(ParseOp("input: 'x' output: 'y' " + op), nullptr);
  };
  EXPECT_TRUE(computes("type: 'Relu'"));
  EXPECT_TRUE(computes("type: 'Relu' arg { name: 'any' i: 1 }"));
  EXPECT_FALSE(computes("type: 'Relu' arg { name: 'any' n { name: 'n' } }"));
  EXPECT_FALSE(computes("type: 'Relu' arg { name: 'any' nets { name: 'n' } }"));
  EXPECT_FALSE(computes("type: 'Relu' arg { name: 'step_net' s: 'name: \"n\"' }"));
  EXPECT_FALSE(computes("type: 'Relu' arg { name: 'backward_step_net' s: '' }"));
  EXPECT_FALSE(computes("type: 'NarrowNoSuchOperator'"));
  EXPECT_FALSE(computes("type: 'Print'"));
  EXPECT_FALSE(computes("type: 'UniformFill'"));
  EXPECT_FALSE(computes("type: 'Load'"));
  EXPECT_FALSE(computes("type: 'DequeueBlobs'"));
  EXPECT_FALSE(computes("type: 'Allreduce' engine: 'GLOO'"));
}

// --- what is loaded ---

// Inputs of any type have the shape that the file states.
TEST(NarrowLoadingTest, IntegerInputsOfOnnxHaveTheirShape) {
  onnx::ModelProto proto;
  proto.set_ir_version(8);
  proto.add_opset_import()->set_version(18);
  onnx::GraphProto* const graph = proto.mutable_graph();
  graph->set_name("g");
  for (const auto& [name, type] : {std::pair("a", onnx::TensorProto::INT64),
                                   {"b", onnx::TensorProto::FLOAT},
                                   {"c", onnx::TensorProto::BOOL}}) {
    onnx::ValueInfoProto* const input = graph->add_input();
    input->set_name(name);
    input->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    auto* const shape = input->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const int64_t dim : {2, 3}) shape->add_dim()->set_dim_value(dim);
    onnx::NodeProto* const node = graph->add_node();
    node->set_op_type("Identity");
    node->add_input(name);
    node->add_output(std::string(name) + "_copy");
    graph->add_output()->set_name(std::string(name) + "_copy");
  }
  const Model model = LoadModelFromMemory({}, proto.SerializeAsString());
  EXPECT_THAT(model.inputs, ElementsAre("a", "b", "c"));
  for (const char* name : {"a", "b", "c"}) {
    EXPECT_THAT(model.input_shapes.at(name), ElementsAre(2, 3)) << name;
    EXPECT_THAT(model.input_dims.at(name), ElementsAre(2, 3)) << name;
  }
  EXPECT_EQ(model.input_types.at("a"), TensorProto::INT64);
  EXPECT_EQ(model.input_types.at("c"), TensorProto::BOOL);
}

// A file that is damaged is what its name says, so that the error is about that.
TEST(NarrowLoadingTest, DamagedFilesOfOnnxCountByTheirName) {
  const TempDir dir;
  EXPECT_TRUE(IsOnnxFile(dir.Write("a.onnx", "\xff\xfe\x01 nothing")));
  EXPECT_FALSE(IsOnnxFile(dir.Write("a.onnx.pb", "\xff\xfe\x01 nothing")));
  EXPECT_FALSE(IsOnnxFile(dir.Write("b.onnx", kFolded)));
}

// A predictor whose name begins with that of another one is not taken for it.
TEST(NarrowLoadingTest, NamesOfPredictorsAreWhole) {
  const TempDir dir;
  {
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    const auto transaction = database->NewTransaction();
    for (const std::string name : {"a_b", "a", "ab"}) {
      MetaNetDef meta;
      NetsMap* const entry = meta.add_nets();
      entry->set_key("PREDICT_NET_TYPE");
      entry->mutable_value()->set_name("net of " + name);
      Blob blob;
      *blob.GetMutable<std::string>() = meta.SerializeAsString();
      transaction->Put("!!META_NET_DEF_" + name, SerializeBlob(blob, "!!META_NET_DEF"));
    }
    transaction->Commit();
  }
  for (const std::string name : {"a", "a_b", "ab"})
    EXPECT_EQ(GetNet(LoadMetaNetDef(dir.path("p"), "minidb", name), "PREDICT_NET_TYPE").name(),
              "net of " + name);
}

// The weights of each binary init net are read apart from it, and each net gets its own back.
TEST(NarrowLoadingTest, EveryInitNetHasItsWeights) {
  const auto fill = [](const char* name, float value) {
    return ParseNet(MakeString("op { type: 'GivenTensorFill' output: '", name,
                               "' arg { name: 'shape' ints: 1 } arg { name: 'values' floats: ",
                               value, " } }"))
        .SerializeAsString();
  };
  const std::string a = fill("a", 2), b = fill("b", 3), c = fill("c", 5);
  const std::string net = "op { type: 'Sum' input: ['x', 'a', 'b', 'c'] output: 'y' }";
  for (const bool text_between : {false, true}) {
    const std::string text =
        "op { type: 'ConstantFill' output: 'b' arg { name: 'shape' ints: 1 } "
        "arg { name: 'value' f: 3 } }";
    Model model = LoadModelFromMemory({a, text_between ? text : b, c}, net);
    ASSERT_EQ(model.init_weights.size(), 3u);
    EXPECT_EQ(model.init_weights[1].size(), text_between ? 0u : 1u);
    Predictor predictor(std::move(model));
    Predictor::TensorMap outputs;
    ASSERT_TRUE(predictor(Predictor::TensorMap{{"x", OneNumber({1}, 10)}}, &outputs));
    EXPECT_EQ(outputs.at("y").data<float>()[0], 20);
  }
}

// --- calls ---

// The seed of the options counts before that of the model.
TEST(NarrowPredictorTest, TheSeedOfTheOptionsComesFirst) {
  const std::string net =
      "name: 'n' op { type: 'UniformFill' output: 'y' arg { name: 'shape' ints: 4 } }";
  const auto drawn = [&](std::optional<uint64_t> of_model, std::optional<uint64_t> of_options) {
    ModelFileOptions options;
    options.seed = of_model;
    Predictor predictor(LoadModelFromMemory({}, net, options), {.random_seed = of_options});
    Predictor::TensorList outputs;
    EXPECT_TRUE(predictor(Predictor::TensorList(), &outputs));
    const float* const y = outputs.at(0).data<float>();
    return std::vector<float>(y, y + 4);
  };
  const std::vector<float> five = drawn({}, 5), six = drawn({}, 6);
  EXPECT_NE(five, six);
  EXPECT_EQ(drawn(5, {}), five);
  EXPECT_EQ(drawn(5, 6), six);
  EXPECT_EQ(drawn(6, 5), five);
}

TEST(NarrowPredictorTest, EachInputOfACallIsATensor) {
  Predictor predictor(NetDef(), ParseNet(R"(name: "n" external_input: "a" external_input: "b"
      external_output: "y" op { type: "Sub" input: "a" input: "b" output: "y" })"));
  Tensor five = OneNumber({1}, 5), two = OneNumber({1}, 2);
  Predictor::TensorVector outputs;
  EXPECT_EQ(MessageOf([&] { predictor.run({nullptr, &two}, &outputs); }), "input 0 is null");
  EXPECT_EQ(MessageOf([&] { predictor.run({&five, nullptr}, &outputs); }), "input 1 is null");
  EXPECT_EQ(
      MessageOf([&] {
        predictor.run_map(Predictor::TensorPointerMap{{"a", &five}, {"b", nullptr}}, &outputs);
      }),
      "input \"b\" is null");
  ASSERT_TRUE(predictor.run({&five, &two}, &outputs));
  EXPECT_EQ(outputs.at(0)->data<float>()[0], 3);
}

}  // namespace
}  // namespace caffe2rt::test::narrow_models_test
