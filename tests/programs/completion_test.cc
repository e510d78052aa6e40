// `caffe2 completion` and `caffe2 man`: the scripts are run by the shells themselves.

#include <absl/strings/str_split.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::completion_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The path of a program in the usual folders, or "" if it is not installed.
std::string FindProgram(const std::string& name) {
  for (const char* folder : {"/usr/bin/", "/bin/", "/usr/local/bin/"}) {
    if (access((folder + name).c_str(), X_OK) == 0) return folder + name;
  }
  return "";
}

// The first words of the lines, sorted.
std::vector<std::string> Words(const std::string& out) {
  std::vector<std::string> words;
  for (const absl::string_view line : absl::StrSplit(out, '\n', absl::SkipEmpty())) {
    words.emplace_back(line.substr(0, line.find('\t')));
  }
  std::sort(words.begin(), words.end());
  return words;
}

// Completes a command line in one shell.
class Completer {
 public:
  explicit Completer(const std::string& shell) : shell_(shell), program_(FindProgram(shell)) {
    const std::string file = dir_.path(shell == "zsh" ? "_caffe2" : "script");
    const ProgramResult made = RunCaffe2({"completion", shell, "--output", file});
    EXPECT_EQ(made.code, 0) << made.err;
    folder_ = std::filesystem::path(BuildPath(CAFFE2_PROGRAM)).parent_path().string();
    dir_.Write("model.pb", "");
  }
  bool IsInstalled() const { return !program_.empty(); }
  std::string folder() const { return dir_.path(); }

  // What the shell offers for the last word.
  std::vector<std::string> Offers(const std::string& line) const {
    if (shell_ == "zsh") {
      return Words(Run(
          {"-f", SourcePath("tests/programs/zsh_completions.zsh"), dir_.path(), folder_, line}));
    }
    const std::string script = dir_.path("script");
    if (shell_ == "fish") {
      return Words(Run(
          {"--no-config", "-c",
           "set PATH " + folder_ + " $PATH; source " + script + "; complete -C '" + line + "'"}));
    }
    return Words(Run({"--norc", "-c",
                      "PATH=" + folder_ + ":$PATH; source " + script + "; COMP_WORDS=(" +
                          (line.ends_with(' ') ? line + "''" : line) +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _caffe2; "
                          "printf '%s\\n' \"${COMPREPLY[@]}\""}));
  }

 private:
  std::string Run(const std::vector<std::string>& args) const {
    const ProgramResult result = RunProgram(program_, args);
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }

  const std::string shell_, program_;
  std::string folder_;
  const TempDir dir_;
};

class CompletionTest : public ::testing::TestWithParam<const char*> {};

TEST_P(CompletionTest, CompletesCommandsOptionsValuesAndOperatorTypes) {
  const Completer shell(GetParam());
  if (!shell.IsInstalled()) GTEST_SKIP() << GetParam() << " is not installed";
  EXPECT_THAT(shell.Offers("caffe2 ins"), ElementsAre("inspect"));
  EXPECT_THAT(shell.Offers("caffe2 run --dev"), ElementsAre("--device"));
  EXPECT_THAT(shell.Offers("caffe2 run --no-opt"), ElementsAre("--no-optimize"));
  EXPECT_THAT(shell.Offers("caffe2 run --device c"), Contains("cpu"));
  EXPECT_THAT(shell.Offers("caffe2 run --interpolation bili"), ElementsAre("bilinear"));
  EXPECT_THAT(shell.Offers("caffe2 bench --without-pass fold_"),
              ElementsAre("fold_batch_norm", "fold_constants"));
  EXPECT_THAT(shell.Offers("caffe2 bench --without-pass fold_constants --without-p"),
              ElementsAre("--without-pass"));
  EXPECT_THAT(shell.Offers("caffe2 ops SpatialSoftm"), Contains("SpatialSoftmaxWithLoss"));
  EXPECT_THAT(shell.Offers("caffe2 check --js"), ElementsAre("--json"));
}

