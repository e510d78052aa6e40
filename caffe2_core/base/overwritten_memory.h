#pragma once
// OverwrittenMemory: a scope in which the calling thread overwrites all CPU memory that it allocates
// before anyone else can read it. Such memory is not filled with zeros first
// (CPUMemoryOptions::fill), which saves a pass over it.
//
//   const OverwrittenMemory scope;
//   float* elements = tensor.mutable_data<float>();
//
// Scopes may be nested. Create them on the stack only.

namespace caffe2rt {

class OverwrittenMemory {
 public:
  OverwrittenMemory() { ++Depth(); }
  ~OverwrittenMemory() { --Depth(); }
  OverwrittenMemory(const OverwrittenMemory&) = delete;
  OverwrittenMemory& operator=(const OverwrittenMemory&) = delete;
  static bool active() { return Depth() > 0; }

 private:
  static int& Depth() {
    static thread_local int depth = 0;
    return depth;
  }
};

}  // namespace caffe2rt
