#pragma once
// ValueCalls of sources in which Tensor is a class: the base class of caffe2::Predictor. Later
// Caffe2 versions had tensors in a TensorMap, earlier ones pointers to tensors. This TensorMap
// accepts both.
#include <concepts>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "caffe2_core/model/predictor.h"

namespace caffe2::predictor_calls {

// A tensor, or a pointer to a tensor that the caller owns. Usable as either.
class TensorOrPointer : public ::caffe2rt::Tensor {
 public:
  TensorOrPointer() = default;
  TensorOrPointer(const ::caffe2rt::Tensor& tensor) : ::caffe2rt::Tensor(tensor) {}        // NOLINT
  TensorOrPointer(::caffe2rt::Tensor&& tensor) : ::caffe2rt::Tensor(std::move(tensor)) {}  // NOLINT
  TensorOrPointer(::caffe2rt::Tensor* tensor) : pointer_(tensor) {}                        // NOLINT
  using ::caffe2rt::Tensor::Tensor;

  ::caffe2rt::Tensor* get() const {
    return pointer_ != nullptr ? pointer_ : const_cast<TensorOrPointer*>(this);
  }
  ::caffe2rt::Tensor* operator->() const { return get(); }
  ::caffe2rt::Tensor& operator*() const { return *get(); }
  operator ::caffe2rt::Tensor*() const { return get(); }  // NOLINT: converts

 private:
  ::caffe2rt::Tensor* pointer_ = nullptr;
};

class ValueCalls : public ::caffe2rt::Predictor {
 public:
  using TensorMap = std::unordered_map<std::string, TensorOrPointer>;

  using ::caffe2rt::Predictor::Predictor;

  bool operator()(const TensorList& inputs, TensorList* outputs) override {
    return ::caffe2rt::Predictor::operator()(inputs, outputs);
  }
  bool operator()(const TensorMap& inputs, TensorList* outputs) {
    return ::caffe2rt::Predictor::operator()(Values(inputs), outputs);
  }
  bool operator()(const TensorMap& inputs, TensorMap* outputs) {
    ::caffe2rt::Predictor::TensorMap results;
    const bool success = ::caffe2rt::Predictor::operator()(Values(inputs), &results);
    outputs->clear();
    for (auto& [name, tensor] : results) (*outputs)[name] = std::move(tensor);
    return success;
  }
  bool run_map(const TensorMap& inputs, TensorVector* outputs) {
    TensorPointerMap pointers;
    for (const auto& [name, tensor] : inputs) pointers[name] = tensor.get();
    return ::caffe2rt::Predictor::run_map(pointers, outputs);
  }
  bool run_map_outputs(const TensorMap& inputs, TensorMap* outputs) {
    return (*this)(inputs, outputs);
  }
  // The same with maps of the base class. Templates, so that braces mean a TensorMap.
  template <std::same_as<::caffe2rt::Predictor::TensorMap> Map, class Outputs>
  bool operator()(const Map& inputs, Outputs* outputs) {
    return ::caffe2rt::Predictor::operator()(inputs, outputs);
  }
  template <class Map>
  requires std::same_as<Map, TensorPointerMap> ||
      std::same_as<Map, ::caffe2rt::Predictor::TensorMap>
  bool run_map(const Map& inputs, TensorVector* outputs) {
    return ::caffe2rt::Predictor::run_map(inputs, outputs);
  }

 private:
  static ::caffe2rt::Predictor::TensorMap Values(const TensorMap& inputs) {
    ::caffe2rt::Predictor::TensorMap values;
    for (const auto& [name, tensor] : inputs) values[name] = *tensor;
    return values;
  }
};

using Base = ValueCalls;

}  // namespace caffe2::predictor_calls
