#pragma once
// Counters are not collected here; sources that include this header for their common names compile.
#include "caffe2/core/logging.h"
