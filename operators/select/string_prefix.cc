// StringPrefix, StringSuffix, StringStartsWith, StringEndsWith, StringEquals: element functions of
// strings. A string is a sequence of bytes.
//
//   StringPrefix      strings  ->  the first `length` bytes of each, or all if there are fewer
//   StringSuffix      strings  ->  the last `length` bytes
//   StringStartsWith  strings  ->  bool: whether each starts with `prefix`
//   StringEndsWith    strings  ->  bool: whether each ends with `suffix`
//   StringEquals      strings  ->  bool: whether each is `text`
//
// The output has the shape of the input.
#include <algorithm>
#include <string>
#include <string_view>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kStringLength{
    "length", 3, "bytes to keep, at least 0", {[](int n) { return n >= 0; }, "at least 0"}};
constexpr ArgumentSpec<std::string> kStringStart{"prefix", "", "what a string must start with"};
constexpr ArgumentSpec<std::string> kStringEnd{"suffix", "", "what a string must end with"};
constexpr ArgumentSpec<std::string> kStringText{"text", "", "what a string must be"};

// `Function` is read from the operator and maps a string to a `Result`.
template <class Function, class Result>
class StringFunctionOp final : public Operator<CPUContext> {
 public:
  StringFunctionOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), argument_(ReadArgument(Function::kArgument)) {}

  bool RunOnDevice() override {
    const Tensor& x = Input(0);
    const std::string* const strings = x.data<std::string>();
    Result* const results = OutputData<Result>(0, x.sizes());
    std::transform(strings, strings + x.numel(), results, [this](const std::string& string) {
      return Result(Function::Of(string, argument_));
    });
    return true;
  }

 private:
  const typename Function::Type argument_;
};

struct Prefix {
  using Type = int;
  static constexpr const auto& kArgument = kStringLength;
  static std::string_view Of(std::string_view string, int length) {
    return string.substr(0, static_cast<size_t>(length));
  }
};
struct Suffix {
  using Type = int;
  static constexpr const auto& kArgument = kStringLength;
  static std::string_view Of(std::string_view string, int length) {
    return string.substr(string.size() - std::min(string.size(), static_cast<size_t>(length)));
  }
};
struct StartsWith {
  using Type = std::string;
  static constexpr const auto& kArgument = kStringStart;
  static bool Of(std::string_view string, const std::string& start) {
    return string.starts_with(start);
  }
};
struct EndsWith {
  using Type = std::string;
  static constexpr const auto& kArgument = kStringEnd;
  static bool Of(std::string_view string, const std::string& end) { return string.ends_with(end); }
};
struct Equals {
  using Type = std::string;
  static constexpr const auto& kArgument = kStringText;
  static bool Of(std::string_view string, const std::string& text) { return string == text; }
};

template <class Function, class Result>
void RegisterFunction(const char* type, TensorProto_DataType data_type, const char* output,
                      const char* output_doc, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Arg(Function::kArgument)
      .Input(0, "strings", "strings, any shape")
      .Output(0, output, output_doc)
      .TensorInferenceFunction([data_type](const OperatorDef&, std::vector<TensorShape> in) {
        if (!in[0].unknown_shape()) in[0].set_data_type(data_type);
        return std::vector<TensorShape>{in[0]};
      })
      .SetDoc(doc);
  RegisterCpuOperator<StringFunctionOp<Function, Result>>(type, __FILE__);
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);  // strings are not differentiable
}

}  // namespace

void RegisterStringPrefix() {
  RegisterFunction<Prefix, std::string>("StringPrefix", TensorProto::STRING, "prefixes",
                                        "strings of the same shape", "Keeps the first bytes.");
  RegisterFunction<Suffix, std::string>("StringSuffix", TensorProto::STRING, "suffixes",
                                        "strings of the same shape", "Keeps the last bytes.");
  RegisterFunction<StartsWith, bool>("StringStartsWith", TensorProto::BOOL, "bools",
                                     "bool, the same shape", "Compares the first bytes.");
  RegisterFunction<EndsWith, bool>("StringEndsWith", TensorProto::BOOL, "bools",
                                   "bool, the same shape", "Compares the last bytes.");
  RegisterFunction<Equals, bool>("StringEquals", TensorProto::BOOL, "bools", "bool, the same shape",
                                 "Compares strings with a text.");
}

}  // namespace caffe2rt
