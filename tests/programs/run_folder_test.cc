// `caffe2 run` on folders, and what it does with images.

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::run_folder_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The sum of the red values, and the whole image.
constexpr char kSum[] = R"(
name: "sum" external_input: "data" external_output: "sum"
op { type: "ReduceBackSum" input: "data" output: "sum" arg { name: "num_reduce_dim" i: 3 } })";

// An image of one colour.
Image Plain(int width, int height, uint8_t value) {
  return {.width = width,
          .height = height,
          .rgb = std::vector<uint8_t>(static_cast<size_t>(width) * static_cast<size_t>(height) * 3,
                                      value)};
}

class RunFolderTest : public ::testing::Test {
 protected:
  RunFolderTest() {
    net_ = dir_.Write("net.pbtxt", kSum);
    std::filesystem::create_directory(dir_.path("in"));
  }
  void AddImage(const std::string& name, int width, int height, uint8_t value) {
    SavePng(dir_.path("in/" + name), Plain(width, height, value));
  }
  ProgramResult Run(std::vector<std::string> more) {
    std::vector<std::string> args = {"run", "--predict-net", net_, "--image", dir_.path("in")};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  const TempDir dir_;
  std::string net_;
};

TEST_F(RunFolderTest, BatchesGiveEachFileItsOwnRow) {
  // Sizes alternate, so that images of one size are not neighbours; the last batches are smaller.
  for (int i = 0; i < 11; ++i)
    AddImage(MakeString("p", 10 + i, ".png"), i % 2 == 0 ? 2 : 3, 2, static_cast<uint8_t>(i));
  for (const char* batch : {"1", "2", "4", "100"}) {
    SCOPED_TRACE(batch);
    const ProgramResult result =
        Run({"--batch", batch, "--threads", "3", "--output", dir_.path("out.npz")});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    const NamedTensors sums = ReadNpz(dir_.path("out.npz"));
    ASSERT_EQ(sums.size(), 11u);
    for (int i = 0; i < 11; ++i) {
      // In the order of the files. Pixels times channels times the value.
      EXPECT_EQ(sums[static_cast<size_t>(i)].first, MakeString("p", 10 + i, ".png"));
      EXPECT_EQ(sums[static_cast<size_t>(i)].second.data<float>()[0], (i % 2 == 0 ? 4 : 6) * 3 * i);
    }
  }
}

TEST_F(RunFolderTest, ReportsLinksToMissingFilesByName) {
  AddImage("a.png", 2, 2, 1);
  std::filesystem::create_symlink("absent.png", dir_.path("in/b.png"));
  std::filesystem::create_symlink("itself", dir_.path("in/itself"));
  std::filesystem::create_symlink("a.png", dir_.path("in/c.png"));
  const ProgramResult result = Run({"--json-lines"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("in/b.png\": No such file"), HasSubstr("in/itself\": ")));
  for (const char* good : {"a.png", "c.png"})
    EXPECT_THAT(result.out, HasSubstr(dir_.path(MakeString("in/", good, "\", \"outputs\""))));
}

// Each needs 17 to 20 MiB: its bytes, its floats, and those of the file before it.
TEST_F(RunFolderTest, FilesThatNeedTooMuchMemoryTogetherRunOneByOne) {
  for (int i = 1; i <= 6; ++i)
    AddImage(MakeString("p", i, ".png"), 800, 800, static_cast<uint8_t>(i));
  for (const char* batch : {"1", "4"}) {
    const ProgramResult result =
        Run({"--threads", "8", "--batch", batch, "--memory-limit", "28M", "--json-lines"});
    EXPECT_EQ(result.code, 0) << result.err;
    for (int i = 1; i <= 6; ++i)
      EXPECT_THAT(result.out, HasSubstr(MakeString("\"values\": [", i * 800 * 800 * 3, "]")));
  }
}

// The first run of this size allocates activations while other files are read.
TEST_F(RunFolderTest, ARunThatNeedsTheMemoryOfWhatWasReadAheadIsRepeated) {
  dir_.Write("net.pbtxt", R"(name: "sum" external_input: "data" external_output: "sum"
    op { type: "Sqrt" input: "data" output: "a" } op { type: "Sqr" input: "a" output: "b" }
    op { type: "Add" input: "a" input: "b" output: "c" }
    op { type: "Sub" input: "c" input: "a" output: "d" }
    op { type: "ReduceBackSum" input: "d" output: "sum" arg { name: "num_reduce_dim" i: 3 } })");
  AddImage("p0.png", 10, 10, 4);
  for (int i = 1; i <= 6; ++i) AddImage(MakeString("p", i, ".png"), 800, 800, i % 2 == 0 ? 1 : 4);
  const ProgramResult result = Run({"--threads", "8", "--memory-limit", "44M", "--json-lines"});
  EXPECT_EQ(result.code, 0) << result.err;
  const std::vector<std::string> lines = absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_THAT(lines[0], HasSubstr("\"values\": [1200]"));
  for (size_t i = 1; i <= 6; ++i)
    EXPECT_THAT(lines[i], HasSubstr(MakeString("\"values\": [", (i % 2 == 0 ? 1 : 4) * 800 * 800 * 3, "]")));
}

TEST_F(RunFolderTest, ABadFileDoesNotShiftTheOthers) {
  for (const char* name : {"a.png", "c.png", "d.png"}) AddImage(name, 2, 2, 1);
  dir_.Write("in/b.png", std::string("\x89PNG\r\n\x1a\n", 8) + "rubbish");
  const ProgramResult result =
      Run({"--batch", "2", "--json-lines", "--output", dir_.path("out.npz")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("b.png\" as PNG: "));
  const std::vector<std::string> lines = absl::StrSplit(result.out, '\n', absl::SkipEmpty());
  ASSERT_EQ(lines.size(), 4u) << result.out;
  EXPECT_EQ(JsonAt(lines[0], "/file"), "\"" + dir_.path("in/a.png") + "\"");
  EXPECT_EQ(JsonAt(lines[0], "/outputs/0/values"), "[12]");
  EXPECT_THAT(JsonAt(lines[1], "/error"), HasSubstr("b.png"));
  EXPECT_EQ(JsonAt(lines[3], "/file"), "\"" + dir_.path("in/d.png") + "\"");
  const NamedTensors saved = ReadNpz(dir_.path("out.npz"));
  ASSERT_EQ(saved.size(), 3u);
  EXPECT_EQ(saved[1].first, "c.png");
}

TEST_F(RunFolderTest, AFileNameIsOneLine) {
  AddImage("a\nb.png", 2, 2, 1);
  EXPECT_THAT(Run({}).out, HasSubstr("a\\x0ab.png"));
}

TEST_F(RunFolderTest, JsonIsOneDocumentWithALineForEachFile) {
  AddImage("a.png", 2, 2, 1);
  AddImage("b.png", 2, 2, 2);
  dir_.Write("in/c.jpg", "\xff\xd8\xff rubbish");
  const ProgramResult result = Run({"--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(JsonAt(result.out, "/net"), "\"sum\"");
  EXPECT_EQ(JsonAt(result.out, "/images/1/file"), "\"" + dir_.path("in/b.png") + "\"");
  EXPECT_EQ(JsonAt(result.out, "/images/1/outputs/0/values"), "[24]");
  EXPECT_THAT(JsonAt(result.out, "/failed/0/file"), HasSubstr("c.jpg"));
  EXPECT_NE(JsonAt(result.out, "/milliseconds"), "");
  EXPECT_NE(JsonAt(result.out, "/threads"), "");
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 4) << result.out;
}

TEST_F(RunFolderTest, ArraysRunLikeImages) {
  for (const int value : {1, 2, 3}) {
    Tensor tensor(std::vector<int64_t>{value == 2 ? 2 : 1, 3, 1, 1}, CPU);
    std::fill_n(tensor.mutable_data<float>(), tensor.numel(), static_cast<float>(value));
    WriteNpy(dir_.path(MakeString("in/", value, ".npy")), tensor);
  }
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run", "--predict-net", net_, "--image", dir_.path("in")},
        {"run", "--predict-net", net_, "--input", "data=" + dir_.path("in")}}) {
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--batch", "2", "--output", dir_.path("out")});
    const ProgramResult result = RunCaffe2(all);
    EXPECT_EQ(result.code, 0) << result.err;
    // The second file has two rows.
    const Tensor sums = ReadNpy(dir_.path("out/sum.npy"));
    EXPECT_EQ(std::vector<float>(sums.data<float>(), sums.data<float>() + sums.numel()),
              (std::vector<float>{3, 6, 6, 9}));
    EXPECT_EQ(ReadWholeFile(dir_.path("out/files.txt")), "1.npy\n2.npy\n2.npy\n3.npy\n");
  }
}

