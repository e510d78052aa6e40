// Graph passes in the program: `caffe2 optimize`, and the options of `run` and `bench`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "caffe2_core/io/proto_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::optimize_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// y = 2 * (3 * x + 1)
constexpr char kNet[] = R"(
name: "n" external_input: "x" external_input: "w" external_input: "b" external_input: "m"
external_output: "y"
op { type: "Conv" input: "x" input: "w" input: "b" output: "t" name: "c1"
     arg { name: "kernel" i: 1 } }
op { type: "Mul" input: "t" input: "m" output: "y" })";
constexpr char kInit[] = R"(
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: [1, 1, 1, 1] }
     arg { name: "values" floats: 3 } }
op { type: "GivenTensorFill" output: "b" arg { name: "shape" ints: 1 }
     arg { name: "values" floats: 1 } }
op { type: "GivenTensorFill" output: "m" arg { name: "shape" ints: 1 }
     arg { name: "values" floats: 2 } })";

class OptimizeProgramTest : public ::testing::Test {
 protected:
  ProgramResult Call(const std::string& command, std::vector<std::string> more) {
    std::vector<std::string> args = {command, "--init-net", dir_.Write("init.pbtxt", kInit),
                                     "--predict-net", dir_.Write("net.pbtxt", kNet)};
    args.insert(args.end(), more.begin(), more.end());
    return RunCaffe2(args);
  }
  // --input for x = {5, -1}
  std::string Input() {
    Tensor x(std::vector<int64_t>{1, 1, 1, 2}, CPU);
    x.mutable_data<float>()[0] = 5;
    x.mutable_data<float>()[1] = -1;
    WriteNpy(dir_.path("x.npy"), x);
    return "x=" + dir_.path("x.npy");
  }
  TempDir dir_;
};

TEST_F(OptimizeProgramTest, WritesNetsThatComputeTheSame) {
  const std::string init = dir_.path("fast_init.pb"), net = dir_.path("fast.pbtxt");
  const ProgramResult result =
      Call("optimize", {"--output-init-net", init, "--output-predict-net", net});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out,
              HasSubstr("2 operators, 1 after optimization\napplied fold_batch_norm\n"));
  EXPECT_EQ(LoadNet(net).op_size(), 1);
  EXPECT_EQ(LoadNet(init).op_size(), 2);  // the folded filter and bias
  const ProgramResult plain = Call("run", {"--input", "x=1,1,1,4", "--json", "--no-optimize"});
  const ProgramResult fast = RunCaffe2(
      {"run", "--init-net", init, "--predict-net", net, "--input", "x=1,1,1,4", "--json"});
  EXPECT_EQ(fast.code, 0) << fast.err;
  EXPECT_EQ(JsonAt(fast.out, "/outputs/0/dims"), "[1,1,1,4]");
  EXPECT_EQ(JsonAt(plain.out, "/outputs/0/dims"), "[1,1,1,4]");
}

// As for `convert`, the ends of the names state the formats.
TEST_F(OptimizeProgramTest, WritesTextToFilesOfTextNames) {
  for (const char* name : {"fast.pbtxt", "fast.prototxt", "fast.txt", "fast.pb", "fast"}) {
    SCOPED_TRACE(name);
    const std::string net = dir_.path(name), init = dir_.path(std::string("init_") + name);
    const ProgramResult result =
        Call("optimize", {"--output-init-net", init, "--output-predict-net", net});
    ASSERT_EQ(result.code, 0) << result.err;
    const bool is_text = std::string(name).ends_with("txt");
    for (const std::string& file : {net, init})
      EXPECT_EQ(ReadWholeFile(file).find("type: \"") != std::string::npos, is_text) << file;
  }
}

// The weights of a binary init net are not read into its NetDef.
TEST_F(OptimizeProgramTest, KeepsTheWeightsOfBinaryInitNets) {
  const std::string init =
      dir_.Write("init.pb", ProtoToBinary(LoadNet(dir_.Write("init.pbtxt", kInit))));
  const std::string net = dir_.Write("net.pbtxt",
                                     R"(external_input: ["x", "w", "b"] external_output: "y"
         op { type: "Conv" input: "x" input: "w" input: "b" output: "y" arg { name: "kernel" i: 1 } })");
  const std::string fast_init = dir_.path("fast_init.pb"), fast = dir_.path("fast.pbtxt");
  const ProgramResult result =
      RunCaffe2({"optimize", "--init-net", init, "--predict-net", net, "--output-init-net",
                 fast_init, "--output-predict-net", fast});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(LoadNet(fast_init).op(0).arg(1).floats(0), 3);
  const ProgramResult run = RunCaffe2(
      {"run", "--init-net", fast_init, "--predict-net", fast, "--input", Input(), "--json"});
  EXPECT_EQ(run.code, 0) << run.err;
}

