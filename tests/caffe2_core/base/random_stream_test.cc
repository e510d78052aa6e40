#include "caffe2_core/base/random_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace caffe2rt::random_stream_test {
namespace {

TEST(RandomWordsTest, AreThoseOfSplitMix64) {
  // Of the reference implementation, started with 0 (https://prng.di.unimi.it/splitmix64.c).
  std::array<uint32_t, 6> words;
  RandomWords(0).generate(words.begin(), words.end());
  EXPECT_EQ(words, (std::array<uint32_t, 6>{0x7b1dcdaf, 0xe220a839, 0xa1b965f4, 0x6e789e6a,
                                            0x8009454f, 0x06c45d18}));
}

TEST(RandomWordsTest, FillTheStateOfAGeneratorOfTheStandardLibrary) {
  RandomWords words(5), same(5), other(6);
  std::mt19937 a(words), b(same), c(other);
  const auto first = a();
  EXPECT_EQ(first, b());
  EXPECT_NE(first, c());
}

TEST(RandomKeysTest, DependOnBothValuesAndTheirOrder) {
  std::set<uint64_t> keys;
  for (uint64_t key = 0; key < 100; ++key) {
    for (uint64_t value = 0; value < 100; ++value) keys.insert(MixRandomKeys(key, value));
  }
  EXPECT_EQ(keys.size(), 10000u);
  EXPECT_NE(RandomKeyOf("ab"), RandomKeyOf("ba"));
  EXPECT_NE(RandomKeyOf(""), RandomKeyOf(std::string(1, '\0')));
}

class RandomRunsTest : public testing::Test {
 protected:
  RandomRunsTest() { place_.Set(&runs_, RandomKeyOf("x")); }
  std::vector<uint64_t> KeysOfRuns(int count) {
    std::vector<uint64_t> keys;
    for (int i = 0; i < count; ++i) {
      runs_.Begin();
      keys.push_back(place_.key());
    }
    return keys;
  }
  RandomRuns runs_;
  RandomPlace place_;
};

TEST_F(RandomRunsTest, HaveNoStreamsWithoutASeed) {
  runs_.Begin();
  EXPECT_EQ(place_.begun(), 0u);
  runs_.SetSeed(1);
  EXPECT_NE(place_.begun(), 0u);
  runs_.SetSeed(std::nullopt);
  EXPECT_EQ(place_.begun(), 0u);
}

TEST_F(RandomRunsTest, GiveEveryRunAKeyThatTheSeedDetermines) {
  runs_.SetSeed(1);
  const std::vector<uint64_t> keys = KeysOfRuns(3);
  EXPECT_EQ(std::set(keys.begin(), keys.end()).size(), 3u);
  runs_.SetSeed(1);
  EXPECT_EQ(KeysOfRuns(3), keys);
  runs_.set_next_run(1);
  EXPECT_EQ(KeysOfRuns(1)[0], keys[1]);
  EXPECT_EQ(runs_.next_run(), 2u);
  runs_.SetSeed(2);
  EXPECT_NE(KeysOfRuns(1)[0], keys[0]);
}

TEST_F(RandomRunsTest, ReportThatARunHasBegunAlsoIfItIsRepeated) {
  runs_.SetSeed(1);
  runs_.Begin();
  const uint64_t first = place_.begun();
  runs_.set_next_run(0);
  runs_.Begin();
  EXPECT_NE(place_.begun(), first);
}

// Two nets that the operator at place_ runs.
TEST_F(RandomRunsTest, NumberTheInnerRunsOfAnOperatorWithinEachOfItsRuns) {
  RandomRuns then_runs, else_runs;
  then_runs.SetParent(&place_);
  else_runs.SetParent(&place_);
  then_runs.Begin();
  EXPECT_EQ(then_runs.begun(), 0u) << "the outer net has no seed";
  const auto three_inner_runs = [&] {
    std::vector<uint64_t> keys;
    runs_.Begin();
    for (RandomRuns* inner : {&then_runs, &else_runs, &then_runs}) {
      inner->Begin();
      keys.push_back(inner->key());
    }
    return keys;
  };
  runs_.SetSeed(1);
  const std::vector<uint64_t> first = three_inner_runs(), second = three_inner_runs();
  std::set<uint64_t> all(first.begin(), first.end());
  all.insert(second.begin(), second.end());
  EXPECT_EQ(all.size(), 6u);
  runs_.SetSeed(1);
  EXPECT_EQ(three_inner_runs(), first);
  then_runs.SetSeed(7);  // that of the outer net goes first
  runs_.SetSeed(1);
  EXPECT_EQ(three_inner_runs(), first);
}

TEST_F(RandomRunsTest, AnOperatorInsideAnotherOneTakesItsKeys) {
  RandomPlace inside;
  inside.Follow(&place_);
  EXPECT_EQ(inside.begun(), 0u);
  runs_.SetSeed(1);
  EXPECT_EQ(inside.begun(), place_.begun());
  EXPECT_EQ(inside.key(), place_.key());
  EXPECT_NE(inside.NextInnerKey(), place_.NextInnerKey());
}

TEST(RandomWordsTest, AnOddNumberOfWordsEndsWithALowHalf) {
  std::array<uint32_t, 4> words = {0, 0, 0, 42};
  RandomWords(0).generate(words.begin(), words.begin() + 3);
  EXPECT_EQ(words, (std::array<uint32_t, 4>{0x7b1dcdaf, 0xe220a839, 0xa1b965f4, 42}));
  RandomWords(0).generate(words.begin(), words.begin());
  EXPECT_EQ(words[0], 0x7b1dcdafu);
}

TEST(RandomKeysTest, OfNamesAreTheirHashMixedWithTheirLength) {
  // FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv).
  EXPECT_EQ(RandomKeyOf(""), MixRandomKeys(0xcbf29ce484222325ull, 0));
  EXPECT_EQ(RandomKeyOf("a"), MixRandomKeys(0xaf63dc4c8601ec8cull, 1));
  EXPECT_EQ(RandomKeyOf("foobar"), MixRandomKeys(0x85944171f73967e8ull, 6));
  EXPECT_EQ(RandomKeyOf("\xff"), MixRandomKeys(0xaf64724c8602eb6eull, 1));
}

TEST_F(RandomRunsTest, TheKeyOfAPlaceMixesTheSeedTheRunAndTheName) {
  runs_.SetSeed(9);
  EXPECT_EQ(place_.key(), MixRandomKeys(MixRandomKeys(9, 0), RandomKeyOf("x")))
      << "before the first run, as in run 0";
  const std::vector<uint64_t> keys = KeysOfRuns(3);
  for (uint64_t run = 0; run < 3; ++run) {
    EXPECT_EQ(keys[run], MixRandomKeys(MixRandomKeys(9, run), RandomKeyOf("x"))) << run;
  }
  EXPECT_EQ(runs_.next_run(), 3u);
  runs_.SetSeed(std::nullopt);
  EXPECT_EQ(runs_.next_run(), 0u);
  runs_.Begin();
  EXPECT_EQ(runs_.next_run(), 0u) << "without a seed, runs are not counted";
}

TEST_F(RandomRunsTest, ANetInsideAnOperatorHasStreamsOnlyWhileTheOperatorHas) {
  RandomRuns inner;
  inner.SetParent(&place_);
  runs_.SetSeed(1);
  runs_.Begin();
  inner.Begin();
  const uint64_t begun = inner.begun();
  EXPECT_NE(begun, 0u);
  runs_.SetSeed(std::nullopt);
  inner.Begin();
  EXPECT_EQ(inner.begun(), 0u) << "the outer net has lost its seed";
  runs_.SetSeed(1);
  runs_.Begin();
  inner.Begin();
  EXPECT_NE(inner.begun(), 0u);
  EXPECT_NE(inner.begun(), begun);
}

TEST_F(RandomRunsTest, ANetInsideAnOperatorWithoutStreamsUsesItsOwnSeed) {
  RandomRuns inner;
  inner.SetParent(&place_);
  inner.SetSeed(5);
  for (uint64_t run = 0; run < 2; ++run) {
    inner.Begin();
    EXPECT_EQ(inner.key(), MixRandomKeys(5, run));
  }
  runs_.SetSeed(1);
  runs_.Begin();
  inner.Begin();
  EXPECT_EQ(inner.key(), MixRandomKeys(MixRandomKeys(place_.key(), 0x6e6574), 0));
  EXPECT_EQ(inner.next_run(), 2u) << "that run is the operator's";
  inner.SetParent(nullptr);
  inner.Begin();
  EXPECT_EQ(inner.key(), MixRandomKeys(5, 2));
}

TEST_F(RandomRunsTest, InnerRunsAreCountedFromZeroInEachRunOfTheOperator) {
  runs_.SetSeed(3);
  for (int run = 0; run < 2; ++run) {
    runs_.Begin();
    const uint64_t base = MixRandomKeys(place_.key(), 0x6e6574);
    RandomPlace inside;
    inside.Follow(&place_);
    EXPECT_EQ(place_.NextInnerKey(), MixRandomKeys(base, 0));
    EXPECT_EQ(inside.NextInnerKey(), MixRandomKeys(base, 1)) << "they are counted together";
    EXPECT_EQ(place_.NextInnerKey(), MixRandomKeys(base, 2));
  }
}

TEST(RandomPlaceTest, HasNoStreamOutsideOfANet) {
  RandomPlace alone, inside;
  EXPECT_EQ(alone.begun(), 0u);
  inside.Follow(&alone);
  EXPECT_EQ(inside.begun(), 0u);
}

}  // namespace
}  // namespace caffe2rt::random_stream_test
