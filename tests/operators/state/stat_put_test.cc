#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/runtime/net.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::stat_put_test {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

int64_t CountOf(const std::string& name) {
  return StatRegistry::get().add("stat_put_test/" + name)->get();
}

std::string Put(const std::string& type, const std::string& name, const std::string& rest = "") {
  return MakeString("type: '", type, "' input: 'X' arg { name: 'stat_name' s: 'stat_put_test/",
                    name, "' } ", rest);
}
std::string Factor(int64_t factor) {
  return MakeString("arg { name: 'magnitude_expand' i: ", factor, " } ");
}
const char* const kBound = "arg { name: 'bound' i: 1 } ";

// What IncrementPut adds for the value.
template <class T>
int64_t Added(T value, const std::string& arguments) {
  Workspace ws;
  Feed<T>(&ws, "X", {1}, {value});
  StatRegistry::get().add("stat_put_test/added/stat_value")->reset();
  RunOp(&ws, Put("IncrementPut", "added", arguments));
  return CountOf("added/stat_value");
}

TEST(StatPutTest, CountsSumsAndDeviations) {
  Workspace ws;
  Feed<float>(&ws, "X", {}, {0});
  for (const char* const type : {"IncrementPut", "AveragePut", "StdDevPut"}) {
    const std::string name = MakeString("sums_", type);
    NetBase* const net = ws.CreateNet(
        ParseNet(MakeString("name: '", type, "' op { ", Put(type, name, Factor(10)), "}")));
    // 30, 70 and -25, as 2.59 is cut off.
    for (const float value : {3.0f, 7.0f, -2.59f}) {
      Feed<float>(&ws, "X", {}, {value});
      ASSERT_TRUE(net->Run());
    }
  }
  EXPECT_EQ(CountOf("sums_IncrementPut/stat_value"), 75);
  EXPECT_EQ(CountOf("sums_AveragePut/stat_value/sum"), 75);
  EXPECT_EQ(CountOf("sums_AveragePut/stat_value/count"), 3);
  EXPECT_EQ(CountOf("sums_StdDevPut/stat_value/sum"), 75);
  EXPECT_EQ(CountOf("sums_StdDevPut/stat_value/count"), 3);
  // The differences from 30 are 0, 40 and -55.
  EXPECT_EQ(CountOf("sums_StdDevPut/stat_value/sumoffset"), -15);
  EXPECT_EQ(CountOf("sums_StdDevPut/stat_value/sumsqoffset"), 1600 + 3025);
}

TEST(StatPutTest, HasTheNameOfItsInputWithoutAName) {
  Workspace ws;
  Feed<int32_t>(&ws, "stat_put_test/x", {2}, {4, 5});
  RunOp(&ws, "type: 'IncrementPut' input: 'stat_put_test/x'");
  EXPECT_EQ(CountOf("x/stat_value"), 4);
}

TEST(StatPutTest, AcceptsNumbersOfEveryType) {
  EXPECT_EQ(Added<double>(0.1, Factor(1000000000000)), 100000000000);
  EXPECT_EQ(Added<int32_t>(-3, Factor(4)), -12);
  EXPECT_EQ(Added<int64_t>((int64_t{1} << 53) + 1, ""), (int64_t{1} << 53) + 1);
  EXPECT_EQ(Added<uint8_t>(200, Factor(1000)), 200000);
  EXPECT_EQ(Added<int8_t>(-100, Factor(1000)), -100000);
  EXPECT_EQ(Added<uint16_t>(65535, Factor(2)), 131070);
  EXPECT_EQ(Added<int16_t>(-7, ""), -7);
  // 0.1 is 0.0999755859375 as float16, and the product 99.98 becomes 100.
  EXPECT_EQ(Added<float16>(float16(0.1f), Factor(1000)), 100);
  // Neither the product nor the factor is a float16 number.
  EXPECT_EQ(Added<float16>(float16(1000.0f), Factor(1000)), 1000000);
  EXPECT_EQ(Added<float16>(float16(-2.0f), Factor(1000000)), -2000000);
  EXPECT_EQ(Added<float16>(float16(0.0f), Factor(1000000000000)), 0);
  Workspace ws;
  Feed<bool>(&ws, "X", {1}, {true});
  ExpectThrows([&] { RunOp(&ws, Put("IncrementPut", "bool")); },
               "input 0 (value) has elements of type bool");
}

