#include "caffe2_core/base/thread_state.h"

namespace caffe2rt {

constinit thread_local ThreadState t_thread_state;

}  // namespace caffe2rt
