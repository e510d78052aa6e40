#pragma once
// The inputs of the CTC decoders: scores of classes at each step of each sequence, of which class 0
// is the blank, and the optional number of steps of each sequence.

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {

class CtcScores {
 public:
  // Reads inputs 0 (INPUTS) and 1 (SEQ_LEN). THROWS if their shapes or types do not fit, or if a
  // number of steps is out of range. REQUIRES: the inputs stay as they are while this is used.
  explicit CtcScores(Operator<CPUContext>& op) {
    const Tensor& scores = op.Input(0);
    CAFFE_ENFORCE_EQ(scores.dim(), 3, "rank of input 0 (INPUTS) of shape ", scores.sizes());
    RequireElements<float>(scores);
    most_steps_ = scores.dim(0);
    sequences_ = scores.dim(1);
    classes_ = CheckedCast<int32_t>(scores.dim(2), "classes of input 0 (INPUTS)");
    CAFFE_ENFORCE(classes_ > 0 || most_steps_ == 0 || sequences_ == 0,
                  "input 0 (INPUTS) has shape ", scores.sizes(), ", want at least one class");
    (void)CheckedCast<int32_t>(most_steps_, "steps of input 0 (INPUTS)");
    if (op.InputSize() > 1) {
      const Tensor& lengths = op.Input(1);
      RequireElements<int32_t>(lengths);
      CAFFE_ENFORCE_EQ(lengths.numel(), sequences_, "elements of input 1 (SEQ_LEN), want one for ",
                       "each sequence of input 0 (INPUTS) of shape ", scores.sizes());
      lengths_ = lengths.data<int32_t>();
      for (int64_t i = 0; i < sequences_; ++i) {
        CAFFE_ENFORCE(lengths_[i] >= 0 && lengths_[i] <= most_steps_, "element ", i,
                      " of input 1 (SEQ_LEN) is ", lengths_[i], ", want 0 to ", most_steps_);
      }
    }
    scores_ = scores.data<float>();
  }

  int64_t sequences() const { return sequences_; }
  int32_t classes() const { return classes_; }
  int64_t steps(int64_t sequence) const { return lengths_ ? lengths_[sequence] : most_steps_; }
  // The scores of all classes at one step of one sequence.
  const float* At(int64_t step, int64_t sequence) const {
    return scores_ + (step * sequences_ + sequence) * classes_;
  }

 private:
  const float* scores_ = nullptr;
  const int32_t* lengths_ = nullptr;
  int64_t most_steps_ = 0, sequences_ = 0;
  int32_t classes_ = 0;
};

}  // namespace caffe2rt
