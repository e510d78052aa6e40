// External data of models of ONNX: the names, offsets and lengths in a model with one such tensor. The
// bytes stand in the places that a hostile file would use.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kOnnxTensor; }

}  // namespace caffe2rt::test
