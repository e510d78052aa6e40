// Plans.
#include "tests/fuzz/targets/target.h"

namespace caffe2rt::test {

FileKind KindOfInput(const std::string&) { return FileKind::kPlanDef; }

}  // namespace caffe2rt::test
