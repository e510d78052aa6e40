// Results that cannot be saved, drawn or compared: whole messages, exit codes and what is printed before; and
// options whose effect only the numbers show.

#include <absl/strings/str_replace.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::results_test {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class ResultsTest : public ::testing::Test {
 protected:
  ProgramResult Run(const Words& words) const {
    Words args;
    for (const std::string& word : words)
      args.push_back(absl::StrReplaceAll(word, {{"DIR/", dir_.path("")}}));
    ProgramResult result = RunCaffe2(args);
    for (std::string* text : {&result.out, &result.err})
      *text = absl::StrReplaceAll(*text, {{dir_.path(""), "DIR/"}});
    return result;
  }
  // The error, behind "caffe2: ", of a command that ends with this code.
  std::string Error(const Words& words, int code) const {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.code, code) << result.out << result.err;
    if (result.err.find("caffe2: ") != 0 || result.err.back() != '\n') return result.err;
    return result.err.substr(8, result.err.size() - 9);
  }
  std::string Out(const Words& words) const {
    const ProgramResult result = Run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result.out;
  }
  static Words Joined(Words first, const Words& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
  }
  const TempDir dir_;
};

TEST_F(ResultsTest, GradientsThatDiffer) {
  dir_.Write("net.pbtxt", R"(name: "s" external_input: "x"
      op { type: "StopGradient" input: "x" output: "c" }
      op { type: "Mul" input: "x" input: "c" output: "y" })");
  // Half of the gradient is stopped: 1 instead of 2 for one element, whose weight is 1.
  const Words one = {"gradients", "--predict-net", "DIR/net.pbtxt", "--loss",   "y",
                     "--verify",  "--input",       "x=[1]",         "--output", "DIR/g.pbtxt"};
  EXPECT_EQ(Error(one, 1), "gradients of net \"s\" differ from the difference quotients");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("g.pbtxt")));
  EXPECT_EQ(Run(Joined(one, {"--json"})).out,
            "{\"verified\": [{\"blob\": \"x\", \"gradient\": \"x_grad\", \"elements\": 1, "
            "\"not_smooth\": 0, \"wrong\": 1, \"worst\": {\"element\": 0, \"computed\": 1, "
            "\"quotient\": 2}}]}\n");
  const std::string without = " is given without --verify";
  const Words plain = {"gradients", "--predict-net", "DIR/net.pbtxt", "--loss",
                       "y",         "--output",      "DIR/g.pbtxt"};
  EXPECT_EQ(Error(Joined(plain, {"--input", "x=[1]"}), 2), "option --input" + without);
  EXPECT_EQ(Error(Joined(plain, {"--init-net", "DIR/net.pbtxt"}), 2),
            "option --init-net" + without);
  EXPECT_EQ(Error(Joined(plain, {"--cast", "float"}), 2), "option --cast" + without);
}

TEST_F(ResultsTest, ConstantsWithoutAFile) {
  dir_.Write("net.pbtxt", R"(name: "bn" external_output: "z"
      op { type: "Conv" input: "x" input: "w" input: "b" output: "y" arg { name: "kernel" i: 1 } }
      op { type: "SpatialBN" input: "y" input: "s" input: "t" input: "m" input: "v" output: "z"
           arg { name: "is_test" i: 1 } arg { name: "epsilon" f: 3 } })");
  std::string init = "name: \"i\" ";
  for (const auto& [name, shape, value] :
       std::vector<std::tuple<const char*, const char*, int>>{{"w", "[1, 1, 1, 1]", 2},
                                                              {"b", "1", 1},
                                                              {"s", "1", 3},
                                                              {"t", "1", 1},
                                                              {"m", "1", 0},
                                                              {"v", "1", 1}}) {
    init += MakeString("op { type: \"ConstantFill\" output: \"", name,
                       "\" arg { name: \"shape\" ints: ", shape,
                       " } arg { name: \"value\" f: ", value, " } } ");
  }
  dir_.Write("init.pbtxt", init);
  const Words optimize = {"optimize",       "--predict-net",        "DIR/net.pbtxt", "--init-net",
                          "DIR/init.pbtxt", "--output-predict-net", "DIR/o.pbtxt"};
  EXPECT_EQ(Error(optimize, 2),
            "the optimized net has new constants, want --output-init-net FILE for them");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("o.pbtxt")));
  const Words both = Joined(optimize, {"--output-init-net", "DIR/oi.pbtxt"});
  EXPECT_EQ(Out(both), "2 operators, 1 after optimization\napplied fold_batch_norm\n");
  // y = 2 x + 1, z = 3 y / sqrt(1 + 3) + 1: 17.5 for 5.
  for (const Words& nets :
       {Words{"DIR/net.pbtxt", "DIR/init.pbtxt"}, {"DIR/o.pbtxt", "DIR/oi.pbtxt"}})
    EXPECT_THAT(Out({"run", "--predict-net", nets[0], "--init-net", nets[1], "--input",
                     "x=[[[[5]]]]", "--no-optimize"}),
                HasSubstr("z  float [1, 1, 1, 1]\n  17.5\n"));
  EXPECT_EQ(Out(Joined(both, {"--without-pass", "fold_batch_norm"})).substr(0, 34),
            "2 operators, 2 after optimization\n");
}

