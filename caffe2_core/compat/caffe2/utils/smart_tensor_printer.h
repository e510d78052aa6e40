#pragma once
// Prints tensors of any element type.
#include "caffe2/core/operator.h"
#include "caffe2/core/tensor.h"

namespace caffe2 {

class SmartTensorPrinter {
 public:
  SmartTensorPrinter() = default;
  explicit SmartTensorPrinter(const std::string& tensor_name, const std::string& file_name = "",
                              int limit = TensorPrinter::kDefaultLimit)
      : printer_(tensor_name, file_name, limit) {}

  void Print(const ::caffe2rt::Tensor& tensor) {
    Call call{this, tensor};
    DispatchHelper<TensorTypes<float, double, int, int64_t, bool, uint8_t, int8_t, uint16_t,
                               int16_t, std::string>>::call(&call, tensor);
  }
  void PrintMeta(const ::caffe2rt::Tensor& tensor) { printer_.PrintMeta(tensor); }
  // Prints the tensor to the log, without a name.
  static void PrintTensor(const ::caffe2rt::Tensor& tensor) { SmartTensorPrinter().Print(tensor); }
  void PrintTensorMeta(const ::caffe2rt::Tensor& tensor) { PrintMeta(tensor); }
  static SmartTensorPrinter& DefaultTensorPrinter() {
    static thread_local SmartTensorPrinter printer;
    return printer;
  }

 private:
  struct Call {
    SmartTensorPrinter* printer;
    const ::caffe2rt::Tensor& tensor;
    template <class T>
    bool DoRunWithType() {
      printer->printer_.Print<T>(tensor);
      return true;
    }
  };
  TensorPrinter printer_;
};

}  // namespace caffe2
