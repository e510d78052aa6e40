#pragma once
// Functions that read, write or convert files, swept over their failing allocations: each throws EnforceNotMet, or does what
// it would have done, and gives the right result when it is called again.
//
//   SweepRows({{"Clone", [&] { tensor = source.Clone(); }, [&] { return tensor.numel() == 6; }}});

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/tensor/tensor.h"
#include "tests/support/allocation_sweep.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test {

struct IoRow {
  const char* name;
  std::function<void()> act;
  std::function<bool()> right;
  bool writes = false;    // files, which takes time: not every allocation fails
  bool may_fail = false;  // without an exception, by its result
};

// Work of the test itself, whose allocations fail, too.
template <class Function>
auto Own(Function function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    ThrowOutOfMemory();
  }
}

class IoWithoutMemoryTest : public AllocationFailureTest {
 protected:
  // Most actions are short: each of their allocations fails once.
  static void SetStride(const char* stride) { setenv("CAFFE2_TEST_ALLOCATION_STRIDE", stride, 1); }
  void TearDown() override { unsetenv("CAFFE2_TEST_ALLOCATION_STRIDE"); }
  static void SweepRows(const std::vector<IoRow>& rows) {
    for (const IoRow& row : rows) {
      SCOPED_TRACE(row.name);
      SetStride(row.writes ? "23" : "1");
      Sweep([&row] {
        // Whether the call before returned, in spite of an allocation that failed.
        const auto returned = std::make_shared<bool>(false);
        return Action{.act =
                          [&row, returned] {
                            if (std::exchange(*returned, false) && !row.may_fail) {
                              EXPECT_TRUE(row.right()) << "it returned without its result";
                            }
                            row.act();
                            *returned = true;
                          },
                      .verify = [&row] { EXPECT_TRUE(row.right()); }};
      });
      if (HasFailure()) return;
    }
  }
  static Tensor Floats(const std::vector<int64_t>& dims) {
    Tensor tensor(dims, CPU);
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      tensor.mutable_data<float>()[i] = static_cast<float>(i);
    }
    return tensor;
  }
  const TempDir dir_;
  // A name that needs memory of its own.
  const std::string long_ = std::string(40, 'n');
};

}  // namespace caffe2rt::test
