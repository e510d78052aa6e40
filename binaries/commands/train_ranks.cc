#include "binaries/commands/train_ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <utility>

#include "binaries/commands/command.h"
#include "caffe2_core/base/signal_handler.h"
#include "operators/distributed/common_world.h"

namespace caffe2rt {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLaunched = 256;

std::optional<int> NumberIfGiven(const CommandLine& line, const char* option, int64_t least) {
  constexpr int64_t kMost = 65536;
  if (!line.Has(option)) return std::nullopt;
  return static_cast<int>(line.Integer(option, least, kMost));
}

int TimeoutMs(const CommandLine& line) {
  constexpr int kMostSeconds = 86400;
  return 1000 * static_cast<int>(line.Integer("timeout", 1, kMostSeconds));
}

RankOptions CommonRanks(const CommandLine& line) {
  RankOptions ranks;
  ranks.store = StoreFolder(line);
  ranks.run_id = line.Text("run-id");
  ranks.interface = line.Text("interface");
  ranks.timeout_ms = TimeoutMs(line);
  return ranks;
}

// A folder that is removed at the end.
class TemporaryStore {
 public:
  TemporaryStore() : path_((fs::temp_directory_path() / "caffe2-ranks-XXXXXX").string()) {
    CAFFE_ENFORCE(mkdtemp(path_.data()) != nullptr, "cannot create the folder \"", path_,
                  "\": ", std::strerror(errno));
  }
  ~TemporaryStore() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryStore(const TemporaryStore&) = delete;
  TemporaryStore& operator=(const TemporaryStore&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Counts SIGTERM instead of being ended by it.
class TerminationHandler {
 public:
  TerminationHandler() {
    seen_ = 0;
    struct sigaction count = {};
    count.sa_handler = [](int) { seen_ = 1; };
    count.sa_flags = SA_RESTART;
    sigaction(SIGTERM, &count, &before_);
  }
  ~TerminationHandler() { sigaction(SIGTERM, &before_, nullptr); }
  TerminationHandler(const TerminationHandler&) = delete;
  TerminationHandler& operator=(const TerminationHandler&) = delete;
  // Whether one arrived since the last call.
  bool Got() {
    const bool got = seen_ != 0;
    if (got) seen_ = 0;
    return got;
  }

 private:
  static inline volatile std::sig_atomic_t seen_ = 0;
  struct sigaction before_ = {};
};

// Prints whole lines, each with a prefix.
class PrefixedLines {
 public:
  PrefixedLines(int from, int to, std::string prefix)
      : from_(from), to_(to), prefix_(std::move(prefix)) {}
  PrefixedLines(PrefixedLines&& other) noexcept
      : from_(std::exchange(other.from_, -1)),
        to_(other.to_),
        prefix_(std::move(other.prefix_)),
        rest_(std::move(other.rest_)) {}
  PrefixedLines& operator=(PrefixedLines&&) = delete;
  PrefixedLines(const PrefixedLines&) = delete;
  ~PrefixedLines() {
    if (from_ >= 0) close(from_);
  }

  int fd() const { return from_; }
  // Copies what is there. Closes the pipe at its end.
  void Copy() {
    constexpr size_t kMost = 4096;
    char text[kMost];
    const ssize_t count = read(from_, text, sizeof(text));
    if (count < 0 && errno == EINTR) return;
    if (count > 0) {
      rest_.append(text, static_cast<size_t>(count));
    } else if (!rest_.empty()) {
      rest_ += '\n';
    }
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
      Print(rest_.substr(0, end + 1));
      rest_.erase(0, end + 1);
    }
    if (count > 0) return;
    close(from_);
    from_ = -1;
  }

 private:
  void Print(const std::string& line) {
    std::ostream& out = to_ == STDOUT_FILENO ? std::cout : std::cerr;
    out << prefix_ << line << std::flush;
  }

  int from_;
  const int to_;
  const std::string prefix_;
  std::string rest_;
};

// A part of the CPUs that this process may use, for each rank: else the kernel moves a rank that its
// neighbour has just sent data to onto the neighbour's CPU, where both wait for each other. Nothing if
// there are fewer CPUs than ranks.
std::optional<cpu_set_t> CpusOfRank(int rank, int size) {
  cpu_set_t all;
  if (sched_getaffinity(0, sizeof(all), &all) != 0) return std::nullopt;
  const int count = CPU_COUNT(&all);
  if (count < size) return std::nullopt;
  cpu_set_t part;
  CPU_ZERO(&part);
  int seen = 0;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &all)) continue;
    if (seen >= count * rank / size && seen < count * (rank + 1) / size) CPU_SET(cpu, &part);
    ++seen;
  }
  return part;
}

