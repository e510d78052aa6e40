// Ways through commands that few take: names of files and formats that contradict each other, outputs that are no tensors,
// images beside nets that read bytes, readers of databases, random inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::rare_ways_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;
namespace fs = std::filesystem;

class RareWaysTest : public ProgramFolder {
 protected:
  // An image of one color.
  std::string Plain(const std::string& name, int width, int height, uint8_t value) const {
    dir_.Write(name, "");
    SavePng(dir_.path(name),
            {.width = width,
             .height = height,
             .rgb = std::vector<uint8_t>(static_cast<size_t>(3 * width * height), value)});
    return "DIR/" + name;
  }
  std::string Copy() const {
    dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
    return "DIR/copy.pbtxt";
  }
};

// --- convert ---

// --to decides, whatever the name of the output is.
TEST_F(RareWaysTest, TheOptionDecidesOnTheFormat) {
  dir_.Write("net.pbtxt",
             R"(name: "n" external_input: "x" op { type: "Abs" input: "x" output: "y" })");
  for (const char* name : {"a.onnx", "a.npz", "a.pb", "a.lmdb"}) {
    for (const bool text : {true, false}) {
      const std::string file = "DIR/"s + name;
      EXPECT_EQ(
          Out({"convert", "DIR/net.pbtxt", "--to", text ? "text" : "binary", "--output", file}),
          "");
      const std::string bytes = ReadWholeFile(dir_.path(name));
      EXPECT_EQ(bytes.find("type: \"Abs\"") != std::string::npos, text) << name;
      EXPECT_NE(bytes.find("Abs"), std::string::npos) << name;
    }
  }
  Tensor a({2}, CPU);
  std::fill_n(a.mutable_data<float>(), 2, 1.5f);
  dir_.Write("a.npz", "");
  WriteNpz(dir_.path("a.npz"), {{"a", a}});
  for (const char* name : {"t.npz", "t.npy", "t.minidb", "t.pb", "t.pbtxt"}) {
    for (const bool text : {true, false}) {
      fs::remove_all(dir_.path(name));
      EXPECT_EQ(Out({"convert", "DIR/a.npz", "--to", text ? "text" : "binary", "--output",
                     "DIR/"s + name}),
                "");
      const std::string bytes = ReadWholeFile(dir_.path(name));
      EXPECT_EQ(bytes.find("float_data: 1.5") != std::string::npos, text) << name;
      EXPECT_EQ(JsonAt(Out({"inspect", "DIR/"s + name, "--json"}), "/kind"), "\"TensorProtos\"");
    }
  }
}

// --- run ---

// The counter cannot be saved, so that no output of the file is.
TEST_F(RareWaysTest, AFileWithAnOutputThatIsNoTensorIsNotSaved) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: ["y", "c"]
      op { type: "Copy" input: "x" output: "y" } op { type: "CreateCounter" output: "c" })");
  Array("in/a.npy", {1, 2}, {1, 2});
  Array("in/b.npy", {1, 2}, {3, 4});
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--image", "x=DIR/in", "--output"};
  for (const char* output : {"DIR/out.npz", "DIR/out"}) {
    const ProgramResult result = Run(Joined(run, {output}));
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err,
                HasSubstr("caffe2: \"DIR/in/a.npy\": cannot save output \"c\": it is "));
    EXPECT_THAT(result.err,
                HasSubstr("caffe2: \"DIR/in/b.npy\": cannot save output \"c\": it is "));
    EXPECT_THAT(result.out, Not(HasSubstr("y  float")));
  }
  EXPECT_TRUE(ReadNpz(dir_.path("out.npz")).empty());
  EXPECT_FALSE(fs::exists(dir_.path("out/y.npy")));
  EXPECT_FALSE(fs::exists(dir_.path("out/files.txt")));
}

TEST_F(RareWaysTest, ADocumentWithoutImagesIsOneLine) {
  dir_.Write("in/a.png", "broken");
  const ProgramResult result = Run({"run", "--predict-net", Copy(), "--image", "DIR/in", "--json"});
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(
      result.out.starts_with("{\"net\": \"copy\", \"images\": [], \"failed\": [{\"file\": "
                             "\"DIR/in/a.png\", \"error\": \""))
      << result.out;
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 1);
}

