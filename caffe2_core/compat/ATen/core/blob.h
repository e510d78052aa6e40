#pragma once
#include "caffe2/core/blob.h"
