#pragma once
// The sequence of calls in Caffe's documentation of SyncedMemory, and the copies that each call
// must make, for any pair of contexts. A test defines how its device counts, and the counts for one
// copy.

#include <gtest/gtest.h>

#include <cstring>

#include "contexts/synced/synced_memory.h"

namespace caffe2rt::test {

// The counter starts at its construction. Take() returns the copies since the previous Take().
template <class Counter, class Copies>
void ExpectFourCopiesInThePublishedSequence(const SyncedContexts& sides, const Copies& none,
                                            const Copies& to_device, const Copies& to_cpu) {
  SyncedMemory memory(64, sides);
  memory.mutable_cpu_data();
  Counter counter;
  const void* gpu = memory.gpu_data();
  EXPECT_EQ(counter.Take(), to_device);
  const void* cpu = memory.cpu_data();
  EXPECT_EQ(counter.Take(), none);
  EXPECT_EQ(memory.mutable_gpu_data(), gpu);
  EXPECT_EQ(counter.Take(), none);
  memory.mutable_gpu_data();
  EXPECT_EQ(counter.Take(), none);
  EXPECT_EQ(memory.cpu_data(), cpu);
  EXPECT_EQ(counter.Take(), to_cpu);
  memory.gpu_data();
  EXPECT_EQ(counter.Take(), none);
  EXPECT_EQ(memory.mutable_cpu_data(), cpu);
  EXPECT_EQ(counter.Take(), none);
  memory.mutable_gpu_data();
  EXPECT_EQ(counter.Take(), to_device);
  memory.mutable_cpu_data();
  EXPECT_EQ(counter.Take(), to_cpu);
}

}  // namespace caffe2rt::test
