#pragma once
// NUMA placement.
#include "caffe2/core/logging.h"
#include "contexts/cpu/numa.h"

namespace caffe2 {
using ::caffe2rt::GetCurrentNUMANode;
using ::caffe2rt::GetNUMANode;
using ::caffe2rt::GetNumNUMANodes;
using ::caffe2rt::IsNUMAEnabled;
using ::caffe2rt::NUMABind;
using ::caffe2rt::NUMAMove;
}  // namespace caffe2
