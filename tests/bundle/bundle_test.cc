// Runs the script of the bundle from start to end on the fake CUDA, with a few of its programs and stand-ins for PyTorch and
// compute-sanitizer; and with steps that must fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "caffe2_core/io/npy.h"
#include "tests/programs/program_runner.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::bundle_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// Sets an environment variable until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const old = std::getenv(name)) before_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_.empty()) {
      unsetenv(name_);
    } else {
      setenv(name_, before_.c_str(), 1);
    }
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* const name_;
  std::string before_;
};

class BundleTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* folder : {"bundle/bin", "bundle/lib", "bundle/data/demo", "tools"}) {
      fs::create_directories(dir_.path(folder));
    }
    std::istringstream programs(BUNDLE_PROGRAMS);
    for (std::string path; std::getline(programs, path, ',');) {
      fs::create_symlink(BuildPath(path), Program(fs::path(path).filename()));
    }
    fs::create_symlink(BuildPath(BUNDLE_CONFORMANCE), Program("cuda_conformance"));
    fs::create_symlink(BuildPath(BUNDLE_MODULE), dir_.path("bundle/lib/libcaffe2_cuda.so"));
    SetFlags("-O1");
    for (const char* file : {"init_net.pb", "predict_net.pb"}) {
      fs::copy_file(DemoFile(file), dir_.path("bundle/data/demo/") + file);
    }
    const std::string source = SourcePath("tests/bundle/");
    for (const char* file : {"run.sh", "run.py", "page.py", "nets.py", "compare.py"}) {
      fs::copy_file(source + file, dir_.path("bundle/") + file);
    }
    const ProgramResult nets =
        RunProgram(BUNDLE_PYTHON, {"-B", dir_.path("bundle/nets.py"), dir_.path("bundle/data")});
    ASSERT_EQ(nets.code, 0) << nets.err;
    // Prints the summaries that run.py looks for, after the program.
    Script(dir_.path("tools/compute-sanitizer"),
           "echo $CUDA_MODULE_LOADING $CAFFE2_TEST_CUDA_POOL >" + dir_.path("sanitized") +
               "\nwhile case $1 in --*) ;; *) false ;; esac; do shift 2; done\n\"$@\" || exit 9\n"
               "echo \"========= ERROR SUMMARY: 0 errors\"\n");
  }

  // Writes bundle.json as if the kernels had been compiled with these flags.
  void SetFlags(const std::string& flags) const {
    Json manifest = Json::parse(ReadFile(BuildPath("tests/bundle/bundle.json")));
    manifest["cuda_flags"] = flags;
    std::ofstream(dir_.path("bundle/bundle.json")) << manifest;
  }

  std::string Program(const std::string& name) const { return dir_.path("bundle/bin/" + name); }

  static void Script(const std::string& path, const std::string& lines) {
    fs::remove(path);
    std::ofstream(path) << "#!/bin/sh\n" << lines;
    chmod(path.c_str(), 0755);
  }

  ProgramResult Run(const std::vector<std::string>& args) const {
    const Variable path("PATH", dir_.path("tools") + ":" + std::getenv("PATH"));
    const Variable python("PYTHONPATH", SourcePath("tests/bundle/fake").c_str());
    const Variable no_cache("PYTHONDONTWRITEBYTECODE", "1");
    return RunProgram(dir_.path("bundle/run.sh"), args);
  }

  Json Results() const { return Json::parse(ReadFile(dir_.path("bundle/results/results.json"))); }

  const TempDir dir_;
};