TEST_F(RunFolderTest, NetsWithoutBatchesRunFileByFile) {
  for (int i = 1; i <= 5; ++i) AddImage(MakeString(i, ".png"), 2, 2, static_cast<uint8_t>(i));
  // The sum over the whole batch; a fixed batch of one; rows that depend on the other rows.
  const std::pair<const char*, const char*> nets[] = {
      {R"(op { type: "SumElements" input: "data" output: "y" } external_input: "data")",
       "output \"y\" is float [] for an input of 1 row"},
      // Bytes with a scale, which are no plain tensor.
      {R"(op { type: "Int8Quantize" input: "data" output: "y" arg { name: "Y_scale" f: 0.5 } }
          external_input: "data" external_output: "y")",
       "output \"y\" is quantized uint8 [1, 3, 2, 2], scale 0.5, zero point 0 for an input of 1 "
       "row"},
      {R"(op { type: "Reshape" input: "data" output: "y" output: "s" arg { name: "shape" ints: 1 ints: 12 } }
          external_input: "data" external_output: "y")",
       "a batch of 2 fails: "},
      {R"(op { type: "SumElements" input: "data" output: "s" }
          op { type: "Mul" input: "data" input: "s" output: "y" arg { name: "broadcast" i: 1 } }
          external_input: "data" external_output: "y")",
       "differs between a batch and a run alone"},
      // Rows whose size is that of the batch.
      {R"(op { type: "Flatten" input: "data" output: "r" }
          op { type: "MatMul" input: "r" input: "r" output: "y" arg { name: "trans_b" i: 1 } }
          external_input: "data" external_output: "y")",
       "differs between a batch and a run alone"}};
  for (const auto& [net, reason] : nets) {
    SCOPED_TRACE(net);
    net_ = dir_.Write("other.pbtxt", net);
    const ProgramResult alone = Run({"--json-lines"});
    const ProgramResult batches = Run({"--json-lines", "--batch", "2"});
    EXPECT_EQ(alone.code, 0) << alone.err;
    EXPECT_THAT(alone.err, IsEmpty());
    EXPECT_EQ(batches.code, 0) << batches.err;
    EXPECT_THAT(batches.err,
                AllOf(HasSubstr("net \"other\" runs on one file at a time: "), HasSubstr(reason)));
    EXPECT_EQ(batches.out, alone.out);
  }
}

