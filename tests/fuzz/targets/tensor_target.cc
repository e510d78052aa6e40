// Tensors: TensorProto, TensorProtos, and BlobProto.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

// A damaged message whose content shows no kind is read as TensorProto.
FileKind KindOfInput(const std::string& bytes) {
  const FileKind kind = DetectContentKind(bytes, static_cast<int64_t>(bytes.size())).kind;
  return kind == FileKind::kTensorProtos || kind == FileKind::kBlobProto ? kind
                                                                         : FileKind::kTensorProto;
}

}  // namespace caffe2rt::test
