#include "caffe2_core/executors/refcount_net.h"

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "caffe2_core/model/memory_arena.h"
#include "caffe2_core/model/net_memory.h"
#include "tests/caffe2_core/executors/call_operator.h"

namespace caffe2rt::test::refcount_net_test {
namespace {

// The values are those of the original, which frees the same blobs.
class RefcountNetTest : public ExecutorTest {
 protected:
  RefcountNetTest() { Feed<float>(&ws_, "x", {2}, {1, -2}); }
  void ExpectFreed(const std::string& name) { EXPECT_TRUE(ws_.GetBlob(name)->IsEmpty()) << name; }
};

constexpr char kChain[] = R"(name: "n" type: "simple_refcount"
    op { type: "Relu" input: "x" output: "a" }
    op { type: "ExecutorTestCall" name: "look" input: "a" output: "b" }
    op { type: "Relu" input: "a" output: "c" }
    op { type: "Relu" input: "c" output: "e" }
    op { type: "ExecutorTestCall" name: "look_again" input: "c" output: "d" })";

TEST_F(RefcountNetTest, FreesBlobsAfterTheLastOperatorThatReadsThem) {
  int looks = 0;
  Calls() = {{"look",
              [&](OperatorBase*) {
                ExpectTensor<float>(ws_, "a", {2}, {1, 0});
                ++looks;
              }},
             {"look_again", [&](OperatorBase*) {
                ExpectFreed("a");
                ExpectTensor<float>(ws_, "c", {2}, {1, 0});
                ++looks;
              }}};
  const auto net = Make(kChain);
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    ExpectFreed("a");
    ExpectFreed("c");
    ExpectTensor<float>(ws_, "e", {2}, {1, 0});  // no operator reads it
    ExpectTensor<float>(ws_, "x", {2}, {1, -2});
  }
  EXPECT_EQ(looks, 4);
}

TEST_F(RefcountNetTest, KeepsExternalOutputsAndWhatTheNextRunReads) {
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      external_input: "x" external_output: "b" external_output: "c"
      op { type: "Relu" input: "x" output: "x" }
      op { type: "Relu" input: "x" output: "b" }
      op { type: "Relu" input: "b" output: "c" })");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    for (const char* name : {"x", "b", "c"}) ExpectTensor<float>(ws_, name, {2}, {1, 0});
  }
}

TEST_F(RefcountNetTest, KeepsAValueThatIsWrittenAfterTheLastRead) {
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "c" }
      op { type: "Copy" input: "x" output: "a" })");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "a", {2}, {1, -2});
  }
}

// Between its last reader and the next writer, nothing of a blob is kept.
TEST_F(RefcountNetTest, FreesAValueThatIsWrittenAgainLater) {
  int looks = 0;
  Calls() = {{"look", [&](OperatorBase*) {
                ExpectFreed("a");
                ExpectTensor<float>(ws_, "c", {2}, {1, 0});
                ++looks;
              }}};
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "c" }
      op { type: "ExecutorTestCall" name: "look" input: "c" output: "d" }
      op { type: "Copy" input: "x" output: "a" })");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "a", {2}, {1, -2});
  }
  EXPECT_EQ(looks, 2);
}

// The net declares no external input. What its first operator reads is a result of the run before.
TEST_F(RefcountNetTest, KeepsWhatItReadsBeforeItIsWrittenWithoutADeclaration) {
  Feed<float>(&ws_, "one", {2}, {1, 1});
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Add" input: "x" input: "one" output: "a" }
      op { type: "Copy" input: "a" output: "x" }
      op { type: "Relu" input: "x" output: "b" })");
  for (int run = 1; run <= 3; ++run) {
    EXPECT_TRUE(net->Run());
    const float r = static_cast<float>(run);
    ExpectTensor<float>(ws_, "x", {2}, {1 + r, -2 + r});
    ExpectTensor<float>(ws_, "b", {2}, {1 + r, std::max(0.0f, -2 + r)});
    ExpectTensor<float>(ws_, "one", {2}, {1, 1});
    ExpectFreed("a");
  }
}

// The last operator that reads the blob writes it as well: nobody reads the new value.
TEST_F(RefcountNetTest, KeepsAResultInPlaceThatNoOperatorReads) {
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Copy" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "a" }
      op { type: "Copy" input: "x" output: "b" }
      op { type: "Relu" input: "b" output: "b" }
      op { type: "Relu" input: "b" output: "c" })");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "a", {2}, {1, 0});
    ExpectTensor<float>(ws_, "c", {2}, {1, 0});
    ExpectFreed("b");
  }
}

TEST_F(RefcountNetTest, KeepsBlobsOfNestedNets) {
  Feed<bool>(&ws_, "yes", {}, {true});
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "If" input: "yes" arg { name: "then_net" n {
        op { type: "Relu" input: "a" output: "c" } } } })");
  for (int run = 0; run < 2; ++run) {
    EXPECT_TRUE(net->Run());
    ExpectTensor<float>(ws_, "c", {2}, {1, 0});
  }
}

