// The project's sources follow the rules, and each rule finds violations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/style/device_rules.h"
#include "tests/style/file_rules.h"
#include "tests/style/header_rules.h"
#include "tests/style/layer_rules.h"
#include "tests/style/operator_rules.h"
#include "tests/style/operator_type_rules.h"
#include "tests/style/thread_rules.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::style_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Rule = Violations (*)(const std::vector<SourceFile>&);

void ExpectKept(Rule rule) {
  static const std::vector<SourceFile> files = ReadSourceTree(SourcePath(""));
  ASSERT_GT(files.size(), 100u);
  for (const std::string& violation : rule(files)) ADD_FAILURE() << violation;
}

TEST(SourcesTest, IncludeOnlyLayersBelow) { ExpectKept(CheckLayers); }
TEST(SourcesTest, IncludeCudaWhereItMayBe) { ExpectKept(CheckCudaHeaders); }
TEST(SourcesTest, NameNoDeviceInTheCore) { ExpectKept(CheckCudaInCore); }
TEST(SourcesTest, AreShort) { ExpectKept(CheckLength); }
TEST(SourcesTest, AreNamedAfterTheirSubject) { ExpectKept(CheckNames); }
TEST(SourcesTest, HaveTestsNamedAfterBehaviour) { ExpectKept(CheckTestNames); }
TEST(SourcesTest, GuardTheirHeaders) { ExpectKept(CheckPragmaOnce); }
TEST(SourcesTest, HoldNothingForbidden) { ExpectKept(CheckForbiddenText); }
TEST(SourcesTest, KeepConstTensorsConst) { ExpectKept(CheckTensorIsConstCorrect); }
TEST(SourcesTest, StateTheSubjectOfEachCheck) { ExpectKept(CheckEnforceTexts); }
TEST(SourcesTest, DependOnNoLocale) { ExpectKept(CheckLocale); }
TEST(SourcesTest, LockByCheckedMutexes) { ExpectKept(CheckLocks); }
TEST(SourcesTest, CarryTheStateOfThreads) { ExpectKept(CheckThreadLocals); }
TEST(SourcesTest, RegisterOperatorsByRows) { ExpectKept(CheckOperatorRows); }
TEST(SourcesTest, CompileExactKernelsWithoutContraction) { ExpectKept(CheckExactKernels); }
TEST(SourcesTest, DeclareArgumentsOnce) { ExpectKept(CheckArgumentDeclarations); }
TEST(SourcesTest, NameNoOperatorTypeInTheCore) { ExpectKept(CheckOperatorTypesInCore); }
TEST(SourcesTest, KeepKernelSourcesLight) { ExpectKept(CheckKernelIncludes); }
TEST(SourcesTest, IncludePublicHeadersInPublicHeaders) { ExpectKept(CheckPublicHeaders); }
TEST(SourcesTest, HaveAReadmeInEveryFolder) { ExpectKept(CheckReadmes); }
TEST(SourcesTest, AreNamedInTheTablesOfTheirReadme) { ExpectKept(CheckReadmeTables); }

// A fixture for source trees of one or two files.
class RulesTest : public testing::Test {
 protected:
  Violations Check(Rule rule, const std::string& path, const std::string& content) {
    dir_.Write(path, content);
    return rule(ReadSourceTree(dir_.path()));
  }
  TempDir dir_;
};

TEST_F(RulesTest, FindAnIncludeOfALayerAbove) {
  EXPECT_THAT(Check(CheckLayers, "caffe2_core/tensor/blob.cc",
                    "#include <vector>\n#include \"caffe2_core/io/db.h\"\n"),
              ElementsAre("caffe2_core/tensor/blob.cc:2 includes caffe2_core/io/db.h, "
                          "layer caffe2_core/tensor/ may not use caffe2_core/io/"));
}

TEST_F(RulesTest, FindFoldersWithoutALayer) {
  EXPECT_THAT(Check(CheckLayers, "caffe2_core/tricks/trick.cc", "int trick;\n"),
              ElementsAre("caffe2_core/tricks/trick.cc is in a folder without a layer, want one in "
                          "kLayers"));
}

TEST_F(RulesTest, FindContextsAndOperatorsInTheCore) {
  EXPECT_THAT(
      Check(CheckLayers, "caffe2_core/runtime/net.cc",
            "#include \"contexts/cpu/cpu_context.h\"\n#include \"operators/primitives/gemm.h\"\n"),
      ElementsAre(HasSubstr("net.cc:1"), HasSubstr("net.cc:2")));
}

