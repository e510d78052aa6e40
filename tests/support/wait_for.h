#pragma once
// Waiting for another thread in tests.

#include <chrono>
#include <thread>

namespace caffe2rt::test {

// Waits until the condition is true, for a time that is long enough for any machine. Returns whether it
// became true.
template <class Condition>
bool WaitFor(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace caffe2rt::test
