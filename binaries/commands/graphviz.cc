#include "binaries/commands/graphviz.h"

#include <absl/strings/str_cat.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "caffe2_core/io/atomic_file.h"

extern char** environ;

namespace caffe2rt {
namespace {

using Clock = std::chrono::steady_clock;

// A started program. The destructor ends it and waits for it.
class ChildProcess {
 public:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  ~ChildProcess() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      Wait();
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  // The wait status of the program when it has ended.
  int Wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
};

// The environment of this process, with LC_ALL=C, so that numbers have decimal points.
std::vector<std::string> EnvironmentInC() {
  std::vector<std::string> variables = {"LC_ALL=C"};
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0) variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>* texts) {
  std::vector<char*> pointers;
  for (std::string& text : *texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts `dot -Tplain` between two files. Returns 0, or errno and *pid is unchanged.
int StartDot(int input, int output, pid_t* pid) {
  std::vector<std::string> arguments = {"dot", "-Tplain"}, variables = EnvironmentInC();
  const std::vector<char*> argv = Pointers(&arguments), envp = Pointers(&variables);
  posix_spawn_file_actions_t actions;
  if (const int error = posix_spawn_file_actions_init(&actions); error != 0) return error;
  int error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  if (error == 0) {
    error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  }
  if (error == 0) error = posix_spawnp(pid, "dot", &actions, nullptr, argv.data(), envp.data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// The kernel's limits apply even if this process is killed.
void LimitChild(pid_t pid, const DotLimits& limits) {
  const auto seconds = static_cast<rlim_t>(limits.time.count() / 1000 + 1);
  const rlimit time = {seconds, seconds + 1}, memory = {limits.memory_bytes, limits.memory_bytes};
  prlimit(pid, RLIMIT_CPU, &time, nullptr);
  prlimit(pid, RLIMIT_AS, &memory, nullptr);
}

bool WriteAll(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<size_t>(n);
  }
  return lseek(file, 0, SEEK_SET) == 0;
}

// Reads until the end of the pipe. Returns a problem, or "".
std::string ReadAll(int pipe, const DotLimits& limits, std::string* text) {
  const auto end = Clock::now() + limits.time;
  std::vector<char> buffer(65536);
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    pollfd ready = {.fd = pipe, .events = POLLIN, .revents = 0};
    const int count = left.count() > 0 ? poll(&ready, 1, static_cast<int>(left.count())) : 0;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return absl::StrCat("dot cannot be read: ", std::strerror(errno));
    if (count == 0) return absl::StrCat("dot took longer than ", limits.time.count() / 1000, " s");
    const ssize_t n = read(pipe, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::StrCat("dot cannot be read: ", std::strerror(errno));
    if (n == 0) return "";
    text->append(buffer.data(), static_cast<size_t>(n));
    if (text->size() > limits.output_bytes)
      return absl::StrCat("dot printed more than ", limits.output_bytes, " bytes");
  }
}

std::string ErrnoText(const char* action, int error) {
  return absl::StrCat(action, ": ", std::strerror(error));
}

}  // namespace

DotAnswer RunDot(const std::string& request, const DotLimits& limits) {
  const FileDescriptor input(memfd_create("request", MFD_CLOEXEC));
  if (!input || !WriteAll(input.get(), request))
    return {"", ErrnoText("the request for dot cannot be written", errno)};
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {"", ErrnoText("dot cannot be connected", errno)};
  const FileDescriptor output(ends[0]);
  FileDescriptor child_output(ends[1]);
  pid_t pid = -1;
  const int error = StartDot(input.get(), child_output.get(), &pid);
  child_output.Close();
  if (error == ENOENT) return {"", "dot of Graphviz is not installed"};
  if (error != 0) return {"", ErrnoText("dot cannot be started", error)};
  ChildProcess child(pid);
  LimitChild(child.pid(), limits);
  DotAnswer answer;
  answer.problem = ReadAll(output.get(), limits, &answer.plain);
  if (answer.problem.empty()) {
    const int status = child.Wait();
    if (WIFSIGNALED(status))
      answer.problem = absl::StrCat("dot ended by signal ", WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
      answer.problem = absl::StrCat("dot failed with exit code ", WEXITSTATUS(status));
  }
  if (!answer.problem.empty()) answer.plain.clear();
  return answer;
}

}  // namespace caffe2rt
