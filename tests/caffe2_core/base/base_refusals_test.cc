// Errors of memory limits, threads, read-ahead, storage orders and flags, whole, and the values
// next to each bound that are accepted.
#include <gtest/gtest.h>

#include <climits>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "caffe2_core/base/byte_size.h"
#include "caffe2_core/base/flags.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/base/read_ahead.h"
#include "caffe2_core/base/running_median.h"
#include "caffe2_core/base/storage_order.h"
#include "caffe2_core/base/thread_pool.h"
#include "tests/support/refusals.h"

namespace caffe2rt::test::base_refusals_test {
namespace {

TEST(BaseRefusalsTest, OfMemoryBeyondTheLimit) {
  CPUMemoryOptions& options = GlobalCPUMemoryOptions();
  const size_t before = options.limit_bytes, in_use = GetCPUMemoryUsage().in_use_bytes;
  options.limit_bytes = in_use + 3000;
  const auto want = [&](const char* asked) {
    const CPUMemoryUsage usage = GetCPUMemoryUsage();
    return MakeString("out of CPU memory: asked ", asked, ", in use ", ByteSizeText(in_use + 1000),
                      ", limit ", ByteSizeText(in_use + 3000), ", peak ",
                      ByteSizeText(usage.peak_bytes),
                      "; raise the limit (--memory-limit) or use smaller inputs");
  };
  ReserveCPUBytes(1000);
  ExpectRefusals({{[] { ReserveCPUBytes(2001); }, want("2.0 KiB")},
                  {[] { CheckCPUBytes(2001); }, want("2.0 KiB")},
                  {[] { CheckCPUBytes(SIZE_MAX); }, want("16.0 EiB")}});
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, in_use + 1000);
  EXPECT_EQ(GetCPUMemoryUsage().limit_bytes, in_use + 3000);
  CheckCPUBytes(2000);
  ReserveCPUBytes(2000);
  ReleaseCPUBytes(3000);
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, in_use);
  options.limit_bytes = before;
}

class NoThreads final : public PieceRunner {
 public:
  explicit NoThreads(int threads) : threads_(threads) {}
  int num_threads() const override { return threads_; }
  void Run(int pieces, PieceFunction function) override {
    for (int i = 0; i < pieces; ++i) function(i);
  }

 private:
  const int threads_;
};

TEST(BaseRefusalsTest, OfThreads) {
  NoThreads none(0), one(1);
  ExpectRefusals({
      {[] { ThreadPool(ThreadPoolOptions{.num_threads = 0}); },
       "number of threads is 0, want 1 to 1024"},
      {[] { ThreadPool(ThreadPoolOptions{.num_threads = 1025}); },
       "number of threads is 1025, want 1 to 1024"},
      {[] { ThreadPool(ThreadPoolOptions{.spin_us = -1}); },
       "microseconds that a thread pool spins: got -1, want at least 0"},
      {[&] { ThreadPool(ThreadPoolOptions{.runner = &none}); },
       "the runner of a thread pool has 0 threads, want at least 1"},
  });
  EXPECT_EQ(ThreadPool(ThreadPoolOptions{.runner = &one}).num_threads(), 1);
  EXPECT_EQ(ThreadPool(ThreadPoolOptions{.num_threads = 1, .spin_us = 0}).num_threads(), 1);
  const auto read = [](size_t i) { return i; };
  ExpectRefusals({
      {[&] { ReadAhead<size_t>(2, 0, 1, read); },
       "threads 0 and items 1 of a ReadAhead, want at least 1"},
      {[&] { ReadAhead<size_t>(2, 3, 0, read); },
       "threads 3 and items 0 of a ReadAhead, want at least 1"},
      {[&] {
         ReadAhead<size_t> ahead(1, 1, 1, read);
         ahead.Next();
         ahead.Next();
       },
       "items taken from a ReadAhead: got 1, want less than 1"},
      {[] { (void)StringToStorageOrder("NCWH"); },
       "Unknown Storage order \"NCWH\", want NCHW or NHWC"},
  });
}

int number = 0;
int64_t large = 0;
double rate = 0;
bool on = false;

