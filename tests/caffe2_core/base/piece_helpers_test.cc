#include "caffe2_core/base/piece_helpers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "caffe2_core/base/piece_range.h"
#include "caffe2_core/base/pool_workers.h"
#include "caffe2_core/base/thread_pool.h"
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
  const auto ends_early = [&] {
    std::atomic<bool> sleeps{false}, changed{false};
    const std::jthread other([&] {
      EXPECT_TRUE(WaitFor([&] { return sleeps.load(); }));
      changed = true;
      helpers.Notify(1);
    });
    const auto longest = [&] {
      sleeps = true;
      return std::chrono::nanoseconds(999'999'999);
    };
    bool is_over = false;
    while (!changed) {
      is_over |= helpers.Await([&](bool) { return changed.load(); }, longest);
    }
    return !is_over;
  };
  // On a loaded machine the other thread may come after the longest sleep.
  EXPECT_TRUE(WaitFor(ends_early));
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

// Everything on one thread: the first piece helps with the others.
TEST(PieceHelpersTest, HelpRunsTheOtherSeatsPiecesAndReportsIt) {
  PieceHelpers helpers(3);
  EXPECT_EQ(helpers.num_threads(), 3);
  const PieceHelpers::Scope scope(&helpers, 0);
  EXPECT_FALSE(helpers.Help(1));
  std::vector<int> order;
  bool helped = false;
  auto piece = [&](int i) {
    order.push_back(i);
    if (i != 0) return;
    EXPECT_FALSE(helpers.Help(0)) << "the pieces of its own seat are not another's";
    helped = helpers.Help(2);  // from the back
    EXPECT_FALSE(helpers.Help(1)) << "none is left";
  };
  helpers.Run(4, PieceFunction(piece));
  EXPECT_TRUE(helped);
  EXPECT_EQ(order, (std::vector<int>{0, 3, 2, 1}));
}

TEST(PieceHelpersTest, ErrorsOfPiecesThatAHelperRunsReachTheOwner) {
  PieceHelpers helpers(2);
  const PieceHelpers::Scope scope(&helpers, 0);
  int ran = 0;
  auto piece = [&](int i) {
    ++ran;
    if (i == 0) {
      EXPECT_TRUE(helpers.Help(1));
    } else {
      throw std::runtime_error("a helper's");
    }
  };
  EXPECT_THROW(helpers.Run(3, PieceFunction(piece)), std::runtime_error);
  EXPECT_EQ(ran, 3);
  auto good = [&](int) { ++ran; };
  helpers.Run(2, PieceFunction(good));  // without the error of the job before
  EXPECT_EQ(ran, 5);
}

TEST(PieceHelpersTest, ScopesRestoreWhatTheyFound) {
  PieceHelpers outer_helpers(2), inner_helpers(2);
  const PieceHelpers::Scope outer(&outer_helpers, 1);
  {
    const PieceHelpers::Scope inner(&inner_helpers, 0);
    EXPECT_EQ(PieceScope::seat(), 0);
    {
      const PieceHelpers::Scope alone(nullptr, 0);
      EXPECT_EQ(PieceHelpers::OfThisThread(), nullptr);
      EXPECT_TRUE(PieceScope::IsActive());
    }
    EXPECT_EQ(PieceHelpers::OfThisThread(), &inner_helpers);
  }
  EXPECT_EQ(PieceHelpers::OfThisThread(), &outer_helpers);
  EXPECT_EQ(PieceScope::seat(), 1);
  EXPECT_TRUE(PieceScope::IsActive());
}

TEST(PieceHelpersTest, ACallerInAScopeOffersItsPieces) {
  PieceHelpers helpers(2);
  const PieceHelpers::Scope scope(&helpers, 1);
  ThreadPool pool({.num_threads = 1});
  std::vector<int> order;
  auto note = [&](int piece) { order.push_back(piece); };
  pool.Run(3, PieceFunction(note));
  EXPECT_EQ(order, (std::vector<int>{2, 1, 0})) << "by the seat";
  order.clear();
  pool.Run(1, PieceFunction(note));
  EXPECT_EQ(order, std::vector<int>{0});
}

TEST(PieceRangeTest, GivesTheOnlyPieceFromEitherEnd) {
  PieceRange range;
  range.Set(0, 1);
  EXPECT_FALSE(range.empty());
  EXPECT_EQ(range.TakeLast(), 0);
  EXPECT_TRUE(range.empty());
  range.Set(7, 8);
  EXPECT_EQ(range.TakeFirst(), 7);
  EXPECT_EQ(range.TakeFirst(), -1);
  EXPECT_EQ(range.TakeLast(), -1);
  range.Set(2, 2);
  EXPECT_TRUE(range.empty());
  EXPECT_EQ(range.TakeLast(), -1);
}

}  // namespace
}  // namespace caffe2rt::piece_helpers_test