TEST_F(BundleTest, PassesEveryStepOnTheFakeCuda) {
  const ProgramResult result = Run({"--quick", "--without", "oracle,models"});
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_THAT(result.out, AllOf(HasSubstr("fake CUDA device 0"),
                                HasSubstr(" 0 failed, left out: "
                                          "oracle, models; send back "),
                                Not(HasSubstr("FAILED"))));
  const Json results = Results();
  Json steps;
  for (const Json& step : results["steps"]) steps[std::string(step["name"])] = step;
  for (const char* name :
       {"library_cudnn", "cuda_conformance", "cuda_test_thc", "cuda_test_async", "kernel_test",
        "fill_test_on_cuda", "memcheck_kernel_test", "racecheck_norm_cuda_test",
        "initcheck_kernel_test", "synccheck_fill_test_on_cuda", "bench_pool_cub", "bench_copies",
        "torch", "compare_demo", "nets_fp32_heuristics", "nets_tf32_search"}) {
    EXPECT_EQ(steps[name]["state"], "passed") << name;
  }
  EXPECT_GT(steps["kernel_test"]["figures"]["passed"], 10);
  EXPECT_GT(steps["compare_demo"]["figures"]["blobs"], 3);
  EXPECT_EQ(ReadFile(dir_.path("sanitized")), "LAZY none\n");
  EXPECT_EQ(results["machine"]["kernels"]["flags"], "-O1");
  EXPECT_THAT(std::string(results["machine"]["cuda"]["libraries"][0]["detail"]),
              AllOf(HasSubstr("/libcublas.so.13"), HasSubstr(", version 13.")));
  EXPECT_EQ(steps["norm_cuda_test"]["engines"]["LRN"], Json({"CUDNN", "NATIVE"}));
  const Json net = steps["nets_tf32_search"]["figures"]["nets"][0];
  EXPECT_EQ(net["engines"]["Conv"], Json({"CUDNN"}));
  EXPECT_EQ(net["engines"]["MaxPool"], Json({"NATIVE"}));
  EXPECT_GT(net["ms"]["caffe2rt, graph"], 0);
  EXPECT_TRUE(net["ms"].contains("torch, graph, channels_last"));
  EXPECT_GT(steps["bench_pool_raw"]["figures"]["ns"], 0);
  const std::string page = ReadFile(dir_.path("bundle/results/results.html"));
  EXPECT_THAT(page, AllOf(HasSubstr("<svg"), HasSubstr("tiny, batch 1, tf32, search"),
                          HasSubstr("LRN: CUDNN, NATIVE"), HasSubstr("/libcublas.so.13"),
                          HasSubstr("flags -O1"), Not(HasSubstr(">failed<"))));
  EXPECT_GT(fs::file_size(dir_.path("bundle/bundle-results.zip")), 1000u);
}

TEST_F(BundleTest, FailsStepsThatDidNotRunOrShowedNothing) {
  Script(Program("kernel_test"),
         "echo $CUDA_MODULE_LOADING $CAFFE2_TEST_DEVICE >" + dir_.path("environment") +
             "\necho '[  PASSED  ] 3 tests.'\necho '[  FAILED  ] KernelTest.Adds'\nexit 1\n");
  // A child of the program, which has to be killed with it.
  Script(Program("fill_test_on_cuda"), "(sleep 7; echo late >" + dir_.path("late") + ") &\nwait\n");
  Script(Program("cuda_conformance"), "echo '[  PASSED  ] 0 tests.'\n");
  Script(Program("cuda_test"),
         "echo 'a.cc:1: Skipped\nno driver on this machine\n'\necho '[  PASSED  ] 3 tests.'\n");
  fs::remove(Program("cuda_bench"));
  std::string program = ReadFile(fs::canonical(Program("norm_cuda_test")));
  const std::string name = "libcudart.so.13";
  for (size_t at; (at = program.find(name)) != std::string::npos;) {
    program.replace(at, name.size(), "libcudart.so.77");
  }
  fs::remove(Program("norm_cuda_test"));
  std::ofstream(Program("norm_cuda_test"), std::ios::binary) << program;
  chmod(Program("norm_cuda_test").c_str(), 0755);
  Script(Program("caffe2"), R"(echo '[{"name": "CUDA", "state": "ready", "devices": [], "libraries":
      [{"name": "cuBLAS", "found": true, "detail": ""},
       {"name": "cuDNN", "found": false, "detail": "libcudnn.so.9 is not found"}]}]')");

  const auto started = std::chrono::steady_clock::now();
  const ProgramResult result =
      Run({"--quick", "--without", "oracle,models,sanitizer,torch", "--limit", "3"});
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(60));
  EXPECT_EQ(result.code, 1) << result.err;
  for (const char* line : {"passed   library_cublas: cuBLAS found",
                           "FAILED   library_cudnn: cuDNN is missing: libcudnn.so.9 is not found",
                           "FAILED   library_curand: this build does not use cuRAND",
                           "FAILED   kernel_test: exit code 1: KernelTest.Adds",
                           "FAILED   fill_test_on_cuda: did not end within 3 s and was killed",
                           "FAILED   cuda_conformance: no test passed",
                           "FAILED   cuda_test_thc: a test was skipped: no driver on this machine",
                           "FAILED   norm_cuda_test: this machine has no libcudart.so.77",
                           "FAILED   bench_pool_raw: the bundle has no program cuda_bench",
                           "FAILED   nets_fp32_heuristics: ",
                           " failed, left out: oracle, models, sanitizer, torch; send back "}) {
    EXPECT_THAT(result.out, HasSubstr(line));
  }
  EXPECT_THAT(result.out, Not(HasSubstr("passed   nets")));
  EXPECT_FALSE(fs::exists(dir_.path("late")));
  EXPECT_EQ(ReadFile(dir_.path("environment")), "EAGER cuda\n");
  EXPECT_THAT(ReadFile(dir_.path("bundle/results/results.html")), HasSubstr(">failed<"));
}

