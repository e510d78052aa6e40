#pragma once
#include "caffe2/utils/math/functions.h"