TEST_F(RulesTest, AllowLayersBelow) {
  EXPECT_THAT(Check(CheckLayers, "operators/conv/conv.cc",
                    "#include \"operators/conv/conv.h\"\n#include \"operators/common/layout.h\"\n"
                    "#include \"contexts/cpu/cpu_context.h\"\n#include \"caffe2rt/caffe2.pb.h\"\n"),
              IsEmpty());
}

TEST_F(RulesTest, FindAFamilyInAnother) {
  EXPECT_THAT(
      Check(CheckLayers, "operators/conv/conv.cc", "#include \"operators/pool/window.h\"\n"),
      ElementsAre(HasSubstr("family operators/conv may not use operators/pool")));
}

TEST_F(RulesTest, FindUsersOfTheCInterface) {
  const std::string include = "#include \"caffe2_core/c_api/caffe2rt.h\"\n";
  for (const char* user : {"caffe2_core/runtime/net.cc", "operators/conv/conv.cc",
                           "binaries/caffe2.cc", "caffe2_core/compat/caffe2/core/net.h"}) {
    SCOPED_TRACE(user);
    EXPECT_THAT(Check(CheckLayers, user, include), testing::Contains(HasSubstr(user)));
  }
  EXPECT_THAT(Check(CheckLayers, "caffe2_core/c_api/caffe2rt.cc",
                    include + "#include \"caffe2_core/model/predictor.h\"\n"),
              testing::Not(testing::Contains(HasSubstr("c_api/caffe2rt.cc"))));
}

TEST_F(RulesTest, FindContextsInEachOther) {
  EXPECT_THAT(Check(CheckLayers, "contexts/cuda/a.cc", "#include \"contexts/cpu/cpu_context.h\"\n"),
              ElementsAre(HasSubstr("layer contexts/cuda/ may not use contexts/cpu/")));
  EXPECT_THAT(
      Check(CheckLayers, "contexts/cpu/a.cc", "#include \"contexts/cuda/cuda_context.h\"\n"),
      testing::SizeIs(2));
}

TEST_F(RulesTest, FindPathsThatDoNotStartAtTheRoot) {
  dir_.Write("operators/conv/conv.h", "#pragma once\n");
  EXPECT_THAT(Check(CheckLayers, "operators/conv/conv.cc", "#include \"conv.h\"\n"),
              ElementsAre(HasSubstr("want a path from the root")));
}

TEST_F(RulesTest, FindCaffe2PathsOutsideOfCompat) {
  EXPECT_THAT(Check(CheckLayers, "operators/conv/conv.cc", "#include <caffe2/core/net.h>\n"),
              ElementsAre(HasSubstr("caffe2/core/net.h")));
}

TEST_F(RulesTest, FindCudaHeaders) {
  dir_.Write("operators/conv/conv.cu", "#include <cuda_runtime.h>\n");
  dir_.Write("operators/conv/conv_cudnn.cc", "#include <cudnn.h>\n");
  EXPECT_THAT(Check(CheckCudaHeaders, "operators/conv/conv.cc", "#include <cublas_v2.h>\n"),
              ElementsAre(HasSubstr("conv.cc:1 includes cublas_v2.h")));
}

TEST_F(RulesTest, FindCudaInTheCore) {
  dir_.Write("caffe2_core/device/device_type.h", "enum DeviceType { CUDA = 1 };\n");
  dir_.Write("caffe2_core/compat/caffe2/core/a.h", "class CUDAContext;\n");
  dir_.Write("contexts/cuda/a.cc", "class CUDAContext;\n");
  dir_.Write("caffe2_core/base/simd.h", "#if !defined(__CUDACC__)\n");
  dir_.Write("caffe2_core/runtime/operator_registry.h",
             "#define REGISTER_CUDA_OPERATOR_STR(a)\nif (type == ::caffe2rt::CUDA) f();\n");
  dir_.Write("caffe2_core/io/README.md", "TensorCUDA, cuda_gpu_id, and devices of CUDA.\n");
  EXPECT_THAT(
      Check(CheckCudaInCore, "caffe2_core/runtime/net.cc",
            "// as in contexts/CUDA-like places\n"
            "if (op.cuda_sync()) FindCuda(\"caffe2_cuda_pool\");  // --cuda-sync\n"
            "switch (type) { case CUDA: return; }\n"),
      testing::UnorderedElementsAre(
          HasSubstr("io/README.md:1 names TensorCUDA;"), HasSubstr("io/README.md:1 names CUDA;"),
          HasSubstr("operator_registry.h:2 compares with CUDA"),
          HasSubstr("net.cc:1 names CUDA-like;"), HasSubstr("net.cc:2 names FindCuda;"),
          HasSubstr("net.cc:2 names caffe2_cuda_pool;"), HasSubstr("net.cc:3 names CUDA;"),
          HasSubstr("net.cc:3 compares with CUDA")));
}

