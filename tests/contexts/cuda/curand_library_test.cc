// The context's random number generator.
#include "contexts/cuda/curand_library.h"

#include <gtest/gtest.h>

#include <vector>

#include "contexts/cuda/cuda_context.h"
#include "tests/contexts/cuda/cuda_testing.h"
#include "tests/support/operator_test.h"

namespace caffe2rt::test::curand_library_test {
namespace {

class CurandGeneratorTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!HasCurand()) GTEST_SKIP() << CurandProblem();
  }
  static DeviceOption Seeded(uint32_t seed) {
    DeviceOption option;
    option.set_device_type(CUDA);
    option.set_random_seed(seed);
    return option;
  }
  static std::vector<float> Draw(CUDAContext* context) {
    std::vector<float> values(1000);
    const DataPtr memory(CUDAContext::New(values.size() * sizeof(float)));
    CURAND_ENFORCE(Curand().GenerateUniform(context->curand_generator(),
                                            static_cast<float*>(memory.get()), values.size()));
    context->CopyBytesToCPU(values.size() * sizeof(float), memory.get(), values.data());
    context->FinishDeviceComputation();
    return values;
  }
  static std::vector<float> DrawTwice(uint32_t seed, int stream) {
    CUDAContext context(Seeded(seed));
    context.SwitchToDevice(stream);
    std::vector<float> values = Draw(&context);
    const std::vector<float> more = Draw(&context);
    values.insert(values.end(), more.begin(), more.end());
    return values;
  }
};

TEST_F(CurandGeneratorTest, StartsFromTheSeedOfTheContext) {
  const std::vector<float> first = DrawTwice(7, 0);
  EXPECT_NE(std::vector<float>(first.begin(), first.begin() + 1000),
            std::vector<float>(first.begin() + 1000, first.end()));
  EXPECT_EQ(DrawTwice(7, 0), first) << "a used generator starts from the beginning";
  EXPECT_EQ(DrawTwice(7, 3), first) << "on another stream";
  EXPECT_NE(DrawTwice(8, 0), first);
}

TEST_F(CurandGeneratorTest, IsOneForEachContext) {
  const std::vector<float> want = DrawTwice(7, 0);
  CUDAContext one(Seeded(7)), other(Seeded(7));
  one.SwitchToDevice(0);
  EXPECT_NE(one.curand_generator(), other.curand_generator());
  std::vector<float> values = Draw(&one);
  other.SwitchToDevice(0);
  Draw(&other);
  const std::vector<float> more = Draw(&one);
  values.insert(values.end(), more.begin(), more.end());
  EXPECT_EQ(values, want);
}

TEST_F(CurandGeneratorTest, GoesOnWhenItsContextChangesTheStream) {
  CUDAContext context(Seeded(7));
  context.SwitchToDevice(0);
  std::vector<float> values = Draw(&context);
  context.SwitchToDevice(2);
  const std::vector<float> more = Draw(&context);
  values.insert(values.end(), more.begin(), more.end());
  EXPECT_EQ(values, DrawTwice(7, 0));
}

TEST_F(CurandGeneratorTest, EnqueuesOnlyOnTheStreamOfItsContext) {
  constexpr size_t kCount = 1000;
  const std::vector<float> zeros(kCount, 0.f), want = DrawTwice(7, 0);
  CUDAContext context(Seeded(7)), other(Seeded(7));
  context.SwitchToDevice(1);
  Draw(&context);  // cuRAND may allocate memory for the first numbers, which waits for the device
  other.SwitchToDevice(1);
  const DataPtr memory(CUDAContext::New(kCount * sizeof(float)));
  other.CopyBytesFromCPU(kCount * sizeof(float), zeros.data(), memory.get());
  other.FinishDeviceComputation();
  context.SwitchToDevice(2);
  Gate gate(context.cuda_stream());
  CURAND_ENFORCE(Curand().GenerateUniform(context.curand_generator(),
                                          static_cast<float*>(memory.get()), kCount));
  std::vector<float> seen(kCount);
  const auto read = [&](CUDAContext* reader) {
    reader->CopyBytesToCPU(kCount * sizeof(float), memory.get(), seen.data());
    reader->FinishDeviceComputation();
    return seen;
  };
  EXPECT_EQ(read(&other), zeros);
  gate.Open();
  EXPECT_EQ(read(&context), std::vector<float>(want.begin() + kCount, want.end()));
}

TEST_F(CurandGeneratorTest, ReportsWhatItRejects) {
  CUDAContext context(Seeded(7));
  context.SwitchToDevice(0);
  const DataPtr memory(CUDAContext::New(12));
  ExpectThrows(
      [&] {
        CURAND_ENFORCE(Curand().GenerateNormal(context.curand_generator(),
                                               static_cast<float*>(memory.get()), 3, 0, 1),
                       "noise");
      },
      "CURAND_STATUS_LENGTH_NOT_MULTIPLE");
}

}  // namespace
}  // namespace caffe2rt::test::curand_library_test
