// `caffe2 run`: what it prints, saves and rejects.

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

namespace caffe2rt::test::run_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// y = x + 1 over floats of any shape.
constexpr char kAddOne[] = R"(
external_input: "x" external_input: "one" external_output: "y"
op { type: "Add" input: "x" input: "one" output: "y" arg { name: "broadcast" i: 1 } })";
constexpr char kOne[] = R"(
op { type: "ConstantFill" output: "one" arg { name: "shape" ints: 1 } arg { name: "value" f: 1 } })";

class RunProgramTest : public ::testing::Test {
 protected:
  std::vector<std::string> AddOne(std::vector<std::string> more) {
    std::vector<std::string> args = {"run", "--init-net", dir_.Write("init.pbtxt", kOne),
                                     "--predict-net", dir_.Write("plus.pbtxt", kAddOne)};
    args.insert(args.end(), more.begin(), more.end());
    return args;
  }
  std::string WriteTensor(const std::string& name, const std::vector<int64_t>& dims,
                          const std::vector<float>& values) {
    Tensor tensor(dims, CPU);
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>());
    WriteNpy(dir_.path(name), tensor);
    return dir_.path(name);
  }
  TempDir dir_;
};

TEST_F(RunProgramTest, PrintsOutputsAndTime) {
  const ProgramResult result =
      RunCaffe2(AddOne({"--input", "x=" + WriteTensor("x.npy", {3}, {1, 2, 3})}));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("x  float [3]   x.npy\n"), HasSubstr("y  float [3]\n  2 3 4\n"),
                    HasSubstr(" ms per run, 1 thread")));
}

TEST_F(RunProgramTest, SavesOutputsUnderTamedNames) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      op { type: "Copy" input: "x" output: "scope/y:0" } external_input: "x" external_output: "scope/y:0")");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=" + WriteTensor("x.npy", {2}, {5, 6}),
                 "--output", dir_.path("results")});
  EXPECT_EQ(result.code, 0) << result.err;
  const Tensor saved = ReadNpy(dir_.path("results/scope_y_0.npy"));
  EXPECT_EQ(saved.data<float>()[1], 6);
}

TEST_F(RunProgramTest, SavesOutputsInAnArchiveUnderTheirNames) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      op { type: "Copy" input: "x" output: "scope/y:0" } op { type: "Copy" input: "x" output: "scope_y_0" }
      external_input: "x" external_output: "scope/y:0" external_output: "scope_y_0")");
  const std::string archive = dir_.path("new/results.npz");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=" + WriteTensor("x.npy", {2}, {5, 6}),
                 "--fetch", "x", "--output", archive});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("scope/y:0  float [2]   saved as " + archive + "\n"));
  const NamedTensors saved = ReadNpz(archive);
  ASSERT_EQ(saved.size(), 3u);
  EXPECT_EQ(saved[0].first, "scope/y:0");
  EXPECT_EQ(saved[1].first, "scope_y_0");
  EXPECT_EQ(saved[2].first, "x");
  for (const auto& [name, tensor] : saved) EXPECT_EQ(tensor.data<float>()[1], 6) << name;
}

TEST_F(RunProgramTest, SavesIntoAFolderThatIsNamedLikeAnArchive) {
  std::filesystem::create_directory(dir_.path("folder.npz"));
  const ProgramResult result =
      RunCaffe2(AddOne({"--input", "x=1", "--output", dir_.path("folder.npz")}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ReadNpy(dir_.path("folder.npz/y.npy")).numel(), 1);
}

TEST_F(RunProgramTest, LeavesAnArchiveThatItCannotReplace) {
  const std::string archive = dir_.Write("results.npz", "old");
  const std::string net = dir_.Write("net.pbtxt", R"(
      op { type: "Copy" input: "x" output: "a\000b" } external_input: "x" external_output: "a\000b")");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=1", "--output", archive});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("results.npz\" as .npz: the name \"a"));
  EXPECT_THAT(result.err, HasSubstr("contains a zero byte"));
  EXPECT_EQ(ReadWholeFile(archive), "old");
}

TEST_F(RunProgramTest, RejectsBlobsThatWouldShareAFile) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      op { type: "Copy" input: "x" output: "a/b" } op { type: "Copy" input: "x" output: "a:b" } external_input: "x")");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--output", dir_.path("results")});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("blobs \"a/b\" and \"a:b\" would both be saved as"));
}

TEST_F(RunProgramTest, SplitsInputsBehindTheNameOfABlob) {
  const std::string net = dir_.Write(
      "net.pbtxt", R"(op { type: "Copy" input: "a=b" output: "y" } external_input: "a=b")");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net, "--input", "a=b=2,2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("a=b  float [2, 2]   random, seed 1"));
}