// The first batch has another size than the first file.
TEST_F(RunFolderTest, TheFirstBatchIsComparedWhateverItsSize) {
  for (int i = 1; i <= 5; ++i) {
    const int side = i == 2 || i == 3 ? 3 : 2;
    AddImage(MakeString(i, ".png"), side, side, static_cast<uint8_t>(i));
  }
  net_ = dir_.Write("other.pbtxt", R"(
      op { type: "SumElements" input: "data" output: "s" }
      op { type: "ReduceBackSum" input: "data" output: "r" arg { name: "num_reduce_dim" i: 3 } }
      op { type: "Mul" input: "r" input: "s" output: "y" arg { name: "broadcast" i: 1 } }
      external_input: "data" external_output: "y")");
  const ProgramResult batches = Run({"--batch", "2", "--output", dir_.path("out.npz")});
  EXPECT_EQ(batches.code, 0) << batches.err;
  EXPECT_THAT(batches.err, AllOf(HasSubstr("2.png"), HasSubstr("differs between a batch and")));
  // The squares of the sums: pixels times channels times the value.
  const float sums[] = {12, 54, 81, 48, 60};
  const NamedTensors squares = ReadNpz(dir_.path("out.npz"));
  ASSERT_EQ(squares.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(squares[i].second.data<float>()[0], sums[i] * sums[i]) << squares[i].first;
  }
}

