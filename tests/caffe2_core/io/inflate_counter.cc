#include "tests/caffe2_core/io/inflate_counter.h"

#include <dlfcn.h>
#include <zlib.h>

#include <atomic>

namespace caffe2rt::test {
namespace {
std::atomic<uint64_t> g_inflated{0};
}  // namespace

uint64_t InflatedBytes() { return g_inflated.load(); }

}  // namespace caffe2rt::test

// The dynamic linker finds this definition before zlib's own.
extern "C" int inflate(z_streamp stream, int flush) {
  using Inflate = int (*)(z_streamp, int);
  static const auto next = reinterpret_cast<Inflate>(dlsym(RTLD_NEXT, "inflate"));
  const uLong before = stream->total_out;
  const int result = next(stream, flush);
  caffe2rt::test::g_inflated += stream->total_out - before;
  return result;
}
