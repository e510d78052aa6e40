// Results next to a bound: batches that differ a little from runs alone, images of pipes, saved images of inner blobs,
// labels with the number of a word, drawings of plans, and how a plan may open its files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"

namespace caffe2rt::test::result_bounds_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
namespace fs = std::filesystem;

class ResultBoundsTest : public ProgramFolder {
 protected:
  void Plain(const std::string& name, int width, int height, uint8_t value) const {
    dir_.Write(name, "");
    SavePng(dir_.path(name),
            {.width = width,
             .height = height,
             .rgb = std::vector<uint8_t>(
                 static_cast<size_t>(width) * static_cast<size_t>(height) * 3, value)});
  }
};

// Each element grows by a part of the sum over the batch. Of three images of 100 the sum is 900, of one 300.
TEST_F(ResultBoundsTest, BatchesMayDifferByRounding) {
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) Plain(name, 1, 1, 100);
  const auto warning = [&](const std::string& scale) {
    dir_.Write("net.pbtxt", R"(name: "n" external_input: "data" external_output: "y"
        op { type: "SumElements" input: "data" output: "s" }
        op { type: "Scale" input: "s" output: "t" arg { name: "scale" f: )" +
                                scale + R"( } }
        op { type: "Add" input: ["data", "t"] output: "y" arg { name: "broadcast" i: 1 } })");
    const ProgramResult result = Run(
        {"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"});
    EXPECT_EQ(result.code, 0);
    return result.err;
  };
  // 600 / 100 times the scale, relative to 100: the bound is a thousandth.
  EXPECT_EQ(warning("1e-6"), "");
  EXPECT_EQ(warning("1.6e-4"), "");
  EXPECT_THAT(warning("1.8e-4"), HasSubstr("differs between a batch and a run alone"));
  // Infinite outputs are equal.
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "data" external_output: "y"
      op { type: "Scale" input: "data" output: "s" arg { name: "scale" f: 3e38 } }
      op { type: "Copy" input: "s" output: "y" })");
  EXPECT_EQ(
      Run({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/in", "--batch", "2", "--json"})
          .err,
      "");
}

TEST_F(ResultBoundsTest, AFifoMayHaveSeveralImages) {
  Plain("a.png", 1, 1, 1);
  Plain("b.png", 1, 1, 2);
  dir_.Write("net.pbtxt", R"(name: "sum" external_input: "data" external_output: "sum"
      op { type: "ReduceBackSum" input: "data" output: "sum" arg { name: "num_reduce_dim" i: 3 } })");
  const ProgramResult result = RunProgram(
      "/bin/sh", {"-c", "cd '" + dir_.path() + "' && mkfifo p && { cat a.png b.png > p & } && '" +
                            BuildPath(CAFFE2_PROGRAM) + "' run --predict-net net.pbtxt --image p"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("image 1 of p\nsum   float [1]\n  3\n"));
  EXPECT_THAT(result.out, HasSubstr("image 2 of p\nsum   float [1]\n  6\n"));
}

TEST_F(ResultBoundsTest, AnInnerBlobCanBeSavedAsAnImage) {
  Plain("a.png", 2, 2, 40);
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "data" external_output: "y"
      op { type: "Scale" input: "data" output: "twice" arg { name: "scale" f: 2 } }
      op { type: "Scale" input: "twice" output: "more" arg { name: "scale" f: 3 } }
      op { type: "Negative" input: "more" output: "y" })");
  const std::string out =
      Out({"run", "--predict-net", "DIR/net.pbtxt", "--image", "DIR/a.png", "--save-image",
           "twice=DIR/t.png", "--save-image", "y=DIR/y.png", "--json"});
  EXPECT_EQ(JsonSize(out, "/outputs"), 2u);
  EXPECT_EQ(JsonAt(out, "/outputs/0/name"), "\"y\"");
  EXPECT_EQ(JsonAt(out, "/outputs/1/name"), "\"twice\"");
  EXPECT_EQ(JsonAt(out, "/outputs/1/values/0"), "80");
  EXPECT_EQ(LoadImage(dir_.path("t.png")).rgb, std::vector<uint8_t>(12, 80));
  EXPECT_EQ(LoadImage(dir_.path("y.png")).rgb, std::vector<uint8_t>(12, 0));
}

TEST_F(ResultBoundsTest, NumbersOfWordNetAreFollowedByAName) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const auto best = [&](const std::string& labels) {
    dir_.Write("labels", labels);
    const std::string out = Out({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=1.,2.",
                                 "--labels", "DIR/labels", "--top", "1"});
    const size_t at = out.find("2.000  ") + 7;
    return out.substr(at, out.find('\n', at) - at);
  };
  EXPECT_EQ(best("n00000001 a\nn00000002 b\n"), "b");
  EXPECT_EQ(best("n00000001 a\nn00000002 \n"), "n00000002 ");
  EXPECT_EQ(best("n00000001 a\nn000000029b\n"), "n000000029b");
  EXPECT_EQ(best("n00000001 a\nn00000002 the cat\n"), "the cat");
}