TEST_F(RulesTest, FindStateOfThreadsThatIsNotCarried) {
  dir_.Write("tests/a_test.cc", "thread_local int depth = 0;\n");
  dir_.Write("caffe2_core/base/logging.cc", "thread_local bool a;\nthread_local bool b;\n");
  dir_.Write("operators/primitives/scratch.cc", "int none;\n");
  EXPECT_THAT(
      Check(CheckThreadLocals, "operators/conv/conv.cc",
            "// a thread_local variable\nstatic thread_local int depth = 0;\n"),
      ElementsAre(HasSubstr("logging.cc:2 is thread_local"), HasSubstr("conv.cc:2 is thread_local"),
                  HasSubstr("scratch.cc has fewer thread_local variables")));
}

TEST_F(RulesTest, FindLongFiles) {
  EXPECT_THAT(Check(CheckLength, "proto/a.h", std::string(500, '\n')), IsEmpty());
  EXPECT_THAT(Check(CheckLength, "proto/a.h", std::string(501, '\n')),
              ElementsAre(HasSubstr("501 lines")));
}

TEST_F(RulesTest, FindVagueNames) {
  dir_.Write("operators/conv/stop.cc", "");
  dir_.Write("operators/conv/conv_op_test.cc", "");
  EXPECT_THAT(Check(CheckNames, "caffe2_core/base/string_utils.h", ""),
              ElementsAre(HasSubstr("utils"), HasSubstr("conv_op_test.cc")));
}

TEST_F(RulesTest, FindTestNamesThatStateNoBehaviour) {
  EXPECT_THAT(Check(CheckTestNames, "tests/programs/a_test.cc",
                    "TEST(ATest, RejectsZero) {}\nTEST_F(ATest, Works) {}\n"
                    "TEST_P(ATest, RefusesZero) {}\nTEST(ATest, NetworksAreSaved) {}\n"),
              ElementsAre(HasSubstr("a_test.cc:2 names a test Works"), HasSubstr("RefusesZero")));
}

TEST_F(RulesTest, FindUnguardedHeaders) {
  dir_.Write("proto/a.h", "// what it is for\n#pragma once\n");
  EXPECT_THAT(Check(CheckPragmaOnce, "proto/b.h", "#ifndef B_H\n#define B_H\n#endif\n"),
              ElementsAre(HasSubstr("proto/b.h")));
}

TEST_F(RulesTest, FindForbiddenText) {
  EXPECT_THAT(Check(CheckForbiddenText, "proto/a.cc",
                    "// TO"
                    "DO(#12): later\n// TO"
                    "DO: later\n#pragma o"
                    "mp parallel\n"),
              ElementsAre(HasSubstr("a.cc:2"), HasSubstr("a.cc:3")));
  dir_.Write("proto/a.cc", "#include <absl/strings/str_cat.h>\n");
  EXPECT_THAT(Check(CheckForbiddenText, "proto/a.h",
                    "#include <absl/base/thread_annotations.h>\n"
                    "#include <absl/strings/str_cat.h>\n"),
              ElementsAre(HasSubstr("a.h:2")));
}

TEST_F(RulesTest, FindConstCastAwayInHeadersOfTensors) {
  dir_.Write("caffe2_core/tensor/tensor.cc", "int* p = const_cast<int*>(q);\n");
  EXPECT_THAT(
      Check(CheckTensorIsConstCorrect, "caffe2_core/tensor/tensor.h",
            "#pragma once\nint* p = const_cast<int*>(q);\n"),
      ElementsAre(
          "caffe2_core/tensor/tensor.h:2 casts away const in a header of caffe2_core/tensor"));
}

TEST_F(RulesTest, FindChecksWithoutText) {
  EXPECT_THAT(Check(CheckEnforceTexts, "operators/conv/conv.cc",
                    "// CAFFE_ENFORCE(x);\n"
                    "CAFFE_ENFORCE(f(a, b));\n"
                    "CAFFE_ENFORCE(f(a, b),\n    \"text, (\");\n"
                    "CAFFE_ENFORCE_EQ(a, f(b, \"c, d\"));\n"
                    "CAFFE_ENFORCE_EQ(a, b, \"text\");\n"),
              ElementsAre("operators/conv/conv.cc:2 has a check without a message",
                          "operators/conv/conv.cc:5 has a check without a message"));
}

