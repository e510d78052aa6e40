// LabelCrossEntropy, LabelCrossEntropyGradient, CrossEntropy, CrossEntropyGradient.

#include "operators/loss/cross_entropy.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/primitives/lane_sum.h"

namespace caffe2rt {

CrossEntropySize SizeOfCrossEntropy(IntArrayRef x, IntArrayRef label, bool by_class) {
  const bool has_rows = x.size() > 1;
  const int64_t rows = has_rows ? x[0] : 1;
  const int64_t classes = CheckedProduct(x.slice(has_rows ? 1 : 0));
  const int64_t cols = by_class ? 1 : classes;
  CAFFE_ENFORCE(label.size() == 1 || (label.size() == 2 && label[1] == cols),
                "input 1 (label) has shape ", label, ", want ", cols,
                by_class ? " label" : " probabilities", " for each row of input 0 (X) of shape ",
                x);
  CAFFE_ENFORCE_EQ(label[0], rows, "dim 0 of input 1 (label) of shape ", label,
                   ", want the rows of input 0 (X) of shape ", x);
  CAFFE_ENFORCE_EQ(CheckedProduct(label), CheckedMultiply(rows, cols),
                   "elements of input 1 (label) of shape ", label,
                   ", want one for each element of ", "input 0 (X) of shape ", x);
  return {rows, classes};
}

CrossEntropySize SizeOfCrossEntropyGradient(IntArrayRef x, IntArrayRef label, IntArrayRef dy,
                                            bool by_class) {
  const CrossEntropySize size = SizeOfCrossEntropy(x, label, by_class);
  CAFFE_ENFORCE(dy.size() == 1 && dy[0] == size.rows, "input 2 (dY) has shape ", dy, ", want [",
                size.rows, "], the rows of input 0 (X) of shape ", x);
  return size;
}

namespace {

void CheckLabel(int32_t label, int64_t row, int64_t classes) {
  CAFFE_ENFORCE(label >= 0 && label < classes, "input 1 (label) is ", label, " in row ", row,
                ", want at least 0 and below ", classes, ", the number of classes");
}

void CheckProbabilities(const float* labels, int64_t rows, int64_t classes) {
  for (int64_t i = 0; i < rows * classes; ++i) {
    CAFFE_ENFORCE(labels[i] >= 0 && labels[i] <= 1, "input 1 (label) is ", labels[i], " in row ",
                  i / classes, ", want probabilities from 0 to 1");
  }
}

}  // namespace

void LabelCrossEntropy(CPUContext&, int64_t rows, int64_t classes, const float* x,
                       const int32_t* labels, float* y) {
  for (int64_t i = 0; i < rows; ++i) {
    CheckLabel(labels[i], i, classes);
    y[i] = -math::Log(ClampProbability(x[i * classes + labels[i]]));
  }
}

void LabelCrossEntropyGradient(CPUContext&, int64_t rows, int64_t classes, const float* x,
                               const int32_t* labels, const float* dy, float* dx) {
  std::fill(dx, dx + rows * classes, 0.0f);
  for (int64_t i = 0; i < rows; ++i) {
    CheckLabel(labels[i], i, classes);
    const int64_t at = i * classes + labels[i];
    dx[at] = -dy[i] / ClampProbability(x[at]);
  }
}

namespace {

struct LogTerm {
  const float* x;
  const float* labels;
  CAFFE2RT_SIMD_INLINE float operator()(int64_t i) const {
    return labels[i] * math::Log(ClampProbability(x[i]));
  }
};

struct CrossEntropyKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t classes, const float* x,
                                       const float* labels, float* y) const {
    for (int64_t i = 0; i < rows; ++i, x += classes, labels += classes) {
      y[i] = -SumOfTerms(classes, LogTerm{x, labels});
    }
  }
};

struct CrossEntropyGradientKernel {
  CAFFE2RT_SIMD_INLINE void operator()(int64_t rows, int64_t classes, const float* x,
                                       const float* labels, const float* dy, float* dx) const {
    for (int64_t i = 0; i < rows; ++i, x += classes, labels += classes, dx += classes) {
      const float scale = -dy[i];
      CAFFE2RT_SIMD_LOOP
      for (int64_t j = 0; j < classes; ++j) dx[j] = scale * labels[j] / ClampProbability(x[j]);
    }
  }
};

}  // namespace

void CrossEntropy(CPUContext&, int64_t rows, int64_t classes, const float* x, const float* labels,
                  float* y) {
  CheckProbabilities(labels, rows, classes);
  RunSimd(CrossEntropyKernel{}, rows, classes, x, labels, y);
}

void CrossEntropyGradient(CPUContext&, int64_t rows, int64_t classes, const float* x,
                          const float* labels, const float* dy, float* dx) {
  RunSimd(CrossEntropyGradientKernel{}, rows, classes, x, labels, dy, dx);
}

namespace {

std::vector<TensorShape> InferCrossEntropy(const OperatorDef& def,
                                           const std::vector<TensorShape>& in) {
  if (!AreKnown(in, 1)) return UnknownOutputs(def);
  const int64_t rows = in[0].dims_size() > 1 ? in[0].dims(0) : 1;
  return {CreateTensorShape(std::vector<int64_t>{rows}, in[0].data_type())};
}

class GetCrossEntropyGradient final : public GradientMakerBase {
 public:
  using GradientMakerBase::GradientMakerBase;

 protected:
  std::vector<OperatorDef> GetGradientDefs() override {
    return SingleGradientDef(def_.type() + "Gradient", "", {I(0), I(1), GO(0)}, {GI(0)});
  }
};

template <bool kByClass>
void RegisterCrossEntropyAs(const std::string& type, const char* label, const char* doc) {
  RegisterSchema(type, __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Input(0, "X", "[N, D] float: the probability of each class; rank 1: one row")
      .Input(1, "label", label)
      .Output(0, "Y", "[N]: the cross entropy of each row")
      .TensorInferenceFunction(InferCrossEntropy)
      .SetDoc(doc);
  RegisterCpuOperator<CrossEntropyOp<CPUContext, kByClass>>(type, __FILE__);
  RegisterGradient<GetCrossEntropyGradient>(type, __FILE__);

  const std::string gradient = type + "Gradient";
  RegisterSchema(gradient, __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .Input(0, "X", "as in " + type)
      .Input(1, "label", "as in " + type)
      .Input(2, "dY", "[N]: the gradient of Y")
      .Output(0, "dX", "the gradient of X")
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Computes the gradient of " + type + ".");
  RegisterCpuOperator<CrossEntropyGradientOp<CPUContext, kByClass>>(gradient, __FILE__);
}

}  // namespace

void RegisterCrossEntropy() {
  RegisterCrossEntropyAs<true>("LabelCrossEntropy", "[N] or [N, 1] int32: the class of each row",
                               "Computes -log(X[i, label[i]]) for each row i.");
  RegisterCrossEntropyAs<false>("CrossEntropy",
                                "[N, D] float: the wanted probability of each class",
                                "Computes the sum of -label * log(X) over each row.");
}

}  // namespace caffe2rt
