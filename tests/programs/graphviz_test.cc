// How the program `dot` is started: what it reads, its environment and its limits, and what its end means. The programs
// of these tests are scripts.
#include "binaries/commands/graphviz.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace caffe2rt::test::graphviz_test {
namespace {

class GraphvizTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const path = std::getenv("PATH"); path != nullptr) path_ = path;
    setenv("PATH", (dir_.path() + ":/usr/bin:/bin").c_str(), 1);
  }
  void TearDown() override { setenv("PATH", path_.c_str(), 1); }

  void WriteScript(const std::string& script) const {
    const std::string file = dir_.Write("dot", "#!/bin/sh\n" + script + "\n");
    ASSERT_EQ(chmod(file.c_str(), 0700), 0);
  }
  // "plain|problem" of a script.
  std::string Answer(const std::string& script, const std::string& request = "",
                     const DotLimits& limits = {}) const {
    WriteScript(script);
    const DotAnswer answer = RunDot(request, limits);
    return answer.plain + "|" + answer.problem;
  }
  static int64_t OpenFiles() {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  }
  const TempDir dir_;

 private:
  std::string path_;
};

TEST_F(GraphvizTest, ReadsTheWholeRequestAndItsAnswerIsWhole) {
  EXPECT_EQ(Answer("exec cat"), "|");
  EXPECT_EQ(Answer("exec cat", "digraph {}\n"), "digraph {}\n|");
  EXPECT_EQ(Answer("echo \"$# $1\""), "1 -Tplain\n|");
  // More than a pipe holds at once.
  std::string request = "begin";
  while (request.size() < 300'000) request += " some more of the request";
  EXPECT_EQ(Answer("exec cat", request + "end"), request + "end|");
  const std::string zeros("a\0b\n\xff", 5);
  EXPECT_EQ(Answer("exec cat", zeros), zeros + "|");
  // What it prints beside the answer is left out.
  EXPECT_EQ(Answer("echo before; echo error 1>&2; echo behind"), "before\nbehind\n|");
}

TEST_F(GraphvizTest, NumbersHaveDecimalPointsInEveryLocale) {
  const auto variables = [&] {
    WriteScript("exec env");
    const std::string text = RunDot("", {}).plain;
    std::vector<std::string> found;
    for (size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
      end = text.find('\n', begin);
      const std::string line = text.substr(begin, end - begin);
      if (line.starts_with("LC_ALL") || line.starts_with("GRAPHVIZ_TEST")) found.push_back(line);
    }
    std::sort(found.begin(), found.end());
    return found;
  };
  const char* const before = std::getenv("LC_ALL");
  const std::string kept = before != nullptr ? before : "";
  using Lines = std::vector<std::string>;
  setenv("GRAPHVIZ_TEST", "x=y", 1);
  setenv("LC_ALLOW", "z", 1);
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_EQ(variables(), (Lines{"GRAPHVIZ_TEST=x=y", "LC_ALL=C", "LC_ALLOW=z"}));
  EXPECT_EQ(std::getenv("LC_ALL"), std::string("de_DE.UTF-8")) << "this process keeps its own";
  unsetenv("LC_ALL");
  unsetenv("LC_ALLOW");
  EXPECT_EQ(variables(), (Lines{"GRAPHVIZ_TEST=x=y", "LC_ALL=C"}));
  unsetenv("GRAPHVIZ_TEST");
  if (before != nullptr) setenv("LC_ALL", kept.c_str(), 1);
}

TEST_F(GraphvizTest, AnEndOtherThanSuccessIsAProblem) {
  const struct {
    const char* script;
    const char* problem;
  } rows[] = {{"exit 0", ""},
              {"exit 1", "dot failed with exit code 1"},
              {"echo graph; exit 255", "dot failed with exit code 255"},
              {"echo graph; kill -9 $$", "dot ended by signal 9"},
              {"ulimit -c 0; kill -11 $$", "dot ended by signal 11"},
              // The answer has ended, the program has not.
              {"exec 1>&-; exit 7", "dot failed with exit code 7"}};
  for (const auto& row : rows) EXPECT_EQ(Answer(row.script), std::string("|") + row.problem);
  EXPECT_EQ(Answer("echo fine"), "fine\n|") << "after a failure";
}

TEST_F(GraphvizTest, AProgramThatIsMissingOrCannotStart) {
  setenv("PATH", dir_.path().c_str(), 1);
  DotAnswer answer = RunDot("", {});
  EXPECT_EQ(answer.problem, "dot of Graphviz is not installed");
  EXPECT_EQ(answer.plain, "");
  dir_.Write("dot", "#!/bin/sh\n");  // not executable
  answer = RunDot("", {});
  EXPECT_EQ(answer.problem, "dot cannot be started: Permission denied");
  EXPECT_EQ(answer.plain, "");
}

TEST_F(GraphvizTest, ARequestThatCannotBeWrittenIsAProblem) {
  WriteScript("exec cat");
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const DotAnswer answer = RunDot("digraph {}", {});
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(answer.problem, "the request for dot cannot be written: Too many open files");
  EXPECT_EQ(answer.plain, "");
}

// Ten bytes and a line feed.
TEST_F(GraphvizTest, OutputHasALimit) {
  const std::string script = "echo 0123456789";
  const auto limited = [&](size_t bytes) { return Answer(script, "", {.output_bytes = bytes}); };
  EXPECT_EQ(limited(12), "0123456789\n|");
  EXPECT_EQ(limited(11), "0123456789\n|");
  EXPECT_EQ(limited(10), "|dot printed more than 10 bytes");
  EXPECT_EQ(limited(0), "|dot printed more than 0 bytes");
  // It is not waited for.
  EXPECT_EQ(Answer("while :; do echo more; done", "", {.output_bytes = 200'000}),
            "|dot printed more than 200000 bytes");
}

TEST_F(GraphvizTest, TimeHasALimit) {
  EXPECT_EQ(Answer("exec sleep 600", "", {.time = std::chrono::milliseconds(20)}),
            "|dot took longer than 0 s");
  EXPECT_EQ(Answer("echo graph; exec sleep 600", "", {.time = std::chrono::milliseconds(20)}),
            "|dot took longer than 0 s");
  EXPECT_EQ(Answer("echo graph", "", {.time = std::chrono::milliseconds(0)}),
            "|dot took longer than 0 s");
}

// Once they are set: the program has started before.
TEST_F(GraphvizTest, TheKernelLimitsItsTimeAndMemory) {
  const auto limit = [&](const std::string& option, const std::string& want,
                         const DotLimits& limits) {
    return Answer("while [ \"$(ulimit -S" + option + ")\" != " + want +
                      " ]; do :; done; ulimit -S" + option + "; ulimit -H" + option,
                  "", limits);
  };
  EXPECT_EQ(limit("t", "31", {}), "31\n32\n|");
  EXPECT_EQ(limit("t", "8", {.time = std::chrono::milliseconds(7999)}), "8\n9\n|");
  EXPECT_EQ(limit("t", "9", {.time = std::chrono::milliseconds(8000)}), "9\n10\n|");
  EXPECT_EQ(limit("v", "4194304", {}), "4194304\n4194304\n|");
  EXPECT_EQ(limit("v", "2097152", {.memory_bytes = size_t{2} << 30}), "2097152\n2097152\n|");
}

TEST_F(GraphvizTest, NothingStaysOpen) {
  const int64_t before = OpenFiles();
  (void)Answer("exec cat", "graph");
  (void)Answer("exit 3", "graph");
  (void)Answer("echo 12345", "", {.output_bytes = 2});
  (void)Answer("exec sleep 600", "", {.time = std::chrono::milliseconds(5)});
  setenv("PATH", "/none", 1);
  (void)RunDot("", {});
  EXPECT_EQ(OpenFiles(), before);
  // The program has the files that any program has that this one starts, and not those of its request and answer.
  setenv("PATH", (dir_.path() + ":/usr/bin:/bin").c_str(), 1);
  FILE* const pipe = popen("exec ls /proc/self/fd", "r");
  ASSERT_NE(pipe, nullptr);
  char text[4096] = {};
  const size_t size = fread(text, 1, sizeof(text) - 1, pipe);
  pclose(pipe);
  EXPECT_EQ(Answer("exec ls /proc/self/fd"), std::string(text, size) + "|");
}

}  // namespace
}  // namespace caffe2rt::test::graphviz_test
