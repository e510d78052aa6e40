#pragma once
// Recorded cases whose results may differ on a device although the library is right.

#include "tests/oracle/replay.h"
#include "tests/oracle/report.h"

namespace caffe2rt::test {

// The cases that may differ on the target, by id, with the reason.
Reasons DifferencesOn(const ReplayTarget& target);

}  // namespace caffe2rt::test
