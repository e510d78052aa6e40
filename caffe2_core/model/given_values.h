#pragma once
// GivenValues: hands an operator the elements of its argument `values` as a tensor, which were read
// from a file without the OperatorDef in between (caffe2_core/io/net_weights.h).
//
//   const GivenValues scope(*def, std::move(tensor));
//   const std::unique_ptr<OperatorBase> op = CreateOperator(*def, ws);   // takes the tensor
//
// In the operator's constructor:
//
//   given_ = GivenValues::Take(debug_def());    // unshaped if its argument has the elements

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// During the life of this object, the operator that the same thread constructs from `def` may take
// `values`. The operator must share the def (SharedOperatorDef). Objects may be nested. Create them
// on the stack only.
class GivenValues {
 public:
  GivenValues(const OperatorDef& def, Tensor values);
  ~GivenValues();
  GivenValues(const GivenValues&) = delete;
  GivenValues& operator=(const GivenValues&) = delete;

  bool taken() const { return taken_; }

  // Moves the tensor out of the object for `def`. Returns an unshaped tensor if there is none.
  static Tensor Take(const OperatorDef& def);

 private:
  const OperatorDef& def_;
  Tensor values_;
  bool taken_ = false;
  GivenValues* const outer_;
};

// Gives `output`, whose shape is set, the elements of `values`. If `output` has no memory yet, it
// receives that of `values`; otherwise the elements are copied, because others may use the memory.
// REQUIRES: `values` has at least as many elements as `output`.
void MoveGivenValues(Tensor&& values, Tensor* output);

}  // namespace caffe2rt
#pragma GCC visibility pop
