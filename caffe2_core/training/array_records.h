#pragma once
// Records from NumPy arrays: one record for each row.

#include <cstdint>
#include <string>
#include <vector>

#include "caffe2_core/training/record.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// Passes a record for each row (index of the first dimension) of .npy files with as many rows each.
// The key is the number of the row, in eight digits. The record has a tensor for each file, in
// their order, with the shape of a row and the name of the file ("x" for "data/x.npy"). uint8 is
// stored as bytes. Other types stay, but one: int64 with one dimension, which are labels in NumPy,
// become int32, which losses take. `limit` is the largest number of records; 0: all. THROWS if the
// numbers of rows differ, an array has no dimension, or such an int64 does not fit.
void ArrayRecords(const std::vector<std::string>& files, int64_t limit,
                  const RecordAcceptor& accept);

}  // namespace caffe2rt
#pragma GCC visibility pop
