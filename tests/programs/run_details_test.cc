// Details of `caffe2 run`, `caffe2 plan` and `caffe2 receipt`: several runs, several outputs with NaN, what is saved, and
// results that have no hash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/image.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_folder.h"
#include "tests/support/json.h"

namespace caffe2rt::test::run_details_test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::string_literals;
namespace fs = std::filesystem;

class RunDetailsTest : public ProgramFolder {
 protected:
  void SetUp() override {
    dir_.Write("copy.pbtxt", R"(name: "copy" external_input: "x" external_output: "y"
        op { type: "Copy" input: "x" output: "y" })");
  }
  // An image of one pixel.
  void Pixel(const std::string& name, uint8_t red, uint8_t green, uint8_t blue) const {
    dir_.Write(name, "");
    SavePng(dir_.path(name), {.width = 1, .height = 1, .rgb = {red, green, blue}});
  }
  static Words Copy(const Words& more) {
    return Joined({"run", "--predict-net", "DIR/copy.pbtxt"}, more);
  }
};

// --- several runs ---

// Each run adds 1 to the counter, which is 0 at first.
TEST_F(RunDetailsTest, ValuesAreThoseOfTheLastRun) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "i" external_output: "i"
      op { type: "Iter" input: "i" output: "i" })");
  dir_.Write("init.pbtxt", R"(op { type: "ConstantFill" output: "i" arg { name: "shape" ints: 1 }
      arg { name: "dtype" i: 10 } })");
  const Words run = {"run",        "--predict-net",  "DIR/net.pbtxt",
                     "--init-net", "DIR/init.pbtxt", "--iterations",
                     "3",          "--json"};
  EXPECT_EQ(JsonAt(Out(run), "/outputs/0/values"), "[3]");
  const std::string stats = Out(Joined(run, {"--stats"}));
  ASSERT_EQ(JsonSize(stats, "/stats"), 2u) << stats;
  EXPECT_EQ(JsonAt(stats, "/stats/0/max"), "2");
  EXPECT_EQ(JsonAt(stats, "/stats/1/max"), "3");
  EXPECT_EQ(JsonAt(stats, "/includes_preparation"), "false");
  const std::string all = Out(Joined(run, {"--fetch", "all"}));
  ASSERT_EQ(JsonSize(all, "/outputs"), 2u);
  EXPECT_EQ(JsonAt(all, "/outputs/0/values"), "[2]");
  EXPECT_EQ(JsonAt(all, "/outputs/1/values"), "[3]");
  EXPECT_EQ(JsonAt(all, "/outputs/1/operator"), "0");
}

TEST_F(RunDetailsTest, TheTimeOfAFolderIncludesThePreparationOfOneFileOnly) {
  for (const int count : {1, 2}) {
    Pixel("in/" + std::to_string(count) + ".png", 1, 2, 3);
    const Words run = Copy({"--image", "DIR/in", "--threads", "3"});
    const std::string json = Out(Joined(run, {"--json"}));
    EXPECT_EQ(JsonSize(json, "/images"), static_cast<size_t>(count));
    EXPECT_EQ(JsonAt(json, "/threads"), "3");
    EXPECT_EQ(JsonAt(json, "/includes_preparation"), count == 1 ? "true" : "false");
    EXPECT_GT(std::stod(JsonAt(json, "/milliseconds")), 0);
    EXPECT_THAT(Out(run), EndsWith(count == 1 ? " ms per image, 3 threads, with the preparation of "
                                                "the first run (details: caffe2 bench)\n"
                                              : " ms per image, 3 threads (details: caffe2 "
                                                "bench)\n"));
  }
  fs::remove(dir_.path("in/2.png"));
  EXPECT_EQ(JsonAt(Out(Copy({"--image", "DIR/in", "--iterations", "2", "--json"})),
                   "/includes_preparation"),
            "false");
}

// --- NaN ---