TEST(BaseRefusalsTest, OfFlags) {
  ASSERT_TRUE(RegisterFlag("base_refusals_number", &number, "", "a.cc"));
  ASSERT_TRUE(RegisterFlag("base_refusals_large", &large, "", "a.cc"));
  ASSERT_TRUE(RegisterFlag("base_refusals_rate", &rate, "", "a.cc"));
  ASSERT_TRUE(RegisterFlag("base_refusals_on", &on, "", "a.cc"));
  RegisterDeferredFlag({"base_refusals_later", "int", "1", "help", "b.cc", ""});
  const auto set = [](const char* name, const char* text) {
    return [=] { SetFlag(MakeString("base_refusals_", name), text); };
  };
  const std::string flag = "flag --base_refusals_";
  ExpectRefusals({
      {set("number", "2147483648"), flag + "number: 2147483648 does not fit into int"},
      {set("number", "-2147483649"), flag + "number: -2147483649 does not fit into int"},
      {set("number", ""), flag + "number: \"\" is not an integer"},
      {set("number", "1.5"), flag + "number: \"1.5\" is not an integer"},
      {set("large", "9223372036854775808"),
       flag + "large: \"9223372036854775808\" is not an integer"},
      {set("rate", "fast"), flag + "rate: \"fast\" is not a number"},
      {set("on", "TRUE"), flag + "on: \"TRUE\" is neither true nor false"},
      {set("on", ""), flag + "on: \"\" is neither true nor false"},
      {set("later", "x"), flag + "later: \"x\" is not an integer"},
      {set("zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "x"),
       flag + "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz is not known"},
  });
  EXPECT_EQ(number, 0);
  for (const int64_t value : {int64_t{INT_MIN}, int64_t{INT_MAX}}) {
    SetFlag("base_refusals_number", MakeString(value));
    EXPECT_EQ(number, value);
  }
  SetFlag("base_refusals_number", "010");  // octal, as in C
  EXPECT_EQ(number, 8);
  SetFlag("base_refusals_large", "-0x10");
  EXPECT_EQ(large, -16);
  SetFlag("base_refusals_large", "9223372036854775807");
  EXPECT_EQ(large, INT64_MAX);
  for (const auto& [text, value] : std::vector<std::pair<const char*, bool>>{{"true", true},
                                                                             {"false", false},
                                                                             {"yes", true},
                                                                             {"no", false},
                                                                             {"1", true},
                                                                             {"0", false},
                                                                             {"True", true},
                                                                             {"False", false},
                                                                             {"t", true},
                                                                             {"f", false}}) {
    on = !value;
    SetFlag("base_refusals_on", text);
    EXPECT_EQ(on, value) << text;
    EXPECT_EQ(ParseFlagBool(text), value) << text;
  }
  // A deferred flag keeps its text until it is defined; then it is a flag like any other.
  SetFlag("base_refusals_later", "5");
  int later = 0;
  EXPECT_TRUE(RegisterFlag("base_refusals_later", &later, "", "c.cc"));
  EXPECT_EQ(later, 5);
  EXPECT_FALSE(RegisterFlag("base_refusals_later", &later, "", "d.cc"));
  ExpectRefusals({{[] { ThrowFlagConflicts(); },
                   "flag --base_refusals_later is defined twice: in c.cc and in d.cc"}});
  EXPECT_NO_THROW(ThrowFlagConflicts());  // reported once
}

// Up to kExactValues values the median is exact, whatever they are.
TEST(BaseRefusalsTest, MediansOfMoreValuesAreThoseOfBins) {
  const auto median_of = [](size_t count) {
    RunningMedian median;
    for (size_t i = 0; i < count; ++i) median.Add(1e-20f);  // below the smallest bin, 2^-30
    return median.Median();
  };
  EXPECT_EQ(median_of(RunningMedian::kExactValues), 1e-20f);
  EXPECT_NEAR(median_of(RunningMedian::kExactValues + 1), 0x1p-30f, 0x1p-30f * 0.006f);
  RunningMedian odd;
  odd.Add(std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(odd.count(), 1);
}

}  // namespace
}  // namespace caffe2rt::test::base_refusals_test
