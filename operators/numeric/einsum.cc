// Einsum: sums of products of the elements of tensors, by an equation of letters as numpy's einsum.
//   X0, X1, ... float, double, int32 or int64  ->  Y
//
// Each letter is a loop. The loops of the output are outside, those of the sum inside. The product of
// two matrices (or batches of them) runs as GEMM after the operands are brought into the order
// [batch, row, sum] and [batch, sum, column]; everything else runs the loops as they are.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/numeric/einsum_plan.h"
#include "operators/numeric/numbers.h"
#include "operators/primitives/gemm.h"
#include "operators/primitives/wrapping.h"

namespace caffe2rt {

namespace {

template <class T>
using EinsumOperands = std::array<const T*, kMaxEinsumInputs>;

// The sum over loops [depth, loops.size()) of the products of the first `count` operands.
template <class T>
T EinsumSum(const std::vector<EinsumLoop>& loops, size_t depth, const EinsumOperands<T>& x,
            size_t count) {
  if (depth == loops.size()) {
    T product = *x[0];
    for (size_t i = 1; i < count; ++i) product = math::WrappingMultiply(product, *x[i]);
    return product;
  }
  const EinsumLoop& loop = loops[depth];
  T sum = 0;
  if (depth + 1 == loops.size() && count == 2) {
    for (int64_t j = 0; j < loop.size; ++j) {
      sum = math::WrappingAdd(
          sum, math::WrappingMultiply(x[0][j * loop.strides[0]], x[1][j * loop.strides[1]]));
    }
    return sum;
  }
  EinsumOperands<T> at = x;
  for (int64_t j = 0; j < loop.size; ++j) {
    sum = math::WrappingAdd(sum, EinsumSum(loops, depth + 1, at, count));
    for (size_t i = 0; i < count; ++i) at[i] += loop.strides[i];
  }
  return sum;
}

class EinsumOp final : public Operator<CPUContext> {
 public:
  EinsumOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), equation_(ReadArgument(kEinsumEquation)) {}

  bool RunOnDevice() override {
    return DispatchByType<float, double, int32_t, int64_t>(
        Input(0).dtype(), "input 0", [&](auto element) {
          using T = decltype(element);
          shapes_.resize(static_cast<size_t>(InputSize()));
          for (int i = 0; i < InputSize(); ++i) {
            RequireElements<T>(Input(i));
            shapes_[static_cast<size_t>(i)] = Input(i).dims();
          }
          if (shapes_ != planned_ || planned_.empty()) {
            plan_ = PlanEinsum(equation_, shapes_);
            planned_ = shapes_;
          }
          T* y = OutputData<T>(0, plan_.y_dims);
          if (Output(0)->numel() > 0) Run<T>(y);
          return true;
        });
  }

 private:
  template <class T>
  void Run(T* y) {
    const size_t count = static_cast<size_t>(InputSize());
    EinsumOperands<T> x{};
    bool empty = false;
    for (size_t i = 0; i < count; ++i) {
      const Tensor& input = Input(static_cast<int>(i));
      empty |= input.numel() == 0;
      x[i] = input.numel() == 0 ? nullptr : input.template data<T>();
    }
    if (empty) {
      std::fill_n(y, Output(0)->numel(), T(0));
      return;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (plan_.is_product) return RunProduct(x[0], x[1], y);
    }
    ParallelRanges(Output(0)->numel(), plan_.sum_size, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        EinsumOperands<T> at = x;
        int64_t rest = i;
        for (size_t d = plan_.outer.size(); d-- > 0;) {
          const EinsumLoop& loop = plan_.outer[d];
          const int64_t place = rest % loop.size;
          rest /= loop.size;
          for (size_t k = 0; k < count; ++k) at[k] += place * loop.strides[k];
        }
        y[i] = EinsumSum(plan_.inner, 0, at, count);
      }
    });
  }

  // Copies operand `i` into the order of `loops`.
  static void Gather(const std::vector<EinsumLoop>& loops, size_t i, const float* x,
                     std::vector<float>* out) {
    int64_t total = 1;
    for (const EinsumLoop& loop : loops) total *= loop.size;
    out->resize(static_cast<size_t>(total));
    ParallelRanges(total, 4, [&](int64_t first, int64_t last) {
      for (int64_t at = first; at < last; ++at) {
        int64_t rest = at, from = 0;
        for (size_t d = loops.size(); d-- > 0;) {
          from += rest % loops[d].size * loops[d].strides[i];
          rest /= loops[d].size;
        }
        (*out)[static_cast<size_t>(at)] = x[from];
      }
    });
  }

  // Y in the order [batch, row, column] is a batch of products; then its axes are put into place.
  void RunProduct(const float* a, const float* b, float* y) {
    const EinsumProduct& p = plan_.product;
    Gather(p.a_loops, 0, a, &a_);
    Gather(p.b_loops, 1, b, &b_);
    product_.resize(static_cast<size_t>(p.batch * p.m * p.n));
    for (int64_t i = 0; i < p.batch; ++i) {
      ParallelRanges(p.m, p.n * p.k / 8 + 1, [&](int64_t first, int64_t last) {
        Sgemm(false, false, last - first, p.n, p.k, 1.f, a_.data() + (i * p.m + first) * p.k, p.k,
              b_.data() + i * p.k * p.n, p.n, 0.f, product_.data() + (i * p.m + first) * p.n, p.n);
      });
    }
    Gather(p.y_loops, 0, product_.data(), &y_);
    std::copy(y_.begin(), y_.end(), y);
  }

  const std::string equation_;
  std::vector<std::vector<int64_t>> shapes_, planned_;
  EinsumPlan plan_;
  std::vector<float> a_, b_, product_, y_;
};

}  // namespace

void RegisterEinsum() {
  RegisterSchema("Einsum", __FILE__)
      .NumInputs(1, kMaxEinsumInputs)
      .NumOutputs(1)
      .Arg(kEinsumEquation)
      .Input(0, "X0, X1, ...", "float, double, int32 or int64, all of one type")
      .Output(0, "Y", "the axes that the equation lists after ->")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, in.size())) return UnknownOutputs(def);
        std::vector<std::vector<int64_t>> shapes;
        for (const TensorShape& shape : in) shapes.push_back(GetDimsVector(shape));
        return std::vector<TensorShape>{
            CreateTensorShape(PlanEinsum(ArgumentHelper(def).Read(kEinsumEquation), shapes).y_dims,
                              in[0].data_type())};
      })
      .Traits({.family = OperatorFamily::kMatMul})
      .SetDoc(
          "Computes sums of products by an equation as numpy's einsum and ONNX's Einsum: "
          "\"ij,jk->ik\" "
          "multiplies matrices.");
  RegisterCpuOperator<EinsumOp>("Einsum", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("Einsum", __FILE__);
}

}  // namespace caffe2rt
