#include "caffe2_core/base/piece_helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "caffe2_core/base/pool_workers.h"
#include "tests/support/wait_for.h"

namespace caffe2rt::piece_helpers_test {
namespace {

using test::WaitFor;

// A thread on seat 1 that helps until the object is destroyed.
class Helper {
 public:
  explicit Helper(PieceHelpers* helpers) : helpers_(*helpers), thread_([this] { Run(); }) {}
  ~Helper() {
    done_ = true;
    helpers_.Notify(1);
    thread_.join();
  }

 private:
  void Run() {
    const PieceHelpers::Scope scope(&helpers_, 1);
    while (!done_) {
      if (!helpers_.Help(1)) helpers_.Await([this](bool) { return done_.load(); });
    }
  }

  PieceHelpers& helpers_;
  std::atomic<bool> done_{false};
  std::thread thread_;
};

// So piece i tends to run on the same thread, whichever of the two offers it.
TEST(PieceHelpersTest, TheSeatsOfEachHalfBeginAtTheirEndOfThePieces) {
  PieceHelpers helpers(2);
  for (const int seat : {0, 1}) {
    std::vector<int> order;
    const PieceHelpers::Scope scope(&helpers, seat);
    auto note = [&](int piece) { order.push_back(piece); };
    helpers.Run(3, PieceFunction(note));
    EXPECT_EQ(order, seat == 0 ? (std::vector<int>{0, 1, 2}) : (std::vector<int>{2, 1, 0}));
  }
}

TEST(PieceRangeTest, GivesEachPieceOnceFromBothEnds) {
  PieceRange range;
  EXPECT_TRUE(range.empty());
  EXPECT_EQ(range.TakeFirst(), -1);
  EXPECT_EQ(range.TakeLast(), -1);
  range.Set(3, 6);
  EXPECT_FALSE(range.empty());
  EXPECT_EQ(range.TakeFirst(), 3);
  EXPECT_EQ(range.TakeLast(), 5);
  EXPECT_EQ(range.TakeLast(), 4);
  EXPECT_EQ(range.TakeFirst(), -1);
  EXPECT_TRUE(range.empty());
}

// Both pieces wait for each other.
TEST(PieceHelpersTest, AnotherThreadTakesPieces) {
  PieceHelpers helpers(2);
  const Helper helper(&helpers);
  const PieceHelpers::Scope scope(&helpers, 0);
  for (int job = 0; job < 200; ++job) {
    std::atomic<int> met{0};
    auto piece = [&](int) {
      ++met;
      EXPECT_TRUE(WaitFor([&] { return met == 2; }));
    };
    helpers.Run(2, PieceFunction(piece));
  }
}

// Nothing is offered and nobody calls Notify, so the sleep ends after its time.
TEST(PieceHelpersTest, ASleepEndsAfterTheTimeThatIsGiven) {
  PieceHelpers helpers(2);
  const auto never = [](bool) { return false; };
  EXPECT_TRUE(helpers.Await(never, [] { return std::chrono::nanoseconds(100); }));
}

TEST(PieceHelpersTest, ASleepEndsEarlyIfTheConditionHolds) {
  PieceHelpers helpers(2);
  std::atomic<bool> sleeps{false}, changed{false};
  std::thread other([&] {
    EXPECT_TRUE(WaitFor([&] { return sleeps.load(); }));
    changed = true;
    helpers.Notify(1);
  });
  const auto longest = [&] {
    sleeps = true;
    return std::chrono::nanoseconds(999'999'999);
  };
  while (!changed) {
    EXPECT_FALSE(helpers.Await([&](bool) { return changed.load(); }, longest));
  }
  other.join();
}

TEST(PieceHelpersTest, TheOwnerRunsThePiecesThatAreLeft) {
  PieceHelpers helpers(3);
  const PieceHelpers::Scope scope(&helpers, 2);
  std::vector<int> pieces;
  auto piece = [&](int i) { pieces.push_back(i); };
  helpers.Run(4, PieceFunction(piece));
  EXPECT_EQ(pieces, (std::vector<int>{3, 2, 1, 0}));
  EXPECT_FALSE(helpers.Help(0));
}

TEST(PieceHelpersTest, EachPieceRunsOnce) {
  PieceHelpers helpers(2);
  const Helper helper(&helpers);
  const PieceHelpers::Scope scope(&helpers, 0);
  for (int job = 0; job < 500; ++job) {
    std::vector<std::atomic<int>> runs(17);
    auto piece = [&](int i) { ++runs[static_cast<size_t>(i)]; };
    helpers.Run(17, PieceFunction(piece));
    for (const std::atomic<int>& count : runs) ASSERT_EQ(count, 1);
  }
}

TEST(PieceHelpersTest, TheOwnerGetsTheErrorWhenAllPiecesHaveEnded) {
  PieceHelpers helpers(2);
  const Helper helper(&helpers);
  const PieceHelpers::Scope scope(&helpers, 0);
  std::atomic<int> ended{0};
  auto piece = [&](int i) {
    ++ended;
    if (i == 1) throw std::runtime_error("no luck");
  };
  EXPECT_THROW(helpers.Run(8, PieceFunction(piece)), std::runtime_error);
  EXPECT_EQ(ended, 8);
  auto good = [](int) {};
  helpers.Run(8, PieceFunction(good));
}

TEST(PieceHelpersTest, LoopsInPiecesRunAlone) {
  PieceHelpers helpers(2);
  EXPECT_EQ(PieceHelpers::OfThisThread(), nullptr);
  {
    const PieceHelpers::Scope scope(&helpers, 0);
    EXPECT_EQ(PieceHelpers::OfThisThread(), &helpers);
    auto piece = [](int) {
      EXPECT_EQ(PieceHelpers::OfThisThread(), nullptr);
      EXPECT_TRUE(PieceScope::IsActive());
    };
    helpers.Run(2, PieceFunction(piece));
    EXPECT_EQ(PieceHelpers::OfThisThread(), &helpers);
  }
  EXPECT_EQ(PieceHelpers::OfThisThread(), nullptr);
  EXPECT_FALSE(PieceScope::IsActive());
}

}  // namespace
}  // namespace caffe2rt::piece_helpers_test
