#include "device_mix_op.h"

namespace caffe2 {

OPERATOR_SCHEMA(DeviceMix)
    .NumInputs(0)
    .NumOutputs(1)
    .Arg("n", "number of elements")
    .Arg("step", "difference between two elements");
NO_GRADIENT(DeviceMix);

}  // namespace caffe2
