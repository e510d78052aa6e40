#pragma once
// Random nets whose operators are on the CPU and on the devices of a type, for tests of executors.

#include "caffe2_core/device/device_type.h"

namespace caffe2rt::test {

// Makes random nets of 5 to 60 operators Relu, Add and Copy of 8 floats, some slow and some failing. Runs
// each several times on every type that runs by dependencies, with three threads, and expects in all
// blobs the bytes of `simple`, which must be those of the CPU alone. A blob is on one device, or, if
// blobs move, on that of the operator that wrote it last. CAFFE2_TEST_RANDOM_NETS and
// CAFFE2_TEST_RANDOM_RUNS set the numbers of nets and runs.
void ExpectMixedNetsGiveTheBytesOfSimple(DeviceType device, int devices, bool blobs_move = false);

}  // namespace caffe2rt::test
