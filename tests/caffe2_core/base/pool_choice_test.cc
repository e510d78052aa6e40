#include "caffe2_core/base/pool_choice.h"

#include <gtest/gtest.h>

#include <string>

namespace caffe2rt::pool_choice_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using Way = PoolChoice::Way;

constexpr uint64_t kKey = 1000;

// Jobs of two pieces at times that the test sets. Nothing waits.
class Jobs {
 public:
  // How long a job takes on two threads and on one. `estimate` is the time on one thread that the
  // caller's own piece suggests.
  struct Times {
    microseconds together, alone, estimate;
  };

  // Runs a job as the choice says. Returns 'T', 'A', or 'M' for a measured job alone.
  char Run(const Times& times, uint64_t key = kKey) {
    const Way way = choice.Next(key, now);
    if (way == Way::kTogether) {
      Together(times, false, key);
      return 'T';
    }
    now += times.alone;
    if (way == Way::kAlone) return 'A';
    choice.RanAlone(key, times.alone);
    return 'M';
  }
  std::string Run(int count, const Times& times, uint64_t key = kKey) {
    std::string ways;
    for (int i = 0; i < count; ++i) ways += Run(times, key);
    return ways;
  }
  // A job that is stalled and takes that much longer than alone.
  void Stall(microseconds lost) {
    ASSERT_EQ(choice.Next(kKey, now), Way::kTogether);
    Together({.together = microseconds(100) + lost, .alone = {}, .estimate = microseconds(100)},
             true, kKey);
  }
  // How long jobs run alone from now on.
  milliseconds Pause() {
    const PoolChoice::Time start = now;
    while (choice.Next(kKey, now) == Way::kAlone) now += microseconds(100);
    return std::chrono::duration_cast<milliseconds>(now - start);
  }

  PoolChoice choice;
  PoolChoice::Time now{};

 private:
  void Together(const Times& times, bool stalled, uint64_t key) {
    const PoolChoice::Time start = now;
    now += times.together;
    choice.RanTogether(key, {.start = start,
                             .end = now,
                             .own_end = start + times.estimate / 2,
                             .own = 1,
                             .pieces = 2,
                             .stalled = stalled});
  }
};

constexpr Jobs::Times kGood = {microseconds(60), microseconds(100), microseconds(100)};

TEST(PoolChoiceTest, StallsCostMoreThanTheCreditBeforeJobsRunAlone) {
  struct Case {
    const char* name;
    int jobs_before;  // each saves 40 us
    milliseconds stall;
    milliseconds pause;
  };
  const Case cases[] = {
      {"less than the first credit", 0, milliseconds(1), milliseconds(0)},
      {"more than the first credit", 0, milliseconds(3), milliseconds(40)},
      {"saved by 50 jobs", 50, milliseconds(3), milliseconds(0)},
      {"more than 50 jobs have saved", 50, milliseconds(4), milliseconds(20)},
      {"at most 5 ms are saved", 10000, milliseconds(5), milliseconds(0)},
      {"more than that", 10000, milliseconds(8), milliseconds(60)},
      {"the longest pause", 0, milliseconds(500), milliseconds(640)},
  };
  for (const Case& c : cases) {
    Jobs jobs;
    EXPECT_EQ(jobs.Run(c.jobs_before, kGood), std::string(static_cast<size_t>(c.jobs_before), 'T'));
    jobs.Stall(c.stall);
    EXPECT_EQ(jobs.Pause(), c.pause) << c.name;
  }
}

TEST(PoolChoiceTest, AfterAPauseEachStallPausesAgainAndWorkWithoutStallsEndsIt) {
  Jobs jobs;
  for (int i = 0; i < 3; ++i) {
    jobs.Stall(milliseconds(3));
    EXPECT_EQ(jobs.Pause(), milliseconds(40)) << i << ": pauses do not grow";
  }
  EXPECT_EQ(jobs.Run(100, kGood), std::string(100, 'T'));
  jobs.Stall(milliseconds(3));
  EXPECT_EQ(jobs.Pause(), milliseconds(0)) << "4 ms were saved meanwhile";
}

// Its own piece took 50 ms, so that the job seems to save 49 ms.
TEST(PoolChoiceTest, ACallerThatIsDelayedSavesNoMoreThanUsual) {
  Jobs jobs;
  EXPECT_EQ(jobs.Run({milliseconds(51), milliseconds(100), milliseconds(100)}), 'T');
  jobs.Stall(milliseconds(2));
  EXPECT_EQ(jobs.Pause(), milliseconds(20));
}

TEST(PoolChoiceTest, LongJobsSaveMuchIfTheyUsuallyDo) {
  constexpr Jobs::Times kLong = {microseconds(2000), microseconds(3900), microseconds(3900)};
  Jobs jobs;
  EXPECT_EQ(jobs.Run(60, kLong), std::string(60, 'T'));
  jobs.Stall(milliseconds(6));
  EXPECT_EQ(jobs.Pause(), milliseconds(20)) << "1 ms more than the greatest credit";
  EXPECT_EQ(jobs.Run(2, kLong), "TT");
  jobs.Stall(milliseconds(4));
  EXPECT_EQ(jobs.Pause(), milliseconds(0)) << "two jobs have saved 3.8 ms";
}

TEST(PoolChoiceTest, StallsOfOneOperatorPauseAll) {
  Jobs jobs;
  jobs.Stall(milliseconds(3));
  EXPECT_EQ(jobs.Run(kGood, kKey + 1), 'A');
}

