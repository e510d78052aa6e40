// ReduceProd, ReduceSumSquare, ReduceLogSum and ReduceLogSumExp, which share a class; and the
// reductions of the other Reduce operators for types without vectorized loops.

#include "operators/reduce/reduce_numbers.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/primitives/wrapping.h"
#include "operators/reduce/reduce.h"

namespace caffe2rt {

namespace {

using enum NumberReduction;

// The value of a result before its first element.
template <NumberReduction kKind, class Sum>
Sum InitialNumber() {
  using Limits = std::numeric_limits<Sum>;
  if constexpr (kKind == kMax) return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  if constexpr (kKind == kMin) return Limits::has_infinity ? Limits::infinity() : Limits::max();
  return kKind == kProd ? Sum(1) : Sum(0);
}

template <NumberReduction kKind, class Sum>
Sum JoinNumbers(Sum a, Sum x) {
  if constexpr (kKind == kMax) return a < x || x != x ? x : a;
  if constexpr (kKind == kMin) return x < a || x != x ? x : a;
  if constexpr (kKind == kProd) return math::WrappingMultiply(a, x);
  if constexpr (kKind == kL1) return math::WrappingAdd(a, x < 0 ? math::WrappingNegate(x) : x);
  if constexpr (kKind == kL2 || kKind == kSumSquare) {
    return math::WrappingAdd(a, math::WrappingMultiply(x, x));
  }
  return math::WrappingAdd(a, x);
}

// NaN and numbers outside of the range have no integer: 0, and the nearest.
template <class T>
T RoundTowardsZero(double x) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(x)) return 0;
  if (x <= static_cast<double>(Limits::lowest())) return Limits::lowest();
  return x >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<T>(x);
}

template <NumberReduction kKind, class T, class Sum>
T FinishNumber(Sum sum, int64_t n) {
  if constexpr (kKind == kMean && std::is_integral_v<Sum>) {
    return n == 0 ? T(0) : static_cast<T>(sum / n);
  } else if constexpr (kKind == kMean) {
    return static_cast<T>(sum / static_cast<Sum>(n));
  } else if constexpr (kKind == kL2 || kKind == kLogSum) {
    const double result =
        kKind == kL2 ? std::sqrt(static_cast<double>(sum)) : std::log(static_cast<double>(sum));
    if constexpr (std::is_integral_v<T>) return RoundTowardsZero<T>(result);
    return static_cast<T>(result);
  } else {
    return static_cast<T>(sum);
  }
}

template <NumberReduction kKind, class T>
void ReduceKind(const ReducePlan& plan, const T* x, T* y, Tensor* scratch) {
  // The square root of a sum of integers may be larger than they are.
  using Sum = std::conditional_t<std::is_floating_point_v<T> || kKind == kL2, double,
                                 std::conditional_t<kKind == kMax || kKind == kMin, T, int64_t>>;
  const int64_t n = plan.output_size(), reduced = plan.reduced_size();
  scratch->Resize(n);
  Sum* sums = scratch->mutable_data<Sum>();
  for (int64_t i = 0; i < n; ++i) sums[i] = InitialNumber<kKind, Sum>();
  if (n > 0 && reduced > 0) {
    plan.ForEachElement([&](int64_t from, int64_t to) {
      sums[to] = JoinNumbers<kKind, Sum>(sums[to], static_cast<Sum>(x[from]));
    });
  }
  for (int64_t i = 0; i < n; ++i) y[i] = FinishNumber<kKind, T>(sums[i], reduced);
}

