// Models of Caffe in binary format.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kCaffeModel; }

}  // namespace caffe2rt::test