TEST_F(RulesTest, FindWhatDependsOnTheLocale) {
  EXPECT_THAT(
      Check(CheckLocale, "caffe2_core/io/npy.cc",
            "// std::ostringstream, \"%f\"\n"
            "std::ostringstream out;\n"
            "const char* text = \"strtod(x) is 100% fine\";\n"
            "double a = std::strtod(text, nullptr) + my_strtod(text);\n"
            "std::snprintf(buffer, 9,\n    \"%5.1f ms\", a);\n"
            "std::snprintf(buffer, 9, \"%zu %d %06d\", b, c, d);\n"
            "x = std::to_string(1.5) + std::tolower(c);\n"),
      ElementsAre(HasSubstr("npy.cc:2 uses std::ostringstream"), HasSubstr("npy.cc:4"),
                  HasSubstr("npy.cc:8 uses std::to_string"),
                  HasSubstr("npy.cc:8 uses std::tolower"),
                  "caffe2_core/io/npy.cc:6 formats a number by the locale, want FixedText"));
  EXPECT_THAT(Check(CheckLocale, "tests/a_test.cc", "std::ostringstream out;\n"),
              testing::SizeIs(5));
}

TEST_F(RulesTest, FindUncheckedLocks) {
  dir_.Write("tests/a_test.cc", "std::mutex mutex;\n");
  dir_.Write("caffe2_core/compat/caffe2/core/a.h", "std::mutex mutex;\n");
  dir_.Write("caffe2_core/base/mutex.h", "std::mutex mutex;\n");
  EXPECT_THAT(
      Check(CheckLocks, "operators/conv/conv.cc",
            "// std::mutex\n"
            "#include <mutex>\n"
            "std::shared_mutex mutex_;\n"
            "Mutex mutex; const MutexLock lock(mutex); std::call_once(once, F);\n"
            "const std::lock_guard<std::mutex> lock(mutex);\n"
            "std::condition_variable_any changed;\n"),
      ElementsAre("operators/conv/conv.cc:3 uses std::shared_mutex, which clang does not check, "
                  "want caffe2_core/base/mutex.h",
                  HasSubstr("conv.cc:5 uses std::lock_guard,"),
                  HasSubstr("conv.cc:5 uses std::mutex,"),
                  HasSubstr("conv.cc:6 uses std::condition_variable_any,")));
}

TEST_F(RulesTest, FindFoldersWithoutReadme) {
  dir_.Write("operators/conv/conv.cc", "");
  dir_.Write("operators/pool/README.md", "");
  dir_.Write("tests/operators/pool/pool_test.cc", "");
  EXPECT_THAT(Check(CheckReadmes, "operators/pool/pool.cc", ""),
              ElementsAre("operators/conv/ has code and no README.md"));
}

TEST_F(RulesTest, AcceptTablesThatMatchTheirFolder) {
  for (const char* file :
       {"operators/conv/conv.h", "operators/conv/conv_gemm.cc", "operators/conv/conv_kernels.h",
        "operators/conv/taps.cuh", "operators/pool/windows.h",
        "caffe2_core/compat/caffe2/core/net.h", "caffe2_core/compat/caffe2/core/README.md",
        "tests/support/devices.h", "tests/support/README.md"}) {
    dir_.Write(file, "");
  }
  dir_.Write("operators/pool/README.md",
             "| file | contents |\n|---|---|\n| `windows.h` | loops |\n");
  EXPECT_THAT(Check(CheckReadmeTables, "operators/conv/README.md",
                    "`gone.h` is not in a table.\n\n"
                    "| file | contents |\n|---|---|\n"
                    "| `conv.h`, `taps.cuh` | replaces `gone.h` |\n"
                    "| `conv_gemm.cc`, `conv_tuning.tsv` | an algorithm, and its table |\n"
                    "| `operators/pool/windows.h` | a path from the root |\n"
                    "| `<stem>_kernels.h` | stands for several files |\n"),
              IsEmpty());
}

