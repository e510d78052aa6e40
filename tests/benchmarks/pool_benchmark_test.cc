// Runs pool_benchmark and checks its output and exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

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
  FILE* const pipe = popen((POOL_BENCHMARK " " + arguments + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, n);
  const int status = pclose(pipe);
  if (WIFEXITED(status)) output.code = WEXITSTATUS(status);
  return output;
}

size_t Count(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(PoolBenchmarkTest, PrintsAnObjectForEveryTraceAndPool) {
  TempDir dir;
  const std::string file = dir.path() + "/trace.txt";
  std::ofstream(file) << "caffe2rt-trace 1\nname two\na 0 1000000 0\nf 0 0\na 0 1000000 0\nf 0 0\n";
  const Output output = RunBenchmark("--json --rounds 1 --trace " + file);
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.text.substr(0, 2), "[\n");
  for (const char* field : {"trace", "pool", "ns_per_pair", "reserved_bytes", "used_bytes",
                            "upstream_calls", "upstream_calls_second_half"}) {
    // Three pools, each on one device and on four.
    EXPECT_EQ(Count(output.text, "\"" + std::string(field) + "\":"), 6u) << field;
  }
  // 1,000,000 bytes are rounded to 1,000,448 in blocks of 512, to 2 MiB in the bins of CUB, and to
  // 1 MiB in granules of 512 KiB. Without a cache, two pairs are 4 calls. CUB creates an event.
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("\"reserved_bytes\": 1000448, \"used_bytes\": 1000000, "
                              "\"upstream_calls\": 4, \"upstream_calls_second_half\": 2}"),
                    HasSubstr("\"reserved_bytes\": 2097152, \"used_bytes\": 1000000, "
                              "\"upstream_calls\": 2, \"upstream_calls_second_half\": 0}"),
                    HasSubstr("\"reserved_bytes\": 1048576, \"used_bytes\": 1000000, "
                              "\"upstream_calls\": 1, \"upstream_calls_second_half\": 0}")));
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

TEST(PoolBenchmarkTest, SaysWhatIsWrong) {
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
