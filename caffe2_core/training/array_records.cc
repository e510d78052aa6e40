#include "caffe2_core/training/array_records.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/blob_serialization.h"
#include "caffe2_core/io/npy.h"

namespace caffe2rt {
namespace {

struct Array {
  std::string name;
  Tensor tensor;
};

Tensor LabelsOf(const Tensor& tensor, const std::string& path) {
  Tensor labels(tensor.dims(), CPU);
  const auto* const from = tensor.data<int64_t>();
  auto* const to = labels.mutable_data<int32_t>();
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    CAFFE_ENFORCE(std::in_range<int32_t>(from[i]), "element ", i, " of \"", path, "\" is ", from[i],
                  ", which no int32 holds, want labels or an array of two dimensions");
    to[i] = static_cast<int32_t>(from[i]);
  }
  return labels;
}

Array ReadArray(const std::string& path) {
  Tensor tensor = ReadNpy(path);
  CAFFE_ENFORCE_GE(tensor.dim(), 1, "dimensions of \"", path, "\", want rows");
  if (tensor.dim() == 1 && tensor.IsType<int64_t>()) tensor = LabelsOf(tensor, path);
  return {std::filesystem::path(path).stem().string(), std::move(tensor)};
}

void AddRow(const Array& array, int64_t row, TensorProtos* tensors) {
  const Tensor& tensor = array.tensor;
  const std::vector<int64_t> dims(tensor.dims().begin() + 1, tensor.dims().end());
  const int64_t count = tensor.numel() / tensor.dim(0);
  TensorProto* const proto = tensors->add_protos();
  if (tensor.IsType<uint8_t>()) {
    proto->set_data_type(TensorProto::BYTE);
    proto->set_byte_data(tensor.data<uint8_t>() + row * count, static_cast<size_t>(count));
  } else {
    TensorSerializer().Serialize(tensor, array.name, proto, static_cast<size_t>(row * count),
                                 static_cast<int32_t>(count));
    proto->clear_segment();
    proto->clear_dims();
    proto->clear_device_detail();
  }
  for (const int64_t dim : dims) proto->add_dims(dim);
  proto->set_name(array.name);
}

}  // namespace

void ArrayRecords(const std::vector<std::string>& files, int64_t limit,
                  const RecordAcceptor& accept) {
  std::vector<Array> arrays;
  for (const std::string& path : files) {
    arrays.push_back(ReadArray(path));
    const Tensor& tensor = arrays.back().tensor;
    CAFFE_ENFORCE_EQ(tensor.dim(0), arrays[0].tensor.dim(0), "rows of \"", path,
                     "\", want as many as \"", files[0], "\" has");
    CAFFE_ENFORCE(
        tensor.dim(0) == 0 || (tensor.numel() > 0 && tensor.numel() / tensor.dim(0) <= INT32_MAX),
        "rows of \"", path, "\" have ", tensor.dim(0) == 0 ? 0 : tensor.numel() / tensor.dim(0),
        " elements, want 1 to ", INT32_MAX);
  }
  const int64_t rows = arrays.empty() ? 0 : arrays[0].tensor.dim(0);
  const int64_t records = limit > 0 ? std::min(limit, rows) : rows;
  for (int64_t row = 0; row < records; ++row) {
    TrainingRecord record;
    record.key = RecordKey(row, 8);
    for (const Array& array : arrays) AddRow(array, row, &record.tensors);
    accept(record);
  }
}

}  // namespace caffe2rt
