// Compares async_scheduling with simple, in turns, in one process: nets of trivial operators, two
// halves of large MatMuls, and models. The printed times are medians, and in parentheses the least;
// "ratio" is the median of the ratios of the pairs.
//
//   chain    1,000 Relu of one element, one after the other; simple on one thread
//   forks    333 times a fork into two Relu and a join; simple on one thread
//   halves   two chains of four products of 192 x 192; simple on one thread
//   models   simple on the same number of threads

#include <algorithm>
#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/piece_helpers.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/graph/net_file.h"
#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/net_memory.h"
#include "caffe2_core/model/preparation.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/benchmarks/many_relu.h"

namespace caffe2rt::test {
namespace {

void AddOperator(const char* type, const std::vector<std::string>& inputs,
                 const std::string& output, NetDef* net) {
  OperatorDef* const op = net->add_op();
  op->set_type(type);
  for (const std::string& input : inputs) op->add_input(input);
  op->add_output(output);
}

NetDef ForksAndJoins() {
  NetDef net;
  net.set_name("forks");
  for (int i = 0; i < 333; ++i) {
    const std::string x = MakeString("x", i), a = MakeString("a", i), b = MakeString("b", i);
    AddOperator("Relu", {x}, a, &net);
    AddOperator("Relu", {x}, b, &net);
    AddOperator("Add", {a, b}, MakeString("x", i + 1), &net);
  }
  return net;
}

NetDef TwoHalves() {
  NetDef net;
  net.set_name("halves");
  for (int i = 0; i < 4; ++i) {
    for (const char* half : {"l", "r"}) {
      AddOperator("MatMul", {MakeString(half, i), "w"}, MakeString(half, i + 1), &net);
    }
  }
  return net;
}

using Clock = std::chrono::steady_clock;

double Microseconds(int runs, const std::function<void()>& run) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs; ++i) run();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / runs;
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

struct Times {
  double median, least;
};
Times TimesOf(const std::vector<double>& values) {
  return {Median(values), *std::min_element(values.begin(), values.end())};
}

struct Comparison {
  std::vector<double> simple_us, scheduled_us, ratios;
};

// Adds pairs, each of which times `runs` runs of both, beginning with one and with the other by turns.
void Compare(int pairs, int runs, const std::function<void()>& simple,
             const std::function<void()>& scheduled, Comparison* times) {
  for (int i = 0; i < 3; ++i) {
    simple();
    scheduled();
  }
  for (int pair = 0; pair < pairs; ++pair) {
    for (const bool first : {true, false}) {
      if (first == (pair % 2 == 0)) {
        times->simple_us.push_back(Microseconds(runs, simple));
      } else {
        times->scheduled_us.push_back(Microseconds(runs, scheduled));
      }
    }
    times->ratios.push_back(times->scheduled_us.back() / times->simple_us.back());
  }
}

void Print(const std::string& name, int threads, const Comparison& times, double scale,
           const char* unit, const std::string& rest = {}) {
  const auto text = [&](const Times& of) {
    return MakeString(FixedText(of.median * scale, 3), " (", FixedText(of.least * scale, 3), ")");
  };
  std::cout << name << ", threads " << threads << ", " << unit << ": simple "
            << text(TimesOf(times.simple_us)) << ", async_scheduling "
            << text(TimesOf(times.scheduled_us)) << ", ratio " << FixedText(Median(times.ratios), 3)
            << rest << std::endl;
}

// The net that is created second has its operators in other parts of the heap, which costs up to a tenth
// in nets of trivial operators. So each type is the first one for half of the pairs.
void CompareNet(NetDef def, int pairs, int runs, int threads, const char* unit, double scale) {
  SetNumThreads(threads);
  const std::string name = def.name();
  Comparison times;
  for (const bool simple_first : {true, false}) {
    Workspace ws;
    MakeManyRelu(&ws);  // feeds x0
    for (const char* blob : {"l0", "r0", "w"}) {
      Tensor* const x = ws.CreateBlob(blob)->GetMutableTensor(CPU);
      x->Resize(192, 192);
      std::fill_n(x->mutable_data<float>(), x->numel(), 0.01f);
    }
    const auto create = [&](const char* type) {
      def.set_type(type);
      def.set_name(MakeString(name, "_", type));
      return ws.CreateNet(def);
    };
    NetBase* const first = create(simple_first ? "simple" : "async_scheduling");
    NetBase* const second = create(simple_first ? "async_scheduling" : "simple");
    NetBase* const simple = simple_first ? first : second;
    NetBase* const scheduled = simple_first ? second : first;
    const auto run_alone = [simple] {
      const PieceHelpers::Scope alone(nullptr, 0);
      simple->Run();
    };
    Compare((pairs + 1) / 2, runs, run_alone, [scheduled] { scheduled->Run(); }, &times);
  }
  Print(name, threads, times, scale, unit);
}

void CompareModel(const std::string& folder, const std::string& blob,
                  const std::vector<int64_t>& dims, int pairs, int threads) {
  SetNumThreads(threads);
  Workspace weights;
  CAFFE_ENFORCE(weights.RunNetOnce(LoadNet(folder + "/init_net.pb")), "the init net failed");
  Tensor* const input = weights.CreateBlob(blob)->GetMutableTensor(CPU);
  input->Resize(dims);
  float* const values = input->mutable_data<float>();
  for (int64_t i = 0; i < input->numel(); ++i) values[i] = static_cast<float>(i % 255) - 120.f;
  const Preparation prepared =
      PrepareNet(LoadNet(folder + "/predict_net.pb"), {.inputs = {blob}}, &weights);
  Workspace of_simple(&weights), of_scheduled(&weights);
  PreparedNet simple(prepared.net, {}, std::make_shared<ArenaStock>(), &of_simple);
  PreparedNet scheduled(prepared.net, {}, std::make_shared<ArenaStock>(), &of_scheduled,
                        "async_scheduling");
  Comparison times;
  Compare(
      pairs, 1, [&] { simple.Run(); }, [&] { scheduled.Run(); }, &times);
  const auto simple_bytes = static_cast<double>(simple.memory().planned_bytes());
  const auto scheduled_bytes = static_cast<double>(scheduled.memory().planned_bytes());
  Print(folder, threads, times, 1e-3, "ms",
        MakeString(", planned memory ", FixedText(simple_bytes / 1e6, 2), " and ",
                   FixedText(scheduled_bytes / 1e6, 2), " MB, ratio ",
                   FixedText(scheduled_bytes / simple_bytes, 3)));
}

int Main(const CommandLine& line) {
  const auto pairs = static_cast<int>(line.Integer("pairs", 1, 100000));
  const size_t equals = line.Text("input").find('=');
  std::vector<int64_t> dims;
  if (equals == std::string::npos || !ParseDims(line.Text("input").substr(equals + 1), &dims)) {
    throw UsageError("--input is \"" + line.Text("input") + "\", want BLOB=d0,d1,...");
  }
  for (const int threads : {1, 2}) {
    for (const std::string& folder : line.positional()) {
      CompareModel(folder, line.Text("input").substr(0, equals), dims, pairs, threads);
    }
    if (!line.positional().empty()) continue;
    Workspace ws;
    NetDef chain = MakeManyRelu(&ws)->debug_def();
    chain.set_name("chain");
    CompareNet(chain, pairs, 30, threads, "ns per operator", 1);
    CompareNet(ForksAndJoins(), pairs, 10, threads, "ns per operator", 1e3 / 999);
    if (threads == 2) CompareNet(TwoHalves(), pairs, 3, threads, "ms", 1e-3);
  }
  return 0;
}

const Program& Benchmark() {
  static const Program program = {
      .name = "executor_benchmark",
      .purpose = "compares the net type async_scheduling with simple",
      .usage = "[options] [FOLDER ...]",
      .options = {{"pairs", "N", "30", "pairs of runs, or of sequences of runs"},
                  {"input", "BLOB=DIMS", "data=1,3,224,224", "input of the models"}},
      .notes =
          "A FOLDER has the files init_net.pb and predict_net.pb, as make_nets.py "
          "(tests/benchmarks/peers)\n"
          "writes them. Without one, nets of trivial operators and of MatMuls are timed.\n",
      .run = &Main};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Benchmark(), argc, argv);
}
