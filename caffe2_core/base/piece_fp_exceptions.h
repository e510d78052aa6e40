#pragma once
// Floating-point exceptions (division by zero, overflow, invalid operation) of work that ParallelFor
// divides among threads. The processor keeps them for each thread, so the caller would not see those
// of the workers.

namespace caffe2rt {

// If `collect` is set, ThreadPool::Run raises the exceptions of all pieces on the calling thread. Off
// by default. Thread safe.
void CollectFpExceptionsOfPieces(bool collect);

}  // namespace caffe2rt
