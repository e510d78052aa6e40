#pragma once
// UniqueUniformFill: draws different integers from [min, max], without replacement. The values of
// input 1 (avoid) are never drawn.

#include <unordered_map>
#include <unordered_set>

#include "caffe2_core/base/checked_math.h"
#include "operators/common/element_type.h"
#include "operators/fill/filler.h"
#include "operators/primitives/random.h"

namespace caffe2rt {

// T: element type.
template <class T>
inline constexpr ArgumentSpec<T> kUniqueMin{"min", 0, "least value; must be given", {}, true};
template <class T>
inline constexpr ArgumentSpec<T> kUniqueMax{
    "max", 0, "greatest value, above min; must be given", {}, true};

template <class T, class Context>
class UniqueUniformFillOp final : public Filler<Context> {
 public:
  UniqueUniformFillOp(const OperatorDef& def, Workspace* ws)
      : Filler<Context>(def, ws),
        min_(this->ReadArgument(kUniqueMin<T>)),
        max_(this->ReadArgument(kUniqueMax<T>)) {
    CAFFE_ENFORCE_LT(min_, max_, "argument min, want less than argument max");
  }

 private:
  void CheckInputs() const override {
    if (this->InputSize() >= 2) RequireElements<T>(this->Input(1));
  }
  void Fill(Tensor* output) override {
    avoid_.clear();
    if (this->InputSize() >= 2) {
      const Tensor& avoid = this->Input(1);
      const T* values = avoid.template data<T>();
      avoid_.insert(values, values + avoid.numel());
      CAFFE_ENFORCE_EQ(avoid_.size(), static_cast<size_t>(avoid.numel()),
                       "number of different elements of input 1 (avoid), want all to differ");
    }
    // The range is computed in unsigned arithmetic, because max - min may not fit into T. The full
    // range of 2^64 values does not fit either, so `last` is the size of the range minus 1.
    const uint64_t last = static_cast<uint64_t>(max_) - static_cast<uint64_t>(min_);
    const uint64_t wanted =
        CheckedAdd<uint64_t>(static_cast<uint64_t>(output->numel()), avoid_.size());
    CAFFE_ENFORCE(wanted == 0 || wanted - 1 <= last, "cannot draw ", output->numel(),
                  " different numbers from [", min_, ", ", max_, "] without ", avoid_.size(),
                  " of them");
    Draw(last, output->numel(), output->template mutable_data<T>());
  }

  // Fisher-Yates shuffle of the offsets 0 .. last. Only positions that have been swapped are stored
  // in `moved_`; any other position holds its own index. Each draw picks a random position, takes
  // its offset, moves the last offset to that position and shrinks the range by one. Expected time
  // is O(n + number of avoided values) and memory is the same, whatever the size of the range.
  void Draw(uint64_t last, int64_t n, T* out) {
    moved_.clear();
    for (int64_t i = 0; i < n; --last) {
      const uint64_t pick = last == UINT64_MAX
                                ? math::UniformBelow(this->context_.RandGenerator(), last)
                                : math::UniformBelow(this->context_.RandGenerator(), last + 1);
      const uint64_t offset = At(pick);
      moved_[pick] = At(last);
      const T value = static_cast<T>(static_cast<uint64_t>(min_) + offset);
      if (!avoid_.contains(value)) out[i++] = value;
    }
  }
  uint64_t At(uint64_t place) const {
    const auto found = moved_.find(place);
    return found == moved_.end() ? place : found->second;
  }

  const T min_;
  const T max_;
  std::unordered_set<T> avoid_;
  std::unordered_map<uint64_t, uint64_t> moved_;
};

}  // namespace caffe2rt
