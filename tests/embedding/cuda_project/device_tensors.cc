// Tensors that move between the CPU and CUDA, in the style of 2019, in which Tensor is a class.
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"

int main(int argc, char** argv) {
  using namespace caffe2;  // NOLINT: as users write
  GlobalInit(&argc, &argv);
  Workspace ws;
  Tensor values = TensorCPUFromValues<float>({2}, std::vector<float>{3, 4});
  BlobGetMutableTensor(ws.CreateBlob("y"), CUDA)->CopyFrom(values);
  if (!BlobIsTensorType(*ws.GetBlob("y"), CUDA)) return 1;
  Tensor cpu(ws.GetBlob("y")->Get<Tensor>(), CPU);
  if (cpu.GetDeviceType() != CPU || cpu.data<float>()[1] != 4) return 2;

  CUDAContext context(0);
  const float source[] = {5, 6};
  Tensor there(std::vector<int64_t>{2}, CUDA);
  context.Copy<float, CPUContext, CUDAContext>(2, source, there.mutable_data<float>());
  float h = 0;
  context.Copy<float, CUDAContext, CPUContext>(1, there.data<float>() + 1, &h);
  context.FinishDeviceComputation();
  return h == 6 ? 0 : 3;
}