TEST_F(ResultBoundsTest, TheFirstDifferenceMayBeInTheFirstOperator) {
  const std::pair<const char*, const char*> nets[] = {{"a.pbtxt", "Abs"}, {"b.pbtxt", "Negative"}};
  for (const auto& [name, type] : nets)
    dir_.Write(name, std::string("name: \"n\" external_input: \"x\" op { type: \"") + type +
                         "\" input: \"x\" output: \"y\" name: \"it\" }");
  const Words compare = {"compare", "DIR/a.pbtxt", "DIR/b.pbtxt", "--input", "x=1.,2."};
  const ProgramResult text = Run(compare);
  EXPECT_EQ(text.code, 1);
  EXPECT_THAT(text.out, HasSubstr("  !  y     0 Abs "));
  EXPECT_THAT(text.out, HasSubstr("\nfirst difference: blob \"y\", operator 0 (Abs \"it\")\n"));
  EXPECT_EQ(JsonAt(Run(Joined(compare, {"--json"})).out, "/first_difference"),
            R"({"name":"y","operator":0,"operator_text":"Abs \"it\""})");
}

TEST_F(ResultBoundsTest, DrawingsOfAPlanStateWhenNetsRun) {
  const auto net = [](const std::string& name) {
    return "network { name: \"" + name + "\" op { type: \"ConstantFill\" output: \"" + name +
           "_out\" } } ";
  };
  dir_.Write("plan.pbtxt", "name: \"p\" " + net("one") + net("two") + net("rep") + net("last") +
                               net("idle") +
                               R"(execution_step { network: "one" num_iter: 1 }
                    execution_step { name: "train" network: "two" num_iter: 7 report_net: "rep" }
                    execution_step { name: "end" network: ["two", "last"] })");
  const std::string dot = Out({"inspect", "DIR/plan.pbtxt", "--dot", "-"});
  EXPECT_THAT(dot, HasSubstr("in step "));
  EXPECT_THAT(dot, HasSubstr(", 7 times"));
  EXPECT_THAT(dot, Not(HasSubstr(", 1 times")));
  EXPECT_THAT(dot, HasSubstr(", 7 times, for reports"));
  EXPECT_THAT(dot, HasSubstr(", in no step"));
  Words order;
  for (const char* output : {"one_out", "two_out", "rep_out", "last_out", "idle_out"}) {
    ASSERT_NE(dot.find(output), std::string::npos) << dot;
    order.push_back(output);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    return dot.find(a) < dot.find(b);
  })) << dot;
}

TEST_F(ResultBoundsTest, ShapesOfInitNetsComeFromDatabasesBesideThem) {
  Array("sub/w.npy", {3, 2}, {1, 2, 3, 4, 5, 6});
  Out({"convert", "DIR/sub/w.npy", "--output", "DIR/sub/w.minidb"});
  dir_.Write("sub/init.pbtxt", R"(name: "i" op { type: "Load" output: "w"
      arg { name: "db" s: "w.minidb" } arg { name: "db_type" s: "minidb" } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 3 } })");
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "w", "b"]
      op { type: "FC" input: ["x", "w", "b"] output: "y" })");
  const Words inspect = {"inspect", "DIR/net.pbtxt", "--init-net", "DIR/sub/init.pbtxt",
                         "--input", "x=4,2"};
  EXPECT_THAT(Out(inspect), HasSubstr("  0  FC    y       float [4, 3]       9         24    48 B"
                                      "\ntotal: 9 parameters (36 B), 24 multiply-adds"));
  // What is given as an input is no parameter.
  EXPECT_THAT(Out(Joined(inspect, {"--input", "b=3"})),
              HasSubstr("  0  FC    y       float [4, 3]       6         24    48 B"));
  for (const char* wrong : {"=4,2", "x", "x=", "x=4,-2", "x=a"}) {
    const ProgramResult result = Run({"inspect", "DIR/net.pbtxt", "--input", wrong});
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_EQ(result.err, std::string("caffe2: option --input is \"") + wrong +
                              "\", want BLOB=SHAPE, SHAPE as 1,3,224,224\n");
  }
}

