// The overhead of nets: nanoseconds per Relu on one element, with a plain loop over function calls
// as the lower bound, and on several executors. Two halves of large MatMuls show what a second
// thread gains.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_pool.h"
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

// --- Executors. The argument is the number of threads. ---

// 333 times: a fork into two Relu, and a join.
NetDef ForksAndJoins() {
  NetDef net;
  net.set_name("forks");
  const auto add = [&net](const char* type, std::vector<std::string> inputs, std::string output) {
    OperatorDef* const op = net.add_op();
    op->set_type(type);
    for (std::string& input : inputs) op->add_input(std::move(input));
    op->add_output(std::move(output));
  };
  for (int i = 0; i < 333; ++i) {
    const std::string from = MakeString("x", i);
    add("Relu", {from}, MakeString("a", i));
    add("Relu", {from}, MakeString("b", i));
    add("Add", {MakeString("a", i), MakeString("b", i)}, MakeString("x", i + 1));
  }
  return net;
}

// Two halves, each a chain of four products of 192 x 192.
NetDef TwoHalves() {
  NetDef net;
  net.set_name("halves");
  for (int i = 0; i < 4; ++i) {
    for (const char* half : {"l", "r"}) {
      OperatorDef* const op = net.add_op();
      op->set_type("MatMul");
      op->add_input(MakeString(half, i));
      op->add_input("w");
      op->add_output(MakeString(half, i + 1));
    }
  }
  return net;
}

void RunOn(benchmark::State& state, NetDef def, const char* type, Workspace* ws) {
  SetNumThreads(static_cast<int>(state.range(0)));
  def.set_type(type);
  NetBase* const net = ws->CreateNet(def);
  for (int i = 0; i < 3; ++i) net->Run();
  for (auto _ : state) net->Run();
  SetThreadPool({});
}

void BM_Chain(benchmark::State& state, const char* type) {
  Workspace ws;
  NetDef def = MakeManyRelu(&ws)->debug_def();
  def.set_name("chain");
  RunOn(state, def, type, &ws);
  SetNsPerOperator(state);
}
BENCHMARK_CAPTURE(BM_Chain, simple, "simple")->Arg(1);
BENCHMARK_CAPTURE(BM_Chain, async_scheduling, "async_scheduling")->Arg(1)->Arg(2);

void BM_ForksAndJoins(benchmark::State& state, const char* type) {
  Workspace ws;
  MakeManyRelu(&ws);  // feeds x0
  RunOn(state, ForksAndJoins(), type, &ws);
  SetNsPerOperator(state);
}
BENCHMARK_CAPTURE(BM_ForksAndJoins, simple, "simple")->Arg(1);
BENCHMARK_CAPTURE(BM_ForksAndJoins, async_scheduling, "async_scheduling")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime();

void BM_TwoHalves(benchmark::State& state, const char* type) {
  Workspace ws;
  for (const char* name : {"l0", "r0", "w"}) {
    Tensor* const x = ws.CreateBlob(name)->GetMutableTensor(CPU);
    x->Resize(192, 192);
    std::fill_n(x->mutable_data<float>(), x->numel(), 0.01f);
  }
  RunOn(state, TwoHalves(), type, &ws);
}
BENCHMARK_CAPTURE(BM_TwoHalves, simple, "simple")->Arg(1)->Arg(2)->UseRealTime();
BENCHMARK_CAPTURE(BM_TwoHalves, async_scheduling, "async_scheduling")->Arg(2)->UseRealTime();

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
