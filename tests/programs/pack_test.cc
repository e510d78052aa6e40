// caffe2 pack, and packed models in the other commands.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::pack_test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class PackProgramTest : public ::testing::Test {
 protected:
  ProgramResult Pack(std::vector<std::string> options = {}) const {
    std::vector<std::string> args = WithDemo({"pack", path_});
    args.insert(args.end(), options.begin(), options.end());
    return RunCaffe2(args);
  }
  // The outputs as JSON, which have all digits, without the time.
  static std::string OutputsOf(const ProgramResult& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    return JsonAt(result.out, "/outputs");
  }
  std::vector<std::string> RunArgs() const {
    return {"--input", "data=1,3,64,64", "--json", "--seed", "3"};
  }

  const TempDir dir_;
  const std::string path_ = dir_.path("stripes.c2pack");
};

TEST_F(PackProgramTest, PackedNetsReturnTheSameOutputs) {
  std::vector<std::string> plain = WithDemo({"run"});
  std::vector<std::string> packed = {"run", "--predict-net", path_};
  for (const std::string& arg : RunArgs()) {
    plain.push_back(arg);
    packed.push_back(arg);
  }
  const std::string want = OutputsOf(RunCaffe2(plain));
  ASSERT_EQ(Pack().code, 0);
  EXPECT_EQ(OutputsOf(RunCaffe2(packed)), want);
  const ProgramResult prepared = Pack({"--prepare", "--input", "data=1,3,64,64"});
  EXPECT_EQ(prepared.code, 0) << prepared.err;
  EXPECT_THAT(prepared.out, AllOf(HasSubstr("4 tensors"), ContainsRegex("[1-9] prepared form")));
  EXPECT_EQ(OutputsOf(RunCaffe2(packed)), want);
}

TEST_F(PackProgramTest, ASecondProcessPreparesNoWeights) {
  const auto weights_of = [&](std::vector<std::string> model) {
    model.insert(model.end(), {"--input", "data=1,3,64,64", "--json"});
    const ProgramResult result = RunCaffe2(model);
    EXPECT_EQ(result.code, 0) << result.err;
    return JsonAt(result.out, "/prepared_weights");
  };
  const std::vector<std::string> packed = {"run", "--predict-net", path_};
  EXPECT_NE(JsonAt(weights_of(WithDemo({"run"})), "/made"), "0");
  ASSERT_EQ(Pack().code, 0);
  EXPECT_NE(JsonAt(weights_of(packed), "/made"), "0");
  ASSERT_EQ(Pack({"--prepare", "--input", "data=1,3,64,64"}).code, 0);
  EXPECT_EQ(JsonAt(weights_of(packed), "/made"), "0");
  EXPECT_NE(JsonAt(weights_of(packed), "/mapped"), "0");
  const ProgramResult inspect = RunCaffe2({"inspect", path_, "--input", "data=1,3,64,64"});
  EXPECT_THAT(inspect.out, HasSubstr("; with a prepared net of "));
}

TEST_F(PackProgramTest, OtherCommandsAcceptPackedModels) {
  ASSERT_EQ(Pack().code, 0);
  const ProgramResult check = RunCaffe2({"check", path_});
  EXPECT_EQ(check.code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("fine"));
  const ProgramResult inspect = RunCaffe2({"inspect", path_, "--input", "data=1,3,64,64"});
  EXPECT_EQ(inspect.code, 0) << inspect.err;
  EXPECT_THAT(inspect.out, AllOf(HasSubstr("a packed model"), HasSubstr("4 tensors, 15.5 KiB"),
                                 HasSubstr("float [1, 16, 28, 28]"),
                                 HasSubstr("total: 3972 parameters (15.5 KiB)")));
  const ProgramResult bench = RunCaffe2(
      {"bench", "--predict-net", path_, "--input", "data=1,3,64,64", "--iterations", "1"});
  EXPECT_EQ(bench.code, 0) << bench.err;
}

