#include "caffe2_core/executors/refcount_net.h"

#include <algorithm>

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
}

}  // namespace
}  // namespace caffe2rt::test::refcount_net_test
