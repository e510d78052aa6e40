#pragma once
// Net transformations are not implemented. This header includes the headers that Caffe2's header of
// this name included.
#include "caffe2/core/graph.h"
#include "caffe2/core/workspace.h"
