#include "caffe2_core/runtime/stat_registry.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::stat_registry_update_test {
namespace {

constexpr char kExport[] =
    "type: 'StatRegistryExport' input: 'r' output: 'k' output: 'v' output: 't'";

void FeedStats(Workspace* ws) {
  RunOp(ws, "type: 'StatRegistryCreate' output: 'r'");
  Feed<std::string>(ws, "keys", {2}, {"y", "x"});
  Feed<int64_t>(ws, "values", {2}, {4, 3});
}

TEST(StatRegistryUpdateTest, AddsValuesToTheRegistryOfABlob) {
  Workspace ws;
  FeedStats(&ws);
  for (int i = 0; i < 2; ++i) {
    RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'");
  }
  RunOp(&ws, MakeString(kExport, " arg { name: 'reset' i: 0 }"));
  ExpectTensor<std::string>(ws, "k", {2}, {"x", "y"});
  ExpectTensor<int64_t>(ws, "v", {2}, {6, 8});
  // 2020 to 2100, in nanoseconds since 1970
  EXPECT_GT(Fetch<int64_t>(ws, "t")[0], 1577836800000000000);
  EXPECT_LT(Fetch<int64_t>(ws, "t")[0], 4102444800000000000);
}

// Also those that no key belongs to are not ignored.
TEST(StatRegistryUpdateTest, EachKeyHasOneValue) {
  Workspace ws;
  FeedStats(&ws);
  for (const int64_t values : {0, 1, 3}) {
    Feed<int64_t>(&ws, "values", {values}, std::vector<int64_t>(static_cast<size_t>(values), 5));
    ExpectThrows(
        [&] { RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'"); },
        "elements of input 1 (values)");
  }
  RunOp(&ws, kExport);
  EXPECT_TRUE(Fetch<int64_t>(ws, "v").empty());
}

TEST(StatRegistryUpdateTest, ResetsCountersUnlessToldNotTo) {
  Workspace ws;
  FeedStats(&ws);
  RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'");
  RunOp(&ws, kExport);
  ExpectTensor<int64_t>(ws, "v", {2}, {3, 4});
  RunOp(&ws, kExport);
  ExpectTensor<int64_t>(ws, "v", {2}, {0, 0});
}

TEST(StatRegistryUpdateTest, KeepsCountersThatAreNotReset) {
  Workspace ws;
  FeedStats(&ws);
  const char* const update = "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'";
  const std::string keep = MakeString(kExport, " arg { name: 'reset' i: 0 }");
  RunOp(&ws, update);
  for (int run = 0; run < 2; ++run) {
    RunOp(&ws, keep);
    ExpectTensor<std::string>(ws, "k", {2}, {"x", "y"});
    ExpectTensor<int64_t>(ws, "v", {2}, {3, 4});
  }
  // Values may be negative, and a key may come twice.
  Feed<std::string>(&ws, "keys", {4}, {"x", "z", "x", "y"});
  Feed<int64_t>(&ws, "values", {2, 2}, {-5, -7, 1, 0});
  RunOp(&ws, update);
  RunOp(&ws, keep);
  ExpectTensor<std::string>(ws, "k", {3}, {"x", "y", "z"});
  ExpectTensor<int64_t>(ws, "v", {3}, {-1, 4, -7});
  RunOp(&ws, MakeString(kExport, " arg { name: 'reset' i: 1 }"));
  ExpectTensor<int64_t>(ws, "v", {3}, {-1, 4, -7});
  Feed<std::string>(&ws, "keys", {1}, {"z"});
  Feed<int64_t>(&ws, "values", {1}, {2});
  RunOp(&ws, update);
  RunOp(&ws, keep);
  ExpectTensor<int64_t>(ws, "v", {3}, {0, 0, 2});
}

TEST(StatRegistryUpdateTest, KeepsRegistriesApart) {
  Workspace ws;
  FeedStats(&ws);
  Feed<std::string>(&ws, "keys", {1}, {"stat_registry_update_test/apart"});
  Feed<int64_t>(&ws, "values", {1}, {4});
  RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'");
  EXPECT_EQ(StatRegistry::get().add("stat_registry_update_test/apart")->get(), 0);
  RunOp(&ws, "type: 'StatRegistryCreate' output: 'other'");
  RunOp(&ws, "type: 'StatRegistryExport' input: 'other' output: 'k' output: 'v' output: 't'");
  ExpectTensor<std::string>(ws, "k", {0}, {});
  ExpectTensor<int64_t>(ws, "v", {0}, {});
  ExpectTensor<int64_t>(ws, "t", {0}, {});
  // A registry that is created again is empty.
  RunOp(&ws, "type: 'StatRegistryCreate' output: 'r'");
  RunOp(&ws, kExport);
  ExpectTensor<std::string>(ws, "k", {0}, {});
}

TEST(StatRegistryUpdateTest, UsesTheRegistryOfTheProcessWithoutHandle) {
  Workspace ws;
  FeedStats(&ws);
  Feed<std::string>(&ws, "keys", {2},
                    {"stat_registry_update_test/a", "stat_registry_update_test/b"});
  StatRegistry::get().add("stat_registry_update_test/a")->reset(0);
  RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values'");
  EXPECT_EQ(StatRegistry::get().add("stat_registry_update_test/a")->get(), 4);
  RunOp(&ws,
        "type: 'StatRegistryExport' output: 'k' output: 'v' output: 't' "
        "arg { name: 'reset' i: 0 }");
  const std::vector<std::string> keys = Fetch<std::string>(ws, "k");
  EXPECT_NE(std::find(keys.begin(), keys.end(), "stat_registry_update_test/b"), keys.end());
}

TEST(StatRegistryUpdateTest, RejectsValuesThatDoNotFit) {
  Workspace ws;
  FeedStats(&ws);
  Feed<int64_t>(&ws, "values", {1}, {4});
  ExpectThrows(
      [&] { RunOp(&ws, "type: 'StatRegistryUpdate' input: 'keys' input: 'values' input: 'r'"); },
      "elements of input 1 (values)");
}

int64_t CountOf(const std::string& name) { return StatRegistry::get().add(name)->get(); }

TEST(StatisticsTest, TimersCountTheirTimes) {
  Workspace ws;
  const std::string name = "stat_registry_update_test/timer";
  RunOp(&ws,
        MakeString("type: 'TimerBegin' output: 't' arg { name: 'counter_name' s: '", name, "' }"));
  EXPECT_EQ(CountOf(name + "/time_ns/count"), 0);
  RunOp(&ws, "type: 'TimerGet' input: 't' output: 'n'");
  EXPECT_EQ(CountOf(name + "/time_ns/count"), 0) << "the timer still runs";
  RunOp(&ws, "type: 'TimerEnd' input: 't'");
  EXPECT_EQ(CountOf(name + "/time_ns/count"), 1);
  EXPECT_GE(CountOf(name + "/time_ns/sum"), Fetch<int64_t>(ws, "n")[0]);
}

TEST(StatisticsTest, TimersHaveTheNameOfTheirOutput) {
  Workspace ws;
  RunOp(&ws, "type: 'TimerBegin' output: 'stat_registry_update_test/t'");
  RunOp(&ws, "type: 'TimerGetAndEnd' input: 'stat_registry_update_test/t' output: 'n'");
  EXPECT_EQ(CountOf("stat_registry_update_test/t/time_ns/count"), 1);
}

TEST(StatisticsTest, AtomicIterCountsItsRuns) {
  Workspace ws;
  RunOp(&ws, "type: 'CreateMutex' output: 'm'");
  Feed<int64_t>(&ws, "stat_registry_update_test_iter", {1}, {40});
  for (int i = 0; i < 2; ++i) {
    RunOp(&ws,
          "type: 'AtomicIter' input: 'm' input: 'stat_registry_update_test_iter' output: "
          "'stat_registry_update_test_iter'");
  }
  EXPECT_EQ(CountOf("atomic_iter/stats/stat_registry_update_test_iter/num_iter"), 2);
}

// The counts are those of Caffe2 for the same calls.
TEST(StatisticsTest, QueuesCountRecordsAndBytes) {
  Workspace ws;
  const std::string queue = "stat_registry_update_test_queue";
  RunOp(&ws, MakeString("type: 'CreateBlobsQueue' output: '", queue,
                        "' arg { name: 'capacity' i: 3 } arg { name: 'num_blobs' i: 2 } "
                        "arg { name: 'field_names' strings: 'f' strings: 'g' }"));
  const auto enqueue = [&] {
    Feed<float>(&ws, "a", {2, 3}, {1, 2, 3, 4, 5, 6});
    Feed<int64_t>(&ws, "b", {5}, {1, 2, 3, 4, 5});
    RunOp(&ws, MakeString("type: 'EnqueueBlobs' input: '", queue,
                          "' input: 'a' input: 'b' output: 'a' output: 'b'"));
  };
  const auto dequeue = [&](const char* argument) {
    RunOp(&ws, MakeString("type: 'DequeueBlobs' input: '", queue, "' output: 'c' output: 'd' ",
                          argument));
  };
  enqueue();
  EXPECT_EQ(CountOf(queue + "/queue_balance"), 1);
  EXPECT_EQ(CountOf(queue + "/queue_dequeued_records"), 0);
  dequeue("");
  EXPECT_EQ(CountOf(queue + "/queue_balance"), 0);
  EXPECT_EQ(CountOf(queue + "/queue_dequeued_records"), 1);
  EXPECT_EQ(CountOf(queue + "/queue_dequeued_bytes"), 64);
  EXPECT_EQ(CountOf(queue + "/queue_dequeued_bytes/f"), 24);
  EXPECT_EQ(CountOf(queue + "/queue_dequeued_bytes/g"), 40);
  EXPECT_EQ(CountOf(queue + "/read_time_ns/count"), 1);
  EXPECT_EQ(CountOf(queue + "/write_time_ns/count"), 1);
  EXPECT_GT(CountOf(queue + "/write_time_ns/sum"), 0);
  EXPECT_ANY_THROW(dequeue("arg { name: 'timeout_secs' f: 0.001 }"));
  EXPECT_EQ(CountOf(queue + "/queue_balance"), -1) << "a read that failed counts, too";
  EXPECT_EQ(CountOf(queue + "/read_time_ns/count"), 1);
}

}  // namespace
}  // namespace caffe2rt::test::stat_registry_update_test
