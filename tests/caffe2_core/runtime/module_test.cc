#include "caffe2_core/runtime/module.h"

#include <fstream>

#include "caffe2_core/runtime/operator_registry.h"
#include "caffe2_core/runtime/workspace.h"
#include "tests/support/operator_test.h"

CAFFE2_MODULE(module_test_linked, "linked into the test");

namespace caffe2rt {
namespace {

using test::ExpectThrows;

std::string File(const std::string& name) { return CAFFE2RT_BINARY_DIR "/lib/lib" + name + ".so"; }

TEST(ModuleTest, KnowsModulesThatAreLinkedIn) {
  EXPECT_TRUE(HasModule("module_test_linked"));
  EXPECT_EQ(CurrentModules().at("module_test_linked"), "linked into the test");
  EXPECT_FALSE(HasModule("nope"));
  LoadModule("module_test_linked");  // it is there: fine
}

TEST(ModuleTest, SaysWhyAFileCannotBeLoaded) {
  ExpectThrows([] { LoadModule("", "/no/such/file.so"); },
               "cannot load module \"/no/such/file.so\"");
  ExpectThrows([] { LoadModule("caffe2_no_such_module"); }, "libcaffe2_no_such_module.so");
  ExpectThrows([] { LoadModule("", ""); }, "a module needs a name or a file");
  const test::TempDir dir;
  std::ofstream(dir.path() + "/text.so") << "not a library";
  ExpectThrows([&] { LoadModule("", dir.path() + "/text.so"); }, "text.so");
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

TEST(ModuleTest, ReportsRegistrationsThatConflictNamingBothFiles) {
  ExpectThrows([] { LoadModule("", File("module_test_conflict")); },
               "operator \"Relu\" is registered twice");
  Workspace ws;  // the built-in one stays
  test::Feed<float>(&ws, "x", {2}, {-1, 1});
  EXPECT_TRUE(ws.RunOperatorOnce(test::ParseOp(R"(type: "Relu" input: "x" output: "y")")));
  test::ExpectTensor<float>(ws, "y", {2}, {0, 1});
}

TEST(ModuleTest, RefusesALibraryThatIsNotTheNamedModule) {
  ExpectThrows([] { LoadModule("other_name", File("module_test_unnamed")); },
               "does not say CAFFE2_MODULE(other_name");
}

}  // namespace
}  // namespace caffe2rt