TEST_F(ResultsTest, ObjectsThatAreNoTensors) {
  dir_.Write("net.pbtxt",
             R"(name: "c" external_output: "n" op { type: "CreateCounter" output: "n" })");
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt"};
  EXPECT_EQ(Error(Joined(run, {"--output", "DIR/out"}), 1),
            "cannot save output \"n\": it is unique_ptr<Counter<int64>>, want a tensor");
  EXPECT_EQ(Error(Joined(run, {"--save-image", "n=DIR/n.png"}), 1),
            "cannot save output \"n\" as an image: it is unique_ptr<Counter<int64>>");
  EXPECT_FALSE(std::filesystem::exists(dir_.path("n.png")));
}

TEST_F(ResultsTest, BoxesAndWhatTheyNeed) {
  dir_.Write("net.pbtxt", R"(name: "b" external_input: "s" external_input: "b" external_input: "c"
      op { type: "Copy" input: "s" output: "s2" } op { type: "Copy" input: "b" output: "b2" }
      op { type: "Copy" input: "c" output: "c2" })");
  const auto boxes = [](const std::string& b, const std::string& c, const Words& more = {}) {
    return Joined({"run", "--predict-net", "DIR/net.pbtxt", "--boxes", "--box-blobs", "s2,b2,c2",
                   "--input", "s=[0.25,0.5]", "--input", "b=" + b, "--input", "c=" + c},
                  more);
  };
  const std::string four = "[[1,2,3,4],[5,6,7,8]]", want = ", want [N], [N, 4] and [N]";
  const std::string shapes = "the blobs of --boxes have the shapes [2], ";
  EXPECT_EQ(Error(boxes("[[1,2,3],[5,6,7]]", "[1,2]"), 1), shapes + "[2, 3] and [2]" + want);
  EXPECT_EQ(Error(boxes(four, "[1]"), 1), shapes + "[2, 4] and [1]" + want);
  EXPECT_EQ(Error(boxes("[[1,2,3,4,5,6],[5,6,7,8,9,0]]", "[1,2]"), 1),
            shapes + "[2, 6] and [2]" + want);
  EXPECT_EQ(Error(boxes(four, "[1,2]", {"--cast", "c=int32"}), 1),
            "blob \"c2\" of --boxes is int32 [2], want floats");
  EXPECT_EQ(Error(boxes(four, "[1,2]", {"--save-image", "DIR/x.png"}), 2),
            "option --save-image is \"DIR/x.png\", want --image, too: the boxes are drawn into it");
  EXPECT_EQ(
      Error({"run", "--predict-net", "DIR/net.pbtxt", "--boxes"}, 2),
      "option --boxes is given, but the net has no operator BoxWithNMSLimit; want --box-blobs "
      "SCORES,BOXES,CLASSES");
  EXPECT_EQ(Error({"run", "--predict-net", "DIR/net.pbtxt", "--boxes", "--box-blobs", "a,b"}, 2),
            "option --box-blobs is \"a,b\", want SCORES,BOXES,CLASSES, with --boxes");
  EXPECT_EQ(Error({"run", "--predict-net", "DIR/net.pbtxt", "--box-blobs", "a,b,c"}, 2),
            "option --box-blobs is \"a,b,c\", want SCORES,BOXES,CLASSES, with --boxes");
  // The highest score comes first; --top limits the number, --labels names the classes.
  const std::string text = Out(boxes(four, "[1,2]"));
  EXPECT_THAT(text, HasSubstr("  box  score  class     x1   y1   x2   y2\n"
                              "    0  0.500  class 2  5.0  6.0  7.0  8.0\n"
                              "    1  0.250  class 1  1.0  2.0  3.0  4.0\n"));
  dir_.Write("labels", "none\ncat\n");
  const std::string json = Out(boxes(four, "[1,2]", {"--json", "--labels", "DIR/labels"}));
  EXPECT_EQ(JsonAt(json, "/boxes"), R"([{"score":0.5,"class":2,"label":"class 2","box":[5,6,7,8]},)"
                                    R"({"score":0.25,"class":1,"label":"cat","box":[1,2,3,4]}])");
  EXPECT_EQ(JsonAt(Out(boxes(four, "[-1,2e9]", {"--json", "--top", "1"})), "/boxes"),
            R"([{"score":0.5,"class":-1,"box":[5,6,7,8]}])");
}

