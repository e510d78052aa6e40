#include "tests/programs/program_runner.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

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
  std::vector<std::string> words = {program};
  words.insert(words.end(), args.begin(), args.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::string out = setup.out.empty() ? dir.path("out") : setup.out;
  const std::string err = dir.path("err");
  const pid_t child = fork();
  CAFFE_ENFORCE(child >= 0, "cannot start a process");
  if (child == 0) Become(std::move(argv), out, err, setup);
  int status = 0;
  rusage usage = {};
  CAFFE_ENFORCE_EQ(wait4(child, &status, 0, &usage), child, "waiting for a process");
  CAFFE_ENFORCE(!WIFEXITED(status) || WEXITSTATUS(status) != 127, "cannot start ", words[0]);
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .out = setup.out.empty() ? ReadWholeFile(out) : "",
          .err = ReadWholeFile(err),
          .peak_resident_bytes = static_cast<size_t>(usage.ru_maxrss) << 10};
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
