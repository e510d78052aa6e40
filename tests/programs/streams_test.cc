// Standard input, standard output and pipes as files of `caffe2`.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::streams_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kNet[] = R"(
external_input: "x" external_input: "w" external_output: "y"
op { type: "Add" input: "x" input: "w" output: "y" arg { name: "broadcast" i: 1 } })";
constexpr char kInit[] = R"(
op { type: "GivenTensorFill" output: "w" arg { name: "shape" ints: 1 } arg { name: "values" floats: 10 } })";

class StreamsTest : public ::testing::Test {
 protected:
  StreamsTest() {
    dir_.Write("net.pbtxt", kNet);
    dir_.Write("init.pbtxt", kInit);
    Tensor x(std::vector<int64_t>{2}, CPU);
    x.mutable_data<float>()[0] = 1;
    x.mutable_data<float>()[1] = 2;
    WriteNpy(dir_.path("x.npy"), x);
  }

  // Runs a script of the shell in the temporary folder; caffe2 is the program.
  ProgramResult Shell(const std::string& script) {
    return RunProgram(
        "/bin/sh", {"-c", "cd '" + dir_.path() + "' && caffe2() { '" + BuildPath(CAFFE2_PROGRAM) +
                              "' \"$@\"; } && " + script});
  }

  const TempDir dir_;
};

TEST_F(StreamsTest, EveryArgumentThatIsOneFileMayBeStandardInput) {
  dir_.Write("labels", "first\nsecond\n");
  dir_.Write("table", "# caffe2rt convolution table, version 1\nlayouts\tplain\n");
  const std::string nets = "--init-net init.pbtxt --predict-net net.pbtxt ";
  const std::vector<std::string> scripts = {
      "cat net.pbtxt | caffe2 run --init-net init.pbtxt --predict-net - --input x=x.npy",
      "cat init.pbtxt | caffe2 run --init-net - --predict-net net.pbtxt --input x=x.npy",
      "cat x.npy | caffe2 run " + nets + "--input x=-",
      "cat x.npy | caffe2 run " + nets + "--input x=/dev/stdin",
      "caffe2 run " + nets + "--input x=- < x.npy",
      "cat table | caffe2 run " + nets + "--input x=x.npy --tuning -",
      "cat labels | caffe2 run " + nets + "--input x=x.npy --labels -"};
  for (const std::string& script : scripts) {
    SCOPED_TRACE(script);
    const ProgramResult result = Shell(script);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    if (script.find("labels") == std::string::npos) {
      EXPECT_THAT(result.out, HasSubstr("y  float [2]\n  11 12\n"));
    } else {
      EXPECT_THAT(result.out, HasSubstr("12.000  second\n"));
    }
  }
}

TEST_F(StreamsTest, CommandsOnFilesReadStandardInput) {
  EXPECT_THAT(Shell("cat net.pbtxt | caffe2 check -").out, HasSubstr("net \"stdin\": fine"));
  EXPECT_THAT(Shell("cat net.pbtxt | caffe2 inspect -").out, HasSubstr("Add"));
  EXPECT_THAT(Shell("caffe2 inspect - < x.npy").out, HasSubstr("float [2]"));
  // A drawing on standard output reads nothing.
  for (const char* option : {"--dot", "--svg", "--html"}) {
    const ProgramResult drawn =
        Shell("cat net.pbtxt | caffe2 inspect - --dot-seconds 0 " + std::string(option) + " -");
    EXPECT_EQ(drawn.code, 0) << drawn.err;
    EXPECT_THAT(drawn.out, HasSubstr("Add"));
  }
  const ProgramResult packed = Shell(
      "cat init.pbtxt | caffe2 pack --init-net - --predict-net net.pbtxt - > model && "
      "caffe2 run --predict-net model --input x=x.npy");
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("  11 12\n"));
  ASSERT_EQ(Shell("caffe2 convert - -o - < net.pbtxt > net.pb").code, 0);
  EXPECT_THAT(ReadWholeFile(dir_.path("net.pb")), Not(HasSubstr("op {")));
  const ProgramResult text = Shell("cat net.pb | caffe2 convert - | caffe2 convert --to text -");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("type: \"Add\""));
}

