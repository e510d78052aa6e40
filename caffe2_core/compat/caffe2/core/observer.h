#pragma once
// Callbacks around runs of nets and operators.
#include <memory>
#include <unordered_set>

#include "caffe2/core/logging.h"
#include "caffe2_core/runtime/observer.h"

namespace caffe2 {
using ::caffe2rt::Observable;
using ::caffe2rt::ObserverBase;
}  // namespace caffe2
