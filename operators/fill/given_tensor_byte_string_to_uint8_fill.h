#pragma once
// GivenTensorByteStringToUInt8Fill: the first string of argument `values` holds the bytes of all
// elements. Argument dtype is the type of the values: STRING where it is given.

#include <algorithm>

#include "operators/fill/filler.h"

namespace caffe2rt {

// THROWS when argument dtype is given and not STRING.
void CheckByteStringType(const ArgumentHelper& args);

template <class Context>
class GivenTensorByteStringToUInt8FillOp final : public Filler<Context> {
 public:
  GivenTensorByteStringToUInt8FillOp(const OperatorDef& def, Workspace* ws)
      : Filler<Context>(def, ws), values_(GetArgumentPtr(this->debug_def(), "values")) {
    CAFFE_ENFORCE(values_ != nullptr, "argument values is missing");
    CheckByteStringType(this->args());
  }

 private:
  void Fill(Tensor* output) override {
    const int64_t have =
        values_->strings_size() > 0 ? static_cast<int64_t>(values_->strings(0).size()) : 0;
    CAFFE_ENFORCE_LE(output->numel(), have, "elements of the output of shape ", output->sizes(),
                     ", want at most the bytes of the first string of argument values");
    uint8_t* data = output->template mutable_data<uint8_t>();
    if (have > 0) std::copy_n(values_->strings(0).data(), output->numel(), data);
  }

  const Argument* const values_;  // in debug_def()
};

}  // namespace caffe2rt