// The second init net reads a weight that is folded into another one.
TEST_F(OptimizeProgramTest, KeepsWeightsThatLaterInitNetsRead) {
  const std::string second = dir_.Write(
      "second.pbtxt", R"(external_input: "m" op { type: "Negative" input: "m" output: "v" })");
  const std::string fast_init = dir_.path("fast_init.pb"), fast = dir_.path("fast.pb");
  const std::string net = dir_.Write("sum.pbtxt", R"(
      external_input: ["x", "w", "b", "m", "v"] external_output: "y" external_output: "z"
      op { type: "Conv" input: "x" input: "w" input: "b" output: "t" arg { name: "kernel" i: 1 } }
      op { type: "Mul" input: "t" input: "m" output: "y" }
      op { type: "Relu" input: "v" output: "z" })");
  const ProgramResult result =
      RunCaffe2({"optimize", "--init-net", dir_.Write("first.pbtxt", kInit), "--init-net", second,
                 "--predict-net", net, "--without-pass", "fold_constants", "--output-init-net",
                 fast_init, "--output-predict-net", fast});
  EXPECT_EQ(result.code, 0) << result.err;
  const ProgramResult run =
      RunCaffe2({"run", "--init-net", fast_init, "--predict-net", fast, "--input", Input()});
  EXPECT_EQ(run.code, 0) << run.err;
}

// The outputs of convolutions that Winograd computes by default.
TEST_F(OptimizeProgramTest, LimitsWinograd) {
  const std::string init = dir_.Write("w.pbtxt", R"(
      op { type: "UniformFill" output: "w" arg { name: "shape" ints: [64, 64, 3, 3] }
           arg { name: "min" f: -1 } arg { name: "max" f: 1 } })");
  const std::string net = dir_.Write("conv.pbtxt", R"(
      external_input: ["x", "w"] external_output: "y"
      op { type: "Conv" input: "x" input: "w" output: "t" arg { name: "kernel" i: 3 } }
      op { type: "Conv" input: "t" input: "w" output: "y" arg { name: "kernel" i: 3 } })");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {
        "run",    "--init-net", init,       "--predict-net", net, "--input", "x=1,64,58,58",
        "--seed", "7",          "--output", dir_.path("out")};
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    const Tensor y = ReadNpy(dir_.path("out/y.npy"));
    return std::vector<float>(y.data<float>(), y.data<float>() + y.numel());
  };
  const std::vector<float> winograd = run({}), direct = run({"--deterministic"});
  EXPECT_NE(winograd, direct);
  EXPECT_EQ(run({"--winograd-memory", "589823"}), direct);  // 36 * 64 * 64 floats are 589824 bytes
  EXPECT_EQ(run({"--winograd-memory", "589824"}), winograd);
  for (size_t i = 0; i < direct.size(); ++i) ASSERT_NEAR(winograd[i], direct[i], 1e-2) << i;
}

TEST_F(OptimizeProgramTest, RejectsPackedModelsAndEqualOutputs) {
  const std::string packed = dir_.path("model.c2pack");
  EXPECT_EQ(Call("pack", {packed}).code, 0);
  const ProgramResult result =
      RunCaffe2({"optimize", "--predict-net", packed, "--output-init-net", dir_.path("i.pb"),
                 "--output-predict-net", dir_.path("p.pb")});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("the model is packed"));
  const std::string same = dir_.path("same.pb");
  EXPECT_EQ(Call("optimize", {"--output-init-net", same, "--output-predict-net", same}).code, 2);
}

TEST_F(OptimizeProgramTest, LeavesBothFilesIfOneCannotBeWritten) {
  const std::string init = dir_.Write("init.pbtxt", kInit);
  const ProgramResult result = Call("optimize", {"--output-init-net", init, "--output-predict-net",
                                                 dir_.path("no_folder/net.pb")});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(LoadNet(init).op_size(), 3);
}

