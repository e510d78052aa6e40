#pragma once
// Sweeps over failing allocations: each one fails once, and from each one on all fail. Nothing but
// EnforceNotMet comes out (or the action goes on without the memory), nothing leaks, and the same
// action gives the right result afterwards.
//
//   Sweep([&] { return On<NetDef>(std::make_shared<NetDef>(), act, verify); });
//
// CAFFE2_TEST_ALLOCATION_STRIDE=1 tries every allocation; CI takes every seventh. A test program
// adds failing_new.cc to its sources.
//
// Not held to this, because it happens inside of other libraries (failing_new.cc names the leaks):
//
//   protobuf  RepeatedPtrField::Add, Reflection::AddMessage: one element leaks when the array of a
//             repeated field cannot grow, because the element is made first
//             RepeatedPtrField's copy constructor and MergeFrom: the elements that are copied
//             already leak, because they are counted at the end
//             copy constructors of messages (ArenaStringPtr::Set): the strings that are copied
//             already leak, because their fields have no destructors
//   LevelDB   libleveldb.so is compiled without exceptions: what it holds leaks, and a database
//             whose mutex stays locked is given up
//   oneDNN    libdnnl.so: its own allocations never fail here

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

// While one lives, what the thread allocates may leak.
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
  const char* text = std::getenv("CAFFE2_TEST_ALLOCATION_STRIDE");
  return text != nullptr ? std::max(1, std::atoi(text)) : 7;
}

// Tensors' memory, which is not from operator new, fails as well.
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

// What is done with failing memory, and again with enough; the second time it must succeed.
struct Action {
  std::function<void()> act;
  std::function<void()> verify;
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

  // `make` gives a fresh action for every point.
  static void Sweep(const std::function<Action()>& make) {
    for (int i = 0; i < 2; ++i) {  // what is made once in a process is made now
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
  // Whether an allocation failed.
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
      // OutOfMemory, or what is said of the part that failed.
    } catch (...) {
      ADD_FAILURE() << "threw " << CurrentExceptionMessage();
    }
    return true;
  }
};

// An action over a state that `make_state` gives.
template <class State>
Action On(std::shared_ptr<State> state, std::function<void(State&)> act,
          std::function<void(State&)> verify) {
  return {.act = [state, act] { act(*state); }, .verify = [state, verify] { verify(*state); }};
}

}  // namespace caffe2rt::test