// A file is run alone, and again in a batch, for which its input must be the original one.
TEST_F(RunFolderTest, NetsThatOverwriteTheirInputRunInBatches) {
  net_ = dir_.Write("in_place.pbtxt", R"(
      op { type: "Scale" input: "data" output: "data" arg { name: "scale" f: 10 } }
      op { type: "ReduceBackSum" input: "data" output: "sum" arg { name: "num_reduce_dim" i: 3 } }
      external_input: "data" external_output: "sum")");
  for (const int side : {2, 3}) {  // of the files after the first one
    SCOPED_TRACE(side);
    for (int i = 1; i <= 4; ++i) {
      AddImage(MakeString(i, ".png"), 2, i == 1 ? 2 : side, static_cast<uint8_t>(i));
    }
    const ProgramResult result = Run({"--batch", "3", "--output", dir_.path("out.npz")});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    const NamedTensors sums = ReadNpz(dir_.path("out.npz"));
    ASSERT_EQ(sums.size(), 4u);
    for (int i = 1; i <= 4; ++i) {  // 10 times pixels times channels times the value
      EXPECT_EQ(sums[static_cast<size_t>(i - 1)].second.data<float>()[0],
                10 * (i == 1 ? 4 : 2 * side) * 3 * i);
    }
  }
}

TEST_F(RunFolderTest, AnErrorOfTheNetIsTheErrorOfTheFile) {
  AddImage("a.png", 2, 2, 1);
  AddImage("b.png", 3, 3, 1);
  AddImage("c.png", 2, 2, 2);
  net_ = dir_.Write("other.pbtxt", R"(
      op { type: "Reshape" input: "data" output: "y" output: "s" arg { name: "shape" ints: -1 ints: 4 } }
      external_input: "data" external_output: "y")");
  const ProgramResult result = Run({"--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("b.png\": "));
  EXPECT_THAT(JsonAt(result.out, "/images/1/file"), HasSubstr("c.png"));
}

TEST_F(RunFolderTest, RowsOfDifferentShapeNeedAnArchive) {
  AddImage("a.png", 2, 2, 1);
  AddImage("b.png", 3, 3, 1);
  net_ = dir_.Write("copy.pbtxt", R"(
      op { type: "Copy" input: "data" output: "y" } external_input: "data" external_output: "y")");
  const ProgramResult folder = Run({"--output", dir_.path("out")});
  EXPECT_EQ(folder.code, 1);
  EXPECT_THAT(folder.err, HasSubstr("b.png\": cannot add float [1, 3, 3, 3] to \""));
  EXPECT_EQ(ReadNpy(dir_.path("out/y.npy")).dims(), (std::vector<int64_t>{1, 3, 2, 2}));
  const ProgramResult archive = Run({"--output", dir_.path("out.npz")});
  EXPECT_EQ(archive.code, 0) << archive.err;
  EXPECT_EQ(ReadNpz(dir_.path("out.npz"))[1].second.dims(), (std::vector<int64_t>{1, 3, 3, 3}));
}

TEST_F(RunFolderTest, SeveralOutputsHaveNamesOfFileAndBlob) {
  AddImage("a.png", 2, 2, 1);
  const ProgramResult result = Run({"--fetch", "data", "--output", dir_.path("out.npz")});
  EXPECT_EQ(result.code, 0) << result.err;
  const NamedTensors saved = ReadNpz(dir_.path("out.npz"));
  ASSERT_EQ(saved.size(), 2u);
  EXPECT_EQ(saved[0].first, "a.png/sum");
  EXPECT_EQ(saved[1].first, "a.png/data");
}

