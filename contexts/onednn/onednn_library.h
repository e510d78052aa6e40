#pragma once
// Shared use of oneDNN: one engine for the process, one stream per thread, one OpenMP thread per
// primitive, and one type of exception.
//
//   GuardOnednn("convolution", [&] { primitive.execute(OnednnStream(), args); });
//
// Thread safe. dnnl::error becomes EnforceNotMet. The engine lives until the process ends, a stream
// as long as its thread.

#include <dnnl.hpp>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {

// The CPU engine. Created on first use, never destroyed.
const dnnl::engine& OnednnEngine();
// The calling thread's stream.
dnnl::stream& OnednnStream();

// While an object of this class exists, OpenMP regions that this thread starts have one thread.
// oneDNN's primitives read the number of threads when they are created; dnnl_sgemm reads it on each
// call. The destructor restores the thread's previous setting.
class OneOpenMPThread {
 public:
  OneOpenMPThread();
  ~OneOpenMPThread();
  OneOpenMPThread(const OneOpenMPThread&) = delete;
  OneOpenMPThread& operator=(const OneOpenMPThread&) = delete;

 private:
  int before_;
};

// Runs `function` with one OpenMP thread. If oneDNN fails, THROWS EnforceNotMet with `subject` in
// the message.
template <class Function>
decltype(auto) GuardOnednn(const char* subject, Function&& function) {
  const OneOpenMPThread one_thread;
  try {
    return std::forward<Function>(function)();
  } catch (const dnnl::error& error) {
    CAFFE_THROW("oneDNN failed in ", subject, ": ", error.message, " (status ",
                static_cast<int>(error.status), ")");
  }
}

}  // namespace caffe2rt
