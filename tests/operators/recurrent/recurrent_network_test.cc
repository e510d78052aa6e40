#include "operators/recurrent/recurrent_network.h"

#include <memory>
#include <set>

#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/inspect/time_observer.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/waiting.h"
#include "operators/recurrent/step_workspaces.h"
#include "tests/operators/recurrent/recurrent_nets.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::recurrent_network_test {
namespace {

class RecurrentNetworkTest : public testing::Test {
 protected:
  // x = 1, 2, 3, ...
  void FeedAll(int64_t t, int64_t n, int64_t d) {
    FeedRange<float>(&ws_, "x", {t, n, d}, 1);
    Feed<float>(&ws_, "init", {1, n, d}, std::vector<float>(static_cast<size_t>(n * d), 1));
  }
  // The states after each step of SumMulNetwork.
  std::vector<float> Expected(std::vector<float> state) const {
    std::vector<float> all;
    const std::vector<float> x = Fetch<float>(ws_, "x");
    for (size_t i = 0; i < x.size(); ++i) {
      float& value = state[i % state.size()];
      value = x[i] * (x[i] + value);
      all.push_back(value);
    }
    return all;
  }
  size_t NumSteps() { return ws_.GetBlob("steps")->Get<ScratchWorkspaces>().steps->size(); }

  // `network` with `from` replaced by `to`.
  static std::string With(const std::string& from, const std::string& to) {
    std::string network = SumMulNetwork();
    const size_t at = network.find(from);
    CAFFE_ENFORCE(at != std::string::npos, "\"", from, "\" is not in the text");
    return network.replace(at, from.size(), to);
  }
  void ExpectFailure(const std::string& network, const std::string& part) {
    ExpectThrows([&] { RunOp(&ws_, network); }, part);
  }

  Workspace ws_;
};

TEST_F(RecurrentNetworkTest, RunsTheStepNetForEachTimeStep) {
  FeedAll(3, 2, 2);
  RunOp(&ws_, SumMulNetwork());
  ExpectTensor<float>(ws_, "all", {3, 2, 2}, Expected({1, 1, 1, 1}));
  ExpectTensor<float>(ws_, "last", {1, 2, 2}, {396, 820, 1584, 2832});
  EXPECT_EQ(DimsOf(ws_, "states"), (std::vector<int64_t>{4, 2, 2}));
}

TEST_F(RecurrentNetworkTest, LeavesBlobsOutsideAloneThatAreNamedLikeThoseOfTheStepNet) {
  FeedAll(3, 2, 2);
  for (const char* name : {"input_t", "prev", "cur"}) Feed<float>(&ws_, name, {1}, {7});
  RunOp(&ws_, SumMulNetwork());
  ExpectTensor<float>(ws_, "all", {3, 2, 2}, Expected({1, 1, 1, 1}));
  for (const char* name : {"input_t", "prev", "cur"}) ExpectTensor<float>(ws_, name, {1}, {7});
}

TEST_F(RecurrentNetworkTest, TheStepNetMayBeText) {
  FeedAll(2, 1, 1);
  const std::string net = R"(arg { name: "step_net" n { name: "step"
      op { type: "Sum" input: "input_t" input: "prev" output: "sum" }
      op { type: "Mul" input: "input_t" input: "sum" output: "cur" } } })";
  RunOp(&ws_, With(net,
                   "arg { name: 'step_net' s: \"name: 'step' type: 'rnn' "
                   "op { type: 'Sum' input: 'input_t' input: 'prev' output: 'sum' } "
                   "op { type: 'Mul' input: 'input_t' input: 'sum' output: 'cur' }\" }"));
  ExpectTensor<float>(ws_, "all", {2, 1, 1}, {2, 8});
  ExpectFailure(With(net, "arg { name: 'step_net' s: 'op {' }"), "text that does not parse");
  ExpectFailure(With(net, ""), "argument \"step_net\" is missing");
  ExpectFailure(With("name: \"step\"", ""), "Net definition should have a name.");
}