TEST_F(RulesTest, FindHeadersWithoutARow) {
  for (const char* file : {"tensor.h", "storage.h", "rows.cuh", "sum_kernels.h", "tensor.cc"}) {
    dir_.Write(std::string("caffe2_core/tensor/") + file, "");
  }
  EXPECT_THAT(Check(CheckReadmeTables, "caffe2_core/tensor/README.md",
                    "`tensor.h` has the class.\n\n"
                    "| file | contents |\n|---|---|\n"
                    "| `storage.h` | the memory of `rows.cuh` |\n"),
              ElementsAre("caffe2_core/tensor/README.md has no row for rows.cuh",
                          "caffe2_core/tensor/README.md has no row for sum_kernels.h",
                          "caffe2_core/tensor/README.md has no row for tensor.h"));
}

TEST_F(RulesTest, FindRowsWithoutAFile) {
  dir_.Write("caffe2_core/tensor/tensor.h", "");
  dir_.Write("caffe2_core/tensor/blob.h", "");
  dir_.Write("proto/README.md", "| `blob.h` | in another folder |\n");
  EXPECT_THAT(Check(CheckReadmeTables, "caffe2_core/tensor/README.md",
                    "| file | contents |\n|---|---|\n"
                    "| `tensor.h`, `gone.h` | the class |\n"
                    "| `blob.h`, `gone.cc`, `caffe2_core/gone.cuh` | another one |\n"),
              ElementsAre("caffe2_core/tensor/README.md has a row for caffe2_core/gone.cuh, which "
                          "is no file",
                          "caffe2_core/tensor/README.md has a row for gone.cc, which is no file",
                          "caffe2_core/tensor/README.md has a row for gone.h, which is no file",
                          "proto/README.md has a row for blob.h, which is no file"));
}

TEST_F(RulesTest, FindInternalHeadersInPublicOnes) {
  const std::string push = "#pragma GCC visibility push(default)\n";
  const std::string pop = "#pragma GCC visibility pop\n";
  const std::string body = "namespace caffe2rt {\n}  // namespace caffe2rt\n";
  dir_.Write("caffe2_core/io/internal.h", "#include \"contexts/cpu/internal.h\"\n" + body);
  dir_.Write("contexts/cpu/internal.h", body);
  dir_.Write("contexts/cpu/macros.h", "#define A 1\n");
  dir_.Write("operators/math/fine.h",
             "#include \"contexts/cpu/macros.h\"\n" + push + body + pop + "#define B 2\n");
  dir_.Write("operators/math/includes.h",
             "#include \"contexts/cpu/internal.h\"\n" + push + body + pop);
  dir_.Write("operators/math/inside.h", push + "#include <vector>\n" + body + pop);
  dir_.Write("operators/math/open.h", push + body);
  dir_.Write("operators/math/outside.h", push + pop + body);
  EXPECT_THAT(Check(CheckPublicHeaders, "operators/math/twice.h", push + body + pop + body),
              ElementsAre("operators/math/includes.h:1 includes contexts/cpu/internal.h, which is "
                          "internal and not installed",
                          HasSubstr("inside.h:2 exports what another header declares"),
                          HasSubstr("open.h does not end its export"),
                          HasSubstr("outside.h:3 opens"), HasSubstr("outside.h:4 closes"),
                          HasSubstr("twice.h:5 opens"), HasSubstr("twice.h:6 closes")));
}

TEST_F(RulesTest, FindRegistrationByHand) {
  dir_.Write("operators/conv/CMakeLists.txt", "caffe2rt_operator(conv CUDA CUDNN)\n");
  dir_.Write("operators/conv/conv.cc", "void RegisterConv() {\n");
  dir_.Write("operators/conv/conv_cuda.cc", "void RegisterConvCuda() {\n");
  dir_.Write("operators/conv/conv_cudnn.cc", "void RegisterConvCudnn() {\n");
  dir_.Write("operators/conv/register.cc", "");
  EXPECT_THAT(
      Check(CheckOperatorRows, "operators/conv/conv_lost.cc",
            "\nvoid RegisterConvLost() {\nvoid RegisterType(int x) {\n"),
      ElementsAre("operators/conv/conv_lost.cc:2 defines a Register function that no "
                  "operator row names",
                  "operators/conv/register.cc registers operators by hand, want rows in the "
                  "CMakeLists.txt"));
}

