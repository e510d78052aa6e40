// Tensors that move between the CPU and CUDA, in the style of 2019, in which Tensor is a class.
#include "caffe2/core/context_gpu.h"
#include "caffe2/core/init.h"
#include "caffe2/core/operator.h"
#include "caffe2/image/transform_gpu.h"

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
  if (h != 6) return 3;

  // One image of one pixel in two channels: (3 - 1) * 2 and (9 - 1) * 0.5, both 4.
  Tensor pixel(std::vector<int64_t>{1, 1, 1, 2}, CPU), y(CUDA);
  pixel.mutable_data<uint8_t>()[0] = 3;
  pixel.mutable_data<uint8_t>()[1] = 9;
  Tensor image(pixel, CUDA), mean(TensorCPUFromValues<float>({2}, std::vector<float>{1, 1}), CUDA);
  Tensor scale(TensorCPUFromValues<float>({2}, std::vector<float>{2, 0.5f}), CUDA);
  if (!TransformOnGPU<uint8_t, float, CUDAContext>(image, &y, mean, scale, &context)) return 4;
  cpu.CopyFrom(y);
  return cpu.data<float>()[0] == 4 && cpu.data<float>()[1] == 4 ? 0 : 5;
}
