// How images become inputs: as a predictor's database states it, with a mean image, and as options say instead;
// which files of a folder are images, which input has them, and what is left of files that fail.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/db.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "caffe2rt/metanet.pb.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::prepared_images_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PreparedImagesTest : public ProgramFolder {
 protected:
  // An image of one colour.
  std::string Plain(const std::string& name, int width, int height, uint8_t red, uint8_t green,
                    uint8_t blue) const {
    Image image = {.width = width, .height = height, .rgb = {}};
    for (int i = 0; i < width * height; ++i) image.rgb.insert(image.rgb.end(), {red, green, blue});
    dir_.Write(name, "");
    SavePng(dir_.path(name), image);
    return "DIR/" + name;
  }
  // A predictor's database DIR/p.minidb whose net has the inputs data and other and copies them, with entries that
  // state the images of data.
  void WritePredictor(const std::string& entries) const {
    MetaNetDef meta;
    ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(R"(
        nets { key: "GLOBAL_INIT_NET_TYPE" value { name: "global" } }
        nets { key: "PREDICT_INIT_NET_TYPE" value { name: "init" } }
        nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["data", "other"]
               external_output: ["y", "z"] op { type: "Copy" input: "data" output: "y" }
               op { type: "Copy" input: "other" output: "z" } } }
        blobs { key: "INPUTS_BLOB_TYPE" value: ["data", "other"] }
        blobs { key: "OUTPUTS_BLOB_TYPE" value: ["y", "z"] }
        blobs { key: "PARAMETERS_BLOB_TYPE" })" + entries,
                                                              &meta));
    Blob blob;
    *blob.GetMutable<std::string>() = meta.SerializeAsString();
    const std::unique_ptr<db::DB> database = db::OpenDB("minidb", dir_.path("p.minidb"), db::NEW);
    const std::unique_ptr<db::Transaction> transaction = database->NewTransaction();
    transaction->Put("!!META_NET_DEF", SerializeBlob(blob, "!!META_NET_DEF"));
    transaction->Commit();
  }
  static std::string Entry(const std::string& key, const std::string& value) {
    return " applicationSpecificInfo { key: \"" + key + "\" value: \"" + value + "\" }";
  }
  // The source, shape and first element of each channel of the input of a run with these options.
  std::string Input(const Words& more) const {
    const std::string json = Out(Joined({"run", "--predictor", "DIR/p.minidb", "--image",
                                         "data=DIR/a.png", "--input", "other=1.", "--json"},
                                        more));
    return Described(json, "/outputs/0", JsonAt(json, "/inputs/1/source"));
  }
  static std::string Described(const std::string& json, const std::string& at,
                               const std::string& source) {
    const std::string dims = JsonAt(json, at + "/dims");
    const size_t channels = static_cast<size_t>(dims[3] - '0');
    const size_t plane = JsonSize(json, at + "/values") / channels;
    std::string text = source.substr(1, source.size() - 2) + " " + dims;
    for (size_t c = 0; c < channels; ++c)
      text += " " + JsonAt(json, at + "/values/" + std::to_string(c * plane));
    return text;
  }
};

struct InputOfOptions {
  Words options;
  const char* input;
};

