#pragma once
// The operators that hold weights in their argument `values`, and the conversion between the list
// in the argument and a tensor of the elements.
//
//   type                                  list       elements
//   GivenTensorFill                       floats     float
//   GivenTensorDoubleFill                 floats     double
//   GivenTensorBoolFill                   ints       bool
//   GivenTensor{Int,Int16,Int64}Fill      ints       int32, int16, int64
//   GivenTensorByteStringToUInt8Fill      strings    uint8, the bytes of the only string
//   Int8GivenTensorFill                   s          uint8, the bytes of the string
//   Int8GivenIntTensorFill                ints       int32
//
// Internal to net_weights.cc and double_fills.cc.

#include <string>

#include "caffe2_core/tensor/tensor.h"
#include "caffe2rt/caffe2.pb.h"

namespace caffe2rt {

class WireCursor;

// Whether argument `dtype` selects the element type of the operator.
bool DependsOnDtype(const std::string& type);

// The type of the operator that holds such elements, or null.
const char* GivenFillOf(TypeMeta elements);

// Decodes the list between the cursor's position and `end`, the end of its argument. Returns false,
// with the cursor anywhere, if the operator type is not in the table above, the list is not encoded
// as one run, an element does not fit its type exactly, or the bytes are not a list.
bool DecodeGivenValues(const std::string& type, int64_t end, WireCursor* at, Tensor* values);

// Writes the elements into the list of the argument, the reverse of DecodeGivenValues. Doubles are
// rounded to floats. THROWS unless the elements are those of the operator type.
void EncodeGivenValues(const Tensor& values, const std::string& type, Argument* argument);

}  // namespace caffe2rt
