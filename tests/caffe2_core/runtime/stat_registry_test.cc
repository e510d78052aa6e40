#include "caffe2_core/runtime/stat_registry.h"

#include <gtest/gtest.h>

#include <thread>

namespace caffe2rt::stat_registry_test {
namespace {

TEST(StatRegistryTest, CreatesEachCounterOnce) {
  StatRegistry registry;
  StatValue* const value = registry.add("b");
  EXPECT_EQ(registry.add("b"), value);
  EXPECT_NE(registry.add("a"), value);
  EXPECT_EQ(value->increment(5), 5);
  EXPECT_EQ(value->increment(-7), -2);
  EXPECT_EQ(value->reset(9), -2);
  EXPECT_EQ(value->get(), 9);
}

TEST(StatRegistryTest, PublishesInTheOrderOfNames) {
  StatRegistry registry;
  registry.update({{"z", 3, {}}, {"a", 4, {}}, {"z", 10, {}}});
  const ExportedStatList stats = registry.publish(true);
  ASSERT_EQ(stats.size(), 2u);
  EXPECT_EQ(stats[0].key, "a");
  EXPECT_EQ(stats[0].value, 4);
  EXPECT_EQ(stats[1].key, "z");
  EXPECT_EQ(stats[1].value, 13);
  EXPECT_EQ(registry.publish()[1].value, 0) << "the counters were reset";
}

TEST(StatRegistryTest, AddsValuesOfOneKey) {
  const ExportedStatMap map = toMap({{"a", 1, {}}, {"b", 2, {}}, {"a", 3, {}}});
  EXPECT_EQ(map, (ExportedStatMap{{"a", 4}, {"b", 2}}));
}

TEST(StatRegistryTest, CountsFromSeveralThreads) {
  StatRegistry registry;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 1000; ++n) registry.add("n")->increment(1);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(registry.publish()[0].value, 4000);
}

TEST(AverageStatTest, CountsSumAndNumber) {
  StatRegistry registry;
  const AverageStat times("t", registry);
  times.Add(10);
  times.Add(32);
  EXPECT_EQ(toMap(registry.publish()), (ExportedStatMap{{"t/sum", 42}, {"t/count", 2}}));
}

TEST(StatRegistryTest, PublishingWithoutResetKeepsTheCountersAndReplacesTheList) {
  StatRegistry registry;
  registry.add("n")->increment(3);
  ExportedStatList stats = {{"old", 1, {}}, {"other", 2, {}}};
  registry.publish(stats);
  ASSERT_EQ(stats.size(), 1u);
  EXPECT_EQ(stats[0].key, "n");
  EXPECT_EQ(stats[0].value, 3);
  registry.publish(stats, true);
  EXPECT_EQ(stats[0].value, 3) << "the value before the reset";
  EXPECT_EQ(registry.publish()[0].value, 0);
  EXPECT_TRUE(StatRegistry().publish().empty());
  EXPECT_EQ(&StatRegistry::get(), &StatRegistry::get());
}

}  // namespace
}  // namespace caffe2rt::stat_registry_test
