// Tables on a terminal: their width, and their colours.

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <vector>

#include "caffe2_core/base/display_width.h"
#include "caffe2_core/base/enforce.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::terminal_width_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Variables = std::vector<std::pair<std::string, std::string>>;

// Runs `caffe2` on a terminal of `columns` columns and returns what it prints there. `variables` are
// added to the environment.
std::string RunOnTerminal(const std::vector<std::string>& args, unsigned short columns,
                          const Variables& variables) {
  const winsize size = {.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  std::vector<std::string> words = {"/usr/bin/env", "-u", "NO_COLOR", "-u", "COLUMNS"};
  for (const auto& [name, value] : variables) words.push_back(name + "=" + value);
  words.push_back(BuildPath(CAFFE2_PROGRAM));
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  CAFFE_ENFORCE(child >= 0, "cannot open a terminal");
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  std::string out;
  char piece[4096];
  for (ssize_t count; (count = read(terminal, piece, sizeof(piece))) > 0;) {
    out.append(piece, static_cast<size_t>(count));
  }
  close(terminal);
  int status = 0;
  CAFFE_ENFORCE_EQ(waitpid(child, &status, 0), child, "waiting for a process");
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << out;
  return absl::StrReplaceAll(out, {{"\r\n", "\n"}});
}

size_t Widest(const std::string& out) {
  size_t widest = 0;
  for (const absl::string_view line : absl::StrSplit(out, '\n')) {
    if (!line.empty() && line[0] == ' ')
      widest = std::max(widest, DisplayWidth(std::string_view(line.data(), line.size())));
  }
  return widest;
}

class TerminalWidthTest : public ::testing::Test {
 protected:
  std::vector<std::string> Inspect() const { return {"inspect", net_, "--input", "x=1,2,3,4"}; }

  const TempDir dir_;
  const std::string long_name_ = std::string(90, 'n');
  const std::string net_ =
      dir_.Write("net.pbtxt", "external_input: \"x\" op { type: \"Copy\" input: \"x\" output: \"" +
                                  long_name_ +
                                  "\" } op { type: \"Copy\" input: \"x\" output: "
                                  "\"\xe6\xbc\xa2\xe5\xad\x97\" }");
};

TEST_F(TerminalWidthTest, TablesFitTheTerminal) {
  for (const unsigned short columns : {60, 80, 100}) {
    const std::string out = RunOnTerminal(Inspect(), columns, {{"TERM", "dumb"}});
    EXPECT_LE(Widest(out), columns) << out;
    EXPECT_THAT(out, HasSubstr("n\u2026n"));
  }
  const std::string wide = RunOnTerminal(Inspect(), 200, {{"TERM", "dumb"}});
  EXPECT_THAT(wide, HasSubstr(" " + long_name_ + "  float"));
}

TEST_F(TerminalWidthTest, WithoutATerminalTablesHave80Columns) {
  const char* const columns = std::getenv("COLUMNS");
  const std::string before = columns != nullptr ? columns : "";
  unsetenv("COLUMNS");
  EXPECT_LE(Widest(RunCaffe2(Inspect()).out), 80u);
  setenv("COLUMNS", "200", 1);
  EXPECT_THAT(RunCaffe2(Inspect()).out, HasSubstr(long_name_));
  columns != nullptr ? setenv("COLUMNS", before.c_str(), 1) : unsetenv("COLUMNS");
}

TEST_F(TerminalWidthTest, WideCharactersKeepTheColumnsAligned) {
  const std::string out = RunOnTerminal(Inspect(), 200, {{"TERM", "dumb"}});
  const std::vector<std::string> lines = absl::StrSplit(out, '\n');
  std::vector<size_t> begins;  // of the column with the shapes, on the terminal
  for (const std::string& line : lines) {
    const size_t at = line.find("float [");
    if (at != std::string::npos) begins.push_back(DisplayWidth(line.substr(0, at)));
  }
  ASSERT_EQ(begins.size(), 2u) << out;
  EXPECT_EQ(begins[0], begins[1]);
}

TEST_F(TerminalWidthTest, ColoursAreForTerminalsThatShowThem) {
  constexpr char kEscape[] = "\x1b[";
  EXPECT_THAT(RunOnTerminal(Inspect(), 80, {{"TERM", "xterm"}}), HasSubstr("\x1b[1m"));
  EXPECT_THAT(RunOnTerminal(Inspect(), 80, {{"TERM", "xterm"}, {"NO_COLOR", ""}}),
              HasSubstr(kEscape));
  for (const char* value : {"1", "0", "yes"})
    EXPECT_THAT(RunOnTerminal(Inspect(), 80, {{"TERM", "xterm"}, {"NO_COLOR", value}}),
                Not(HasSubstr(kEscape)));
  EXPECT_THAT(RunOnTerminal(Inspect(), 80, {{"TERM", "dumb"}}), Not(HasSubstr(kEscape)));
  EXPECT_THAT(RunCaffe2(Inspect()).out, Not(HasSubstr(kEscape)));
}

// Of the two operators one took far longer before and one far less; of a third nothing is known.
TEST_F(TerminalWidthTest, RatiosAndSharesAreColoured) {
  const std::string net = dir_.Write("three.pbtxt", R"(name: "three" external_input: "x"
      op { type: "MatMul" input: "x" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "b" } op { type: "Abs" input: "b" output: "c" })");
  const std::string before = dir_.Write("before.json", R"({"net": "three", "median_ms": 1e6,
      "threads": 1, "operators": [{"type": "MatMul", "output": "a", "median_ms": 1e6},
                                  {"type": "Relu", "output": "b", "median_ms": 1e-9}]})");
  const std::string out =
      RunOnTerminal({"bench", "--predict-net", net, "--input", "x=800,800", "--iterations", "25",
                     "--warmup", "0", "--no-optimize", "--against", before},
                    200, {{"TERM", "xterm"}});
  EXPECT_THAT(out, HasSubstr("\n\x1b[31m  0  MatMul "));
  EXPECT_THAT(out, HasSubstr("\n\x1b[2m     overhead "));
  EXPECT_THAT(out, HasSubstr("ratio \x1b[32m0.00\x1b[0m\n"));
  EXPECT_THAT(out, HasSubstr("\n\x1b[32m  MatMul  a "));
  EXPECT_THAT(out, HasSubstr("\n\x1b[31m  Relu    b "));
  EXPECT_THAT(out, HasSubstr("\n  Abs     c "));
}

