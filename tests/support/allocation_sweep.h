#pragma once
// Repeats an action with failing allocations. In one pass only the n-th allocation fails, in the
// other the n-th and all later ones, for every n. The action must throw EnforceNotMet or complete
// without the memory, must not leak, and must give the right result when it is repeated afterwards.
//
//   Sweep([&] { return On<NetDef>(std::make_shared<NetDef>(), act, verify); });
//
// By default every seventh n is tried, with sanitizers, where that takes long, every 13th;
// CAFFE2_TEST_ALLOCATION_STRIDE=1 tries each one. A test program adds failing_new.cc to its sources.
//
// Exceptions, all inside other libraries (failing_new.cc suppresses the leaks):
//
//   protobuf  RepeatedPtrField::Add, Reflection::AddMessage: one element leaks if the array of a
//             repeated field cannot grow, because the element is created first
//             RepeatedPtrField's copy constructor and MergeFrom: elements copied so far leak,
//             because they are counted at the end
//             copy constructors of messages (ArenaStringPtr::Set): strings copied so far leak,
//             because their fields have no destructors
//   LevelDB   libleveldb.so is compiled without exceptions: the memory that it owns leaks, and a
//             database whose mutex remains locked is abandoned
//   oneDNN    allocations made by libdnnl.so itself never fail in these tests

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/logging.h"
#include "contexts/cpu/cpu_allocator.h"
#include "tests/support/failing_allocations.h"

#ifdef CAFFE2RT_SANITIZED
#include <sanitizer/lsan_interface.h>
#endif

namespace caffe2rt::test {

inline bool LeaksFound() {
#ifdef CAFFE2RT_SANITIZED
  return __lsan_do_recoverable_leak_check() != 0;
#else
  return false;
#endif
}

// While an instance exists and `allowed` is true, allocations of the calling thread may leak.
class LeaksAllowed {
 public:
  explicit LeaksAllowed(bool allowed) : allowed_(allowed) { Set(true); }
  ~LeaksAllowed() { Set(false); }
  LeaksAllowed(const LeaksAllowed&) = delete;
  LeaksAllowed& operator=(const LeaksAllowed&) = delete;

 private:
  void Set([[maybe_unused]] bool begin) const {
#ifdef CAFFE2RT_SANITIZED
    if (allowed_) begin ? __lsan_disable() : __lsan_enable();
#endif
  }
  [[maybe_unused]] const bool allowed_;
};

inline int64_t Stride() {
#ifdef CAFFE2RT_SANITIZED
  constexpr int kStride = 13;
#else
  constexpr int kStride = 7;
#endif
  const char* text = std::getenv("CAFFE2_TEST_ALLOCATION_STRIDE");
  return text != nullptr ? std::max(1, std::atoi(text)) : kStride;
}

// Makes allocations of tensor memory fail too; they do not use operator new.
class FailingCPUAllocator final : public CPUAllocator {
 public:
  std::pair<void*, MemoryDeleter> New(size_t nbytes) override {
    if (AllocationFails(nullptr, false)) throw std::bad_alloc();
    return sound_.New(nbytes);
  }
  MemoryDeleter GetDeleter() override { return sound_.GetDeleter(); }

 private:
  DefaultCPUAllocator sound_;
};

struct Action {
  std::function<void()> act;     // called with failing allocations, then again without
  std::function<void()> verify;  // called after the second time, when `act` must have succeeded
};

class AllocationFailureTest : public ::testing::Test {
 protected:
  using Mode = FailingAllocations::Mode;

  static void SetUpTestSuite() {
    SetCPUAllocator(new FailingCPUAllocator);
    SetLogThreshold(3);
  }
  static void TearDownTestSuite() {
    SetCPUAllocator(new DefaultCPUAllocator);
    SetLogThreshold(2);
  }

  // `make` returns a new action for each n.
  static void Sweep(const std::function<Action()>& make) {
    for (int i = 0; i < 2; ++i) {  // create everything that is created once per process
      const Action action = make();
      action.act();
      action.verify();
    }
    for (const Mode mode : {Mode::kOne, Mode::kFrom}) {
      bool failed = true;
      for (int64_t n = 0; failed; n += Stride()) {
        SCOPED_TRACE(MakeString(mode == Mode::kOne ? "only" : "from", " allocation ", n));
        const size_t before = GetCPUMemoryUsage().in_use_bytes;
        {
          const Action action = make();
          failed = ActWithout(n, mode, action);
          ASSERT_NO_THROW(action.act());
          action.verify();
        }
        ASSERT_EQ(GetCPUMemoryUsage().in_use_bytes, before);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
    EXPECT_FALSE(LeaksFound());
  }

 private:
  // Returns whether an allocation failed.
  static bool ActWithout(int64_t n, Mode mode, const Action& action) {
    std::exception_ptr thrown;
    int64_t asked = 0;
    {
      const FailingAllocations failing(n, mode);
      try {
        action.act();
      } catch (...) {
        thrown = std::current_exception();
      }
      asked = failing.asked();
    }
    if (thrown == nullptr) return asked > n;
    try {
      std::rethrow_exception(thrown);
    } catch (const EnforceNotMet&) {
      // OutOfMemory, or an error about the part that failed.
    } catch (...) {
      ADD_FAILURE() << "threw " << CurrentExceptionMessage();
    }
    return true;
  }
};

// An action over `state`.
template <class State>
Action On(std::shared_ptr<State> state, std::function<void(State&)> act,
          std::function<void(State&)> verify) {
  return {.act = [state, act] { act(*state); }, .verify = [state, verify] { verify(*state); }};
}

}  // namespace caffe2rt::test
