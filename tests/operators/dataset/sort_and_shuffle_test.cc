#include <algorithm>
#include <set>

#include "tests/operators/dataset/dataset.h"

namespace caffe2rt::test::sort_and_shuffle_test {
namespace {

class SortAndShuffleTest : public testing::Test {
 protected:
  std::vector<int64_t> Order(const std::vector<int32_t>& keys, int field, int batch_size,
                             int shuffle_size) {
    CreateCursor(&ws_, {"k"});
    Feed<int32_t>(&ws_, "k", {static_cast<int64_t>(keys.size())}, keys);
    Run(field, batch_size, shuffle_size);
    return Fetch<int64_t>(ws_, "order");
  }
  void Run(int field, int batch_size, int shuffle_size) {
    RunOp(&ws_,
          MakeString("type: 'SortAndShuffle' input: 'cursor' input: 'k' output: 'order' arg { "
                     "name: 'sort_by_field_idx' i: ",
                     field, " } arg { name: 'batch_size' i: ", batch_size,
                     " } arg { name: 'shuffle_size' i: ", shuffle_size, " }"));
  }
  Workspace ws_;
};

TEST_F(SortAndShuffleTest, SortsWhatFitsIntoOneBatch) {
  EXPECT_EQ(Order({3, 1, 2}, 0, 100, 1), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(Order({3, 1, 2}, -1, 100, 1), (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(Order({3, 1, 2}, 0, INT32_MAX, INT32_MAX), (std::vector<int64_t>{1, 2, 0}));
  EXPECT_EQ(Order({}, 0, 1, 1), std::vector<int64_t>{});
}

// The orders are those of the original Caffe2, which does not seed its shuffles.
TEST_F(SortAndShuffleTest, ShufflesAsCaffe2) {
  EXPECT_EQ(Order({0, 2, 4}, 0, 1, 1), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(Order({0, 2, 4}, 0, 1, 2), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(Order({0, 2, 4}, 0, 2, 2), (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(Order({1, 0, 1, 0, 2}, 0, 2, 3), (std::vector<int64_t>{3, 1, 0, 2, 4}));
  EXPECT_EQ(Order({0, 2, 4, 1}, 0, 2, 1), (std::vector<int64_t>{1, 2, 3, 0}));
  EXPECT_EQ(Order({0, 2, 4, 1, 3, 0, 2, 4}, 0, 2, 2),
            (std::vector<int64_t>{6, 4, 2, 7, 5, 0, 3, 1}));
  EXPECT_EQ(Order({0, 2, 4, 1, 3, 0, 2, 4}, -1, 2, 2),
            (std::vector<int64_t>{4, 5, 6, 7, 1, 0, 2, 3}));
}

TEST_F(SortAndShuffleTest, KeepsBatchesOfSimilarKeys) {
  std::vector<int32_t> keys;
  for (int i = 0; i < 100; ++i) keys.push_back((37 * i) % 100);
  const std::vector<int64_t> order = Order(keys, 0, 5, 4);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), 100u);
  for (size_t batch = 0; batch < 100; batch += 5) {
    const auto [least, most] = std::minmax({keys[static_cast<size_t>(order[batch])],
                                            keys[static_cast<size_t>(order[batch + 1])],
                                            keys[static_cast<size_t>(order[batch + 4])]});
    EXPECT_LT(most - least, 20);
  }
}

TEST_F(SortAndShuffleTest, RejectsInvalidArguments) {
  CreateCursor(&ws_, {"k"});
  Feed<int32_t>(&ws_, "k", {1}, {1});
  ExpectThrows([&] { Run(-2, 1, 1); }, "argument \"sort_by_field_idx\" is -2, want at least -1");
  ExpectThrows([&] { Run(1, 1, 1); }, "argument \"sort_by_field_idx\" is 1, want it below 1");
  ExpectThrows([&] { Run(0, 0, 1); }, "argument \"batch_size\" is 0, want above 0");
  ExpectThrows([&] { Run(0, 1, 0); }, "argument \"shuffle_size\" is 0, want above 0");
  Feed<int64_t>(&ws_, "k", {1}, {1});
  EXPECT_THROW(Run(0, 1, 1), EnforceNotMet);
}

TEST_F(SortAndShuffleTest, SortsOnlyByFieldsOfDomain0ThatAreLongEnough) {
  const auto run = [&] {
    RunOp(
        &ws_,
        "type: 'SortAndShuffle' input: 'cursor' input: 'l' input: 'k' output: 'order' arg { name: "
        "'sort_by_field_idx' i: 1 }");
  };
  CreateCursor(&ws_, {"a:lengths", "a:values"});
  Feed<int32_t>(&ws_, "l", {3}, {1, 1, 1});
  Feed<int32_t>(&ws_, "k", {3}, {1, 1, 1});
  ExpectThrows(run, "domain of field \"a:values\"");
  CreateCursor(&ws_, {"a", "b"});
  Feed<int32_t>(&ws_, "k", {2}, {1, 1});
  ExpectThrows(run, "elements of field \"b\"");
}

}  // namespace
}  // namespace caffe2rt::test::sort_and_shuffle_test