TEST_F(RunDetailsTest, OtherOutputsWithNaNAreCounted) {
  const auto warning = [&](int outputs) {
    std::string net = "name: \"n\" external_input: \"x\" ";
    for (int i = 0; i < outputs; ++i) {
      const std::string name = "y" + std::to_string(i);
      net += "external_output: \"" + name + "\" op { type: \"Sqrt\" input: \"x\" output: \"" +
             name + "\" } ";
    }
    dir_.Write("net.pbtxt", net);
    return Run({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=[-1,1,-1]", "--no-optimize"})
        .err;
  };
  const std::string first =
      "caffe2: warning: output \"y0\" has NaN in 2 of 3 elements; the first is in blob \"y0\", "
      "written by operator 0 (Sqrt)";
  EXPECT_EQ(warning(1), first + "\n");
  EXPECT_EQ(warning(2), first + "; 1 other output has NaN too\n");
  EXPECT_EQ(warning(3), first + "; 2 other outputs have NaN too\n");
}

// A stream cannot be read a second time, a file of a folder is.
TEST_F(RunDetailsTest, TheImageThatMakesNaNIsRunAgain) {
  Pixel("in/a.png", 120, 120, 120);
  Pixel("in/b.png", 50, 200, 50);
  dir_.Write("net.pbtxt", R"(name: "n" external_input: ["x", "c"] external_output: "y"
      op { type: "Sub" input: ["x", "c"] output: "d" } op { type: "Sqrt" input: "d" output: "y" })");
  const Words run = {"run", "--predict-net", "DIR/net.pbtxt", "--input", "c=[100]", "--image"};
  const std::string origin =
      "\" has NaN in 2 of 3 elements; the first is in blob \"y\", written by operator 1 (Sqrt)\n";
  EXPECT_EQ(Run(Joined(run, {"x=DIR/in"})).err,
            "caffe2: warning: output \"y\" for \"DIR/in/b.png" + origin);
  dir_.Write("both", ReadWholeFile(dir_.path("in/a.png")) + ReadWholeFile(dir_.path("in/b.png")));
  Words words;
  for (const std::string& word : Joined(run, {"x=-"}))
    words.push_back(std::regex_replace(word, std::regex("DIR/"), dir_.path("")));
  const ProgramResult stream = RunCaffe2(words, {.in = dir_.path("both")});
  EXPECT_EQ(stream.code, 0);
  EXPECT_EQ(stream.err, "caffe2: warning: output \"y\" for \"image 2 of standard input" + origin);
}

// --- what is saved ---

TEST_F(RunDetailsTest, TypesThatNumPyLacksAreSavedAsProtos) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: ["s", "y", "f"]
      op { type: "GivenTensorStringFill" output: "s" arg { name: "shape" ints: 2 }
           arg { name: "values" strings: ["a", "bc"] } }
      op { type: "Copy" input: "x" output: "y" }
      op { type: "ConstantFill" output: "f" arg { name: "shape" ints: 1 } })");
  const std::string out = Out({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=2.,3.",
                               "--cast", "bfloat16", "--output", "DIR/out"});
  EXPECT_THAT(out, HasSubstr("s  string [2]   saved as DIR/out/s.pb\n"));
  EXPECT_THAT(out, HasSubstr("y  bfloat16 [1, 2]   saved as DIR/out/y.pb\n"));
  EXPECT_THAT(out, HasSubstr("f  float [1]   saved as DIR/out/f.npy\n"));
  Words files;
  for (const auto& entry : fs::directory_iterator(dir_.path("out")))
    files.push_back(entry.path().filename().string());
  std::sort(files.begin(), files.end());
  EXPECT_EQ(files, (Words{"f.npy", "s.pb", "y.pb"}));
  EXPECT_THAT(ReadWholeFile(dir_.path("out/s.pb")), HasSubstr("bc"));
}

TEST_F(RunDetailsTest, ChannelsOfASavedImageAreThoseOfItsInput) {
  Pixel("a.png", 10, 20, 30);
  const std::vector<uint8_t> rgb = {10, 20, 30}, bgr = {30, 20, 10};
  const auto saved = [&](const Words& more) {
    Out(Joined(Copy({"--save-image", "y=DIR/out.png"}), more));
    return LoadImage(dir_.path("out.png")).rgb;
  };
  EXPECT_EQ(saved({"--image", "DIR/a.png"}), rgb);
  EXPECT_EQ(saved({"--image", "DIR/a.png", "--bgr"}), rgb);
  const Words values = {"--input", "x=[[[[10]],[[20]],[[30]]]]"};
  EXPECT_EQ(saved(values), rgb);
  EXPECT_EQ(saved(Joined(values, {"--bgr"})), bgr);
}

