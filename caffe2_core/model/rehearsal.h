#pragma once
// Which operators may run once before the first run of their net, so that all of their code has run and all of their memory has
// been touched. Internal to plan_ahead.cc.

#include <cstdint>
#include <vector>

#include "caffe2_core/graph/op_schema.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

class OperatorBase;

// Whether nothing but its outputs shows that the operator `object` of `def` has run: it is a built-in one, and does
// not open files, print, draw random numbers, communicate, wait, change an input, run nets, or use blobs that are
// not listed, unless it only reads them (runtime/reads_unlisted.h), which is not known if `object` is null.
bool OnlyComputes(const OperatorDef& def, const OperatorBase* object);

// The cost of running operators once, from their shapes.
class RehearsalCost {
 public:
  // At most some tens of milliseconds on one core. The first run of a larger net takes so long that what it does
  // once hardly counts.
  static constexpr int64_t kMostMultiplyAdds = 2'000'000'000;
  static constexpr int64_t kMostBytes = int64_t{128} << 20;  // that operators write

  // Operators of less than about two milliseconds run this often: the second and third run find the code and the
  // memory that the first left behind, as the runs of the net do.
  static constexpr int kRunsOfSmall = 3;
  static constexpr int64_t kSmallMultiplyAdds = 100'000'000;
  static constexpr int64_t kSmallBytes = int64_t{16} << 20;

  void Add(const OperatorDef& def, const std::vector<TensorShape>& inputs,
           const std::vector<TensorShape>& outputs);
  bool is_low() const { return multiply_adds_ <= kMostMultiplyAdds && bytes_ <= kMostBytes; }
  bool is_small() const { return multiply_adds_ <= kSmallMultiplyAdds && bytes_ <= kSmallBytes; }
  // REQUIRES: is_low().
  int runs() const { return is_small() ? kRunsOfSmall : 1; }

 private:
  int64_t multiply_adds_ = 0, bytes_ = 0;
};

}  // namespace caffe2rt
#pragma GCC visibility pop
