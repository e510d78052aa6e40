#pragma once
// Which nets may run once before their first run, so that all of their code has run and all of their memory has
// been touched. Internal to plan_ahead.cc.

#include <cstdint>
#include <vector>

#include "caffe2_core/graph/op_schema.h"

namespace caffe2rt {

// Whether nothing but its outputs shows that the operator has run: it is a built-in one, and does not open files,
// print, draw random numbers, communicate, wait, change an input, run nets, or use blobs that are not listed.
bool OnlyComputes(const OperatorDef& def);

// The cost of a net, from the shapes of its operators.
class RehearsalCost {
 public:
  // At most some milliseconds on one core. The first run of a larger net takes so long that what it does once
  // hardly counts.
  static constexpr int64_t kMostMultiplyAdds = 500'000'000;
  static constexpr int64_t kMostBytes = int64_t{32} << 20;  // that operators write

  void Add(const OperatorDef& def, const std::vector<TensorShape>& inputs,
           const std::vector<TensorShape>& outputs);
  bool is_low() const { return multiply_adds_ <= kMostMultiplyAdds && bytes_ <= kMostBytes; }

 private:
  int64_t multiply_adds_ = 0, bytes_ = 0;
};

}  // namespace caffe2rt
