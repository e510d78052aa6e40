// Wrong uses of the commands: each has its exit code and its whole message, and nothing is written.

#include <absl/strings/str_replace.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::wrong_use_test {
namespace {

// DIR is the folder of the test: net.pbtxt (y = relu(x)), x.npy (float [1, 2]), i.npy (int32 [2]), mean.npy (float [2,
// 3, 3]), the folder "images" with a.png and b.png of 2 x 2 pixels, an empty file "empty", and files of JSON.
struct Use {
  std::vector<std::string> args;
  int code;
  const char* message;  // behind "caffe2: "
};

class WrongUseTest : public ::testing::Test {
 protected:
  WrongUseTest() {
    dir_.Write(
        "net.pbtxt",
        R"(name: "n" external_input: "x" external_output: "y" op { type: "Relu" input: "x" output: "y" })");
    Tensor x({1, 2}, CPU), i({2}, CPU), mean({2, 3, 3}, CPU);
    std::fill_n(x.mutable_data<float>(), x.numel(), 1.0f);
    std::fill_n(i.mutable_data<int32_t>(), i.numel(), 1);
    std::fill_n(mean.mutable_data<float>(), mean.numel(), 1.0f);
    WriteNpy(dir_.path("x.npy"), x);
    WriteNpy(dir_.path("i.npy"), i);
    WriteNpy(dir_.path("mean.npy"), mean);
    dir_.Write("empty", "");
    dir_.Write("text.json", "not json");
    dir_.Write("list.json", "[1]");
    dir_.Write("object.json", "{\"median_ms\": 1}");
    dir_.Write("images/a.png", "");
    for (const char* name : {"images/a.png", "images/b.png"})
      SavePng(dir_.path(name), {.width = 2, .height = 2, .rgb = std::vector<uint8_t>(12, 7)});
  }
  size_t Files() const {
    const std::filesystem::recursive_directory_iterator begin(dir_.path("")), end;
    return static_cast<size_t>(std::distance(begin, end));
  }
  void Check(const std::vector<Use>& uses) const {
    const size_t files = Files();
    for (const Use& use : uses) {
      std::vector<std::string> args;
      for (const std::string& arg : use.args)
        args.push_back(absl::StrReplaceAll(arg, {{"DIR/", dir_.path("")}}));
      const ProgramResult result = RunCaffe2(args);
      EXPECT_EQ(result.code, use.code) << use.message;
      EXPECT_EQ(absl::StrReplaceAll(result.err, {{dir_.path(""), "DIR/"}}),
                "caffe2: " + std::string(use.message) + "\n");
      EXPECT_EQ(Files(), files) << use.message;
    }
  }
  // `caffe2 run` on the net.
  static std::vector<std::string> Run(std::vector<std::string> more) {
    const std::vector<std::string> run = {"run", "--predict-net", "DIR/net.pbtxt"};
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  }
  // With a random input, too.
  static std::vector<std::string> RunX(std::vector<std::string> more) {
    const std::vector<std::string> input = {"--input", "x=1,2"};
    more.insert(more.begin(), input.begin(), input.end());
    return Run(std::move(more));
  }
  static std::vector<std::string> RunImage(std::vector<std::string> more) {
    const std::vector<std::string> image = {"--image", "x=DIR/images/a.png"};
    more.insert(more.begin(), image.begin(), image.end());
    return Run(std::move(more));
  }
  static std::vector<std::string> RunImages(std::vector<std::string> more) {
    const std::vector<std::string> image = {"--image", "x=DIR/images"};
    more.insert(more.begin(), image.begin(), image.end());
    return Run(std::move(more));
  }
  const TempDir dir_;
};

TEST_F(WrongUseTest, NumbersOutOfTheirBounds) {
  Check({
      {RunX({"--iterations", "0"}), 2,
       "option --iterations is \"0\", want a number from 1 to 1000000000"},
      {RunX({"--iterations", "1000000001"}), 2,
       "option --iterations is \"1000000001\", want a number from 1 to 1000000000"},
      {RunX({"--iterations", "a"}), 2,
       "option --iterations is \"a\", want a number from 1 to 1000000000"},
      {RunX({"--top", "0"}), 2, "option --top is \"0\", want a number from 1 to 1000000"},
      {RunX({"--threads", "0"}), 2, "option --threads is \"0\", want a number from 1 to 1024"},
      {RunX({"--threads", "1025"}), 2,
       "option --threads is \"1025\", want a number from 1 to 1024"},
      {RunX({"--timeout", "-1"}), 2,
       "option --timeout is \"-1\", want a number of seconds above 0, at most 1e9"},
      {RunX({"--memory-limit", "5Q"}), 2,
       "option --memory-limit is \"5Q\", want bytes, such as 512M or 4G"},
      {RunImages({"--batch", "0"}), 2, "option --batch is \"0\", want a number from 1 to 65536"},
      {RunImages({"--batch", "65537"}), 2,
       "option --batch is \"65537\", want a number from 1 to 65536"},
      {RunImage({"--resize", "0x3"}), 2,
       "option --resize is \"0x3\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--crop", "3x"}), 2,
       "option --crop is \"3x\", want a number or WIDTHxHEIGHT, sides up to 100000"},
      {RunImage({"--mean", "1,a,3"}), 2,
       "option --mean is \"1,a,3\", want comma-separated numbers"},
      {RunImage({"--mean", "1,2"}), 2, "option --mean has 2 numbers, want 1 or 3"},
      {RunImage({"--scale", "1,2,"}), 2,
       "option --scale is \"1,2,\", want comma-separated numbers"},
      {RunImage({"--scale", "1,2,3,4"}), 2, "option --scale has 4 numbers, want 1 or 3"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--iterations", "0"},
       2,
       "option --iterations is \"0\", want a number from 1 to 10000000"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--warmup", "-1"},
       2,
       "option --warmup is \"-1\", want a number from 0 to 1000000"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--tol", "1,2,3"},
       2,
       "option --tol is \"1,2,3\", want ABS or ABS,REL with numbers that are 0 or greater"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--tol", "-1"},
       2,
       "option --tol is \"-1\", want ABS or ABS,REL with numbers that are 0 or greater"},
  });
}

