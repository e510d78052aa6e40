#pragma once
// Memory for the start of a process.

#include <cstddef>

namespace caffe2rt {

// Lets malloc have this much memory, all pages of which the kernel maps at once. A process that
// touches them one after the other waits as long for the kernel as it takes to fill them. Has no
// effect where the kernel or the allocator does not support it. Call it where few other threads run.
void MapHeapAhead(size_t bytes);

}  // namespace caffe2rt
