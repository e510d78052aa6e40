#include "caffe2_core/runtime/deadline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "caffe2_core/model/predictor.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::deadline_test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using test::ExpectThrows;
using test::ParseNet;

// Waits for ever.
constexpr char kWait[] = R"(name: "n" op { type: "CreateBlobsQueue" output: "q" }
                            op { type: "DequeueBlobs" input: "q" output: "y" } external_output: "y")";

TEST(DeadlineTest, ReturnsTheResultOfARunThatEndsInTime) {
  EXPECT_EQ(RunWithin(hours(1), [] { return 3; }), 3);
  EXPECT_EQ(RunWithin(std::chrono::nanoseconds::max(), [] { return 3; }), 3);
  RunWithin(hours(1), [] { ThrowIfStopped(); });
}

TEST(DeadlineTest, StopsARunAndNamesTheLimitAndTheOperator) {
  for (const char* type : {"simple", "dag", "async_scheduling"}) {
    SCOPED_TRACE(type);
    std::string message;
    // Under load, the time may be over before operator 1 starts: then the run gets more.
    for (int ms = 5; ms < 10000 && message.find("operator 1") == std::string::npos; ms *= 4) {
      Workspace ws;
      NetDef def = ParseNet(kWait);
      def.set_type(type);
      const auto net = CreateNet(def, &ws);
      try {
        RunWithin(milliseconds(ms), [&] { return net->Run(); });
        FAIL() << "has not thrown";
      } catch (const DeadlineExceeded& error) {
        message = error.message();
        ASSERT_THAT(message,
                    testing::HasSubstr(MakeString("the time of the run, ", ms, " ms, was over")));
      }
    }
    EXPECT_THAT(message, testing::HasSubstr("operator 1 (DequeueBlobs"));
  }
}

TEST(DeadlineTest, StartsNothingIfTheTimeIsOver) {
  Workspace ws;
  const auto net = CreateNet(ParseNet(R"(name: "n" op { type: "ConstantFill" output: "x" })"), &ws);
  EXPECT_THROW(RunWithin(milliseconds(0), [&] { net->Run(); }), DeadlineExceeded);
  EXPECT_THROW(RunWithin(milliseconds(-1), [&] { net->Run(); }), DeadlineExceeded);
  EXPECT_TRUE(ws.GetBlob("x")->IsEmpty());
}

TEST(DeadlineTest, TheEarliestOfNestedLimitsCounts) {
  Workspace ws;
  const auto net = CreateNet(ParseNet(kWait), &ws);
  ExpectThrows(
      [&] { RunWithin(milliseconds(3), [&] { RunWithin(hours(1), [&] { net->Run(); }); }); },
      "3 ms, was over");
  ExpectThrows(
      [&] { RunWithin(hours(1), [&] { RunWithin(milliseconds(4), [&] { net->Run(); }); }); },
      "4 ms, was over");
}

TEST(DeadlineTest, LeavesOtherStopsAndErrorsAsTheyAre) {
  std::atomic<bool> stopped{true};
  const StopScope scope(stopped);
  try {
    RunWithin(hours(1), [] { ThrowIfStopped(); });
    ADD_FAILURE() << "has not thrown";
  } catch (const DeadlineExceeded&) {
    ADD_FAILURE() << "the time was not over";
  } catch (const RunStopped&) {
  }
  ExpectThrows([&] { RunWithin(hours(1), [] { CAFFE_THROW("no luck"); }); }, "no luck");
}

TEST(DeadlineTest, HoldsForRunsOfRunAsync) {
  Workspace ws;
  NetDef def = ParseNet(kWait);
  def.set_type("async_scheduling");
  const auto net = CreateNet(def, &ws);
  EXPECT_THROW(RunWithin(milliseconds(5),
                         [&] {
                           net->RunAsync();
                           net->Wait();
                         }),
               DeadlineExceeded);
}

// One call has the only instance, the other waits for it.
TEST(DeadlineTest, StopsCallsOfAPredictorAlsoWhileTheyWaitForAnInstance) {
  Predictor predictor(ParseNet(R"(op { type: "ConstantFill" output: "w" })"), ParseNet(kWait),
                      nullptr, {.max_instances = 1});
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i) {
    callers.emplace_back([&] {
      std::vector<Tensor> out;
      EXPECT_THROW(RunWithin(milliseconds(50), [&] { predictor(Predictor::TensorList(), &out); }),
                   DeadlineExceeded);
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(predictor.num_instances(), 1);
}

TEST(DeadlineTest, NamesALimitInMilliseconds) {
  const std::pair<std::chrono::nanoseconds, const char*> rows[] = {
      {std::chrono::nanoseconds(0), "the time of the run, 0 ms, was over"},
      {std::chrono::microseconds(-1500), "the time of the run, -1.5 ms, was over"},
      {std::chrono::nanoseconds(-1), "the time of the run, -1e-06 ms, was over"}};
  for (const auto& [limit, text] : rows) {
    ExpectThrows([&, nanoseconds = limit] { RunWithin(nanoseconds, [] { ThrowIfStopped(); }); },
                 text);
  }
}

// A limit is shortened to years, not to less than a run takes.
TEST(DeadlineTest, LongLimitsDoNotEndSoon) {
  const DeadlineScope day(hours(24)), longest(std::chrono::nanoseconds::max());
  // Ten years, taken for as many hours in microseconds, would be 88 ms.
  std::this_thread::sleep_for(milliseconds(90));
  EXPECT_FALSE(day.IsOver());
  EXPECT_FALSE(longest.IsOver());
}

TEST(DeadlineTest, AScopeEndsWithItsBlock) {
  {
    const DeadlineScope over(milliseconds(0));
    EXPECT_TRUE(over.IsOver());
    EXPECT_THROW(ThrowIfStopped(), RunStopped);
    EXPECT_THROW(ThrowIfStoppedBetweenOperators(), RunStopped);
    const DeadlineScope inner(hours(1));
    EXPECT_FALSE(inner.IsOver());
    EXPECT_THROW(ThrowIfStopped(), RunStopped) << "the outer one still counts";
  }
  EXPECT_NO_THROW(ThrowIfStopped());
  const DeadlineScope longest(std::chrono::nanoseconds::max());
  EXPECT_FALSE(longest.IsOver());
}

}  // namespace
}  // namespace caffe2rt::deadline_test
