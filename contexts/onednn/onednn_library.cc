#include "contexts/onednn/onednn_library.h"

#include <dlfcn.h>

namespace caffe2rt {

namespace {

// The functions of the OpenMP runtime that libdnnl was built with. They are looked up at run time,
// because the runtime depends on the build of libdnnl. If libdnnl was built without OpenMP, they
// are null and nothing needs to be set.
struct OpenMP {
  int (*get)() = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  void (*set)(int) = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  bool present() const { return get != nullptr && set != nullptr; }
};

const OpenMP& Runtime() {
  static const OpenMP runtime;
  return runtime;
}

}  // namespace

const dnnl::engine& OnednnEngine() {
  static const dnnl::engine* const engine = new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

dnnl::stream& OnednnStream() {
  thread_local dnnl::stream stream(OnednnEngine());
  return stream;
}

OneOpenMPThread::OneOpenMPThread() : before_(Runtime().present() ? Runtime().get() : 1) {
  if (before_ != 1) Runtime().set(1);
}

OneOpenMPThread::~OneOpenMPThread() {
  if (before_ != 1) Runtime().set(before_);
}

}  // namespace caffe2rt
