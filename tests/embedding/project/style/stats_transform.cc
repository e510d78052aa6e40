// Statistics, transforms of nets, the thread pool, observers and nets of the user's own.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "caffe2/core/net.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/stats.h"
#include "caffe2/core/transform.h"
#include "caffe2/core/workspace.h"
#include "caffe2/observers/operator_attaching_net_observer.h"
#include "test.h"

namespace caffe2 {
namespace {

struct QueueStats {
  CAFFE_STAT_CTOR(QueueStats);
  CAFFE_EXPORTED_STAT(pushes);
  CAFFE_AVG_EXPORTED_STAT(bytes);
  CAFFE_STDDEV_EXPORTED_STAT(size);
  CAFFE_DETAILED_EXPORTED_STAT(per_queue);
  CAFFE_EXPORTED_STAT(wait_ns);
  CAFFE_STAT(ignored);
};

STYLE_TEST(StatisticsAreCounted) {
  QueueStats stats("my_queue");
  stats.per_queue.setDetails({"a", "b"});
  CAFFE_EVENT(stats, pushes);
  CAFFE_EVENT(stats, pushes, 4);
  for (int bytes : {10, 20, 60}) CAFFE_EVENT(stats, bytes, bytes);
  for (int size : {3, 5, 6}) CAFFE_EVENT(stats, size, size);
  CAFFE_EVENT(stats, per_queue, 7, 1);
  CAFFE_EVENT(stats, ignored, 1);
  int body = 0;
  CAFFE_DURATION(stats, wait_ns) {
    while (++body < 1000) {
    }
  }
  ExportedStatMap values = toMap(StatRegistry::get().publish(true));
  STYLE_EXPECT(values["my_queue/pushes"] == 5);
  STYLE_EXPECT(values["my_queue/bytes/sum"] == 90 && values["my_queue/bytes/count"] == 3);
  STYLE_EXPECT(values["my_queue/size/sum"] == 14 && values["my_queue/size/count"] == 3);
  STYLE_EXPECT(values["my_queue/size/sumoffset"] == 5);     // 0 + 2 + 3
  STYLE_EXPECT(values["my_queue/size/sumsqoffset"] == 13);  // 0 + 4 + 9
  STYLE_EXPECT(values["my_queue/per_queue"] == 7 && values["my_queue/per_queue/b"] == 7);
  STYLE_EXPECT(values["my_queue/per_queue/a"] == 0 && values.count("my_queue/ignored") == 0);
  STYLE_EXPECT(values["my_queue/wait_ns"] > 0 && body == 1000);
  StatRegistry::get().update({{"my_queue/pushes", 3, {}}});
  STYLE_EXPECT(toMap(StatRegistry::get().publish())["my_queue/pushes"] == 3);
}

// x -> Copy -> y -> Relu -> z, and x -> Copy -> unused.
NetDef NetWithCopies() {
  NetDef net;
  net.set_name("copies");
  net.add_external_input("x");
  net.add_external_output("z");
  AddOp(&net, "Copy", {"x"}, {"y"});
  AddOp(&net, "Relu", {"y"}, {"z"});
  AddOp(&net, "Copy", {"x"}, {"unused"});
  return net;
}

// Replaces Copy and Relu by one Relu.
class SkipCopy : public Transform {
 protected:
  bool PatternRule(const transform::Graph& g, const std::vector<int>& subgraph, int i) override {
    return subgraph.size() < 2 && g.node(i).op.type() == (subgraph.empty() ? "Copy" : "Relu");
  }
  bool ValidatorRule(const transform::Graph& /*g*/, const std::vector<int>& subgraph) override {
    return subgraph.size() == 2;
  }
  bool ReplaceRule(const std::vector<int>& subgraph, transform::Graph* g) override {
    const auto inputs = g->GetSubgraphInput(subgraph), outputs = g->GetSubgraphOutput(subgraph);
    if (inputs.size() != 1 || outputs.size() != 1) return false;
    const OperatorDef relu = CreateOperatorDef("Relu", "", std::vector<string>{inputs[0].first},
                                               std::vector<string>{outputs[0].first});
    g->DeactivateSubgraph(subgraph);
    g->push_node(transform::Node(relu, true, {}, {}));
    return true;
  }
};
REGISTER_TRANSFORM(SkipCopy, SkipCopy);

STYLE_TEST(NetsAreTransformed) {
  transform::Graph graph(NetWithCopies());
  STYLE_EXPECT(graph.size() == 3 && graph.node(0).children.at(1) == std::vector<string>{"y"});
  STYLE_EXPECT(graph.node(1).parents.at(0) == std::vector<string>{"y"});
  STYLE_EXPECT(graph.GetSubgraphInput({1})[0] == std::make_pair(string("y"), 0));
  STYLE_EXPECT(graph.GetSubgraphOutput({0, 1})[0] == std::make_pair(string("z"), -1));
  const NetDef fast = ApplyTransform("SkipCopy", NetWithCopies());
  STYLE_EXPECT(fast.op_size() == 2 && fast.op(0).type() == "Copy" && fast.op(1).type() == "Relu");
  STYLE_EXPECT(fast.op(1).input(0) == "x" && fast.op(1).output(0) == "z");
  const caffe2rt::NetTransform* const found = caffe2rt::FindNetTransform("SkipCopy");
  STYLE_EXPECT(found != nullptr && (*found)(NetWithCopies()).op_size() == 2);
  STYLE_EXPECT(MatchStrings("Conv|Relu", "Relu") && MatchStrings("*", "Relu"));
  STYLE_EXPECT(!MatchStrings("Conv|FC", "Relu"));
  bool refused = false;
  try {
    CreateTransform("SkipCopi");
  } catch (const std::exception&) {
    refused = true;
  }
  STYLE_EXPECT(refused);
}

STYLE_TEST(ThePoolRunsEachIndexOnce) {
  Workspace ws;
  ThreadPool* pool = ws.GetThreadPool();
  std::vector<std::atomic<int>> calls(100);
  std::atomic<bool> thread_fits{true};
  pool->run(
      [&](int thread, size_t i) {
        ++calls[i];
        if (thread < 0 || thread >= pool->getNumThreads()) thread_fits = false;
      },
      calls.size());
  for (const auto& count : calls) STYLE_EXPECT(count == 1);
  STYLE_EXPECT(thread_fits);
  pool->run([](int, size_t) { throw std::runtime_error("never called"); }, 0);
  std::unique_ptr<ThreadPool> own = ThreadPool::defaultThreadPool();
  own->setMinWorkSize(4);
  int sum = 0;  // not atomic: a range below the minimum is on one thread
  own->run([&sum](int, size_t i) { sum += static_cast<int>(i); }, 3);
  STYLE_EXPECT(sum == 3 && own->getMinWorkSize() == 4);
}

// Counts the runs of the operators of a net.
class CountingNetObserver;
class CountingOperatorObserver final : public ObserverBase<OperatorBase> {
 public:
  CountingOperatorObserver(OperatorBase* op, CountingNetObserver* /*net*/)
      : ObserverBase<OperatorBase>(op) {}
  void Stop() override { ++runs; }
  std::unique_ptr<ObserverBase<OperatorBase>> rnnCopy(OperatorBase* op,
                                                      int /*rnn_order*/) const override {
    return std::unique_ptr<ObserverBase<OperatorBase>>(new CountingOperatorObserver(op, nullptr));
  }
  int runs = 0;
};
class CountingNetObserver final
    : public OperatorAttachingNetObserver<CountingOperatorObserver, CountingNetObserver> {
 public:
  explicit CountingNetObserver(NetBase* net)
      : OperatorAttachingNetObserver<CountingOperatorObserver, CountingNetObserver>(net, this) {}
  int Runs() const {
    int runs = 0;
    for (const CountingOperatorObserver* observer : operator_observers_) runs += observer->runs;
    return runs;
  }
};

// Runs its operators in reverse order.
class ReverseNet final : public NetBase {
 public:
  ReverseNet(const std::shared_ptr<const NetDef>& def, Workspace* ws) : NetBase(def, ws) {
    for (const OperatorDef& op : def->op()) operators_.push_back(CreateOperator(op, ws));
  }
  bool SupportsAsync() override { return false; }
  std::vector<OperatorBase*> GetOperators() const override {
    std::vector<OperatorBase*> operators;
    for (const auto& op : operators_) operators.push_back(op.get());
    return operators;
  }

