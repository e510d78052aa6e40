// Output that must be escaped or cannot be written: control characters in files, full disks, limits
// of file sizes, closed pipes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::terminal_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Escape, bell, DEL, U+009B (as text of a proto), line feed.
constexpr char kHostile[] = R"(a\033[2J\007\177\302\233b\nc)";
constexpr char kShown[] = "a\\x1b[2J\\x07\\x7f\\xc2\\x9bb\\x0ac";

std::string HostileNet(const std::string& rest = "") {
  std::string net = R"(name: "@" external_input: "x@" external_output: "y@"
      op { type: "Copy" input: "x@" output: "y@" } )" +
                    rest;
  for (size_t at; (at = net.find('@')) != std::string::npos;) net.replace(at, 1, kHostile);
  return net;
}

void ExpectNoControls(const std::string& text) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << "byte " << int{c} << " in " << text;
  }
}

TEST(TerminalTest, NamesOfNetsAreShownEscaped) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", HostileNet());
  for (const char* json : {"", "--json"}) {
    for (std::vector<std::string> args :
         std::vector<std::vector<std::string>>{{"check", net},
                                               {"inspect", net},
                                               {"run", "--predict-net", net, "--input",
                                                std::string("x") + "a\x1b[2J\x07\x7f\xc2\x9b"
                                                                   "b\nc=2"}}) {
      SCOPED_TRACE(args[0] + json);
      if (*json != '\0') args.push_back(json);
      const ProgramResult result = RunCaffe2(args);
      EXPECT_EQ(result.code, 0) << result.err;
      ExpectNoControls(result.out);
      ExpectNoControls(result.err);
      if (*json == '\0') {
        EXPECT_EQ(result.out.find("\nc"), std::string::npos) << result.out;
      }
      EXPECT_THAT(result.out,
                  HasSubstr(*json != '\0' ? "a\\u001b[2J\\u0007\\u007f\\u009bb\\nc" : kShown));
    }
  }
}

TEST(TerminalTest, NamesInErrorsAndFindingsAreShownEscaped) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", HostileNet(R"(
      op { type: "@" input: "@" output: "z" arg { name: "@" } arg { name: "@" } }
      op { type: "Relu" input: "y@" output: "w" arg { name: "@" i: 1 } })"));
  const ProgramResult check = RunCaffe2({"check", net});
  EXPECT_EQ(check.code, 1);
  ExpectNoControls(check.out);
  EXPECT_THAT(check.out, HasSubstr(std::string("operator type \"") + kShown + "\" is not known"));
  const ProgramResult run = RunCaffe2({"run", "--predict-net", net});
  EXPECT_EQ(run.code, 1);
  ExpectNoControls(run.err);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

TEST(TerminalTest, LabelsAndStringsAreShownEscaped) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const std::string labels = dir.Write("labels.txt",
                                       "\x1b[31mcat\n\x9b"
                                       "31mdog\n");
  const ProgramResult run =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--labels", labels});
  EXPECT_EQ(run.code, 0) << run.err;
  ExpectNoControls(run.out);
  EXPECT_THAT(run.out, HasSubstr("  \\x1b[31mcat\n"));
  EXPECT_THAT(run.out, HasSubstr("  \\x9b31mdog\n"));
  const std::string fill = dir.Write("fill.pbtxt", R"(op { type: "GivenTensorStringFill" output: "s"
      arg { name: "shape" ints: 1 } arg { name: "values" strings: "\033]0;title\007" } }
      op { type: "Print" input: "s" })");
  const ProgramResult strings = RunCaffe2({"run", "--predict-net", fill, "--fetch", "s"});
  EXPECT_EQ(strings.code, 0) << strings.err;
  ExpectNoControls(strings.out);
  ExpectNoControls(strings.err);
  EXPECT_THAT(strings.out, HasSubstr("\"\\x1b]0;title\\x07\""));
  EXPECT_THAT(strings.err, HasSubstr("\\x1b]0;title\\x07"));
}

TEST(TerminalTest, DrawingsHoldNoControlCharacters) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", HostileNet());
  for (const char* format : {"--dot", "--svg", "--html"}) {
    const ProgramResult result = RunCaffe2({"inspect", net, format, "-"});
    EXPECT_EQ(result.code, 0) << result.err;
    ExpectNoControls(result.out);
    EXPECT_THAT(result.out, HasSubstr("a?[2J???b?c"));
  }
}

TEST(TerminalTest, BinaryOutputIsNotEscaped) {
  const TempDir dir;
  const ProgramResult result =
      RunCaffe2({"convert", dir.Write("net.pbtxt", "name: \"\\033\""), "--to", "binary"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "\x0a\x01\x1b");  // field 1, one byte
}

TEST(OutputTest, EveryCommandReportsAFullDisk) {
  const std::string net = DemoFile("predict_net.pb");
  const std::string plan = SourcePath("binaries/demo/doubling_plan.pbtxt");
  for (const std::vector<std::string>& args : std::vector<std::vector<std::string>>{
           WithDemo({"run", "--input", "data=1,3,64,64"}),
           {"plan", plan},
           {"check", net},
           {"check", net, "--json"},
           {"inspect", net},
           {"inspect", net, "--dot", "-"},
           {"convert", net},
           {"convert", plan, "--to", "binary"},
           {"ops"},
           {"ops", "Relu"},
           WithDemo({"bench", "--input", "data=1,3,64,64", "--iterations", "1"}),
           {"devices"},
           {"--help"},
           {"help"},
           {"help", "run"},
           {"run", "--help"},
           {"bench", "--help"},
           {"--version"},
           {}}) {
    SCOPED_TRACE(args.empty() ? "no argument" : args[0] + " " + args.back());
    const ProgramResult result = RunCaffe2(args, {.out = "/dev/full"});
    EXPECT_EQ(result.code, 1);
    EXPECT_THAT(result.err, HasSubstr("standard output: No space left on device"));
  }
}

TEST(OutputTest, FilesBeyondTheLimitOfTheProcessAreErrors) {
  const TempDir dir;
  const std::string net = dir.Write("net.pbtxt", R"(external_input: "x" external_output: "y"
      op { type: "Copy" input: "x" output: "y" })");
  const ProgramResult result = RunCaffe2(
      {"run", "--predict-net", net, "--input", "x=100000", "--output", dir.path("results")},
      {.max_file_bytes = 20000});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("File too large"));
  // The limit applies to the standard output too, because it is a file.
  const ProgramResult ops = RunCaffe2({"ops", "--json"}, {.max_file_bytes = 20000});
  EXPECT_EQ(ops.code, 1);
  EXPECT_THAT(ops.err, HasSubstr("standard output: File too large"));
}

// Like other programs, it ends by SIGPIPE without a message.
TEST(OutputTest, AReaderMayStopReading) {
  const ProgramResult result =
      RunProgram("/bin/sh", {"-c", "\"" + BuildPath(CAFFE2_PROGRAM) + "\" ops --json | head -c 2"});
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "[{");
  EXPECT_THAT(result.err, IsEmpty());
}

}  // namespace
}  // namespace caffe2rt::test::terminal_test
