// NormalizePlanarYUV: (X - mean) / deviation of each channel of images.
//   X [N, C, H, W] float, mean [M, C] float, deviation [M, C] float  ->  Y [N, C, H, W]
// As in Caffe2, row 0 of mean and deviation counts for all images.
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

class NormalizePlanarYUVOp final : public Operator<CPUContext> {
 public:
  NormalizePlanarYUVOp(const OperatorDef& def, Workspace* ws) : Operator<CPUContext>(def, ws) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE_EQ(X.dim(), 4, "rank of input 0 (X) of shape ", X.sizes());
    RequireElements<float>(X);
    const float* const mean = ChannelNumbers(1, "input 1 (mean)");
    const float* const deviation = ChannelNumbers(2, "input 2 (deviation)");
    const int64_t channels = X.dim(1), size = X.size_from_dim(2);
    const float* x = X.data<float>();
    float* y = OutputData<float>(0, X.sizes());
    for (int64_t n = 0; n < X.dim(0); ++n) {
      for (int64_t c = 0; c < channels; ++c, x += size, y += size) {
        for (int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean[c]) / deviation[c];
      }
    }
    return true;
  }

 private:
  const float* ChannelNumbers(int i, const char* subject) const {
    const Tensor& numbers = Input(i);
    CAFFE_ENFORCE(numbers.dim() == 2 && numbers.dim(1) == Input(0).dim(1) &&
                      (numbers.dim(0) > 0 || Input(0).numel() == 0),
                  subject, " has shape ", numbers.sizes(), ", want [1, ", Input(0).dim(1),
                  "]: the channels of input 0 (X) of shape ", Input(0).sizes());
    RequireElements<float>(numbers);
    return numbers.data<float>();
  }
};

}  // namespace

void RegisterNormalizePlanarYuv() {
  RegisterSchema("NormalizePlanarYUV", __FILE__)
      .NumInputs(3)
      .NumOutputs(1)
      .AllowInplace({{0, 0}})
      .Input(0, "X", "[N, C, H, W] float")
      .Input(1, "mean", "[M, C] float: a number for each channel; only row 0 is used")
      .Input(2, "deviation", "[M, C] float: the same; 0 gives infinities")
      .Output(0, "Y", "[N, C, H, W]: (X - mean) / deviation")
      .TypesOfInput(0, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(1, {.accepted = {TensorProto::FLOAT}})
      .TypesOfInput(2, {.accepted = {TensorProto::FLOAT}})
      .IdenticalTypeAndShapeOfInput(0)
      .SetDoc("Normalizes each channel of images by its mean and its standard deviation.");
  // The operator prepares inputs. Caffe2 has no gradient maker either.
  RegisterCpuOperator<NormalizePlanarYUVOp>("NormalizePlanarYUV", __FILE__);
}

}  // namespace caffe2rt
