// StringJoin: the elements of each row, or of each column, as one string.
//   X [N] or [N, D], numbers or strings  ->  strings [N], or [D] for axis 1
// The delimiter follows each element, also the last one. A number is written as by a C++ stream:
// with six digits; 8-bit integers are characters.
#include <charconv>
#include <string>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kStringDelimiter{"delimiter", ",", "what follows each element"};
constexpr ArgumentSpec<int> kStringJoinAxis{
    "axis",
    0,
    "0: joins each row, 1: joins each column of a matrix",
    {[](int axis) { return axis == 0 || axis == 1; }, "0 or 1"}};

template <class T>
void AppendText(const T& element, std::string* text) {
  if constexpr (std::is_same_v<T, std::string>) {
    *text += element;
  } else if constexpr (sizeof(T) == 1 && !std::is_same_v<T, bool>) {
    *text += static_cast<char>(element);
  } else {
    constexpr int kDigits = 6;
    char buffer[32];
    std::to_chars_result end{};
    if constexpr (std::is_floating_point_v<T>) {
      end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<double>(element),
                          std::chars_format::general, kDigits);
    } else {
      end = std::to_chars(buffer, buffer + sizeof(buffer), static_cast<int64_t>(element));
    }
    text->append(buffer, end.ptr);
  }
}

class StringJoinOp final : public Operator<CPUContext> {
 public:
  StringJoinOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        delimiter_(ReadArgument(kStringDelimiter)),
        axis_(ReadArgument(kStringJoinAxis)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.dim() == 1 || X.dim() == 2, "rank of input 0 (X) of shape ", X.sizes(),
                  ", want 1 or 2");
    CAFFE_ENFORCE_LT(axis_, X.dim(), "argument axis, want less than the rank of input 0 (X)");
    CAFFE_ENFORCE_GT(X.numel(), 0, "elements of input 0 (X) of shape ", X.sizes());
    return DispatchByType<float, double, int8_t, uint8_t, int16_t, uint16_t, int32_t, int64_t, bool,
                          std::string>(X.dtype(), "input 0 (X)", [&](const auto& element) {
      return Join<std::decay_t<decltype(element)>>();
    });
  }

 private:
  template <class T>
  bool Join() {
    const Tensor& X = Input(0);
    const int64_t columns = X.size_from_dim(1), strings = axis_ == 0 ? X.dim(0) : columns;
    const T* const x = X.data<T>();
    std::string* const y = OutputData<std::string>(0, {strings});
    for (int64_t s = 0; s < strings; ++s) y[s].clear();
    for (int64_t i = 0; i < X.numel(); ++i) {
      std::string& text = y[axis_ == 0 ? i / columns : i % columns];
      AppendText(x[i], &text);
      text += delimiter_;
    }
    return true;
  }

  const std::string delimiter_;
  const int axis_;
};

}  // namespace

void RegisterStringJoin() {
  RegisterSchema("StringJoin", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kStringDelimiter, kStringJoinAxis)
      .Input(0, "X", "[N] or [N, D], with elements: numbers but float16, bool, or strings")
      .Output(0, "strings", "[N], or [D] for axis 1: the elements, each followed by the delimiter")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT8,
                                     TensorProto::UINT8, TensorProto::INT16, TensorProto::UINT16,
                                     TensorProto::INT32, TensorProto::INT64, TensorProto::BOOL,
                                     TensorProto::STRING}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        const int axis = ArgumentHelper(def).Read(kStringJoinAxis);
        if (!AreKnown(in, 1) || in[0].dims_size() <= axis)
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto::STRING)};
        const std::vector<int64_t> dims = {in[0].dims(axis)};
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto::STRING)};
      })
      .SetDoc("Writes the elements of each row, or of each column, as one string.");
  RegisterCpuOperator<StringJoinOp>("StringJoin", __FILE__);
  // Strings are not differentiable.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("StringJoin", __FILE__);
}

}  // namespace caffe2rt
