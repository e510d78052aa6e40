// Times the operator Allreduce with the engine GLOO on two ranks, compared with gloo::allreduce on the same
// memory, in turns; and what the agreement costs of it, as a Barrier, which is nothing else. The ranks are two
// processes on 127.0.0.1.

#include <gloo/allreduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/io/proto_file.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "operators/distributed/collective_engine.h"
#include "operators/distributed/common_world.h"
#include "operators/distributed/element_sum.h"
#include "tests/support/temp_dir.h"

extern "C" const caffe2rt::CollectiveEngine* caffe2rt_gloo_engine();

namespace caffe2rt::test {
namespace {

NetDef Net(const std::string& text) {
  NetDef net;
  ParseTextProto(text, "net", &net);
  return net;
}

// One rank of both.
class Rank {
 public:
  Rank(const std::string& folder, int rank, int64_t elements) {
    RegisterCollectiveEngine("GLOO", caffe2rt_gloo_engine());
    CAFFE_ENFORCE(
        ws_.RunNetOnce(Net(MakeString("name: \"init\" op { type: \"FileStoreHandlerCreate\" "
                                      "output: \"store\" arg { name: \"path\" s: \"",
                                      folder,
                                      "\" } } op { type: \"CreateCommonWorld\" name: \"world\" "
                                      "input: \"store\" output: \"world\" engine: \"GLOO\" "
                                      "arg { name: \"size\" i: 2 } arg { name: \"rank\" i: ",
                                      rank,
                                      " } } op { type: \"ConstantFill\" output: \"x\" arg { name: "
                                      "\"value\" f: 1 } arg { name: \"shape\" ints: ",
                                      elements, " } }"))),
        "the net that connects the ranks failed");
    sum_ = ws_.CreateNet(Net(
        R"(name: "sum" op { type: "Allreduce" input: "world" input: "x" output: "x" engine: "GLOO" })"));
    barrier_ = ws_.CreateNet(
        Net(R"(name: "barrier" op { type: "Barrier" input: "world" engine: "GLOO" })"));
    auto device = ::gloo::transport::tcp::CreateDevice("127.0.0.1");
    ::gloo::rendezvous::FileStore store(folder);
    auto context = std::make_shared<::gloo::rendezvous::Context>(rank, 2);
    context->connectFullMesh(store, device);
    bare_ = context;
  }

  double Operator() {
    Barrier();
    const Timer timer;
    CAFFE_ENFORCE(sum_->Run(), "net \"sum\" failed");
    return timer.MilliSeconds();
  }

  double Bare() {
    Barrier();
    Tensor* const x = ws_.GetBlob("x")->GetMutableTensor(CPU);
    const Timer timer;
    ::gloo::AllreduceOptions options(bare_);
    options.setAlgorithm(::gloo::AllreduceOptions::Algorithm::RING);
    options.setOutput(x->mutable_data<float>(), static_cast<size_t>(x->numel()));
    options.setReduceFunction(ElementSumOf(TypeMeta::Make<float>()).add);
    options.setTag(tag_++);
    ::gloo::allreduce(options);
    return timer.MilliSeconds();
  }

  double Barrier() {
    const Timer timer;
    CAFFE_ENFORCE(barrier_->Run(), "net \"barrier\" failed");
    return timer.MilliSeconds();
  }

 private:
  Workspace ws_;
  NetBase* sum_;
  NetBase* barrier_;
  std::shared_ptr<::gloo::Context> bare_;
  uint32_t tag_ = 0;
};

void Print(const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  std::printf("%-24s least %8.3f ms, median %8.3f ms\n", what, ms.front(), ms[ms.size() / 2]);
}

void Measure(const std::string& folder, int rank, int64_t elements, int64_t runs) {
  Rank self(folder, rank, elements);
  std::vector<double> op, bare, agreement;
  for (int64_t i = 0; i < runs; ++i) {
    op.push_back(self.Operator());
    bare.push_back(self.Bare());
  }
  for (int i = 0; i < 500; ++i) agreement.push_back(self.Barrier());
  if (rank != 0) return;
  std::printf("2 ranks, %lld floats, %lld runs in turns\n", static_cast<long long>(elements),
              static_cast<long long>(runs));
  Print("operator Allreduce", op);
  Print("gloo::allreduce", bare);
  Print("agreement (Barrier)", agreement);
}

int Main(const CommandLine& line) {
  const int64_t elements = line.Integer("elements", 1, int64_t{1} << 32);
  const int64_t runs = line.Integer("runs", 1, 100000);
  const TempDir folder;
  const pid_t child = fork();  // before there are threads
  CAFFE_ENFORCE(child >= 0, "cannot start the other rank");
  EnsureBuiltinOperators();
  Measure(folder.path(), child == 0 ? 1 : 0, elements, runs);
  if (child == 0) return 0;
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

const Program& Benchmark() {
  static const Program program = {
      .name = "collective_benchmark",
      .purpose = "compares the operator Allreduce with gloo::allreduce on two ranks",
      .usage = "[options]",
      .options = {{"elements", "N", "26214400", "floats in the tensor (100 MiB)"},
                  {"runs", "N", "20", "runs of each, in turns"}},
      .notes = "",
      .run = &Main};
  return program;
}

}  // namespace
}  // namespace caffe2rt::test

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain(caffe2rt::test::Benchmark(), argc, argv);
}