TEST_F(StreamsTest, PipesAreReadAsFiles) {
  const ProgramResult numbered = Shell(
      "cat init.pbtxt | caffe2 run --init-net /dev/fd/3 --predict-net net.pbtxt --input x=x.npy "
      "3<&0 </dev/null");
  EXPECT_EQ(numbered.code, 0) << numbered.err;
  EXPECT_THAT(numbered.out, HasSubstr("  11 12\n"));
  const ProgramResult named = Shell(
      "mkfifo a b && { cat init.pbtxt > a & cat net.pbtxt > b & } && "
      "caffe2 run --init-net a --predict-net b --input x=- < x.npy");
  EXPECT_EQ(named.code, 0) << named.err;
  EXPECT_THAT(named.out, HasSubstr("  11 12\n"));
}

TEST_F(StreamsTest, ReadsAFileFromWhereTheShellHasReadTo) {
  const ProgramResult result =
      Shell("{ echo skipped; cat x.npy; } > both && { read line; caffe2 inspect -; } < both");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("float [2]"));
}

TEST_F(StreamsTest, StandardOutputHasNothingButTheFile) {
  const ProgramResult result = Shell(
      "caffe2 run --init-net init.pbtxt --predict-net net.pbtxt --input x=x.npy -o - | cat > "
      "y.npz");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("x  float [2]"), HasSubstr(" ms per run")));
  const NamedTensors saved = ReadNpz(dir_.path("y.npz"));
  ASSERT_EQ(saved.size(), 1u);
  EXPECT_EQ(saved[0].first, "y");
  EXPECT_EQ(saved[0].second.data<float>()[1], 12);
}

TEST_F(StreamsTest, ReportsAndReceiptsOnStandardOutputAreAlone) {
  const std::string nets = "--init-net init.pbtxt --predict-net net.pbtxt --input x=x.npy ";
  const std::string run = "caffe2 run " + nets;
  const std::pair<std::string, std::string> commands[] = {
      {run + "--report ", "y  float [2]"},
      {run + "--receipt ", "y  float [2]"},
      {run + "--json --report ", "\"outputs\": ["},
      {run + "--json --receipt ", "\"outputs\": ["},
      {"caffe2 bench " + nets + "--warmup 0 --iterations 1 --report ", "by type:\n"},
      {"caffe2 compare net.pbtxt net.pbtxt --init-net init.pbtxt --input x=x.npy --report ",
       "1 blob agrees"}};
  for (const auto& [command, text] : commands) {
    SCOPED_TRACE(command);
    const ProgramResult to_file = Shell(command + "file"), result = Shell(command + "-");
    EXPECT_EQ(to_file.code, 0) << to_file.err;
    EXPECT_EQ(result.code, 0) << result.err;
    const std::string file = ReadWholeFile(dir_.path("file"));
    EXPECT_TRUE(file.starts_with("{\n")) << file;
    EXPECT_EQ(result.out, file);
    EXPECT_THAT(to_file.out, HasSubstr(text));
    EXPECT_THAT(result.err, HasSubstr(text));
  }
  // Standard input is free for an argument.
  for (const char* option : {"--report", "--receipt"}) {
    const ProgramResult both =
        Shell("caffe2 run --init-net init.pbtxt --predict-net net.pbtxt --input x=- " +
              std::string(option) + " - < x.npy");
    EXPECT_EQ(both.code, 0) << both.err;
    EXPECT_TRUE(both.out.starts_with("{\n")) << both.out;
  }
}

TEST_F(StreamsTest, ArchivesBeyondTheBufferPassThroughPipes) {
  // 4 MB, written as an archive and as a packed model, which go back to their first bytes.
  const ProgramResult archive = Shell(
      "caffe2 run --init-net init.pbtxt --predict-net net.pbtxt --input x=1000000 -o - 2>text | "
      "caffe2 inspect -");
  EXPECT_EQ(archive.code, 0) << archive.err;
  EXPECT_THAT(archive.out, HasSubstr("[1000000]"));
  const ProgramResult packed = Shell(
      "caffe2 pack --init-net init.pbtxt --predict-net net.pbtxt -o - 2>text | "
      "caffe2 run --predict-net - --input x=x.npy");
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("  11 12\n"));
}