TEST_F(PreparedImagesTest, OptionsReplaceWhatThePredictorStates) {
  Plain("a.png", 6, 4, 10, 20, 30);
  WritePredictor(Entry("image.size", "3x2") + Entry("image.channels", "bgr") +
                 Entry("image.mean", "1,2,3") + Entry("image.scale", "2") +
                 Entry("image.std", "4"));
  // Of blue, green and red: (value - mean) * 2 / 4.
  const InputOfOptions rows[] = {
      {{}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 14.5 9 3.5"},
      {{"--mean", "0"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 15 10 5"},
      {{"--mean", "10,10,10"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 10 5 0"},
      {{"--scale", "1"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 7.25 4.5 1.75"},
      {{"--std", "1"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 58 36 14"},
      {{"--std", "1,2,4"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 58 18 3.5"},
      {{"--bgr"}, "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 14.5 9 3.5"},
      {{"--resize", "0"}, "a.png (BGR) [1,3,4,6] 14.5 9 3.5"},
      {{"--resize", "2x3"}, "a.png (resized 6x4 -> 2x3, BGR) [1,3,3,2] 14.5 9 3.5"},
      {{"--crop", "2x1"}, "a.png (resized 6x4 -> 3x2, centre 2x1, BGR) [1,3,1,2] 14.5 9 3.5"}};
  for (const InputOfOptions& row : rows) EXPECT_EQ(Input(row.options), row.input);
}

TEST_F(PreparedImagesTest, ASquareIsCutOutOfTheCentre) {
  Plain("a.png", 6, 4, 30, 30, 30);
  WritePredictor(Entry("image.size", "2x2") + Entry("image.resize", "2") +
                 Entry("image.channels", "grey"));
  const InputOfOptions rows[] = {
      {{}, "a.png (resized 6x4 -> 2, centre 2x2, grey) [1,1,2,2] 30"},
      {{"--crop", "1x2"}, "a.png (resized 6x4 -> 2, centre 1x2, grey) [1,1,2,1] 30"},
      {{"--crop", "0"}, "a.png (resized 6x4 -> 2, grey) [1,1,2,3] 30"},
      {{"--resize", "4"}, "a.png (resized 6x4 -> 4, centre 2x2, grey) [1,1,2,2] 30"},
      {{"--bgr"}, "a.png (resized 6x4 -> 2, centre 2x2, BGR) [1,3,2,2] 30 30 30"},
      {{"--mean", "10", "--grey"}, "a.png (resized 6x4 -> 2, centre 2x2, grey) [1,1,2,2] 20"}};
  for (const InputOfOptions& row : rows) EXPECT_EQ(Input(row.options), row.input);
  WritePredictor(Entry("image.size", "3x2") + Entry("image.channels", "rgb"));
  Plain("a.png", 6, 4, 10, 20, 40);
  EXPECT_EQ(Input({}), "a.png (resized 6x4 -> 3x2) [1,3,2,3] 10 20 40");
  EXPECT_EQ(Input({"--bgr"}), "a.png (resized 6x4 -> 3x2, BGR) [1,3,2,3] 40 20 10");
  Plain("a.png", 6, 4, 30, 30, 30);
  EXPECT_EQ(Input({"--grey"}), "a.png (resized 6x4 -> 3x2, grey) [1,1,2,3] 30");
  WritePredictor(Entry("image.size", "3x2") + Entry("image.channels", "bgr"));
  EXPECT_EQ(Input({"--grey"}), "a.png (resized 6x4 -> 3x2, grey) [1,1,2,3] 30");
  WritePredictor(Entry("image.size", "3x2") + Entry("image.channels", "rgb"));
  Plain("a.png", 6, 4, 10, 20, 40);
  // Only the first input has such images.
  const std::string json = Out({"run", "--predictor", "DIR/p.minidb", "--image", "other=DIR/a.png",
                                "--input", "data=1.", "--json"});
  EXPECT_EQ(Described(json, "/outputs/1", JsonAt(json, "/inputs/1/source")),
            "a.png [1,3,4,6] 10 20 40");
}

TEST_F(PreparedImagesTest, ClassesOfAPredictorAreItsLabels) {
  WritePredictor(Entry("classes", "cat\\ndog\\nfish\\ncow\\nhen\\nant"));
  const auto run = [&](const Words& more) {
    const std::string out = Out(Joined({"run", "--predictor", "DIR/p.minidb", "--input",
                                        "data=[1,2,6,5,4,3]", "--input", "other=1."},
                                       more));
    const size_t begin = out.find("\ny ") + 1;
    return out.substr(begin, out.find("\nz ") + 1 - begin);
  };
  EXPECT_EQ(run({}),
            "y      float [6]\n  6.000  fish\n  5.000  cow\n  4.000  hen\n  3.000  ant\n"
            "  2.000  dog\n");
  EXPECT_EQ(run({"--top", "1"}), "y      float [6]\n  6.000  fish\n");
  dir_.Write("labels", "a\nb\nc\nd\ne\nf\n");
  EXPECT_EQ(run({"--top", "1", "--labels", "DIR/labels"}), "y      float [6]\n  6.000  c\n");
}

// An image of 3 x 2 pixels of 100. The element at row y and column x of channel c of the mean is 100 c + 10 y + x.
TEST_F(PreparedImagesTest, TheCentreOfAMeanImageIsSubtracted) {
  const std::string image = Plain("a.png", 3, 2, 100, 100, 100);
  dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "data" external_output: "y"
      op { type: "Copy" input: "data" output: "y" })");
  const auto values = [&](const Words& more) {
    return JsonAt(
        Out(Joined({"run", "--predict-net", "DIR/copy.pbtxt", "--image", image, "--json"}, more)),
        "/outputs/0/values");
  };
  Tensor mean(std::vector<int64_t>{1, 3, 6, 5}, CPU), exact({3, 2, 3}, CPU), three({3}, CPU);
  for (int64_t i = 0; i < 90; ++i)
    mean.mutable_data<double>()[i] = static_cast<double>(100 * (i / 30) + 10 * (i / 5 % 6) + i % 5);
  for (int64_t i = 0; i < 18; ++i)
    exact.mutable_data<float>()[i] = static_cast<float>(100 * (i / 6) + 10 * (i / 3 % 2) + i % 3);
  for (int64_t i = 0; i < 3; ++i) three.mutable_data<float>()[i] = static_cast<float>(10 * i);
  WriteNpy(dir_.path("mean.npy"), mean);
  WriteNpy(dir_.path("exact.npy"), exact);
  WriteNpy(dir_.path("three.npy"), three);
  // Of 6 rows the two in the middle, of 5 columns the three.
  EXPECT_EQ(values({"--mean", "DIR/mean.npy"}),
            "[79,78,77,69,68,67,-21,-22,-23,-31,-32,-33,-121,-122,-123,-131,-132,-133]");
  EXPECT_EQ(values({"--mean", "DIR/exact.npy"}),
            "[100,99,98,90,89,88,0,-1,-2,-10,-11,-12,-100,-101,-102,-110,-111,-112]");
  EXPECT_EQ(values({"--mean", "DIR/three.npy", "--scale", "3", "--std", "2"}),
            "[150,150,150,150,150,150,135,135,135,135,135,135,120,120,120,120,120,120]");
  EXPECT_EQ(
      values({"--mean", "DIR/three.npy", "--scale", "1,2,3", "--std", "1,4,2", "--crop", "1"}),
      "[100,45,120]");
  WriteNpy(dir_.path("flat.npy"), Tensor(exact).Clone());
  Tensor wide(std::vector<int64_t>{3, 2, 2}, CPU);
  std::fill_n(wide.mutable_data<float>(), 12, 0.f);
  WriteNpy(dir_.path("narrow.npy"), wide);
  const ProgramResult narrow =
      Run({"run", "--predict-net", "DIR/copy.pbtxt", "--image", image, "--mean", "DIR/narrow.npy"});
  EXPECT_EQ(narrow.code, 1);
  EXPECT_EQ(narrow.err,
            "caffe2: image \"DIR/a.png\": the mean image has shape [3, 2, 2], want at least that "
            "of the image, [3, 2, 3]; --resize or --crop makes the image smaller\n");
}

TEST_F(PreparedImagesTest, AnOutputThatIsNoImageIsNamed) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const ProgramResult result = Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2,3,4",
                                    "--save-image", "y=DIR/y.png"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("caffe2: output \"y\": "));
}

TEST_F(PreparedImagesTest, AnImageIsForTheInputThatIsNamed) {
  const std::string image = Plain("a.png", 2, 2, 1, 1, 1);
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["a", "b"] external_output: "y"
      op { type: "Add" input: ["a", "b"] output: "y" })");
  const ProgramResult named =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "a=" + image});
  EXPECT_EQ(named.code, 1);
  EXPECT_THAT(named.err, HasSubstr("--input b=FILE"));
  dir_.Write("in/a.png", ReadWholeFile(dir_.path("a.png")));
  const ProgramResult folder =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "a=DIR/in"});
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.err, HasSubstr("--input b=FILE"));
  const ProgramResult unnamed = Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", image});
  EXPECT_THAT(unnamed.err, HasSubstr("2 inputs that no init net sets"));
  const ProgramResult none = Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "a=1,3,2,2",
                                  "--input", "b=1,3,2,2", "--image", image});
  EXPECT_EQ(none.code, 1);
  EXPECT_EQ(
      none.err,
      "caffe2: net \"n\" has 0 inputs that no init net sets; want --init-net FILE for weights, "
      "--image BLOB=FILE for an image\n");
}

