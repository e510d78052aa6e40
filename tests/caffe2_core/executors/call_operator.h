#pragma once
// An operator that calls a function of the test, and a fixture that sets the threads of the pool.
//
//   Calls()["a"] = [&](OperatorBase*) { ... };
//   net: op { type: "ExecutorTestCall" name: "a" input: "x" output: "y" }
//
// ExecutorTestWait is the same, but may wait for another operator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "caffe2_core/base/thread_pool.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::test {

// The functions by the name of the operator. Do not change it while nets run.
std::map<std::string, std::function<void(OperatorBase*)>>& Calls();

class ExecutorTest : public testing::Test {
 protected:
  ~ExecutorTest() override {
    SetThreadPool({});
    Calls().clear();
  }
  // Threads that work together even if another process delays them.
  static void SetThreads(int threads) {
    SetThreadPool({.num_threads = threads, .back_off = false});
  }
  std::unique_ptr<NetBase> Make(const std::string& text) {
    auto net = CreateNet(ParseNet(text), &ws_);
    CAFFE_ENFORCE(net != nullptr, "unknown type of the net ", text);
    return net;
  }

  Workspace ws_;
};

}  // namespace caffe2rt::test