TEST_F(RunDetailsTest, DevicesAreArchives) {
  EXPECT_THAT(Out(Copy({"--input", "x=2", "--output", "/dev/null"})),
              HasSubstr("y  float [2]   saved as /dev/null\n"));
  EXPECT_FALSE(fs::is_directory("/dev/null"));
}

TEST_F(RunDetailsTest, ScoresThatAreSavedArePrintedOnDemand) {
  const Words run = Copy({"--input", "x=[3,7,5]", "--output", "DIR/out"});
  EXPECT_THAT(Out(run), HasSubstr("\ny  float [3]   saved as DIR/out/y.npy\n"));
  fs::remove_all(dir_.path("out"));
  EXPECT_THAT(Out(Joined(run, {"--top", "2"})),
              HasSubstr("\ny  float [3]\n  7.000  class 1\n  5.000  class 2\n"));
  EXPECT_EQ(ReadNpy(dir_.path("out/y.npy")).data<float>()[1], 7);
}

TEST_F(RunDetailsTest, ABlobIsPrintedOnce) {
  dir_.Write("net.pbtxt", R"(name: "n" external_input: "x" external_output: "z"
      op { type: "Abs" input: "x" output: "y" } op { type: "Sqr" input: "y" output: "z" })");
  const std::string json =
      Out({"run", "--predict-net", "DIR/net.pbtxt", "--input", "x=[2]", "--fetch", "y", "--fetch",
           "z", "--fetch", "y", "--fetch", "x", "--json"});
  ASSERT_EQ(JsonSize(json, "/outputs"), 3u);
  EXPECT_EQ(JsonAt(json, "/outputs/0/name") + JsonAt(json, "/outputs/1/name") +
                JsonAt(json, "/outputs/2/name"),
            R"("z""y""x")");
}

// With all blobs, one that cannot be saved is left out.
TEST_F(RunDetailsTest, ObjectsAmongAllBlobsAreNotSaved) {
  dir_.Write("net.pbtxt", R"(name: "n" external_output: "y" op { type: "CreateCounter" output: "n" }
      op { type: "ConstantFill" output: "y" arg { name: "shape" ints: 1 } })");
  for (const char* output : {"DIR/out", "DIR/out.npz"}) {
    const std::string out =
        Out({"run", "--predict-net", "DIR/net.pbtxt", "--fetch", "all", "--output", output});
    EXPECT_THAT(out, HasSubstr("n  unique_ptr<Counter<int64>>\ny  float [1]   saved as "));
  }
  EXPECT_FALSE(fs::exists(dir_.path("out/n.npy")));
  EXPECT_EQ(ReadNpz(dir_.path("out.npz")).size(), 1u);
}

// --- plan ---

TEST_F(RunDetailsTest, PlansPrintAndSaveWhatIsFetched) {
  dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n" external_input: "x"
      op { type: "Copy" input: "x" output: "y" }
      op { type: "UniformFill" output: "u" arg { name: "shape" ints: 8 } } }
      network { name: "later" op { type: "Copy" input: "x" output: "late" } }
      execution_step { network: "n" } execution_step { network: "later" num_iter: 0 })");
  const auto plan = [](const Words& more) { return Joined({"plan", "DIR/plan.pbtxt"}, more); };
  const Words fetch = plan({"--input", "x=[[3,7,5],[9,1,2]]", "--fetch", "y"});
  EXPECT_THAT(Out(fetch), HasSubstr("y  float [2, 3]\n  3 7 5\n  9 1 2\nplan "));
  EXPECT_THAT(Out(Joined(fetch, {"--top", "2"})),
              HasSubstr("y  float [2, 3]\n  row 0\n    7.000  class 1\n    5.000  class 2\n"
                        "  row 1\n    9.000  class 0\n    2.000  class 2\nplan "));
  EXPECT_EQ(JsonAt(Out(Joined(fetch, {"--top", "1", "--json"})), "/outputs/0/top"),
            R"([[{"index":1,"score":7}],[{"index":0,"score":9}]])");
  Out(Joined(fetch, {"--output", "DIR/out"}));
  EXPECT_EQ(ReadNpy(dir_.path("out/y.npy")).data<float>()[3], 9);
  EXPECT_THAT(Out(Joined(fetch, {"--cast", "int32"})), HasSubstr("y  int32 [2, 3]\n"));
  EXPECT_THAT(Out(Joined(fetch, {"--cast", "z=int32"})), HasSubstr("y  float [2, 3]\n"));
  const auto random = [&](const std::string& seed) {
    return JsonAt(Out(plan({"--input", "x=2", "--seed", seed, "--fetch", "u", "--json"})),
                  "/outputs/0/values");
  };
  EXPECT_EQ(random("4"), random("4"));
  EXPECT_NE(random("4"), random("5"));
  // The net of the second step is created, and does not run.
  EXPECT_THAT(Out(plan({"--input", "x=2", "--fetch", "late"})), HasSubstr("late  empty\nplan "));
}

