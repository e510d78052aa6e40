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

TEST(SignalHandlerTest, IgnoresSignalsThatArrivedBeforeIt) {
  const SignalHandler earlier;
  std::raise(SIGINT);
  std::raise(SIGHUP);
  SignalHandler handler(Action::STOP, Action::STOP);
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
  EXPECT_FALSE(handler.GotSIGINT());
  EXPECT_FALSE(handler.GotSIGHUP());
}

TEST(SignalHandlerTest, StopsForSIGINTAloneByDefault) {
  SignalHandler handler;
  std::raise(SIGHUP);
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
  std::raise(SIGINT);
  std::raise(SIGINT);
  EXPECT_EQ(handler.CheckForSignals(), Action::STOP) << "several signals count as one";
  EXPECT_EQ(handler.CheckForSignals(), Action::NONE);
}

TEST(SignalHandlerTest, GivesTheActionOfSIGHUPFirst) {
  SignalHandler stop_on_int(Action::STOP, Action::NONE), stop_on_hup(Action::NONE, Action::STOP);
  std::raise(SIGINT);
  std::raise(SIGHUP);
  EXPECT_EQ(stop_on_int.CheckForSignals(), Action::NONE);
  EXPECT_EQ(stop_on_int.CheckForSignals(), Action::STOP);
  EXPECT_EQ(stop_on_hup.CheckForSignals(), Action::STOP);
  EXPECT_EQ(stop_on_hup.CheckForSignals(), Action::NONE);
  EXPECT_EQ(stop_on_hup.CheckForSignals(), Action::NONE);
}

TEST(SignalHandlerTest, TheLastHandlerPutsBothOldHandlersBack) {
  static int ints = 0, hups = 0;
  auto* const int_before = std::signal(SIGINT, [](int) { ++ints; });
  auto* const hup_before = std::signal(SIGHUP, [](int) { ++hups; });
  {
    const SignalHandler outer;
    { const SignalHandler inner; }
    std::raise(SIGINT);
    std::raise(SIGHUP);
    EXPECT_EQ(ints + hups, 0) << "the outer handler still counts them";
  }
  std::raise(SIGHUP);
  EXPECT_EQ(ints, 0);
  EXPECT_EQ(hups, 1);
  std::raise(SIGINT);
  EXPECT_EQ(ints, 1);
  EXPECT_EQ(hups, 1);
  std::signal(SIGINT, int_before);
  std::signal(SIGHUP, hup_before);
}

TEST(SignalHandlerTest, CopiesOfStopOnSignalReportASignalOnce) {
  const StopOnSignal go_on;
  const StopOnSignal copy = go_on;
  std::raise(SIGINT);
  EXPECT_FALSE(go_on(0));
  EXPECT_TRUE(copy(0));
}

// A read that a signal interrupts goes on.
TEST(SignalHandlerTest, CallsGoOnBehindASignal) {
  const SignalHandler handler;
  for (const int signal : {SIGINT, SIGHUP}) {
    struct sigaction now = {};
    ASSERT_EQ(sigaction(signal, nullptr, &now), 0);
    EXPECT_NE(now.sa_flags & SA_RESTART, 0);
    EXPECT_NE(now.sa_handler, SIG_DFL);
  }
}

}  // namespace
}  // namespace caffe2rt::signal_handler_test
