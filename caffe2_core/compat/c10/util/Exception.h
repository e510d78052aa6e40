#pragma once
#include "caffe2/core/logging.h"
