#include "caffe2_core/runtime/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/device/context.h"
#include "caffe2_core/graph/gradient.h"
#include "caffe2_core/runtime/module_search.h"
#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/elf_file.h"
#include "tests/support/operator_test.h"
#include "tests/support/shared.h"
#include "tests/support/temp_dir.h"

CAFFE2_MODULE(module_test_linked, "linked into the test");

namespace caffe2rt::module_test {
namespace {

using test::ExpectThrows;

std::string File(const std::string& name) { return test::BuildPath("lib/lib" + name + ".so"); }

TEST(ModuleTest, KnowsModulesThatAreLinkedIn) {
  EXPECT_TRUE(HasModule("module_test_linked"));
  EXPECT_EQ(CurrentModules().at("module_test_linked"), "linked into the test");
  EXPECT_FALSE(HasModule("nope"));
  LoadModule("module_test_linked");  // already loaded: no error
}

TEST(ModuleTest, ReportsWhyAFileCannotBeLoaded) {
  ExpectThrows([] { LoadModule("", "/no/such/file.so"); },
               "cannot load module \"/no/such/file.so\"");
  ExpectThrows([] { LoadModule("caffe2_no_such_module"); }, "libcaffe2_no_such_module.so");
  ExpectThrows([] { LoadModule("", ""); }, "a module needs a name or a file");
  const test::TempDir dir;
  std::ofstream(dir.path() + "/text.so") << "not a library";
  ExpectThrows([&] { LoadModule("", dir.path() + "/text.so"); },
               "text.so\": the file exists, but it is not a module: it is not a shared library");
  std::ofstream(dir.path() + "/empty.so").flush();
  ExpectThrows([&] { LoadModule("", dir.path() + "/empty.so"); }, "it is not a module");
  ExpectThrows([&] { LoadModule("", dir.path()); }, "it is a folder, not a shared library");
  ExpectThrows([] { LoadModule("", "caffe2_no_such_file.so"); },
               "cannot load module \"caffe2_no_such_file.so\": it is neither in the current folder "
               "nor in the loader's path");
}

// A library that registers nothing must not be opened either.
TEST(ModuleTest, RejectsLibrariesThatAreNoModulesBeforeTheyAreOpened) {
  const test::TempDir dir;
  const std::string path = dir.Write("alien.so", test::ElfFile({.needed = {"libc.so.6"}}));
  ExpectThrows([&] { LoadModule("", path); },
               "alien.so\": it is a shared library, but not a module: it does not use caffe2rt");
  ExpectThrows([] { LoadModule("", "libm.so.6"); },
               "\"libm.so.6\": it is a shared library, but not a module");
  // dlopen reports what is wrong with those that may be modules.
  for (const std::string& needed :
       {std::string("libcaffe2rt_of_no_one.so"), dir.path("absent.so")}) {
    const std::string other = dir.Write("other.so", test::ElfFile({.needed = {needed}}));
    try {
      LoadModule("", other);
      ADD_FAILURE() << "an ELF file without code was loaded";
    } catch (const EnforceNotMet& error) {
      EXPECT_EQ(error.message().find("does not use caffe2rt"), std::string::npos);
    }
  }
}

TEST(ModuleTest, FindsAFileInTheCurrentFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path file = File("module_test_good");
  std::filesystem::current_path(file.parent_path());
  EXPECT_NO_THROW(LoadModule("", file.filename()));
  std::filesystem::current_path(before);
  EXPECT_TRUE(HasModule("module_test_good"));
}

TEST(ModuleTest, BringsOperatorsAndLoadsTwiceWithoutHarm) {
  LoadModule("", File("module_test_good"));
  LoadModule("", File("module_test_good"));
  EXPECT_EQ(LoadedModuleFiles().size(), 1u);
  EXPECT_TRUE(HasModule("module_test_good"));
  LoadModule("module_test_good", File("module_test_good"));
  Workspace ws;
  EXPECT_TRUE(ws.RunOperatorOnce(test::ParseOp(R"(type: "ModuleTestAnswer" output: "y")")));
  test::ExpectTensor<int>(ws, "y", {}, {42});
}

// Returns the message of loading module_test_conflict.
std::string ConflictsOf(const std::string& name, const std::string& file) {
  try {
    LoadModule(name, file);
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

TEST(ModuleTest, ReportsAllConflictsAtEachLoadOfTheModuleAndNowhereElse) {
  const std::string first = ConflictsOf("", File("module_test_conflict"));
  for (const char* part :
       {"libmodule_test_conflict.so\" is loaded, but ",
        "operator \"Relu\" is registered twice: in ",
        "schema of operator type \"Relu\" is registered twice",
        "gradient of operator \"ConstantFill\" is registered twice",
        "net type \"simple\" is registered twice", "modules/conflict.cc",
        "database type \"minidb\" is registered twice",
        "deserializer \"TensorCPU\" is registered twice", "; serializer of type id ",
        "flag --module_test_flag is defined twice: in ",
        "device type 0 is registered twice: as \"CPU\" and as \"CPU again\""}) {
    EXPECT_THAT(first, ::testing::HasSubstr(part));
  }
  void* const handle = dlopen(File("module_test_conflict").c_str(), RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(handle, nullptr);
  EXPECT_FALSE(*static_cast<bool*>(dlsym(handle, "g_module_test_conflict_look_up_threw")));
  dlclose(handle);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(HasOperator(CPU, "Relu"));
    EXPECT_NO_THROW(LoadModule("", File("module_test_good")));
    EXPECT_NO_THROW(GetGradientForOp(test::ParseOp(R"(type: "ConstantFill" output: "y")"),
                                     {GradientWrapper{"g", "", ""}}));
    ExpectThrows([] { GetStaticContext(static_cast<DeviceType>(30)); },
                 "is not available; available: ");
    Workspace ws;
    EXPECT_NO_THROW(ws.RunNetOnce(test::ParseNet(R"(type: "simple" name: "n")")));
    EXPECT_EQ(ConflictsOf("", File("module_test_conflict")), first);
    EXPECT_EQ(ConflictsOf("module_test_conflict", File("module_test_conflict")),
              "module \"module_test_conflict" + first.substr(first.find("\" is loaded")));
  }
  EXPECT_EQ(std::ranges::count(LoadedModuleFiles(), File("module_test_conflict")), 1);
}

TEST(ModuleTest, NamesBothModulesOfAConflict) {
  LoadModule("", File("module_test_good"));
  const std::string conflicts = ConflictsOf("", File("module_test_same_source"));
  EXPECT_THAT(conflicts,
              ::testing::ContainsRegex(
                  "operator \"ModuleTestAnswer\" is registered twice: in [^ ]*good.cc of "
                  "module \"[^ ]*libmodule_test_good.so\" and in op.cc of module "
                  "\"[^ ]*libmodule_test_same_source.so\""));
  EXPECT_THAT(conflicts, ::testing::ContainsRegex("schema of operator type \"ModuleTestAnswer\" is "
                                                  "registered twice: .* of module .* of module"));
  for (const char* subject : {"gradient of operator", "database type", "net type"}) {
    EXPECT_THAT(conflicts,
                ::testing::ContainsRegex(MakeString(
                    subject,
                    " \"ModuleTestAnswer\" is registered twice: in [^ ]*good.cc of module "
                    "\"[^ ]*libmodule_test_good.so\" and in op.cc of module "
                    "\"[^ ]*libmodule_test_same_source.so\"")));
  }
}

TEST(ModuleTest, NamesTheOperatorWithoutASchema) {
  ExpectThrows([] { LoadModule("", File("module_test_no_schema")); },
               "no_schema.so\": operator \"ModuleTestNoSchema\" has no schema; add "
               "OPERATOR_SCHEMA(ModuleTestNoSchema) to a source of the module");
}

std::string WhyWithout(const std::string& symbol) {
  return WhyNotLoaded("./libm.so", ("./libm.so: undefined symbol: " + symbol).c_str());
}

TEST(ModuleTest, ExplainsMissingSymbolsByTheirBuild) {
  if (MODULE_TEST_SHARED_LIBRARY) GTEST_SKIP() << "the shared library hides the function";
  EXPECT_EQ(
      WhyWithout("_ZN7special4waveEi"),
      "it uses \"special::wave(int)\", which neither the program nor a library that the module "
      "needs has; link the module with the library that defines it");
  EXPECT_THAT(WhyWithout("_ZN8caffe2rt10LoadModuleERKSsS1_"),  // std::string of the old ABI
              ::testing::HasSubstr("has the old ABI of std::string; build the module without "
                                   "_GLIBCXX_USE_CXX11_ABI=0"));
  EXPECT_THAT(
      WhyWithout("_ZN8caffe2rt9NewThingsEv"),
      ::testing::HasSubstr("\"caffe2rt::NewThings()\", which the library in this program does "
                           "not have; build the module with the headers of the same version"));
}

// Symbols that are not functions of the library's namespace, but need its headers.
TEST(ModuleTest, KnowsTheLibrarysSymbolsOfEveryKind) {
  if (MODULE_TEST_SHARED_LIBRARY) GTEST_SKIP() << "the shared library hides the function";
  const std::pair<const char*, const char*> ours[] = {
      {"_ZN8caffe2rt9NewThingsEv", "caffe2rt::NewThings()"},
      {"_ZNK8caffe2rt8NewThing4NameEv", "caffe2rt::NewThing::Name() const"},
      {"_ZTVN8caffe2rt8NewThingE", "vtable for caffe2rt::NewThing"},
      {"_ZTIN8caffe2rt8NewThingE", "typeinfo for caffe2rt::NewThing"},
      {"_Z3UseRKN8caffe2rt8NewThingE", "Use(caffe2rt::NewThing const&)"},
      {"_ZN6caffe27DefaultIN8caffe2rt8NewThingEEEiv", "int caffe2::Default<caffe2rt::NewThing>()"}};
  for (const auto& [symbol, name] : ours) {
    const std::string why = WhyWithout(symbol);
    EXPECT_THAT(why, ::testing::StartsWith(MakeString("it uses \"", name, "\", which the ")));
    EXPECT_THAT(why, ::testing::Not(::testing::HasSubstr("the library that defines it")));
  }
  for (const char* symbol : {"_ZTVN7special4WaveE", "special_wave", "_ZN9caffe2rt24WaveEv"}) {
    EXPECT_THAT(WhyWithout(symbol),
                ::testing::EndsWith("link the module with the library that defines it"));
  }
}

TEST(ModuleTest, TheFirstRegistrationStays) {
  EXPECT_NE(ConflictsOf("", File("module_test_conflict")), "");
  Workspace ws;
  test::Feed<float>(&ws, "x", {2}, {-1, 1});
  EXPECT_TRUE(ws.RunOperatorOnce(test::ParseOp(R"(type: "Relu" input: "x" output: "y")")));
  test::ExpectTensor<float>(ws, "y", {2}, {0, 1});
}

TEST(ModuleTest, RejectsALibraryThatIsNotTheNamedModule) {
  ExpectThrows([] { LoadModule("other_name", File("module_test_unnamed")); },
               "does not declare CAFFE2_MODULE(other_name");
}

TEST(ModuleTest, RejectsAModuleWithAStaticCopyOfTheLibrary) {
  if (MODULE_TEST_SHARED_LIBRARY) GTEST_SKIP() << "the library is shared in this build";
  ExpectThrows([] { LoadModule("", File("module_test_own_library")); },
               "contains a copy of the library");
  EXPECT_FALSE(HasOperator(CPU, "ModuleTestOwnLibrary"));
}

TEST(ModuleTest, LoadsAModuleThatLinksTheSharedLibraryOfTheProgram) {
  if (!MODULE_TEST_SHARED_LIBRARY) GTEST_SKIP() << "the library is static in this build";
  LoadModule("", File("module_test_own_library"));
  Workspace ws;
  EXPECT_TRUE(ws.RunOperatorOnce(test::ParseOp(R"(type: "ModuleTestOwnLibrary" output: "y")")));
  test::ExpectTensor<int>(ws, "y", {}, {7});
}

TEST(ModuleTest, ANameThatIsDeclaredTwiceIsReportedOnce) {
  const ModuleSchema again("module_test_linked", "another text");
  EXPECT_EQ(CurrentModules().at("module_test_linked"), "linked into the test");
  ExpectThrows([] { LoadModule("", File("module_test_good")); },
               "module \"module_test_linked\" is registered twice");
  EXPECT_NO_THROW(LoadModule("", File("module_test_good")));
}

}  // namespace
}  // namespace caffe2rt::module_test