TEST_F(RulesTest, FindExactKernelsThatAreNotListedAndListedOnesWithoutPromise) {
  const std::string promise = "// Clears. Exact: the mask is a function of the seed.\n";
  dir_.Write("operators/fill/CMakeLists.txt",
             "caffe2rt_operator(kept CUDA EXACT)\ncaffe2rt_operator(lost CUDA KERNELS)\n"
             "caffe2rt_exact_kernels(listed.cu idle.cu)\n");
  dir_.Write("operators/fill/kept.cu", promise);
  dir_.Write("operators/fill/listed.cu",
             promise + "#include \"operators/primitives/philox.cuh\"\n");
  dir_.Write("operators/fill/idle.cu", "// Exactly one: fills.\n");
  dir_.Write("operators/fill/lost.cu", promise);
  EXPECT_THAT(Check(CheckExactKernels, "operators/fill/random.cu",
                    "#include \"operators/primitives/philox.h\"\n"),
              ElementsAre("operators/fill/idle.cu is compiled as an exact kernel, want a comment "
                          "\"Exact: ...\" with the reason",
                          "operators/fill/lost.cu promises exact results, want EXACT or "
                          "caffe2rt_exact_kernels in the CMakeLists.txt",
                          "operators/fill/random.cu uses Philox numbers, want a comment "
                          "\"Exact: ...\" with the reason"));
}

TEST_F(RulesTest, FindArgumentsByLiteralName) {
  EXPECT_THAT(Check(CheckArgumentDeclarations, "operators/conv/conv.cc",
                    "// GetSingleArgument<int>(\"group\", 1)\n"
                    "group_(this->template GetSingleArgument<int>(\"group\", 1))\n"
                    ".Arg(\"group\", \"number of groups\", 1)\n"
                    "if (HasArgument(\"group\")) return;\n"
                    "if (HasArgument(kGroup)) return this->ReadArgument(kGroup);\n"
                    ".Arg(kGroup)\n"),
              ElementsAre(HasSubstr("conv.cc:2 names an argument"), HasSubstr("conv.cc:3"),
                          HasSubstr("conv.cc:4")));
  EXPECT_THAT(Check(CheckArgumentDeclarations, "tests/a_test.cc", ".Arg(\"a\", \"b\", 1)\n"),
              testing::SizeIs(3));
}

TEST_F(RulesTest, FindHeavyHeadersBehindKernels) {
  dir_.Write("operators/conv/conv_kernels.h", "#include \"operators/conv/shape.h\"\n");
  dir_.Write("operators/conv/shape.h",
             "#include <vector>\n#include \"caffe2_core/tensor/tensor.h\"\n");
  dir_.Write("operators/conv/conv_cuda.cc", "#include \"caffe2_core/runtime/operator.h\"\n");
  EXPECT_THAT(Check(CheckKernelIncludes, "operators/conv/conv.cu",
                    "#include \"operators/conv/conv_kernels.h\"\n"
                    "#include \"caffe2_core/graph/argument_spec.h\"\n"
                    "#include \"caffe2rt/caffe2.pb.h\"\n"),
              ElementsAre("operators/conv/conv.cu includes caffe2_core/tensor/tensor.h (through "
                          "operators/conv/conv_kernels.h, operators/conv/shape.h), want kernels "
                          "and launch functions over numbers and pointers",
                          HasSubstr("conv.cu includes caffe2rt/caffe2.pb.h,")));
}

TEST_F(RulesTest, FindOperatorTypesInTheCore) {
  dir_.Write("caffe2_core/compat/caffe2/core/a.h", "const char* type = \"Swish\";\n");
  dir_.Write("operators/conv/conv.cc", "const char* type = \"Swish\";\n");
  EXPECT_THAT(Check(CheckOperatorTypesInCore, "caffe2_core/graph/net_summary.cc",
                    "// as \"Swish\"\n"
                    "const char* text = \"a Swish\";  // or \"Relu\"\n"
                    "if (c == '\"' || type == \"Tanh\") return \"\\\"Elu\";\n"),
              ElementsAre("caffe2_core/graph/net_summary.cc:3 names operator type Tanh, want a "
                          "trait (caffe2_core/graph/operator_traits.h)"));
}

TEST_F(RulesTest, FindOperatorTypesThatAreNotAllowedInAFile) {
  EXPECT_THAT(Check(CheckOperatorTypesInCore, "caffe2_core/graph/gradient_sums.cc",
                    "for (const char* type : {\"Sum\", \"Add\"}) Use(type);\n"),
              ElementsAre(HasSubstr("gradient_sums.cc:1 names operator type Add,"),
                          "caffe2_core/graph/gradient_sums.cc does not name operator type Concat, "
                          "which the rule allows it"));
}

}  // namespace
}  // namespace caffe2rt::test::style_test
