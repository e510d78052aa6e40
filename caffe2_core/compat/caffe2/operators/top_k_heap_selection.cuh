#pragma once
// Selection on CUDA devices is not here; the header keeps sources that include it building.
#include "caffe2/core/context_gpu.h"
