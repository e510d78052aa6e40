#pragma once
// `caffe2 train --ranks N` in the background: its ranks by their number, and how it ended.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {

struct StartedRanks {
  pid_t launcher = -1;
  FILE* err = nullptr;
};

inline StartedRanks StartRanks(const std::vector<std::string>& args) {
  const std::string program = BuildPath(CAFFE2_PROGRAM);
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& arg : args) argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  StartedRanks started;
  started.err = std::tmpfile();
  started.launcher = fork();
  if (started.launcher == 0) {
    (void)!freopen("/proc/self/status", "r", stdin);  // a file that no rank should read
    (void)!freopen("/dev/null", "w", stdout);
    dup2(fileno(started.err), STDERR_FILENO);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  return started;
}

// The words of the command line of a process; none if it has ended.
inline std::vector<std::string> WordsOfProcess(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

// The process of a rank, or -1.
inline pid_t RankOf(pid_t launcher, int rank) {
  const std::string pid = std::to_string(launcher);
  std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
  for (pid_t child = 0; children >> child;) {
    const std::vector<std::string> words = WordsOfProcess(child);
    for (size_t i = 1; i < words.size(); ++i) {
      if (words[i - 1] == "--rank" && words[i] == std::to_string(rank)) return child;
    }
  }
  return -1;
}

// What the ranks printed to stderr, and the launcher's exit code, or -1 if a signal ended it.
inline std::pair<std::string, int> EndOfRanks(const StartedRanks& started) {
  int status = 0;
  waitpid(started.launcher, &status, 0);
  std::rewind(started.err);
  std::string text;
  for (int c = std::fgetc(started.err); c != EOF; c = std::fgetc(started.err))
    text += static_cast<char>(c);
  std::fclose(started.err);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}

}  // namespace caffe2rt::test
