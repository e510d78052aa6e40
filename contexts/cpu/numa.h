#pragma once
// NUMA placement by system calls, without libnuma. Active only if the kernel supports NUMA and
// CPUMemoryOptions::numa_enabled is set; otherwise every function does nothing or returns -1.

#include <cstddef>

namespace caffe2rt {

bool IsNUMAEnabled();
// Binds the calling thread's execution and memory policy to `node`. Does nothing if `node` is
// negative.
void NUMABind(int node);
int GetNUMANode(const void* pointer);
int GetNumNUMANodes();
// Moves the pages of [pointer, pointer + size) to `node`. Does nothing if `node` is negative.
void NUMAMove(void* pointer, size_t size, int node);
int GetCurrentNUMANode();

}  // namespace caffe2rt
