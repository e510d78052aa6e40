// Find: the position of each query in an index. Of equal elements the last one counts.
//   index int32 or int64, query of the same type  ->  the shape and type of query
#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kFindMissing{"missing_value", -1,
                                         "the output for a query that the index does not have"};

class FindOp final : public Operator<CPUContext> {
 public:
  FindOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), missing_(ReadArgument(kFindMissing)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(Input(0).dtype(), "input 0 (index)", [&](auto element) {
      return Find<decltype(element)>();
    });
  }

 private:
  template <class T>
  bool Find() {
    const Tensor& query = Input(1);
    RequireElements<T>(query);
    const int64_t size = Input(0).numel();
    CAFFE_ENFORCE_LE(size, std::numeric_limits<T>::max(),
                     "elements of input 0 (index), whose positions have its type");
    const T* const index = Input(0).data<T>();
    const T* const wanted = query.data<T>();
    T* const positions = OutputData<T>(0, query.sizes());
    order_.resize(static_cast<size_t>(size));
    std::iota(order_.begin(), order_.end(), 0);
    std::sort(order_.begin(), order_.end(), [index](int64_t a, int64_t b) {
      return index[a] < index[b] || (index[a] == index[b] && a < b);
    });
    for (int64_t i = 0; i < query.numel(); ++i) {
      const auto behind =
          std::upper_bound(order_.begin(), order_.end(), wanted[i],
                           [index](T value, int64_t position) { return value < index[position]; });
      const bool found = behind != order_.begin() && index[*(behind - 1)] == wanted[i];
      positions[i] = found ? static_cast<T>(*(behind - 1)) : static_cast<T>(missing_);
    }
    return true;
  }

  const int missing_;
  std::vector<int64_t> order_;  // positions of the index, by element and position
};

}  // namespace

void RegisterFind() {
  RegisterSchema("Find", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Arg(kFindMissing)
      .Input(0, "index", "int32 or int64, any shape")
      .Input(1, "query", "the type of index, any shape")
      .Output(0, "query_indices",
              "the shape and type of query: the last position of each element in index")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32, TensorProto::INT64}})
      .TypesOfInput(1, {.accepted = {TensorProto::INT32, TensorProto::INT64}, .like_first = true})
      .IdenticalTypeAndShapeOfInput(1)
      .SetDoc("Finds the position of each query in an index. Caffe2 has no gradient either.");
  RegisterCpuOperator<FindOp>("Find", __FILE__);
}

}  // namespace caffe2rt