struct StartedRank {
  int rank = 0;
  pid_t pid = -1;
  std::optional<int> status = std::nullopt;  // of waitpid, at its end
};

class Launcher {
 public:
  Launcher(const CommandLine& line, const std::string& folder, int size)
      : line_(line), folder_(folder), size_(size), store_folder_(StoreFolder(line)) {
    if (store_folder_.empty()) store_folder_ = temporary_.emplace().path();
  }

  ~Launcher() {
    for (const std::string& key : announced_) EraseKey(key);
  }
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  int Run() {
    SignalHandler signals(SignalHandler::Action::STOP, SignalHandler::Action::STOP);
    TerminationHandler terminations;
    try {
      for (int rank = 0; rank < size_; ++rank) Start(rank);
      while (IsRunning()) {
        // The ranks then end behind a step, and remove their keys from the store.
        if (signals.GotSIGINT() || terminations.Got()) SendToAll(SIGINT);
        if (signals.GotSIGHUP()) SendToAll(SIGHUP);
        CopyOutput(kPollMs);
        Collect();
        EndLateRanks();
      }
    } catch (...) {
      SendToAll(SIGKILL);
      for (const StartedRank& rank : ranks_) {
        if (!rank.status) waitpid(rank.pid, nullptr, 0);
      }
      throw;
    }
    while (CopyOutput(0)) {
    }
    return failed_ ? 1 : 0;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int kPollMs = 50;

  std::vector<std::string> Arguments(int rank) const {
    std::vector<std::string> args = {"caffe2", "train", "--resume", folder_};
    const auto add = [&](const char* option, const std::string& value) {
      args.push_back(MakeString("--", option));
      args.push_back(value);
    };
    add("rank", MakeString(rank));
    add("size", MakeString(size_));
    add("store", "file:" + store_folder_);
    for (const char* option : {"run-id", "interface", "timeout", "memory-limit"}) {
      if (line_.Has(option)) add(option, line_.Text(option));
    }
    for (const std::string& module : line_.All("module")) add("module", module);
    if (line_.Has("threads"))
      add("threads", MakeString(std::max<int64_t>(1, line_.Integer("threads", 1, 1024) / size_)));
    for (const char* option : {"json", "allow-files-anywhere"}) {
      if (line_.Has(option)) args.push_back(MakeString("--", option));
    }
    return args;
  }

  void Start(int rank) {
    int out[2], err[2];
    CAFFE_ENFORCE(pipe2(out, O_CLOEXEC) == 0, "cannot create a pipe: ", std::strerror(errno));
    const bool is_plain = line_.Has("json") && rank == 0;
    const std::string prefix = MakeString("[", rank, "] ");
    lines_.emplace_back(out[0], STDOUT_FILENO, is_plain ? "" : prefix);
    CAFFE_ENFORCE(pipe2(err, O_CLOEXEC) == 0, "cannot create a pipe: ", std::strerror(errno));
    lines_.emplace_back(err[0], STDERR_FILENO, prefix);
    std::vector<std::string> args = Arguments(rank);
    std::vector<char*> argv;
    for (std::string& arg : args) argv.push_back(arg.data());
    argv.push_back(nullptr);
    const std::optional<cpu_set_t> cpus = CpusOfRank(rank, size_);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    CAFFE_ENFORCE(pid >= 0, "cannot start rank ", rank, ": ", std::strerror(errno));
    if (pid == 0) {
      if (cpus) sched_setaffinity(0, sizeof(*cpus), &*cpus);
      RunChild(parent, out[1], err[1], argv.data());
    }
    close(out[1]);
    close(err[1]);
    ranks_.push_back({.rank = rank, .pid = pid});
  }

  // Only calls that are safe after a fork of a process with threads.
  [[noreturn]] static void RunChild(pid_t parent, int out, int err, char** argv) {
    // The launcher passes the signals of the terminal on. If it ends, the ranks end.
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(1);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null >= 0) dup2(null, STDIN_FILENO);
    for (const int number : {SIGINT, SIGHUP, SIGTERM}) signal(number, SIG_DFL);
    execv("/proc/self/exe", argv);
    constexpr char kText[] = "cannot start the program again\n";
    (void)!write(STDERR_FILENO, kText, sizeof(kText) - 1);
    _exit(127);
  }