TEST_F(RareWaysTest, AnImageMayHaveAnEqualsSignInItsName) {
  const std::string image = Plain("a=b.png", 2, 1, 7);
  EXPECT_THAT(Out({"run", "--predict-net", Copy(), "--image", image}),
              HasSubstr("x  float [1, 3, 1, 2]   a=b.png\n"));
}

TEST_F(RareWaysTest, ANameInTheListOfFilesIsOneLine) {
  Array("in/a\nb.npy", {1, 2}, {1, 2});
  Array("in/c.npy", {2, 2}, {3, 4, 5, 6});
  Out({"run", "--predict-net", Copy(), "--image", "x=DIR/in", "--output", "DIR/out"});
  EXPECT_EQ(ReadWholeFile(dir_.path("out/files.txt")), "a\\x0ab.npy\nc.npy\nc.npy\n");
}

// Each array of an archive is found by the name of the input; the only one may have any.
TEST_F(RareWaysTest, ArraysOfAnArchiveAreFoundByName) {
  NamedTensors arrays;
  for (const auto& [name, value] : {std::pair("x", 3.f), {"w", 5.f}, {"v", 7.f}}) {
    Tensor tensor(std::vector<int64_t>{1}, CPU);
    tensor.mutable_data<float>()[0] = value;
    arrays.emplace_back(name, tensor);
  }
  dir_.Write("all.npz", "");
  WriteNpz(dir_.path("all.npz"), arrays);
  dir_.Write("one.npz", "");
  WriteNpz(dir_.path("one.npz"), {arrays[1]});
  for (const auto& [input, value] : {std::pair("x", "3"), {"w", "5"}, {"v", "7"}}) {
    dir_.Write("net.pbtxt", "name: \"n\" external_input: \""s + input +
                                "\" external_output: \"y\" op { type: \"Copy\" input: \"" + input +
                                "\" output: \"y\" }");
    const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--json", "--input"};
    EXPECT_EQ(JsonAt(Out(Joined(run, {input + "=DIR/all.npz"s})), "/outputs/0/values"),
              "["s + value + "]");
    EXPECT_EQ(JsonAt(Out(Joined(run, {input + "=DIR/one.npz"s})), "/outputs/0/values"), "[5]");
  }
  const ProgramResult other =
      Run({"run", "--predict-net", Copy(), "--input", "x=DIR/all.npz", "--input", "y=DIR/all.npz"});
  EXPECT_EQ(other.code, 1);
  dir_.Write("u.pbtxt",
             R"(name: "n" external_input: "u" op { type: "Copy" input: "u" output: "y" })");
  EXPECT_EQ(Run({"run", "--predict-net", "DIR/u.pbtxt", "--input", "u=DIR/all.npz"}).err,
            "caffe2: file \"DIR/all.npz\" contains 3 tensors, none of them named \"u\": \"x\", "
            "\"w\", \"v\"\n");
}

// Only the input of the operator that reads bytes has them.
TEST_F(RareWaysTest, OtherInputsOfAStyleNetAreFloats) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["bytes", "mean", "x"]
      external_output: ["s", "y"]
      op { type: "PackedInt8BGRANHWCToNCHWCStylizerPreprocess" input: ["bytes", "mean"] output: "s"
           arg { name: "noise_std" f: 0 } }
      op { type: "Copy" input: "x" output: "y" })");
  dir_.Write("init.pbtxt", R"(op { type: "GivenTensorFill" output: "mean"
      arg { name: "shape" ints: 3 } arg { name: "values" floats: [10, 20, 30] } })");
  Tensor bytes(std::vector<int64_t>{1, 1, 1, 4}, CPU);
  for (int i = 0; i < 4; ++i) bytes.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(i + 1);
  WriteNpy(dir_.path("bytes.npy"), bytes);
  const std::string json = Out({"run", "--init-net", "DIR/init.pbtxt", "--predict-net",
                                "DIR/net.pbtxt", "--input", "bytes=DIR/bytes.npy", "--image",
                                "x=" + Plain("a.png", 1, 1, 7), "--mean", "2", "--json"});
  EXPECT_EQ(JsonAt(json, "/outputs/0/values"), "[-9,-18,-27]");  // bytes less their mean
  EXPECT_EQ(JsonAt(json, "/outputs/1/values"), "[5,5,5]");
}

