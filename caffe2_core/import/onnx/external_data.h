#pragma once
// Tensors of an ONNX model that lie in other files.

#include <map>
#include <memory>
#include <string>

#include "caffe2_core/io/random_access_input.h"
#include "caffe2rt/onnx.pb.h"

namespace caffe2rt {

// The bytes of a tensor in a file.
struct OnnxSpan {
  std::shared_ptr<const RandomAccessInput> input;
  int64_t offset = 0, size = 0;
  bool open_end = false;  // the model does not state the size, which ends where the file does
};

// Opens the files that tensors name. A name is relative, without "..", and denotes a regular file
// below the folder of the model, also after symbolic links are followed. If the model itself is a link,
// as in the cache of Hugging Face, its folder is that of the link or that of the file.
class OnnxExternalData {
 public:
  // An empty path of the model allows no file.
  explicit OnnxExternalData(std::string model) : model_(std::move(model)) {}

  // THROWS if the name is not allowed, or the file does not have the bytes.
  OnnxSpan Find(const onnx::TensorProto& proto);

 private:
  std::shared_ptr<const RandomAccessInput> Open(const std::string& location);

  const std::string model_;
  std::map<std::string, std::shared_ptr<const RandomAccessInput>> files_;
};

}  // namespace caffe2rt
