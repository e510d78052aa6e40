// Nets of weights in binary format, in all encodings. The reader of weights and protobuf's parser
// must agree.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kNetDef; }

}  // namespace caffe2rt::test
