#pragma once
// Collects records, and reads their tensors, for the tests of training data.

#include <string>
#include <vector>

#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2_core/training/record.h"

namespace caffe2rt::test {

// Calls `make` with an acceptor and returns the records that it got.
template <class Make>
std::vector<TrainingRecord> Collect(Make make) {
  std::vector<TrainingRecord> records;
  make([&](const TrainingRecord& record) { records.push_back(record); });
  return records;
}

inline Tensor TensorOf(const TensorProto& proto) {
  Tensor tensor(CPU);
  TensorDeserializer().Deserialize(proto, &tensor);
  return tensor;
}

template <class T>
std::vector<T> ValuesOf(const TensorProto& proto) {
  const Tensor tensor = TensorOf(proto);
  return {tensor.data<T>(), tensor.data<T>() + tensor.numel()};
}

inline std::vector<int64_t> DimsOf(const TensorProto& proto) {
  return {proto.dims().begin(), proto.dims().end()};
}

// A number as four bytes, the highest first.
inline std::string BigEndian(uint32_t number) {
  return {static_cast<char>(number >> 24), static_cast<char>(number >> 16),
          static_cast<char>(number >> 8), static_cast<char>(number)};
}

}  // namespace caffe2rt::test
