#pragma once
// CPUContext: the context of the CPU.
#include <cstdlib>
#include <ctime>
#include <random>
#include <unordered_map>

#include "caffe2/core/allocator.h"
#include "caffe2/core/context_base.h"
#include "caffe2/core/event.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/typeid.h"
#include "caffe2/proto/caffe2_pb.h"
#include "contexts/cpu/cpu_context.h"

namespace caffe2 {
using ::caffe2rt::CPUContext;
using ::caffe2rt::CPUStaticContext;
using ::caffe2rt::GetCPUStaticContext;
using ::caffe2rt::RandomNumberSeed;
}  // namespace caffe2
