#pragma once
// PointerCalls of sources in which Tensor is a template: the base class of caffe2::Predictor,
// whose containers hold pointers to CPU tensors.
#include <string>
#include <unordered_map>
#include <vector>

#include "caffe2_core/compat/caffe2rt_templated/tensor.h"
#include "caffe2_core/model/predictor.h"

namespace caffe2::predictor_calls {

class PointerCalls : public ::caffe2rt::Predictor {
 public:
  using TensorVector = std::vector<Tensor<::caffe2rt::CPUContext>*>;
  using TensorMap = std::unordered_map<std::string, Tensor<::caffe2rt::CPUContext>*>;

  using ::caffe2rt::Predictor::Predictor;

  // The output pointers stay valid, and the tensors unchanged, until the next call. THROW if an
  // output is not on the CPU.
  bool run(const TensorVector& inputs, TensorVector* outputs) {
    ::caffe2rt::Predictor::TensorVector results;
    const bool success = ::caffe2rt::Predictor::run({inputs.begin(), inputs.end()}, &results);
    Assign(results, outputs);
    return success;
  }
  bool run_map(const TensorMap& inputs, TensorVector* outputs) {
    ::caffe2rt::Predictor::TensorVector results;
    const bool success =
        ::caffe2rt::Predictor::run_map(TensorPointerMap(inputs.begin(), inputs.end()), &results);
    Assign(results, outputs);
    return success;
  }
  // The outputs by name.
  bool run_map_outputs(const TensorMap& inputs, TensorMap* outputs) {
    TensorVector results;
    const bool success = run_map(inputs, &results);
    outputs->clear();
    for (size_t i = 0; i < results.size(); ++i) (*outputs)[output_names()[i]] = results[i];
    return success;
  }

 private:
  static void Assign(const ::caffe2rt::Predictor::TensorVector& results, TensorVector* outputs) {
    outputs->clear();
    for (::caffe2rt::Tensor* tensor : results) {
      CAFFE_ENFORCE(tensor->GetDeviceType() == ::caffe2rt::CPU,
                    "an output of the predictor is a tensor on ",
                    ::caffe2rt::DeviceTypeName(tensor->GetDeviceType()), ", want one on CPU");
      outputs->push_back(static_cast<Tensor<::caffe2rt::CPUContext>*>(tensor));
    }
  }
};

using Base = PointerCalls;

}  // namespace caffe2::predictor_calls
