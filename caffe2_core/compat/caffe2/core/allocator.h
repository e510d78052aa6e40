#pragma once
// Allocators of CPU memory.
#include "caffe2/core/common.h"
#include "caffe2/core/logging.h"
#include "caffe2_core/device/cpu_allocator.h"
#include "caffe2_core/device/memory.h"
#include "contexts/cpu/cpu_allocator.h"
#include "contexts/cpu/numa.h"

namespace caffe2 {
using ::caffe2rt::CPUAllocator;
using ::caffe2rt::DefaultCPUAllocator;
using ::caffe2rt::GetCPUAllocator;
using ::caffe2rt::MemoryAllocationReporter;
using ::caffe2rt::MemoryDeleter;
using ::caffe2rt::NoDelete;
using ::caffe2rt::SetCPUAllocator;
constexpr size_t gCaffe2Alignment = ::caffe2rt::kCPUAlignment;
}  // namespace caffe2
