#pragma once
// Working memory on a device for launch functions, which .cu files can ask for without Tensor's
// header.

#include <cstdint>

namespace caffe2rt {

class Tensor;

// `nbytes` bytes in the memory of `scratch`, which grows to the largest request; the contents are
// undefined.
void* ScratchBytes(Tensor* scratch, int64_t nbytes);

}  // namespace caffe2rt