TEST_F(StreamsTest, OneArgumentAtMostIsStandardInput) {
  for (const char* args :
       {"run --init-net - --predict-net -",
        "run --init-net - --predict-net net.pbtxt --input x=/dev/stdin", "check - -",
        "run --predict-net net.pbtxt --input x=- --input w=-",
        "run --predict-net net.pbtxt --input x=- --image w=-", "run --predict-net - --image w=-",
        "check /dev/fd/0 -", "check /dev/stdin /dev/fd/0",
        "run --predict-net /dev/fd/0 --input x=/dev/fd/0"}) {
    const ProgramResult result = Shell(std::string("caffe2 ") + args + " </dev/null");
    EXPECT_EQ(result.code, 2) << args;
    EXPECT_THAT(result.err, HasSubstr("standard input is given for ")) << args;
  }
}

TEST_F(StreamsTest, OneOptionAtMostWritesToStandardOutput) {
  for (const char* args :
       {"optimize --init-net init.pbtxt --predict-net net.pbtxt --output-init-net - "
        "--output-predict-net -",
        "pack --init-net init.pbtxt --predict-net net.pbtxt --output - -",
        "run --predict-net net.pbtxt --output - --report -",
        "run --predict-net net.pbtxt --receipt - --report -"}) {
    const ProgramResult result = Shell(std::string("caffe2 ") + args);
    EXPECT_EQ(result.code, 2) << args;
    EXPECT_THAT(result.err, HasSubstr("standard output is given for ")) << args;
  }
}

TEST_F(StreamsTest, EndlessInputEndsAtTheMemoryLimit) {
  const ProgramResult result = Shell("yes | caffe2 check --memory-limit 64M -");
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("caffe2: "), HasSubstr("limit")));
}

TEST_F(StreamsTest, DevicesWithoutAnEndAreNotRead) {
  const std::string nets = "--init-net init.pbtxt --predict-net net.pbtxt --input x=2 ";
  for (const std::string& args : std::vector<std::string>{
           "inspect /dev/zero", "check /dev/full", "inspect - </dev/urandom",
           "bench " + nets + "--against /dev/zero", "run " + nets + "--labels /dev/random",
           "run " + nets + "--tuning /dev/zero",
           "run --init-net init.pbtxt --predict-net net.pbtxt --input x=/dev/zero"}) {
    const ProgramResult result = Shell("caffe2 " + args);
    EXPECT_EQ(result.code, 1) << args;
    EXPECT_THAT(result.err, HasSubstr("\": it is a device without an end, want a file or a pipe"))
        << args;
  }
}

TEST_F(StreamsTest, EndlessPipesAreReadUpToTheLimitOfTheFile) {
  const std::string nets = "--init-net init.pbtxt --predict-net net.pbtxt --input x=2 ";
  for (const std::string& args :
       {"bench " + nets + "--against -", "run " + nets + "--tuning /dev/stdin"}) {
    const ProgramResult result = Shell("yes | caffe2 " + args);
    EXPECT_EQ(result.code, 1) << args;
    EXPECT_THAT(result.err, HasSubstr("\": got more than 16 MiB\n")) << args;
  }
}

TEST_F(StreamsTest, OutputHasAShortName) {
  const ProgramResult result =
      Shell("caffe2 run --init-net init.pbtxt --predict-net net.pbtxt --input x=x.npy -o results");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(ReadNpy(dir_.path("results/y.npy")).data<float>()[0], 11);
  EXPECT_EQ(Shell("caffe2 run -o a --output b").code, 2);
  EXPECT_THAT(Shell("caffe2 run --help").out, HasSubstr("-o, --output"));
}

}  // namespace
}  // namespace caffe2rt::test::streams_test
