#pragma once
// Net transformations are not here yet; what the header brought along is.
#include "caffe2/core/graph.h"
#include "caffe2/core/workspace.h"
