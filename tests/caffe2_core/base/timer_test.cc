#include "caffe2_core/base/timer.h"

#include <gtest/gtest.h>

#include <thread>

namespace caffe2rt::timer_test {
namespace {

TEST(TimerTest, MeasuresFromItsStartInEveryUnit) {
  const Timer first;
  Timer timer;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_GE(timer.MilliSeconds(), 5);
  EXPECT_GE(timer.MicroSeconds(), 5000);
  EXPECT_GE(timer.Seconds(), 0.005f);
  EXPECT_GE(timer.NanoSeconds(), 5e6f);
  timer.Start();
  const float again = timer.MilliSeconds();
  EXPECT_LT(again + 4, first.MilliSeconds());  // however long this thread has just been delayed
}

}  // namespace
}  // namespace caffe2rt::timer_test