TEST_F(RefcountNetTest, RunsAgainAfterAFailure) {
  bool fails = true;
  Calls() = {{"fail", [&](OperatorBase*) {
                if (fails) CAFFE_THROW("no luck");
              }}};
  const auto net = Make(R"(name: "n" type: "simple_refcount"
      op { type: "Relu" input: "x" output: "a" }
      op { type: "Relu" input: "a" output: "b" }
      op { type: "ExecutorTestCall" name: "fail" input: "b" output: "c" }
      op { type: "Relu" input: "b" output: "d" })");
  ExpectThrows([&] { net->Run(); }, "net \"n\", operator 2 (ExecutorTestCall");
  ExpectFreed("a");
  ExpectTensor<float>(ws_, "b", {2}, {1, 0});
  fails = false;
  EXPECT_TRUE(net->Run());
  ExpectTensor<float>(ws_, "d", {2}, {1, 0});
  ExpectFreed("b");
}

// Planned memory would be planned again in every run.
TEST_F(RefcountNetTest, HasNoPlannedMemory) {
  Calls() = {{"look", [](OperatorBase*) {}}, {"look_again", [](OperatorBase*) {}}};
  const auto net = Make(kChain);
  NetMemory memory(net.get(), {}, std::make_shared<ArenaStock>());
  EXPECT_TRUE(memory.Run());
  EXPECT_TRUE(memory.Run());
  EXPECT_EQ(memory.planned_blobs(), 0u);
  EXPECT_EQ(memory.plans_made(), 0);
}

// Calls a function before each run of an operator.
class BeforeRun final : public ObserverBase<OperatorBase> {
 public:
  BeforeRun(OperatorBase* op, std::function<void()> function)
      : ObserverBase(op), function_(std::move(function)) {}
  void Start() override { function_(); }

 private:
  const std::function<void()> function_;
};

// Random nets of sums, some in place, that read up to three blobs. The blobs that hold something are
// worked out here: an operator fills its output, and empties what nothing reads after it, unless the
// caller may read it or an operator has read it before the first one that writes it.
TEST_F(RefcountNetTest, EmptiesExactlyWhatIsNotReadAgain) {
  struct Sum {
    std::vector<int> inputs;
    int output;
  };
  constexpr int kBlobs = 9;
  const auto name = [](int blob) { return MakeString("b", blob); };
  size_t emptied = 0, most_at_once = 0;
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int end) {
      return static_cast<int>(random() % static_cast<uint32_t>(end));
    };
    const bool declares = seed % 2 == 0;
    std::vector<Sum> sums(static_cast<size_t>(3 + below(12)));
    std::set<int> filled = {0, 1}, read_first, written;  // b0 and b1 are filled before the net
    for (Sum& sum : sums) {
      const std::vector<int> choice(filled.begin(), filled.end());
      for (int i = below(3); i >= 0; --i)
        sum.inputs.push_back(choice[static_cast<size_t>(below(static_cast<int>(choice.size())))]);
      do {
        sum.output = below(4) == 0 ? sum.inputs[0] : below(kBlobs);
      } while (std::count(sum.inputs.begin() + 1, sum.inputs.end(), sum.output) > 0);
      for (const int input : sum.inputs) {
        if (!written.contains(input)) read_first.insert(input);
      }
      written.insert(sum.output);
      filled.insert(sum.output);
    }
    std::set<int> kept = read_first;
    std::string text = R"(name: "n" type: "simple_refcount" )";
    if (declares) {
      text += "external_input: 'b0' external_input: 'b1' ";
      kept.insert({0, 1});
      for (const int blob : written) {
        if (below(4) != 0) continue;
        text += "external_output: '" + name(blob) + "' ";
        kept.insert(blob);
      }
    }
    std::vector<std::vector<int>> emptied_after(sums.size());
    for (const int blob : written) {
      size_t last = sums.size();
      for (size_t i = 0; i < sums.size(); ++i) {
        const std::vector<int>& inputs = sums[i].inputs;
        if (std::find(inputs.begin(), inputs.end(), blob) != inputs.end()) last = i;
      }
      if (last == sums.size() || sums[last].output == blob || kept.contains(blob)) continue;
      emptied_after[last].push_back(blob);
    }
    for (const Sum& sum : sums) {
      text += "op { type: 'Sum' ";
      for (const int input : sum.inputs) text += "input: '" + name(input) + "' ";
      text += "output: '" + name(sum.output) + "' } ";
    }
    SCOPED_TRACE(text);
    Workspace ws;
    Feed<float>(&ws, "b0", {1}, {1});
    Feed<float>(&ws, "b1", {1}, {2});
    const auto net = CreateNet(ParseNet(text), &ws);
    std::set<int> full = {0, 1};
    const auto expect = [&](size_t position) {
      for (const int blob : filled) {
        EXPECT_EQ(!ws.GetBlob(name(blob))->IsEmpty(), full.contains(blob))
            << name(blob) << " before operator " << position;
      }
    };
    const auto end_operator = [&](size_t position) {
      full.insert(sums[position].output);
      for (const int blob : emptied_after[position]) full.erase(blob);
    };
    const std::vector<OperatorBase*> operators = net->GetOperators();
    for (size_t i = 0; i < operators.size(); ++i) {
      operators[i]->AttachObserver(std::make_unique<BeforeRun>(operators[i], [&, i] {
        if (i > 0) end_operator(i - 1);
        expect(i);
      }));
      emptied += emptied_after[i].size();
      most_at_once = std::max(most_at_once, emptied_after[i].size());
    }
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(net->Run());
      end_operator(sums.size() - 1);
      expect(sums.size());
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(emptied, 60u);
  EXPECT_GT(most_at_once, 1u);
}

}  // namespace
}  // namespace caffe2rt::test::refcount_net_test
