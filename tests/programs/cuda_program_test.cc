// The program with CUDA: with the module of this build, and with one linked with the fake CUDA.

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/atomic_file.h"
#include "tests/programs/points_training.h"
#include "tests/programs/program_runner.h"
#include "tests/support/json.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::cuda_program_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

template <class T>
T ReadAt(const std::string& file, size_t at) {
  CAFFE_ENFORCE_LE(at + sizeof(T), file.size(), "a damaged ELF file");
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// The libraries that the dynamic loader must find before the program starts.
std::vector<std::string> NeededLibraries(const std::string& path) {
  const std::string file = ReadWholeFile(path);
  const auto header = ReadAt<Elf64_Ehdr>(file, 0);
  std::vector<std::string> names;
  for (int i = 0; i < header.e_shnum; ++i) {
    const auto section = ReadAt<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (section.sh_type != SHT_DYNAMIC) continue;
    const auto strings =
        ReadAt<Elf64_Shdr>(file, header.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
    for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Dyn)) {
      const auto entry = ReadAt<Elf64_Dyn>(file, section.sh_offset + at);
      if (entry.d_tag == DT_NEEDED) names.push_back(&file[strings.sh_offset + entry.d_un.d_val]);
    }
  }
  return names;
}

auto IsOfCuda() {
  return ::testing::AnyOf(HasSubstr("cuda"), HasSubstr("cublas"), HasSubstr("cudnn"),
                          HasSubstr("curand"), HasSubstr("nvidia"));
}

// The file name of a shared library contains ".so", perhaps followed by a version.
bool CoreIsShared() { return std::string(CAFFE2_CORE_LIBRARY).find(".so") != std::string::npos; }

TEST(CudaProgramTest, NeedsNothingOfCudaToStart) {
  const std::vector<std::string> program = NeededLibraries(BuildPath(CAFFE2_PROGRAM));
  EXPECT_THAT(program, Contains(HasSubstr("libc.so")));  // NeededLibraries works
  EXPECT_THAT(program, Each(Not(IsOfCuda())));
  if (!CoreIsShared()) return;
  EXPECT_THAT(NeededLibraries(BuildPath(CAFFE2_CORE_LIBRARY)), Each(Not(IsOfCuda())));
}

TEST(CudaProgramTest, ModuleNeedsNoLibraryOfCuda) {
  const std::vector<std::string> module = NeededLibraries(BuildPath(CAFFE2_CUDA_LIBRARY));
  EXPECT_THAT(module, Contains(HasSubstr("libc.so")));
  EXPECT_THAT(module, Each(Not(IsOfCuda())));
}

TEST(CudaProgramTest, NetsForTheCpuDoNotOpenTheModule) {
  Environment environment;
  environment.Set("LD_DEBUG", "files");
  const ProgramResult result =
      RunCaffe2(WithDemo({"run", "--input", "data=1,3,64,64", "--device", "auto"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("libc.so"), Not(HasSubstr("libcaffe2_cuda"))));
}

TEST(CudaProgramTest, ReportsWhichModuleItCannotLoad) {
  Environment environment;
  environment.Set("CAFFE2_CUDA_MODULE", "/no/such/module.so");
  const ProgramResult text = RunCaffe2({"devices"});
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.err, IsEmpty());
  EXPECT_THAT(text.out, HasSubstr("CUDA: cannot load \"/no/such/module.so\": "));
  const ProgramResult json = RunCaffe2({"devices", "--json"});
  EXPECT_EQ(JsonAt(json.out, "/1/name"), R"("CUDA")");
  EXPECT_EQ(JsonAt(json.out, "/1/available"), "false");
  EXPECT_EQ(JsonAt(json.out, "/1/state"), R"("broken module")");
}

