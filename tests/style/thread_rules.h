#pragma once
// Rules about state of threads.

#include "tests/style/source_tree.h"

namespace caffe2rt::test {

// Variables of the library and the programs that are thread_local and on no list. State of a thread
// that belongs to its work has to go with the work to other threads: it is a member of ThreadState
// (caffe2_core/base/thread_state.h). A variable that means the thread itself, or a cache, is listed in
// thread_rules.cc with the reason.
Violations CheckThreadLocals(const std::vector<SourceFile>& files);

}  // namespace caffe2rt::test
