// Runs the suite of all contexts on IDEEP.
#include "tests/support/context_suite.h"

namespace caffe2rt::test::onednn_context_suite_test {
namespace {

INSTANTIATE_TEST_SUITE_P(IDEEP, ContextSuite,
                         testing::Values(ContextSuiteDevice{.type = IDEEP,
                                                            .events_finish_alone = false}));

}  // namespace
}  // namespace caffe2rt::test::onednn_context_suite_test
