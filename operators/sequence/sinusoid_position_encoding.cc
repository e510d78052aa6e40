// SinusoidPositionEncoding: sines and cosines of positions (Vaswani et al. 2017).
//   positions [L, B] int32 or int64, equal in each row  ->  [L, B, E] float:
//   amplitude * sin(position / alpha^(i / E)) for even i, cos for odd i
#include <algorithm>
#include <cmath>

#include "caffe2_core/runtime/dispatch.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<int> kPositionSize{"embedding_size",
                                          100,
                                          "E, the elements of an encoding, at least 0",
                                          {[](int size) { return size >= 0; }, "at least 0"}};
constexpr ArgumentSpec<float> kPositionAlpha{
    "alpha", 10000.0f, "greatest wavelength / 2 pi", {[](float a) { return a > 0; }, "above 0"}};
constexpr ArgumentSpec<float> kPositionAmplitude{"amplitude", 1.0f, "greatest element"};

class SinusoidPositionEncodingOp final : public Operator<CPUContext> {
 public:
  SinusoidPositionEncodingOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        size_(ReadArgument(kPositionSize)),
        alpha_(ReadArgument(kPositionAlpha)),
        amplitude_(ReadArgument(kPositionAmplitude)) {}

  bool RunOnDevice() override {
    return DispatchByType<int32_t, int64_t>(
        Input(0).dtype(), "input 0 (positions)",
        [this](auto element) { return Encode<decltype(element)>(); });
  }

 private:
  template <class T>
  bool Encode() {
    const Tensor& positions = Input(0);
    CAFFE_ENFORCE_EQ(positions.dim(), 2, "rank of input 0 (positions) of shape ",
                     positions.sizes());
    const int64_t rows = positions.dim(0), batch = positions.dim(1);
    const T* const position = positions.data<T>();
    for (int64_t i = 0; i < rows * batch; ++i) {
      CAFFE_ENFORCE_EQ(position[i], position[i - i % batch], "element ", i,
                       " of input 0 (positions), want the first of its row");
    }
    float* y = OutputData<float>(0, {rows, batch, size_});
    const double step = -std::log(static_cast<double>(alpha_)) / size_;
    for (int64_t r = 0; r < rows && batch > 0; ++r, y += batch * size_) {
      for (int i = 0; i < size_; ++i) {
        const double angle = static_cast<double>(position[r * batch]) * std::exp(step * i);
        y[i] = amplitude_ * static_cast<float>(i % 2 == 0 ? std::sin(angle) : std::cos(angle));
      }
      for (int64_t b = 1; b < batch; ++b) std::copy_n(y, size_, y + b * size_);
    }
    return true;
  }

  const int size_;
  const float alpha_, amplitude_;
};

}  // namespace

void RegisterSinusoidPositionEncoding() {
  RegisterSchema("SinusoidPositionEncoding", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kPositionSize, kPositionAlpha, kPositionAmplitude)
      .Input(0, "positions",
             "[L, B] int32 or int64: the position of each row, equal in all columns")
      .Output(0, "output", "[L, B, E] float: the encodings")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>& in) {
        if (!AreKnown(in, 1)) {
          return std::vector<TensorShape>{UnknownShapeOf(TensorProto_DataType_FLOAT)};
        }
        std::vector<int64_t> dims = GetDimsVector(in[0]);
        CAFFE_ENFORCE_EQ(dims.size(), 2u, "rank of input 0 (positions)");
        dims.push_back(ArgumentHelper(def).Read(kPositionSize));
        return std::vector<TensorShape>{CreateTensorShape(dims, TensorProto_DataType_FLOAT)};
      })
      .SetDoc(
          "Encodes positions as amplitude * sin(position / alpha^(i / E)) in even elements i and "
          "the cosine in odd ones. Positions of 0 and below have an encoding, too; Caffe2 has NaN "
          "for them.");
  RegisterCpuOperator<SinusoidPositionEncodingOp>("SinusoidPositionEncoding", __FILE__);
  // As in Caffe2, no gradient maker.
}

}  // namespace caffe2rt
