// HannWindow, HammingWindow, BlackmanWindow: windows of cosines, a0 - a1 cos(2 pi k / d) + a2 cos(4 pi k
// / d), where d is the size of a periodic window and one less of a symmetric one.
//   size int32 or int64, one element  ->  Y [size]

#include <cmath>
#include <numbers>

#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/graph/op_schema.h"
#include "caffe2_core/runtime/operator.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/inference.h"
#include "operators/signal/fourier_transform.h"

namespace caffe2rt {

namespace {

constexpr ArgumentSpec<bool> kWindowPeriodic{"periodic", true, "1: periodic; 0: symmetric"};
constexpr ArgumentSpec<int> kWindowType{
    "output_datatype",
    TensorProto_DataType_FLOAT,
    "the element type of Y, a TensorProto.DataType: FLOAT or DOUBLE",
    {[](int type) {
       return type == TensorProto_DataType_FLOAT || type == TensorProto_DataType_DOUBLE;
     },
     "FLOAT or DOUBLE"}};

struct CosineWindow {
  const char* type;
  const char* name;
  double a0, a1, a2;
};
constexpr CosineWindow kCosineWindows[] = {
    {"HannWindow", "Hann", 0.5, 0.5, 0},
    {"HammingWindow", "Hamming", 25.0 / 46.0, 21.0 / 46.0, 0},
    {"BlackmanWindow", "Blackman", 0.42, 0.5, 0.08},
};

template <int kWindow>
class CosineWindowOp final : public Operator<CPUContext> {
 public:
  CosineWindowOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        periodic_(ReadArgument(kWindowPeriodic)),
        type_(ReadArgument(kWindowType)) {}

  bool RunOnDevice() override {
    const int64_t size = ScalarInput(Input(0), "input 0 (size)");
    CAFFE_ENFORCE_GE(size, 0, "input 0 (size)");
    if (type_ == TensorProto_DataType_FLOAT) {
      Fill(size, OutputData<float>(0, {size}));
    } else {
      Fill(size, OutputData<double>(0, {size}));
    }
    return true;
  }

 private:
  template <class T>
  void Fill(int64_t size, T* y) const {
    constexpr CosineWindow window = kCosineWindows[kWindow];
    const int64_t period = periodic_ ? size : size - 1;
    const double step = period > 0 ? 2 * std::numbers::pi / static_cast<double>(period) : 0;
    for (int64_t k = 0; k < size; ++k) {
      const double angle = step * static_cast<double>(k);
      y[k] =
          static_cast<T>(window.a0 - window.a1 * std::cos(angle) + window.a2 * std::cos(2 * angle));
    }
  }

  const bool periodic_;
  const int type_;
};

template <int kWindow>
void RegisterCosineWindow() {
  const char* type = kCosineWindows[kWindow].type;
  RegisterSchema(type, __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kWindowPeriodic, kWindowType)
      .Input(0, "size", "int32 or int64, one element")
      .Output(0, "Y", "[size], float or double")
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        std::vector<TensorShape> out = UnknownOutputs(def);
        const int type = ArgumentHelper(def).Read(kWindowType);
        out[0].set_data_type(static_cast<TensorProto_DataType>(type));
        return out;
      })
      .Traits({.type_argument = kWindowType.name,
               .no_shape_reason = "the size is the value of an input"})
      .SetDoc(MakeString("Computes a ", kCosineWindows[kWindow].name, " window, as ONNX does."));
  RegisterCpuOperator<CosineWindowOp<kWindow>>(type, __FILE__);
  // The input is a size.
  RegisterGradient<NoGradient>(type, __FILE__);
}

}  // namespace

void RegisterHannWindow() {
  RegisterCosineWindow<0>();
  RegisterCosineWindow<1>();
  RegisterCosineWindow<2>();
}

}  // namespace caffe2rt
