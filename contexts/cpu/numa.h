#pragma once
// NUMA placement. Active only if the kernel supports NUMA and CPUMemoryOptions::numa_enabled is
// set; otherwise every function does nothing or returns -1. Thread safe.
//
// The functions THROW if a node does not exist, or if the system rejects the call, as containers
// may do. Nothing is printed.

#include <cstddef>

#pragma GCC visibility push(default)
namespace caffe2rt {

bool IsNUMAEnabled();
// Binds the calling thread's execution and memory policy to `node`. Does nothing if `node` is
// negative.
void NUMABind(int node);
// Returns the node of the memory at `pointer`, or -1 if it is null.
int GetNUMANode(const void* pointer);
// Returns one more than the number of the last node.
int GetNumNUMANodes();
// Moves the pages of [pointer, pointer + size) to `node`. Does nothing if `node` is negative.
void NUMAMove(void* pointer, size_t size, int node);
// Returns the node of the processor that runs the calling thread.
int GetCurrentNUMANode();

}  // namespace caffe2rt
#pragma GCC visibility pop
