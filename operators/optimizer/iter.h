#pragma once
// Iter: counts the iterations of a training.
//   nothing, or iter [1] (in place)  ->  iter, int64, one element
// AtomicIter: the same, guarded by a mutex of CreateMutex, for steps that run concurrently.
//   mutex, iter [1]  ->  iter (in place)
// Its runs are counted in statistics, as "atomic_iter/stats/ITER/num_iter".
//
// The counter is on the CPU for every device. An output that does not exist yet is created as 0 and
// becomes 1. A counter of type int32, which Caffe2's tutorials fill, becomes int64.

#include <limits>
#include <string>
#include <utility>

#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "operators/optimizer/create_mutex.h"

namespace caffe2rt {

// Adds 1 to the counter. THROWS if it does not hold one non-negative number, or would overflow.
inline void CountIteration(Tensor* counter) {
  CAFFE_ENFORCE_EQ(counter->numel(), 1, "elements of the counter of shape ", counter->sizes());
  if (counter->IsType<int32_t>()) {
    // In memory of its own: the int32 may be a part of a larger tensor.
    Tensor wide(counter->dims(), CPU);
    *wide.mutable_data<int64_t>() = *counter->data<int32_t>();
    *counter = std::move(wide);
  }
  (void)counter->data<int64_t>();  // THROWS for another type
  int64_t* const iteration = counter->mutable_data<int64_t>();
  CAFFE_ENFORCE_GE(*iteration, 0, "the previous iteration");
  CAFFE_ENFORCE_LT(*iteration, std::numeric_limits<int64_t>::max(),
                   "the previous iteration; the counter would overflow");
  ++*iteration;
}

template <class Context>
class IterOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  IterOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    if (InputSize() == 0 && !this->OutputBlob(0)->IsTensor(CPU)) {
      *this->OutputTensor(0, CPU, {1}, TypeMeta::Make<int64_t>())
           ->template mutable_data<int64_t>() = 0;
    } else if (InputSize() == 1) {
      (void)Input(0, CPU);  // THROWS for another device
    }
    CountIteration(this->OutputTensor(0, CPU));
    return true;
  }
};

template <class Context>
class AtomicIterOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  AtomicIterOp(const OperatorDef& def, Workspace* ws)
      : Operator<Context>(def, ws),
        count_(StatRegistry::get().add("atomic_iter/stats/" + def.input(1) + "/num_iter")) {}

  bool RunOnDevice() override {
    CallLocked(OperatorBase::Input<MutexBlob>(0), [this] {
      (void)Input(1, CPU);  // THROWS for another device
      CountIteration(this->OutputTensor(0, CPU));
    });
    count_->increment(1);
    return true;
  }

 private:
  StatValue* const count_;
};

}  // namespace caffe2rt