constexpr char kSums[] = R"(name: "sums" external_input: "data" external_output: ["sum", "flat"]
    op { type: "ReduceBackSum" input: "data" output: "sum" arg { name: "num_reduce_dim" i: 3 } }
    op { type: "Flatten" input: "data" output: "flat" })";

TEST_F(PreparedImagesTest, ImagesOfAFolderAreKnownByTheirContent) {
  dir_.Write("net.pbtxt", kSums);
  Plain("in/a.png", 1, 1, 1, 1, 1);
  for (const auto& [name, value] : {std::pair<const char*, uint8_t>{"b", 2}, {"c", 3}}) {
    Plain("temporary.png", 1, 1, value, value, value);
    dir_.Write(std::string("in/") + name, ReadWholeFile(dir_.path("temporary.png")));
  }
  SaveImage(dir_.path("temporary.jpg"), {.width = 1, .height = 1, .rgb = {4, 4, 4}});
  dir_.Write("in/d", ReadWholeFile(dir_.path("temporary.jpg")));
  Tensor array(std::vector<int64_t>{1, 3, 1, 1}, CPU);
  std::fill_n(array.mutable_data<float>(), 3, 5.f);
  WriteNpy(dir_.path("temporary.npy"), array);
  dir_.Write("in/e", ReadWholeFile(dir_.path("temporary.npy")));
  dir_.Write("in/notes", "about the images");
  dir_.Write("in/empty", "");
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("2 entries are skipped, neither a JPEG or PNG image nor a .npy "
                                    "file: \"empty\", \"notes\"\n"));
  ASSERT_EQ(JsonSize(result.out, "/images"), 5u);
  const char* const names[] = {"a.png", "b", "c", "d", "e"};
  for (size_t i = 0; i < 5; ++i) {
    const std::string at = "/images/" + std::to_string(i);
    EXPECT_EQ(JsonAt(result.out, at + "/file"), std::string("\"DIR/in/") + names[i] + "\"");
    EXPECT_EQ(JsonAt(result.out, at + "/outputs/0/values"),
              "[" + std::to_string(3 * (i + 1)) + "]");
  }
  EXPECT_EQ(JsonAt(result.out, "/failed"), "[]");
}

