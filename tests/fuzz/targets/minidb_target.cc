// Databases of type minidb, with tensors and predictors.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kMiniDB; }

}  // namespace caffe2rt::test