TEST_F(RunProgramTest, PrefersAnExistingFileToAShape) {
  WriteTensor("7", {1}, {41});
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(dir_.path());
  const ProgramResult result = RunCaffe2(AddOne({"--input", "x=7"}));
  std::filesystem::current_path(before);
  EXPECT_THAT(result.out, HasSubstr("y  float [1]\n  42\n")) << result.err;
}

TEST_F(RunProgramTest, GivesTheSameRandomInputsForASeed) {
  const auto values = [&](const char* seed) {
    return RunCaffe2(AddOne({"--input", "x=4", "--seed", seed, "--output", dir_.path(seed)})).code;
  };
  ASSERT_EQ(values("3"), 0);
  const std::string first = NpyBytes(ReadNpy(dir_.path("3/y.npy")));
  ASSERT_EQ(values("3"), 0);
  ASSERT_EQ(values("4"), 0);
  EXPECT_EQ(NpyBytes(ReadNpy(dir_.path("3/y.npy"))), first);
  EXPECT_NE(NpyBytes(ReadNpy(dir_.path("4/y.npy"))), first);
}

TEST_F(RunProgramTest, RejectsABlobGivenTwice) {
  const ProgramResult result = RunCaffe2(AddOne({"--input", "x=4", "--input", "x=5"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("blob \"x\" is given by more than one --input option"));
}

TEST_F(RunProgramTest, RejectsANetOfCommentsAlone) {
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", dir_.Write("net.pbtxt", "# nothing\n\n")});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("net.pbtxt\" as NetDef: it has no field"));
}

// The optimizer must not replace the filled counter by a constant of another name.
TEST_F(RunProgramTest, CountsIterationsInANetThatFillsItsCounter) {
  const ProgramResult result = RunCaffe2({"run", "--predict-net", dir_.Write("net.pbtxt", R"(
    external_output: "ITER" external_output: "LR"
    op { type: "ConstantFill" output: "ITER" arg { name: "shape" ints: 1 } arg { name: "dtype" i: 2 } }
    op { type: "Iter" input: "ITER" output: "ITER" }
    op { type: "LearningRate" input: "ITER" output: "LR" arg { name: "policy" s: "fixed" }
         arg { name: "base_lr" f: 0.5 } })")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("ITER  int64 [1]\n  1\n"), HasSubstr("LR    float []\n  0.5\n")));
}

TEST_F(RunProgramTest, NamesAnOutputFolderThatIsAFile) {
  const std::string file = dir_.Write("results", "mine");
  const ProgramResult result = RunCaffe2(AddOne({"--input", "x=4", "--output", file}));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("cannot create the folder \"" + file + "\": "));
}

// The inputs are printed after the outputs have been tried, and before the net runs.
TEST_F(RunProgramTest, TriesItsOutputsBeforeItRuns) {
  const std::string file = dir_.Write("file", "");
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"--output", file + "/out.npz"},
        {"--output", file + "/out"},
        {"--save-image", "y=" + file + "/y.png"}}) {
    std::vector<std::string> args = AddOne({"--input", "x=1"});
    args.insert(args.end(), options.begin(), options.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("cannot create the folder \"" + file));
    EXPECT_THAT(result.out, IsEmpty());
  }
  EXPECT_EQ(RunCaffe2(AddOne({"--input", "x=1", "--output", dir_.path("new/out.npz")})).code, 0);
}

