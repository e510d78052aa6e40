#include "caffe2_core/plan/plan_reporters.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace caffe2rt::plan_reporters_test {
namespace {

TEST(PlanReportersTest, AReportRunsAloneAndNetsTogether) {
  ReportLock lock;
  std::atomic<bool> reported{false};
  lock.BeginNet();
  lock.BeginNet();  // does not wait
  std::thread report([&] {
    lock.BeginReport();
    reported = true;
    lock.EndReport();
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(reported);
  lock.EndNet();
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(reported);
  lock.EndNet();
  report.join();
  EXPECT_TRUE(reported);
}

// A report and the nets that it reports on never overlap, and there is no deadlock, even if steps
// with reporters are nested.
TEST(PlanReportersTest, NestedLocksNeitherOverlapNorWaitInACircle) {
  ReportLock outer, inner;
  const ReportLocks net_of_outer = {.lock = &outer};
  const ReportLocks report_of_outer = {.lock = &outer, .reports = true};
  const ReportLocks net_of_inner = {.lock = &inner, .outer = &net_of_outer};
  const ReportLocks report_of_inner = {.lock = &inner, .reports = true, .outer = &net_of_outer};
  int by_inner = 0;  // counts nets and reporters of the inner step, and reports of the outer one
  std::atomic<int> in_outer{0};  // running nets of the outer step
  std::vector<std::thread> threads;
  const auto start = [&](const ReportLocks* around, auto work) {
    threads.emplace_back([around, work] {
      for (int i = 0; i < 300; ++i) {
        const ReportLocksHeld held(around);
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
  ReportLock outer, inner;
  const ReportLocks net_of_outer = {.lock = &outer};
  const ReportLocks report_of_outer = {.lock = &outer, .reports = true};
  for (const bool reports : {false, true}) {
    const ReportLocks of_inner = {.lock = &inner, .reports = reports, .outer = &net_of_outer};
    std::atomic<bool> reported{false};
    std::thread report;
    {
      const ReportLocksHeld held(&of_inner);
      report = std::thread([&] {
        const ReportLocksHeld of_report(&report_of_outer);
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