  bool IsRunning() const {
    return std::any_of(ranks_.begin(), ranks_.end(),
                       [](const StartedRank& rank) { return !rank.status; });
  }

  void SendToAll(int number) {
    for (const StartedRank& rank : ranks_) {
      if (!rank.status) kill(rank.pid, number);
    }
  }

  // Waits up to `wait_ms` for output, and copies it. Returns whether there was any.
  bool CopyOutput(int wait_ms) {
    std::vector<pollfd> waits;
    std::vector<PrefixedLines*> open_lines;
    for (PrefixedLines& lines : lines_) {
      if (lines.fd() < 0) continue;
      waits.push_back({.fd = lines.fd(), .events = POLLIN, .revents = 0});
      open_lines.push_back(&lines);
    }
    // Without open pipes, poll only waits.
    if (poll(waits.data(), waits.size(), wait_ms) <= 0) return false;
    bool any = false;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].revents == 0) continue;
      open_lines[i]->Copy();
      any = true;
    }
    return any;
  }

  void Collect() {
    const bool had_failed = failed_;
    std::vector<int> ended, lost;
    for (StartedRank& rank : ranks_) {
      int status = 0;
      if (rank.status || waitpid(rank.pid, &status, WNOHANG) != rank.pid) continue;
      rank.status = status;
      if (WIFEXITED(status) && WEXITSTATUS(status) == 0) continue;
      if (!failed_) first_failure_ = Clock::now();
      failed_ = true;
      (WIFSIGNALED(status) ? lost : ended).push_back(rank.rank);
      if (WIFSIGNALED(status)) {
        std::cerr << "[" << rank.rank << "] ended by signal " << WTERMSIG(status) << " ("
                  << strsignal(WTERMSIG(status)) << ")\n";
      }
    }
    if (!IsRunning()) return;
    // Those that end by themselves after the first do so because of it.
    if (!had_failed && lost.empty()) lost = ended;
    for (const int rank : lost) Announce(rank);
  }

  StoreBlob Store() const {
    return MakeFileStore(store_folder_, line_.Text("run-id"), FileAccess::Free());
  }

  // Others may still wait for this rank to come.
  void Announce(int rank) {
    try {
      const std::string key =
          CommonWorld::AnnounceLoss({.name = kTrainWorldName, .rank = rank, .size = size_},
                                    Store().get(), "its process ended before it met the others");
      if (!key.empty()) announced_.push_back(key);
    } catch (const EnforceNotMet& error) {
      std::cerr << error.message() << '\n';
    }
  }

  void EraseKey(const std::string& key) const {
    try {
      Store()->Erase(key);
    } catch (const EnforceNotMet& error) {
      std::cerr << error.message() << '\n';
    }
  }

  // Ranks that are left notice a loss within the timeout, and save. One that hangs does not keep the
  // others' result.
  void EndLateRanks() {
    constexpr std::chrono::seconds kToSave{60}, kToEnd{5};
    if (!failed_) return;
    const auto late =
        Clock::now() - first_failure_ - std::chrono::milliseconds(TimeoutMs(line_)) - kToSave;
    if (late < Clock::duration::zero()) return;
    SendToAll(late < kToEnd ? SIGTERM : SIGKILL);
  }

  const CommandLine& line_;
  const std::string folder_;
  const int size_;
  std::optional<TemporaryStore> temporary_;
  std::string store_folder_;
  std::vector<StartedRank> ranks_;
  std::vector<PrefixedLines> lines_;
  std::vector<std::string> announced_;  // keys
  bool failed_ = false;
  Clock::time_point first_failure_;
};

