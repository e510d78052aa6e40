// The contexts that come with the library.

#include "caffe2_core/device/context.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2rt {

void EnsureBuiltinContexts() { RegisterCPUContext(); }

}  // namespace caffe2rt
