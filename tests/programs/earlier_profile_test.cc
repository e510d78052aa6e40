// Earlier results that `caffe2 bench --against` reads: which files are results, what is read of them, and which
// operators are compared.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "binaries/commands/bench_report.h"
#include "binaries/json_output.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/thread_pool.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::earlier_profile_test {
namespace {

class EarlierProfileTest : public ::testing::Test {
 protected:
  EarlierProfile Read(const std::string& text) const {
    return ReadEarlierProfile(dir_.Write("before.json", text));
  }
  // A result with further members, each with a comma before it.
  static std::string Result(const std::string& more) {
    return R"({"net": "n", "median_ms": 2.5, "threads": 3)" + more + "}";
  }
  static std::string ResultOf(const std::string& operators) {
    return Result(", \"operators\": [" + operators + "]");
  }
  const TempDir dir_;
};

TEST_F(EarlierProfileTest, HasWhatIsKnownOfTheNetAndItsOperators) {
  const EarlierProfile profile = Read(ResultOf(
      R"({"type": "Conv", "output": "y", "median_ms": 1.5, "multiply_adds": 1000},
         {"type": "Relu", "output": "", "median_ms": 0},
         {"type": "FC", "output": "z", "median_ms": 7, "multiply_adds": 250, "flops": 500})"));
  EXPECT_EQ(profile.file, dir_.path("before.json"));
  EXPECT_EQ(profile.net, "n");
  EXPECT_EQ(profile.median_ms, 2.5);
  EXPECT_EQ(profile.threads, 3);
  EXPECT_EQ(profile.multiply_adds, 1250);
  ASSERT_EQ(profile.operators.size(), 3u);
  EXPECT_EQ(profile.operators[0].type, "Conv");
  EXPECT_EQ(profile.operators[0].output, "y");
  EXPECT_EQ(profile.operators[0].ms, 1.5);
  EXPECT_EQ(profile.operators[1].output, "");
  EXPECT_EQ(profile.operators[1].ms, 0);
  EXPECT_EQ(profile.operators[2].type, "FC");
  EXPECT_EQ(profile.operators[2].ms, 7);
  const EarlierProfile empty = Read(ResultOf(""));
  EXPECT_EQ(empty.multiply_adds, 0);
  EXPECT_TRUE(empty.operators.empty());
}

TEST_F(EarlierProfileTest, ThreadsAreAWholeNumberUpToAMillion) {
  const auto threads = [&](const std::string& number) {
    return Read(R"({"net": "n", "median_ms": 0, "operators": [], "threads": )" + number + "}")
        .threads;
  };
  EXPECT_EQ(threads("0"), 0);
  EXPECT_EQ(threads("1024"), 1024);
  EXPECT_EQ(threads("999999"), 999999);
  EXPECT_EQ(threads("1e300"), 1000000);
  EXPECT_EQ(threads("2.75"), 2);
}

TEST_F(EarlierProfileTest, EveryOtherFileIsNoResult) {
  const std::string conv = R"({"type": "Conv", "output": "y", "median_ms": 1)";
  const std::pair<std::string, const char*> rows[] = {
      {"", "it is not JSON"},
      {ResultOf("") + "}", "it is not JSON"},
      {"[]", "it is not a JSON object"},
      {"1", "it is not a JSON object"},
      {"null", "it is not a JSON object"},
      {R"({"median_ms": 1, "threads": 1, "operators": []})", "key \"net\" is not a string"},
      {R"({"net": 1, "median_ms": 1, "threads": 1, "operators": []})",
       "key \"net\" is not a string"},
      {R"({"net": "n", "threads": 1, "operators": []})",
       "key \"median_ms\" is not a number of at least 0"},
      {R"({"net": "n", "median_ms": "1", "threads": 1, "operators": []})",
       "key \"median_ms\" is not a number of at least 0"},
      {R"({"net": "n", "median_ms": -0.5, "threads": 1, "operators": []})",
       "key \"median_ms\" is not a number of at least 0"},
      {R"({"net": "n", "median_ms": 1, "operators": []})",
       "key \"threads\" is not a number of at least 0"},
      {R"({"net": "n", "median_ms": 1, "threads": -1, "operators": []})",
       "key \"threads\" is not a number of at least 0"},
      {Result(""), "key \"operators\" is not an array"},
      {Result(", \"operators\": {}"), "key \"operators\" is not an array"},
      {ResultOf("[]"), "an operator is not a JSON object"},
      {ResultOf(conv + "}, 1"), "an operator is not a JSON object"},
      {ResultOf(R"({"output": "y", "median_ms": 1})"), "key \"type\" is not a string"},
      {ResultOf(R"({"type": "Conv", "median_ms": 1})"), "key \"output\" is not a string"},
      {ResultOf(R"({"type": "Conv", "output": "y"})"),
       "key \"median_ms\" is not a number of at least 0"},
      {ResultOf(conv + "}, " + R"({"type": "Conv", "output": "y", "median_ms": -1})"),
       "key \"median_ms\" is not a number of at least 0"},
      {ResultOf(conv + R"(, "multiply_adds": -1})"),
       "key \"multiply_adds\" is not a number of at least 0"},
      {ResultOf(conv + R"(, "multiply_adds": "1"})"),
       "key \"multiply_adds\" is not a number of at least 0"}};
  for (const auto& [text, reason] : rows) {
    try {
      Read(text);
      ADD_FAILURE() << text << " is accepted";
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message(), "file \"" + dir_.path("before.json") +
                                     "\" is not a result of `caffe2 bench --json`: " + reason)
          << text;
    }
  }
  EXPECT_NO_THROW(Read(ResultOf(conv + R"(, "multiply_adds": 0})")));
}

// --- operators that occur several times ---

OperatorProfile Operator(const std::string& type, const std::string& output, double ms) {
  OperatorProfile op;
  op.type = type;
  op.output = output;
  op.warm_ms = ms;
  return op;
}

NetProfile ProfileWith(std::vector<OperatorProfile> operators) {
  NetProfile profile = {.net = "n"};
  profile.warm.median_ms = 5;
  profile.operators = std::move(operators);
  return profile;
}

std::string Changes(const NetProfile& profile, const EarlierProfile& earlier) {
  Json json;
  WriteComparison(profile, earlier, &json);
  std::string text;
  for (const Json& op : json["operators"]) {
    text += op["type"].get<std::string>() + ":" + op["output"].get<std::string>();
    for (const char* key : {"before_ms", "now_ms", "change_ms", "ratio"})
      text += op.contains(key) ? " " + op[key].dump() : " -";
    text += "\n";
  }
  return text;
}

TEST_F(EarlierProfileTest, OperatorsOfOneNameAreComparedInTheirOrder) {
  const EarlierProfile earlier = {
      .net = "n",
      .median_ms = 5,
      .threads = GetNumThreads(),
      .operators = {{"Relu", "y", 1}, {"Relu", "y", 2}, {"Relu", "z", 64}, {"Sqr", "y", 128}}};
  // The largest change first; of equal ones those of this net, in its order.
  EXPECT_EQ(Changes(ProfileWith({Operator("Relu", "y", 5), Operator("Relu", "y", 34),
                                 Operator("Relu", "y", 16)}),
                    earlier),
            "Sqr:y 128.0 - -128.0 -\n"
            "Relu:z 64.0 - -64.0 -\n"
            "Relu:y 2.0 34.0 32.0 17.0\n"
            "Relu:y - 16.0 16.0 -\n"
            "Relu:y 1.0 5.0 4.0 5.0\n");
  EXPECT_EQ(Changes(ProfileWith({Operator("Relu", "y", 2)}), earlier),
            "Sqr:y 128.0 - -128.0 -\n"
            "Relu:z 64.0 - -64.0 -\n"
            "Relu:y 2.0 - -2.0 -\n"
            "Relu:y 1.0 2.0 1.0 2.0\n");
}

}  // namespace
}  // namespace caffe2rt::test::earlier_profile_test
