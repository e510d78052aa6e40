// Packed models.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kPackedModel; }

}  // namespace caffe2rt::test
