// MatMulInteger: Y = (A - a_zero_point) (B - b_zero_point), exactly, as int32.
// QLinearMatMul: the same product, quantized with the scales of A, B and Y.
//   A [batch..., M, K] and B [batch..., K, N], uint8 or int8  ->  Y [batch..., M, N]
// Zero points and scales: one, or one for each row of A and column of B.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/matrix_batches.h"
#include "operators/common/optional_inputs.h"
#include "operators/primitives/parallel_ranges.h"
#include "operators/quantize/integer_product.h"

namespace caffe2rt {

namespace {

// Writes the matrix [depth, columns] as columns [columns, depth], without the zero points.
template <class T>
void WidenColumns(const T* b, int64_t depth, int64_t columns, const int32_t* zeros,
                  int64_t zero_stride, int16_t* out) {
  constexpr int64_t kBlock = 32;
  ParallelRanges((columns + kBlock - 1) / kBlock, depth * kBlock, [&](int64_t from, int64_t to) {
    for (int64_t block = from; block < to; ++block) {
      const int64_t first = block * kBlock, last = std::min(first + kBlock, columns);
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t j = first; j < last; ++j) {
          out[j * depth + k] = static_cast<int16_t>(b[k * columns + j] - zeros[j * zero_stride]);
        }
      }
    }
  });
}

