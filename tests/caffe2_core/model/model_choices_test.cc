// What decides about a model when it is loaded: types of databases, seeds of 0, fills that another
// fill replaces, entries about images, and inputs of packed models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/pack_file.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/packed_preparation.h"
#include "caffe2_core/model/predictor.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::model_choices_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(ModelChoicesTest, AStatedTypeOfADatabaseIsUsed) {
  const TempDir dir;
  const std::string path = dir.path("base.minidb");
  {
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put("k", "v");
    transaction->Commit();
  }
  const std::string absent = "holds no predictor";
  EXPECT_THAT(MessageOf([&] { LoadModel({.predictor_db = path}); }), HasSubstr(absent));
  EXPECT_THAT(MessageOf([&] { LoadModel({.predictor_db = path, .db_type = "minidb"}); }),
              HasSubstr(absent));
  EXPECT_THAT(MessageOf([&] { LoadModel({.predictor_db = path, .db_type = "abacus"}); }),
              HasSubstr("abacus"));
}

TEST(ModelChoicesTest, ZeroIsASeed) {
  const char* const init =
      R"(op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 1 } })";
  const char* const net = R"(op { type: "Relu" input: "w" output: "y" })";
  Model model = LoadModelFromMemory({init}, net, {.seed = 0});
  Workspace ws;
  ws.SetRandomSeed(7);
  RunInitNets(&model, &ws);
  EXPECT_EQ(ws.random_seed(), 0u);
}

// The elements that were read apart belong to one of two fills of a blob.
TEST(ModelChoicesTest, ElementsBelongToTheFillThatHasThem) {
  const std::string one = "arg { name: 'shape' ints: 1 ints: 1 } ";
  const auto fill = [&](const std::string& values) {
    return "op { type: 'GivenTensorFill' output: 'x' " + one + values + " } ";
  };
  const NetDef net = ParseNet(R"(op { type: "Relu" input: "x" output: "y" })");
  const auto found = [&](const std::string& init_text, int op, float value) {
    const NetDef init = ParseNet(init_text);
    Tensor values(std::vector<int64_t>{1}, CPU);
    values.mutable_data<float>()[0] = value;
    std::vector<std::vector<OperatorWeights>> weights(1);
    weights[0].push_back({.op = op, .arg = 0, .values = std::move(values)});
    return ZeroPlaceholdersOf(net, {&init}, weights, {}).size();
  };
  const std::string three = fill("arg { name: 'values' floats: 3 }"),
                    zero = fill("arg { name: 'values' floats: 0 }");
  EXPECT_EQ(found(fill("") + three, 0, 0), 0u);
  EXPECT_EQ(found(fill("") + zero, 0, 3), 1u);
  EXPECT_EQ(found(three + fill(""), 1, 0), 1u);
  EXPECT_EQ(found(zero + fill(""), 1, 3), 0u);
}

// A net that reads blobs it does not list accepts any name but one that is nearly that of an input.
TEST(ModelChoicesTest, NamesLikeThoseOfInputsAreMisspelt) {
  const NetDef fetches =
      ParseNet(R"(op { type: "RecurrentNetworkBlobFetcher" input: "scratches" output: "steps" })");
  EXPECT_NO_THROW(CheckInputName({&fetches}, "scratches"));
  EXPECT_NO_THROW(CheckInputName({&fetches}, "unlike_all_others"));
  EXPECT_THAT(MessageOf([&] { CheckInputName({&fetches}, "scratchs"); }),
              HasSubstr("reads input \"scratchs\"; close: \"scratches\""));
}

// Packs the net and its blob x, and returns the names of the placeholders that are removed.
std::vector<std::string> RemovedFromPack(const std::string& fill, const std::string& ops) {
  const TempDir dir;
  Model model = LoadModelFromMemory({"op { output: 'x' " + fill + " }"},
                                    "name: 'n' external_input: 'x' external_output: 'y' " + ops);
  model.placeholders = {"x"};
  Workspace ws;
  RunInitNets(&model, &ws);
  ModelPacker(model, ws).Write(dir.path("model.c2pack"));
  Model packed = LoadModel({.predict_net = dir.path("model.c2pack")});
  Workspace loaded;
  RunInitNets(&packed, &loaded);
  RemoveZeroPlaceholders(&packed, &loaded);
  std::vector<std::string> names;
  for (const ZeroPlaceholder& placeholder : packed.zero_placeholders) {
    names.push_back(placeholder.name);
    EXPECT_FALSE(loaded.HasBlob(placeholder.name));
  }
  EXPECT_EQ(loaded.HasBlob("x"), names.empty());
  return names;
}

