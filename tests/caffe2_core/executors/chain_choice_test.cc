#include "caffe2_core/executors/chain_choice.h"

#include <gtest/gtest.h>

#include <string>

namespace caffe2rt::test::chain_choice_test {
namespace {

using std::chrono::microseconds;

// How long a run takes if idle threads take chains, and if they help first.
struct Times {
  microseconds takes, helps;
};

// Runs a net so many times. Returns a letter for each run: T or H, in lower case if it is timed.
std::string RunNet(ChainChoice* choice, int runs, const Times& times) {
  std::string ways;
  for (int run = 0; run < runs; ++run) {
    const bool helps = choice->helps_first();
    if (choice->measures()) {
      ways += helps ? 'h' : 't';
      choice->Ran(helps ? times.helps : times.takes);
    } else {
      ways += helps ? 'H' : 'T';
      choice->Ran();
    }
  }
  return ways;
}

std::string Repeated(int count, char letter) {
  return std::string(static_cast<size_t>(count), letter);
}

constexpr Times kHelpIsFaster = {microseconds(103), microseconds(100)};
constexpr Times kTakingIsFaster = {microseconds(100), microseconds(103)};

TEST(ChainChoiceTest, KeepsTheFasterWayAfterTheFirstRuns) {
  ChainChoice helps, takes;
  EXPECT_EQ(RunNet(&helps, 12, kHelpIsFaster), "TTththththHH");
  EXPECT_EQ(RunNet(&takes, 12, kTakingIsFaster), "TTththththTT");
}

// 64 runs after a change, then 128, ... at most 1,024.
TEST(ChainChoiceTest, ComparesAgainLessOftenIfNothingChanges) {
  ChainChoice choice;
  RunNet(&choice, 10, kHelpIsFaster);
  for (const int kept : {64, 128, 256, 512, 1024, 1024}) {
    EXPECT_EQ(RunNet(&choice, kept, kHelpIsFaster), Repeated(kept, 'H'));
    EXPECT_EQ(RunNet(&choice, 8, kHelpIsFaster), "hthththt") << kept;
  }
}

TEST(ChainChoiceTest, ComparesSoonAfterAChange) {
  ChainChoice choice;
  RunNet(&choice, 10 + 64 + 8 + 128, kHelpIsFaster);
  EXPECT_EQ(RunNet(&choice, 8, kTakingIsFaster), "hthththt");
  EXPECT_EQ(RunNet(&choice, 65, kTakingIsFaster), Repeated(64, 'T') + "t");
}

TEST(ChainChoiceTest, TheFirstRunDecidesIfTheOtherWayIsFarSlower) {
  ChainChoice choice;
  EXPECT_EQ(RunNet(&choice, 5, {microseconds(100), microseconds(126)}), "TTthT");
  ChainChoice near;
  EXPECT_EQ(RunNet(&near, 5, {microseconds(100), microseconds(125)}), "TTtht");
}

// A single delayed run does not count.
TEST(ChainChoiceTest, TheFastestRunsAreCompared) {
  ChainChoice choice;
  RunNet(&choice, 9, kHelpIsFaster);
  EXPECT_TRUE(choice.helps_first());
  choice.Ran(microseconds(110));
  EXPECT_EQ(RunNet(&choice, 1, kHelpIsFaster), "H");
}

}  // namespace
}  // namespace caffe2rt::test::chain_choice_test