TEST_F(RecurrentNetworkTest, EachStepDrawsNumbersThatTheSeedDetermines) {
  Feed<float>(&ws_, "x", {4, 1, 1}, {1, 1, 1, 1});
  Feed<float>(&ws_, "init", {1, 1, 1}, {1});
  const std::string network =
      With(R"(op { type: "Sum" input: "input_t" input: "prev" output: "sum" })",
           R"(op { type: "UniformFill" input: "input_t" output: "sum" })");
  const auto draw = [&](uint64_t seed) {
    ws_.SetRandomSeed(seed);
    RunOp(&ws_, network);
    return Fetch<float>(ws_, "all");
  };
  const std::vector<float> first = draw(1);
  EXPECT_EQ(std::set(first.begin(), first.end()).size(), 4u);
  EXPECT_EQ(draw(1), first);
  EXPECT_NE(draw(2), first);
}

TEST_F(RecurrentNetworkTest, AcceptsInitialValuesOfEachRank) {
  FeedAll(2, 2, 2);
  Feed<float>(&ws_, "init", {2}, {1, 2});
  RunOp(&ws_, SumMulNetwork());
  ExpectTensor<float>(ws_, "all", {2, 2, 2}, Expected({1, 2, 1, 2}));
  Feed<float>(&ws_, "init", {2, 2}, {1, 2, 3, 4});
  RunOp(&ws_, SumMulNetwork());
  ExpectTensor<float>(ws_, "all", {2, 2, 2}, Expected({1, 2, 3, 4}));
  Feed<float>(&ws_, "init", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  RunOp(&ws_, SumMulNetwork());
  EXPECT_EQ(DimsOf(ws_, "all"), (std::vector<int64_t>{3, 2, 2}));
  Feed<float>(&ws_, "init", {1, 1, 2, 2}, {1, 2, 3, 4});
  ExpectFailure(SumMulNetwork(), "the initial value \"init\" has shape [1, 1, 2, 2], want [D]");
  Feed<float>(&ws_, "init", {}, {1});
  ExpectFailure(SumMulNetwork(), "the initial value \"init\" has shape []");
  Feed<float>(&ws_, "init", {3, 2}, {1, 2, 3, 4, 5, 6});
  ExpectFailure(SumMulNetwork(), "want dim 0 to be 2, as dim 1 of input 0");
}

TEST_F(RecurrentNetworkTest, HasZerosInRowsThatNoTimeStepWrites) {
  FeedAll(3, 1, 1);
  Feed<float>(&ws_, "init", {3, 1, 1}, {1, 5, 6});
  RunOp(&ws_, SumMulNetwork());  // rows 0 to 2 are initial, and the steps write rows 1 to 3
  ExpectTensor<float>(ws_, "states", {6, 1, 1}, {1, 2, 8, 33, 0, 0});
  ExpectTensor<float>(ws_, "all", {5, 1, 1}, {2, 8, 33, 0, 0});
  ExpectTensor<float>(ws_, "last", {1, 1, 1}, {0});
  // A state that the step net only reads.
  Feed<float>(&ws_, "init", {1, 1, 1}, {7});
  const std::string mul = R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })";
  RunOp(&ws_, With(mul, ""));
  ExpectTensor<float>(ws_, "states", {4, 1, 1}, {7, 0, 0, 0});
  // One whose rows are read before they are written: cur = input_t + cur.
  Feed<float>(&ws_, "states", {4, 1, 1}, {9, 9, 9, 9});
  RunOp(&ws_, With(mul, R"(op { type: "Sum" input: "cur" input: "input_t" output: "cur" })"));
  ExpectTensor<float>(ws_, "states", {4, 1, 1}, {7, 1, 2, 3});
}

