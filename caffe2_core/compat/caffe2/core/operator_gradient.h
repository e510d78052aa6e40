#pragma once
// Gradient makers.
#include <random>

#include "c10/util/Registry.h"
#include "caffe2/core/operator_schema.h"
#include "caffe2/proto/caffe2_pb.h"
#include "caffe2/utils/proto_utils.h"
#include "caffe2_core/graph/gradient.h"

namespace caffe2 {
using ::caffe2rt::GetGradientForOp;
using ::caffe2rt::GradientMakerBase;
using ::caffe2rt::GradientNotImplementedYet;
using ::caffe2rt::GradientOpsMeta;
using ::caffe2rt::GradientRegistry;
using ::caffe2rt::GradientWrapper;
using ::caffe2rt::NoGradient;
using ::caffe2rt::ThrowInTheTowelIfGradientIsCalled;
}  // namespace caffe2
