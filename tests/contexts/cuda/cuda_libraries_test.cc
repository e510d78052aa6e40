// Libraries other than the CUDA runtime: their handles and scratch memory.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "contexts/cuda/cublas_library.h"
#include "contexts/cuda/cuda_context.h"
#include "contexts/cuda/vendor_library.h"
#include "tests/contexts/cuda/cuda_testing.h"

namespace caffe2rt::test::cuda_libraries_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CublasTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    if (!HasCublas()) GTEST_SKIP() << CublasProblem();
  }
  static cudaStream_t StreamOf(cublasHandle_t handle) {
    cudaStream_t stream = nullptr;
    CUBLAS_ENFORCE(Cublas().GetStream(handle, &stream));
    return stream;
  }
};

TEST(VendorLibraryTest, ReportsWhatIsMissingAndHowToInstallIt) {
  VendorLibrary library("cuSomething", "libnot_there.so.1");
  void (*function)() = [] {};
  library.Fill("f", &function);
  EXPECT_EQ(function, nullptr);
  EXPECT_THAT(library.Problem(),
              AllOf(HasSubstr("cuSomething is not available: libnot_there.so.1: "),
                    HasSubstr("install libnot_there.so.1 or add its folder to LD_LIBRARY_PATH")));
}

TEST(VendorLibraryTest, HasThePathOfTheFileThatItOpened) {
  EXPECT_EQ(VendorLibrary("cuSomething", "libnot_there.so.1").Path(), "");
  const std::string path = VendorLibrary("the C library", "libc.so.6").Path();
  EXPECT_TRUE(std::filesystem::exists(path)) << path;
  EXPECT_EQ(path, std::filesystem::canonical(path));
}

TEST(VendorLibraryTest, NamesTheFunctionsThatALibraryLacks) {
  VendorLibrary library("the C library", "libc.so.6");
  decltype(&std::abort) abort = nullptr;
  void (*other)() = nullptr;
  library.Fill("abort", &abort);
  EXPECT_NE(abort, nullptr);
  EXPECT_EQ(library.Problem(), "");
  library.Fill("no_such_function", &other);
  library.Fill("nor_this", &other);
  EXPECT_EQ(library.Problem(),
            "the C library (libc.so.6) is of another version than this build's: it lacks "
            "no_such_function, nor_this");
}

TEST(VendorLibraryTest, MayLackFunctionsThatAreNotRequired) {
  VendorLibrary library("the C library", "libc.so.6");
  decltype(&std::abort) abort = nullptr, other = &std::abort;
  library.FillIfPresent("abort", &abort);
  library.FillIfPresent("no_such_function", &other);
  EXPECT_NE(abort, nullptr);
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(library.Problem(), "");
}

// A folder tree as pip, CUDA's toolkit or a Python environment makes it, which is removed at the
// end. Each test uses a file name of its own, because libraries stay open.
class LibraryFoldersTest : public testing::Test {
 protected:
  ~LibraryFoldersTest() override {
    GlobalCudaLibraryOptions().library_path.clear();
    std::filesystem::remove_all(root_);
  }
  // Makes the file a library with the function cos.
  void AddLibrary(const std::string& folder, const std::string& file) {
    std::filesystem::create_directories(root_ + folder);
    std::filesystem::copy_file(std::filesystem::canonical(LibraryOfCos()),
                               root_ + folder + "/" + file);
  }
  static std::string LibraryOfCos() {
    void* const library = dlopen("libm.so.6", RTLD_NOW);
    Dl_info info{};
    EXPECT_NE(dladdr(dlsym(library, "cos"), &info), 0);
    return info.dli_fname;
  }
  static std::string ProblemOf(const char* file) {
    VendorLibrary library("cuSomething", file);
    double (*function)(double) = nullptr;
    library.Fill("cos", &function);
    if (function != nullptr) {
      EXPECT_EQ(function(0), 1);
    }
    return library.Problem();
  }
  const std::string root_ = testing::TempDir() + "caffe2rt_libraries_" + std::to_string(getpid());
};

