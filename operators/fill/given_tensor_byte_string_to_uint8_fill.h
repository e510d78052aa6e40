#pragma once
// GivenTensorByteStringToUInt8Fill: the first string of argument `values` holds one byte for each
// element. Argument dtype is the type of `values`; if given, it must be STRING.

#include <algorithm>
#include <string>

#include "caffe2_core/model/given_values.h"
#include "operators/fill/filler.h"

namespace caffe2rt {

inline constexpr RepeatedArgumentSpec<std::string> kByteStrings{
    "values", "strings; the first one holds a byte for each element", {}, true};
inline constexpr ArgumentSpec<int> kByteStringType{
    "dtype",
    TensorProto_DataType_STRING,
    "type of the values, a TensorProto.DataType number: STRING (4)",
    {[](int type) { return type == TensorProto_DataType_STRING; }, "STRING (4) or none"}};

template <class Context>
class GivenTensorByteStringToUInt8FillOp final : public Filler<Context> {
 public:
  GivenTensorByteStringToUInt8FillOp(const OperatorDef& def, Workspace* ws)
      : Filler<Context>(def, ws),
        values_(GetArgumentPtr(this->debug_def(), kByteStrings.name)),
        given_(GivenValues::Take(this->debug_def())) {
    CAFFE_ENFORCE(values_ != nullptr, "argument values is missing");
    (void)this->ReadArgument(kByteStringType);
  }

 private:
  void Fill(Tensor* output) override {
    const int64_t have =
        given_.IsShaped()
            ? given_.numel()
            : (values_->strings_size() > 0 ? static_cast<int64_t>(values_->strings(0).size()) : 0);
    CAFFE_ENFORCE_LE(output->numel(), have, "elements of the output of shape ", output->sizes(),
                     ", want at most the bytes of the first string of argument values");
    if (given_.IsShaped()) return MoveGivenValues(std::move(given_), output);
    uint8_t* data = output->template mutable_data<uint8_t>();
    if (have > 0) std::copy_n(values_->strings(0).data(), output->numel(), data);
  }

  const Argument* const values_;  // in debug_def()
  Tensor given_;                  // the bytes, if they are not in `values_`
};

}  // namespace caffe2rt