TEST_F(ResultBoundsTest, APlanThatWritesElsewhereNeedsAnOption) {
  Array("x.npy", {2, 1}, {1, 1});
  Array("y.npy", {2, 1}, {4, 4});
  Out({"db", "make", "arrays", "DIR/x.npy", "DIR/y.npy", "--output", "DIR/d.minidb"});
  dir_.Write("line.pbtxt", R"(
      net { op { type: "FC" input: ["data", "w", "b"] output: "y" }
            op { type: "SquaredL2Distance" input: ["y", "label"] output: "d" }
            op { type: "AveragedLoss" input: "d" output: "loss" } }
      param { name: "w" dims: [1, 1] } param { name: "b" dims: 1 } input { batch_size: 2 })");
  const TempDir elsewhere;
  const auto written = [&](const std::string& folder) {
    return Run({"train", "DIR/line.pbtxt", "--data", "DIR/d.minidb", "--output", folder,
                "--write-plan", "DIR/plan.pbtxt"});
  };
  EXPECT_THAT(written("DIR/run").out, Not(HasSubstr("--allow-files-anywhere")));
  EXPECT_THAT(written(elsewhere.path("run")).out, HasSubstr(" --allow-files-anywhere\n"));
  dir_.Write("file", "");
  const ProgramResult wrong = written("DIR/file/run");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("cannot create the folder \"DIR/file/run\": "));
}

TEST_F(ResultBoundsTest, OnlyOperatorsThatMultiplyHaveACount) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "z"
      op { type: "MatMul" input: ["x", "x"] output: "y" } op { type: "Abs" input: "y" output: "z" })");
  const std::string json = Out({"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x=3,3",
                                "--iterations", "1", "--warmup", "0", "--no-optimize", "--json"});
  EXPECT_EQ(JsonAt(json, "/operators/0/multiply_adds"), "27");
  EXPECT_THAT(JsonAt(json, "/operators/1"), Not(HasSubstr("multiply_adds")));
  EXPECT_THAT(JsonAt(json, "/operators/1"), Not(HasSubstr("engine")));
}

// The generator as published (splitmix64): the first number of the seed 0 is e220a8397b1dcdaf.
std::vector<uint64_t> Splitmix(uint64_t state, size_t count) {
  std::vector<uint64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    state += 0x9e3779b97f4a7c15;
    uint64_t number = state;
    number ^= number >> 30;
    number *= 0xbf58476d1ce4e5b9;
    number ^= number >> 27;
    number *= 0x94d049bb133111eb;
    number ^= number >> 31;
    numbers.push_back(number);
  }
  return numbers;
}

// The n-th random input has the seed in the upper half and n in the lower one.
TEST_F(ResultBoundsTest, RandomInputsAreTheSameOnEveryMachine) {
  ASSERT_EQ(Splitmix(0, 1)[0], 0xe220a8397b1dcdaf);
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["a", "b"] external_output: ["c", "d"]
      op { type: "Copy" input: "a" output: "c" } op { type: "Copy" input: "b" output: "d" })");
  for (const uint64_t seed : {1, 7}) {
    Words words = {"run", "--predict-net", "DIR/net.pbtxt", "--input",
                   "a=3", "--input",       "b=2,1",         "--json"};
    if (seed != 1) words.insert(words.end(), {"--seed", std::to_string(seed)});
    const std::string json = Out(words);
    for (const uint64_t number : {1, 2}) {
      const std::string at = "/outputs/" + std::to_string(number - 1) + "/values/";
      const std::vector<uint64_t> want = Splitmix((seed << 32) + number, 4 - number);
      for (size_t i = 0; i < want.size(); ++i) {
        const float value = static_cast<float>(want[i] >> 40) / 16777216;
        EXPECT_EQ(std::stof(JsonAt(json, at + std::to_string(i))), value) << seed << " " << number;
      }
    }
    EXPECT_EQ(JsonAt(json, "/inputs/0/source"), "\"random, seed " + std::to_string(seed) + "\"");
  }
}

