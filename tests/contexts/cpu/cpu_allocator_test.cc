#include "contexts/cpu/cpu_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "caffe2_core/base/overwritten_memory.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt::cpu_allocator_test {
namespace {

// Restores the process's options.
class OptionsGuard {
 public:
  OptionsGuard() : saved_(GlobalCPUMemoryOptions()) {}
  ~OptionsGuard() { GlobalCPUMemoryOptions() = saved_; }

 private:
  const CPUMemoryOptions saved_;
};

TEST(CPUAllocatorTest, MemoryIsAlignedAndZero) {
  for (const size_t nbytes : {size_t{1}, size_t{63}, size_t{64}, size_t{100000}}) {
    const DataPtr memory(NewCPUMemory(nbytes));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kCPUAlignment, 0u);
    const auto* bytes = static_cast<const unsigned char*>(memory.get());
    for (size_t i = 0; i < nbytes; ++i) ASSERT_EQ(bytes[i], 0);
  }
}

// An allocator that returns memory full of stale bytes, or no memory.
class PoorAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override {
    if (refuses) throw std::bad_alloc();
    void* const data = std::malloc(nbytes);
    std::memset(data, 0xee, nbytes);
    return {data, GetDeleter()};
  }
  MemoryDeleter GetDeleter() override { return MemoryDeleter(&std::free); }

  bool refuses = false;
};

// Makes a PoorAllocator the CPU's allocator during its lifetime.
class PoorAllocatorInUse {
 public:
  PoorAllocatorInUse() : allocator_(new PoorAllocator) { SetCPUAllocator(allocator_); }
  ~PoorAllocatorInUse() { SetCPUAllocator(new DefaultCPUAllocator); }
  PoorAllocatorInUse(const PoorAllocatorInUse&) = delete;
  PoorAllocatorInUse& operator=(const PoorAllocatorInUse&) = delete;
  PoorAllocator* operator->() { return allocator_; }

 private:
  PoorAllocator* const allocator_;
};

TEST(CPUAllocatorTest, EveryByteIsZeroWhateverTheAllocatorLeft) {
  const PoorAllocatorInUse allocator;
  for (const size_t nbytes : {size_t{1}, size_t{7}, size_t{8}, size_t{15}, size_t{1001}}) {
    const DataPtr memory(NewCPUMemory(nbytes));
    const auto* bytes = static_cast<const unsigned char*>(memory.get());
    for (size_t i = 0; i < nbytes; ++i) ASSERT_EQ(bytes[i], 0) << "byte " << i << " of " << nbytes;
  }
}

TEST(CPUAllocatorTest, MemoryThatIsOverwrittenIsNotFilled) {
  PoorAllocatorInUse allocator;
  const auto first_byte = [] {
    const DataPtr memory(NewCPUMemory(100));
    return static_cast<int>(*static_cast<const unsigned char*>(memory.get()));
  };
  {
    const OverwrittenMemory scope;
    EXPECT_EQ(first_byte(), 0xee);
    std::thread other([&] { EXPECT_EQ(first_byte(), 0) << "another thread"; });
    other.join();
  }
  EXPECT_EQ(first_byte(), 0);
}

TEST(CPUAllocatorTest, LargeMemoryIsAlignedToHugePagesAndZero) {
  constexpr size_t kHugePage = size_t{2} << 20;
  const size_t nbytes = 3 * kHugePage + 100;  // the last huge page is not whole
  const DataPtr memory(NewCPUMemory(nbytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.get()) % kHugePage, 0u);
  const char* const bytes = static_cast<const char*>(memory.get());
  EXPECT_EQ(std::count(bytes, bytes + nbytes, 0), static_cast<std::ptrdiff_t>(nbytes));
}

// The C library may give memory that was used before.
TEST(CPUAllocatorTest, LargeMemoryIsZeroEachTime) {
  constexpr size_t kBytes = (size_t{5} << 20) + 321;
  for (int round = 0; round < 4; ++round) {
    const DataPtr memory(NewCPUMemory(kBytes));
    auto* const bytes = static_cast<unsigned char*>(memory.get());
    EXPECT_EQ(std::count(bytes, bytes + kBytes, 0), static_cast<std::ptrdiff_t>(kBytes)) << round;
    std::memset(bytes, 0xee, kBytes);
  }
}

