// Compares the library's thread pool with a simple pool (a mutex and condition variables) and with
// oneTBB if it is installed: the cost of a fork and join, a net's jobs after an idle period, and
// the same while another process occupies one core. The pools take turns, so that other load on the
// machine affects them equally.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/thread_pool.h"

#ifdef CAFFE2RT_HAS_TBB
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/partitioner.h>
#include <oneapi/tbb/task_arena.h>
#endif

namespace caffe2rt::test {
namespace {

constexpr const char* kNotes =
    R"(Measurements (each job has one piece per thread):
  empty      a job without work; mean of 20 jobs back to back
  short      a job with pieces of 20 us; mean of 20 jobs back to back
  idle       40 jobs with pieces of 50 us, after 20 ms of sleep
  contended  the same without the sleep, while another process occupies one of the CPUs
)";

using Clock = std::chrono::steady_clock;

// --- contenders ---

class Contender {
 public:
  virtual ~Contender() = default;
  virtual const char* name() const = 0;
  virtual void Run(int pieces, PieceFunction function) = 0;
};

class OneThread : public Contender {
 public:
  const char* name() const override { return "one thread"; }
  void Run(int pieces, PieceFunction function) override {
    for (int i = 0; i < pieces; ++i) function(i);
  }
};

// The library's former pool: workers sleep on a condition variable and take pieces in order.
class PlainPool : public Contender {
 public:
  explicit PlainPool(int threads) {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { Work(); });
  }
  ~PlainPool() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    ready_.notify_all();
  }
  const char* name() const override { return "plain pool"; }
  void Run(int pieces, PieceFunction function) override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      function_ = &function;
      pieces_ = pieces;
      next_.store(0);
      ++generation_;
    }
    ready_.notify_all();
    TakePieces(function, pieces);
    std::unique_lock<std::mutex> lock(mutex_);
    function_ = nullptr;
    done_.wait(lock, [&] { return running_ == 0; });
  }

 private:
  void TakePieces(const PieceFunction& function, int pieces) {
    for (int i = next_.fetch_add(1); i < pieces; i = next_.fetch_add(1)) function(i);
  }
  void Work() {
    uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    while (true) {
      ready_.wait(lock, [&] { return stop_ || (function_ != nullptr && generation_ != seen); });
      if (stop_) return;
      seen = generation_;
      const PieceFunction* function = function_;
      const int pieces = pieces_;
      ++running_;
      lock.unlock();
      TakePieces(*function, pieces);
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_, done_;
  const PieceFunction* function_ = nullptr;
  int pieces_ = 0, running_ = 0;
  std::atomic<int> next_{0};
  uint64_t generation_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> workers_;
};

class OurPool : public Contender {
 public:
  explicit OurPool(int threads) : pool_(threads) {}
  const char* name() const override { return "caffe2rt"; }
  void Run(int pieces, PieceFunction function) override { pool_.Run(pieces, function); }

 private:
  ThreadPool pool_;
};

#ifdef CAFFE2RT_HAS_TBB
class TbbPool : public Contender {
 public:
  explicit TbbPool(int threads) : arena_(threads) {}
  const char* name() const override { return "oneTBB"; }
  void Run(int pieces, PieceFunction function) override {
    arena_.execute([&] {
      tbb::parallel_for(
          0, pieces, [&](int i) { function(i); }, tbb::static_partitioner());
    });
  }

 private:
  tbb::task_arena arena_;
};
#endif

// --- measurements ---

// A process that occupies the first CPU between Start and Stop.
class Neighbour {
 public:
  Neighbour() : pid_(fork()) {
    if (pid_ != 0) {
      waitpid(pid_, nullptr, WUNTRACED);
      return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof(allowed), &allowed);
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);
    raise(SIGSTOP);
    for (volatile unsigned i = 0;;) i = i + 1;
  }
  ~Neighbour() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;
  void Start() { kill(pid_, SIGCONT); }
  void Stop() { kill(pid_, SIGSTOP); }

 private:
  const pid_t pid_;
};

// Work with a fixed number of instructions, independent of other load.
uint64_t Spin(uint64_t steps) {
  uint64_t x = 1;
  for (uint64_t i = 0; i < steps; ++i) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    asm volatile("" : "+r"(x));
  }
  return x;
}

