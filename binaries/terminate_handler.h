#pragma once
// Failing allocations that no function can report.

namespace caffe2rt {

// From now on, an allocation that fails where no exception may pass (in a function that is noexcept,
// or while an error is printed) ends the process with a line on stderr and exit code 1, not with
// SIGABRT. Programs call it at the beginning of main. Without a sanitizer it has already been called
// then, before the constructors of the program and of its libraries run.
void EndWithErrorWhenOutOfMemory();

}  // namespace caffe2rt