TEST_F(RecurrentNetworkTest, InfersTheShapesOfItsStates) {
  const OpSchema& schema = *OpSchemaRegistry::Schema("RecurrentNetwork");
  const auto shape = [](const std::vector<int64_t>& dims) {
    return CreateTensorShape(dims, TensorProto::FLOAT);
  };
  FeedAll(3, 2, 2);
  for (const std::vector<int64_t>& init :
       std::vector<std::vector<int64_t>>{{2}, {2, 2}, {1, 2, 2}, {2, 2, 2}}) {
    FeedRange<float>(&ws_, "init", init);
    RunOp(&ws_, SumMulNetwork());
    const auto out = schema.InferTensor(ParseOp(SumMulNetwork()), {shape({3, 2, 2}), shape(init)});
    ASSERT_EQ(out.size(), 3u);
    EXPECT_EQ(GetDimsVector(out[0]), DimsOf(ws_, "all"));
    EXPECT_EQ(GetDimsVector(out[1]), DimsOf(ws_, "last"));
    EXPECT_TRUE(out[2].unknown_shape());
  }
  EXPECT_THROW(schema.InferTensor(ParseOp(SumMulNetwork()), {shape({3, 2, 2}), shape({3, 2})}),
               EnforceNotMet);
  for (const TensorShape& unknown :
       schema.InferTensor(ParseOp(SumMulNetwork()), {UnknownShape(), shape({2, 2})})) {
    EXPECT_TRUE(unknown.unknown_shape());
  }
}

TEST_F(RecurrentNetworkTest, KeepsTheStepsOnlyForAGradient) {
  FeedAll(5, 1, 2);
  RunOp(&ws_, SumMulNetwork());
  EXPECT_EQ(NumSteps(), 2u);
  RunOp(&ws_, SumMulNetwork(SumMulBackward()));
  EXPECT_EQ(NumSteps(), 5u);
  ExpectTensor<float>(ws_, "all", {5, 1, 2}, Expected({1, 1}));
  FeedAll(3, 1, 2);
  RunOp(&ws_, SumMulNetwork("arg { name: 'outputs_with_grads' ints: 0 }"));
  EXPECT_EQ(NumSteps(), 5u);
  ExpectTensor<float>(ws_, "all", {3, 1, 2}, Expected({1, 1}));
}

TEST_F(RecurrentNetworkTest, FollowsItsInputsThroughShapes) {
  NetDef net;
  net.set_name("outer");
  *net.add_op() = ParseOp(SumMulNetwork(SumMulBackward()));
  FeedAll(1, 1, 1);
  NetBase* const outer = ws_.CreateNet(net);
  for (const int64_t size : {2, 4, 1, 3, 3}) {
    FeedAll(size, size, size);
    ASSERT_TRUE(outer->Run());
    ExpectTensor<float>(ws_, "all", {size, size, size},
                        Expected(std::vector<float>(static_cast<size_t>(size * size), 1)));
  }
}

TEST_F(RecurrentNetworkTest, CountsRunsOfTheOperatorsOfItsStepNet) {
  NetDef net;
  net.set_name("outer");
  *net.add_op() = ParseOp(SumMulNetwork());
  FeedAll(2, 1, 1);
  NetBase* const outer = ws_.CreateNet(net);
  outer->Run();  // creates the step nets, whose operators are observed afterwards
  const auto* const counter = static_cast<const RunCountNetObserver*>(
      outer->AttachObserver(std::make_unique<RunCountNetObserver>(outer)));
  outer->Run();
  EXPECT_EQ(counter->operator_runs(), 1 + 2 * 2);
  FeedAll(5, 1, 1);
  outer->Run();
  EXPECT_EQ(counter->operator_runs(), 1 + 2 * 2 + 1 + 5 * 2);
}

class StartCounter final : public ObserverBase<OperatorBase> {
 public:
  StartCounter(OperatorBase* op, int* starts) : ObserverBase<OperatorBase>(op), starts_(starts) {}
  void Start() override { ++*starts_; }
  std::unique_ptr<ObserverBase<OperatorBase>> rnnCopy(OperatorBase* op, int) const override {
    return std::make_unique<StartCounter>(op, starts_);
  }