TEST_F(WrongUseTest, NamesThatAreNotOfTheirSet) {
  Check({
      {RunX({"--precision", "int9"}), 2,
       "option --precision is \"int9\", want f32, bf16, int8 or auto"},
      {RunX({"--executor", "foo"}), 1,
       "executor \"foo\" is not a built-in net type, want for example simple or async_scheduling"},
      {RunX({"--phase", "tset"}), 2, "option --phase is \"tset\", want test or train"},
      {Run({"--input", "x=DIR/i.npy", "--cast", "foat"}), 2,
       "option --cast is \"foat\", want [BLOB=]TYPE, TYPE one of float, double, int32, int64, "
       "uint8, int8, int16, "
       "uint16, bool, uint32, uint64, bfloat16; did you mean float?"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--input", "x=1,2", "--optimize", "frist"},
       2,
       "option --optimize is \"frist\", want first, second, both or none; did you mean first?"},
      {{"convert", "DIR/net.pbtxt", "--to", "png"},
       2,
       "option --to is \"png\", want text, binary, npy, npz, tensorprotos, minidb, leveldb, lmdb, "
       "onnx"},
      {{"receipt", "comapre", "DIR/a", "DIR/b"},
       2,
       "caffe2 receipt is given \"comapre\", want compare; did you mean compare?"},
      {{"outputs"}, 2, "command \"outputs\" is not known (`caffe2 --help` lists all)"},
  });
}

TEST_F(WrongUseTest, InputsThatAreNone) {
  Check({
      {Run({"--input", "x"}), 2,
       "option --input is \"x\", want BLOB=FILE or BLOB=SHAPE, SHAPE as 1,3,224,224"},
      {Run({"--input", "DIR/x.npy"}), 2,
       "file \"DIR/x.npy\" contains no blob name; want --input BLOB=DIR/x.npy"},
      {Run({"--input", "x=[[1,2],[3]]"}), 2,
       "option --input has \"[[1,2],[3]]\", want numbers in lists of equal length, such as [[1, "
       "2], [3, 4]]"},
      {RunX({"--input-shape", "q"}), 2,
       "option --input-shape is \"q\", want BLOB=DIMS, DIMS as 1,3,224,224"},
      {RunX({"--labels", "DIR/empty"}), 1,
       "file \"DIR/empty\" contains no labels, want one per line"},
      {{"inspect", "DIR/net.pbtxt", "--input", "x"},
       2,
       "option --input is \"x\", want BLOB=SHAPE, SHAPE as 1,3,224,224"},
      {RunImage({"--image", "y=DIR/images/b.png"}), 2,
       "images are given for the blobs \"x\" and \"y\", want one blob"},
      {RunImage({"--mean", "DIR/mean.npy"}), 1,
       "image \"DIR/images/a.png\": the mean image has shape [2, 3, 3], want at least that of the "
       "image, [3, 2, 2]; "
       "--resize or --crop makes the image smaller"},
      {{"compare", "DIR/net.pbtxt", "DIR/net.pbtxt", "--image", "x=DIR/images"},
       2,
       "option --image gives several images, want one"},
      {{"compare", "DIR/x.npy", "DIR/mean.npy", "--input", "x=1,2"},
       2,
       "--input, --image and --init-net are given, but \"DIR/x.npy\" is not a net"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/text.json"},
       1,
       "file \"DIR/text.json\" is not a result of `caffe2 bench --json`: it is not JSON"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/list.json"},
       1,
       "file \"DIR/list.json\" is not a result of `caffe2 bench --json`: it is not a JSON object"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--against",
        "DIR/object.json"},
       1,
       "file \"DIR/object.json\" is not a result of `caffe2 bench --json`: key \"net\" is not a "
       "string"},
  });
}

