#include "caffe2_core/base/timer.h"

#include <gtest/gtest.h>

#include <thread>

namespace caffe2rt::timer_test {
namespace {

TEST(TimerTest, MeasuresFromItsStartInEveryUnit) {
  Timer timer;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(timer.MilliSeconds(), 5);
  EXPECT_GE(timer.MicroSeconds(), 5000);
  EXPECT_GE(timer.Seconds(), 0.005f);
  EXPECT_GE(timer.NanoSeconds(), 5e6f);
  const float before = timer.MilliSeconds();
  timer.Start();
  EXPECT_LT(timer.MilliSeconds(), before + 5);
}

}  // namespace
}  // namespace caffe2rt::timer_test