 private:
  int* const starts_;
};

TEST_F(RecurrentNetworkTest, DetachesTheCopiesOfAnObserverThatWasDetached) {
  int starts = 0;
  FeedAll(3, 1, 1);
  const std::unique_ptr<OperatorBase> op = CreateOperator(ParseOp(SumMulNetwork()), &ws_);
  const auto* const observer =
      op->AttachObserver(std::make_unique<StartCounter>(op.get(), &starts));
  op->Run();
  EXPECT_EQ(starts, 1 + 3 * 2);
  op->DetachObserver(observer);
  op->Run();
  EXPECT_EQ(starts, 1 + 3 * 2);
}

TEST_F(RecurrentNetworkTest, CopiesTheObserverThatReplacesAnother) {
  int before = 0, after = 0;
  FeedAll(3, 1, 1);
  const std::unique_ptr<OperatorBase> op = CreateOperator(ParseOp(SumMulNetwork()), &ws_);
  const auto* const first = op->AttachObserver(std::make_unique<StartCounter>(op.get(), &before));
  op->Run();
  EXPECT_EQ(before, 1 + 3 * 2);
  (void)op->AttachObserver(std::make_unique<StartCounter>(op.get(), &after));
  op->DetachObserver(first);
  op->Run();
  op->Run();  // the copies are not made twice
  EXPECT_EQ(before, 1 + 3 * 2);
  EXPECT_EQ(after, 2 * (1 + 3 * 2));
}

TEST_F(RecurrentNetworkTest, KeepsOutputsAliveThatShareOldStates) {
  FeedAll(2, 1, 1);
  RunOp(&ws_, SumMulNetwork());
  const Tensor all = ws_.GetBlob("all")->Get<Tensor>();
  FeedAll(50, 4, 4);
  RunOp(&ws_, SumMulNetwork());
  EXPECT_EQ(all.data<float>()[1], 8);
}

TEST_F(RecurrentNetworkTest, HasTheInitialValueAsTheLastStateOfNoSteps) {
  FeedAll(0, 2, 1);
  RunOp(&ws_, SumMulNetwork());
  ExpectTensor<float>(ws_, "all", {0, 2, 1}, {});
  ExpectTensor<float>(ws_, "last", {1, 2, 1}, {1, 1});
}

TEST_F(RecurrentNetworkTest, StoresBlobsThatShareMemoryWithOthers) {
  FeedAll(2, 1, 2);
  RunOp(&ws_, With(R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })",
                   R"(op { type: "Mul" input: "input_t" input: "sum" output: "product" }
                      op { type: "Alias" input: "product" output: "cur" })"));
  ExpectTensor<float>(ws_, "all", {2, 1, 2}, Expected({1, 1}));
}

TEST_F(RecurrentNetworkTest, LinksWindowsOfAState) {
  Feed<float>(&ws_, "x", {3, 1, 1}, {1, 2, 3});
  Feed<float>(&ws_, "init", {2, 1, 1}, {10, 20});
  // cur = x + the sum of the last two states
  std::string network =
      With(R"(ints: 0 ints: 1 ints: 0 })",
           R"(ints: 0 ints: 2 ints: 0 } arg { name: "link_window" ints: 2 ints: 1 ints: 1 })");
  const std::string sum = R"(op { type: "Sum" input: "input_t" input: "prev" output: "sum" })";
  network.replace(
      network.find(sum), sum.size(),
      R"(op { type: "ReduceSum" input: "prev" output: "both" arg { name: "axes" ints: 0 } }
                     op { type: "Sum" input: "input_t" input: "both" output: "sum" })");
  const std::string mul = R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })";
  network.replace(network.find(mul), mul.size(),
                  R"(op { type: "Copy" input: "sum" output: "cur" })");
  RunOp(&ws_, network);
  ExpectTensor<float>(ws_, "all", {4, 1, 1}, {20, 31, 53, 87});
}

