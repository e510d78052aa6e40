#include "operators/pool/max_unpool_with_index.h"

#include <algorithm>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kUnpoolHeight{
    .name = "height", .default_value = 0, .doc = "height of Y", .required = true};
constexpr ArgumentSpec<int64_t> kUnpoolWidth{
    .name = "width", .default_value = 0, .doc = "width of Y", .required = true};

// A plane of X or of Y.
void CheckUnpoolPlane(int64_t height, int64_t width) {
  CAFFE_ENFORCE(CheckedMultiply(height, width) <= INT32_MAX, "a plane of ", height, " x ", width,
                " elements has more than 2147483647");
}

}  // namespace

std::vector<int64_t> UnpoolDims(const ArgumentHelper& args, const std::vector<int64_t>& in) {
  CAFFE_ENFORCE(in.size() == 4, "input 0 (X) has rank ", in.size(), ", want 4");
  const int64_t height = args.Read(kUnpoolHeight), width = args.Read(kUnpoolWidth);
  CAFFE_ENFORCE(height > 0 && width > 0, "arguments height and width are ", height, " and ", width,
                ", want at least 1");
  CheckUnpoolPlane(height, width);
  CheckUnpoolPlane(in[2], in[3]);
  return {in[0], in[1], height, width};
}

void UnpoolByIndex(CPUContext&, const UnpoolSizes& sizes, const float* x, const int32_t* index,
                   float* y) {
  std::fill_n(y, sizes.planes * sizes.out, 0.0f);
  for (int64_t p = 0; p < sizes.planes; ++p, y += sizes.out) {
    for (int64_t i = 0; i < sizes.in; ++i, ++x, ++index) {
      if (*index == -1) continue;
      CAFFE_ENFORCE(*index >= 0 && *index < sizes.out, "input 1 (Index) has value ", *index,
                    ", want -1 to ", sizes.out - 1);
      y[*index] = *x;
    }
  }
}

void RegisterMaxUnpoolWithIndex() {
  RegisterSchema("MaxUnpoolWithIndex", __FILE__)
      .NumInputs(2)
      .NumOutputs(1)
      .Args(kUnpoolHeight, kUnpoolWidth)
      .Input(0, "X", "[N, C, h, w]")
      .Input(1, "Index", "int32, the shape of X: indices in the planes of Y, or -1")
      .Output(0, "Y", "[N, C, height, width]: X at the indices, 0 elsewhere")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) return UnknownOutputs(def);
        return std::vector<TensorShape>{CreateTensorShape(
            UnpoolDims(ArgumentHelper(def), GetDimsVector(in[0])), in[0].data_type())};
      })
      .SetDoc(
          "Undoes MaxPoolWithIndex: writes each element to the place that its index names, and 0 "
          "to all others.");
  RegisterCpuOperator<MaxUnpoolWithIndexOp<CPUContext>>("MaxUnpoolWithIndex", __FILE__);
  // Networks that unpool are imported to run, not to be trained.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MaxUnpoolWithIndex", __FILE__);
}

}  // namespace caffe2rt