// A seed has its own numbers for each input.
TEST_F(RareWaysTest, RandomInputsDiffer) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["a", "b"] external_output: ["c", "d"]
      op { type: "Copy" input: "a" output: "c" } op { type: "Copy" input: "b" output: "d" })");
  std::vector<std::string> values;
  for (const char* seed : {"0", "1", "2", "4294967295"}) {
    const Words run = {"run",     "--predict-net", "DIR/net.pbtxt", "--input", "a=4",
                       "--input", "b=4",           "--json",        "--seed",  seed};
    const std::string json = Out(run);
    for (const char* at : {"/inputs/0/source", "/inputs/1/source"})
      EXPECT_EQ(JsonAt(json, at), "\"random, seed "s + seed + "\"");
    for (const char* at : {"/outputs/0/values", "/outputs/1/values"})
      values.push_back(JsonAt(json, at));
    EXPECT_EQ(JsonAt(Out(run), "/outputs/1/values"), values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(std::unique(values.begin(), values.end()), values.end());
  // Without the option the seed is 1.
  const std::string json =
      Out({"run", "--predict-net", "DIR/net.pbtxt", "--input", "a=4", "--input", "b=4", "--json"});
  EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\"random, seed 1\"");
  EXPECT_TRUE(std::binary_search(values.begin(), values.end(), JsonAt(json, "/outputs/0/values")));
}

// --- nets of Caffe ---

// Three mean values are in the order blue, green, red; one is that of each channel.
TEST_F(RareWaysTest, OneMeanOfCaffeKeepsTheOrderOfChannels) {
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {20, 30, 40}});
  for (const auto& [means, source, values] :
       {std::tuple("mean_value: 10", "a.png", "[10,20,30]"),
        {"mean_value: [1, 2, 3]", "a.png (BGR)", "[39,28,17]"},
        {"scale: 2", "a.png", "[40,60,80]"}}) {
    dir_.Write("net.prototxt",
               "layer { name: 'data' type: 'ImageData' top: 'data' transform_param { "s + means +
                   " } } layer { name: 'y' type: 'Power' bottom: 'data' top: 'y' }");
    const std::string json = Run({"run", "DIR/net.prototxt", "--image", "DIR/a.png", "--json"}).out;
    EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\""s + source + "\"");
    EXPECT_EQ(JsonAt(json, "/outputs/0/values"), values) << means;
  }
}

// A net of one channel has grey images, unless another order is given.
TEST_F(RareWaysTest, ChannelsOfAnImageAreThoseOfTheNetOrOfTheOption) {
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 1, .height = 1, .rgb = {20, 30, 40}});
  dir_.Write("net.prototxt", R"(input: "data" input_shape { dim: 1 dim: 1 dim: 1 dim: 1 }
      layer { name: 'y' type: 'Power' bottom: 'data' top: 'y' })");
  const Words run = {"run", "DIR/net.prototxt", "--image", "DIR/a.png", "--json"};
  const std::string grey = Run(run).out, bgr = Run(Joined(run, {"--bgr"})).out;
  EXPECT_EQ(JsonAt(grey, "/inputs/0/source"), "\"a.png (centre 1x1, grey)\"");
  EXPECT_EQ(JsonAt(grey, "/outputs/0/dims"), "[1,1,1,1]");
  EXPECT_EQ(JsonAt(bgr, "/inputs/0/source"), "\"a.png (centre 1x1, BGR)\"");
  EXPECT_EQ(JsonAt(bgr, "/outputs/0/values"), "[40,30,20]");
  for (const char* phase : {"TRAIN", "Test", "train "}) {
    const ProgramResult result = Run(Joined(run, {"--phase", phase}));
    EXPECT_EQ(result.code, 2);
    EXPECT_EQ(result.err, "caffe2: option --phase is \""s + phase + "\", want test or train\n");
  }
}

// --- inspect ---

