// Details of models of Caffe in the commands: written nets, shapes that layers were imported for, notes; warnings about
// devices and files that are left out; commands that write to standard output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::imported_details_test {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
namespace fs = std::filesystem;

class ImportedDetailsTest : public ProgramFolder {
 protected:
  // 2 x + 13 for each of the two outputs: a matrix, a bias and a shift.
  void WriteLine() const {
    dir_.Write("line.prototxt", R"(input: "data" input_shape { dim: 1 dim: 1 }
        layer { name: "fc" type: "InnerProduct" bottom: "data" top: "hidden"
                inner_product_param { num_output: 2 } }
        layer { name: "hidden" type: "Power" bottom: "hidden" top: "out"
                power_param { shift: 10 } })");
    dir_.Write("w.caffemodel", R"(layer { name: "fc" type: "InnerProduct"
        blobs { shape { dim: 2 dim: 1 } data: [2, 2] } blobs { shape { dim: 2 } data: [3, 3] } })");
  }
};

TEST_F(ImportedDetailsTest, TwoNetsAreWrittenInTheFormatOfTheOption) {
  WriteLine();
  for (const auto& [to, ending] : {std::pair("", ".pb"), {"binary", ".pb"}, {"text", ".pbtxt"}}) {
    fs::remove_all(dir_.path("new"));
    Words words = {"convert", "DIR/line.prototxt", "--weights", "DIR/w.caffemodel", "--output",
                   "DIR/new/nets"};
    if (*to != 0) words.insert(words.end(), {"--to", to});
    EXPECT_EQ(Out(words), "DIR/new/nets/init_net"s + ending +
                              ": 3 operators\nDIR/new/nets/predict_net" + ending +
                              ": 2 operators\n");
    const std::string init = "new/nets/init_net"s + ending,
                      predict = "new/nets/predict_net"s + ending;
    // A net without a name has that of its file.
    EXPECT_EQ(LoadNet(dir_.path(init)).name(), "line_init");
    EXPECT_EQ(LoadNet(dir_.path(predict)).name(), "line");
    for (const std::string& file : {init, predict})
      EXPECT_EQ(ReadWholeFile(dir_.path(file)).starts_with("name: "), ending == ".pbtxt"s) << file;
    EXPECT_THAT(Out({"run", "--init-net", "DIR/" + init, "--predict-net", "DIR/" + predict,
                     "--input", "data=[[5]]"}),
                HasSubstr("float [1, 2]\n  23 23\n"));
  }
}

// A layer and a blob may have one name: the blob is meant.
TEST_F(ImportedDetailsTest, BlobsComeBeforeLayersOfTheirName) {
  WriteLine();
  const auto fetched = [&](const std::string& name) {
    const std::string json = Out({"run", "DIR/line.prototxt", "--weights", "DIR/w.caffemodel",
                                  "--input", "data=[[5]]", "--fetch", name, "--json"});
    return JsonAt(json, "/outputs/1/name") + JsonAt(json, "/outputs/1/values");
  };
  EXPECT_EQ(fetched("fc"), "\"hidden\"[13,13]");
  EXPECT_EQ(fetched("hidden"), "\"hidden\"[13,13]");
}

