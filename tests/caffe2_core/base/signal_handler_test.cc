#include "caffe2_core/base/signal_handler.h"

#include <gtest/gtest.h>

#include <csignal>

namespace caffe2rt::signal_handler_test {
namespace {

using Action = SignalHandler::Action;

TEST(SignalHandlerTest, GivesTheActionOfASignalOnce) {
  SignalHandler handler(Action::STOP, Action::NONE);
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
  std::raise(SIGINT);
  EXPECT_EQ(handler.CheckForSignals(), Action::STOP);
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
  std::raise(SIGHUP);
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
}

TEST(SignalHandlerTest, DistinguishesSignalsAndNotifiesEveryHandler) {
  SignalHandler first, second;
  std::raise(SIGHUP);
  EXPECT_TRUE(first.GotSIGHUP());
  EXPECT_FALSE(first.GotSIGHUP());
  EXPECT_FALSE(first.GotSIGINT());
  EXPECT_TRUE(second.GotSIGHUP());
}

TEST(SignalHandlerTest, CountsSignals) {
  const SignalHandler handler;
  const unsigned before = SignalsSeen();
  std::raise(SIGHUP);
  std::raise(SIGINT);
  EXPECT_EQ(SignalsSeen(), before + 2);
}

TEST(SignalHandlerTest, PutsTheOldHandlersBack) {
  static int seen = 0;
  auto* const before = std::signal(SIGINT, [](int) { ++seen; });
  {
    SignalHandler handler;
    std::raise(SIGINT);
    EXPECT_EQ(seen, 0);
  }
  std::raise(SIGINT);
  EXPECT_EQ(seen, 1);
  std::signal(SIGINT, before);
}

TEST(SignalHandlerTest, StopOnSignalStopsAfterEitherSignal) {
  StopOnSignal go_on;
  EXPECT_TRUE(go_on(0));
  std::raise(SIGHUP);
  EXPECT_FALSE(go_on(1));
  EXPECT_TRUE(go_on(2));
}

}  // namespace
}  // namespace caffe2rt::signal_handler_test
