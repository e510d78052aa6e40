#pragma once
// MetaNetDef: nets and the roles that they play in a saved model.
#include "caffe2/proto/caffe2.pb.h"
#include "caffe2rt/metanet.pb.h"

namespace caffe2 {
using ::caffe2rt::BlobsMap;
using ::caffe2rt::MetaNetDef;
using ::caffe2rt::ModelInfo;
using ::caffe2rt::NetsMap;
using ::caffe2rt::PlansMap;
using ::caffe2rt::StringMap;
}  // namespace caffe2