// A net that only prints has nothing to save.
TEST_F(RunFolderTest, ANetWithoutOutputsSavesNothing) {
  AddImage("a.png", 2, 2, 1);
  AddImage("b.png", 2, 2, 2);
  net_ = dir_.Write("print.pbtxt", R"(name: "p" external_input: "data"
      op { type: "Print" input: "data" })");
  for (const char* output : {"out", "out.npz"}) {
    SCOPED_TRACE(output);
    const ProgramResult result = Run({"--output", dir_.path(output), "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(JsonSize(result.out, "/images"), 2u);
    EXPECT_EQ(JsonAt(result.out, "/failed"), "[]");
  }
  EXPECT_FALSE(std::filesystem::exists(dir_.path("out")));
  EXPECT_TRUE(ReadNpz(dir_.path("out.npz")).empty());
}

TEST_F(RunFolderTest, TransformsByNameAndBySides) {
  AddImage("a.png", 8, 4, 100);
  net_ = dir_.Write("copy.pbtxt", R"(
      op { type: "Copy" input: "data" output: "y" } external_input: "data" external_output: "y")");
  const std::string image = dir_.path("in/a.png");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net_, "--image", image, "--resize", "6x5", "--crop", "2x3",
                 "--std", "4", "--mean", "20", "--interpolation", "bicubic", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/outputs/0/dims"), "[1,3,3,2]");
  EXPECT_EQ(JsonAt(result.out, "/outputs/0/values/0"), "20");
  EXPECT_EQ(JsonAt(result.out, "/inputs/0/source"), "\"a.png (resized 8x4 -> 6x5, centre 2x3)\"");
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{"--resize", "6x"}, "option --resize is \"6x\", want a number or WIDTHxHEIGHT"},
      {{"--crop", "0x4"}, "option --crop is \"0x4\""},
      {{"--interpolation", "bicubc"}, "did you mean bicubic?"},
      {{"--std", "0"}, "option --std is \"0\", want numbers other than 0"}};
  for (const auto& [args, text] : wrong) {
    const ProgramResult failed = Run(args);
    EXPECT_EQ(failed.code, 2);
    EXPECT_THAT(failed.err, HasSubstr(text));
  }
}

TEST_F(RunFolderTest, SavesAnOutputAsAnImage) {
  AddImage("a.png", 3, 2, 40);
  net_ = dir_.Write("copy.pbtxt", R"(
      op { type: "Copy" input: "data" output: "y" } external_input: "data" external_output: "y")");
  const std::string image = dir_.path("in/a.png"), saved = dir_.path("y.png");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net_, "--image", image, "--save-image", "y=" + saved});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(LoadImage(saved).rgb, Plain(3, 2, 40).rgb);
  EXPECT_EQ(RunCaffe2({"run", "--predict-net", net_, "--save-image", "y=a.gif"}).code, 2);
  EXPECT_EQ(RunCaffe2({"run", "--predict-net", net_, "--save-image", "y"}).code, 2);
}

TEST_F(RunFolderTest, StyleNetsReadAndWriteBytes) {
  AddImage("a.png", 3, 2, 40);
  // The mean is subtracted and added again.
  const std::string init = dir_.Write("init.pbtxt", R"(op {
      type: "GivenTensorFill" output: "mean" arg { name: "shape" ints: 3 }
      arg { name: "values" floats: 10 floats: 20 floats: 30 } })");
  net_ = dir_.Write("style.pbtxt", R"(
      external_input: "bytes" external_input: "mean" external_output: "styled"
      op { type: "PackedInt8BGRANHWCToNCHWCStylizerPreprocess" input: "bytes" input: "mean" output: "x"
           arg { name: "noise_std" f: 0 } }
      op { type: "BRGNCHWCToPackedInt8BGRAStylizerDeprocess" input: "x" input: "mean" output: "styled" })");
  const std::string image = dir_.path("in/a.png"), saved = dir_.path("styled.png");
  const ProgramResult result = RunCaffe2({"run", "--init-net", init, "--predict-net", net_,
                                          "--image", image, "--save-image", "styled=" + saved});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("uint8 [1, 2, 3, 4]   a.png (BGRA bytes)"),
                                HasSubstr("\nstyled  saved as " + saved)));
  // Bytes have the size of the options, too.
  const std::pair<std::vector<std::string>, const char*> sizes[] = {
      {{"--resize", "6x4"}, "uint8 [1, 4, 6, 4]   a.png (resized 3x2 -> 6x4, BGRA bytes)\n"},
      {{"--resize", "1"}, "uint8 [1, 1, 2, 4]   a.png (resized 3x2 -> 1, BGRA bytes)\n"},
      {{"--crop", "1x2"}, "uint8 [1, 2, 1, 4]   a.png (centre 1x2, BGRA bytes)\n"},
      {{"--resize", "6x4", "--crop", "2"},
       "uint8 [1, 2, 2, 4]   a.png (resized 3x2 -> 6x4, centre 2, BGRA bytes)\n"}};
  for (const auto& [options, text] : sizes) {
    std::vector<std::string> args = {"run", "--init-net", init, "--predict-net",
                                     net_,  "--image",    image};
    args.insert(args.end(), options.begin(), options.end());
    EXPECT_THAT(RunCaffe2(args).out, HasSubstr(text));
  }
  const ProgramResult unknown = RunCaffe2({"run", "--init-net", init, "--predict-net", net_,
                                           "--image", image, "--save-image", "out=" + saved});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_THAT(unknown.err, HasSubstr("after the run; outputs of the net: \"styled\""));
  EXPECT_EQ(LoadImage(saved).rgb, Plain(3, 2, 40).rgb);
  const ProgramResult wrong = RunCaffe2(
      {"run", "--init-net", init, "--predict-net", net_, "--image", image, "--mean", "1"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("option --mean does not apply"));
}

