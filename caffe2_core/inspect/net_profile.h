#pragma once
// Measures where the time of a net goes: its first run, its later runs, and its operators.
//
//   const NetProfile profile = ProfileNet(net, [&] { return net->Run(); }, {.timed_runs = 50});
//   profile.warm.median_ms;                       // of the whole net
//   profile.operators[0].warm_ms;                 // of its first operator
//   profile.operators[0].GigaflopsPerSecond();
//
// The first run is cold: unless PreparedNet::PlanAhead did it before, operators prepare their weights, memory is
// planned and touched for the first time, and libraries are loaded. The later runs are warm.
//
// The whole net and its operators are timed in different runs, in turns. While operators are timed, each waits
// for its device. The sum of their times is therefore not the time of the net: it lacks what the net
// does between operators, and it exceeds the net's time if operators run concurrently.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/kernel_choice.h"
#include "caffe2_core/runtime/net.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct RunTimes {
  double median_ms = 0, least_ms = 0, mean_ms = 0;
};
// All are 0 if there are no values.
RunTimes SummarizeTimes(std::vector<double> milliseconds);

struct OperatorProfile {
  size_t index = 0;  // position in the net
  std::string type = {};
  std::string name = {};
  std::string output = {};  // the first output, or "" if there is none
  std::string engine = {};  // the engine that ran; "" if the device has only one
  double cold_ms = 0;       // in the first run
  double warm_ms = 0;       // median of the timed runs
  // From the shapes of a timed run; 0 if they are not known for the type. Multiply-adds are those
  // of convolutions and matrix multiplications; floating-point operations and bytes are those of the
  // schema's cost inference.
  int64_t multiply_adds = 0;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  // Which kernel ran, of which candidates; empty if the operator does not choose among kernels.
  std::optional<KernelChoice> kernel = {};

  // The speed of the timed runs; 0 if it is not known.
  double GigaflopsPerSecond() const;
  double GigabytesPerSecond() const;
};

struct NetProfile {
  std::string net = {};
  double ahead_ms = 0;  // what was done for the first run before it; set by who did it
  double cold_ms = 0;   // the first run, without what it costs to time its operators
  RunTimes warm = {};   // the timed runs of the whole net
  int64_t timed_runs = 0;
  std::vector<OperatorProfile> operators = {};  // in the order of the net

  double SumOfOperators() const;                       // of warm_ms
  double ShareOf(double ms) const;                     // percent of the net's median
  std::vector<const OperatorProfile*> ByCost() const;  // largest warm_ms first
  struct TypeTotal {
    std::string type = {};
    double warm_ms = 0;
    int64_t operators = 0;
  };
  std::vector<TypeTotal> ByType() const;  // largest warm_ms first
};

struct ProfileOptions {
  int64_t warmup_runs = 5;  // between the first run and the timed runs
  int64_t timed_runs = 20;  // of the net, and again of its operators; at least 1
};

// Calls `run`, which runs the net once, 1 + warmup_runs + 2 * timed_runs times. THROWS if it fails
// (throws or returns false), or if an argument is invalid. If the net has run before, cold_ms is the
// time of one more warm run.
NetProfile ProfileNet(NetBase* net, const std::function<bool()>& run,
                      const ProfileOptions& options);

}  // namespace caffe2rt
#pragma GCC visibility pop