TEST_F(ImportedDetailsTest, LayersOfAFixedSizeReportOtherSizes) {
  dir_.Write("crop.prototxt", R"(input: "data" input_shape { dim: 1 dim: 3 dim: 4 dim: 4 }
      input: "small" input_shape { dim: 1 dim: 3 dim: 2 dim: 2 }
      layer { name: "cut" type: "Crop" bottom: "data" bottom: "small" top: "q"
              crop_param { axis: 2 offset: 1 } })");
  const auto run = [&](const std::vector<int64_t>& dims, const Words& more = {}) {
    Tensor data(dims, CPU);
    std::fill_n(data.mutable_data<float>(), data.numel(), 1.f);
    dir_.Write("data.npz", "");
    WriteNpz(dir_.path("data.npz"), {{"data", data}});
    return Run(Joined({"run", "DIR/crop.prototxt", "--input", "DIR/data.npz", "--input",
                       "small=" + std::to_string(dims[0]) + ",3,2,2"},
                      more));
  };
  EXPECT_EQ(run({1, 3, 4, 4}).code, 0);
  EXPECT_EQ(run({2, 3, 4, 4}).code, 0) << "any batch";
  const std::string text = "but layer \"cut\" was imported for [1, 3, 4, 4]; want --input-shape data=";
  EXPECT_EQ(run({1, 3, 8, 4}).err,
            "caffe2: input \"data\" has shape [1, 3, 8, 4], " + text + "1,3,8,4\n");
  EXPECT_EQ(run({1, 3, 4, 5}).err,
            "caffe2: input \"data\" has shape [1, 3, 4, 5], " + text + "1,3,4,5\n");
  EXPECT_EQ(run({1, 2, 4, 4}).err,
            "caffe2: input \"data\" has shape [1, 2, 4, 4], " + text + "1,2,4,4\n");
  EXPECT_EQ(run({3, 4, 4}).err, "caffe2: input \"data\" has shape [3, 4, 4], " + text + "3,4,4\n");
  EXPECT_EQ(run({1, 3, 8, 4}, {"--input-shape", "data=1,3,8,4"}).code, 0);
  const ProgramResult missing = Run({"run", "DIR/crop.prototxt", "--input", "small=1,3,2,2"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.err, HasSubstr("input \"data\" was not given"));
}

TEST_F(ImportedDetailsTest, ANoteStatesThatWeightsAreMissing) {
  WriteLine();
  const std::string note =
      "caffe2: note: no weights are given: the layers are filled as they say for training\n";
  const Words commands[] = {{"run", "DIR/line.prototxt", "--input", "data=1,1"},
                            {"check", "DIR/line.prototxt"},
                            {"inspect", "DIR/line.prototxt"},
                            {"bench", "DIR/line.prototxt", "--input", "data=1,1", "--iterations", "1"},
                            {"pack", "DIR/line.prototxt", "DIR/p.c2"},
                            {"convert", "DIR/line.prototxt", "--output", "DIR/nets"},
                            {"convert", "DIR/line.prototxt", "--output", "DIR/l.onnx"}};
  for (const Words& command : commands) {
    const ProgramResult result = Run(command);
    EXPECT_EQ(result.code, 0) << command[0];
    EXPECT_EQ(result.err, note) << command[0];
    EXPECT_EQ(Run(Joined(command, {"--weights", "DIR/w.caffemodel"})).err, "") << command[0];
  }
}

// --- warnings ---

TEST_F(ImportedDetailsTest, APlanMovesOperatorsThatADeviceLacks) {
  if (Out({"devices"}).find("\nIDEEP ") == std::string::npos) GTEST_SKIP() << "needs IDEEP";
  dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "n" op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 }
                               arg { name: "value" f: 3 } }
        op { type: "Sqr" input: "x" output: "y" device_option { device_type: 5 } } }
      network { name: "m" op { type: "Exp" input: "x" output: "z" device_option { device_type: 5 } }
        op { type: "Sqr" input: "y" output: "w" device_option { device_type: 5 } } }
      execution_step { network: ["n", "m"] })");
  const Words plan = {"plan", "DIR/plan.pbtxt", "--fetch", "w"};
  const ProgramResult moved = Run(plan);
  EXPECT_EQ(moved.code, 0);
  EXPECT_THAT(moved.out, HasSubstr("w  float [1]\n  81\n"));
  EXPECT_EQ(moved.err,
            "caffe2: warning: operators without an implementation for the device that they name "
            "run on the CPU: Exp, Sqr\n");
}

