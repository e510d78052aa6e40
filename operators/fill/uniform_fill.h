#pragma once
// UniformFill: draws floats from [min, max). UniformIntFill: draws int32 from [min, max], both ends
// included.
//
// With three inputs, inputs 1 and 2 are min and max, one element each. If min is greater than max,
// dim 0 of the output is 0.

#include "operators/common/element_type.h"
#include "operators/fill/filler.h"
#include "operators/fill/random_fill.h"

namespace caffe2rt {

// T: element type.
template <class T>
inline constexpr ArgumentSpec<T> kUniformMin{"min", 0, "least value"};
template <class T>
inline constexpr ArgumentSpec<T> kUniformMax{"max", 1, "greatest value, above min"};

template <class T, class Context>
class UniformFillOp final : public Filler<Context> {
 public:
  UniformFillOp(const OperatorDef& def, Workspace* ws) : Filler<Context>(def, ws) {
    if (this->InputSize() == 3) {
      CAFFE_ENFORCE(!this->template HasSingleArgumentOfType<T>(kUniformMin<T>.name),
                    "argument min is set and input 1 gives it too: remove one");
      CAFFE_ENFORCE(!this->template HasSingleArgumentOfType<T>(kUniformMax<T>.name),
                    "argument max is set and input 2 gives it too: remove one");
      return;
    }
    min_ = this->ReadArgument(kUniformMin<T>);
    max_ = this->ReadArgument(kUniformMax<T>);
    CAFFE_ENFORCE_LT(min_, max_, "argument min, want less than argument max");
  }

 private:
  void CheckInputs() const override {
    for (int i = 1; i < this->InputSize(); ++i) {
      const Tensor& bound = InputAnywhere(*this, i);
      CAFFE_ENFORCE_EQ(bound.numel(), 1, "elements of input ", i, " (min or max), want one");
      RequireElements<T>(bound);
    }
  }
  void Fill(Tensor* output) override {
    if (this->InputSize() == 3) {
      min_ = Bound(1);
      max_ = Bound(2);
      if (min_ > max_) {
        CAFFE_ENFORCE_GE(output->dim(), 1, "min is above max, so the output is empty: its rank");
        std::vector<int64_t> none = output->dims();
        none[0] = 0;
        output->Resize(none);
        output->template mutable_data<T>();
        return;
      }
    }
    FillUniform(this->context_, &draws_, output->numel(), min_, max_,
                output->template mutable_data<T>());
  }
  T Bound(int input) { return *bound_input_.Read(*this, input).template data<T>(); }

  T min_ = 0;
  T max_ = 0;
  uint64_t draws_ = 0;
  HostInput bound_input_;
};

}  // namespace caffe2rt
