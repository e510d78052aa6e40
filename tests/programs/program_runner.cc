#include "tests/programs/program_runner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {
namespace {

// Runs in the child process, which must not return.
[[noreturn]] void Become(std::vector<char*> argv, const std::string& out, const std::string& err,
                         const ProgramSetup& setup) {
  const size_t max_file_bytes = setup.max_file_bytes;
  const int in_fd = open(setup.in.c_str(), O_RDONLY);
  const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_fd = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const rlimit limit = {max_file_bytes, max_file_bytes}, no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (max_file_bytes > 0 && setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(127);
  if (in_fd >= 0 && out_fd >= 0 && err_fd >= 0 && dup2(in_fd, 0) >= 0 && dup2(out_fd, 1) >= 0 &&
      dup2(err_fd, 2) >= 0) {
    execv(argv[0], argv.data());
  }
  _exit(127);
}

// Starts the program with these files for its output.
pid_t Start(const std::string& program, const std::vector<std::string>& args,
            const std::string& out, const std::string& err, const ProgramSetup& setup) {
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  CAFFE_ENFORCE(child >= 0, "cannot start a process");
  if (child == 0) Become(std::move(argv), out, err, setup);
  return child;
}

// Waits for the end of the program. Sets all but the output.
ProgramResult Finish(pid_t child, const std::string& program) {
  int status = 0;
  rusage usage = {};
  CAFFE_ENFORCE_EQ(wait4(child, &status, 0, &usage), child, "waiting for a process");
  CAFFE_ENFORCE(!WIFEXITED(status) || WEXITSTATUS(status) != 127, "cannot start ", program);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .peak_resident_bytes = static_cast<size_t>(usage.ru_maxrss) << 10};
}

}  // namespace

Environment::~Environment() {
  for (auto it = before_.rbegin(); it != before_.rend(); ++it) {
    const auto& [name, value] = *it;
    value.has_value() ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
  }
}

void Environment::Set(const std::string& name, const std::string& value) {
  const char* const before = std::getenv(name.c_str());
  before_.emplace_back(name, before != nullptr ? std::optional<std::string>(before) : std::nullopt);
  setenv(name.c_str(), value.c_str(), 1);
}

ProgramResult RunCaffe2(const std::vector<std::string>& args, const ProgramSetup& setup) {
  return RunProgram(BuildPath(CAFFE2_PROGRAM), args, setup);
}

ProgramResult RunProgram(const std::string& program, const std::vector<std::string>& args,
                         const ProgramSetup& setup) {
  const TempDir dir;
  const std::string out = setup.out.empty() ? dir.path("out") : setup.out;
  const std::string err = dir.path("err");
  ProgramResult result = Finish(Start(program, args, out, err, setup), program);
  if (setup.out.empty()) result.out = ReadWholeFile(out);
  result.err = ReadWholeFile(err);
  return result;
}

ProgramResult InterruptCaffe2(const std::vector<std::string>& args, const std::string& printed) {
  const TempDir dir;
  const std::string out = dir.path("out"), err = dir.path("err");
  const std::string program = BuildPath(CAFFE2_PROGRAM);
  const pid_t child = Start(program, args, out, err, {});
  bool interrupted = false;
  siginfo_t ended = {};
  const auto runs = [&] {
    return waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  };
  while (runs()) {
    if (!interrupted && std::filesystem::exists(err) && ReadWholeFile(err) == printed)
      interrupted = kill(child, SIGINT) == 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_TRUE(interrupted) << "the program ended before it printed " << printed;
  ProgramResult result = Finish(child, program);
  result.out = ReadWholeFile(out);
  result.err = ReadWholeFile(err);
  return result;
}

std::string DemoFile(const std::string& name) {
  return SourcePath("binaries/demo/stripes/" + name);
}

std::vector<std::string> WithDemo(std::vector<std::string> args) {
  for (const std::string& word : {std::string("--init-net"), DemoFile("init_net.pb"),
                                  std::string("--predict-net"), DemoFile("predict_net.pb")}) {
    args.push_back(word);
  }
  return args;
}

}  // namespace caffe2rt::test