TEST_F(RunProgramTest, NamesTheImageThatIsTooSmallToCrop) {
  const ProgramResult result =
      RunCaffe2(WithDemo({"run", "--image", DemoFile("images/rising_1.png"), "--crop", "1000"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("rising_1.png\": "), HasSubstr("crop of 1000x1000")));
}

TEST_F(RunProgramTest, FetchesBlobsWithinTheNet) {
  const ProgramResult result = RunCaffe2(AddOne({"--input", "x=1", "--fetch", "one", "--json"}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/outputs/1"),
            R"({"name":"one","type":"float","dims":[1],"values":[1]})");
  const ProgramResult missing = RunCaffe2(AddOne({"--input", "x=1", "--fetch", "two"}));
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("option --fetch: net \"plus\" does not make blob \"two\""));
}

TEST_F(RunProgramTest, RejectsUnknownNamesOfOutputsBeforeTheRun) {
  // The run would fail with exit code 1: the files of the net do not exist.
  const std::string net = dir_.Write("net.pbtxt", R"(
      name: "reader" external_input: "x"
      op { type: "Relu" input: "x" output: "probability" }
      op { type: "Load" output: "w" arg { name: "db" s: "no.minidb" }
           arg { name: "db_type" s: "minidb" } arg { name: "absolute_path" i: 1 } })");
  const std::vector<std::string> run = {"run", "--predict-net", net, "--input", "x=2"};
  const auto with = [&](const std::string& option, const std::string& value) {
    std::vector<std::string> args = run;
    args.insert(args.end(), {option, value});
    return RunCaffe2(args);
  };
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"--fetch", "probabiltiy"}, {"--save-image", "probabiltiy=" + dir_.path("a.png")}}) {
    const ProgramResult result = with(option, value);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("option " + option +
                                      ": net \"reader\" does not make blob \"probabiltiy\"; "
                                      "close: \"probability\""));
    EXPECT_THAT(result.out, IsEmpty());
  }
  for (const char* name : {"probability", "x", "w", "all"})
    EXPECT_EQ(with("--fetch", name).code, 1) << name;
  const std::string plan =
      dir_.Write("plan.pbtxt",
                 "name: \"p\" network { name: \"n\" op { type: \"Relu\" input: "
                 "\"x\" output: \"y\" } } execution_step { network: \"n\" }");
  const ProgramResult planned = RunCaffe2({"plan", plan, "--input", "x=2", "--fetch", "yy"});
  EXPECT_EQ(planned.code, 2);
  EXPECT_THAT(planned.err, HasSubstr("blob \"yy\"; close: \"y\""));
}

TEST_F(RunProgramTest, RunsANetForCudaOnTheCpuWithOneWarning) {
  Environment environment;
  environment.HideCuda();
  const std::string net = dir_.Write("net.pbtxt", R"(
      device_option { device_type: 1 }
      op { type: "Relu" input: "x" output: "y" engine: "CUDNN" device_option { device_type: 1 cuda_gpu_id: 1 } }
      op { type: "Relu" input: "y" output: "y" device_option { device_type: 1 } } external_input: "x")");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net, "--input", "x=2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err,
            "caffe2: warning: net \"net\" asks for CUDA, which is not available: it runs on the "
            "CPU\n");
  EXPECT_THAT(RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--device", "cpu"}).err,
              IsEmpty());
}

TEST_F(RunProgramTest, FindsDatabasesBesideTheNet) {
  const std::string save = dir_.Write("nets/save.pbtxt", R"(
      op { type: "ConstantFill" output: "w" arg { name: "shape" ints: 2 } arg { name: "value" f: 3 } }
      op { type: "Save" input: "w" arg { name: "db" s: "weights.minidb" } arg { name: "db_type" s: "minidb" } })");
  ASSERT_EQ(RunCaffe2({"run", "--predict-net", save, "--root", dir_.path("nets")}).code, 0);
  const std::string load = dir_.Write("nets/load.pbtxt", R"(
      op { type: "Load" output: "w" arg { name: "db" s: "weights.minidb" } arg { name: "db_type" s: "minidb" } })");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", load});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("w  float [2]\n  3 3\n"));
}

TEST_F(RunProgramTest, ClassifiesAFolderOfImages) {
  const ProgramResult result =
      RunCaffe2(WithDemo({"run", "--image", DemoFile("images"), "--labels", DemoFile("labels.txt"),
                          "--top", "1", "--output", dir_.path()}));
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("falling_1.png\ndirection  float [1, 4]\n  1.000  falling stripes\n"));
  EXPECT_EQ(ReadNpy(dir_.path("direction.npy")).dims(), (std::vector<int64_t>{8, 4}));
  ASSERT_EQ(
      RunCaffe2(WithDemo({"run", "--image", DemoFile("images"), "--output", dir_.path("all.npz")}))
          .code,
      0);
  const NamedTensors all = ReadNpz(dir_.path("all.npz"));
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[0].first, "falling_1.png");
  EXPECT_EQ(all[0].second.dims(), (std::vector<int64_t>{1, 4}));
}

