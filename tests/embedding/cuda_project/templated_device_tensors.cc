// Tensors that move between the CPU and CUDA, in the style of 2017: the device is in the type.
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"

int main(int argc, char** argv) {
  using namespace caffe2;  // NOLINT: as users write
  GlobalInit(&argc, &argv);
  Workspace ws;
  const TensorCPU values({2}, std::vector<float>{3, 4}, NULL);
  ws.CreateBlob("y")->GetMutable<TensorCUDA>()->CopyFrom(values);
  if (!ws.GetBlob("y")->IsType<TensorCUDA>() || ws.GetBlob("y")->IsType<TensorCPU>()) return 1;
  auto cpu = TensorCPU(ws.GetBlob("y")->Get<TensorCUDA>());
  if (cpu.data<float>()[1] != 4) return 2;
  Tensor<CUDAContext> again(cpu);
  TensorCPU back(again);
  if (back.data<float>()[0] != 3) return 3;

  CUDAContext context(0);
  const int source[] = {5, 6};
  TensorCUDA there;
  there.Resize(2);
  context.Copy<int, CPUContext, CUDAContext>(2, source, there.mutable_data<int>());
  int h = 0;
  context.Copy<int, CUDAContext, CPUContext>(1, there.data<int>() + 1, &h);
  if (!context.FinishDeviceComputation()) return 5;
  // GetMutable of another device replaces the tensor.
  ws.CreateBlob("y")->GetMutable<TensorCPU>()->Resize(1);
  return h == 6 && ws.GetBlob("y")->IsType<TensorCPU>() ? 0 : 4;
}