TEST_F(RecurrentNetworkTest, GivesTheStepNetTheTimeStep) {
  FeedAll(3, 1, 1);
  Feed<int32_t>(&ws_, "timestep", {1}, {77});  // hidden by that of the step
  RunOp(&ws_, With(R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })",
                   R"(op { type: "Cast" input: "timestep" output: "t" arg { name: "to" i: 1 } }
                      op { type: "Reshape" input: "t" output: "cur" output: "old" arg { name: "shape" ints: 1 ints: 1 ints: 1 } })"));
  ExpectTensor<float>(ws_, "all", {3, 1, 1}, {0, 1, 2});
  ExpectTensor<int32_t>(ws_, "timestep", {1}, {77});
}

TEST_F(RecurrentNetworkTest, ReadsRenamedBlobs) {
  FeedAll(2, 1, 1);
  std::string network = With(R"(output: "all")", R"(output: "other")");
  RunOp(&ws_, network + "arg { name: 'all.rename' s: 'other' }");
  ExpectTensor<float>(ws_, "other", {2, 1, 1}, {2, 8});
}

TEST_F(RecurrentNetworkTest, RejectsLinksToRowsThatDoNotExist) {
  FeedAll(3, 1, 1);
  ExpectFailure(With("ints: 0 ints: 1 ints: 0 }", "ints: 0 ints: 2 ints: 0 }"),
                "end of the rows of blob \"states\" of shape [4, 1, 1] that are linked to \"cur\"");
  ExpectFailure(With("ints: 0 ints: 1 ints: 0 }", "ints: 0 ints: 1 ints: -1 }"),
                "link of blob \"input_t\" has offset -1");
  ExpectFailure(With("ints: 0 ints: 1 ints: 0 }", "ints: 0 ints: 1 ints: 2147483647 }"),
                "end of the rows of blob \"x\"");
  ExpectFailure(SumMulNetwork("arg { name: 'link_window' ints: 1 ints: 1 ints: 4 }"),
                "end of the rows of blob \"x\"");
  ExpectFailure(With(R"(strings: "x")", R"(strings: "nothing")"),
                "blob \"nothing\", which is linked to \"input_t\", does not exist");
  FeedAll(3, 0, 1);
  ExpectFailure(SumMulNetwork(), "has no elements that could be linked");
}

TEST_F(RecurrentNetworkTest, RejectsBlobsThatAreNoTensorsOfNumbers) {
  FeedAll(3, 1, 1);
  *ws_.CreateBlob("text")->GetMutable<std::string>() = "no tensor";
  Feed<std::string>(&ws_, "words", {3, 1, 1}, {"a", "b", "c"});
  Feed<float>(&ws_, "scalar", {}, {1});
  ExpectFailure(With(R"(strings: "x")", R"(strings: "text")"),
                "blob \"text\", which is linked to \"input_t\", is not a tensor on CPU");
  ExpectFailure(With(R"(strings: "x")", R"(strings: "words")"), "cannot be linked, want numbers");
  ExpectFailure(With(R"("alias_src" strings: "states")", R"("alias_src" strings: "text")"),
                "the state \"text\" is not a tensor on CPU");
  ExpectFailure(With(R"("alias_src" strings: "states")", R"("alias_src" strings: "scalar")"),
                "rank of the state \"scalar\"");
  ExpectFailure(With(R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })",
                     R"(op { type: "CreateCounter" output: "cur" })"),
                "blob \"cur\" of the step net is not a tensor on CPU any more");
}