TEST_F(RunProgramTest, ReportsADamagedImageAndContinues) {
  std::filesystem::copy(DemoFile("images/rising_1.png"), dir_.path("good.png"));
  dir_.Write("bad.png", std::string("\x89PNG\r\n\x1a\n", 8) + "rubbish");
  const ProgramResult result = RunCaffe2(WithDemo({"run", "--image", dir_.path(), "--top", "1"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("bad.png\" as PNG: "));
  EXPECT_THAT(result.out, HasSubstr("good.png"));
}

TEST_F(RunProgramTest, AsksWhichInputAnImageIsFor) {
  const std::string net = dir_.Write("net.pbtxt", R"(
      op { type: "Add" input: "a" input: "b" output: "y" } external_input: "a" external_input: "b")");
  const std::string image = DemoFile("images/rising_1.png");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net, "--image", image});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(
      result.err,
      HasSubstr("has 2 inputs that no init net sets: \"a\", \"b\"; want --init-net FILE for "
                "weights, --image BLOB=FILE for an image"));
  EXPECT_EQ(
      RunCaffe2({"run", "--predict-net", net, "--image", "a=" + image, "--input", "b=1,3,64,64"})
          .code,
      0);
}

TEST_F(RunProgramTest, EndsWithinTheMemoryLimit) {
  const ProgramResult result =
      RunCaffe2(AddOne({"--input", "x=1000,1000,1000", "--memory-limit", "512M"}));
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("caffe2: "), HasSubstr("limit")));
}

TEST_F(RunProgramTest, SuggestsTheNearestOption) {
  const ProgramResult result = RunCaffe2({"run", "--predict-nett", "x"});
  EXPECT_EQ(result.code, 2);
  EXPECT_EQ(result.err,
            "caffe2: option --predict-nett is not known; did you mean --predict-net?\n");
}

TEST_F(RunProgramTest, RejectsContradictoryOptions) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"run"},
        {"run", "--predictor", "a", "--predict-net", "b"},
        {"run", "--predict-net"},
        {"run", "--predict-net", "a", "--threads", "0"},
        {"run", "--predict-net", "a", "stray"},
        {"run", "--predict-net", "a", "--predict-net", "b"}}) {
    EXPECT_EQ(RunCaffe2(args).code, 2) << ::testing::PrintToString(args);
  }
}

TEST_F(RunProgramTest, StatesWhetherItsTimeIncludesThePreparation) {
  const std::vector<std::string> once = {"run", "--input", "data=1,3,64,64"};
  EXPECT_THAT(RunCaffe2(WithDemo(once)).out,
              HasSubstr(", with the preparation of the first run ("));
  std::vector<std::string> often = once;
  often.insert(often.end(), {"--iterations", "3"});
  EXPECT_THAT(RunCaffe2(WithDemo(often)).out, Not(HasSubstr("preparation")));
  often.emplace_back("--json");
  const std::string json = RunCaffe2(WithDemo(often)).out;
  EXPECT_EQ(JsonAt(json, "/includes_preparation"), "false");
  EXPECT_NE(JsonAt(json, "/ahead_milliseconds"), "0");
  EXPECT_NE(JsonAt(json, "/first_run_milliseconds"), "0");
}

TEST(RunProgramOnSharedFilesTest, RunsPredictorsFromDatabases) {
  SKIP_WITHOUT_SHARED("models/c2_files/predictor_export_named.minidb");
  const TempDir dir;
  const Tensor want = ReadNpy(SharedPath("models/c2_files/expected/tiny_out__prob.npy"));
  for (const char* name : {"predictor_export.minidb", "predictor_export_named.minidb"}) {
    const ProgramResult result =
        RunCaffe2({"run", "--predictor", SharedPath("models/c2_files/") + name, "--input",
                   "data=" + SharedPath("models/c2_files/expected/tiny_in__data.npy"), "--output",
                   dir.path()});
    ASSERT_EQ(result.code, 0) << result.err;
    const Tensor got = ReadNpy(dir.path("prob.npy"));
    ASSERT_EQ(got.dims(), want.dims());
    for (int64_t i = 0; i < got.numel(); ++i)
      EXPECT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-5);
  }
}

TEST(RunProgramOnSharedFilesTest, NamesTheCat) {
  SKIP_WITHOUT_SHARED("models/c2_squeezenet/init_net.pb");
  SKIP_WITHOUT_SHARED("data/images/cat.jpg");
  const std::string model = SharedPath("models/c2_squeezenet");
  const ProgramResult result = RunCaffe2(
      {"run", "--init-net", model + "/init_net.pb", "--predict-net", model + "/predict_net.pb",
       "--image", SharedPath("data/images/cat.jpg"), "--mean", "104,117,123", "--bgr", "--resize",
       "256", "--crop", "224", "--labels", SharedPath("data/imagenet/synset.txt"), "--top", "2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, ::testing::ContainsRegex(
                              "0\\.4[34][0-9]  tiger cat\n  0\\.39[0-9]  tabby, tabby cat\n"));
}

}  // namespace
}  // namespace caffe2rt::test::run_test
