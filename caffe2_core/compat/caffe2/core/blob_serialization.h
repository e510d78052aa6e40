#pragma once
// Serialization and deserialization of blobs.
#include <climits>
#include <limits>

#include "c10/util/Registry.h"
#include "caffe2/core/blob.h"
#include "caffe2/core/blob_serializer_base.h"
#include "caffe2/core/tensor.h"
#include "caffe2/core/types.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2/utils/simple_queue.h"
#include "caffe2_core/io/blob_serialization.h"

namespace caffe2 {
using ::caffe2rt::CreateDeserializer;
using ::caffe2rt::CreateSerializer;
using ::caffe2rt::DeserializeBlob;
using ::caffe2rt::kChunkIdSeparator;
using ::caffe2rt::kTensorBlobType;
using ::caffe2rt::SerializeBlob;
#if CAFFE2RT_TEMPLATED_TENSOR
template <class Context>
class TensorSerializer : public ::caffe2rt::TensorSerializer {};
template <class Context>
class TensorDeserializer : public ::caffe2rt::TensorDeserializer {};
#else
using ::caffe2rt::TensorDeserializer;
using ::caffe2rt::TensorSerializer;
#endif
}  // namespace caffe2