// A field of a message: a length and bytes, or a number.
std::string FieldOf(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
std::string FieldOf(int number, int value) {
  return {static_cast<char>(number << 3), static_cast<char>(value)};
}

// Arrays of NumPy have no type of their own for unsigned integers here: the model states it.
TEST_F(ResultBoundsTest, UnsignedInputsOfOnnxKeepTheirType) {
  Tensor x({2}, CPU);
  x.mutable_data<int64_t>()[0] = 3;
  x.mutable_data<int64_t>()[1] = 4000000000;
  WriteNpy(dir_.path("x.npy"), x);
  const std::pair<int, const char*> types[] = {{7, "int64"}, {12, "uint32"}, {13, "uint64"}};
  for (const auto& [element, name] : types) {
    const auto value = [element = element](const std::string& blob) {
      return FieldOf(1, blob) +
             FieldOf(2, FieldOf(1, FieldOf(1, element) + FieldOf(2, FieldOf(1, FieldOf(1, 2)))));
    };
    const std::string node = FieldOf(1, "x") + FieldOf(2, "y") + FieldOf(4, "Identity");
    dir_.Write("m.onnx", FieldOf(1, 8) +
                             FieldOf(7, FieldOf(1, node) + FieldOf(2, "g") +
                                            FieldOf(11, value("x")) + FieldOf(12, value("y"))) +
                             FieldOf(8, FieldOf(1, "") + FieldOf(2, 17)));
    const std::string out = Out({"run", "DIR/m.onnx", "--input", "x=DIR/x.npy"});
    EXPECT_TRUE(out.starts_with(std::string("x  ") + name + " [2]   x.npy\ny  " + name +
                                " [2]\n  3 4000000000\n"))
        << out;
  }
}

// Nine blobs of 1.4 MB. With a plan, four of them are in memory at once.
TEST_F(ResultBoundsTest, WithoutAMemoryPlanEachBlobHasItsOwnMemory) {
  std::string net = "name: \"chain\" external_input: \"x0\" external_output: \"x8\" ";
  for (int i = 0; i < 8; ++i)
    net += "op { type: \"Transpose\" input: \"x" + std::to_string(i) + "\" output: \"x" +
           std::to_string(i + 1) + "\" } ";
  dir_.Write("net.pbtxt", net);
  const Words nets[] = {{"run", "--predict-net", "DIR/net.pbtxt", "--input", "x0=600,600"},
                        {"bench", "--predict-net", "DIR/net.pbtxt", "--input", "x0=600,600",
                         "--iterations", "1", "--warmup", "0"}};
  for (const Words& words : nets) {
    const Words limited = Joined(words, {"--memory-limit", "10M"});
    Out(limited);
    const ProgramResult result = Run(Joined(limited, {"--no-memory-plan"}));
    EXPECT_EQ(result.code, 1) << words[0];
    EXPECT_THAT(result.err, HasSubstr("out of CPU memory"));
    Out(Joined(words, {"--no-memory-plan", "--memory-limit", "40M"}));
  }
}

TEST_F(ResultBoundsTest, OptionsOfDevicesAreArgumentsOfTheNet) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "y"
      op { type: "Sqr" input: "x" output: "y" })");
  const auto arguments = [&](const Words& more) {
    Out(Joined({"optimize", "--predict-net", "DIR/net.pbtxt", "--output-predict-net", "DIR/o.pbtxt",
                "--input", "x=2"},
               more));
    const std::string text = ReadWholeFile(dir_.path("o.pbtxt"));
    return std::string(text.find("\"cuda_sync\"\n  i: 1") != std::string::npos ? "sync " : "") +
           (text.find("\"cuda_graph\"\n  i: 1") != std::string::npos ? "graph" : "");
  };
  EXPECT_EQ(arguments({}), "");
  EXPECT_EQ(arguments({"--cuda-sync"}), "sync ");
  EXPECT_EQ(arguments({"--cuda-graph"}), "graph");
  EXPECT_EQ(arguments({"--cuda-graph", "--cuda-sync"}), "sync graph");
}

}  // namespace
}  // namespace caffe2rt::test::result_bounds_test
