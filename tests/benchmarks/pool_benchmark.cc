// Compares pools on allocation traces of nets: time of a warm allocation and free, memory reserved,
// upstream calls. The upstream needs no device: it returns addresses without memory
// (tests/support/fake_allocator.h).
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "binaries/program_main.h"
#include "contexts/pool/pool.h"
#include "contexts/pool/trace_maker.h"
#include "contexts/pool/trace_replayer.h"
#include "tests/support/fake_allocator.h"

namespace caffe2rt::test {
namespace {

constexpr const char* kNotes =
    R"(Pools: none (every call goes upstream), cub (bins, growth and reuse as in cub::CachingDeviceAllocator with
Caffe2's defaults 8, 3, 10), thc (the default pool). Columns and JSON keys:

  ns_per_pair                processor time of one allocation and its free in the second half of the
                             trace, on a pool that has run it before; median of the rounds. With
                             several devices: of the slowest thread
  reserved_bytes             peak memory allocated from the upstream
  used_bytes                 peak memory allocated by the trace and not freed
  upstream_calls             allocations, frees and created events, on a new pool
  upstream_calls_second_half of these, in the second half of the trace

examples:
  pool_benchmark
  pool_benchmark --print-trace lenet_training > t.txt && pool_benchmark --trace t.txt --json
)";

struct Settings {
  bool json;
  bool list;
  std::string trace_file;
  std::string print_trace;
  unsigned lag;
  unsigned rounds;
};

struct Row {
  std::string trace;
  std::string pool;
  int threads = 1;
  double ns_per_pair = 0;
  TraceResult result;
};

using PoolMaker = std::function<std::unique_ptr<Pool>(Upstream&)>;
struct NamedPool {
  const char* name;
  PoolMaker make;
};

// Processor time of this thread. Not affected by other programs, or by more threads than cores.
double ThreadNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// Makes the fake device trail by `lag` units of work.
void SetWork(TraceReplayer* replayer, FakeAllocator* device, unsigned lag) {
  if (lag == 0) return;
  replayer->on_work = [device, lag](StreamIndex stream, uint32_t) {
    device->Give(stream);
    if (device->Given(stream) - device->Finished(stream) > lag) device->Finish(stream, 1);
  };
}

double MedianNsPerPair(const Trace& trace, const PoolMaker& make, const Settings& settings) {
  FakeAllocator device;
  const auto pool = make(device);
  TraceReplayer replayer(trace, *pool, device);
  SetWork(&replayer, &device, settings.lag);
  const size_t half = trace.entries.size() / 2;
  const auto pairs =
      std::count_if(trace.entries.begin() + static_cast<ptrdiff_t>(half), trace.entries.end(),
                    [](const TraceEntry& entry) { return entry.kind == TraceEntry::Kind::kFree; });
  replayer.Replay(0, trace.entries.size());
  std::vector<double> times;
  for (unsigned i = 0; i < settings.rounds; ++i) {
    replayer.FreeAll();
    replayer.Replay(0, half);
    const double start = ThreadNanoseconds();
    replayer.Replay(half, trace.entries.size());
    times.push_back(ThreadNanoseconds() - start);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / static_cast<double>(std::max<ptrdiff_t>(pairs, 1));
}

TraceResult ResultOf(const Trace& trace, const PoolMaker& make, const Settings& settings) {
  FakeAllocator device;
  const auto pool = make(device);
  return ReplayTrace(trace, *pool, device,
                     [&](TraceReplayer& replayer) { SetWork(&replayer, &device, settings.lag); });
}

// Each thread replays the same trace on its own device and pool.
Row MeasureDevices(const Trace& trace, const NamedPool& pool, int threads,
                   const Settings& settings) {
  std::vector<double> ns(static_cast<size_t>(threads));
  {
    std::vector<std::jthread> running;
    for (double& result : ns) {
      running.emplace_back([&] { result = MedianNsPerPair(trace, pool.make, settings); });
    }
  }
  return {trace.name + "_" + std::to_string(threads) + "_devices", pool.name, threads,
          *std::max_element(ns.begin(), ns.end()), ResultOf(trace, pool.make, settings)};
}

std::vector<Row> Measure(const std::vector<Trace>& traces, const Settings& settings) {
  const NamedPool pools[] = {
      {"none", [](Upstream& upstream) { return NewDirectPool(upstream, {}); }},
      {"cub", [](Upstream& upstream) { return NewCubPool(upstream, {}); }},
      {"thc", [](Upstream& upstream) { return NewThcPool(upstream, {}); }},
  };
  std::vector<Row> rows;
  for (const Trace& trace : traces) {
    for (const NamedPool& pool : pools) {
      rows.push_back({trace.name, pool.name, 1, MedianNsPerPair(trace, pool.make, settings),
                      ResultOf(trace, pool.make, settings)});
    }
  }
  for (const NamedPool& pool : pools) {
    rows.push_back(MeasureDevices(traces.front(), pool, 4, settings));
  }
  return rows;
}

void PrintJson(const std::vector<Row>& rows) {
  using Json = nlohmann::ordered_json;
  Json json = Json::array();
  for (const Row& row : rows) {
    json.emplace_back() = {{"trace", row.trace},
                           {"pool", row.pool},
                           {"threads", row.threads},
                           {"ns_per_pair", std::round(row.ns_per_pair * 10) / 10},
                           {"reserved_bytes", row.result.peak_reserved_bytes},
                           {"used_bytes", row.result.peak_used_bytes},
                           {"upstream_calls", row.result.upstream_calls},
                           {"upstream_calls_second_half", row.result.upstream_calls_second_half}};
  }
  std::cout << json.dump(1, ' ', true, Json::error_handler_t::replace) << '\n';
}

void PrintTable(const std::vector<Row>& rows) {
  std::printf("%-26s %-5s %8s %13s %10s %6s %9s %12s\n", "trace", "pool", "ns/pair", "reserved MiB",
              "used MiB", "ratio", "upstream", "second half");
  for (const Row& row : rows) {
    const double reserved = static_cast<double>(row.result.peak_reserved_bytes);
    const double used = static_cast<double>(row.result.peak_used_bytes);
    std::printf("%-26s %-5s %8.1f %13.1f %10.1f %6.3f %9zu %12zu\n", row.trace.c_str(),
                row.pool.c_str(), row.ns_per_pair, reserved / (1 << 20), used / (1 << 20),
                used > 0 ? reserved / used : 0.0, static_cast<size_t>(row.result.upstream_calls),
                static_cast<size_t>(row.result.upstream_calls_second_half));
  }
}

Settings SettingsOf(const CommandLine& line) {
  CheckPositional(line, 0, 0, "no files");
  return {.json = line.Has("json"),
          .list = line.Has("list"),
          .trace_file = line.Text("trace"),
          .print_trace = line.Text("print-trace"),
          .lag = static_cast<unsigned>(line.Integer("lag", 0, UINT32_MAX)),
          .rounds = static_cast<unsigned>(line.Integer("rounds", 1, UINT32_MAX))};
}

std::vector<Trace> TracesFor(const Settings& settings) {
  if (settings.trace_file.empty()) return StandardTraces();
  std::ifstream file(settings.trace_file, std::ios::binary);
  CAFFE_ENFORCE(file.good(), "cannot read \"", settings.trace_file, "\"");
  std::vector<Trace> traces = {ParseTrace(std::string(std::istreambuf_iterator<char>(file), {}))};
  if (traces[0].name.empty()) traces[0].name = "trace";
  return traces;
}

int Run(const CommandLine& line) {
  const Settings settings = SettingsOf(line);
  if (settings.list || !settings.print_trace.empty()) {
    for (const Trace& trace : StandardTraces()) {
      if (settings.list) std::cout << trace.name << '\n';
      if (trace.name != settings.print_trace) continue;
      std::cout << TraceText(trace);
      return 0;
    }
    CAFFE_ENFORCE(settings.list, "trace \"", settings.print_trace,
                  "\" is not known; --list prints the names");
    return 0;
  }
  const std::vector<Row> rows = Measure(TracesFor(settings), settings);
  (settings.json ? PrintJson : PrintTable)(rows);
  return 0;
}

const Program& Benchmark() {
  static const Program program = {
      .name = "pool_benchmark",
      .purpose = "replays allocation traces on the pools of contexts/pool, without a device",
      .usage = "[options]",
      .options =
          {{"json", "", "", "prints an array of objects instead of a table"},
           {"trace", "FILE", "",
            "replays this trace (format: contexts/pool/trace.h) instead of the built-in ones",
            true},
           {"list", "", "", "prints the names of the built-in traces"},
           {"print-trace", "NAME", "", "prints a built-in trace as text", true},
           {"lag", "N", "0", "each stream trails by N units of work; 0: work is done at once",
            true},
           {"rounds", "N", "7", "rounds of timing", true}},
      .notes = kNotes,
      .run = &Run};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Benchmark(), argc, argv);
}
