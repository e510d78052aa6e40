// NumPy arrays and archives.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string& bytes) {
  return bytes.starts_with("PK") ? FileKind::kNpz : FileKind::kNpy;
}

}  // namespace caffe2rt::test
