#include "tests/operators/distributed/rank_processes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "tests/support/shared.h"

namespace caffe2rt::test {
namespace {

constexpr std::chrono::seconds kPatience{240};
constexpr std::chrono::milliseconds kPause{2};

std::string Content(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

RankProcesses::RankProcesses(const std::string& scenario, int size, int timeout_ms,
                             const std::vector<std::string>& words) {
  for (int rank = 0; rank < size; ++rank) Start(scenario, rank, size, timeout_ms, words);
}

RankProcesses::~RankProcesses() {
  for (const Process& process : processes_) {
    if (process.pid <= 0) continue;
    kill(process.pid, SIGKILL);
    waitpid(process.pid, nullptr, 0);
  }
}

void RankProcesses::Start(const std::string& scenario, int rank, int size, int timeout_ms,
                          const std::vector<std::string>& words) {
  const std::string program = BuildPath(RANK_PROGRAM);
  std::vector<std::string> args = {program,          scenario,         folder_.path(),
                                   MakeString(rank), MakeString(size), MakeString(timeout_ms)};
  args.insert(args.end(), words.begin(), words.end());
  std::vector<char*> pointers;
  for (std::string& arg : args) pointers.push_back(arg.data());
  pointers.push_back(nullptr);
  Process process;
  process.out = folder_.path(MakeString("out.", processes_.size()));
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 1, process.out.c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                   0600);
  const int error =
      posix_spawn(&process.pid, program.c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  CAFFE_ENFORCE_EQ(error, 0, "cannot start ", program);
  processes_.push_back(process);
}

void RankProcesses::Signal(size_t process, int signal) {
  kill(processes_.at(process).pid, signal);
  if (signal == SIGSTOP) processes_[process].stopped = true;
}

void RankProcesses::WaitForKeyOrOutput(size_t process, const std::string& file,
                                       const std::string& text) {
  siginfo_t ended{};
  while ((file.empty() || !std::filesystem::exists(folder_.path(file))) &&
         Content(processes_.at(process).out).find(text) == std::string::npos) {
    waitid(P_PID, static_cast<id_t>(processes_[process].pid), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid != 0) return;
    std::this_thread::sleep_for(kPause);
  }
}

std::vector<RankResult> RankProcesses::Wait() {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  std::vector<RankResult> results(processes_.size());
  for (const bool stopped : {false, true}) {
    for (size_t i = 0; i < processes_.size(); ++i) {
      Process& process = processes_[i];
      if (process.stopped != stopped) continue;
      if (stopped) kill(process.pid, SIGKILL);
      int status = 0;
      while (waitpid(process.pid, &status, WNOHANG) == 0) {
        if (std::chrono::steady_clock::now() > deadline) kill(process.pid, SIGKILL);
        std::this_thread::sleep_for(kPause);
      }
      process.pid = 0;
      if (WIFEXITED(status)) results[i].code = WEXITSTATUS(status);
      if (WIFSIGNALED(status)) results[i].signal = WTERMSIG(status);
      results[i].out = Content(process.out);
    }
  }
  return results;
}

}  // namespace caffe2rt::test
