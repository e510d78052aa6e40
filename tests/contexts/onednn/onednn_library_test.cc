#include "contexts/onednn/onednn_library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt::test::onednn_library_test {
namespace {

// The OpenMP runtime of libdnnl, if it has one.
using Get = int (*)();
using Set = void (*)(int);
Get GetThreads() { return reinterpret_cast<Get>(dlsym(RTLD_DEFAULT, "omp_get_max_threads")); }
Set SetThreads() { return reinterpret_cast<Set>(dlsym(RTLD_DEFAULT, "omp_set_num_threads")); }

TEST(OnednnLibraryTest, WorkHasOneThreadAndTheCallerItsNumberAgain) {
  (void)OnednnEngine();
  const Get get = GetThreads();
  const Set set = SetThreads();
  if (get == nullptr || set == nullptr) return;
  const int before = get();
  for (const int threads : {3, 2, 1}) {
    set(threads);
    EXPECT_EQ(GuardOnednn("a part", get), 1);
    EXPECT_EQ(get(), threads);
    EXPECT_THROW(GuardOnednn("a part", [] { throw dnnl::error(dnnl_unimplemented, "not here"); }),
                 EnforceNotMet);
    EXPECT_EQ(get(), threads);
    {
      const OneOpenMPThread outer;
      {
        const OneOpenMPThread inner;
        EXPECT_EQ(get(), 1);
      }
      EXPECT_EQ(get(), 1);
    }
    EXPECT_EQ(get(), threads);
  }
  set(before);
}

TEST(OnednnLibraryTest, GuardsReturnWhatTheFunctionReturns) {
  int number = 7;
  int& same = GuardOnednn("a part", [&]() -> int& { return number; });
  EXPECT_EQ(&same, &number);
  // Other errors are not oneDNN's.
  try {
    GuardOnednn("a part", [] { CAFFE_THROW("of another kind"); });
    ADD_FAILURE();
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.message(), "of another kind");
  }
}

TEST(OnednnLibraryTest, TheProcessHasOneEngineAndAThreadOneStream) {
  EXPECT_EQ(&OnednnEngine(), &OnednnEngine());
  EXPECT_EQ(OnednnEngine().get_kind(), dnnl::engine::kind::cpu);
  EXPECT_EQ(&OnednnStream(), &OnednnStream());
}

}  // namespace
}  // namespace caffe2rt::test::onednn_library_test
