// Checks the fake cuRAND's numbers against the properties of their distributions.

#include <curand.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "element/on_device.h"
#include "fake_cuda/fake_cuda.h"

namespace {

using fakecuda::OnDevice;
constexpr size_t kCount = 100000;

class CurandTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(curandCreateGenerator(&generator_, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(curandDestroyGenerator(generator_), CURAND_STATUS_SUCCESS);
    fakecuda_reset(nullptr);
  }
  std::vector<float> Uniform(size_t count) {
    const OnDevice<float> out(std::vector<float>(count, -1));
    EXPECT_EQ(curandGenerateUniform(generator_, out.get(), count), CURAND_STATUS_SUCCESS);
    return out.Read();
  }

  curandGenerator_t generator_ = nullptr;
};

TEST_F(CurandTest, AllocatesForAGeneratorWhereAllocationsWait) {
  curandGenerator_t generator = nullptr;
  fakecuda_reset_calls();
  fakecuda_set("allocation_waits", 1);
  ASSERT_EQ(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(fakecuda_calls("memory_wait"), 1);
  ASSERT_EQ(curandDestroyGenerator(generator), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(fakecuda_calls("memory_wait"), 2);
}

// The tolerance is six standard deviations of the mean.
void ExpectMeanAndDeviation(const std::vector<double>& values, double mean, double deviation) {
  const auto n = static_cast<double>(values.size());
  const double found = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (const double value : values) squares += (value - found) * (value - found);
  EXPECT_NEAR(found, mean, 6 * deviation / std::sqrt(n));
  EXPECT_NEAR(std::sqrt(squares / n), deviation, 0.03 * deviation);
}

TEST_F(CurandTest, DrawsUniformNumbersAboveZero) {
  const std::vector<float> values = Uniform(kCount);
  EXPECT_GT(*std::min_element(values.begin(), values.end()), 0);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 1);
  ExpectMeanAndDeviation({values.begin(), values.end()}, 0.5, std::sqrt(1 / 12.0));
}

TEST_F(CurandTest, DrawsTheOtherDistributions) {
  const OnDevice<double> out{std::vector<double>(kCount)};
  curandGenerateUniformDouble(generator_, out.get(), kCount);
  ExpectMeanAndDeviation(out.Read(), 0.5, std::sqrt(1 / 12.0));
  curandGenerateNormalDouble(generator_, out.get(), kCount, 3, 2);
  ExpectMeanAndDeviation(out.Read(), 3, 2);
  curandGenerateLogNormalDouble(generator_, out.get(), kCount, 0, 0.25);
  const double s2 = 0.25 * 0.25;
  ExpectMeanAndDeviation(out.Read(), std::exp(s2 / 2), std::sqrt(std::expm1(s2) * std::exp(s2)));
  const OnDevice<float> floats{std::vector<float>(kCount)};
  curandGenerateNormal(generator_, floats.get(), kCount, -1, 0.5f);
  const std::vector<float> normal = floats.Read();
  ExpectMeanAndDeviation({normal.begin(), normal.end()}, -1, 0.5);
  const OnDevice<unsigned> counts{std::vector<unsigned>(kCount)};
  for (const double mean : {0.5, 20.0, 4000.0}) {
    curandGeneratePoisson(generator_, counts.get(), kCount, mean);
    const std::vector<unsigned> drawn = counts.Read();
    ExpectMeanAndDeviation({drawn.begin(), drawn.end()}, mean, std::sqrt(mean));
  }
  curandGenerate(generator_, counts.get(), kCount);
  const std::vector<unsigned> bits = counts.Read();
  ExpectMeanAndDeviation({bits.begin(), bits.end()}, 0x1p31, 0x1p32 / std::sqrt(12.0));
}

TEST_F(CurandTest, FollowsSeedAndOffset) {
  const std::vector<float> first = Uniform(100), second = Uniform(100);
  EXPECT_NE(first, second);
  curandSetGeneratorOffset(generator_, 100);
  EXPECT_EQ(Uniform(100), second);
  curandSetPseudoRandomGeneratorSeed(generator_, 7);
  curandSetGeneratorOffset(generator_, 0);
  EXPECT_NE(Uniform(100), first);
}

TEST_F(CurandTest, RunsOnItsStream) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(curandSetStream(generator_, stream), CURAND_STATUS_SUCCESS);
  const OnDevice<float> out(std::vector<float>(8, -1));
  fakecuda_pause(stream);
  ASSERT_EQ(curandGenerateUniform(generator_, out.get(), 8), CURAND_STATUS_SUCCESS);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
  fakecuda_resume(stream);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_GT(out.Read()[7], 0);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CurandTest, RejectsWhatCurandRejects) {
  const OnDevice<float> out(std::vector<float>(4));
  EXPECT_EQ(curandGenerateNormal(generator_, out.get(), 3, 0, 1),
            CURAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_EQ(curandGenerateUniform(generator_, out.get(), 5), CURAND_STATUS_LAUNCH_FAILURE);
  const OnDevice<unsigned> counts(std::vector<unsigned>(4));
  EXPECT_EQ(curandGeneratePoisson(generator_, counts.get(), 4, 0), CURAND_STATUS_OUT_OF_RANGE);
  curandGenerator_t other = nullptr;
  EXPECT_EQ(curandCreateGenerator(&other, CURAND_RNG_QUASI_DEFAULT), CURAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(curandGenerateUniform(other, out.get(), 4), CURAND_STATUS_NOT_INITIALIZED);
}

}  // namespace
