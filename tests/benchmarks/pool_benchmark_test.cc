// Runs pool_benchmark and checks its output and exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::pool_benchmark_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Output {
  int code = -1;
  std::string text;  // of stdout and stderr
};

Output RunBenchmark(const std::string& arguments) {
  Output output;
  FILE* const pipe = popen((BuildPath(POOL_BENCHMARK) + " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) output.code = WEXITSTATUS(status);
  return output;
}

TEST(PoolBenchmarkTest, PrintsAnObjectForEveryTraceAndPool) {
  TempDir dir;
  const std::string file = dir.path() + "/trace.txt";
  std::ofstream(file) << "caffe2rt-trace 1\nname two\na 0 1000000 0\nf 0 0\na 0 1000000 0\nf 0 0\n";
  const Output output = RunBenchmark("--json --rounds 1 --trace " + file);
  EXPECT_EQ(output.code, 0);
  // 1,000,000 bytes are rounded to 1,000,448 in blocks of 512, to 2 MiB in the bins of CUB, and to
  // 1 MiB in granules of 512 KiB. Without a cache, two pairs are 4 calls. CUB creates an event.
  const struct {
    const char *pool, *reserved_bytes, *calls, *calls_second_half;
  } pools[] = {{R"("none")", "1000448", "4", "2"},
               {R"("cub")", "2097152", "2", "0"},
               {R"("thc")", "1048576", "1", "0"}};
  // The pools on one device, then the same on four.
  ASSERT_EQ(JsonSize(output.text, ""), 6u);
  for (size_t i = 0; i < 6; ++i) {
    const auto value = [&](const char* key) {
      return JsonAt(output.text, "/" + std::to_string(i) + "/" + key);
    };
    EXPECT_EQ(value("trace"), i < 3 ? R"("two")" : R"("two_4_devices")");
    EXPECT_EQ(value("pool"), pools[i % 3].pool);
    EXPECT_EQ(value("threads"), i < 3 ? "1" : "4");
    EXPECT_GT(std::stod(value("ns_per_pair")), 0);
    EXPECT_EQ(value("reserved_bytes"), pools[i % 3].reserved_bytes);
    EXPECT_EQ(value("used_bytes"), "1000000");
    EXPECT_EQ(value("upstream_calls"), pools[i % 3].calls);
    EXPECT_EQ(value("upstream_calls_second_half"), pools[i % 3].calls_second_half);
  }
}

TEST(PoolBenchmarkTest, PrintsATableOfTheMadeTraces) {
  const Output output = RunBenchmark("--rounds 1");
  EXPECT_EQ(output.code, 0);
  EXPECT_THAT(output.text, AllOf(HasSubstr("ns/pair"), HasSubstr("resnet50_training"),
                                 HasSubstr("lenet_training_4_devices")));
}

TEST(PoolBenchmarkTest, ReadsTheTracesItPrints) {
  TempDir dir;
  const std::string file = dir.path() + "/trace.txt";
  EXPECT_THAT(RunBenchmark("--list").text, HasSubstr("lenet_training\n"));
  EXPECT_EQ(RunBenchmark("--print-trace lenet_training > " + file).code, 0);
  EXPECT_EQ(RunBenchmark("--rounds 1 --lag 16 --trace " + file).code, 0);
}

TEST(PoolBenchmarkTest, ReportsUsageErrors) {
  EXPECT_EQ(RunBenchmark("--help").code, 0);
  const Output unknown = RunBenchmark("--jsn");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.text, HasSubstr("option --jsn is not known; did you mean --json?"));
  EXPECT_EQ(RunBenchmark("--rounds 0").code, 2);
  EXPECT_EQ(RunBenchmark("--trace").code, 2);
  const Output missing = RunBenchmark("--trace /no/such/file");
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.text, HasSubstr("cannot read \"/no/such/file\""));
  EXPECT_EQ(RunBenchmark("--print-trace none_such").code, 1);
}

}  // namespace
}  // namespace caffe2rt::test::pool_benchmark_test
