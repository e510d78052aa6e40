// The overhead of a `simple` net: nanoseconds per Relu on one element, with a plain loop over
// function calls as the lower bound.
#include <benchmark/benchmark.h>

#include <functional>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/benchmarks/many_relu.h"

namespace caffe2rt::test {
namespace {

void SetNsPerOperator(benchmark::State& state) {
  state.counters["ns_per_operator"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * kManyRelu * 1e-9,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void BM_SimpleNet(benchmark::State& state) {
  Workspace ws;
  NetBase* net = MakeManyRelu(&ws);
  net->Run();
  for (auto _ : state) net->Run();
  SetNsPerOperator(state);
}
BENCHMARK(BM_SimpleNet);

// The cost of a list of indirect calls, a lower bound.
void BM_FunctionCalls(benchmark::State& state) {
  std::vector<float> values(kManyRelu + 1, 1.f);
  std::vector<std::function<void()>> calls;
  for (int i = 0; i < kManyRelu; ++i) {
    calls.emplace_back([from = &values[i], to = &values[i + 1]] { *to = *from > 0 ? *from : 0; });
  }
  for (auto _ : state) {
    for (const auto& call : calls) call();
    benchmark::DoNotOptimize(values.data());
  }
  SetNsPerOperator(state);
}
BENCHMARK(BM_FunctionCalls);

}  // namespace
}  // namespace caffe2rt::test

BENCHMARK_MAIN();