TEST_F(RunFolderTest, ProbabilitiesAreShownAsClasses) {
  const std::string net = dir_.Write("softmax.pbtxt", R"(
      op { type: "Copy" input: "x" output: "y" } external_input: "x" external_output: "y")");
  const auto run = [&](const std::vector<float>& row, std::vector<std::string> more) {
    Tensor tensor(std::vector<int64_t>{1, static_cast<int64_t>(row.size())}, CPU);
    std::copy(row.begin(), row.end(), tensor.mutable_data<float>());
    WriteNpy(dir_.path("x.npy"), tensor);
    more.insert(more.begin(), {"run", "--predict-net", net, "--input", "x=" + dir_.path("x.npy")});
    return RunCaffe2(more).out;
  };
  const std::vector<float> row = {0.05f, 0.5f, 0.1f, 0.15f, 0.02f, 0.08f, 0.1f};
  EXPECT_THAT(run(row, {}),
              AllOf(HasSubstr("y  float [1, 7]\n  0.500  class 1\n  0.150  class 3\n  0.100  "
                              "class 2\n  0.100  class 6\n  0.080  class 5\n"),
                    Not(HasSubstr("class 0"))));
  EXPECT_THAT(run(row, {"--json"}), AllOf(HasSubstr("\"values\""), Not(HasSubstr("\"top\""))));
  EXPECT_THAT(run({0.5f, 0.498f}, {}), Not(HasSubstr("class")));  // the sum is 0.998
  EXPECT_THAT(run({0.5f, 0.4995f}, {}), HasSubstr("class"));
  EXPECT_THAT(run({1.5f, -0.5f}, {}), Not(HasSubstr("class")));
  EXPECT_THAT(run({1}, {}), Not(HasSubstr("class")));
}

TEST(RunFolderOnSharedFilesTest, BatchesOfSqueezenetEqualSingleRuns) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet/init_net.pb");
  SKIP_WITHOUT_SHARED("data/images/cat.jpg");
  const std::string model = SharedPath("models/c2_squeezenet");
  const TempDir dir;
  NamedTensors saved[2];
  for (const int i : {0, 1}) {
    const std::string path = dir.path(MakeString(i, ".npz"));
    const ProgramResult result = RunCaffe2(
        {"run", "--init-net", model + "/init_net.pb", "--predict-net", model + "/predict_net.pb",
         "--image", SharedPath("data/images"), "--mean", "104,117,123", "--bgr", "--resize",
         "227x227", "--batch", i == 0 ? "1" : "4", "--output", path});
    ASSERT_EQ(result.code, 0) << result.err;
    saved[i] = ReadNpz(path);
  }
  ASSERT_EQ(saved[0].size(), saved[1].size());
  for (size_t file = 0; file < saved[0].size(); ++file) {
    EXPECT_EQ(saved[0][file].first, saved[1][file].first);
    const Tensor &alone = saved[0][file].second, &batched = saved[1][file].second;
    ASSERT_EQ(alone.dims(), batched.dims());
    for (int64_t k = 0; k < alone.numel(); ++k)
      ASSERT_NEAR(alone.data<float>()[k], batched.data<float>()[k], 1e-5) << saved[0][file].first;
  }
}

}  // namespace
}  // namespace caffe2rt::test::run_folder_test