TEST_F(ImportedDetailsTest, EntriesThatAreNoImagesOfAClassAreListed) {
  dir_.Write("pets/cat/1.png", "");
  SavePng(dir_.path("pets/cat/1.png"), {.width = 1, .height = 1, .rgb = {1, 2, 3}});
  dir_.Write("pets/cat/notes.txt", "x");
  const std::string end = " skipped, not an image in the folder of a class: \"cat/notes.txt\"";
  const auto warning = [&](const std::string& name) {
    return Run({"db", "make", "images", "DIR/pets", "--output", "DIR/" + name}).err;
  };
  EXPECT_EQ(warning("a.minidb"),
            "caffe2: warning: folder \"DIR/pets\": 1 entry is" + end + "\n");
  dir_.Write("pets/readme", "x");
  EXPECT_EQ(warning("b.minidb"),
            "caffe2: warning: folder \"DIR/pets\": 2 entries are" + end + ", \"readme\"\n");
}

TEST_F(ImportedDetailsTest, PackedModelsAreNeitherOptimizedNorQuantized) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Abs" input: "x" output: "y" })");
  Out({"pack", "--predict-net", "DIR/net.pbtxt", "DIR/p.c2"});
  const ProgramResult quantize =
      Run({"quantize", "--predict-net", "DIR/p.c2", "--output-predict-net", "DIR/q.pb"});
  EXPECT_EQ(quantize.code, 2);
  EXPECT_EQ(quantize.err,
            "caffe2: want the files of an init net and a predict net, see --help\n");
  const ProgramResult optimize =
      Run({"optimize", "--predict-net", "DIR/p.c2", "--output-predict-net", "DIR/q.pb"});
  EXPECT_EQ(optimize.code, 2);
  EXPECT_EQ(optimize.err,
            "caffe2: the model is packed: want --init-net and --predict-net files, which caffe2 "
            "convert FILE --output FOLDER writes\n");
  EXPECT_FALSE(fs::exists(dir_.path("q.pb")));
}

// --- standard output ---

TEST_F(ImportedDetailsTest, TextBesideAFileOnStandardOutputGoesToStandardError) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [2, 2, 1, 1] } })");
  const Words model = {"--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"};
  const ProgramResult predict =
      Run(Joined({"optimize", "--output-predict-net", "-", "--output-init-net", "DIR/i.pb"}, model));
  EXPECT_EQ(predict.code, 0);
  EXPECT_EQ(predict.err, "1 operator, 1 after optimization\n");
  dir_.Write("o.pb", predict.out);
  EXPECT_EQ(LoadNet(dir_.path("o.pb")).op(0).type(), "Conv");
  const ProgramResult init =
      Run(Joined({"optimize", "--output-predict-net", "DIR/o.pb", "--output-init-net", "-"}, model));
  EXPECT_EQ(init.err, "1 operator, 1 after optimization\n");
  dir_.Write("i.pb", init.out);
  EXPECT_EQ(LoadNet(dir_.path("i.pb")).op(0).type(), "ConstantFill");
  const ProgramResult both =
      Run(Joined({"optimize", "--output-predict-net", "-", "--output-init-net", "-"}, model));
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(both.err,
            "caffe2: standard output is given for --output-init-net - and --output-predict-net -, "
            "want at most one option\n");
  const ProgramResult tune = Run(Joined({"bench", "--tune", "-", "--input", "x=1,2,3,3",
                                         "--iterations", "1", "--warmup", "0"},
                                        model));
  EXPECT_EQ(tune.code, 0);
  EXPECT_TRUE(tune.out.starts_with("# caffe2rt convolution table, version 1\n")) << tune.out;
  EXPECT_THAT(tune.err, HasSubstr("2 to 2 channels, 1 image: "));
  EXPECT_THAT(tune.err, HasSubstr("\nthe net with layouts onednn: "));
  EXPECT_THAT(tune.err, HasSubstr("\nthe net with layouts plain: "));
  EXPECT_THAT(tune.err, HasSubstr("\nwritten to -; --tuning of run and bench reads it\n"));
  // Drawings are what the command prints.
  const ProgramResult drawn = Run({"inspect", "DIR/net.pbtxt", "--dot", "-"});
  EXPECT_TRUE(drawn.out.starts_with("digraph "));
  EXPECT_EQ(drawn.err, "");
}

}  // namespace
}  // namespace caffe2rt::test::imported_details_test
