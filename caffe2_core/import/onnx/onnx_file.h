#pragma once
// Reads ONNX's files: a ModelProto whose tensors stay in the file until they are asked for.
//
//   OnnxFile file(std::make_shared<FileInput>(path), path, FolderOf(path));
//   Tensor w = file.ReadTensor(file.model().graph().initializer(3));
//
// Opening walks over the file once. The elements of tensors (raw_data, and packed float_data and
// double_data) are not copied into the message: it has their places, and ReadTensor reads them
// straight into the memory of the tensor.

#include <memory>
#include <string>

#include "caffe2_core/import/onnx/external_data.h"
#include "caffe2_core/io/random_access_input.h"
#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/onnx.pb.h"

namespace caffe2rt {

class OnnxFile {
 public:
  // External data lies beside the file `path`; if that is empty, external data is an error. THROWS if
  // the bytes are not an ONNX model; the error names `subject`.
  OnnxFile(std::shared_ptr<const RandomAccessInput> input, std::string subject,
           const std::string& path);

  const std::string& subject() const { return subject_; }
  const onnx::ModelProto& model() const { return model_; }

  // The elements, with the dims of the message. FLOAT16 and BFLOAT16 become float. THROWS if the
  // number of elements does not match the dims, or the type has no tensors here.
  Tensor ReadTensor(const onnx::TensorProto& proto) const;

 private:
  std::shared_ptr<const RandomAccessInput> input_;
  std::string subject_;
  onnx::ModelProto model_;
  mutable OnnxExternalData external_;
};

// The number of elements. THROWS for negative dims, more than 32 of them, and products that overflow.
int64_t OnnxElements(const onnx::TensorProto& proto);

// The same for a message that has its elements, such as a file with one tensor. FLOAT16 stays so.
Tensor OnnxTensorOf(const onnx::TensorProto& proto);

// "FLOAT" and so on; a number for types that are not known.
std::string OnnxTypeName(int type);

}  // namespace caffe2rt
