// Compares matrix multiplication on CUDA, by cuBLAS and by the native kernel, with the CPU's
// operators.

#include "tests/support/device_run.h"
#include "tests/support/devices_agree.h"

// Counts calls of one kind; defined only by the fake CUDA.
extern "C" __attribute__((weak)) long fakecuda_calls(const char* function);

namespace caffe2rt::test::matmul_cuda_test {
namespace {

class MatmulCudaTest : public OnDeviceTest {
 protected:
  static void ExpectAgreement(const std::vector<int64_t>& a, const std::vector<int64_t>& b,
                              int64_t bias, const std::string& text) {
    Workspace ws;
    FeedRandom(&ws, "A", a, -1, 1, 1);
    FeedRandom(&ws, "B", b, -1, 1, 2);
    FeedRandom(&ws, "b", {bias}, -1, 1, 3);
    ExpectDevicesAgree(&ws, text, {.tolerance = 1e-5, .engines = {"", "CUBLAS", "NATIVE"}});
  }
};

std::string Flag(const char* name, int value) {
  return std::string(R"( arg { name: ")") + name + "\" i: " + std::to_string(value) + " }";
}

TEST_F(MatmulCudaTest, FullyConnectedAgrees) {
  for (const int64_t m : {0, 1, 5}) {
    for (const int64_t n : {1, 7}) {
      for (const int64_t k : {0, 1, 33}) {
        const std::string inputs = R"( input: "A" input: "B" input: "b" output: "Y")";
        ExpectAgreement({m, k}, {n, k}, n, R"(type: "FC")" + inputs);
        ExpectAgreement({m, k}, {k, n}, n, R"(type: "FCTransposed")" + inputs);
        ExpectAgreement({2, m, k}, {n, k}, n, R"(type: "FC")" + inputs + Flag("axis", 2));
      }
    }
  }
}

TEST_F(MatmulCudaTest, ProductsAgreeWithEveryTransposition) {
  for (const int ta : {0, 1}) {
    for (const int tb : {0, 1}) {
      const std::vector<int64_t> a = ta ? std::vector<int64_t>{9, 5} : std::vector<int64_t>{5, 9};
      const std::vector<int64_t> b = tb ? std::vector<int64_t>{7, 9} : std::vector<int64_t>{9, 7};
      const std::string rest =
          R"( input: "A" input: "B" output: "Y")" + Flag("trans_a", ta) + Flag("trans_b", tb);
      ExpectAgreement(a, b, 1, R"(type: "MatMul")" + rest);
      std::vector<int64_t> many_a = {2, 3}, many_b = {2, 3};
      many_a.insert(many_a.end(), a.begin(), a.end());
      many_b.insert(many_b.end(), b.begin(), b.end());
      ExpectAgreement(many_a, many_b, 1, R"(type: "BatchMatMul")" + rest);
    }
  }
}

TEST_F(MatmulCudaTest, BatchesAgreeHoweverTheyAreRepeated) {
  const std::string text =
      R"(type: "BatchMatMul" input: "A" input: "B" output: "Y")" + Flag("broadcast", 1);
  ExpectAgreement({4, 2, 3}, {3, 5}, 1, text);
  ExpectAgreement({2, 3}, {4, 3, 5}, 1, text);
  ExpectAgreement({2, 1, 2, 3}, {1, 4, 3, 5}, 1, text);
  ExpectAgreement({3, 2, 3}, {2, 3, 3, 5}, 1, text);
  ExpectAgreement({2, 3, 1, 2, 3}, {2, 1, 4, 3, 5}, 1, text);
  ExpectAgreement({3}, {4, 3, 5}, 1, text);
  ExpectAgreement({4, 2, 3}, {3}, 1, text);
  ExpectAgreement({0, 2, 3}, {3, 5}, 1, text);
  ExpectAgreement({4, 2, 0}, {0, 5}, 1, text);
}

TEST_F(MatmulCudaTest, GradientsOfBatchesAgreeHoweverTheyAreRepeated) {
  const auto expect = [](std::vector<int64_t> a, std::vector<int64_t> b,
                         const std::vector<int64_t>& y) {
    for (const int form : {0, 1, 2, 3, 4, 5, 6, 7}) {
      Workspace ws;
      FeedRandom(&ws, "dY", y, -1, 1, 3);
      const int ta = form & 1, tb = form >> 1 & 1;
      std::vector<int64_t> dims_a = a, dims_b = b;
      if (ta != 0 && a.size() > 1) std::swap(dims_a[a.size() - 1], dims_a[a.size() - 2]);
      if (tb != 0 && b.size() > 1) std::swap(dims_b[b.size() - 1], dims_b[b.size() - 2]);
      FeedRandom(&ws, "A", dims_a, -1, 1, 1);
      FeedRandom(&ws, "B", dims_b, -1, 1, 2);
      ExpectDevicesAgree(&ws,
                         R"(type: "BatchMatMulGradient" input: "A" input: "B" input: "dY"
          output: "d")" + Flag("broadcast", 1) +
                             Flag("trans_a", ta) + Flag("trans_b", tb) + Flag("operand", form >> 2),
                         {.tolerance = 1e-5, .engines = {"", "CUBLAS", "NATIVE"}});
    }
  };
  expect({4, 2, 3}, {3, 5}, {4, 2, 5});
  expect({2, 3}, {4, 3, 5}, {4, 2, 5});
  expect({4, 2, 3}, {4, 3, 5}, {4, 2, 5});
  expect({2, 1, 2, 3}, {1, 4, 3, 5}, {2, 4, 2, 5});
  expect({2, 3, 1, 2, 3}, {2, 1, 4, 3, 5}, {2, 3, 4, 2, 5});
  expect({3, 2, 2, 3}, {2, 3, 5}, {3, 2, 2, 5});
  expect({3}, {4, 3, 5}, {4, 5});
  expect({4, 2, 3}, {3}, {4, 2});
  expect({0, 2, 3}, {3, 5}, {0, 2, 5});
  expect({4, 2, 0}, {0, 5}, {4, 2, 5});
}

// Without an engine, FC uses cuBLAS, which needs a separate kernel for the bias. With the engine
// NATIVE, one native kernel does everything.
TEST_F(MatmulCudaTest, UsesCublasByDefault) {
  if (&fakecuda_calls == nullptr) GTEST_SKIP() << "counts kernels of the fake CUDA";
  OperatorDef def = ParseOp(R"(type: "FC" input: "A" input: "B" input: "b" output: "Y")");
  Workspace ws;
  FeedRandom(&ws, "A", {2, 3});
  FeedRandom(&ws, "B", {2, 3});
  FeedRandom(&ws, "b", {2});
  const long before = fakecuda_calls("kernel");
  ASSERT_TRUE(RunOperatorOn(CUDA, def, &ws));
  EXPECT_EQ(fakecuda_calls("kernel"), before + 2);
  def.set_engine("NATIVE");
  ASSERT_TRUE(RunOperatorOn(CUDA, def, &ws));
  EXPECT_EQ(fakecuda_calls("kernel"), before + 3);
}

TEST_F(MatmulCudaTest, GradientsOfFullyConnectedAgree) {
  for (const int64_t m : {0, 1, 5, 40}) {
    for (const int64_t n : {1, 7}) {
      for (const int64_t k : {1, 33}) {
        Workspace ws;
        FeedRandom(&ws, "X", {m, k}, -1, 1, 1);
        FeedRandom(&ws, "W", {n, k}, -1, 1, 2);
        FeedRandom(&ws, "T", {k, n}, -1, 1, 2);
        FeedRandom(&ws, "dY", {m, n}, -1, 1, 3);
        const Agreement agreement = {.tolerance = 1e-5, .engines = {"", "CUBLAS", "NATIVE"}};
        ExpectDevicesAgree(&ws, R"(type: "FCGradient" input: "X" input: "W" input: "dY"
                                   output: "dW" output: "db" output: "dX")",
                           agreement);
        ExpectDevicesAgree(&ws, R"(type: "FCTransposedGradient" input: "X" input: "T" input: "dY"
                                   output: "dW" output: "db")",
                           agreement);
      }
    }
  }
}

}  // namespace
}  // namespace caffe2rt::test::matmul_cuda_test
