#include "device_mix_op.h"

namespace caffe2 {

OPERATOR_SCHEMA(DeviceMix)
    .NumInputs(0)
    .NumOutputs(1)
    .Arg("n", "numbers")
    .Arg("step", "between two");
NO_GRADIENT(DeviceMix);

}  // namespace caffe2