TEST_F(RareWaysTest, OnePreparedWeightIsOneForm) {
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "w"
      arg { name: "shape" ints: [32, 16, 3, 3] } arg { name: "value" f: 1 } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: ["x", "w"] output: "y" arg { name: "kernel" i: 3 } })");
  const std::string packed =
      Out({"pack", "--init-net", "DIR/init.pbtxt", "--predict-net", "DIR/net.pbtxt", "--prepare",
           "--input", "x=1,16,28,28", "DIR/p.c2"});
  EXPECT_TRUE(packed.starts_with("DIR/p.c2: 1 tensor, ")) << packed;
  const std::string text = Out({"inspect", "DIR/p.c2"});
  EXPECT_THAT(text, HasSubstr("\n1 tensor, 18.0 KiB"));  // 32 * 16 * 9 floats
  EXPECT_THAT(text, HasSubstr("; with a prepared net of 1 operator ("));
  if (packed == "DIR/p.c2: 1 tensor, 1 prepared form\n") {
    EXPECT_THAT(text, HasSubstr(": 1 form, "));
  }
}

// A scalar has a shape without dims.
TEST_F(RareWaysTest, ScalarsOfADatabaseAreTensors) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n"
      op { type: "ConstantFill" output: "s" arg { name: "shape" ints: 1 } }
      op { type: "SumElements" input: "s" output: "t" }
      op { type: "Save" input: ["s", "t"] arg { name: "db" s: "s.minidb" }
           arg { name: "db_type" s: "minidb" } } } execution_step { network: "n" })");
  Out({"plan", "DIR/plan.pbtxt", "--root", "DIR/"});
  const std::string text = Out({"inspect", "DIR/s.minidb"});
  EXPECT_THAT(text, HasSubstr("float []   elements 0 to 1\n"));
  EXPECT_THAT(text, HasSubstr("float [1]   elements 0 to 1\n"));
  const std::string json = Out({"inspect", "DIR/s.minidb", "--json"});
  EXPECT_EQ(JsonAt(json, "/tensors/0/dims") + JsonAt(json, "/tensors/1/dims"), "[1][]");
  EXPECT_EQ(JsonAt(json, "/tensors/1/detail"), "\"elements 0 to 1\"");
}

// Its parameters are those that a predictor lists, not all that its init net fills.
TEST_F(RareWaysTest, InputsOfAPredictorAreDrawnThoughTheyAreFilled) {
  dir_.Write("meta.pbtxt", R"(
      nets { key: "PREDICT_NET_TYPE" value { name: "p" external_input: ["w", "x"]
             external_output: "y" op { type: "Mul" input: ["w", "x"] output: "y" } } }
      nets { key: "PREDICT_INIT_NET_TYPE" value { name: "i"
             op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 } }
             op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } } } }
      blobs { key: "INPUTS_BLOB_TYPE" value: "x" } blobs { key: "OUTPUTS_BLOB_TYPE" value: "y" }
      blobs { key: "PARAMETERS_BLOB_TYPE" value: "w" })");
  const std::string dot = Out({"inspect", "DIR/meta.pbtxt", "--dot", "-"});
  EXPECT_THAT(dot, HasSubstr("[label=\"x\\ninput: float [2]\""));
  EXPECT_THAT(dot, HasSubstr("-> n0 [label=\"x\"];\n"));
  EXPECT_THAT(dot, Not(HasSubstr("label=\"w")));
}

// --- db ---

TEST_F(RareWaysTest, OneClassHasItsNameToo) {
  Plain("pets/cat/1.png", 2, 2, 7);
  Plain("pets/cat/2.png", 2, 2, 9);
  const Words make = {"db", "make", "images", "DIR/pets", "--output"};
  EXPECT_EQ(Out(Joined(make, {"DIR/p.minidb"})), "DIR/p.minidb: 2 records\n");
  EXPECT_EQ(ReadWholeFile(dir_.path("p.minidb.labels.txt")), "cat\n");
  EXPECT_EQ(Out(Joined(make, {"DIR/q.minidb", "--limit", "1"})), "DIR/q.minidb: 1 record\n");
  EXPECT_EQ(ReadWholeFile(dir_.path("q.minidb.labels.txt")), "cat\n");
}

