// A library that uses caffe2rt, but registers nothing.
#include "caffe2_core/runtime/module.h"

bool module_test_unnamed() { return caffe2rt::HasModule("module_test_unnamed"); }
