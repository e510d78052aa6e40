// Facts of models at their bounds: how images are prepared, which blobs stand for data, where
// models come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/arguments.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/model/image_preparation.h"
#include "caffe2_core/model/model_file.h"
#include "caffe2_core/model/model_inputs.h"
#include "caffe2_core/model/packed_model.h"
#include "caffe2_core/model/preparation.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::model_edges_test {
namespace {

using namespace test;  // used throughout this file
using testing::ElementsAre;
using testing::HasSubstr;

MetaNetDef EntriesOfImages(const std::vector<std::pair<std::string, std::string>>& entries) {
  MetaNetDef meta;
  for (const auto& [key, value] : entries) {
    StringMap* const entry = meta.add_applicationspecificinfo();
    entry->set_key(key);
    entry->set_value(value);
  }
  return meta;
}

TEST(ImagePreparationEdgesTest, SidesHaveUpToAHundredThousandPixels) {
  const ImagePreparation most =
      ImagePreparationOf(EntriesOfImages({{"image.size", "100000x100000"}}));
  EXPECT_EQ(most.transform.resize_to.width, 100000);
  EXPECT_EQ(most.transform.resize_to.height, 100000);
  for (const char* size :
       {"100001x1", "1x100001", "0x1", "1x0", "-1x1", "1x-1", "1", "1x1x1", ""}) {
    EXPECT_THAT(MessageOf([&] {
                  ImagePreparationOf(EntriesOfImages({{"image.size", size}}));
                }),
                HasSubstr("WIDTHxHEIGHT"))
        << size;
  }
}

// Entries of others may stand before, between and behind those of images.
TEST(ImagePreparationEdgesTest, EntriesOfOthersChangeNothing) {
  for (const auto& [entries, known] :
       std::vector<std::pair<std::vector<std::pair<std::string, std::string>>, bool>>{
           {{{"author", "a"}}, false},
           {{{"image.resize", "1"}, {"author", "a"}}, true},
           {{{"author", "a"}, {"image.scale", "2"}}, true},
           {{{"image.scale", "2"}, {"classes", "x\ny"}, {"imagery", "z"}}, true}}) {
    EXPECT_EQ(ImagePreparationOf(EntriesOfImages(entries)).known, known) << entries[0].first;
  }
}

TEST(ImagePreparationEdgesTest, ASideOfOnePixelIsWrittenAndRead) {
  ImagePreparation preparation{.known = true};
  preparation.transform.resize = 1;
  preparation.transform.crop_to = {7, 9};
  preparation.transform.scale = {0.5f};
  MetaNetDef meta;
  AddImagePreparation(preparation, &meta);
  const ImagePreparation read = ImagePreparationOf(meta);
  EXPECT_TRUE(read.known);
  EXPECT_EQ(read.transform.resize, 1);
  EXPECT_EQ(read.transform.crop_to.width, 7);
  EXPECT_EQ(read.transform.crop_to.height, 9);
  EXPECT_EQ(read.transform.resize_to.width, 0);
  EXPECT_EQ(read.transform.scale, std::vector<float>{0.5f});
}

TEST(LoadedModelEdgesTest, ASeedOfZeroIsASeed) {
  Model model;
  model.seed = 0;
  Workspace ws;
  ws.SetRandomSeed(uint64_t{5});
  RunInitNets(&model, &ws);
  EXPECT_EQ(ws.random_seed(), std::optional<uint64_t>(0));
}

// The type that is given counts, whatever the file is.
TEST(LoadedModelEdgesTest, TheTypeOfADatabaseIsTheOneGiven) {
  const TempDir dir;
  {
    const auto database = db::CreateDB("minidb", dir.path("p"), db::NEW);
    database->NewTransaction()->Commit();
  }
  EXPECT_THAT(MessageOf([&] { LoadModel({.predictor_db = dir.path("p"), .db_type = "lmdb"}); }),
              HasSubstr("lmdb"));
}

class PackedZerosTest : public testing::Test {
 protected:
  // The placeholders of zeros of a packed model whose first input is filled so.
  std::vector<std::string> Zeros(const std::string& values, const std::string& net) {
    Model model = LoadModelFromMemory(
        {"op { type: \"GivenTensorFill\" output: \"x\" arg { name: \"shape\" ints: 3 } arg { name: "
         "\"values\" " +
         values + " } }"},
        "name: \"n\" external_input: \"x\" external_output: \"y\" " + net);
    Workspace ws;
    RunInitNets(&model, &ws);
    const std::string path = dir_.path("m.c2pack");
    ModelPacker(model, ws).Write(path);
    Model packed = LoadModel({.predict_net = path});
    Workspace got;
    RunInitNets(&packed, &got);
    packed.placeholders = {"x"};
    packed.zero_placeholders.clear();
    RemoveZeroPlaceholders(&packed, &got);
    std::vector<std::string> names;
    for (const ZeroPlaceholder& zero : packed.zero_placeholders) {
      names.push_back(zero.name);
      EXPECT_EQ(zero.dims, std::vector<int64_t>{3});
    }
    EXPECT_EQ(got.HasBlob("x"), names.empty());
    return names;
  }
  const TempDir dir_;
};

TEST_F(PackedZerosTest, AreBlobsOfZerosThatTheNetOnlyReads) {
  const std::string copy = R"(op { type: "Copy" input: "x" output: "y" })";
  EXPECT_THAT(Zeros("floats: 0 floats: 0 floats: 0", copy), ElementsAre("x"));
  EXPECT_THAT(Zeros("floats: 0 floats: 0 floats: 1", copy), ElementsAre());
  EXPECT_THAT(Zeros("floats: 0 floats: 1 floats: 0", copy), ElementsAre());
  EXPECT_THAT(Zeros("floats: 0 floats: 0 floats: 0",
                    copy + R"( op { type: "Relu" input: "x" output: "x" })"),
              ElementsAre());
}

// A constant that passes leave without a reader stays if it is to be kept.
TEST(KeptConstantsTest, StayWithoutAReader) {
  for (const bool kept : {false, true}) {
    SCOPED_TRACE(kept);
    Workspace ws;
    Feed<float>(&ws, "f", {1, 1, 1, 1}, {2});
    Feed<float>(&ws, "b", {1}, {0});
    for (const char* name : {"s", "v"}) Feed<float>(&ws, name, {1}, {1});
    for (const char* name : {"o", "m"}) Feed<float>(&ws, name, {1}, {0});
    PreparationOptions options;
    options.inputs = {"x"};
    options.free_constants = true;
    if (kept) options.kept = {"s"};
    const Preparation prepared = PrepareNet(ParseNet(R"(name: "n"
        external_input: "x" external_output: "y"
        op { type: "Conv" input: "x" input: "f" input: "b" output: "c" arg { name: "kernel" i: 1 } }
        op { type: "SpatialBN" input: "c" input: "s" input: "o" input: "m" input: "v" output: "y"
             arg { name: "is_test" i: 1 } })"),
                                            options, &ws);
    ASSERT_EQ(prepared.net.op_size(), 1);
    const auto& freed = prepared.freed_constants;
    EXPECT_EQ(std::find(freed.begin(), freed.end(), "s") == freed.end(), kept);
    EXPECT_EQ(ws.HasBlob("s"), kept);
    EXPECT_FALSE(ws.HasBlob("o"));
  }
}

}  // namespace
}  // namespace caffe2rt::model_edges_test