TEST(CudaProgramTest, ReportsWhereItSearchedForTheModule) {
  if (CoreIsShared()) {
    GTEST_SKIP() << "the core is a library, and the module lies beside it";
  }
  TempDir dir;
  std::filesystem::create_directory(dir.path("bin"));
  std::filesystem::copy_file(BuildPath(CAFFE2_PROGRAM), dir.path("bin/caffe2"));
  const ProgramResult result = RunProgram(dir.path("bin/caffe2"), {"devices"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, IsEmpty());
  EXPECT_THAT(result.out, AllOf(HasSubstr("CUDA: " CAFFE2_CUDA_SONAME " is not in " +
                                          std::filesystem::canonical(dir.path("bin")).string()),
                                HasSubstr("set CAFFE2_CUDA_MODULE to its path")));
  EXPECT_EQ(JsonAt(RunProgram(dir.path("bin/caffe2"), {"devices", "--json"}).out, "/1/state"),
            R"("no module")");
}

TEST(CudaProgramTest, FindsTheModuleInTheLibraryFolderBeside) {
  if (CoreIsShared()) {
    GTEST_SKIP() << "the core is a library, and the module lies beside it";
  }
  TempDir dir;
  std::filesystem::create_directory(dir.path("bin"));
  std::filesystem::create_directory(dir.path("lib"));
  std::filesystem::copy_file(BuildPath(CAFFE2_PROGRAM), dir.path("bin/caffe2"));
  std::filesystem::copy_file(BuildPath(CAFFE2_CUDA_MODULE_ON_FAKE),
                             dir.path("lib/" CAFFE2_CUDA_SONAME));
  const std::string json = RunProgram(dir.path("bin/caffe2"), {"devices", "--json"}).out;
  EXPECT_THAT(JsonAt(json, "/1/module"), HasSubstr("lib/" CAFFE2_CUDA_SONAME "\""));
  EXPECT_GT(JsonSize(json, "/1/devices"), 0u);
}

TEST(CudaProgramTest, RejectsALibraryThatIsNotAModule) {
  Environment environment;
  environment.Set("CAFFE2_CUDA_MODULE", BuildPath(CAFFE2_FAKE_CUDART));
  EXPECT_THAT(RunCaffe2({"devices"}).out, HasSubstr("does not export caffe2rt_cuda_module"));
}

// Runs the program with a module linked with the fake CUDA.
class FakeCudaProgramTest : public ::testing::Test {
 protected:
  FakeCudaProgramTest() {
    environment_.Set("CAFFE2_CUDA_MODULE", BuildPath(CAFFE2_CUDA_MODULE_ON_FAKE));
  }
  Environment environment_;
  TempDir dir_;
};

// z = max(0, w * x) for w = (10, 20), with the operators of the nets on different devices.
struct Placement {
  const char* name;
  // Of the operators that fill w, multiply and rectify, and of the predict net.
  const char *fill, *multiply, *rectify, *net;
};
constexpr const char* kCuda = "device_option { device_type: 1 }";
constexpr Placement kPlacements[] = {
    {"every operator", kCuda, kCuda, kCuda, ""}, {"the net", "", "", "", kCuda},
    {"the init net", kCuda, "", "", ""},         {"the predict net", "", kCuda, kCuda, ""},
    {"one operator", "", kCuda, "", ""},         {"the other operator", kCuda, "", kCuda, ""},
};

class NetsOnCudaTest : public FakeCudaProgramTest, public ::testing::WithParamInterface<Placement> {
 protected:
  NetsOnCudaTest() {
    const auto [name, fill, multiply, rectify, net] = GetParam();
    init_ = dir_.Write("init.pbtxt", MakeString(R"(op { type: "GivenTensorFill" output: "w" )",
                                                fill, R"( arg { name: "shape" ints: 2 }
                  arg { name: "values" floats: 10 floats: 20 } })"));
    net_ = dir_.Write(
        "net.pbtxt",
        MakeString(R"(external_input: "x" external_input: "w" external_output: "z" )", net,
                   R"( op { type: "Mul" input: "x" input: "w" output: "y" )", multiply,
                   R"( } op { type: "Relu" input: "y" output: "z" )", rectify, " }"));
  }
  // Runs a command on the nets. It must succeed without a warning.
  std::string Run(std::vector<std::string> args) const {
    const ProgramResult result = RunCaffe2(args);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return result.out;
  }
  std::vector<std::string> WithNets(std::vector<std::string> args) const {
    args.insert(args.end(), {"--init-net", init_, "--predict-net", net_});
    return args;
  }
  std::string init_, net_;
  const std::string input_ = "x=-1.5,2.0";
  const std::string devices_[3] = {"auto", "cpu", "cuda:1"};
};

TEST_P(NetsOnCudaTest, RunOnEveryDevice) {
  for (const std::string& device : devices_) {
    SCOPED_TRACE(device);
    EXPECT_THAT(Run(WithNets({"run", "--input", input_, "--device", device, "--iterations", "3"})),
                HasSubstr("z  float [1, 2]\n  0 40\n"));
    EXPECT_THAT(Run(WithNets({"run", "--input", input_, "--device", device, "--fetch", "y"})),
                HasSubstr("y  float [1, 2]\n  -15 40\n"));
    const std::string timed = Run(
        WithNets({"bench", "--input", input_, "--device", device, "--iterations", "2", "--json"}));
    EXPECT_GE(JsonSize(timed, "/operators"), 2u);
  }
}

TEST_P(NetsOnCudaTest, AgreeWithTheSameNetOnEveryOtherDevice) {
  for (const std::string& first : devices_) {
    for (const std::string& second : devices_) {
      SCOPED_TRACE(first + " and " + second);
      EXPECT_THAT(Run({"compare", net_, net_, "--init-net", init_, "--input", input_, "--device",
                       first, "--device2", second}),
                  HasSubstr(" agree (tolerance"));
    }
  }
}

TEST_P(NetsOnCudaTest, RunOnTheCpuWithoutTheModule) {
  environment_.Set("LD_DEBUG", "files");
  const ProgramResult result = RunCaffe2(WithNets({"run", "--input", input_, "--device", "cpu"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, AllOf(HasSubstr("libc.so"), Not(HasSubstr("libcaffe2_cuda"))));
}

TEST_P(NetsOnCudaTest, ArePackedForTheCpu) {
  for (const char* device : {"auto", "cpu"}) {
    Run(WithNets({"pack", "--device", device, dir_.path("net.c2pack")}));
    EXPECT_THAT(Run({"run", "--predict-net", dir_.path("net.c2pack"), "--input", input_}),
                HasSubstr("z  float [1, 2]\n  0 40\n"));
  }
}

TEST_P(NetsOnCudaTest, AreOptimizedForEveryDevice) {
  for (const std::string& device : devices_) {
    SCOPED_TRACE(device);
    Run(WithNets({"optimize", "--device", device, "--output-predict-net", dir_.path("net.pb"),
                  "--output-init-net", dir_.path("init.pb")}));
    EXPECT_THAT(Run({"run", "--init-net", dir_.path("init.pb"), "--predict-net",
                     dir_.path("net.pb"), "--input", input_}),
                HasSubstr("z  float [1, 2]\n  0 40\n"));
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, NetsOnCudaTest, ::testing::ValuesIn(kPlacements),
                         [](const auto& info) {
                           std::string name = info.param.name;
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

TEST_F(FakeCudaProgramTest, RunsAPlanOnTheDevicesOfItsNetsOrOnTheCpu) {
  const std::string plan = dir_.Write("plan.pbtxt", R"(name: "p"
      network { name: "n" device_option { device_type: 1 }
        op { type: "ConstantFill" output: "x" arg { name: "shape" ints: 2 }
             arg { name: "value" f: 3 } }
        op { type: "Sqr" input: "x" output: "y" } }
      execution_step { network: "n" })");
  for (const char* device : {"auto", "cpu"}) {
    SCOPED_TRACE(device);
    const ProgramResult result = RunCaffe2({"plan", plan, "--device", device, "--fetch", "y"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    EXPECT_THAT(result.out, HasSubstr("y  float [2]\n  9 9\n"));
  }
  const std::string reads = dir_.Write("reads.pbtxt", R"(name: "p"
      network { name: "n" external_input: "x"
        op { type: "Sqr" input: "x" output: "y" device_option { device_type: 1 device_id: 1 } } }
      execution_step { network: "n" num_iter: 2 })");
  for (const char* device : {"auto", "cpu"}) {
    SCOPED_TRACE(device);
    const ProgramResult result =
        RunCaffe2({"plan", reads, "--device", device, "--input", "x=-1.5,2.0", "--fetch", "y"});
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("y  float [1, 2]\n  2.25    4\n"));
  }
  environment_.Set("LD_DEBUG", "files");
  EXPECT_THAT(RunCaffe2({"plan", plan, "--device", "cpu"}).err,
              AllOf(HasSubstr("libc.so"), Not(HasSubstr("libcaffe2_cuda"))));
}

// An operator that the net names for CUDA, and that only the CPU has.
TEST_F(FakeCudaProgramTest, RunsOperatorsThatCudaLacksOnTheCpuWithAWarning) {
  ASSERT_THAT(RunCaffe2({"ops", "IsEmpty"}).out, HasSubstr("devices: CPU\n"));
  const std::string net = dir_.Write("net.pbtxt", R"(external_input: "x" external_output: "z"
      device_option { device_type: 1 }
      op { type: "Relu" input: "x" output: "y" }
      op { type: "IsEmpty" input: "y" output: "z" })");
  const std::vector<std::string> args = {"run", "--predict-net", net, "--input", "x=2,1"};
  for (const char* device : {"auto", "cuda:0", "cpu"}) {
    SCOPED_TRACE(device);
    std::vector<std::string> all = args;
    all.insert(all.end(), {"--device", device});
    const ProgramResult result = RunCaffe2(all);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, std::string(device) == "cpu"
                                ? ::testing::Matcher<std::string>(IsEmpty())
                                : HasSubstr("run on the CPU: IsEmpty\n"));
  }
}

TEST_F(FakeCudaProgramTest, VerifiesGradientsOfNetsForCudaOnTheCpu) {
  const std::string net = dir_.Write("net.pbtxt", R"(external_input: "x"
      device_option { device_type: 1 }
      op { type: "Sqr" input: "x" output: "y" }
      op { type: "SumElements" input: "y" output: "loss" })");
  const ProgramResult result = RunCaffe2(
      {"gradients", "--predict-net", net, "--loss", "loss", "--verify", "--input", "x=1.5,2.0"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
}

TEST_F(FakeCudaProgramTest, RunsAFolderOfImagesOnANetForCuda) {
  const std::string net = dir_.Write("net.pbtxt", R"(external_input: "data" external_output: "y"
      op { type: "MaxPool" input: "data" output: "y" arg { name: "global_pooling" i: 1 }
           device_option { device_type: 1 } })");
  const auto run = [&](const char* device) {
    const ProgramResult result = RunCaffe2(
        {"run", "--predict-net", net, "--image", DemoFile("images"), "--device", device, "--json"});
    EXPECT_EQ(result.code, 0) << result.err;
    return JsonAt(result.out, "/images");
  };
  const std::string want = run("cpu");
  EXPECT_EQ(run("auto"), want);
  EXPECT_EQ(run("cuda:0"), want);
}

class TrainOnCudaTest : public PointsTraining {
 protected:
  TrainOnCudaTest() {
    environment_.Set("CAFFE2_CUDA_MODULE", BuildPath(CAFFE2_CUDA_MODULE_ON_FAKE));
  }
  // The loss of the test after the last epoch.
  double LastLoss(const std::string& folder) const {
    const std::string log = ReadWholeFile(dir_.path(folder + "/log.jsonl"));
    const size_t at = log.rfind("\"test_loss\":");
    CAFFE_ENFORCE(at != std::string::npos, "no loss of a test in ", log);
    return std::stod(log.substr(at + std::string("\"test_loss\":").size()));
  }
  Environment environment_;
};

TEST_F(TrainOnCudaTest, FollowsTheTrainingOnTheCpuFromTheSameWeights) {
  MakePoints(R"(name: "points" input { batch_size: 10 }
      net { op { type: "FC" input: "data" input: "w1" input: "b1" output: "h" }
            op { type: "Relu" input: "h" output: "h" }
            op { type: "FC" input: "h" input: "w2" input: "b2" output: "pred" }
            op { type: "SoftmaxWithLoss" input: "pred" input: "label" output: "p" output: "loss" } }
      param { name: "w1" dims: 8 dims: 2 fill: "XavierFill" } param { name: "b1" dims: 8 }
      param { name: "w2" dims: 2 dims: 8 fill: "XavierFill" } param { name: "b2" dims: 2 }
      loss: "loss" optimizer { rate: 0.1 momentum: 0.9 weight_decay: 0.001 })",
             100);
  ASSERT_EQ(RunCaffe2(Command("first", "1")).code, 0);
  for (const char* device : {"cpu", "cuda:0"}) {
    const ProgramResult result = RunCaffe2(Command(
        device, "4", {"--init", dir_.path("first/model.minidb"), "--device", device, "--shuffle"}));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  EXPECT_LT(LastLoss("cpu"), 0.8 * LastLoss("first"));
  EXPECT_NEAR(LastLoss("cuda:0"), LastLoss("cpu"), 1e-4);
}

TEST_F(FakeCudaProgramTest, ReportsAMissingDriver) {
  environment_.Set("FAKECUDA_NO_DRIVER", "1");
  EXPECT_THAT(RunCaffe2({"devices"}).out,
              AllOf(HasSubstr("CUDA: no driver on this machine"), Not(HasSubstr("cuda:0"))));
  EXPECT_EQ(JsonAt(RunCaffe2({"devices", "--json"}).out, "/1/state"), R"("no driver")");
}

TEST_F(FakeCudaProgramTest, ReportsAMissingDevice) {
  environment_.Set("FAKECUDA_DEVICES", "0");
  EXPECT_THAT(RunCaffe2({"devices"}).out, HasSubstr("CUDA: no device on this machine"));
  EXPECT_EQ(JsonAt(RunCaffe2({"devices", "--json"}).out, "/1/state"), R"("no device")");
}

TEST_F(FakeCudaProgramTest, ListsDevicesAndLibraries) {
  environment_.Set("FAKECUDA_DEVICES", "2");
  const ProgramResult result = RunCaffe2({"devices"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("CUDA (device type 1)\n  cuda:0  "), HasSubstr("\n  cuda:1  "),
                    HasSubstr("GiB of memory, compute capability "), HasSubstr("  cuBLAS: found"),
                    Not(HasSubstr("cuda:2"))));
  const ProgramResult json = RunCaffe2({"devices", "--json"});
  EXPECT_EQ(JsonAt(json.out, "/1/available"), "true");
  EXPECT_EQ(JsonAt(json.out, "/1/state"), R"("ready")");
  EXPECT_NE(JsonAt(json.out, "/1/devices/1/compute_capability"), R"("")");
  EXPECT_EQ(JsonAt(json.out, "/1/libraries/0/name"), R"("cuBLAS")");
  EXPECT_EQ(JsonAt(json.out, "/1/libraries/0/found"), "true");
  EXPECT_THAT(JsonAt(json.out, "/1/libraries/0/detail"),
              HasSubstr("/libcublas.so.13, version 13."));
}

TEST_F(FakeCudaProgramTest, ListsOperatorsOfCudaWithoutADevice) {
  environment_.Set("FAKECUDA_NO_DRIVER", "1");
  const ProgramResult result = RunCaffe2({"ops", "Relu"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, HasSubstr("devices: CPU, CUDA"));
}

TEST_F(FakeCudaProgramTest, RejectsAMissingDevice) {
  environment_.Set("FAKECUDA_DEVICES", "2");
  const std::string net = dir_.Write("net.pbtxt", R"(op { type: "Relu" input: "x" output: "y" })");
  const ProgramResult result =
      RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--device", "cuda:7"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("CUDA device 7 is not on this machine, want 0 to 1"));
}

TEST_F(FakeCudaProgramTest, FlagsReachTheModule) {
  const std::string net = dir_.Write("net.pbtxt", R"(op { type: "Relu" input: "x" output: "y" })");
  const ProgramResult result = RunCaffe2({"run", "--predict-net", net, "--input", "x=2", "--device",
                                          "cuda", "--caffe2_cuda_memory_pool", "bathtub"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, AllOf(HasSubstr("caffe2_cuda_memory_pool"), HasSubstr("bathtub")));
}

}  // namespace
}  // namespace caffe2rt::test::cuda_program_test
