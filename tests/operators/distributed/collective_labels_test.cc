// What ranks call the operations that they start, and which differences between them are errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/workspace.h"
#include "tests/operators/distributed/thread_ranks.h"
#include "tests/support/operator_test.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::collective_labels_test {
namespace {

using testing::HasSubstr;

class CollectiveLabelsTest : public testing::Test {
 protected:
  void SetUp() override { UseThreadEngine(); }
  void TearDown() override { UseThreadEngine(); }
  // Runs `act` on two ranks, in whose workspaces "cw" is the world.
  static void RunOnTwo(const std::function<void(int rank, Workspace* ws)>& act) {
    const ThreadRanks ranks(2);
    RunRanks(2, [&](int rank) {
      const CommonWorldBlob world = ranks.World(rank);
      {
        Workspace ws;
        *ws.CreateBlob("cw")->GetMutable<CommonWorldBlob>() = world;
        act(rank, &ws);
      }
      world->Barrier({"the end"});
    });
  }
  static std::string Message(Workspace* ws, const std::string& op) {
    return MessageOf([&] { (void)ws->RunOperatorOnce(ParseOp(op)); });
  }
};

// The sum of the sizes is the same, so that only the sizes tell.
TEST_F(CollectiveLabelsTest, TensorsOfOtherSizesAreNotAddedTogether) {
  RunOnTwo([](int rank, Workspace* ws) {
    const std::string op =
        "type: 'AllreduceCoalesced' input: 'cw' input: 'x' input: 'y' output: 'x' output: 'y'";
    FeedRange<float>(ws, "x", {2 + rank});
    FeedRange<float>(ws, "y", {3 - rank});
    EXPECT_THAT(Message(ws, op), HasSubstr("with other numbers of elements for the ranks"));
    ExpectTensor<float>(*ws, "x", {2 + rank},
                        rank == 0 ? std::vector<float>{0, 1} : std::vector<float>{0, 1, 2});
    FeedRange<float>(ws, "x", {2, 1});
    FeedRange<float>(ws, "y", {3});
    ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
    ExpectTensor<float>(*ws, "x", {2, 1}, {0, 2});
    ExpectTensor<float>(*ws, "y", {3}, {0, 2, 4});
  });
}

// The name of the operator, or its first output behind the scope, or its type.
TEST_F(CollectiveLabelsTest, OperationsAreNamedAfterTheOperator) {
  RunOnTwo([](int rank, Workspace* ws) {
    FeedRange<float>(ws, "gpu_0/top/x", {2});
    const std::string reduce =
        "type: 'Allreduce' input: 'cw' input: 'gpu_0/top/x' output: "
        "'gpu_0/top/x' ";
    const struct {
      std::string op, text;
    } rows[] = {{reduce, "Allreduce \"x\" of 2 elements of type float"},
                {reduce + "name: 'sum'", "Allreduce \"sum\" of 2 elements of type float"},
                {"type: 'Barrier' input: 'cw'", "Barrier \"Barrier\""}};
    for (size_t i = 0; i < 3; ++i) {
      // Each rank starts another row, so that both are stated.
      const auto& own = rows[(i + static_cast<size_t>(rank)) % 3];
      const auto& other = rows[(i + static_cast<size_t>(1 - rank)) % 3];
      EXPECT_THAT(
          Message(ws, own.op),
          testing::EndsWith(MakeString(
              "world \"cw\": the ranks started different operations as number ", i, ": rank ", rank,
              " started ", own.text, ", rank ", 1 - rank, " started ", other.text)));
    }
    ExpectTensor<float>(*ws, "gpu_0/top/x", {2}, {0, 1});
  });
}

// The counts may be an output too, which stays as it is.
TEST_F(CollectiveLabelsTest, ReduceScatterKeepsTheCountsThatItPutsOut) {
  RunOnTwo([](int rank, Workspace* ws) {
    const std::string op =
        "type: 'ReduceScatter' input: 'cw' input: 'x' input: 'counts' output: 'x' output: "
        "'counts'";
    for (const int first : {0, 1, 3}) {
      FeedRange<float>(ws, "x", {3}, 1);
      Feed<int32_t>(ws, "counts", {2}, {first, 3 - first});
      ASSERT_TRUE(ws->RunOperatorOnce(ParseOp(op)));
      ExpectTensor<int32_t>(*ws, "counts", {2}, {first, 3 - first});
      const std::vector<float> sum = {2, 4, 6}, got = Fetch<float>(*ws, "x");
      const int begin = rank == 0 ? 0 : first, count = rank == 0 ? first : 3 - first;
      for (int i = 0; i < count; ++i)
        EXPECT_EQ(got[static_cast<size_t>(i)], sum[static_cast<size_t>(begin + i)]) << i;
    }
    Feed<int32_t>(ws, "counts", {3}, {1, 1, 1});
    EXPECT_THAT(Message(ws, op), HasSubstr("want one for each (got 3, want 2)"));
  });
}

// The root is one of the ranks, for each operator that has one.
TEST_F(CollectiveLabelsTest, RootsAreRanksOfTheWorld) {
  RunOnTwo([](int, Workspace* ws) {
    FeedRange<float>(ws, "x", {2});
    for (const std::string op : {"type: 'Broadcast' input: 'cw' input: 'x' output: 'x'",
                                 "type: 'Reduce' input: 'cw' input: 'x' output: 'y'"}) {
      EXPECT_THAT(Message(ws, op + " arg { name: 'root' i: 2 }"), HasSubstr("root is 2"));
      EXPECT_THAT(Message(ws, op + " arg { name: 'root' i: -1 }"),
                  HasSubstr("argument \"root\" is -1, want 0 or above"));
    }
    ExpectTensor<float>(*ws, "x", {2}, {0, 1});
  });
}

}  // namespace
}  // namespace caffe2rt::test::collective_labels_test