TEST_F(LibraryFoldersTest, ListsToolkitsAndPackagesOfPip) {
  for (const char* const folder :
       {"/lib64", "/targets/x86_64-linux/lib", "/nvidia/cublas/lib", "/nvidia/cudnn/include",
        "/nvidia/cudnn/lib", "/lib/python3.11/site-packages/nvidia/cu13/lib",
        "/lib/other/nvidia"}) {
    std::filesystem::create_directories(root_ + folder);
  }
  EXPECT_THAT(internal::LibraryFolders(root_),
              testing::ElementsAre(root_, root_ + "/lib64", root_ + "/lib",
                                   root_ + "/targets/x86_64-linux/lib",
                                   root_ + "/nvidia/cublas/lib", root_ + "/nvidia/cudnn/lib",
                                   root_ + "/lib/python3.11/site-packages/nvidia/cu13/lib"));
  EXPECT_THAT(internal::LibraryFolders(root_ + "/absent"), testing::IsEmpty());
}

TEST_F(LibraryFoldersTest, FindsALibraryBelowTheNamedFolders) {
  AddLibrary("/lib/python3.11/site-packages/nvidia/something/lib", "libsomething_1.so.1");
  EXPECT_NE(ProblemOf("libsomething_1.so.1"), "");
  GlobalCudaLibraryOptions().library_path = "/absent:" + root_;
  EXPECT_EQ(ProblemOf("libsomething_1.so.1"), "");
}

TEST_F(LibraryFoldersTest, FindsALibraryInTheActivePythonEnvironment) {
  AddLibrary("/lib/python3.12/site-packages/nvidia/something/lib", "libsomething_2.so.1");
  const char* const before = getenv("VIRTUAL_ENV");
  const std::string kept = before != nullptr ? before : "";
  setenv("VIRTUAL_ENV", root_.c_str(), 1);
  EXPECT_EQ(ProblemOf("libsomething_2.so.1"), "");
  before != nullptr ? setenv("VIRTUAL_ENV", kept.c_str(), 1) : unsetenv("VIRTUAL_ENV");
}

TEST_F(LibraryFoldersTest, NamesTheFoldersAndTheFilesThatDoNotOpen) {
  std::filesystem::create_directories(root_);
  std::ofstream(root_ + "/libsomething_3.so.1") << "no library";
  GlobalCudaLibraryOptions().library_path = root_;
  EXPECT_THAT(ProblemOf("libsomething_3.so.1"),
              AllOf(HasSubstr(root_ + "/libsomething_3.so.1: "),
                    HasSubstr("; searched the loader's path and " + root_ + ", "),
                    HasSubstr("/usr/local/cuda"), HasSubstr("--caffe2_cuda_library_path")));
}

TEST_F(CublasTest, FollowsTheStreamOfTheContext) {
  CUDAContext context;
  const cublasHandle_t handle = context.cublas_handle();
  EXPECT_EQ(StreamOf(handle), context.cuda_stream());
  context.SwitchToDevice(3);
  EXPECT_EQ(context.cublas_handle(), handle);  // one handle per thread and device
  EXPECT_EQ(StreamOf(handle), CUDAContext::cuda_stream(0, 3));
  context.SwitchToDevice(0);
  EXPECT_EQ(StreamOf(context.cublas_handle()), CUDAContext::cuda_stream(0, 0));
}

TEST_F(CublasTest, GivesHandlesOfEndedThreadsAgain) {
  cublasHandle_t first = nullptr, second = nullptr;
  std::thread([&] { first = CUDAContext().cublas_handle(); }).join();
  std::thread([&] {
    CUDAContext context;
    context.SwitchToDevice(2);
    second = context.cublas_handle();
    EXPECT_EQ(StreamOf(second), context.cuda_stream());
  }).join();
  EXPECT_EQ(second, first);
}

TEST_F(CublasTest, MakesHandlesOnTheContextsDevice) {
  SKIP_BELOW_DEVICES(2);
  CUDAContext there(1);
  const cublasHandle_t handle = there.cublas_handle();
  EXPECT_EQ(CaffeCudaGetDevice(), 0);
  EXPECT_NE(handle, CUDAContext(0).cublas_handle());
  EXPECT_EQ(StreamOf(handle), there.cuda_stream());
}

