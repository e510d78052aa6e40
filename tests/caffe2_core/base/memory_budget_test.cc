#include "caffe2_core/base/memory_budget.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <new>

namespace caffe2rt::memory_budget_test {
namespace {

// Limits CPU memory during its lifetime, so that only `nbytes` more can be allocated.
class RoomFor {
 public:
  explicit RoomFor(size_t nbytes) : before_(GetCPUMemoryUsage().in_use_bytes) {
    GlobalCPUMemoryOptions().limit_bytes = before_ + nbytes;
  }
  ~RoomFor() { GlobalCPUMemoryOptions().limit_bytes = 0; }
  RoomFor(const RoomFor&) = delete;
  RoomFor& operator=(const RoomFor&) = delete;
  size_t taken() const { return GetCPUMemoryUsage().in_use_bytes - before_; }

 private:
  const size_t before_;
};

TEST(MemoryBudgetTest, ReservationsEndWithTheirScope) {
  const RoomFor room(100);
  {
    const CPUMemoryReservation most(90);
    EXPECT_EQ(room.taken(), 90u);
    EXPECT_THROW(CPUMemoryReservation(11), OutOfMemory);
    EXPECT_EQ(room.taken(), 90u);
  }
  EXPECT_EQ(room.taken(), 0u);
}

TEST(MemoryBudgetTest, HeadroomIsBeyondTheLimit) {
  const RoomFor room(100);
  ASSERT_TRUE(TryReserveCPUBytes(100));
  EXPECT_FALSE(TryReserveCPUBytes(1));
  EXPECT_TRUE(TryReserveCPUBytes(10, 10));
  EXPECT_FALSE(TryReserveCPUBytes(1, 10));
  EXPECT_EQ(room.taken(), 110u);
  ReleaseCPUBytes(110);
  // The most that can be asked for is no limit at all.
  EXPECT_FALSE(TryReserveCPUBytes(5000, 4899));
  EXPECT_TRUE(TryReserveCPUBytes(5000, 4900));
  ReleaseCPUBytes(5000);
  EXPECT_TRUE(TryReserveCPUBytes(5000, SIZE_MAX));
  EXPECT_EQ(room.taken(), 5000u);
  ReleaseCPUBytes(5000);
}

TEST(MemoryBudgetTest, SizesThatOverflowAreRejected) {
  const RoomFor room(100);
  const CPUMemoryReservation some(50);
  EXPECT_FALSE(TryReserveCPUBytes(SIZE_MAX));
  EXPECT_FALSE(TryReserveCPUBytes(SIZE_MAX - 49, SIZE_MAX));
  EXPECT_EQ(room.taken(), 50u);
}

TEST(MemoryBudgetTest, ACheckCountsNothing) {
  const RoomFor room(100);
  CheckCPUBytes(100);
  EXPECT_THROW(CheckCPUBytes(101), OutOfMemory);
  EXPECT_EQ(room.taken(), 0u);
}

TEST(MemoryBudgetTest, ThePeakIsTheMostSinceItsReset) {
  const size_t before = GetCPUMemoryUsage().in_use_bytes;
  const auto peak = [&] { return GetCPUMemoryUsage().peak_bytes - before; };
  const CPUMemoryReservation kept(1000);
  { const CPUMemoryReservation more(500); }
  EXPECT_GE(peak(), 1500u);
  ResetCPUMemoryPeak();
  EXPECT_EQ(peak(), 1000u);  // what is in use at the reset
  { const CPUMemoryReservation more(30); }
  { const CPUMemoryReservation more(20); }
  EXPECT_EQ(peak(), 1030u);
  const CPUMemoryReservation most(70);
  EXPECT_EQ(peak(), 1070u);  // before anything is released
}

TEST(MemoryBudgetTest, TheErrorForBadAllocNamesTheLimitOnOneLine) {
  GlobalCPUMemoryOptions().limit_bytes = 123456;
  const std::string text = OutOfMemoryNow().message();
  GlobalCPUMemoryOptions().limit_bytes = 0;
  EXPECT_EQ(text.rfind("out of memory: ", 0), 0u) << text;
  EXPECT_NE(text.find("limit 120.6 KiB"), std::string::npos) << text;
  EXPECT_NE(text.find("(--memory-limit)"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos) << text;
}

TEST(MemoryBudgetTest, TheErrorStatesWhatIsInUseAndThePeak) {
  ResetCPUMemoryPeak();
  { const CPUMemoryReservation more(size_t{3} << 30); }
  const RoomFor room(100);
  try {
    CheckCPUBytes(101);
    ADD_FAILURE() << "no exception";
  } catch (const OutOfMemory& error) {
    const std::string& text = error.message();
    EXPECT_NE(text.find("asked 101 bytes, in use "), std::string::npos) << text;
    EXPECT_NE(text.find(", peak 3 GiB;"), std::string::npos) << text;
  }
  ResetCPUMemoryPeak();
}

TEST(MemoryBudgetTest, BadAllocInAnOperatorIsOutOfMemoryWithTheFrame) {
  try {
    try {
      throw std::bad_alloc();
    } catch (...) {
      RethrowWithFrame("operator 3");
    }
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.message().rfind("operator 3: out of memory: ", 0), 0u) << error.message();
    return;
  }
  FAIL() << "is no OutOfMemory";
}

TEST(MemoryBudgetTest, TheLimitIsHalfOfTheMachineByDefault) {
  const auto bytes =
      static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  ASSERT_EQ(GlobalCPUMemoryOptions().limit_bytes, 0u);
  EXPECT_EQ(GetCPUMemoryUsage().limit_bytes, bytes / 2);
  GlobalCPUMemoryOptions().limit_bytes = 77;
  EXPECT_EQ(GetCPUMemoryUsage().limit_bytes, 77u);
  GlobalCPUMemoryOptions().limit_bytes = 0;
  EXPECT_EQ(GetCPUMemoryUsage().limit_bytes, bytes / 2);
}

TEST(MemoryBudgetTest, ALowerLimitThanWhatIsInUseRejectsEverything) {
  const CPUMemoryReservation some(1000);
  GlobalCPUMemoryOptions().limit_bytes = 500;
  EXPECT_FALSE(TryReserveCPUBytes(1));
  EXPECT_THROW(CheckCPUBytes(1), OutOfMemory);
  GlobalCPUMemoryOptions().limit_bytes = 0;
  const size_t peak = GetCPUMemoryUsage().peak_bytes;
  EXPECT_TRUE(TryReserveCPUBytes(0));
  EXPECT_EQ(GetCPUMemoryUsage().peak_bytes, peak);
}

}  // namespace
}  // namespace caffe2rt::memory_budget_test