int LaunchedRanks(const CommandLine& line) {
  return static_cast<int>(line.Integer("ranks", 1, kMostLaunched));
}

}  // namespace

std::vector<Option> RankOptionTable() {
  return {{"ranks", "N", "1", "start N processes on this machine, which divide each batch"},
          {"rank", "R", "", "number of this process, from 0; else from torchrun, mpirun or srun",
           false, true},
          {"size", "N", "", "with --rank: number of processes", false, true},
          {"store", "file:DIR", "",
           "folder by which processes find each other; needed on several machines", false, true},
          {"run-id", "ID", "train", "name of a run in --store, another one for each start", false,
           true},
          {"interface", "NAME", "", "network interface or address to listen on (127.0.0.1)", false,
           true},
          {"timeout", "S", "30", "seconds to wait for other processes", false, true}};
}

std::string StoreFolder(const CommandLine& line) {
  constexpr std::string_view kFile = "file:";
  const std::string text = line.Text("store");
  if (text.empty()) return "";
  if (!text.starts_with(kFile) || text.size() == kFile.size())
    throw UsageError(MakeString("option --store is \"", text, "\", want file:DIR"));
  return fs::absolute(text.substr(kFile.size())).lexically_normal().string();
}

RankOptions RanksOf(const CommandLine& line) {
  RankPlace place;
  try {
    place =
        FindRank(NumberIfGiven(line, "rank", 0), NumberIfGiven(line, "size", 1), &EnvironmentText);
  } catch (const EnforceNotMet& error) {
    throw UsageError(error.message());
  }
  RankOptions ranks = CommonRanks(line);
  ranks.rank = place.rank;
  ranks.size = place.size;
  if (ranks.several() && ranks.store.empty())
    throw UsageError(
        MakeString(place.source, " state ", place.size,
                   " ranks, which need --store file:DIR, a folder that all of them see"));
  return ranks;
}

std::optional<std::vector<int>> LostRanksOf(const EnforceNotMet& error) {
  const auto* const lost = dynamic_cast<const RanksLost*>(&error);
  return lost == nullptr ? std::nullopt : std::optional<std::vector<int>>(lost->ranks());
}

bool LaunchesRanks(const CommandLine& line) {
  if (!line.Has("ranks") || LaunchedRanks(line) == 1) return false;
  for (const char* option : {"rank", "size"}) {
    if (line.Has(option))
      throw UsageError(MakeString("option --ranks, which starts processes, does not go with --",
                                  option, ", which numbers this one"));
  }
  const RankPlace place = FindRank({}, {}, &EnvironmentText);
  if (place.size > 1)
    throw UsageError(MakeString("option --ranks is ", LaunchedRanks(line), ", but ", place.source,
                                " state that a launcher has started ", place.size,
                                " processes; leave --ranks out"));
  return true;
}

RankOptions PlannedRanks(const CommandLine& line) {
  RankOptions ranks = CommonRanks(line);
  ranks.size = LaunchedRanks(line);
  if (ranks.store.empty()) ranks.store = ".";
  return ranks;
}

int LaunchRanks(const CommandLine& line, const std::string& folder) {
  return Launcher(line, folder, LaunchedRanks(line)).Run();
}

}  // namespace caffe2rt
