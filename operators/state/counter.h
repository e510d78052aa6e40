#pragma once
// Counters: objects that count up and down, and that threads may share.
//
//   CreateCounter                     ->  counter, which starts at init_count
//   ResetCounter       counter        ->  the count before (optional); sets the count to init_count
//   CountUp            counter        ->  the count before; adds 1
//   CountDown          counter        ->  whether the count is now below 0; subtracts 1
//   CheckCounterDone   counter        ->  whether the count is 0 or below
//   RetrieveCount      counter        ->  the count
//
// The other outputs are scalars on the CPU for every device: int64 for a count, otherwise bool. A
// count that leaves the range of int64 wraps around.

#include <atomic>
#include <cstdint>
#include <memory>

#include "caffe2_core/runtime/operator.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int64_t> kInitialCount{
    "init_count",
    0,
    "the count that the counter starts with, at least 0",
    {[](int64_t count) { return count >= 0; }, "at least 0"}};

// Thread safe.
template <class T>
class Counter {
 public:
  explicit Counter(T count) : count_(count) {}
  // Return the count before.
  T CountUp() { return count_.fetch_add(1); }
  T CountDown() { return count_.fetch_sub(1); }
  T Reset(T count) { return count_.exchange(count); }

  T Count() const { return count_.load(); }

 private:
  std::atomic<T> count_;
};

// The content of the blob.
using CounterBlob = std::unique_ptr<Counter<int64_t>>;

// The base class of operators on an existing counter, which is input 0.
template <class Context>
class CounterOp : public Operator<Context> {
 public:
  using Operator<Context>::Operator;

 protected:
  Counter<int64_t>& TheCounter() const {
    const auto& counter = OperatorBase::Input<CounterBlob>(0);
    CAFFE_ENFORCE(counter != nullptr, "input 0 (counter) holds no counter");
    return *counter;
  }
  template <class T>
  void SetOutput(T value) {
    *this->OutputTensor(0, CPU, {}, TypeMeta::Make<T>())->template mutable_data<T>() = value;
  }
};

template <class Context>
class CreateCounterOp final : public Operator<Context> {
 public:
  CreateCounterOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws), count_(this->ReadArgument(kInitialCount)) {}

  bool RunOnDevice() override {
    *OperatorBase::Output<CounterBlob>(0) = std::make_unique<Counter<int64_t>>(count_);
    return true;
  }

 private:
  const int64_t count_;
};

template <class Context>
class ResetCounterOp final : public CounterOp<Context> {
 public:
  ResetCounterOp(const OperatorDef& def, Workspace* ws)
      : CounterOp<Context>(def, ws), count_(this->ReadArgument(kInitialCount)) {}

  bool RunOnDevice() override {
    const int64_t before = this->TheCounter().Reset(count_);
    if (this->OutputSize() == 1) this->SetOutput(before);
    return true;
  }

 private:
  const int64_t count_;
};

template <class Context>
class CountUpOp final : public CounterOp<Context> {
 public:
  using CounterOp<Context>::CounterOp;
  bool RunOnDevice() override {
    this->SetOutput(this->TheCounter().CountUp());
    return true;
  }
};

template <class Context>
class CountDownOp final : public CounterOp<Context> {
 public:
  using CounterOp<Context>::CounterOp;
  bool RunOnDevice() override {
    this->SetOutput(this->TheCounter().CountDown() <= 0);
    return true;
  }
};

template <class Context>
class CheckCounterDoneOp final : public CounterOp<Context> {
 public:
  using CounterOp<Context>::CounterOp;
  bool RunOnDevice() override {
    this->SetOutput(this->TheCounter().Count() <= 0);
    return true;
  }
};

template <class Context>
class RetrieveCountOp final : public CounterOp<Context> {
 public:
  using CounterOp<Context>::CounterOp;
  bool RunOnDevice() override {
    this->SetOutput(this->TheCounter().Count());
    return true;
  }
};

}  // namespace caffe2rt
