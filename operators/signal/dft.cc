// DFT: discrete Fourier transform along an axis.
//   X [..., 1] real or [..., 2] complex, float or double; optional dft_length, axis  ->  Y
// The signal is cut or padded with zeros to dft_length. Y is complex; with onesided, its first half.
// inverse and onesided: X is such a half, and Y is real.

#include <algorithm>
#include <complex>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/signal/fourier_transform.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kDftInverse{"inverse", false, "1: the inverse transform"};
constexpr ArgumentSpec<bool> kDftOnesided{
    "onesided", false, "1: the first half of the spectrum, length / 2 + 1 elements"};

class DftOp final : public Operator<CPUContext> {
 public:
  DftOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        places_(args(), InputSize()),
        inverse_(ReadArgument(kDftInverse)),
        onesided_(ReadArgument(kDftOnesided)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    const int64_t rank = X.dim();
    CAFFE_ENFORCE(rank >= 2 && (X.dims().back() == 1 || X.dims().back() == 2),
                  "input 0 (X) has shape ", X.sizes(),
                  ", want at least two axes, the last of size 1 (real) or 2 (complex)");
    for (const int i : {1, 2}) {
      if (places_.Has(i))
        CheckScalarInput(Input(places_[i]), i == 1 ? "input 1 (dft_length)" : "input 2 (axis)");
    }
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      const int64_t axis = places_.Has(2) ? ScalarInput(Input(places_[2]), "input 2 (axis)") : -2;
      CAFFE_ENFORCE(axis >= -rank && axis < rank && axis != -1 && axis != rank - 1,
                    "input 2 (axis) is ", axis, ", want ", -rank, " to ", rank - 2,
                    " but the last axis of input 0 (X) of shape ", X.sizes());
      const size_t at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
      const int64_t in = X.dims()[at];
      int64_t length = inverse_ && onesided_ ? 2 * (in - 1) : in;
      if (places_.Has(1)) length = ScalarInput(Input(places_[1]), "input 1 (dft_length)");
      transform_.Make(length);
      dims_ = X.dims();
      dims_[at] = onesided_ && !inverse_ ? length / 2 + 1 : length;
      dims_.back() = inverse_ && onesided_ ? 1 : 2;
      T* y = OutputData<T>(0, dims_);
      if (X.numel() == 0) {  // the transform of an empty signal that is filled up with zeros
        std::fill_n(y, Output(0)->numel(), T(0));
        return true;
      }
      if (Output(0)->numel() == 0) return true;
      const T* x = X.data<T>();
      const int64_t outer = CheckedProduct(X.sizes().slice(0, at));
      const int64_t inner = CheckedProduct(X.sizes().slice(at + 1, X.dims().size() - at - 2));
      for (int64_t o = 0; o < outer; ++o) {
        for (int64_t i = 0; i < inner; ++i) {
          RunRow(x + (o * in * inner + i) * X.dims().back(), in, inner * X.dims().back(),
                 X.dims().back() == 2, y + (o * dims_[at] * inner + i) * dims_.back(), dims_[at],
                 inner * dims_.back());
        }
      }
      return true;
    });
  }

 private:
  template <class T>
  void RunRow(const T* x, int64_t in, int64_t x_stride, bool complex, T* y, int64_t out,
              int64_t y_stride) {
    const int64_t n = transform_.size();
    const bool half = inverse_ && onesided_;
    row_.assign(static_cast<size_t>(n), 0.0);
    for (int64_t k = 0; k < std::min(in, half ? n / 2 + 1 : n); ++k) {
      const std::complex<double> value(x[k * x_stride], complex ? x[k * x_stride + 1] : T(0));
      row_[static_cast<size_t>(k)] = value;
      // A real signal has a spectrum whose other half is conjugate.
      if (half && k > 0 && 2 * k < n) row_[static_cast<size_t>(n - k)] = std::conj(value);
      if (half && (k == 0 || 2 * k == n)) row_[static_cast<size_t>(k)] = value.real();
    }
    transform_.Run(row_.data(), inverse_);
    for (int64_t k = 0; k < out; ++k) {
      y[k * y_stride] = static_cast<T>(row_[static_cast<size_t>(k)].real());
      if (!half) y[k * y_stride + 1] = static_cast<T>(row_[static_cast<size_t>(k)].imag());
    }
  }

  const InputPlaces places_;
  const bool inverse_, onesided_;
  FourierTransform transform_;
  std::vector<std::complex<double>> row_;
  std::vector<int64_t> dims_;
};

}  // namespace

void RegisterDft() {
  RegisterSchema("DFT", __FILE__)
      .NumInputs(1, 3)
      .NumOutputs(1)
      .Args(kDftInverse, kDftOnesided, kOmittedInputs)
      .Input(0, "X", "float or double, [..., 1] real or [..., 2] complex")
      .Input(1, "dft_length", "int32 or int64, one element; default: the size of the axis")
      .Input(2, "axis", "int32 or int64, one element; default: -2")
      .Output(0, "Y", "the shape of X but for the axis, and the last axis: 2, or 1 if real")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        const ArgumentHelper args(def);
        if (in.size() != 1 || !AreKnown(in, 1) || in[0].dims_size() < 2)
          return UnknownOutputsOfInputType(def, in);
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        const bool inverse = args.Read(kDftInverse), onesided = args.Read(kDftOnesided);
        int64_t& size = dims[dims.size() - 2];
        if (onesided) size = inverse ? 2 * (size - 1) : size / 2 + 1;
        dims.back() = inverse && onesided ? 1 : 2;
        if (size < 1) return UnknownOutputsOfInputType(def, in);
        return std::vector<TensorShape>{CreateTensorShape(dims, in[0].data_type())};
      })
      .SetDoc("Computes the discrete Fourier transform along an axis, as ONNX does.");
  RegisterCpuOperator<DftOp>("DFT", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("DFT", __FILE__);
}

}  // namespace caffe2rt