TEST_F(BundleTest, KeepsTheFiguresOfATimingThatIsKilled) {
  std::ofstream(dir_.path("bundle/compare.py"))
      << "import time\n"
         "print('{\"net\": \"tiny\", \"batch\": 1, \"precision\": \"fp32\", \"arm\": \"search\", "
         "'\n"
         "      '\"ms\": {\"caffe2rt\": 1.5}, \"engines\": {\"Conv\": [\"CUDNN\"]}}')\n"
         "print('{\"net\": \"ti', end='', flush=True)\n"
         "time.sleep(60)\n";
  const ProgramResult result =
      Run({"--only", "^nets_fp32_search", "--without", "torch", "--limit", "3"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.out, HasSubstr("did not end within 3 s and was killed"));
  const Json nets = Results()["steps"][0]["figures"]["nets"];
  ASSERT_EQ(nets.size(), 1u);
  EXPECT_EQ(nets[0]["ms"]["caffe2rt"], 1.5);
  EXPECT_THAT(ReadFile(dir_.path("bundle/results/results.html")),
              HasSubstr("tiny, batch 1, fp32, search"));
}

TEST_F(BundleTest, RejectsFiguresOfKernelsThatAreNotOptimized) {
  SetFlags("--Ofast-compile=max");
  const ProgramResult result =
      Run({"--quick", "--without", "torch", "--only", "^(bench|nets|library_cublas)"});
  EXPECT_EQ(result.code, 1) << result.err;
  for (const char* step : {"bench_pool_raw", "bench_copies", "nets_tf32_search"}) {
    EXPECT_THAT(result.out, HasSubstr(std::string("FAILED   ") + step +
                                      ": the kernels were compiled with --Ofast-compile=max, "
                                      "which makes every figure wrong"));
  }
  EXPECT_THAT(result.out, AllOf(HasSubstr("passed   library_cublas"), HasSubstr("\n1 passed")));
}

// The rows of CASES.tsv: a net that agrees, and one that draws other numbers on each device.
TEST_F(BundleTest, ComparesTheNetsOfModelsOnBothDevices) {
  fs::create_directories(dir_.path("shared/models/m"));
  for (const char* file : {"init_net.pb", "predict_net.pb"}) {
    fs::copy_file(DemoFile(file), dir_.path("shared/models/m/") + file);
  }
  std::ofstream(dir_.path("shared/models/m/random.pbtxt"))
      << R"(op { type: "UniformFill" input: "data" output: "y" arg { name: "max" f: 9 } })";
  Tensor data({1, 3, 32, 32}, CPU);
  std::fill_n(data.mutable_data<float>(), data.numel(), 0.5f);
  WriteNpy(dir_.path("shared/models/m/data.npy"), data);
  std::ofstream(dir_.path("shared/models/CASES.tsv"))
      << "model\tinit\tpredict\tinputs\toutputs\ttol\n"
         "m\tinit_net.pb\tpredict_net.pb\tdata=data.npy\tprob=x.npy\t1e-4\n"
         "m\tinit_net.pb\trandom.pbtxt\tdata=data.npy\ty=x.npy\t1e-4\n";
  const Variable shared("CAFFE2_TEST_SHARED", dir_.path("shared"));
  const ProgramResult result = Run({"--only", "^compare_m"});
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_THAT(result.out,
              AllOf(HasSubstr("passed   compare_m_predict_net: "),
                    HasSubstr("FAILED   compare_m_random: blob y (float [1, 3, 32, 32], "
                              "operator 0) differs by ")));
}

TEST_F(BundleTest, ReportsAMissingDeviceAndReturnsThree) {
  const Variable devices("FAKECUDA_DEVICES", "0");
  const ProgramResult result = Run({});
  EXPECT_EQ(result.code, 3) << result.out;
  EXPECT_THAT(result.err, HasSubstr("no usable CUDA device: nothing was tested"));
}

TEST_F(BundleTest, RejectsStepsThatDoNotExist) {
  EXPECT_EQ(Run({"--without", "luck"}).code, 2);
  const ProgramResult none = Run({"--only", "luck"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("no step matches 'luck'"));
  const ProgramResult list = Run({"--list", "--only", "^bench_pool"});
  EXPECT_EQ(list.out,
            "bench_pool_raw\nbench_pool_async\nbench_pool_none\nbench_pool_cub\nbench_pool_thc\n");
}

}  // namespace
}  // namespace caffe2rt::test::bundle_test