TEST(PoolChoiceTest, KeepsTheFasterWayForEachOperator) {
  struct Case {
    const char* name;
    Jobs::Times times;
    const char* compared;  // behind the jobs that lead to a comparison
  };
  // Jobs together take longer than the estimate; a comparison shows what is faster.
  const Case cases[] = {
      {"alone", {microseconds(15), microseconds(10), microseconds(10)}, "MMMMTTTTAAAA"},
      {"together: the pieces are not alike",
       {microseconds(60), microseconds(100), microseconds(40)},
       "MMMMTTTTTTTT"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Jobs jobs;
    char way = 'T';
    int first = 0;
    for (; way == 'T' && first < 100; ++first) way = jobs.Run(c.times);
    ASSERT_LT(first, 100);
    EXPECT_GE(first, 5) << "a single slow job changes nothing";
    EXPECT_EQ(way + jobs.Run(11, c.times), c.compared);
    EXPECT_EQ(jobs.Run(8, kGood, kKey + 1), "TTTTTTTT") << "another operator";
  }
}

TEST(PoolChoiceTest, ComparesAgainOnceInAWhile) {
  constexpr Jobs::Times kSlow = {microseconds(15), microseconds(10), microseconds(10)};
  Jobs jobs;
  while (jobs.Run(kSlow) == 'T') {
  }
  EXPECT_EQ(jobs.Run(7, kSlow), "MMMTTTT");
  EXPECT_EQ(jobs.Run(PoolChoice::kFirstKept, kSlow), std::string(PoolChoice::kFirstKept, 'A'));
  for (const int kept : {16, 32, PoolChoice::kMostKept, PoolChoice::kMostKept}) {
    EXPECT_EQ(jobs.Run(8, kSlow), "MMMMTTTT");
    EXPECT_EQ(jobs.Run(kept, kSlow), std::string(static_cast<size_t>(kept), 'A'));
  }
  EXPECT_EQ(jobs.Run(8, kGood), "MMMMTTTT") << "it has become faster";
  EXPECT_EQ(jobs.Run(200, kGood), std::string(200, 'T'));
}

// However far the estimate is from the times of all pieces, one comparison in more than kMostKept jobs is
// made.
TEST(PoolChoiceTest, JobsTogetherAreKeptBeforeTheyAreComparedAgain) {
  constexpr Jobs::Times kUnlike = {microseconds(60), microseconds(100), microseconds(40)};
  const std::string kept(PoolChoice::kMostKept + 1, 'T');
  Jobs jobs;
  while (jobs.Run(kUnlike) == 'T') {
  }
  EXPECT_EQ(jobs.Run(7, kUnlike), "MMMTTTT");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs.Run(PoolChoice::kMostKept + 1, kUnlike), kept) << i;
    EXPECT_EQ(jobs.Run(8, kUnlike), "MMMMTTTT") << i;
  }
}

TEST(PoolChoiceTest, JobsAloneAreKeptBrieflyAfterTheyWereFasterTogether) {
  constexpr Jobs::Times kSlow = {microseconds(15), microseconds(10), microseconds(10)};
  Jobs jobs;
  while (jobs.Run(kSlow) == 'T') {
  }
  EXPECT_EQ(jobs.Run(7, kSlow), "MMMTTTT");
  for (const int kept : {8, 16, 32}) {
    EXPECT_EQ(jobs.Run(kept, kSlow), std::string(static_cast<size_t>(kept), 'A'));
    if (kept < 32) {
      EXPECT_EQ(jobs.Run(8, kSlow), "MMMMTTTT");
    }
  }
  EXPECT_EQ(jobs.Run(8, kGood), "MMMMTTTT");
  EXPECT_EQ(jobs.Run(PoolChoice::kMostKept + 1, kSlow),
            std::string(PoolChoice::kMostKept + 1, 'T'));
  EXPECT_EQ(jobs.Run(8, kSlow), "MMMMTTTT");
  EXPECT_EQ(jobs.Run(PoolChoice::kFirstKept + 1, kSlow), "AAAAAAAAM");
}

// There is room for 256 keys, of which some of 2000 meet in each place.
TEST(PoolChoiceTest, AKeyInThePlaceOfAnotherStartsFromTheBeginning) {
  constexpr Jobs::Times kSlow = {microseconds(15), microseconds(10), microseconds(10)};
  Jobs jobs;
  while (jobs.Run(kSlow) == 'T') {
  }
  EXPECT_EQ(jobs.Run(8, kSlow), "MMMTTTTA");
  for (uint64_t key = kKey + 1; key < kKey + 2001; ++key) {
    ASSERT_EQ(jobs.Run(kGood, key), 'T') << key;
  }
  EXPECT_EQ(jobs.Run(kSlow), 'T');
}

TEST(PoolChoiceTest, JobsThatGainAreNeverMeasuredAlone) {
  Jobs jobs;
  EXPECT_EQ(jobs.Run(10000, kGood), std::string(10000, 'T'));
}

TEST(PoolChoiceTest, NothingIsKnownOfJobsThatTheWorkersDid) {
  PoolChoice choice;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(choice.Next(kKey, {}), Way::kTogether);
    choice.RanTogether(
        kKey, {.start = {}, .end = PoolChoice::Time(milliseconds(1)), .own = 0, .pieces = 2});
  }
}

// However slow a single job is, it counts as four times as slow as alone: 0.5 + 3.5 / 8 is below 1.
TEST(PoolChoiceTest, ASingleJobLeadsToNoComparisonHoweverSlowItIs) {
  constexpr Jobs::Times kTerrible = {microseconds(5000), microseconds(10), microseconds(2)};
  Jobs jobs;
  EXPECT_EQ(jobs.Run(3, kTerrible), "TTM");
}

}  // namespace
}  // namespace caffe2rt::pool_choice_test
