#include "binaries/program_main.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_folder.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::program_main_test {
namespace {

using ::testing::ExitedWithCode;
using ::testing::KilledBySignal;

int Run(const CommandLine& line) {
  CheckPositional(line, 0, 1, "at most one file");
  CAFFE_ENFORCE(line.positional().empty(), "cannot read \"", line.positional()[0], "\"");
  return static_cast<int>(line.Integer("code", 0, 9));
}

[[noreturn]] void Start(std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  std::exit(ProgramMain({.name = "example",
                         .purpose = "returns a code",
                         .usage = "[FILE] [options]",
                         .options = {{"code", "N", "3", "exit code"}},
                         .notes = "example:\n  example --code 1\n",
                         .run = &Run},
                        static_cast<int>(argv.size()), argv.data()));
}

TEST(ProgramMainTest, ReturnsTheCodeAndReportsErrors) {
  struct Row {
    std::vector<std::string> words;
    int code;
    const char* text;  // a regular expression
  };
  const Row rows[] = {
      {{}, 3, "^$"},
      {{"--code=7"}, 7, "^$"},
      {{"a"}, 1, "^example: cannot read \"a\"\n$"},
      {{"a", "b"}, 2, "^example: argument \"b\" is unexpected, see --help\n$"},
      {{"--code"}, 2, "^example: option --code needs a value \\(N\\)\n$"},
      {{"--cod", "1"}, 2, "^example: option --cod is not known; did you mean --code\\?\n$"},
      {{"--code", "x"}, 2, "^example: option --code is \"x\", want a number from 0 to 9\n$"},
      {{"--help", "--nope"}, 0, "^$"},
      {{"--help-all", "a"}, 0, "^$"},
      {{"-h", "a"}, 0, "^$"},
  };
  for (const Row& row : rows) {
    EXPECT_EXIT(Start(row.words), ExitedWithCode(row.code), row.text)
        << ::testing::PrintToString(row.words);
  }
}

// Only a lack of memory ends a program with an error wherever it occurs.
int EndOtherThread(const CommandLine&) {
  std::thread([] { throw std::runtime_error("thrown"); }).join();
  return 0;
}

[[noreturn]] void StartThread() {
  std::string program = "program";
  char* argv[] = {program.data(), nullptr};
  std::exit(ProgramMain({.name = "example",
                         .purpose = "throws",
                         .usage = "",
                         .options = {},
                         .notes = "",
                         .run = &EndOtherThread},
                        1, argv));
}

TEST(ProgramMainTest, AnExceptionThatNothingCatchesAborts) {
  EXPECT_EXIT(StartThread(), KilledBySignal(SIGABRT), "");
}

// A program that is ended while it writes a folder.
int WriteFolder(const CommandLine& line) {
  const AtomicFolder folder(line.positional().at(0), 0777);
  std::raise(SIGTERM);
  return 0;
}

[[noreturn]] void StartWriter(std::string path) {
  std::string program = "program";
  char* argv[] = {program.data(), path.data(), nullptr};
  std::exit(ProgramMain({.name = "example",
                         .purpose = "writes",
                         .usage = "FOLDER",
                         .options = {},
                         .notes = "",
                         .run = &WriteFolder},
                        2, argv));
}

TEST(ProgramMainTest, ASignalLeavesNothingUnfinished) {
  const TempDir dir;
  EXPECT_EXIT(StartWriter(dir.path("new.leveldb")), KilledBySignal(SIGTERM), "");
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

}  // namespace
}  // namespace caffe2rt::test::program_main_test