TEST_F(TerminalWidthTest, AShortPlanShowsNoProgress) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(name: "p" network { name: "n"
      op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 1 } } }
      execution_step { network: "n" num_iter: 3 })");
  const std::string done = "plan \"p\" done: 1 net, 1 step, ";
  std::string out;
  // A busy machine may need two seconds for it, and then the progress is shown: once more.
  for (int attempt = 0; attempt < 10; ++attempt) {
    out = RunOnTerminal({"plan", plan, "--fetch", "x"}, 80, {{"TERM", "dumb"}});
    const size_t at = out.find(done);
    ASSERT_NE(at, std::string::npos) << out;
    if (std::stod(out.substr(at + done.size())) < 2000) break;
  }
  EXPECT_TRUE(out.starts_with("x  float [1]\n  0\n" + done)) << out;
  EXPECT_THAT(out, Not(HasSubstr("\x1b")));
}

TEST_F(TerminalWidthTest, LongRunsShowTheirProgressAndRemoveIt) {
  const std::string net = dir_.Write("relu.pbtxt", R"(op { type: "Relu" input: "x" output: "y" })");
  std::vector<std::string> args = {"run", "--predict-net", net, "--input",
                                   "x=2", "--iterations",  ""};
  // As many runs as take about three seconds; twice as many if that was less than two.
  constexpr int64_t kFirst = 100'000;
  args.back() = MakeString(kFirst);
  const auto start = std::chrono::steady_clock::now();
  RunCaffe2(args);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (auto runs = static_cast<int64_t>(kFirst * 3 / took.count()); runs <= 1'000'000'000;
       runs *= 2) {
    args.back() = MakeString(runs);
    const std::string out = RunOnTerminal(args, 80, {{"TERM", "dumb"}});
    const std::string progress = MakeString(" of ", runs, " runs");
    const size_t last = out.rfind(progress);
    if (last == std::string::npos) continue;
    EXPECT_EQ(out.substr(last + progress.size(), 4), "\r\x1b[K");
    EXPECT_THAT(out.substr(last), HasSubstr("y  float [2]"));
    const ProgramResult without_terminal = RunCaffe2(args);
    EXPECT_EQ(without_terminal.err, "");
    return;
  }
  ADD_FAILURE() << "no progress in a billion runs";
}

TEST_F(TerminalWidthTest, DevicesFitTheTerminal) {
  const std::string out = RunOnTerminal({"devices"}, 50, {{"TERM", "dumb"}});
  for (const absl::string_view line : absl::StrSplit(out, '\n'))
    EXPECT_LE(DisplayWidth(std::string_view(line.data(), line.size())), 50u) << line;
  EXPECT_THAT(out, HasSubstr("(--memory-limit)\n"));
  EXPECT_THAT(RunCaffe2({"devices"}).out, HasSubstr("of memory, of which nets may use "));
}

}  // namespace
}  // namespace caffe2rt::test::terminal_width_test