// log(sum(exp(x))), with the largest element taken out of the sum.
template <class T>
void ReduceLogSumExp(const ReducePlan& plan, const T* x, T* y, Tensor* scratch) {
  const int64_t n = plan.output_size();
  scratch->Resize(2 * n);
  double* largest = scratch->mutable_data<double>();
  double* sums = largest + n;
  for (int64_t i = 0; i < n; ++i) {
    largest[i] = -std::numeric_limits<double>::infinity();
    sums[i] = 0;
  }
  if (n > 0 && plan.reduced_size() > 0) {
    plan.ForEachElement([&](int64_t from, int64_t to) {
      largest[to] = JoinNumbers<kMax, double>(largest[to], static_cast<double>(x[from]));
    });
    plan.ForEachElement([&](int64_t from, int64_t to) {
      const double shift = std::isinf(largest[to]) ? 0 : largest[to];
      sums[to] += std::exp(static_cast<double>(x[from]) - shift);
    });
  }
  for (int64_t i = 0; i < n; ++i) {
    const double result = std::log(sums[i]) + largest[i];
    if constexpr (std::is_integral_v<T>) {
      y[i] = RoundTowardsZero<T>(result);
    } else {
      y[i] = static_cast<T>(result);
    }
  }
}

template <class T>
void ReduceNumbersOf(NumberReduction kind, const ReducePlan& plan, const T* x, T* y,
                     Tensor* scratch) {
  switch (kind) {
    case kSum:
      return ReduceKind<kSum>(plan, x, y, scratch);
    case kMean:
      return ReduceKind<kMean>(plan, x, y, scratch);
    case kMax:
      return ReduceKind<kMax>(plan, x, y, scratch);
    case kMin:
      return ReduceKind<kMin>(plan, x, y, scratch);
    case kL1:
      return ReduceKind<kL1>(plan, x, y, scratch);
    case kL2:
      return ReduceKind<kL2>(plan, x, y, scratch);
    case kProd:
      return ReduceKind<kProd>(plan, x, y, scratch);
    case kSumSquare:
      return ReduceKind<kSumSquare>(plan, x, y, scratch);
    case kLogSum:
      return ReduceKind<kLogSum>(plan, x, y, scratch);
    case kLogSumExp:
      return ReduceLogSumExp(plan, x, y, scratch);
  }
}

template <class T>
bool TryNumbers(NumberReduction kind, const ReducePlan& plan, const Tensor& X, Tensor* Y,
                Tensor* scratch) {
  if (!X.IsType<T>()) return false;
  const T* x = X.numel() > 0 ? X.data<T>() : nullptr;
  ReduceNumbersOf(kind, plan, x, Y->mutable_data<T>(), scratch);
  return true;
}

// The extremes of bytes and of bool, whose elements are the bytes 0 and 1.
template <class T, class Element = T>
bool TryExtremes(NumberReduction kind, const ReducePlan& plan, const Tensor& X, Tensor* Y,
                 Tensor* scratch) {
  if ((kind != kMax && kind != kMin) || !X.IsType<Element>()) return false;
  const T* x = X.numel() > 0 ? static_cast<const T*>(X.raw_data()) : nullptr;
  T* y = static_cast<T*>(Y->raw_mutable_data(X.dtype()));
  if (kind == kMax) {
    ReduceKind<kMax>(plan, x, y, scratch);
  } else {
    ReduceKind<kMin>(plan, x, y, scratch);
  }
  if constexpr (!std::is_same_v<T, Element>) {
    for (int64_t i = 0; i < plan.output_size(); ++i) y[i] = y[i] != 0 ? T(1) : T(0);
  }
  return true;
}

template <NumberReduction kKind>
class NumberReduceOp final : public Operator<CPUContext> {
 public:
  NumberReduceOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), axes_(*this) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    RequireElementsOf<float, double, int32_t, int64_t>(X, "input 0 (X)");
    axes_.Mark(*this, X.dims().size(), &reduced_);
    ReducedDims(X.sizes(), reduced_, axes_.keep(), &output_dims_);
    plan_.Make(X.sizes(), reduced_);
    Tensor* Y = Output(0, output_dims_, X.dtype());
    return ReduceNumbers(kKind, plan_, X, Y, &scratch_);
  }

 private:
  ReduceAxes axes_;
  std::vector<char> reduced_;
  std::vector<int64_t> output_dims_;
  ReducePlan plan_;
  Tensor scratch_{CPU};
};

