#pragma once
// Timer: a wall-clock stopwatch. It starts when it is constructed; Start restarts it.

#include <chrono>

#pragma GCC visibility push(default)
namespace caffe2rt {

class Timer {
 public:
  Timer() { Start(); }
  void Start() { start_ = std::chrono::steady_clock::now(); }
  float NanoSeconds() const {
    return static_cast<float>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                  std::chrono::steady_clock::now() - start_)
                                  .count());
  }
  float MicroSeconds() const { return NanoSeconds() / 1e3f; }
  float MilliSeconds() const { return NanoSeconds() / 1e6f; }
  float Seconds() const { return NanoSeconds() / 1e9f; }

 private:
  std::chrono::steady_clock::time_point start_;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
