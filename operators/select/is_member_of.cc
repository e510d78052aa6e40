// IsMemberOf: whether each element is one of the values of an argument.
//   X int32, int64, bool or strings, any shape  ->  bool, the same shape
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/tensor/data_type.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

// One argument, which is a list of strings for elements that are strings.
constexpr RepeatedArgumentSpec<int64_t> kMemberNumbers{"value", "the elements to find"};
constexpr RepeatedArgumentSpec<std::string> kMemberStrings{"value", "the elements to find"};
constexpr ArgumentSpec<int> kMemberType{
    "dtype",
    TensorProto::UNDEFINED,
    "the type of the elements of X, or 0 for any: INT32, STRING, BOOL or INT64",
    {[](int type) {
       return type == TensorProto::UNDEFINED || type == TensorProto::INT32 ||
              type == TensorProto::STRING || type == TensorProto::BOOL ||
              type == TensorProto::INT64;
     },
     "0, INT32 (2), STRING (4), BOOL (5) or INT64 (10)"}};

class IsMemberOfOp final : public Operator<CPUContext> {
 public:
  IsMemberOfOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        type_(ReadArgument(kMemberType)),
        numbers_(ReadArgument(kMemberNumbers)),
        strings_(ReadArgument(kMemberStrings)) {
    std::sort(numbers_.begin(), numbers_.end());
    std::sort(strings_.begin(), strings_.end());
  }

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(type_ == TensorProto::UNDEFINED || type_ == TypeMetaToDataType(X.dtype()),
                  "argument dtype is ", type_, ", want the type of input 0 (X), ",
                  X.dtype().name());
    DispatchByType<int32_t, int64_t, bool, std::string>(
        X.dtype(), "input 0 (X)", [&](const auto& element) {
          using T = std::decay_t<decltype(element)>;
          const T* const x = X.data<T>();
          bool* const y = OutputData<bool>(0, X.sizes());
          if constexpr (std::is_same_v<T, std::string>) {
            Search(x, strings_, X.numel(), y);
          } else if constexpr (std::is_same_v<T, bool>) {
            // Every number but 0 is true.
            const bool has_false = std::binary_search(numbers_.begin(), numbers_.end(), 0);
            const bool has_true =
                !numbers_.empty() && (numbers_.front() != 0 || numbers_.back() != 0);
            std::transform(x, x + X.numel(), y, [=](bool b) { return b ? has_true : has_false; });
          } else {
            CheckFits<T>();
            Search(x, numbers_, X.numel(), y);
          }
        });
    return true;
  }

 private:
  template <class T>
  void CheckFits() const {
    if (numbers_.empty()) return;
    for (const int64_t number : {numbers_.front(), numbers_.back()}) {
      CAFFE_ENFORCE(
          number >= std::numeric_limits<T>::min() && number <= std::numeric_limits<T>::max(),
          "argument value contains ", number, ", want numbers of type ",
          TypeMeta::Make<T>().name());
    }
  }
  template <class T, class Value>
  static void Search(const T* x, const std::vector<Value>& sorted, int64_t size, bool* y) {
    std::transform(x, x + size, y, [&](const T& element) {
      return std::binary_search(sorted.begin(), sorted.end(), element);
    });
  }

  const int type_;
  std::vector<int64_t> numbers_;
  std::vector<std::string> strings_;
};

}  // namespace

void RegisterIsMemberOf() {
  RegisterSchema("IsMemberOf", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(kMemberNumbers.name, "a list of ints or strings: the elements to find")
      .Arg(kMemberType)
      .Input(0, "X", "int32, int64, bool or strings, any shape")
      .Output(0, "Y", "bool, the shape of X: whether the element is one of the values")
      .TypesOfInput(0, {.accepted = {TensorProto::INT32, TensorProto::INT64, TensorProto::BOOL,
                                     TensorProto::STRING}})
      .TensorInferenceFunction([](const OperatorDef&, std::vector<TensorShape> in) {
        in[0].set_data_type(TensorProto::BOOL);
        return std::vector<TensorShape>{in[0]};
      })
      .SetDoc("Finds the elements that are one of the values of an argument.");
  RegisterCpuOperator<IsMemberOfOp>("IsMemberOf", __FILE__);
  // Not differentiable.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("IsMemberOf", __FILE__);
}

}  // namespace caffe2rt
