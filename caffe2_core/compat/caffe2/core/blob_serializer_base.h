#pragma once
// The base classes of the serializer and the deserializer of a blob type.
#include <functional>
#include <string>

#include "caffe2/core/blob.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2_core/io/blob_serialization.h"

namespace caffe2 {
using ::caffe2rt::BlobDeserializerBase;
using ::caffe2rt::BlobSerializerBase;
using ::caffe2rt::kDefaultChunkSize;
using ::caffe2rt::kNoChunking;
}  // namespace caffe2
