#pragma once
// BatchOneHot: compares each column of X with a list of values for that column.
//   X [N, D], lengths int32 [D], values [sum of lengths]
//   ->  [N, sum of lengths] of the type of X: 1 where the element of X equals the value, 0
//   elsewhere
//
// X and values are int32 or int64.

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "operators/common/element_type.h"

namespace caffe2rt {

template <class Context>
class BatchOneHotOp final : public Operator<Context> {
 public:
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  BatchOneHotOp(const OperatorDef& def, Workspace* ws) : Operator<Context>(def, ws) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (data)", [&](auto element) {
      return RunWith<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool RunWith() {
    const Tensor& data = Input(0);
    const Tensor& lengths = Input(1);
    const Tensor& values = Input(2);
    CAFFE_ENFORCE_GE(data.dim(), 1, "rank of input 0 (data), want at least 1");
    const int64_t rows = data.dim(0), columns = data.size_from_dim(1);
    CAFFE_ENFORCE_EQ(lengths.numel(), columns,
                     "elements of input 1 (lengths), want the columns of input 0 "
                     "(data) of shape ",
                     data.sizes());
    RequireElements<T>(values);
    const int32_t* length = lengths.template data<int32_t>();
    int64_t total = 0;
    for (int64_t i = 0; i < columns; ++i) {
      CAFFE_ENFORCE_GE(length[i], 0, "element ", i, " of input 1 (lengths), want at least 0");
      total = CheckedAdd<int64_t>(total, length[i]);
    }
    CAFFE_ENFORCE_EQ(values.numel(), total,
                     "elements of input 2 (values), want the sum of the lengths");
    const T* x = data.template data<T>();
    T* out = this->template OutputData<T>(0, {rows, total});
    for (int64_t i = 0; i < rows; ++i) {
      const T* value = values.template data<T>();
      for (int64_t j = 0; j < columns; ++j) {
        const T wanted = *x++;
        for (int32_t l = 0; l < length[j]; ++l) *out++ = wanted == *value++ ? T(1) : T(0);
      }
    }
    return true;
  }
};

}  // namespace caffe2rt
