#pragma once
// NUMA placement through the kernel's own calls (no libnuma). Active only when the kernel has NUMA
// and CPUMemoryOptions::numa_enabled is set; else every function does nothing or returns -1.

#include <cstddef>

namespace caffe2rt {

bool IsNUMAEnabled();
// Binds the calling thread's execution and memory policy to `node`; negative: nothing.
void NUMABind(int node);
int GetNUMANode(const void* pointer);
int GetNumNUMANodes();
// Moves the pages of [pointer, pointer + size) to `node`.
void NUMAMove(void* pointer, size_t size, int node);
int GetCurrentNUMANode();

}  // namespace caffe2rt