TEST(ModelChoicesTest, PlaceholdersOfPacksAreZerosThatTheNetOnlyReads) {
  const std::string zeros = "type: 'ConstantFill' arg { name: 'shape' ints: 2 }",
                    shape = "type: 'GivenTensorFill' arg { name: 'shape' ints: 2 } ";
  const std::string reads = "op { type: 'Relu' input: 'x' output: 'y' } ",
                    writes = "op { type: 'Exp' input: 'y' output: 'x' } ";
  EXPECT_THAT(RemovedFromPack(zeros, reads), ElementsAre("x"));
  EXPECT_THAT(RemovedFromPack(zeros, reads + writes), IsEmpty());
  EXPECT_THAT(RemovedFromPack(shape + "arg { name: 'values' floats: 0 floats: 0 }", reads),
              ElementsAre("x"));
  EXPECT_THAT(RemovedFromPack(shape + "arg { name: 'values' floats: 0 floats: 1 }", reads),
              IsEmpty());
  EXPECT_THAT(RemovedFromPack(shape + "arg { name: 'values' floats: 1 floats: 0 }", reads),
              IsEmpty());
}

TEST(ModelChoicesTest, PacksBeginWithTheirSignature) {
  const TempDir dir;
  const std::string signature(kPackSignature);
  EXPECT_TRUE(IsPackedModel(dir.Write("whole", signature)));
  EXPECT_TRUE(IsPackedModel(dir.Write("longer", signature + "x")));
  EXPECT_FALSE(IsPackedModel(dir.Write("shorter", signature.substr(0, signature.size() - 1))));
  EXPECT_FALSE(IsPackedModel(dir.Write("other", std::string(signature.size(), 'x'))));
  EXPECT_FALSE(IsPackedModel(dir.path("absent")));
}

ImagePreparation PreparationOf(const std::vector<std::pair<std::string, std::string>>& entries) {
  MetaNetDef meta;
  for (const auto& [key, value] : entries) {
    StringMap* const entry = meta.add_applicationspecificinfo();
    entry->set_key(key);
    entry->set_value(value);
  }
  return ImagePreparationOf(meta);
}

TEST(ModelChoicesTest, OtherEntriesLeaveWhatIsKnownOfImages) {
  EXPECT_TRUE(PreparationOf({{"image.size", "4x5"}, {"author", "a"}, {"classes", "b"}}).known);
  EXPECT_TRUE(PreparationOf({{"author", "a"}, {"image.new", "1"}}).known);
  EXPECT_FALSE(PreparationOf({{"author", "a"}, {"classes", "b"}, {"images", "c"}}).known);
  const ImagePreparation largest = PreparationOf({{"image.size", "100000x100000"}});
  EXPECT_EQ(largest.transform.resize_to.width, 100000);
  EXPECT_EQ(largest.transform.resize_to.height, 100000);
}

// A size to which images are resized of one pixel, too.
TEST(ModelChoicesTest, EntriesAboutImagesGiveThemBack) {
  for (const int resize : {0, 1, 2}) {
    ImagePreparation preparation{.known = true};
    preparation.transform.resize = resize;
    (resize > 0 ? preparation.transform.crop_to : preparation.transform.resize_to) = {.width = 1,
                                                                                      .height = 2};
    MetaNetDef meta;
    AddImagePreparation(preparation, &meta);
    const ImagePreparation back = ImagePreparationOf(meta);
    EXPECT_EQ(back.transform.resize, resize);
    EXPECT_EQ(back.transform.crop_to.height, resize > 0 ? 2 : 0);
    EXPECT_EQ(back.transform.resize_to.height, resize > 0 ? 0 : 2);
  }
}

TEST(ModelChoicesTest, PreparationsUseAtMostTheThreadsOfTheProcess) {
  Workspace ws;
  const NetDef net = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })");
  const int threads = GetNumThreads();
  EXPECT_NO_THROW(PrepareNet(net, {.threads = threads}, &ws));
  EXPECT_NO_THROW(PrepareNet(net, {.threads = 0}, &ws));
  for (const int wrong : {threads + 1, -1}) {
    ExpectThrows([&] { PrepareNet(net, {.threads = wrong}, &ws); },
                 MakeString("option threads of the preparation of a net is ", wrong, ", want 0 to ",
                            threads));
  }
}

TEST(ModelChoicesTest, ArenasOfTheirSizeStay) {
  MemoryArena arena(0);
  arena.Reserve(1000);
  const uint64_t id = arena.id();
  arena.Reserve(arena.bytes());
  EXPECT_EQ(arena.id(), id);
  arena.Reserve(arena.bytes() + 1);
  EXPECT_GT(arena.id(), id);
}

// relu(2 x - 5), of which the value before relu is an output, too.
MetaNetDef LayerWithTwoOutputs() {
  MetaNetDef meta;
  const auto add_net = [&meta](const char* key, const std::string& text) {
    NetsMap* const entry = meta.add_nets();
    entry->set_key(key);
    *entry->mutable_value() = ParseNet(text);
  };
  const auto add_blobs = [&meta](const char* key, const std::vector<std::string>& names) {
    BlobsMap* const entry = meta.add_blobs();
    entry->set_key(key);
    for (const std::string& name : names) entry->add_value(name);
  };
  add_net("GLOBAL_INIT_NET_TYPE", R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 1 ints: 1 }
           arg { name: "values" floats: 2 } }
      op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
           arg { name: "values" floats: -5 } })");
  add_net("PREDICT_NET_TYPE", R"(name: "n" external_output: "y"
      external_input: "x" external_input: "w" external_input: "b"
      op { type: "FC" input: "x" input: "w" input: "b" output: "h" }
      op { type: "Relu" input: "h" output: "y" })");
  add_blobs("INPUTS_BLOB_TYPE", {"x"});
  add_blobs("OUTPUTS_BLOB_TYPE", {"y", "h"});
  return meta;
}