TEST_F(ResultsTest, StatisticsOfAPackedModel) {
  dir_.Write("net.pbtxt", R"(name: "fc" external_output: "y"
      op { type: "FC" input: "x" input: "w" input: "b" output: "y" })");
  dir_.Write(
      "init.pbtxt",
      R"(name: "i" op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 2] }
                              arg { name: "values" floats: [1, 0.1] } }
                op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 1 } })");
  const auto pack = [&](const Words& more) {
    return Out(
        Joined({"pack", "--predict-net", "DIR/net.pbtxt", "--init-net", "DIR/init.pbtxt"}, more));
  };
  EXPECT_EQ(pack({"DIR/a.c2pack"}), "DIR/a.c2pack: 2 tensors\n");
  EXPECT_EQ(pack({"DIR/b.c2pack", "--weights", "f16"}).substr(0, 60),
            pack({"--output", "DIR/b.c2pack", "--store-weights", "f16"}).substr(0, 60));
  EXPECT_THAT(pack({"DIR/c.c2pack", "--store-weights", "f16"}),
              HasSubstr("DIR/c.c2pack: 2 tensors, 1 of them as f16 (the worst, w: "));
  EXPECT_THAT(pack({"DIR/d.c2pack", "--prepare", "--input", "x=1,2"}),
              HasSubstr("DIR/d.c2pack: 2 tensors, "));
}