TEST(CPUAllocatorTest, LargeMemoryOfAnotherAllocatorIsZero) {
  const PoorAllocatorInUse allocator;
  constexpr size_t kBytes = (size_t{4} << 20) + 3;
  const DataPtr memory(NewCPUMemory(kBytes));
  const auto* bytes = static_cast<const unsigned char*>(memory.get());
  EXPECT_EQ(std::count(bytes, bytes + kBytes, 0), static_cast<std::ptrdiff_t>(kBytes));
}

TEST(CPUAllocatorTest, NoBytesIsFine) {
  const DataPtr memory(NewCPUMemory(0));
  EXPECT_NE(memory.get(), nullptr);
}

TEST(CPUAllocatorTest, JunkFillIsNotANumber) {
  const OptionsGuard guard;
  GlobalCPUMemoryOptions().fill = CPUMemoryFill::kJunk;
  const DataPtr memory(NewCPUMemory(10));
  uint32_t bits;
  std::memcpy(&bits, memory.get(), sizeof(bits));
  EXPECT_EQ(bits, 0x7fa00000u);
}

TEST(CPUAllocatorTest, JunkFillsTheLastBytesTooAndNoFillLeavesAll) {
  const OptionsGuard guard;
  const PoorAllocatorInUse allocator;
  const uint32_t junk = 0x7fa00000u;
  unsigned char word[sizeof(junk)];
  std::memcpy(word, &junk, sizeof(junk));
  for (const CPUMemoryFill fill : {CPUMemoryFill::kJunk, CPUMemoryFill::kNone}) {
    GlobalCPUMemoryOptions().fill = fill;
    for (const size_t nbytes : {size_t{1}, size_t{4}, size_t{11}}) {
      const DataPtr memory(NewCPUMemory(nbytes));
      const auto* bytes = static_cast<const unsigned char*>(memory.get());
      for (size_t i = 0; i < nbytes; ++i) {
        EXPECT_EQ(bytes[i], fill == CPUMemoryFill::kJunk ? word[i % 4] : 0xee)
            << "byte " << i << " of " << nbytes;
      }
    }
  }
}

TEST(CPUAllocatorTest, CountsBytesInUseAndPeak) {
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  {
    const DataPtr a(NewCPUMemory(1000)), b(NewCPUMemory(500));
    EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before + 1500);
    EXPECT_GE(GetCPUMemoryUsage().peak_bytes, before + 1500);
  }
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before);
  ResetCPUMemoryPeak();
  EXPECT_EQ(GetCPUMemoryUsage().peak_bytes, before);
}

TEST(CPUAllocatorTest, AllocationBeyondTheLimitIsAnErrorAndCountsNothing) {
  const OptionsGuard guard;
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  GlobalCPUMemoryOptions().limit_bytes = before + 1000;
  const DataPtr fits(NewCPUMemory(600));
  try {
    NewCPUMemory(500);
    FAIL() << "did not throw";
  } catch (const EnforceNotMet& error) {
    EXPECT_NE(error.message().find("asked 500 bytes"), std::string::npos) << error.message();
    EXPECT_NE(error.message().find("--memory-limit"), std::string::npos) << error.message();
  }
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before + 600);
  EXPECT_THROW(NewCPUMemory(SIZE_MAX), EnforceNotMet);
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before + 600);
}

TEST(CPUAllocatorTest, ExactlyTheLimitFitsAndOneByteMoreDoesNot) {
  const OptionsGuard guard;
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  GlobalCPUMemoryOptions().limit_bytes = before + 1000;
  {
    const DataPtr all(NewCPUMemory(1000));
    EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before + 1000);
    EXPECT_THROW(NewCPUMemory(1), OutOfMemory);
  }
  EXPECT_THROW(NewCPUMemory(1001), OutOfMemory);
  const DataPtr again(NewCPUMemory(1000));
}

TEST(CPUAllocatorTest, FailedAllocationsAreNotCounted) {
  PoorAllocatorInUse allocator;
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  allocator->refuses = true;
  EXPECT_THROW(NewCPUMemory(1000), OutOfMemory);
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before);
  allocator->refuses = false;
  const DataPtr memory(NewCPUMemory(1000));
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before + 1000);
}