void ExpectLayer(Predictor* predictor, float x) {
  EXPECT_THAT(predictor->output_names(), ElementsAre("y", "h"));
  Predictor::TensorList inputs(1), outputs;
  inputs[0] = Tensor(std::vector<int64_t>{1, 1}, CPU);
  inputs[0].mutable_data<float>()[0] = x;
  ASSERT_TRUE((*predictor)(inputs, &outputs));
  ASSERT_EQ(outputs.size(), 2u);
  EXPECT_EQ(outputs[0].data<float>()[0], std::max(2 * x - 5, 0.f));
  EXPECT_EQ(outputs[1].data<float>()[0], 2 * x - 5);
}

TEST(ModelChoicesTest, ListedOutputsAreKeptWhateverPassesDo) {
  Predictor predictor(LayerWithTwoOutputs(), nullptr);
  for (const float x : {1.f, 4.f, -3.f}) ExpectLayer(&predictor, x);
}

TEST(ModelChoicesTest, PredictorsOfDatabasesHaveTheListedOutputs) {
  const TempDir dir;
  const std::string path = dir.path("base.minidb"), key = "!!META_NET_DEF";
  {
    Blob text;
    *text.GetMutable<std::string>() = LayerWithTwoOutputs().SerializeAsString();
    const auto database = db::CreateDB("minidb", path, db::NEW);
    const auto transaction = database->NewTransaction();
    transaction->Put(key, SerializeBlob(text, key));
    transaction->Commit();
  }
  Predictor predictor = LoadPredictor(path, "minidb");
  ExpectLayer(&predictor, 4);
}

TEST(ModelChoicesTest, PredictorsMayKeepNoIdleArena) {
  Predictor predictor(LayerWithTwoOutputs(), nullptr, {.idle_arenas = 0});
  for (const float x : {1.f, 4.f}) ExpectLayer(&predictor, x);
}

TEST(ModelChoicesTest, StoredPreparationsStateTheirOptions) {
  Preparation preparation;
  preparation.net = ParseNet(R"(name: "n" op { type: "Relu" input: "x" output: "y" })");
  preparation.passes = {"one", "two"};
  preparation.options.inputs = {"x", "z"};
  preparation.options.kept = {"a", "b"};
  preparation.options.input_shapes["x"] =
      CreateTensorShape(std::vector<int64_t>{2, 3}, TensorProto::FLOAT16);
  const PackedPreparation stored = StorePreparation(preparation);
  EXPECT_THAT(stored.input(), ElementsAre("x", "z"));
  EXPECT_THAT(stored.kept(), ElementsAre("a", "b"));
  EXPECT_THAT(stored.pass(), ElementsAre("one", "two"));
  EXPECT_EQ(stored.net().name(), "n");
  ASSERT_EQ(stored.input_shape_size(), 1);
  EXPECT_EQ(stored.input_shape(0).name(), "x");
  EXPECT_EQ(stored.input_shape(0).data_type(), TensorProto::FLOAT16);
  EXPECT_THAT(stored.input_shape(0).dims(), ElementsAre(2, 3));
  EXPECT_EQ(stored.description(), DescribePreparation(preparation.options));
}

// The factor m is folded into the filter; it is freed unless it is kept.
TEST(ModelChoicesTest, KeptConstantsStayWhereTheNetNeedsThemNoMore) {
  for (const bool kept : {false, true}) {
    Workspace ws;
    Feed<float>(&ws, "w", {1, 1, 1, 1}, {3});
    Feed<float>(&ws, "b", {1}, {1});
    Feed<float>(&ws, "m", {1}, {2});
    PreparationOptions options{.inputs = {"x"}, .free_constants = true};
    if (kept) options.kept = {"m"};
    const Preparation preparation =
        PrepareNet(ParseNet(R"(name: "n" external_input: "x" external_input: "w" external_input: "b"
            external_input: "m" external_output: "y"
            op { type: "Conv" input: "x" input: "w" input: "b" output: "t"
                 arg { name: "kernel" i: 1 } }
            op { type: "Mul" input: "t" input: "m" output: "y" })"),
                   options, &ws);
    EXPECT_EQ(ws.HasBlob("m"), kept);
    EXPECT_FALSE(ws.HasBlob("w"));
    const auto& inputs = preparation.net.external_input();
    EXPECT_EQ(std::count(inputs.begin(), inputs.end(), "m"), kept ? 1 : 0);
    EXPECT_EQ(std::count(inputs.begin(), inputs.end(), "x"), 1);
    EXPECT_EQ(preparation.freed_constants.size(), kept ? 2u : 3u);
  }
}

}  // namespace
}  // namespace caffe2rt::test::model_choices_test
