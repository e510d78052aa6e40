// IncrementPut, AveragePut, StdDevPut: count a number in the statistics of the process
// (caffe2_core/runtime/stat_registry.h).
//   value: its first element counts  ->  nothing
// With name = "NAME/stat_value", where NAME is stat_name or the name of the input, and v the
// integer part of magnitude_expand * value:
//   IncrementPut  adds v to "name"
//   AveragePut    adds v to "name/sum" and 1 to "name/count"
//   StdDevPut     the same; with d = v - the first v of this operator, also adds d to
//                 "name/sumoffset" and d^2 to "name/sumsqoffset"
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "caffe2_core/base/float16.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/stat_registry.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<std::string> kStatPutName{
    "stat_name", "", "name of the statistic; without it, that of the input"};
constexpr ArgumentSpec<int64_t> kStatPutFactor{
    "magnitude_expand",
    1,
    "factor of the value: statistics are integers",
    {[](int64_t factor) { return factor > 0; }, "above 0"}};
constexpr ArgumentSpec<bool> kStatPutBound{
    "bound", false,
    "count the nearest number that fits, and 0 for NaN, where it is an error otherwise"};
constexpr ArgumentSpec<float> kStatPutDefault{
    "default_value", 0.0f, "the value of an empty input, which is an error otherwise"};

constexpr int64_t kLeastStat = std::numeric_limits<int64_t>::min();
constexpr int64_t kMostStat = std::numeric_limits<int64_t>::max();

// Sets *stat to the integer part of `product` if that fits.
template <class F>
bool FitsStat(F product, int64_t* stat) {
  constexpr F kEnd = static_cast<F>(9223372036854775808.0);  // 2^63
  if (!(product >= -kEnd && product < kEnd)) return false;
  *stat = static_cast<int64_t>(product);
  return true;
}

// `y` as a float16 number if that is finite.
inline float HalfIfFinite(float y) {
  const float half = float16(y);
  return std::isfinite(half) ? half : y;
}

enum class StatKind { kIncrement, kAverage, kStdDev };

template <StatKind kKind>
class StatPutOp final : public Operator<CPUContext> {
 public:
  StatPutOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        name_(HasArgument(kStatPutName) ? ReadArgument(kStatPutName) : def.input(0)),
        factor_(ReadArgument(kStatPutFactor)),
        bound_(ReadArgument(kStatPutBound)),
        has_default_(HasArgument(kStatPutDefault)),
        default_(ReadArgument(kStatPutDefault)) {
    const std::string name = name_ + "/stat_value";
    sum_ = Stat(kKind == StatKind::kIncrement ? name : name + "/sum");
    if (kKind == StatKind::kIncrement) return;
    count_ = Stat(name + "/count");
    if (kKind == StatKind::kAverage) return;
    offsets_ = Stat(name + "/sumoffset");
    squares_ = Stat(name + "/sumsqoffset");
  }

  bool RunOnDevice() override {
    const Tensor& value = Input(0);
    CAFFE_ENFORCE(value.numel() > 0 || has_default_,
                  "input 0 (value) is empty, and there is no default_value for \"", name_, "\"");
    return DispatchByType<float, double, int32_t, int64_t, uint8_t, int8_t, uint16_t, int16_t,
                          float16>(value.dtype(), "input 0 (value)", [&](auto element) {
      using T = decltype(element);
      Count(value.numel() > 0 ? Expand(value.data<T>()[0]) : ExpandDefault<T>());
      return true;
    });
  }

 private:
  static StatValue* Stat(const std::string& name) { return StatRegistry::get().add(name); }

