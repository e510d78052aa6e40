#include "caffe2_core/plan/plan_reporters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace caffe2rt::plan_reporters_test {
namespace {

TEST(PlanReportersTest, AReportRunsAloneAndNetsTogether) {
  Turns turns;
  std::atomic<bool> reported{false};
  turns.BeginNet();
  turns.BeginNet();  // does not wait
  std::thread report([&] {
    turns.BeginReport();
    reported = true;
    turns.EndReport();
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(reported);
  turns.EndNet();
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(reported);
  turns.EndNet();
  report.join();
  EXPECT_TRUE(reported);
}

// A report and the nets that it reports on never overlap, and there is no deadlock, even if steps
// with reporters are nested.
TEST(PlanReportersTest, NestedTurnsNeitherOverlapNorWaitInACircle) {
  Turns outer, inner;
  const TurnsAround net_of_outer = {.turns = &outer};
  const TurnsAround report_of_outer = {.turns = &outer, .reports = true};
  const TurnsAround net_of_inner = {.turns = &inner, .outer = &net_of_outer};
  const TurnsAround report_of_inner = {.turns = &inner, .reports = true, .outer = &net_of_outer};
  int by_inner = 0;  // counts nets and reporters of the inner step, and reports of the outer one
  std::atomic<int> in_outer{0};  // running nets of the outer step
  std::vector<std::thread> threads;
  const auto start = [&](const TurnsAround* around, auto work) {
    threads.emplace_back([around, work] {
      for (int i = 0; i < 300; ++i) {
        const TurnsTaken taken(around);
        work();
      }
    });
  };
  start(&net_of_inner, [&] { ++by_inner; });
  start(&report_of_inner, [&] { ++by_inner; });
  for (int i = 0; i < 2; ++i) {
    start(&net_of_outer, [&] {
      ++in_outer;
      std::this_thread::yield();
      --in_outer;
    });
  }
  start(&report_of_outer, [&] {
    EXPECT_EQ(in_outer, 0);
    ++by_inner;
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(by_inner, 900);
}

// A net of the inner step runs within the outer step, too.
TEST(PlanReportersTest, AReportOfTheOuterStepWaitsForNetsOfTheInnerOne) {
  Turns outer, inner;
  const TurnsAround net_of_outer = {.turns = &outer};
  const TurnsAround report_of_outer = {.turns = &outer, .reports = true};
  for (const bool reports : {false, true}) {
    const TurnsAround of_inner = {.turns = &inner, .reports = reports, .outer = &net_of_outer};
    std::atomic<bool> reported{false};
    std::thread report;
    {
      const TurnsTaken taken(&of_inner);
      report = std::thread([&] {
        const TurnsTaken of_report(&report_of_outer);
        reported = true;
      });
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_FALSE(reported);
    }
    report.join();
    EXPECT_TRUE(reported);
  }
}

TEST(PlanReportersTest, ReportsOnceMoreAtTheEndAndSurvivesFailures) {
  int reports = 0;
  {
    Reporter reporter(std::chrono::hours(1), [&] {
      ++reports;
      throw std::runtime_error("a report that fails");
    });
  }
  EXPECT_EQ(reports, 1);
}

}  // namespace
}  // namespace caffe2rt::plan_reporters_test