template <bool kQuantized>
class MatMulIntegerOp final : public Operator<CPUContext> {
 public:
  MatMulIntegerOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), places_(args(), InputSize()) {}

  bool RunOnDevice() override {
    const Tensor& A = Input(0);
    const Tensor& B = Input(kB);
    RequireElementsOf<uint8_t, int8_t>(A, "input 0 (A)");
    RequireElementsOf<uint8_t, int8_t>(B, "input B");
    if (A.dims() != a_dims_ || B.dims() != b_dims_ || y_dims_.empty()) {
      y_dims_.clear();  // a plan that throws leaves parts of itself
      plan_.Make(A.sizes(), B.sizes());
      a_dims_ = A.dims();
      b_dims_ = B.dims();
      y_dims_ = plan_.y_dims;
      located_ = false;
    }
    CheckParameters();
    Tensor* Y = AllocateOutput();
    if (Y->numel() == 0) return true;
    if (!located_) plan_.Locate(A.sizes(), B.sizes());
    located_ = true;
    ReadZeros(kAZero, A, plan_.m, &a_zeros_);
    ReadZeros(kBZero, B, plan_.n, &b_zeros_);
    if constexpr (kQuantized) ReadScales();
    a_rows_.resize(static_cast<size_t>(plan_.m * plan_.k));
    b_columns_.resize(static_cast<size_t>(plan_.n * plan_.k));
    if (kQuantized) sums_.resize(static_cast<size_t>(plan_.m * plan_.n));
    int64_t b_last = -1;
    for (size_t i = 0; i < plan_.a_matrix.size(); ++i) {
      WidenA(A, plan_.a_matrix[i]);
      if (plan_.b_matrix[i] != b_last) WidenB(B, plan_.b_matrix[i]);
      b_last = plan_.b_matrix[i];
      MultiplyInto(Y, static_cast<int64_t>(i));
    }
    return true;
  }

 private:
  // ONNX's positions.
  static constexpr int kB = kQuantized ? 3 : 1;
  static constexpr int kAZero = 2, kBZero = kQuantized ? 5 : 3;
  static constexpr int kAScale = 1, kBScale = 4, kYScale = 6, kYZero = 7;

  int Place(int position) const { return kQuantized ? position : places_[position]; }

  // THROWS unless the input has one element, or `count`.
  void CheckCount(int position, const char* name, int64_t count) const {
    const Tensor& tensor = Input(Place(position));
    CAFFE_ENFORCE(tensor.numel() == 1 || tensor.numel() == count, "input ", Place(position), " (",
                  name, ") has shape ", tensor.sizes(), ", want one element or ", count);
  }
  void CheckZero(int position, const char* name, const Tensor& like, int64_t count) const {
    if (Place(position) < 0) return;
    const Tensor& zeros = Input(Place(position));
    CAFFE_ENFORCE(zeros.dtype() == like.dtype(), "input ", Place(position), " (", name,
                  ") has elements of type ", zeros.dtype().name(), ", want ", like.dtype().name());
    CheckCount(position, name, count);
  }
  void CheckParameters() const {
    CheckZero(kAZero, "a_zero_point", Input(0), plan_.m);
    CheckZero(kBZero, "b_zero_point", Input(kB), plan_.n);
    if constexpr (kQuantized) {
      for (const int i : {kAScale, kBScale, kYScale}) RequireElements<float>(Input(i));
      CheckCount(kAScale, "a_scale", plan_.m);
      CheckCount(kBScale, "b_scale", plan_.n);
      CheckCount(kYScale, "y_scale", 1);
      RequireElementsOf<uint8_t, int8_t>(Input(kYZero), "input 7 (y_zero_point)");
      CheckCount(kYZero, "y_zero_point", 1);
    }
  }
  Tensor* AllocateOutput() {
    return Output(0, y_dims_,
                  kQuantized ? Input(kQuantized ? kYZero : 0).dtype() : TypeMeta::Make<int32_t>());
  }

  void ReadZeros(int position, const Tensor&, int64_t count, std::vector<int32_t>* zeros) const {
    zeros->assign(static_cast<size_t>(count), 0);
    if (Place(position) < 0) return;
    const Tensor& tensor = Input(Place(position));
    for (int64_t i = 0; i < count; ++i) {
      (*zeros)[static_cast<size_t>(i)] = ByteAt(tensor, tensor.numel() == 1 ? 0 : i);
    }
  }
  void ReadScales() {
    const float y_scale = *Input(kYScale).template data<float>();
    CAFFE_ENFORCE(y_scale != 0 && std::isfinite(y_scale), "input 6 (y_scale) is ", y_scale,
                  ", want a finite number other than 0");
    const Tensor &a = Input(kAScale), &b = Input(kBScale);
    multipliers_.resize(static_cast<size_t>(plan_.m * plan_.n));
    for (int64_t i = 0; i < plan_.m; ++i) {
      const float a_scale = a.data<float>()[a.numel() == 1 ? 0 : i];
      for (int64_t j = 0; j < plan_.n; ++j) {
        const float b_scale = b.data<float>()[b.numel() == 1 ? 0 : j];
        multipliers_[static_cast<size_t>(i * plan_.n + j)] = a_scale * b_scale / y_scale;
      }
    }
  }

  void WidenA(const Tensor& A, int64_t matrix) {
    const int64_t k = plan_.k;
    ParallelRanges(plan_.m, k, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        const int64_t at = (matrix * plan_.m + i) * k;
        const int32_t zero = a_zeros_[static_cast<size_t>(i)];
        if (A.IsType<uint8_t>()) {
          WidenBytes(k, A.data<uint8_t>() + at, zero, a_rows_.data() + i * k);
        } else {
          WidenBytes(k, A.data<int8_t>() + at, zero, a_rows_.data() + i * k);
        }
      }
    });
  }
  void WidenB(const Tensor& B, int64_t matrix) {
    const int64_t at = matrix * plan_.k * plan_.n;
    if (B.IsType<uint8_t>()) {
      WidenColumns(B.data<uint8_t>() + at, plan_.k, plan_.n, b_zeros_.data(), 1, b_columns_.data());
    } else {
      WidenColumns(B.data<int8_t>() + at, plan_.k, plan_.n, b_zeros_.data(), 1, b_columns_.data());
    }
  }

  void MultiplyInto(Tensor* Y, int64_t matrix) {
    const int64_t m = plan_.m, n = plan_.n, k = plan_.k;
    int32_t* sums =
        kQuantized ? sums_.data() : Y->template mutable_data<int32_t>() + matrix * m * n;
    if (m > 4 * n) {
      ParallelRanges(m, n * (k / 8 + 2), [&](int64_t first, int64_t last) {
        MultiplyRows(last - first, n, k, a_rows_.data() + first * k, b_columns_.data(),
                     sums + first * n, n);
      });
    } else {
      ParallelRanges((n + 3) / 4, 4 * m * (k / 8 + 2), [&](int64_t from, int64_t to) {
        const int64_t first = from * 4, last = std::min(to * 4, n);
        MultiplyRows(m, last - first, k, a_rows_.data(), b_columns_.data() + first * k,
                     sums + first, n);
      });
    }
    if constexpr (kQuantized) {
      const Requantization by{multipliers_.data(), 1, ByteAt(Input(kYZero), 0)};
      if (Y->IsType<uint8_t>()) {
        RequantizeSums(m * n, sums, by, Y->template mutable_data<uint8_t>() + matrix * m * n);
      } else {
        RequantizeSums(m * n, sums, by, Y->template mutable_data<int8_t>() + matrix * m * n);
      }
    }
  }

  const InputPlaces places_;
  MatrixBatches plan_;
  bool located_ = false;
  std::vector<int64_t> a_dims_, b_dims_, y_dims_;
  std::vector<int32_t> a_zeros_, b_zeros_, sums_;
  std::vector<float> multipliers_;
  std::vector<int16_t> a_rows_, b_columns_;
};

