#pragma once
// A record of a training database: a key and TensorProtos, usually the data and its label.

#include <cstdint>
#include <functional>
#include <string>

#include "caffe2rt/caffe2.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct TrainingRecord {
  std::string key;  // in the order of the records
  TensorProtos tensors;
};

// Called with one record after the other, on the caller's thread.
using RecordAcceptor = std::function<void(const TrainingRecord& record)>;

// Where the channels of the pixels are. Caffe2's operators read images with the channels last
// (ImageInput, NHWC2NCHW); convolutions take them first.
enum class PixelOrder { kChannelsLast, kChannelsFirst };

// Returns the key of the record with this number: at least `digits` digits, with leading zeros, so
// that keys of as many digits are in the order of the numbers.
std::string RecordKey(int64_t number, int digits);

// Adds an int32 label. Its dims are [1], or none: then a batch of labels has one dimension.
enum class LabelDims { kOne, kNone };
void AddLabel(int32_t label, LabelDims dims, TensorProtos* tensors);

}  // namespace caffe2rt
#pragma GCC visibility pop
