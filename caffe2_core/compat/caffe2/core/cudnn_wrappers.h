#pragma once
// cuDNN is not used without CUDA.
#include "caffe2/core/common_gpu.h"
#include "caffe2/core/context.h"
#include "caffe2/core/types.h"
