#pragma once
// Protobuf messages of older files.
#include "caffe2rt/caffe2_legacy.pb.h"

namespace caffe2 {
using ::caffe2rt::CAFFE_LEGACY_POOLING;
using ::caffe2rt::CaffeDatum;
using ::caffe2rt::LegacyPadding;
using ::caffe2rt::LegacyPadding_ARRAYSIZE;
using ::caffe2rt::LegacyPadding_IsValid;
using ::caffe2rt::LegacyPadding_MAX;
using ::caffe2rt::LegacyPadding_MIN;
using ::caffe2rt::LegacyPadding_Name;
using ::caffe2rt::LegacyPadding_Parse;
using ::caffe2rt::NOTSET;
using ::caffe2rt::SAME;
using ::caffe2rt::VALID;
}  // namespace caffe2
