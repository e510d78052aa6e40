// PNG and JPEG images.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string& bytes) {
  return bytes.starts_with("\x89PNG") ? FileKind::kPng : FileKind::kJpeg;
}

}  // namespace caffe2rt::test
