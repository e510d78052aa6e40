// STFT: Fourier transforms of frames of signals, weighted by a window.
//   X [N, T, 1] real or [N, T, 2] complex, frame_step, optional window [L], optional frame_length
//     ->  Y [N, frames, L or L / 2 + 1 with onesided, 2]

#include <complex>
#include <vector>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"
#include "operators/common/inference.h"
#include "operators/common/optional_inputs.h"
#include "operators/signal/fourier_transform.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kStftOnesided{
    "onesided", true, "1: the first half of the spectrum of a real signal, L / 2 + 1 elements"};

class StftOp final : public Operator<CPUContext> {
 public:
  StftOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        places_(args(), InputSize()),
        onesided_(ReadArgument(kStftOnesided)) {}

  bool RunOnDevice() override {
    const Tensor& X = Input(0);
    CAFFE_ENFORCE(X.dim() == 3 && (X.dim(2) == 1 || X.dim(2) == 2), "input 0 (X) has shape ",
                  X.sizes(), ", want [N, T, 1] (real) or [N, T, 2] (complex)");
    CheckScalarInput(Input(1), "input 1 (frame_step)");
    if (places_.Has(3)) CheckScalarInput(Input(places_[3]), "input 3 (frame_length)");
    CAFFE_ENFORCE(places_.Has(2) || places_.Has(3),
                  "neither input 2 (window) nor input 3 (frame_length) is "
                  "given, want one of them");
    return DispatchByType<float, double>(X.dtype(), "input 0 (X)", [&](auto element) {
      using T = decltype(element);
      if (places_.Has(2)) RequireElements<T>(Input(places_[2]));
      const int64_t step = ScalarInput(Input(1), "input 1 (frame_step)");
      const int64_t length = places_.Has(3)
                                 ? ScalarInput(Input(places_[3]), "input 3 (frame_length)")
                                 : Input(places_[2]).numel();
      CAFFE_ENFORCE_GT(step, 0, "input 1 (frame_step)");
      CAFFE_ENFORCE(length > 0 && length <= X.dim(1), "frames have ", length,
                    " elements, want 1 to the ", X.dim(1), " of input 0 (X) of shape ", X.sizes());
      if (places_.Has(2)) {
        CAFFE_ENFORCE_EQ(Input(places_[2]).numel(), length, "elements of input 2 (window)");
      }
      transform_.Make(length);
      const int64_t frames = (X.dim(1) - length) / step + 1,
                    bins = onesided_ ? length / 2 + 1 : length;
      T* y = OutputData<T>(0, {X.dim(0), frames, bins, 2});
      if (Output(0)->numel() == 0) return true;
      const T* window = places_.Has(2) ? Input(places_[2]).template data<T>() : nullptr;
      const int64_t parts = X.dim(2);
      for (int64_t i = 0; i < X.dim(0) * frames; ++i, y += 2 * bins) {
        const int64_t at = i / frames * X.dim(1) + i % frames * step;
        RunFrame(X.data<T>() + at * parts, parts, window, bins, y);
      }
      return true;
    });
  }

 private:
  template <class T>
  void RunFrame(const T* x, int64_t parts, const T* window, int64_t bins, T* y) {
    frame_.resize(static_cast<size_t>(transform_.size()));
    for (size_t k = 0; k < frame_.size(); ++k) {
      const T* value = x + static_cast<int64_t>(k) * parts;
      const double weight = window == nullptr ? 1.0 : static_cast<double>(window[k]);
      frame_[k] = std::complex<double>(value[0], parts == 2 ? value[1] : T(0)) * weight;
    }
    transform_.Run(frame_.data(), false);
    for (int64_t k = 0; k < bins; ++k) {
      y[2 * k] = static_cast<T>(frame_[static_cast<size_t>(k)].real());
      y[2 * k + 1] = static_cast<T>(frame_[static_cast<size_t>(k)].imag());
    }
  }

  const InputPlaces places_;
  const bool onesided_;
  FourierTransform transform_;
  std::vector<std::complex<double>> frame_;
};

}  // namespace

void RegisterStft() {
  RegisterSchema("STFT", __FILE__)
      .NumInputs(2, 4)
      .NumOutputs(1)
      .Args(kStftOnesided, kOmittedInputs)
      .Input(0, "X", "float or double, [N, T, 1] real or [N, T, 2] complex")
      .Input(1, "frame_step", "int32 or int64, one element: the distance between frames")
      .Input(2, "window", "the type of X, [L]: the weights of a frame; default: 1")
      .Input(3, "frame_length", "int32 or int64, one element: L; default: the size of the window")
      .Output(0, "Y", "[N, frames, L or L / 2 + 1, 2]")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        return UnknownOutputsOfInputType(def, in);
      })
      .Traits({.no_shape_reason = "the frames depend on the values of inputs"})
      .SetDoc("Computes the Fourier transforms of weighted frames of signals, as ONNX does.");
  RegisterCpuOperator<StftOp>("STFT", __FILE__);
  // Caffe2 has no such operator, so no net trains through it.
  RegisterGradient<ThrowInTheTowelIfGradientIsCalled>("STFT", __FILE__);
}

}  // namespace caffe2rt
