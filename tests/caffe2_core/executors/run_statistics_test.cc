#include "caffe2_core/executors/run_statistics.h"

#include <gmock/gmock.h>

#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/timer.h"
#include "caffe2_core/runtime/debug_options.h"
#include "tests/caffe2_core/executors/call_operator.h"

namespace caffe2rt::test::run_statistics_test {
namespace {

TEST(MeanAndDeviationTest, ReturnsThoseOfTheValues) {
  MeanAndDeviation values;
  EXPECT_EQ(values.deviation(), 0);
  for (const double value : {2, 4, 4, 4, 5, 5, 7, 9}) values.Add(value);
  EXPECT_DOUBLE_EQ(values.mean(), 5);
  EXPECT_DOUBLE_EQ(values.deviation(), 2);
  EXPECT_EQ(values.count(), 8);
}

// Collects what is logged while it exists.
class Log {
 public:
  Log() : threshold_before_(LogThreshold()) {
    SetLogThreshold(0);
    SetLogSink([this](const LogEntry& entry) { text_ += entry.text; });
  }
  ~Log() {
    SetLogSink(nullptr);
    SetLogThreshold(threshold_before_);
  }
  const std::string& text() const { return text_; }

 private:
  const int threshold_before_;
  std::string text_;
};

class RunStatisticsTest : public ExecutorTest {
 protected:
  std::string LogOfRuns(const std::string& type, int runs) {
    Calls() = {{"a", [](OperatorBase*) {}}};
    const Log log;
    {
      const auto net = Make(MakeString(R"(name: "n" type: ")", type, R"("
          op { type: "ExecutorTestCall" name: "a" output: "x" }
          op { type: "ExecutorTestCall" name: "a" output: "y" }
          op { type: "ConstantFill" output: "z" })"));
      for (int run = 0; run < runs; ++run) EXPECT_TRUE(net->Run());
    }
    return log.text();
  }
};

TEST_F(RunStatisticsTest, AreLoggedWhenAProfDagIsDestroyed) {
  const std::string number = "[0-9]+\\.[0-9]+";
  const std::string text = LogOfRuns("prof_dag", 5);
  EXPECT_THAT(text, testing::ContainsRegex("net \"n\", 4 runs after the first one: " + number +
                                           " ms per run, standard deviation " + number));
  EXPECT_THAT(text, testing::ContainsRegex("\n  " + number + " " + number + " 2 ExecutorTestCall"));
  EXPECT_THAT(text, testing::ContainsRegex("\n  " + number + " " + number + " 1 ConstantFill"));
}

TEST_F(RunStatisticsTest, AreNotLoggedWithoutRunsOrByOtherTypes) {
  EXPECT_THAT(LogOfRuns("prof_dag", 1), testing::Not(testing::HasSubstr("runs after")));
  EXPECT_THAT(LogOfRuns("dag", 5), testing::Not(testing::HasSubstr("runs after")));
}

// The first run is left out; types with equal times are in the order of their names.
TEST_F(RunStatisticsTest, StateTheMeanAndTheDeviationOfTheRuns) {
  Calls() = {{"a", [](OperatorBase*) {}}};
  const auto net = Make(R"(name: "n" type: "simple"
      op { type: "ExecutorTestCall" name: "a" output: "x" }
      op { type: "ConstantFill" output: "z" }
      op { type: "ExecutorTestCall" name: "a" output: "y" })");
  RunStatistics statistics(net->GetOperators());
  EXPECT_EQ(statistics.runs(), 0);
  for (const double ms : {100., 2., 4.}) statistics.EndRun(ms);  // the operators do not run
  EXPECT_EQ(statistics.runs(), 2);
  EXPECT_EQ(statistics.Text("n"),
            "net \"n\", 2 runs after the first one: 3.0000 ms per run, standard deviation 1.0000\n"
            "  ms per run, standard deviation, operators per run, type\n"
            "  0.0000 0.0000 1 ConstantFill\n"
            "  0.0000 0.0000 2 ExecutorTestCall");
}

TEST_F(RunStatisticsTest, CountARunOfRunAsyncWithoutWait) {
  Calls() = {
      {"a", [](OperatorBase*) { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }},
      {"fail", [](OperatorBase*) { CAFFE_THROW("no luck"); }}};
  const Log log;
  {
    const auto net = Make(R"(name: "n" type: "prof_dag"
        op { type: "ExecutorTestCall" name: "a" output: "x" })");
    EXPECT_TRUE(net->Run());
    EXPECT_TRUE(net->RunAsync());
    const auto failing = Make(R"(name: "m" type: "async_scheduling"
        op { type: "ExecutorTestCall" name: "fail" output: "x" })");
    EXPECT_TRUE(failing->RunAsync());
  }
  EXPECT_THAT(log.text(), testing::HasSubstr("net \"n\", 1 run"));
  EXPECT_THAT(log.text(), testing::HasSubstr("net \"m\" was destroyed before Wait: "));
}

TEST_F(RunStatisticsTest, OfDagAreLoggedOnRequest) {
  GlobalDebugOptions().collect_dag_statistics = true;
  EXPECT_THAT(LogOfRuns("dag", 5), testing::HasSubstr("4 runs after the first one"));
  EXPECT_THAT(LogOfRuns("async_dag", 5), testing::Not(testing::HasSubstr("runs after")));
  GlobalDebugOptions().collect_dag_statistics = false;
}

// The times of a type are sums over its operators.
TEST_F(RunStatisticsTest, SumTheOperatorsOfAType) {
  Calls() = {
      {"a", [](OperatorBase*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }}};
  const auto net = Make(R"(name: "n" op { type: "ExecutorTestCall" name: "a" output: "x" }
                                     op { type: "ExecutorTestCall" name: "a" output: "y" })");
  RunStatistics statistics(net->GetOperators());
  for (const double ms : {100, 5, 7}) {
    net->Run();
    statistics.EndRun(ms);
  }
  EXPECT_EQ(statistics.runs(), 2);
  const std::string text = statistics.Text("n");
  EXPECT_THAT(text, testing::HasSubstr("6.0000 ms per run, standard deviation 1.0000"));
  double ms = 0;
  ASSERT_EQ(std::sscanf(text.c_str() + text.find("type\n") + 5, "%lf", &ms), 1);
  EXPECT_GE(ms, 4);
}

// Each run has its own times: the long first one, which does not count, is not part of the others.
TEST_F(RunStatisticsTest, TimesOfEarlierRunsAreNotAddedToLaterOnes) {
  int runs = 0;
  Calls() = {{"a", [&](OperatorBase*) {
                if (runs++ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(40));
              }}};
  const auto net = Make(R"(name: "n" op { type: "ExecutorTestCall" name: "a" output: "x" })");
  RunStatistics statistics(net->GetOperators());
  double passed = 0;  // in the later runs, which another process may delay
  for (int run = 0; run < 6; ++run) {
    const Timer timer;
    net->Run();
    if (run > 0) passed += timer.MilliSeconds();
    statistics.EndRun(1);
  }
  const std::string text = statistics.Text("n");
  double ms = -1;
  ASSERT_EQ(std::sscanf(text.c_str() + text.find("type\n") + 5, "%lf", &ms), 1);
  EXPECT_LT(ms, passed / 5 + 20);
}

// The type that takes most comes first.
TEST_F(RunStatisticsTest, ListTypesByTheirTime) {
  Calls() = {
      {"a", [](OperatorBase*) { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }}};
  const auto net = Make(R"(name: "n" op { type: "ConstantFill" output: "w" }
                                     op { type: "ExecutorTestCall" name: "a" output: "x" }
                                     op { type: "Relu" input: "w" output: "z" })");
  std::string text;
  const auto lists_slow_first = [&] {
    RunStatistics statistics(net->GetOperators());
    for (int run = 0; run < 3; ++run) {
      net->Run();
      statistics.EndRun(1);
    }
    text = statistics.Text("n");
    const size_t slow = text.find(" ExecutorTestCall");
    return slow < text.find(" ConstantFill") && slow < text.find(" Relu");
  };
  // Another process may delay one of the others for longer.
  EXPECT_TRUE(WaitFor(lists_slow_first)) << text;
  EXPECT_NE(text.find(" Relu"), std::string::npos);
}

TEST(MeanAndDeviationTest, AreThoseOfTheValuesThemselves) {
  MeanAndDeviation none, one, values;
  EXPECT_EQ(none.count(), 0);
  EXPECT_EQ(none.mean(), 0);
  EXPECT_EQ(none.deviation(), 0);
  one.Add(3);
  EXPECT_EQ(one.mean(), 3);
  EXPECT_EQ(one.deviation(), 0);
  // The squares of the distances from the mean have the sum 32.
  for (const double value : {2, 4, 4, 4, 5, 5, 7, 9}) values.Add(value);
  EXPECT_EQ(values.count(), 8);
  EXPECT_DOUBLE_EQ(values.mean(), 5);
  EXPECT_DOUBLE_EQ(values.deviation(), 2);
}

}  // namespace
}  // namespace caffe2rt::test::run_statistics_test