TEST_F(RecurrentNetworkTest, RejectsListsThatDoNotMatch) {
  FeedAll(3, 1, 1);
  ExpectFailure(With("ints: 0 ints: 1 ints: 0 }", "ints: 0 ints: 1 }"),
                "entries of argument link_offset, want those of argument link_internal");
  ExpectFailure(SumMulNetwork("arg { name: 'link_window' ints: 1 }"),
                "entries of argument link_window");
  ExpectFailure(With(R"(strings: "all" )", ""), "entries of argument alias_dst");
  ExpectFailure(With("ints: 1 ints: -1", "ints: 1"), "entries of argument alias_offset");
  ExpectFailure(With("arg { name: \"initial_recurrent_state_ids\" ints: 1 }", ""),
                "entries of argument initial_recurrent_state_ids");
  ExpectFailure(With("ids\" ints: 1", "ids\" ints: 2"), "contains 2, want an input, at most 1");
  ExpectFailure(With("ids\" ints: 1", "ids\" ints: -1"), "contains -1, want an input");
  ExpectFailure(With(R"(strings: "all" )", R"(strings: "none" )"),
                "alias_dst contains \"none\", want an output other than the last");
  ExpectFailure(With(R"("alias_src" strings: "states")", R"("alias_src" strings: "none")"),
                "alias_src contains \"none\", which is not a blob");
  ExpectFailure(With("ints: 1 ints: -1", "ints: 9 ints: -1"),
                "output 0 (all) begins at row 9 of the state \"states\" of shape [4, 1, 1]");
  ExpectFailure(With("ints: 1 ints: -1", "ints: 1 ints: -9"), "begins at row -9");
  ExpectFailure(With(R"(strings: "prev" strings: "cur")", R"(strings: "cur" strings: "cur")"),
                "blob \"cur\" of the step net has two links");
}

TEST_F(RecurrentNetworkTest, NamesTheTimeStepThatFails) {
  FeedAll(3, 2, 2);
  ExpectFailure(With(R"(type: "Mul" input: "input_t" input: "sum")",
                     R"(type: "Mul" input: "input_t" input: "none")"),
                "Encountered a non-existing input blob: none");
  Feed<float>(&ws_, "x", {3, 2, 5}, std::vector<float>(30));
  ExpectFailure(SumMulNetwork(), "time step 0");
  FeedAll(3, 2, 2);
  ExpectFailure(
      With(R"(op { type: "Mul" input: "input_t" input: "sum" output: "cur" })",
           R"(op { type: "Concat" input: "sum" input: "sum" output: "cur" output: "dims" })"),
      "blob \"cur\" of the step net has shape [1, 4, 2]");
  ExpectFailure(With("n { name: \"step\"", "n { name: \"step\" type: \"unheard_of\""),
                "has type \"unheard_of\", which is not known");
  Feed<float>(&ws_, "x", {3}, {1, 2, 3});
  ExpectFailure(SumMulNetwork(), "rank of input 0 of shape [3], want [T, N, *]");
}

// A step net may contain another network, to a limited depth.
TEST_F(RecurrentNetworkTest, EndsWhenItsRunIsStopped) {
  FeedAll(5, 1, 1);
  int asked = 0;
  const StopScope scope([&] { return ++asked > 2; });
  ExpectFailure(SumMulNetwork(), "the run was stopped");
  EXPECT_EQ(asked, 3);
}

TEST_F(RecurrentNetworkTest, NestsToALimitedDepth) {
  FeedAll(2, 1, 1);
  const auto nested = [](int depth) {
    OperatorDef inner = ParseOp("type: 'Copy' input: 'init' output: 'inner'");
    for (int i = 0; i < depth; ++i) {
      OperatorDef outer = ParseOp(SumMulNetwork());
      NetDef* const step = outer.mutable_arg(outer.arg_size() - 1)->mutable_n();
      *step->add_op() = inner;
      inner = outer;
    }
    return inner;
  };
  const OperatorDef shallow = nested(3);
  RunOp(&ws_, shallow);
  ExpectTensor<float>(ws_, "all", {2, 1, 1}, {2, 8});
  ExpectThrows([&] { RunOp(&ws_, nested(70)); }, "nesting depth of step nets");
}

}  // namespace
}  // namespace caffe2rt::test::recurrent_network_test