// Of sums s: x^2 has 2 x dY, log(s) has dY / s, and log(sum(exp(x))) has exp(x - Y) dY.
template <NumberReduction kKind>
class GetNumberReductionGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;
  bool CopyArguments() const override { return false; }

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    const ArgumentHelper args(def_);
    CAFFE_ENFORCE(def_.input_size() == 1 && !args.Read(kReduceNoop), "the gradient of ",
                  def_.type(),
                  " needs the argument axes: input 1 (axes) and noop_with_empty_axes have none");
    const std::string dy = Spread(GO(0), "spread");
    if constexpr (kKind == kSumSquare) {
      Append("Mul", {dy, I(0)}, Step("product"));
      Append("Scale", {Step("product")}, GI(0), {MakeArgument("scale", 2.0f)});
    } else {
      const std::string y = Spread(O(0), "spread_y");
      if constexpr (kKind == kLogSum) {
        Append("Negative", {y}, Step("exponent"));
      } else {
        Append("Sub", {I(0), y}, Step("exponent"));
      }
      Append("Exp", {Step("exponent")}, Step("factor"));
      Append("Mul", {dy, Step("factor")}, GI(0));
    }
    return ops_;
  }

 private:
  std::string Step(const char* what) { return MakeString(GI(0), "_", what); }
  void Append(const char* type, const std::vector<std::string>& inputs, const std::string& output,
              const std::vector<Argument>& arguments = {}) {
    ops_.push_back(CreateOperatorDef(type, "", inputs, {output}, arguments));
  }
  // The blob of Y's shape in the shape of X.
  std::string Spread(const std::string& blob, const char* what) {
    std::vector<Argument> arguments;
    for (const Argument& argument : def_.arg()) {
      if (argument.name() == kReduceAxes.name || argument.name() == kReduceKeepDims.name)
        arguments.push_back(argument);
    }
    Append("ReduceSumGradient", {blob, I(0), O(0)}, Step(what), arguments);
    return Step(what);
  }

  std::vector<OperatorDef> ops_;
};

template <NumberReduction kKind>
void RegisterNumberReduction(const char* type, const char* doc) {
  DeclareReduce(RegisterSchema(type, __FILE__)).SetDoc(doc);
  RegisterCpuOperator<NumberReduceOp<kKind>>(type, __FILE__);
  if constexpr (kKind == kProd) {
    // Nets that are trained multiply otherwise.
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  } else {
    RegisterGradient<GetNumberReductionGradient<kKind>>(type, __FILE__);
  }
}

}  // namespace

bool ReduceNumbers(NumberReduction kind, const ReducePlan& plan, const Tensor& X, Tensor* Y,
                   Tensor* scratch) {
  return TryNumbers<float>(kind, plan, X, Y, scratch) ||
         TryNumbers<double>(kind, plan, X, Y, scratch) ||
         TryNumbers<int32_t>(kind, plan, X, Y, scratch) ||
         TryNumbers<int64_t>(kind, plan, X, Y, scratch) ||
         TryExtremes<int8_t>(kind, plan, X, Y, scratch) ||
         TryExtremes<uint8_t>(kind, plan, X, Y, scratch) ||
         TryExtremes<uint8_t, bool>(kind, plan, X, Y, scratch);
}

void RegisterReduceNumbers() {
  RegisterNumberReduction<kProd>("ReduceProd",
                                 "Computes the product of the elements over the given dimensions.");
  RegisterNumberReduction<kSumSquare>("ReduceSumSquare",
                                      "Computes the sum of x * x over the given dimensions.");
  RegisterNumberReduction<kLogSum>("ReduceLogSum",
                                   "Computes the logarithm of the sum over the given dimensions.");
  RegisterNumberReduction<kLogSumExp>("ReduceLogSumExp",
                                      "Computes log(sum(exp(x))) over the given dimensions.");
}

}  // namespace caffe2rt