TEST_F(ResultsTest, ImagesInTheOrderOfTheirOptions) {
  dir_.Write("net.pbtxt",
             R"(name: "n" external_input: "x" op { type: "Copy" input: "x" output: "y" })");
  dir_.Write("a.png", "");
  SavePng(dir_.path("a.png"), {.width = 2, .height = 1, .rgb = {10, 20, 30, 40, 50, 60}});
  const auto values = [&](const Words& more) {
    Words words = Joined({"run", "--predict-net", "DIR/net.pbtxt", "--image", "x=DIR/a.png",
                          "--output", "DIR/o.npz"},
                         more);
    Out(words);
    const Tensor tensor = ReadNpz(dir_.path("o.npz")).at(0).second;
    return std::vector<float>(tensor.data<float>(), tensor.data<float>() + tensor.numel());
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(values({}), (Floats{10, 40, 20, 50, 30, 60}));
  EXPECT_EQ(values({"--bgr"}), (Floats{30, 60, 20, 50, 10, 40}));
  EXPECT_EQ(values({"--mean", "10,20,30"}), (Floats{0, 30, 0, 30, 0, 30}));
  EXPECT_EQ(values({"--mean", "10", "--scale", "2", "--std", "4"}), (Floats{0, 15, 5, 20, 10, 25}));
  EXPECT_EQ(values({"--scale", "1,2,3"}), (Floats{10, 40, 40, 100, 90, 180}));
  EXPECT_EQ(values({"--std", "1,2,5", "--bgr"}), (Floats{30, 60, 10, 25, 2, 8}));
  EXPECT_EQ(values({"--crop", "1"}), (Floats{10, 20, 30}));
  EXPECT_EQ(values({"--resize", "1x1", "--interpolation", "nearest"}), (Floats{10, 20, 30}));
  // 0.299 R + 0.587 G + 0.114 B, rounded: 18.15 and 48.15.
  EXPECT_EQ(values({"--grey"}), (Floats{18, 48}));
  // A mean image of its own for each pixel, and one number for each channel.
  Tensor mean({3, 1, 2}, CPU), channels({3}, CPU);
  for (int64_t i = 0; i < 6; ++i) mean.mutable_data<float>()[i] = static_cast<float>(i);
  for (int64_t i = 0; i < 3; ++i) channels.mutable_data<float>()[i] = static_cast<float>(i + 1);
  WriteNpy(dir_.path("mean.npy"), mean);
  WriteNpy(dir_.path("channels.npy"), channels);
  EXPECT_EQ(values({"--mean", "DIR/mean.npy"}), (Floats{10, 39, 18, 47, 26, 55}));
  EXPECT_EQ(values({"--mean", "DIR/channels.npy", "--scale", "2"}),
            (Floats{18, 78, 36, 96, 54, 114}));
  EXPECT_EQ(values({"--mean", "DIR/channels.npy", "--std", "2,4,3"}),
            (Floats{4.5f, 19.5f, 4.5f, 12, 9, 19}));
}

TEST_F(ResultsTest, ReportsOfNetsAreTheSameFromAllCommands) {
  dir_.Write("net.pbtxt", R"(name: "r" external_input: "x"
      op { type: "Relu" input: "x" output: "y" } op { type: "Softmax" input: "y" output: "p" })");
  const std::string net = "DIR/net.pbtxt";
  const Words more = {"--input", "x=2,3", "--report", "DIR/report.json"};
  for (const Words& command :
       std::vector<Words>{{"run", "--predict-net", net},
                          {"bench", "--predict-net", net, "--iterations", "1"},
                          {"compare", net, net}}) {
    SCOPED_TRACE(command[0]);
    std::filesystem::remove(dir_.path("report.json"));
    Out(Joined(command, more));
    const std::string report = ReadWholeFile(dir_.path("report.json"));
    EXPECT_EQ(JsonAt(report, "/net"), "\"r\"");
    EXPECT_EQ(JsonAt(report, "/threads"), "1");
    EXPECT_EQ(JsonAt(report, "/operators"), R"([{"type":"Relu","output":"y","device":"CPU"},)"
                                            R"({"type":"Softmax","output":"p","device":"CPU"}])");
  }
  EXPECT_THAT(Error({"run", "--predict-net", net, "--input", "x=2,3", "--report", "DIR/no/r"}, 1),
              HasSubstr("DIR/no/r"));
}

TEST_F(ResultsTest, NoiseOfEachOperatorAloneIsOnDemand) {
  dir_.Write("net.pbtxt", R"(name: "q" external_input: "x" external_input: "w"
      op { type: "Conv" input: "x" input: "w" output: "y" arg { name: "kernel" i: 1 } })");
  dir_.Write("init.pbtxt", R"(
      op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
           arg { name: "values" floats: 3 } })");
  Tensor x({1, 1, 1, 2}, CPU);
  x.mutable_data<float>()[0] = -1;
  x.mutable_data<float>()[1] = 3;
  WriteNpy(dir_.path("x.npy"), x);
  const Words quantize = {"quantize",      "--init-net",           "DIR/init.pbtxt",
                          "--predict-net", "DIR/net.pbtxt",        "--input",
                          "x=DIR/x.npy",   "--output-predict-net", "DIR/q.pbtxt"};
  const std::string ranges = R"({"position":0,"type":"Conv","min":-1.25,"max":3.75,)"
                             R"("seen_min":-1,"seen_max":3,"least_precision":"int8")";
  // One channel is not computed in bytes, so that nothing differs.
  EXPECT_EQ(JsonAt(Out(Joined(quantize, {"--json"})), "/operators/0"), ranges + "}");
  EXPECT_EQ(JsonAt(Out(Joined(quantize, {"--json", "--alone"})), "/operators/0"),
            ranges + R"(,"snr_alone":null})");
  EXPECT_EQ(Out(quantize).find("alone"), std::string::npos);
  EXPECT_THAT(Out(Joined(quantize, {"--alone"})),
              HasSubstr("SNR dB alone  at least\n   0  Conv      -1.25  3.75             3         "
                        "equal  int8\n"));
}

}  // namespace
}  // namespace caffe2rt::test::results_test