TEST_F(PackProgramTest, PackedModelsNeedNoOption) {
  ASSERT_EQ(Pack().code, 0);
  for (const char* command : {"run", "bench"}) {
    const ProgramResult result =
        RunCaffe2({command, path_, "--input", "data=1,3,64,64", "--iterations", "1"});
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(PackProgramTest, NetsOfPackedModelsAreWrittenWithTheirWeights) {
  const auto outputs_of = [&](std::vector<std::string> model) {
    model.insert(model.begin(), "run");
    for (const std::string& arg : RunArgs()) model.push_back(arg);
    return OutputsOf(RunCaffe2(model));
  };
  const std::string nets = dir_.path("nets");
  for (const std::vector<std::string>& options : {std::vector<std::string>{},
                                                  {"--prepare", "--input", "data=1,3,64,64"},
                                                  {"--weights", "f16"}}) {
    ASSERT_EQ(Pack(options).code, 0);
    for (const char* form : {"binary", "text"}) {
      const std::string end = form == std::string("text") ? ".pbtxt" : ".pb";
      const ProgramResult result = RunCaffe2({"convert", path_, "--to", form, "--output", nets});
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_THAT(result.out, HasSubstr("predict_net" + end));
      EXPECT_EQ(outputs_of({"--init-net", nets + "/init_net" + end, "--predict-net",
                            nets + "/predict_net" + end}),
                outputs_of({path_}));
    }
  }
  const ProgramResult nowhere = RunCaffe2({"convert", path_});
  EXPECT_EQ(nowhere.code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("want --output FOLDER for init_net.pb and predict_net.pb"));
  EXPECT_THAT(RunCaffe2({"optimize", path_, "--output-predict-net", nets + "/o.pb"}).err,
              HasSubstr("caffe2 convert FILE --output FOLDER"));
}

TEST_F(PackProgramTest, CommandsThatReadAllReportDamagedWeights) {
  ASSERT_EQ(Pack().code, 0);
  std::string bytes = ReadWholeFile(path_);
  bytes[200] = static_cast<char>(bytes[200] ^ 1);
  dir_.Write("stripes.c2pack", bytes);
  const std::vector<std::string> run = {"run", path_, "--input", "data=1,3,64,64"};
  std::vector<std::string> verified = run;
  verified.push_back("--verify-packed");
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"check", path_},
        verified,
        {"convert", path_, "--output", dir_.path("nets")},
        {"convert", path_, "--output", dir_.path("net.onnx"), "--input-shape", "data=1,3,64,64"}}) {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 1) << args[0];
    EXPECT_THAT(result.err, HasSubstr("is damaged: the checksum of the elements of")) << args[0];
  }
  EXPECT_EQ(RunCaffe2(run).code, 0);  // maps the weights without reading all of them first
  ASSERT_EQ(Pack().code, 0);
  EXPECT_EQ(RunCaffe2(verified).code, 0);
}

TEST_F(PackProgramTest, StoresWeightsWithFewerBits) {
  ASSERT_EQ(Pack().code, 0);
  const size_t full = ReadWholeFile(path_).size();
  const ProgramResult half = Pack({"--weights", "f16"});
  EXPECT_THAT(half.out,
              ContainsRegex("4 tensors, 2 of them as f16 \\(the worst, [a-z_]+: 7[0-9.]+ dB"));
  const size_t half_size = ReadWholeFile(path_).size();
  const ProgramResult quarter = Pack({"--store-weights", "int8"});
  EXPECT_THAT(quarter.out, ContainsRegex("2 of them as int8 \\(the worst, [a-z_]+: 4[0-9.]+ dB"));
  // The weights are nearly the whole file.
  EXPECT_LT(half_size, full * 6 / 10);
  EXPECT_LT(ReadWholeFile(path_).size(), full * 35 / 100);
  EXPECT_EQ(RunCaffe2({"check", path_}).code, 0);
  const ProgramResult same = RunCaffe2({"compare", path_, DemoFile("predict_net.pb"),
                                        "--init-net2", DemoFile("init_net.pb"),
                                        "--input", "data=1,3,64,64", "--tol", "0.05"});
  EXPECT_EQ(same.code, 0) << same.out << same.err;
}

TEST_F(PackProgramTest, ReportsWrongUsage) {
  EXPECT_THAT(Pack({"--store-weights", "int9"}).err,
              HasSubstr("option --store-weights is \"int9\", want f32, f16 or int8; did you mean"));
  EXPECT_THAT(Pack({"--weights", "f16", "--prepare", "--input", "data=1,3,64,64"}).err,
              HasSubstr("--store-weights f16 is given with --prepare"));
  EXPECT_EQ(RunCaffe2(WithDemo({"pack"})).code, 2);
  EXPECT_EQ(RunCaffe2({"pack", path_}).code, 2);
  const ProgramResult input = Pack({"--input", "data=1,3,64,64"});
  EXPECT_EQ(input.code, 2);
  EXPECT_THAT(input.err, HasSubstr("without --prepare"));
  const ProgramResult passes = Pack({"--no-optimize"});
  EXPECT_EQ(passes.code, 2);
  EXPECT_THAT(passes.err, HasSubstr("--no-optimize is given without --prepare"));
  const ProgramResult no_input = Pack({"--prepare"});
  EXPECT_EQ(no_input.code, 1);
  EXPECT_THAT(no_input.err, HasSubstr("input \"data\" was not given; the net suggests"));
  const ProgramResult folder = RunCaffe2(WithDemo({"pack", dir_.path("no/such/file")}));
  EXPECT_EQ(folder.code, 1);
}

}  // namespace
}  // namespace caffe2rt::test::pack_test
