// Nets in binary format.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kNetDef; }

}  // namespace caffe2rt::test
