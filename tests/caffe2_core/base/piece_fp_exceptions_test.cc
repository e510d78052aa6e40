#include "caffe2_core/base/piece_fp_exceptions.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <thread>

#include "caffe2_core/base/thread_pool.h"

namespace caffe2rt::piece_fp_exceptions_test {
namespace {

class PieceFpExceptionsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::feclearexcept(FE_ALL_EXCEPT);
    CollectFpExceptionsOfPieces(true);
  }
  void TearDown() override {
    CollectFpExceptionsOfPieces(false);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
};

TEST_F(PieceFpExceptionsTest, KeepsFloatingPointExceptionsOfEarlierWork) {
  std::feraiseexcept(FE_DIVBYZERO);
  auto nothing = [](int) {};
  ThreadPool(2).Run(4, PieceFunction(nothing));
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
}

// Runs the pieces on a thread whose earlier work divided by zero.
class ThreadThatDividedByZero : public PieceRunner {
 public:
  int num_threads() const override { return 2; }
  void Run(int pieces, PieceFunction function) override {
    std::jthread([=] {
      std::feraiseexcept(FE_DIVBYZERO);
      for (int i = 0; i < pieces; ++i) function(i);
    });
  }
};

TEST_F(PieceFpExceptionsTest, EarlierWorkOfAThreadRaisesNoFloatingPointExceptionInItsPieces) {
  ThreadThatDividedByZero runner;
  ThreadPool pool({.runner = &runner});
  auto overflow = [](int piece) {
    if (piece == 1) std::feraiseexcept(FE_OVERFLOW);
  };
  pool.Run(2, PieceFunction(overflow));
  EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO | FE_OVERFLOW), FE_OVERFLOW);
}

// What each of the pieces raised, however many run on one thread.
TEST_F(PieceFpExceptionsTest, EveryPieceCounts) {
  static constexpr int kRaised[] = {FE_OVERFLOW, 0, FE_DIVBYZERO, FE_INVALID, 0};
  for (const int threads : {1, 2, 5}) {
    for (int first = 0; first < 5; ++first) {
      std::feclearexcept(FE_ALL_EXCEPT);
      auto raise = [first](int piece) {
        if (piece >= first) std::feraiseexcept(kRaised[piece]);
      };
      ThreadPool(threads).Run(5, PieceFunction(raise));
      int want = 0;
      for (int piece = first; piece < 5; ++piece) want |= kRaised[piece];
      EXPECT_EQ(std::fetestexcept(FE_OVERFLOW | FE_DIVBYZERO | FE_INVALID), want)
          << threads << " " << first;
    }
  }
}

}  // namespace
}  // namespace caffe2rt::piece_fp_exceptions_test
