#pragma once
// Empty, so that sources that include it compile. Top-k selection for CUDA devices is not provided.
#include "caffe2/core/context_gpu.h"
