// MelWeightMatrix: the weights that turn a spectrum into triangular bins on the mel scale.
//   num_mel_bins, dft_length, sample_rate int32 or int64; lower_edge_hertz, upper_edge_hertz float or
//   double, one element each  ->  Y [dft_length / 2 + 1, num_mel_bins]

#include <algorithm>
#include <cmath>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/signal/fourier_transform.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<int> kMelType{
    "output_datatype",
    TensorProto_DataType_FLOAT,
    "the element type of Y, a TensorProto.DataType: FLOAT or DOUBLE",
    {[](int type) {
       return type == TensorProto_DataType_FLOAT || type == TensorProto_DataType_DOUBLE;
     },
     "FLOAT or DOUBLE"}};

double EdgeInput(const Tensor& tensor, const char* subject) {
  RequireElementsOf<float, double>(tensor, subject);
  CAFFE_ENFORCE_EQ(tensor.numel(), 1, "elements of ", subject, " of shape ", tensor.sizes());
  const double edge =
      tensor.IsType<float>() ? static_cast<double>(*tensor.data<float>()) : *tensor.data<double>();
  CAFFE_ENFORCE(edge >= 0 && std::isfinite(edge), subject, " is ", edge, ", want at least 0");
  return edge;
}

double MelOfHertz(double hertz) { return 2595 * std::log10(1 + hertz / 700); }

class MelWeightMatrixOp final : public Operator<CPUContext> {
 public:
  MelWeightMatrixOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws), type_(ReadArgument(kMelType)) {}

  bool RunOnDevice() override {
    const int64_t bins = ScalarInput(Input(0), "input 0 (num_mel_bins)");
    const int64_t length = ScalarInput(Input(1), "input 1 (dft_length)");
    const int64_t rate = ScalarInput(Input(2), "input 2 (sample_rate)");
    constexpr int64_t kLargest = int64_t{1} << 30;
    CAFFE_ENFORCE(bins >= 1 && bins <= kLargest, "input 0 (num_mel_bins) is ", bins, ", want 1 to ",
                  kLargest);
    CAFFE_ENFORCE(length >= 1 && length <= kLargest, "input 1 (dft_length) is ", length,
                  ", want 1 to ", kLargest);
    CAFFE_ENFORCE_GT(rate, 0, "input 2 (sample_rate)");
    const double low = MelOfHertz(EdgeInput(Input(3), "input 3 (lower_edge_hertz)"));
    const double high = MelOfHertz(EdgeInput(Input(4), "input 4 (upper_edge_hertz)"));
    const int64_t rows = length / 2 + 1;
    if (type_ == TensorProto_DataType_FLOAT) {
      float* y = OutputData<float>(0, {rows, bins});
      Fill(Points(bins, length, rate, low, high, rows), rows, bins, y);
    } else {
      double* y = OutputData<double>(0, {rows, bins});
      Fill(Points(bins, length, rate, low, high, rows), rows, bins, y);
    }
    return true;
  }

 private:
  // The rows where the triangles begin, peak and end.
  const std::vector<int64_t>& Points(int64_t bins, int64_t length, int64_t rate, double low,
                                     double high, int64_t rows) {
    points_.resize(static_cast<size_t>(bins + 2));
    const double step = (high - low) / static_cast<double>(bins + 2);
    for (size_t i = 0; i < points_.size(); ++i) {
      const double hertz = 700 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595) - 1);
      const double row =
          std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
      CAFFE_ENFORCE(row >= 0 && row < static_cast<double>(rows), "mel bin ", i, " is at row ", row,
                    " of the spectrum, want 0 to ", rows - 1,
                    ": input 4 (upper_edge_hertz) must be at most half of input 2 (sample_rate)");
      points_[i] = static_cast<int64_t>(row);
    }
    return points_;
  }

  template <class T>
  static void Fill(const std::vector<int64_t>& points, int64_t rows, int64_t bins, T* y) {
    std::fill_n(y, rows * bins, T(0));
    for (int64_t i = 0; i < bins; ++i) {
      const size_t at = static_cast<size_t>(i);
      const int64_t left = points[at], center = points[at + 1], right = points[at + 2];
      if (left == center) y[center * bins + i] = T(1);
      for (int64_t j = left; left < center && j <= center; ++j) {
        y[j * bins + i] =
            static_cast<T>(static_cast<double>(j - left) / static_cast<double>(center - left));
      }
      for (int64_t j = center; j < right; ++j) {
        y[j * bins + i] =
            static_cast<T>(static_cast<double>(right - j) / static_cast<double>(right - center));
      }
    }
  }

  const int type_;
  std::vector<int64_t> points_;
};

}  // namespace

void RegisterMelWeightMatrix() {
  RegisterSchema("MelWeightMatrix", __FILE__)
      .NumInputs(5)
      .NumOutputs(1)
      .Arg(kMelType)
      .Input(0, "num_mel_bins", "int32 or int64, one element")
      .Input(1, "dft_length", "int32 or int64, one element")
      .Input(2, "sample_rate", "int32 or int64, one element")
      .Input(3, "lower_edge_hertz", "float or double, one element")
      .Input(4, "upper_edge_hertz", "float or double, one element")
      .Output(0, "Y", "[dft_length / 2 + 1, num_mel_bins]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        std::vector<TensorShape> out = UnknownOutputs(def);
        const int type = ArgumentHelper(def).Read(kMelType);
        out[0].set_data_type(static_cast<TensorProto_DataType>(type));
        return out;
      })
      .Traits(
          {.type_argument = kMelType.name, .no_shape_reason = "the sizes are the values of inputs"})
      .SetDoc("Computes the weights of mel bins of a spectrum, as ONNX does.");
  RegisterCpuOperator<MelWeightMatrixOp>("MelWeightMatrix", __FILE__);
  // The inputs are sizes.
  RegisterGradient<NoGradient>("MelWeightMatrix", __FILE__);
}

}  // namespace caffe2rt
