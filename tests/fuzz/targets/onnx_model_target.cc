// Models of ONNX.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kOnnxModel; }

}  // namespace caffe2rt::test