// --- receipt ---

TEST_F(RunDetailsTest, ObjectsHaveNoHash) {
  dir_.Write("counter.pbtxt",
             R"(name: "c" external_output: "n" op { type: "CreateCounter" output: "n" })");
  dir_.Write("fill.pbtxt", R"(name: "c" external_output: "n"
      op { type: "ConstantFill" output: "n" arg { name: "shape" ints: 1 } })");
  for (const char* name : {"counter", "fill"})
    Out({"run", "--predict-net", "DIR/"s + name + ".pbtxt", "--receipt", "DIR/"s + name});
  // Hashes are numbers of 16 digits, also small ones.
  const std::string fill = ReadWholeFile(dir_.path("fill"));
  dir_.Write("fill", std::regex_replace(fill, std::regex("\"(?!0000)[0-9a-f]{16}\""),
                                        "\"00000000000000ab\""));
  const auto compare = [&](const std::string& first, const std::string& second,
                           const Words& more = {}) {
    const ProgramResult result =
        Run(Joined({"receipt", "compare", "DIR/" + first, "DIR/" + second}, more));
    EXPECT_EQ(result.code, first == second ? 0 : 1) << result.err;
    return result.out;
  };
  const std::string hint = "(caffe2 run --receipt-all, for both, finds the first operator)\n";
  EXPECT_EQ(compare("counter", "fill"),
            "different: 1 output\n  output \"n\": unique_ptr<Counter<int64>>, no hash and float "
            "[1], 00000000000000ab\n" +
                hint);
  EXPECT_EQ(compare("fill", "counter"),
            "different: 1 output\n  output \"n\": float [1], 00000000000000ab and "
            "unique_ptr<Counter<int64>>, no hash\n" +
                hint);
  EXPECT_EQ(compare("counter", "counter"), "equal: 1 output\n");
  EXPECT_EQ(JsonAt(compare("counter", "fill", {"--json"}), "/outputs/0"),
            R"({"blob":"n","first":{"type":"unique_ptr<Counter<int64>>","shape":[],"hash":null},)"
            R"("second":{"type":"float","shape":[1],"hash":"00000000000000ab"}})");
  const std::string json = compare("counter", "fill", {"--json"});
  EXPECT_EQ(JsonAt(json, "/first_operator"), "null");
  EXPECT_EQ(JsonAt(json, "/has_operators"), "false");
}

TEST_F(RunDetailsTest, ConditionsThatDoNotMatterAreListed) {
  const auto receipt = [&](const std::string& name, const Words& more) {
    Out(Joined(Copy({"--input", "x=2", "--receipt", "DIR/" + name}), more));
  };
  receipt("a", {});
  receipt("b", {"--threads", "2"});
  const Words compare = {"receipt", "compare", "DIR/a", "DIR/b"};
  EXPECT_EQ(Out(compare), "equal: 1 output\nalthough these differ:\n  threads: 1 and 2\n");
  const std::string json = Out(Joined(compare, {"--json"}));
  EXPECT_EQ(JsonAt(json, "/equal"), "true");
  EXPECT_EQ(JsonAt(json, "/outputs"), "[]");
  EXPECT_EQ(JsonAt(json, "/conditions"), R"(["threads: 1 and 2"])");
}

}  // namespace
}  // namespace caffe2rt::test::run_details_test