TEST_F(CublasTest, MultipliesOnTheStream) {
  CUDAContext context;
  context.SwitchToDevice(0);
  const DataPtr memory(CUDAContext::New(3 * 4 * sizeof(float)));
  float* const a = static_cast<float*>(memory.get());
  const float host[8] = {1, 2, 3, 4, 5, 6, 7, 8};  // in column-major order
  context.CopyBytesFromCPU(sizeof(host), host, a);
  const float one = 1, zero = 0;
  CUBLAS_ENFORCE(Cublas().Sgemm(context.cublas_handle(), CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, &one, a,
                                2, a + 4, 2, &zero, a + 8, 2));
  float product[4] = {};
  context.CopyBytesToCPU(sizeof(product), a + 8, product);
  context.FinishDeviceComputation();
  EXPECT_THAT(product, testing::ElementsAre(23, 34, 31, 46));
}

TEST_F(CublasTest, TheInnermostNetDecidesOnTf32) {
  for (const bool inner : {false, true}) {
    DeviceOption option;
    option.set_device_type(CUDA);
    option.add_extra_info(inner ? "allow_tf32:0" : "allow_tf32:1");
    option.add_extra_info(inner ? "allow_tf32:1" : "allow_tf32:0");
    CUDAContext context(option);
    cublasMath_t mode = CUBLAS_PEDANTIC_MATH;
    CUBLAS_ENFORCE(Cublas().GetMathMode(context.cublas_handle(), &mode));
    EXPECT_EQ(mode, inner ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH);
  }
}

TEST_F(CublasTest, MultipliesInFullPrecisionByDefault) {
  CUDAContext context;
  cublasMath_t mode = CUBLAS_PEDANTIC_MATH;
  CUBLAS_ENFORCE(Cublas().GetMathMode(context.cublas_handle(), &mode));
  EXPECT_EQ(mode, CUBLAS_DEFAULT_MATH);
  GlobalCudaLibraryOptions().allow_tf32 = true;
  CUBLAS_ENFORCE(Cublas().GetMathMode(context.cublas_handle(), &mode));
  EXPECT_EQ(mode, CUBLAS_TF32_TENSOR_OP_MATH);
  GlobalCudaLibraryOptions().allow_tf32 = false;
  CUBLAS_ENFORCE(Cublas().GetMathMode(context.cublas_handle(), &mode));
  EXPECT_EQ(mode, CUBLAS_DEFAULT_MATH);
}

TEST_F(CublasTest, NamesLibraryDeviceCallAndStatus) {
  const auto failing = [] {
    cublasMath_t mode;
    CUBLAS_ENFORCE(Cublas().GetMathMode(nullptr, &mode), "handle of ", "a test");
  };
  EXPECT_THAT(ErrorOf(failing), AllOf(HasSubstr("cuBLAS on CUDA 0: GetMathMode: "),
                                      HasSubstr("(status 1, CUBLAS_STATUS_NOT_INITIALIZED): "
                                                "handle of a test")));
}

using CudnnWorkspaceTest = CudaTest;

TEST_F(CudnnWorkspaceTest, GrowsOnceAndBelongsToAStream) {
  CUDAContext context;
  context.SwitchToDevice(7);
  void* const first = CudnnWorkspace(context, 1000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(CudnnWorkspace(context, 1 << 20), first);
  EXPECT_EQ(CudnnWorkspace(context, 10), first);
  void* const grown = CudnnWorkspace(context, (1 << 20) + 1);
  EXPECT_EQ(GetGPUIDForPointer(grown), 0);
  EXPECT_EQ(CudnnWorkspace(context, 2 << 20), grown);
  context.SwitchToDevice(8);
  EXPECT_NE(CudnnWorkspace(context, 1000), grown);
  EXPECT_EQ(CudnnWorkspace(context, 0), nullptr);
}

}  // namespace
}  // namespace caffe2rt::test::cuda_libraries_test