TEST_F(OptimizeProgramTest, ListsThePasses) {
  const ProgramResult result = RunCaffe2({"optimize", "--passes"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("fold_batch_norm"));
}

TEST_F(OptimizeProgramTest, RejectsUnknownPassesAndMissingFiles) {
  const ProgramResult unknown =
      Call("run", {"--input", "x=1,1,1,1", "--without-pass", "fold_bach_norm"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("fold_batch_norm"));
  const ProgramResult missing = Call("optimize", {});
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("--output-predict-net"));
  const ProgramResult without_init =
      Call("optimize", {"--output-predict-net", dir_.path("fast.pb")});
  EXPECT_EQ(without_init.code, 2);
  EXPECT_THAT(without_init.err, HasSubstr("--output-init-net"));
}

TEST_F(OptimizeProgramTest, ShowsTheOptimizedOperatorsInBench) {
  const std::vector<std::string> input = {"--input", "x=1,1,1,4", "--iterations", "1"};
  const ProgramResult fast = Call("bench", input);
  EXPECT_EQ(fast.code, 0) << fast.err;
  EXPECT_THAT(fast.out, Not(HasSubstr("Mul")));
  std::vector<std::string> more = input;
  more.insert(more.end(), {"--without-pass", "fold_batch_norm"});
  EXPECT_THAT(Call("bench", more).out, HasSubstr("Mul"));
  more = input;
  more.emplace_back("--no-optimize");
  EXPECT_THAT(Call("bench", more).out, HasSubstr("Mul"));
}

TEST_F(OptimizeProgramTest, KeepsFetchedBlobs) {
  const ProgramResult result = Call("run", {"--input", "x=1,1,1,1", "--fetch", "t", "--json"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(JsonAt(result.out, "/outputs/1/name"), "\"t\"");
}

TEST_F(OptimizeProgramTest, ReportsErrorsWithTheUsersOperators) {
  const ProgramResult result = Call("run", {"--input", "x=1,3,1,1"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("operators 0 Conv \"c1\", 1 Mul (run as Conv"));
}

// As written, w, b and m have 4 bytes each, t and y 8, of which t is in the arena, which consists of
// lines of 64 bytes. The pass removes m and t.
TEST_F(OptimizeProgramTest, InspectsTheMemoryOfTheNetThatRuns) {
  const std::string init = dir_.Write("init.pbtxt", kInit);
  const std::string net = dir_.Write("net.pbtxt", kNet);
  const std::string packed = dir_.path("n.c2pack");
  EXPECT_EQ(Call("pack", {packed}).code, 0);
  const auto inspect = [&](std::vector<std::string> args) {
    args.insert(args.begin(), {"inspect", "--memory", "--json", "--input", "x=1,1,1,2"});
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    const auto at = [&](const char* name) {
      return JsonAt(result.out, std::string("/nets/0/memory/") + name);
    };
    return at("prepared") + " " + at("passes") + " " + at("weight_bytes") + " " +
           at("arena_bytes") + " " + at("own_bytes");
  };
  EXPECT_EQ(inspect({net, "--init-net", init}), "true [\"fold_batch_norm\"] 8 0 8");
  EXPECT_EQ(inspect({packed}), "true [\"fold_batch_norm\"] 8 0 8");
  EXPECT_EQ(inspect({packed, "--no-optimize"}), "true [] 12 64 8");
  EXPECT_EQ(inspect({packed, "--without-pass", "fold_batch_norm"}), "true [] 12 64 8");
  EXPECT_EQ(inspect({packed, "--fetch", "t"}), "true [] 12 0 16");
  EXPECT_EQ(inspect({net}), "false [] 0 0 0");
  EXPECT_EQ(inspect({net, "--input", "w=1,1,1,1", "--input", "b=1", "--input", "m=1"}),
            "false [] 0 64 8");
}

// A matrix of 32 x 16 floats is packed for 8 rows, and used as it is for one.
TEST_F(OptimizeProgramTest, InspectCountsPreparedWeights) {
  const std::string init = dir_.Write("fc_init.pbtxt", R"(
      op { type: "UniformFill" output: "w" arg { name: "shape" ints: 16 ints: 32 } }
      op { type: "ConstantFill" output: "b" arg { name: "shape" ints: 16 } })");
  const std::string net = dir_.Write("fc.pbtxt", R"(name: "fc" external_input: "x"
      external_input: "w" external_input: "b" external_output: "y"
      op { type: "FC" input: "x" input: "w" input: "b" output: "t" }
      op { type: "Relu" input: "t" output: "y" })");
  const auto inspect = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"inspect", net, "--memory", "--json", "--init-net", init};
    args.insert(args.end(), more.begin(), more.end());
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    const auto at = [&](const char* name) {
      return JsonAt(result.out, std::string("/nets/0/memory/") + name);
    };
    return std::pair(std::stol(at("prepared_bytes")), at("unknown_prepared"));
  };
  EXPECT_GE(inspect({"--input", "x=8,32"}).first, 32 * 16 * 4);
  EXPECT_EQ(inspect({"--input", "x=8,32"}).second, "[]");
  EXPECT_EQ(inspect({"--input", "x=1,32"}), std::pair(0L, std::string("[]")));
  EXPECT_EQ(inspect({}), std::pair(0L, std::string("[0]")));
}

TEST_F(OptimizeProgramTest, InspectsPassesOnlyForMemory) {
  const ProgramResult result =
      RunCaffe2({"inspect", dir_.Write("net.pbtxt", kNet), "--without-pass", "fuse_fc"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("option --without-pass is given without --memory"));
}

}  // namespace
}  // namespace caffe2rt::test::optimize_test