  // magnitude_expand * value, in the type of the value if that is a floating-point type. As in
  // Caffe2, values of kMostStat / magnitude_expand and above are too large.
  template <class T>
  int64_t Expand(T value) const {
    const int64_t end = kMostStat / factor_;
    if constexpr (std::is_integral_v<T>) {
      const int64_t whole = value;
      return whole > -end && whole < end ? whole * factor_ : Limit(whole < 0, whole);
    } else {
      using F = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const F x = value;
      if (std::isnan(x)) return OfNaN();
      int64_t stat = 0;
      F product = 0;
      if constexpr (std::is_same_v<T, float16>) {
        product = HalfIfFinite(x * HalfIfFinite(static_cast<float>(factor_)));
      } else {
        product = x * static_cast<F>(factor_);
      }
      const bool fits = std::abs(x) < static_cast<F>(end) && FitsStat(product, &stat);
      return fits ? stat : Limit(x < 0, x);
    }
  }
  // The default as an element of the input's type.
  template <class T>
  int64_t ExpandDefault() const {
    if constexpr (std::is_integral_v<T>) {
      int64_t whole = 0;
      CAFFE_ENFORCE(FitsStat(default_, &whole) && whole >= std::numeric_limits<T>::min() &&
                        whole <= std::numeric_limits<T>::max(),
                    "default_value is ", default_, ", which an element of type ",
                    TypeMeta::Name<T>(), " cannot hold");
      return Expand(static_cast<T>(whole));
    } else {
      return Expand(static_cast<T>(default_));
    }
  }
  int64_t OfNaN() const {
    CAFFE_ENFORCE(bound_, "input 0 (value) is NaN");
    return 0;
  }
  // Of a value whose product does not fit.
  template <class T>
  int64_t Limit(bool negative, T value) const {
    CAFFE_ENFORCE(bound_, "input 0 (value) is ", value,
                  ", which is too large for magnitude_expand ", factor_);
    return negative ? kLeastStat : kMostStat;
  }

  void Count(int64_t value) {
    sum_->increment(value);
    if (count_ != nullptr) count_->increment(1);
    if (offsets_ == nullptr) return;
    if (!has_first_) first_ = value;
    has_first_ = true;
    // Unsigned, because statistics wrap around.
    const uint64_t offset = static_cast<uint64_t>(value) - static_cast<uint64_t>(first_);
    offsets_->increment(static_cast<int64_t>(offset));
    squares_->increment(static_cast<int64_t>(offset * offset));
  }

  const std::string name_;
  const int64_t factor_;
  const bool bound_, has_default_;
  const float default_;
  StatValue* sum_ = nullptr;
  StatValue* count_ = nullptr;
  StatValue* offsets_ = nullptr;
  StatValue* squares_ = nullptr;
  int64_t first_ = 0;
  bool has_first_ = false;
};

template <StatKind kKind>
void RegisterPut(const char* type, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(0)
      .Args(kStatPutName, kStatPutFactor, kStatPutBound, kStatPutDefault)
      .Input(0, "value", "a number, of which the first element counts")
      .TypesOfInput(0,
                    {.accepted = {TensorProto::FLOAT, TensorProto::DOUBLE, TensorProto::INT32,
                                  TensorProto::INT64, TensorProto::UINT8, TensorProto::INT8,
                                  TensorProto::UINT16, TensorProto::INT16, TensorProto::FLOAT16}})
      .HasEffect(Effect::kEverything)
      .SetDoc(doc);
  RegisterCpuOperator<StatPutOp<kKind>>(type, __FILE__);
  // As in Caffe2, no gradient makers: statistics are not differentiable.
}

}  // namespace

void RegisterStatPut() {
  RegisterPut<StatKind::kIncrement>("IncrementPut", "Adds a value to a statistic of the process.");
  RegisterPut<StatKind::kAverage>(
      "AveragePut", "Adds a value to a statistic of the process that has a sum and a count.");
  RegisterPut<StatKind::kStdDev>(
      "StdDevPut",
      "Adds a value to a statistic of the process from which mean and standard deviation follow: "
      "the sum, the count, and the sums of the differences from the first value and of their "
      "squares.");
}

}  // namespace caffe2rt
