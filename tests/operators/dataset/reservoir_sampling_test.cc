#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/runtime/net.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::reservoir_sampling_test {
namespace {

using RowOfObject = std::unordered_map<int64_t, int32_t>;

std::string Sample(int rows) {
  return MakeString(
      "type: 'ReservoirSampling' input: 'R' input: 'N' input: 'X' input: 'M' "
      "output: 'R' output: 'N' arg { name: 'num_to_collect' i: ",
      rows, " } ");
}
std::string SampleObjects(int rows) {
  return MakeString(
      "type: 'ReservoirSampling' input: 'R' input: 'N' input: 'X' input: 'M' "
      "input: 'O' input: 'map' input: 'P' output: 'R' output: 'N' output: 'map' "
      "output: 'P' arg { name: 'num_to_collect' i: ",
      rows, " } ");
}

class ReservoirSamplingTest : public testing::Test {
 public:
  ReservoirSamplingTest() {
    RunOp(&ws_, "type: 'CreateMutex' output: 'M'");
    RunOp(&ws_,
          "type: 'CreateMap' output: 'map' arg { name: 'key_dtype' i: 10 } "
          "arg { name: 'value_dtype' i: 2 }");
    Restart();
  }

 protected:
  void Restart() {
    Feed<float>(&ws_, "R", {0}, {});
    Feed<int64_t>(&ws_, "N", {}, {0});
    Feed<int64_t>(&ws_, "P", {0}, {});
  }
  void ExpectObjects(const std::map<int64_t, int32_t>& want) {
    const auto& found = ws_.GetBlob("map")->Get<RowOfObject>();
    EXPECT_EQ((std::map<int64_t, int32_t>(found.begin(), found.end())), want);
  }
  Workspace ws_;
};

TEST_F(ReservoirSamplingTest, KeepsAllRowsUntilItIsFull) {
  Feed<float>(&ws_, "X", {2, 2}, {1, 2, 3, 4});
  ExpectShapeInferred(&ws_, Sample(5));  // runs it
  ExpectTensor<float>(ws_, "R", {2, 2}, {1, 2, 3, 4});
  ExpectTensor<int64_t>(ws_, "N", {}, {2});
  Feed<float>(&ws_, "X", {3, 2}, {5, 6, 7, 8, 9, 10});
  ExpectShapeInferred(&ws_, Sample(5));
  ExpectTensor<float>(ws_, "R", {5, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  Feed<float>(&ws_, "X", {0, 2}, {});
  RunOp(&ws_, Sample(5));
  ExpectTensor<int64_t>(ws_, "N", {}, {5});
  // An empty reservoir starts a new sample.
  Feed<std::string>(&ws_, "R", {0}, {});
  Feed<std::string>(&ws_, "X", {2}, {"a", "b"});
  RunOp(&ws_, Sample(5));
  ExpectTensor<std::string>(ws_, "R", {2}, {"a", "b"});
  ExpectTensor<int64_t>(ws_, "N", {}, {2});
}

TEST_F(ReservoirSamplingTest, GivesEachRowTheSameChance) {
  std::vector<int> chosen(6), first(6);
  const int runs = 6000;
  Feed<float>(&ws_, "X", {1}, {0});
  NetBase* const net = ws_.CreateNet(
      ParseNet("name: 'n' device_option { random_seed: 7 } op { " + Sample(2) + " }"));
  for (int run = 0; run < runs; ++run) {
    Restart();
    for (const std::vector<float>& rows : {std::vector<float>{0}, {1, 2, 3, 4}, {5}}) {
      Feed<float>(&ws_, "X", {static_cast<int64_t>(rows.size())}, rows);
      ASSERT_TRUE(net->Run());
    }
    const std::vector<float> sample = Fetch<float>(ws_, "R");
    ASSERT_EQ(sample.size(), 2u);
    ASSERT_NE(sample[0], sample[1]);
    for (const float row : sample) ++chosen[static_cast<size_t>(row)];
    ++first[static_cast<size_t>(sample[0])];
  }
  ExpectTensor<int64_t>(ws_, "N", {}, {6});
  // Each row is chosen with the probability 1/3: 2000 times, with a standard deviation of 37.
  for (const int count : chosen) EXPECT_NEAR(count, 2000, 250);
  // Row 0 begins in the first place and stays there with the probability 1/3. Row 1 is never there.
  EXPECT_NEAR(first[0], 2000, 250);
  EXPECT_EQ(first[1], 0);
}

TEST_F(ReservoirSamplingTest, KeepsEachObjectOnce) {
  Feed<float>(&ws_, "X", {3}, {1, 2, 3});
  Feed<int64_t>(&ws_, "O", {3}, {7, 7, 8});
  RunOp(&ws_, SampleObjects(3));
  ExpectTensor<float>(ws_, "R", {2}, {1, 3});
  ExpectTensor<int64_t>(ws_, "N", {}, {2});
  ExpectTensor<int64_t>(ws_, "P", {2}, {7, 8});
  ExpectObjects({{7, 0}, {8, 1}});
  Feed<float>(&ws_, "X", {2}, {4, 5});
  Feed<int64_t>(&ws_, "O", {2}, {8, 9});
  RunOp(&ws_, SampleObjects(3));
  ExpectTensor<float>(ws_, "R", {3}, {1, 3, 5});
  ExpectTensor<int64_t>(ws_, "P", {3}, {7, 8, 9});
  ExpectObjects({{7, 0}, {8, 1}, {9, 2}});
  // A new sample forgets the objects of the one before.
  Feed<float>(&ws_, "R", {0}, {});
  RunOp(&ws_, SampleObjects(3));
  ExpectTensor<float>(ws_, "R", {2}, {4, 5});
  ExpectTensor<int64_t>(ws_, "P", {2}, {8, 9});
  ExpectObjects({{8, 0}, {9, 1}});
}

TEST_F(ReservoirSamplingTest, ForgetsObjectsThatItReplaces) {
  std::vector<float> rows;
  std::vector<int64_t> objects;
  for (int i = 0; i < 60; ++i) {
    rows.push_back(static_cast<float>(i));
    objects.push_back(100 + i % 40);
  }
  Feed<float>(&ws_, "X", {60}, rows);
  Feed<int64_t>(&ws_, "O", {60}, objects);
  RunOp(&ws_, SampleObjects(4) + "device_option { random_seed: 3 }");
  const std::vector<float> sample = Fetch<float>(ws_, "R");
  const std::vector<int64_t> kept = Fetch<int64_t>(ws_, "P");
  ASSERT_EQ(sample.size(), 4u);
  ASSERT_EQ(kept.size(), 4u);
  std::map<int64_t, int32_t> places;
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(kept[i], 100 + static_cast<int64_t>(sample[i]) % 40);
    places[kept[i]] = static_cast<int32_t>(i);
  }
  EXPECT_EQ(places.size(), 4u);
  ExpectObjects(places);
}

TEST_F(ReservoirSamplingTest, AllocatesNothingOnceFull) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Feed<float>(&ws_, "X", {6}, {1, 2, 3, 4, 5, 6});
  NetBase* const net = ws_.CreateNet(ParseNet("name: 'n' op { " + Sample(3) + " }"));
  ASSERT_TRUE(net->Run());
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
}

TEST_F(ReservoirSamplingTest, RejectsWhatDoesNotFit) {
  const auto rejects = [&](const std::string& op, const std::string& message) {
    ExpectThrows([&] { RunOp(&ws_, op); }, message);
  };
  Feed<float>(&ws_, "X", {}, {1});
  rejects(Sample(3), "rank of input 2 (DATA)");
  Feed<float>(&ws_, "X", {1, 2}, {1, 2});
  rejects(Sample(0), "argument \"num_to_collect\" is 0, want above 0");
  Feed<float>(&ws_, "R", {2, 3}, {1, 2, 3, 4, 5, 6});
  Feed<int64_t>(&ws_, "N", {1}, {2});
  rejects(Sample(3), "input 2 (DATA) has shape [1, 2], want that of the reservoir, [2, 3], except");
  Feed<int32_t>(&ws_, "R", {2, 2}, {1, 2, 3, 4});
  rejects(Sample(3),
          "input 2 (DATA) has elements of type float, want that of the reservoir, int32");
  Feed<float>(&ws_, "R", {2, 2}, {1, 2, 3, 4});
  for (const int64_t visited : {-1, 0, 1, 3}) {
    Feed<int64_t>(&ws_, "N", {1}, {visited});
    rejects(Sample(3), MakeString("rows of input 0 (RESERVOIR) after ", visited, " visited rows"));
  }
  Feed<int64_t>(&ws_, "N", {1}, {2});
  rejects(Sample(1), "with num_to_collect 1: got 2, want 1");
  Feed<int64_t>(&ws_, "O", {2}, {1, 2});
  rejects(SampleObjects(3), "input 4 (OBJECT_ID) has shape [2], want [1]");
  Feed<int32_t>(&ws_, "O", {1}, {1});
  rejects(SampleObjects(3), "int32, want int64");
  Feed<int64_t>(&ws_, "O", {1}, {1});
  rejects(SampleObjects(3), "elements of input 6 (POS_TO_OBJECT_IN), want one for each row");
  Feed<int64_t>(&ws_, "N", {2}, {2, 2});
  rejects(Sample(3), "elements of input 1 (NUM_VISITED): got 2, want 1");
  ExpectTensor<float>(ws_, "R", {2, 2}, {1, 2, 3, 4});
}

}  // namespace
}  // namespace caffe2rt::test::reservoir_sampling_test