TEST(CPUAllocatorTest, ReservationsCountAgainstTheLimit) {
  const OptionsGuard guard;
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  GlobalCPUMemoryOptions().limit_bytes = before + 1000;
  ReserveCPUBytes(900);
  EXPECT_THROW(NewCPUMemory(200), EnforceNotMet);
  ReleaseCPUBytes(900);
  EXPECT_NO_THROW(DataPtr(NewCPUMemory(200)));
}

TEST(CPUAllocatorTest, LimitHoldsWithSeveralThreads) {
  const OptionsGuard guard;
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  GlobalCPUMemoryOptions().limit_bytes = before + 10000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        try {
          const DataPtr memory(NewCPUMemory(4000));
        } catch (const EnforceNotMet&) {
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(GetCPUMemoryUsage().in_use_bytes, before);
}

TEST(CPUAllocatorTest, ReplacedAllocatorGivesNewMemoryAndFreesItsOwn) {
  static int given = 0, freed = 0;
  class Counting final : public CPUAllocator {
   public:
    std::pair<void*, MemoryDeleter> New(size_t nbytes) override {
      ++given;
      return {std::malloc(nbytes + 1), GetDeleter()};
    }
    MemoryDeleter GetDeleter() override {
      return MemoryDeleter([](void* data) {
        ++freed;
        std::free(data);
      });
    }
  };
  DataPtr old(NewCPUMemory(10));
  SetCPUAllocator(new Counting);
  DataPtr fresh(NewCPUMemory(10));
  EXPECT_EQ(given, 1);
  SetCPUAllocator(new DefaultCPUAllocator);
  old.Reset();
  EXPECT_EQ(freed, 0);  // the old memory keeps its own deleter
  fresh.Reset();
  EXPECT_EQ(freed, 1);
  EXPECT_THROW(SetCPUAllocator(nullptr), EnforceNotMet);
}

TEST(MemoryAllocationReporterTest, TracksBytesAndRejectsUnknownPointers) {
  MemoryAllocationReporter reporter;
  int a, b;
  reporter.New(&a, 100);
  reporter.New(&b, 50);
  EXPECT_EQ(reporter.allocated(), 150u);
  reporter.Delete(&a);
  EXPECT_EQ(reporter.allocated(), 50u);
  EXPECT_EQ(reporter.peak(), 150u);
  EXPECT_THROW(reporter.Delete(&a), EnforceNotMet);
}

TEST(MemoryAllocationReporterTest, KeepsItsPeakWhenSmallerMemoryFollows) {
  MemoryAllocationReporter reporter;
  int a, b;
  reporter.New(&a, 100);
  reporter.Delete(&a);
  reporter.New(&b, 30);
  EXPECT_EQ(reporter.allocated(), 30u);
  EXPECT_EQ(reporter.peak(), 100u);
}

TEST(MemoryAllocationReporterTest, PrintsALineForEachEventWhenAsked) {
  const OptionsGuard guard;
  GlobalCPUMemoryOptions().report_usage = true;
  SetLogThreshold(-1);
  ::testing::internal::CaptureStderr();
  DataPtr memory(NewCPUMemory(123));
  GlobalCPUMemoryOptions().report_usage = false;
  memory.Reset();  // the flag is read when memory is allocated
  const std::string text = ::testing::internal::GetCapturedStderr();
  SetLogThreshold(2);
  EXPECT_NE(text.find("+123 bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("-123 bytes"), std::string::npos) << text;
}

// Under the lock of the reporter, the sink would wait for ever.
TEST(MemoryAllocationReporterTest, SinksOfItsLinesMayUseIt) {
  MemoryAllocationReporter reporter;
  std::vector<size_t> seen;
  SetLogThreshold(-1);
  SetLogSink([&](const LogEntry&) { seen.push_back(reporter.allocated()); });
  int a;
  reporter.New(&a, 100);
  reporter.Delete(&a);
  SetLogSink({});
  SetLogThreshold(2);
  EXPECT_EQ(seen, (std::vector<size_t>{100, 0}));
}

}  // namespace
}  // namespace caffe2rt::cpu_allocator_test