double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double StepsPerMicrosecond() {
  double best = 0;
  for (int i = 0; i < 50; ++i) {
    const Clock::time_point start = Clock::now();
    Spin(200000);
    best = std::max(best, 200000 / Microseconds(Clock::now() - start));
  }
  return best;
}

enum Measurement { kEmpty, kShort, kIdle, kContended, kMeasurements };
constexpr const char* kMeasurementNames[] = {"empty", "short", "idle", "contended"};

struct Row {
  std::unique_ptr<Contender> contender;
  std::vector<double> times[kMeasurements];  // microseconds
};

class Benchmark {
 public:
  explicit Benchmark(int threads) : threads_(threads), steps_per_us_(StepsPerMicrosecond()) {}

  void Round(Row& row) {
    Contender& contender = *row.contender;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // lets the other pools fall asleep
    for (int i = 0; i < 50; ++i) Jobs(contender, 1, 50);
    for (int i = 0; i < 200; ++i) row.times[kEmpty].push_back(Jobs(contender, 20, 0) / 20);
    for (int i = 0; i < 50; ++i) row.times[kShort].push_back(Jobs(contender, 20, 20) / 20);
    for (int i = 0; i < 12; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      row.times[kIdle].push_back(Jobs(contender, 40, 50));
    }
    neighbour_.Start();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    for (int i = 0; i < 150; ++i) row.times[kContended].push_back(Jobs(contender, 40, 50));
    neighbour_.Stop();
  }

 private:
  double Jobs(Contender& contender, int jobs, double piece_us) const {
    const auto steps = static_cast<uint64_t>(piece_us * steps_per_us_);
    auto piece = [steps](int) { Spin(steps); };
    const Clock::time_point start = Clock::now();
    for (int i = 0; i < jobs; ++i) contender.Run(threads_, PieceFunction(piece));
    return Microseconds(Clock::now() - start);
  }

  Neighbour neighbour_;
  const int threads_;
  const double steps_per_us_;
};

double Percentile(std::vector<double> values, size_t percent) {
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1, values.size() * percent / 100)];
}

void Print(const std::vector<Row>& rows, int threads, int rounds) {
  std::printf("%d threads, %d rounds; us, median / 90th percentile\n%-12s", threads, rounds, "");
  for (const char* name : kMeasurementNames) std::printf(" %21s", name);
  std::printf("\n");
  for (const Row& row : rows) {
    std::printf("%-12s", row.contender->name());
    for (const std::vector<double>& times : row.times) {
      std::printf(" %10.2f /%9.2f", Percentile(times, 50), Percentile(times, 90));
    }
    std::printf("\n");
  }
}

int CpusOfProcess() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
}

int Run(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  const int threads =
      line.Has("threads") ? static_cast<int>(line.Integer("threads", 1, 1024)) : CpusOfProcess();
  const int rounds = static_cast<int>(line.Integer("rounds", 1, 1024));
  Benchmark benchmark(threads);  // forks, so it comes before any thread
  std::vector<Row> rows;
  const auto add = [&](std::unique_ptr<Contender> contender) {
    rows.push_back({std::move(contender), {}});
  };
  add(std::make_unique<OneThread>());
  add(std::make_unique<PlainPool>(threads));
  add(std::make_unique<OurPool>(threads));
#ifdef CAFFE2RT_HAS_TBB
  add(std::make_unique<TbbPool>(threads));
#endif
  for (int round = 0; round < rounds; ++round) {
    for (Row& row : rows) benchmark.Round(row);
  }
  Print(rows, threads, rounds);
  return 0;
}

const Program& TheProgram() {
  static const Program program = {
      .name = "thread_pool_benchmark",
      .purpose = "times thread pools; microseconds, median and 90th percentile",
      .usage = "[options]",
      .options = {{"threads", "N", "", "threads of each pool (default: the CPUs of this process)",
                   true},
                  {"rounds", "N", "15", "turns of each pool", true}},
      .notes = kNotes,
      .run = &Run};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::TheProgram(), argc, argv);
}