TEST_F(PreparedImagesTest, WithoutAnyResultADocumentListsTheFailures) {
  dir_.Write("net.pbtxt", kSums);
  dir_.Write("in/a.png", "broken");
  dir_.Write("in/b.png", "broken too");
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/net"), "\"sums\"");
  EXPECT_EQ(JsonAt(result.out, "/images"), "[]");
  EXPECT_EQ(JsonSize(result.out, "/failed"), 2u);
  EXPECT_EQ(JsonAt(result.out, "/failed/1/file"), "\"DIR/in/b.png\"");
}

// The first output fits the array of the files before, the second does not.
TEST_F(PreparedImagesTest, AFileThatFitsOnlySomeArraysIsInNone) {
  dir_.Write("net.pbtxt", kSums);
  Plain("in/a.png", 2, 2, 1, 1, 1);
  Plain("in/b.png", 3, 3, 2, 2, 2);
  Plain("in/c.png", 2, 2, 3, 3, 3);
  const ProgramResult result = Run(
      {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--output", "DIR/results"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("b.png\": cannot add float [1, 27] to \""));
  const Tensor sums = ReadNpy(dir_.path("results/sum.npy"));
  EXPECT_EQ(std::vector<float>(sums.data<float>(), sums.data<float>() + sums.numel()),
            (std::vector<float>{12, 36}));
  EXPECT_EQ(ReadNpy(dir_.path("results/flat.npy")).dims(), (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(ReadWholeFile(dir_.path("results/files.txt")), "a.png\nc.png\n");
}

TEST_F(PreparedImagesTest, BrokenFilesAreNoBatch) {
  dir_.Write("net.pbtxt", kSums);
  for (const char* name : {"in/b.png", "in/c.png", "in/d.png"}) dir_.Write(name, "broken");
  for (const char* name : {"in/a.png", "in/e.png", "in/f.png"}) Plain(name, 2, 2, 1, 1, 1);
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, Not(HasSubstr("runs on one file at a time")));
  EXPECT_EQ(JsonSize(result.out, "/images"), 3u);
  EXPECT_EQ(JsonSize(result.out, "/failed"), 3u);
}

// One row for one image, but not two for two.
TEST_F(PreparedImagesTest, AnOutputWithOneRowForEachBatchIsRunFileByFile) {
  dir_.Write("net.pbtxt", R"(name: "all" external_input: "data" external_output: "y"
      op { type: "SumElements" input: "data" output: "s" }
      op { type: "ExpandDims" input: "s" output: "y" arg { name: "dims" ints: 0 } })");
  for (const auto& [name, value] :
       {std::pair<const char*, uint8_t>{"in/a.png", 1}, {"in/b.png", 2}, {"in/c.png", 3}})
    Plain(name, 1, 1, value, value, value);
  const ProgramResult result =
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("net \"all\" runs on one file at a time: output \"y\" of a "
                                    "batch of 3 is float [1]\n"));
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(JsonAt(result.out, "/images/" + std::to_string(i) + "/outputs/0/values"),
              "[" + std::to_string(3 * (i + 1)) + "]");
}

}  // namespace
}  // namespace caffe2rt::test::prepared_images_test
