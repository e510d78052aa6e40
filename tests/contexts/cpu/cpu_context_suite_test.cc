// Runs the suite of all contexts on the CPU.
#include "tests/support/context_suite.h"

namespace caffe2rt::test::cpu_context_suite_test {
namespace {

INSTANTIATE_TEST_SUITE_P(CPU, ContextSuite,
                         testing::Values(ContextSuiteDevice{.type = CPU,
                                                            .events_finish_alone = false}));

}  // namespace
}  // namespace caffe2rt::test::cpu_context_suite_test