TEST_F(WrongUseTest, OptionsThatNeedOrExcludeOthers) {
  Check({
      {RunX({"--json-lines"}), 2, "option --json-lines is given without images, want --json"},
      {RunX({"--save-image", "y"}), 2,
       "option --save-image is \"y\", want BLOB=FILE.png, or FILE.png with --boxes"},
      {RunX({"--save-image", "y=DIR/y.txt"}), 2,
       "cannot write \"DIR/y.txt\" as an image: its name ends in neither .png nor .jpg"},
      {RunX({"--receipt-all"}), 2,
       "option --receipt-all is given without --receipt FILE, where it is written"},
      {RunImages({"--save-image", "y=DIR/y.png"}), 2,
       "option --save-image is given with several images, want one"},
      {RunImages({"--receipt", "DIR/r.json"}), 2,
       "option --receipt is given with several images, want one"},
      {RunImages({"--stats"}), 2,
       "options --stats and --fetch all are given with several images, want one"},
      {RunImages({"--fetch", "all"}), 2,
       "options --stats and --fetch all are given with several images, want one"},
      {{"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=1,2", "--fail-above", "3"},
       2,
       "option --fail-above is given without --against FILE"},
      {{"gradients", "--predict-net", "DIR/net.pbtxt", "--loss", "y"},
       2,
       "option --output is missing"},
      {{"convert", "DIR/net.pbtxt", "--to", "onnx"}, 2, "want --output FILE.onnx"},
      {{"convert", "DIR/x.npy", "--output", "DIR/a.foo"},
       2,
       "option --output is \"DIR/a.foo\", whose name states no format; want --to npy, npz, "
       "tensorprotos, minidb, "
       "leveldb or lmdb"},
      {{"convert", "DIR/x.npy", "--to", "npy"},
       2,
       "tensors are converted to a file; want --output FILE"},
      {{"convert", "DIR/x.npy", "--to", "lmdb", "--output", "-"},
       2,
       "option --output is \"-\", but a database is not written to standard output"},
      {{"db", "make", "arrays", "DIR/x.npy", "DIR/x.npy"},
       2,
       "the new database has no name; want --output PATH"},
      {{"db", "make", "images", "DIR/images", "--size", "0", "--output", "DIR/q.lmdb"},
       2,
       "option --size needs --raw"},
      {{"db", "make", "images", "DIR/images", "DIR/images", "--output", "DIR/q.lmdb"},
       2,
       "db make images takes a folder with a folder of images for each class"},
      {{"inspect", "DIR/x.npy", "--svg", "-"},
       1,
       "file \"DIR/x.npy\" is a NumPy array (.npy), want a net to draw; --as specifies the kind"},
      {{"inspect", "DIR/x.npy", "--as", "NetDef"},
       1,
       "cannot read \"DIR/x.npy\" as NetDef: it is a NumPy array (.npy)"},
      {{"check", "DIR/x.npy"},
       1,
       "file \"DIR/x.npy\" is a NumPy array (.npy), want a NetDef, PlanDef, MetaNetDef, a packed "
       "model or a "
       "predictor's database; --as specifies the kind"},
      {{"train", "DIR/net.pbtxt", "--output", "DIR/o"},
       1,
       "cannot read \"DIR/net.pbtxt\" as TrainDef: line 1, column 11: Message type \"TrainDef\" "
       "has no field named "
       "\"external_input\""},
  });
}

}  // namespace
}  // namespace caffe2rt::test::wrong_use_test
