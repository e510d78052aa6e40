#pragma once
// Records of Caffe's image databases: one Datum each, an image with its label.
//
//   CaffeDatum datum;
//   if (ParseDatum(record, &datum)) record = DatumToTensorProtos(datum).SerializeAsString();

#include <string_view>

#include "caffe2rt/caffe2.pb.h"
#include "caffe2rt/caffe2_legacy.pb.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

// How to convert a database of Datum, for error messages.
inline constexpr char kDatumRemedy[] = "caffe2 convert DB --to lmdb --output NEW converts them";

// Returns whether the record is a Datum: an encoded image, or as many values as its shape has. No
// record of Caffe2 is one.
bool ParseDatum(std::string_view record, CaffeDatum* datum);

// Returns what TensorProtosDBInput reads: the image "data", [channels, height, width] of uint8 or,
// if the Datum has floats, of float, and the "label", one int32 without dimensions. An encoded
// image is decoded; its channels are blue, green, red, as Caffe's. THROWS if that fails.
TensorProtos DatumToTensorProtos(const CaffeDatum& datum);

}  // namespace caffe2rt
#pragma GCC visibility pop
