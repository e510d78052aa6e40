#pragma once
// What SendTensor and ReceiveTensor share.

#include "operators/distributed/collective.h"

namespace caffe2rt {

inline constexpr ArgumentSpec<int> kMessageDestination{"dst", 0, "the rank to which to send"};
inline constexpr ArgumentSpec<int> kMessageSource{"src", 0,
                                                  "the rank from which to receive; -1: any"};
inline constexpr ArgumentSpec<int> kMessageTag{
    "tag", 0, "a number that the sender and the receiver give a message; -1 for a receiver: any"};
inline constexpr ArgumentSpec<bool> kMessageRawBuffer{
    "raw_buffer", false,
    "the receiver knows shape and type; has no effect, because they are sent in any case"};

// A number in an input on the CPU.
inline int NumberInInput(const Tensor& tensor, const char* what) {
  CAFFE_ENFORCE_EQ(tensor.numel(), 1, "elements of ", what);
  return *tensor.data<int>();
}

}  // namespace caffe2rt
