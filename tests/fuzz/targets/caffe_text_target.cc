// Nets of Caffe in text format.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kCaffeText; }

}  // namespace caffe2rt::test
