#pragma once
// What every user of oneDNN here needs: one engine, one stream a thread, one thread a primitive,
// and one kind of error.
//
//   GuardOnednn("convolution", [&] { primitive.execute(OnednnStream(), args); });
//
// Thread safe. dnnl::error becomes EnforceNotMet. Nothing here outlives a thread but the engine.

#include <dnnl.hpp>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

// The CPU engine; made on first use, never destroyed.
const dnnl::engine& OnednnEngine();
// The calling thread's stream.
dnnl::stream& OnednnStream();

// While it lives, OpenMP regions that this thread starts have one thread: primitives freeze that
// number when they are made, dnnl_sgemm reads it in each call. Restores the thread's own setting.
class OneOpenMPThread {
 public:
  OneOpenMPThread();
  ~OneOpenMPThread();
  OneOpenMPThread(const OneOpenMPThread&) = delete;
  OneOpenMPThread& operator=(const OneOpenMPThread&) = delete;

 private:
  int before_;
};

// Runs `function` on one OpenMP thread. THROWS EnforceNotMet naming `subject` for oneDNN's errors.
template <class Function>
decltype(auto) GuardOnednn(const char* subject, Function&& function) {
  const OneOpenMPThread one_thread;
  try {
    return std::forward<Function>(function)();
  } catch (const dnnl::error& error) {
    CAFFE_THROW("oneDNN cannot do ", subject, ": ", error.message, " (status ",
                static_cast<int>(error.status), ")");
  }
}

}  // namespace caffe2rt
