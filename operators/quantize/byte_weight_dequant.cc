// ByteWeightDequant: weights of bytes as numbers.
//   WI uint8  ->  Y float [shape]: min + (max - min) / 255 * byte
// WI may be a tensor of strings, too; the bytes of the first one are the weights.
#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "contexts/cpu/cpu_context.h"
#include "operators/common/element_type.h"

namespace caffe2rt {
namespace {

constexpr ArgumentSpec<float> kByteWeightMin{"min", -3.0f, "the number of byte 0"};
constexpr ArgumentSpec<float> kByteWeightMax{"max", 3.0f, "the number of byte 255"};
constexpr RepeatedArgumentSpec<int64_t> kByteWeightShape{"shape",
                                                         "the dims of the result, all above 0",
                                                         {[](const std::vector<int64_t>& dims) {
                                                            for (const int64_t dim : dims) {
                                                              if (dim <= 0) return false;
                                                            }
                                                            return true;
                                                          },
                                                          "numbers above 0"}};

class ByteWeightDequantOp final : public Operator<CPUContext> {
 public:
  ByteWeightDequantOp(const OperatorDef& def, Workspace* ws)
      : Operator<CPUContext>(def, ws),
        min_(ReadArgument(kByteWeightMin)),
        step_((ReadArgument(kByteWeightMax) - min_) / 255.0f),
        shape_(ReadArgument(kByteWeightShape)) {
    for (const int64_t dim : shape_) size_ = CheckedMultiply(size_, dim);
  }

  bool RunOnDevice() override {
    const Tensor& WI = Input(0);
    if (WI.IsType<std::string>()) {
      CAFFE_ENFORCE_GE(WI.numel(), 1, "elements of input 0 (WI), a tensor of strings");
      const std::string& text = WI.data<std::string>()[0];
      CAFFE_ENFORCE_GE(static_cast<int64_t>(text.size()), size_,
                       "bytes of the first element of input 0 (WI), for the shape ", shape_);
      Expand(reinterpret_cast<const uint8_t*>(text.data()));
      return true;
    }
    CAFFE_ENFORCE_GE(WI.numel(), size_, "elements of input 0 (WI) of shape ", WI.sizes(),
                     ", for the shape ", shape_);
    RequireElementsOf<uint8_t, std::string>(WI, "input 0 (WI)");
    Expand(WI.data<uint8_t>());
    return true;
  }

 private:
  void Expand(const uint8_t* bytes) {
    float* const y = OutputData<float>(0, shape_);
    for (int64_t i = 0; i < size_; ++i) y[i] = min_ + step_ * static_cast<float>(bytes[i]);
  }

  const float min_, step_;
  const std::vector<int64_t> shape_;
  int64_t size_ = 1;
};

}  // namespace

void RegisterByteWeightDequant() {
  RegisterSchema("ByteWeightDequant", __FILE__)
      .NumInputs(1)
      .NumOutputs(1)
      .Args(kByteWeightMin, kByteWeightMax, kByteWeightShape)
      .Input(0, "WI",
             "uint8, at least as many as the shape has, or strings: the bytes of the first")
      .Output(0, "Y", "[shape] float: min + (max - min) / 255 * byte")
      .TypesOfInput(0, {.accepted = {TensorProto::UINT8, TensorProto::STRING}})
      .TensorInferenceFunction([](const OperatorDef& def, const std::vector<TensorShape>&) {
        return std::vector<TensorShape>{
            CreateTensorShape(ArgumentHelper(def).Read(kByteWeightShape), TensorProto::FLOAT)};
      })
      .SetDoc("Converts weights that are stored as bytes between min and max to float.");
  RegisterCpuOperator<ByteWeightDequantOp>("ByteWeightDequant", __FILE__);
  // As in Caffe2, no gradient maker: the weights are integers.
}

}  // namespace caffe2rt
