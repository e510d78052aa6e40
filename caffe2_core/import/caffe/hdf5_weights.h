#pragma once
// Reads weights of Caffe in HDF5 files (.caffemodel.h5).
//
// libhdf5 is not safe with hostile bytes. The program caffe2-read-hdf5 (binaries/hdf5) therefore
// parses the file in a process of its own, with limits of memory, time and system calls, and writes
// the weights as a caffemodel, which is read as any other. A crash of it is an error here.

#include <chrono>
#include <memory>
#include <string>

#include "caffe2_core/io/random_access_input.h"

namespace caffe2rt {

// Whether the file begins with the signature of HDF5.
bool IsHdf5(const RandomAccessInput& input);

// The weights as a caffemodel in memory, which counts against the limit of CPU memory. THROWS if the
// file has no weights of Caffe, if the process fails or takes longer than `timeout` and a second for
// every 8 MiB, or if the program is not installed. It is searched at $CAFFE2RT_READ_HDF5, beside this
// library, and where it is installed.
std::shared_ptr<const RandomAccessInput> ReadHdf5Weights(
    const std::string& path, std::chrono::seconds timeout = std::chrono::seconds(120));

}  // namespace caffe2rt