TEST(StatPutTest, BoundsNumbersThatDoNotFit) {
  EXPECT_EQ(Added<float>(1e30f, kBound), kMost);
  EXPECT_EQ(Added<float>(-1e30f, kBound), kLeast);
  EXPECT_EQ(Added<float>(NAN, kBound), 0);
  EXPECT_EQ(Added<float>(INFINITY, kBound), kMost);
  EXPECT_EQ(Added<int64_t>(kMost / 4 + 1, kBound + Factor(4)), kMost);
  EXPECT_EQ(Added<int64_t>(-kMost / 4 - 1, kBound + Factor(4)), kLeast);
  EXPECT_EQ(Added<int64_t>(kMost / 4, kBound + Factor(4)), kMost);
  EXPECT_EQ(Added<int64_t>(-kMost / 4, kBound + Factor(4)), kLeast);
  EXPECT_EQ(Added<int64_t>(kMost / 4 - 1, kBound + Factor(4)), kMost - 7);
  EXPECT_EQ(Added<int64_t>(1 - kMost / 4, kBound + Factor(4)), 7 - kMost);
  EXPECT_EQ(Added<int64_t>(5, kBound + Factor(4)), 20);
}

TEST(StatPutTest, RejectsNumbersThatDoNotFit) {
  const std::string large = ", which is too large for magnitude_expand ";
  ExpectThrows([] { Added<float>(1e30f, ""); }, "input 0 (value) is 1e+30" + large + "1");
  ExpectThrows([] { Added<float>(NAN, ""); }, "input 0 (value) is NaN");
  ExpectThrows([] { Added<int64_t>(-kMost / 4 - 1, Factor(4)); }, large + "4");
  ExpectThrows([] { Added<double>(3074457345618258602.0, Factor(3)); }, large + "3");
  ExpectThrows([] { Added<float16>(float16(-1000.0f), Factor(kMost / 1000)); },
               "input 0 (value) is -1000" + large);
  for (const int64_t factor : {0, -2}) {
    ExpectThrows([&] { Added<int32_t>(1, Factor(factor)); },
                 MakeString("argument \"magnitude_expand\" is ", factor, ", want above 0"));
  }
}

TEST(StatPutTest, CountsTheDefaultOfEmptyInputs) {
  Workspace ws;
  const auto number = [](const std::string& f) {
    return "arg { name: 'default_value' f: " + f + " } ";
  };
  Feed<float>(&ws, "X", {0}, {});
  RunOp(&ws, Put("AveragePut", "default", number("2.5") + Factor(10)));
  EXPECT_EQ(CountOf("default/stat_value/sum"), 25);
  EXPECT_EQ(CountOf("default/stat_value/count"), 1);
  ExpectThrows(
      [&] { RunOp(&ws, Put("AveragePut", "default")); },
      "input 0 (value) is empty, and there is no default_value for \"stat_put_test/default\"");
  Feed<uint8_t>(&ws, "X", {0}, {});
  RunOp(&ws, Put("AveragePut", "default", number("3.9")));
  EXPECT_EQ(CountOf("default/stat_value/sum"), 28);
  for (const char* const outside : {"300", "-3", "nan"}) {
    ExpectThrows([&] { RunOp(&ws, Put("AveragePut", "default", number(outside))); },
                 "which an element of type uint8 cannot hold");
  }
  EXPECT_EQ(CountOf("default/stat_value/count"), 2);
}

TEST(StatPutTest, AllocatesNothingOnceWarm) {
  if (!AllocationCounter::kCounts) GTEST_SKIP() << "a sanitizer replaces malloc";
  Workspace ws;
  Feed<float>(&ws, "X", {1}, {2});
  NetBase* const net = ws.CreateNet(ParseNet("name: 'n' op { " + Put("IncrementPut", "steady") +
                                             "} op { " + Put("AveragePut", "steady") + "} op { " +
                                             Put("StdDevPut", "steady") + "}"));
  ASSERT_TRUE(net->Run());
  AllocationCounter counter;
  ASSERT_TRUE(net->Run());
  EXPECT_EQ(counter.Counts().allocations, 0);
}

}  // namespace
}  // namespace caffe2rt::test::stat_put_test