TEST_F(RareWaysTest, AFolderIsNoneOfSeveralFiles) {
  dir_.Write("cifar/data_batch_1.bin", std::string(3073, '\1'));
  dir_.Write("one.bin", std::string(3073, '\2'));
  const Words make = {"db", "make", "cifar"}, output = {"--output", "DIR/c.minidb"};
  const ProgramResult both = Run(Joined(Joined(make, {"DIR/cifar", "DIR/one.bin"}), output));
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.err, "caffe2: cannot read \"DIR/cifar\": it is a directory, want a file\n");
  EXPECT_FALSE(fs::exists(dir_.path("c.minidb")));
  EXPECT_EQ(Out(Joined(Joined(make, {"DIR/one.bin"}), output)), "DIR/c.minidb: 1 record\n");
}

TEST_F(RareWaysTest, AnActionHasItsOwnOptionsOnly) {
  Array("x.npy", {2, 1}, {1, 2});
  Out({"db", "make", "arrays", "DIR/x.npy", "--output", "DIR/x.minidb"});
  const std::pair<const char*, Words> rows[] = {
      {"list", {"--threads", "--output", "--parts", "--readers", "--raw"}},
      {"info", {"--limit", "--threads", "--output", "--batch-size"}},
      {"convert", {"--limit", "--parts", "--threads", "--repeat"}},
      {"split", {"--db-type", "--limit", "--threads"}},
      {"throughput", {"--limit", "--output", "--threads", "--parts"}}};
  for (const auto& [action, options] : rows) {
    for (const std::string& option : options) {
      Words words = {"db", action, "DIR/x.minidb", option};
      if (option != "--raw") words.push_back("2");
      const ProgramResult result = Run(words);
      EXPECT_EQ(result.code, 2);
      EXPECT_EQ(result.err,
                "caffe2: option " + option + " does not apply to `caffe2 db " + action + "`\n");
    }
    EXPECT_EQ(Run({"db", action, "DIR/x.minidb", "--json", "--memory-limit", "1G", "--output",
                   "DIR/new.minidb"})
                  .code,
              action == "convert"s || action == "split"s ? 0 : 2);
  }
}

// --- bench ---

// No net takes less than a thousandth of a millisecond.
TEST_F(RareWaysTest, ALimitIsInPercent) {
  const struct {
    std::string before, percent, limit;
  } rows[] = {{"0.0001", "900", "0.0010"},  // 10 times
              {"0.0007", "7", "0.0007"},    // 0.000749
              {"0.0007", "7.5", "0.0008"},  // 0.0007525
              {"0.0001", "0", "0.0001"}};
  for (const auto& row : rows) {
    dir_.Write("before.json", R"({"net": "copy", "median_ms": )" + row.before +
                                  R"(, "threads": 1, "operators": []})");
    const ProgramResult result =
        Run({"bench", "--predict-net", Copy(), "--input", "x=100000", "--iterations", "3",
             "--warmup", "0", "--against", "DIR/before.json", "--fail-above", row.percent});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr(", want at most " + row.limit + " ms: " + row.before +
                                      " ms in \"DIR/before.json\" and " + row.percent +
                                      "% more (--fail-above)\n"));
  }
}

// Each type of a convolution is timed.
TEST_F(RareWaysTest, ConvolutionsOfEachTypeAreTimed) {
  for (const auto& [type, kernel, input, filter] :
       {std::tuple("Conv", "1, 1", "1,2,3,3", "2,2,1,1"),
        {"Conv1D", "1", "1,2,3", "2,2,1"},
        {"Conv2D", "1, 1", "1,2,3,3", "2,2,1,1"},
        {"Conv3D", "1, 1, 1", "1,2,3,3,3", "2,2,1,1,1"}}) {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w"] external_output: "y"
        op { type: ")"s + type +
                                R"(" input: ["x", "w"] output: "y" arg { name: "kernels" ints: [)" +
                                kernel + "] } }");
    const ProgramResult result =
        Run({"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x="s + input, "--input",
             "w="s + filter, "--warmup", "0", "--iterations", "1", "--tune", "DIR/t.tsv"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_TRUE(result.out.starts_with("2 to 2 channels, 1 image: ")) << type << result.out;
  }
}

}  // namespace
}  // namespace caffe2rt::test::rare_ways_test
