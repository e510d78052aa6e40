#pragma once
#include "caffe2/operators/elementwise_ops.h"