std::vector<TensorShape> InferMatMulInteger(const OperatorDef& def,
                                            const std::vector<TensorShape>& in, size_t b,
                                            TensorProto_DataType type) {
  if (in.size() <= b || !IsKnown(in[0]) || !IsKnown(in[b])) return UnknownOutputs(def);
  MatrixBatches plan;
  plan.Make(GetDimsVector(in[0]), GetDimsVector(in[b]));
  return {CreateTensorShape(plan.y_dims, type)};
}

}  // namespace

void RegisterMatMulInteger() {
  RegisterSchema("MatMulInteger", __FILE__)
      .NumInputs(2, 4)
      .NumOutputs(1)
      .Arg(kOmittedInputs)
      .Input(0, "A", "uint8 or int8, [batch..., M, K]")
      .Input(1, "B", "uint8 or int8, [batch..., K, N]")
      .Input(2, "a_zero_point", "the type of A: one element, or M; default: 0")
      .Input(3, "b_zero_point", "the type of B: one element, or N; default: 0")
      .Output(0, "Y", "int32, [batch..., M, N]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return InferMatMulInteger(def, in, 1, TensorProto_DataType_INT32);
      })
      .Traits({.family = OperatorFamily::kMatMul})
      .SetDoc(
          "Multiplies matrices of bytes exactly, with ONNX's (numpy's) broadcasting: Y = (A - "
          "a_zero_point) (B - b_zero_point).");
  RegisterCpuOperator<MatMulIntegerOp<false>>("MatMulInteger", __FILE__);

  RegisterSchema("QLinearMatMul", __FILE__)
      .NumInputs(8)
      .NumOutputs(1)
      .Input(0, "A", "uint8 or int8, [batch..., M, K]")
      .Input(1, "a_scale", "float: one element, or M")
      .Input(2, "a_zero_point", "the type of A: one element, or M")
      .Input(3, "B", "uint8 or int8, [batch..., K, N]")
      .Input(4, "b_scale", "float: one element, or N")
      .Input(5, "b_zero_point", "the type of B: one element, or N")
      .Input(6, "y_scale", "float, one element")
      .Input(7, "y_zero_point", "uint8 or int8, one element")
      .Output(0, "Y", "the type of y_zero_point, [batch..., M, N]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (in.size() < 8 || !in[7].has_data_type() ||
            in[7].data_type() == TensorProto_DataType_UNDEFINED) {
          return UnknownOutputs(def);
        }
        return InferMatMulInteger(def, in, 3, in[7].data_type());
      })
      .Traits({.family = OperatorFamily::kMatMul})
      .SetDoc(
          "Multiplies quantized matrices as ONNX does: the exact product without zero points, "
          "times "
          "a_scale * b_scale / y_scale, rounded to nearest, ties to even, plus y_zero_point.");
  RegisterCpuOperator<MatMulIntegerOp<true>>("QLinearMatMul", __FILE__);
  // Inputs and outputs are integers.
  for (const char* type : {"MatMulInteger", "QLinearMatMul"}) {
    RegisterGradient<ThrowInTheTowelIfGradientIsCalled>(type, __FILE__);
  }
}

}  // namespace caffe2rt
