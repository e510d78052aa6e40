// A world of one rank: no engine and no store, but the same checks as larger worlds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operators/distributed/common_world.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::one_rank_world_test {
namespace {

using testing::ElementsAre;

class OneRankWorldTest : public testing::Test {
 protected:
  void Send(int destination, int tag, const std::vector<int64_t>& dims, TypeMeta type) {
    world_->Send({"x"}, values_, dims, type, destination, tag);
  }
  void Receive(int source) {
    (void)world_->Receive({"x"}, source, 0,
                          [this](const ReceivedTensor&) -> void* { return values_; });
  }
  void ReduceScatter(const std::vector<int>& counts) {
    world_->ReduceScatter({"x"}, values_, counts, kFloat);
  }

  const TypeMeta kFloat = TypeMeta::Make<float>(), kText = TypeMeta::Make<std::string>();
  const CommonWorldBlob world_ = CommonWorld::Create({.name = "alone"}, nullptr);
  float values_[3] = {1, 2, 3};
};

TEST_F(OneRankWorldTest, CollectivesKeepTheValues) {
  float all[3] = {};
  world_->Barrier({"x"});
  world_->Broadcast({"x"}, values_, 3, kFloat, 0);
  world_->Reduce({"x"}, values_, 3, kFloat, 0);
  ReduceScatter({3});
  world_->Allgather({"x"}, values_, all, 2, kFloat);
  EXPECT_THAT(values_, ElementsAre(1, 2, 3));
  EXPECT_THAT(all, ElementsAre(1, 2, 0));
}

TEST_F(OneRankWorldTest, AllgatherCopiesAnyNumberOfElements) {
  for (const size_t count : {0u, 1u, 2u, 3u}) {
    float all[4] = {9, 9, 9, 9};
    world_->Allgather({"x"}, values_, all, count, kFloat);
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i], i < count ? values_[i] : 9) << count;
  }
  int64_t number = 5, copy = 0;
  world_->Allgather({"x"}, &number, &copy, 1, TypeMeta::Make<int64_t>());
  EXPECT_EQ(copy, 5);
}

TEST_F(OneRankWorldTest, IsDescribedByItsOptions) {
  const CommonWorldBlob later = CommonWorld::Create({.name = "later", .generation = 4}, nullptr);
  EXPECT_EQ(later->name(), "later");
  EXPECT_EQ(later->engine(), "");
  EXPECT_EQ(later->rank(), 0);
  EXPECT_EQ(later->size(), 1);
  EXPECT_EQ(later->generation(), 4);
  EXPECT_THAT(later->lost_ranks(), testing::IsEmpty());
  const CommonWorldBlob clone = later->Clone("copy");
  EXPECT_EQ(clone->name(), "copy");
  EXPECT_EQ(clone->generation(), 4);
}

TEST_F(OneRankWorldTest, RejectsRanksThatTheWorldDoesNotHave) {
  const auto want = [](const std::string& what, int rank) {
    return MakeString(what, " is ", rank, ", want a rank of world \"alone\", 0 to 0");
  };
  for (const int rank : {-1, 1}) {
    ExpectRefusals(
        {{[&] { world_->Broadcast({"x"}, values_, 3, kFloat, rank); }, want("root", rank)},
         {[&] { world_->Reduce({"x"}, values_, 3, kFloat, rank); }, want("root", rank)},
         {[&] { Send(rank, 0, {3}, kFloat); }, want("destination", rank)}});
  }
  ExpectRefusals({{[&] { Receive(1); }, want("source", 1)},
                  {[&] { Receive(-2); }, want("source", -2)},
                  {[&] { Receive(-1); }, "world \"alone\" has no other rank from which to receive"},
                  {[&] { Receive(0); },
                   "source is 0, which is this rank of world \"alone\", want another one"},
                  {[&] { Send(0, 0, {3}, kFloat); },
                   "destination is 0, which is this rank of world \"alone\", want another one"}});
  EXPECT_THAT(values_, ElementsAre(1, 2, 3));
}

TEST_F(OneRankWorldTest, RejectsTypesAndCounts) {
  const std::string text = "elements of type " + std::string(kText.name()) +
                           " cannot be sent to other ranks, want numbers";
  ExpectRefusals(
      {{[&] { world_->Broadcast({"x"}, values_, 1, kText, 0); }, text},
       {[&] { world_->Allgather({"x"}, values_, values_ + 1, 1, kText); }, text},
       {[&] { ReduceScatter({-1}); }, "rank 0 is to get -1 elements, want 0 or more"},
       {[&] {
          ReduceScatter({1, 2});
        },
        "numbers of elements for the ranks of world \"alone\", want one for each (got 2, want 1)"},
       {[&] { ReduceScatter({}); },
        "numbers of elements for the ranks of world \"alone\", want one for each (got 0, want "
        "1)"}});
  EXPECT_NO_THROW(ReduceScatter({0}));
  EXPECT_THAT(values_, ElementsAre(1, 2, 3));
}

}  // namespace
}  // namespace caffe2rt::test::one_rank_world_test