 protected:
  bool DoRunAsync() override {
    for (auto op = operators_.rbegin(); op != operators_.rend(); ++op)
      if (!(*op)->Run()) return false;
    return true;
  }

 private:
  std::vector<std::unique_ptr<OperatorBase>> operators_;
};
REGISTER_NET(reverse_of_the_user, ReverseNet);

STYLE_TEST(NetsOfTheUsersOwnRun) {
  Workspace ws;
  NetDef def;
  def.set_name("reverse");
  def.set_type("reverse_of_the_user");
  for (int value : {1, 2}) {
    OperatorDef* fill = AddOp(&def, "ConstantFill", {}, {"x"});
    AddArgument("shape", std::vector<int>{1}, fill);
    AddArgument("value", static_cast<float>(value), fill);
  }
  NetBase* net = ws.CreateNet(def);
  auto* counts = new CountingNetObserver(net);
  net->AttachObserver(std::unique_ptr<ObserverBase<NetBase>>(counts));
  STYLE_EXPECT(net->Run() && net->Run());
  STYLE_EXPECT(ws.GetBlob("x")->Get<TensorCPU>().data<float>()[0] == 1);  // the first one ran last
  STYLE_EXPECT(counts->Runs() == 4);
}

STYLE_TEST(ShapesComeFromAWorkspace) {
  Workspace ws;
  ws.CreateBlob("x")->GetMutable<TensorCPU>()->Resize(2, 3);
  ws.GetBlob("x")->GetMutable<TensorCPU>()->mutable_data<float>();
  const TensorShape shape = GetTensorShapeOfBlob(ws.GetBlob("x"));
  STYLE_EXPECT(shape.dims_size() == 2 && shape.dims(1) == 3);
  NetDef net;
  AddOp(&net, "Relu", {"x"}, {"y"});
  const TensorShapes shapes = InferBlobShapesAndTypesFromWorkspace(&ws, {&net});
  STYLE_EXPECT(shapes.shapes_size() == 2 && shapes.shapes(1).name() == "y");
  STYLE_EXPECT(shapes.shapes(1).dims(0) == 2);
}

}  // namespace
}  // namespace caffe2
