// MaxUnpoolWithIndex: writes the elements of X to the places from which MaxPoolWithIndex took them.
//   X [N, C, h, w], Index int32 of that shape (indices in the plane)  ->  Y [N, C, height, width]
// All other elements are 0. Of several elements for one place the last one counts; -1 is no place.

#include <algorithm>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int64_t> kUnpoolHeight{
    .name = "height", .default_value = 0, .doc = "height of Y", .required = true};
constexpr ArgumentSpec<int64_t> kUnpoolWidth{
    .name = "width", .default_value = 0, .doc = "width of Y", .required = true};

std::vector<int64_t> UnpoolDims(const ArgumentHelper& args, const std::vector<int64_t>& in) {
  CAFFE_ENFORCE(in.size() == 4, "input 0 (X) has rank ", in.size(), ", want 4");
  const int64_t height = args.Read(kUnpoolHeight), width = args.Read(kUnpoolWidth);
  CAFFE_ENFORCE(height > 0 && width > 0, "arguments height and width are ", height, " and ", width,
                ", want at least 1");
  CAFFE_ENFORCE(CheckedMultiply(height, width) <= INT32_MAX, "a plane of ", height, " x ", width,
                " elements has more than 2147483647");
  return {in[0], in[1], height, width};
}

class MaxUnpoolWithIndexOp final : public Operator<CPUContext> {
 public:
  using Context = CPUContext;
  USE_OPERATOR_CONTEXT_FUNCTIONS;
  using Operator<CPUContext>::Operator;

  bool RunOnDevice() override {
    const Tensor &X = Input(0), &Index = Input(1);
    const std::vector<int64_t> dims = UnpoolDims(args(), X.dims());
    CAFFE_ENFORCE(Index.sizes() == X.sizes(), "input 1 (Index) has shape ", Index.sizes(),
                  ", want that of input 0 (X), ", X.sizes());
    const float* x = X.data<float>();
    const int32_t* index = Index.data<int32_t>();
    const int64_t plane = dims[2] * dims[3], inner = X.dim(2) * X.dim(3);
    float* y = OutputData<float>(0, dims);
    std::fill_n(y, Output(0)->numel(), 0.0f);
    for (int64_t p = 0; p < dims[0] * dims[1]; ++p, y += plane) {
      for (int64_t i = 0; i < inner; ++i, ++x, ++index) {
        if (*index == -1) continue;
        CAFFE_ENFORCE(*index >= 0 && *index < plane, "input 1 (Index) has value ", *index,
                      ", want -1 to ", plane - 1);
        y[*index] = *x;
      }
    }
    return true;
  }
};

}  // namespace

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
  RegisterCpuOperator<MaxUnpoolWithIndexOp>("MaxUnpoolWithIndex", __FILE__);
  // Networks that unpool are imported to run, not to be trained.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("MaxUnpoolWithIndex", __FILE__);
}

}  // namespace caffe2rt
