#pragma once
// The operator is built in. Includes the headers that Caffe2's header of this name included.
#include "caffe2/core/context.h"
#include "caffe2/core/logging.h"
#include "caffe2/core/operator.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/math.h"
