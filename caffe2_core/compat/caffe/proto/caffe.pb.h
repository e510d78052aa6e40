#pragma once
// Caffe's arrays, as far as this library reads and writes them.
#include "caffe2rt/caffe.pb.h"

namespace caffe {
using ::caffe2rt::caffe::BlobProto;
using ::caffe2rt::caffe::BlobProtoVector;
using ::caffe2rt::caffe::BlobShape;
}  // namespace caffe
