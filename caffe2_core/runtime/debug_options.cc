#include "caffe2_core/runtime/debug_options.h"

namespace caffe2rt {

DebugOptions& GlobalDebugOptions() {
  static DebugOptions* const options = new DebugOptions;
  return *options;
}

}  // namespace caffe2rt