TEST_P(CompletionTest, CompletesFiles) {
  const Completer shell(GetParam());
  if (!shell.IsInstalled()) GTEST_SKIP() << GetParam() << " is not installed";
  for (const std::string& line : {"caffe2 check " + shell.folder() + "/mod",
                                  "caffe2 run --init-net " + shell.folder() + "/mod"}) {
    const std::vector<std::string> offers = shell.Offers(line);
    ASSERT_EQ(offers.size(), 1u) << line;
    EXPECT_TRUE(offers[0].ends_with("model.pb")) << offers[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Shells, CompletionTest, testing::Values("bash", "zsh", "fish"),
                         [](const auto& info) { return std::string(info.param); });

// Options that may be repeated begin with "*".
TEST(CompletionProgramTest, ZshOffersRepeatedOptionsAgain) {
  const std::string script = RunCaffe2({"completion", "zsh"}).out;
  for (const std::string name : {"init-net=", "input=", "module="}) {
    EXPECT_THAT(script, HasSubstr("\n        '*--" + name + "["));
  }
  for (const std::string name : {"device=", "help"}) {
    EXPECT_THAT(script,
                AllOf(HasSubstr("\n        '--" + name + "["), Not(HasSubstr("*--" + name + "["))));
  }
}

TEST(CompletionProgramTest, RejectsOtherShells) {
  const ProgramResult result = RunCaffe2({"completion", "fis"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err,
              HasSubstr("shell \"fis\" is not supported, want bash, zsh or fish; did you "
                        "mean fish?"));
  EXPECT_EQ(RunCaffe2({"completion"}).code, 2);
}

TEST(ManPageTest, HasAllOptionsOfACommand) {
  const ProgramResult page = RunCaffe2({"man", "run"});
  EXPECT_EQ(page.code, 0);
  EXPECT_THAT(page.out,
              AllOf(HasSubstr(".TH \"CAFFE2\\-RUN\" 1"), HasSubstr(".B \\-\\-init\\-net FILE"),
                    HasSubstr(".B \\-\\-cuda\\-graph"), HasSubstr(".SH EXAMPLES")));
  EXPECT_THAT(RunCaffe2({"man"}).out,
              AllOf(HasSubstr(".BR caffe2\\-bench (1)"), HasSubstr("caffe2_keep_on_shrink"),
                    Not(HasSubstr("caffe2_rnn_executor"))));
  EXPECT_EQ(RunCaffe2({"man", "rnu"}).code, 2);
}

TEST(ManPageTest, ThePageOfEveryCommandIsInstalled) {
  const std::string build = ReadWholeFile(SourcePath("binaries/CMakeLists.txt"));
  const size_t begin = build.find("foreach(command ");
  ASSERT_NE(begin, std::string::npos);
  const std::string installed = build.substr(begin, build.find(')', begin) - begin) + " ";
  const std::string page = RunCaffe2({"man"}).out;
  const std::string prefix = ".BR caffe2\\-";
  int commands = 0;
  for (size_t at = page.find(prefix); at != std::string::npos; at = page.find(prefix, at + 1)) {
    const size_t name = at + prefix.size();
    EXPECT_THAT(installed, HasSubstr(" " + page.substr(name, page.find(' ', name) - name) + " "));
    ++commands;
  }
  EXPECT_GT(commands, 5);
}

TEST(ManPageTest, PagesHaveNoErrors) {
  const std::string groff = FindProgram("groff");
  if (groff.empty()) GTEST_SKIP() << "groff is not installed";
  const TempDir dir;
  for (const std::string command :
       {"", "run", "plan", "check", "inspect", "compare", "receipt", "convert", "pack", "gradients",
        "ops", "bench", "optimize", "devices"}) {
    SCOPED_TRACE(command);
    std::vector<std::string> args = {"man", "--output", dir.path("page.1")};
    if (!command.empty()) args.push_back(command);
    ASSERT_EQ(RunCaffe2(args).code, 0);
    const ProgramResult result =
        RunProgram(groff, {"-man", "-ww", "-Tutf8", "-rLL=80n", dir.path("page.1")});
    EXPECT_EQ(result.code, 0);
    EXPECT_EQ(result.err, "");
  }
}

}  // namespace
}  // namespace caffe2rt::test::completion_test
