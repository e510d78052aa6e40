// Where modules and the libraries that they need are searched for, and why a file is no module.
#include "caffe2_core/runtime/module_search.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "caffe2_core/runtime/module_links.h"
#include "tests/support/elf_file.h"
#include "tests/support/refusals.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::module_search_test {
namespace {

// Sets LD_LIBRARY_PATH of this process, which its loader has read already.
class LibraryPath {
 public:
  explicit LibraryPath(const std::string& folders) {
    if (const char* const before = std::getenv("LD_LIBRARY_PATH")) before_ = before;
    setenv("LD_LIBRARY_PATH", folders.c_str(), 1);
  }
  ~LibraryPath() {
    if (before_.has_value()) {
      setenv("LD_LIBRARY_PATH", before_->c_str(), 1);
    } else {
      unsetenv("LD_LIBRARY_PATH");
    }
  }
  LibraryPath(const LibraryPath&) = delete;
  LibraryPath& operator=(const LibraryPath&) = delete;

 private:
  std::optional<std::string> before_;
};

// The folder, named as in the test's folder, of the copy of the library that opening the module would load; "" for
// none.
std::string FolderOfCopy(const TempDir& dir, const std::string& module) {
  const std::string error = MessageOf([&] { CheckModuleLinks(module); });
  if (error == "(nothing was thrown)") return "";
  const std::string begin = "module \"" + module + "\" needs \"" + dir.path() + "/";
  EXPECT_EQ(error.substr(0, begin.size()), begin);
  return error.substr(begin.size(), error.find('/', begin.size()) - begin.size());
}

// As the loader does: DT_RPATH, then the environment, then DT_RUNPATH.
TEST(ModuleSearchTest, LibrariesAreFoundInTheOrderOfTheLoader) {
  const TempDir dir;
  const std::string lib = "libcaffe2_search_test_lib.so";
  for (const char* const folder : {"a", "b", "c"})
    dir.Write(std::string(folder) + "/" + lib, ElfFile({.has_note = true}));
  const auto found = [&](const std::string& folders, int64_t tag, const std::string& environment) {
    const LibraryPath path(environment);
    return FolderOfCopy(
        dir,
        dir.Write("module.so", ElfFile({.needed = {lib}, .folders = folders, .folders_tag = tag})));
  };
  const std::string b = dir.path("b"), c = dir.path("c");
  EXPECT_EQ(found("$ORIGIN/a", DT_RPATH, b), "a");
  EXPECT_EQ(found("$ORIGIN/a", DT_RUNPATH, b), "b");
  EXPECT_EQ(found("", DT_RUNPATH, b + ":" + c), "b");
  EXPECT_EQ(found("", DT_RUNPATH, c + ":" + b), "c");
  EXPECT_EQ(found("", DT_RUNPATH, "::" + dir.path("none") + ":" + c + ":"), "c");
  EXPECT_EQ(found("$ORIGIN/a", DT_RUNPATH, ""), "a");
  EXPECT_EQ(found("$ORIGIN/none:$ORIGIN/c", DT_RPATH, ""), "c");
  EXPECT_EQ(found("", DT_RUNPATH, ""), "");
  EXPECT_EQ(found("$ORIGIN", DT_RPATH, "$ORIGIN/a"), "") << "the environment has no $ORIGIN";
  EXPECT_EQ(found("$ORIGIN/none", DT_RUNPATH, b), "b");
}

// A DT_RPATH, unlike a DT_RUNPATH, is for the libraries of the libraries as well, after their own, but not for those
// of a library with a DT_RUNPATH.
TEST(ModuleSearchTest, FoldersOfAModuleAreInherited) {
  const TempDir dir;
  const std::string lib = "libcaffe2_search_test_lib.so", between = "libcaffe2_search_test_mid.so";
  for (const char* const folder : {"a", "b"})
    dir.Write(std::string(folder) + "/" + lib, ElfFile({.has_note = true}));
  const auto found = [&](int64_t tag, const std::string& own, int64_t own_tag) {
    dir.Write("a/" + between, ElfFile({.needed = {lib}, .folders = own, .folders_tag = own_tag}));
    return FolderOfCopy(
        dir,
        dir.Write("module.so",
                  ElfFile({.needed = {between}, .folders = dir.path("a"), .folders_tag = tag})));
  };
  EXPECT_EQ(found(DT_RPATH, "", DT_RPATH), "a");
  EXPECT_EQ(found(DT_RUNPATH, "", DT_RPATH), "");
  EXPECT_EQ(found(DT_RPATH, dir.path("b"), DT_RPATH), "b");
  EXPECT_EQ(found(DT_RPATH, dir.path("b"), DT_RUNPATH), "b");
  EXPECT_EQ(found(DT_RUNPATH, dir.path("b"), DT_RUNPATH), "b");
  EXPECT_EQ(found(DT_RUNPATH, "${ORIGIN}/../b", DT_RPATH), "a") << "a/../b begins with a";
}

TEST(ModuleSearchTest, AModuleUsesTheLibraryItselfOrThroughOthers) {
  const TempDir dir;
  const auto may = [&](const std::vector<std::string>& needed, const std::string& folders) {
    const std::string file =
        dir.Write("module.so", ElfFile({.needed = needed, .folders = folders}));
    return MayUseLibrary(file);
  };
  const std::string plain = "libcaffe2_search_test_plain.so",
                    user = "libcaffe2_search_test_user.so",
                    between = "libcaffe2_search_test_mid.so";
  dir.Write(plain, ElfFile({.needed = {"libc.so.6"}}));
  dir.Write(user, ElfFile({.folders = "/of/caffe2rt"}));  // one of its names
  dir.Write(between, ElfFile({.needed = {plain, user}, .folders = "$ORIGIN"}));
  EXPECT_FALSE(may({}, "$ORIGIN"));
  EXPECT_FALSE(may({"libc.so.6"}, "$ORIGIN"));
  EXPECT_FALSE(may({plain}, "$ORIGIN"));
  EXPECT_TRUE(may({user}, "$ORIGIN"));
  EXPECT_TRUE(may({plain, user}, "$ORIGIN"));
  EXPECT_TRUE(may({user, plain}, "$ORIGIN"));
  EXPECT_TRUE(may({between}, "$ORIGIN"));
  EXPECT_TRUE(may({plain}, "$ORIGIN:/of/caffe2rt"));
  // What cannot be found or read may use it.
  EXPECT_TRUE(may({plain, "libcaffe2_search_test_absent.so"}, "$ORIGIN"));
  EXPECT_TRUE(MayUseLibrary(dir.path("absent.so")));
  EXPECT_TRUE(MayUseLibrary("libcaffe2_search_test_absent.so"));
  EXPECT_TRUE(MayUseLibrary(dir.Write("text.so", "no library")));
  const std::string file =
      dir.Write("module.so", ElfFile({.needed = {plain}, .folders = "$ORIGIN"}));
  EXPECT_EQ(
      MessageOf([&] { CheckIsModule("its name", file); }),
      "cannot load module \"its name\": it is a shared library, but not a module: it does not "
      "use caffe2rt");
  dir.Write("module.so", ElfFile({.needed = {user}, .folders = "$ORIGIN"}));
  EXPECT_EQ(MessageOf([&] { CheckIsModule("its name", file); }), "(nothing was thrown)");
}

TEST(ModuleSearchTest, ANameIsAFileOfTheCurrentFolderFirst) {
  const TempDir dir;
  const std::filesystem::path before = std::filesystem::current_path();
  dir.Write("here.so", "");
  dir.Write("in/folder.so", "");
  std::filesystem::create_directories(dir.path("a_folder"));
  std::filesystem::current_path(dir.path());
  EXPECT_EQ(PathOfModule("here.so"), "./here.so");
  EXPECT_EQ(PathOfModule("./here.so"), "./here.so");
  EXPECT_EQ(PathOfModule("absent.so"), "absent.so");
  EXPECT_EQ(PathOfModule("in/folder.so"), "in/folder.so");
  EXPECT_EQ(PathOfModule("a_folder"), "a_folder");
  EXPECT_EQ(PathOfModule(dir.path("here.so")), dir.path("here.so"));
  std::filesystem::current_path(before);
}

TEST(ModuleSearchTest, ReasonsAreWhole) {
  const TempDir dir;
  const std::string text = dir.Write("text.so", "no library"), empty = dir.Write("empty.so", ""),
                    short_one = dir.Write("short.so", "\177EL"),
                    elf = dir.Write("elf.so", ElfFile({}));
  const std::string no_module =
      "the file exists, but it is not a module: it is not a shared library";
  EXPECT_EQ(WhyNotLoaded("libx.so", "libx.so: cannot open shared object file: No such file"),
            "it is neither in the current folder nor in the loader's path (LD_LIBRARY_PATH, "
            "ld.so.conf)");
  const std::string other = "liby.so: cannot open shared object file: No such file";
  EXPECT_EQ(WhyNotLoaded("libx.so", other.c_str()), other);
  EXPECT_EQ(WhyNotLoaded("./liby.so", other.c_str()), other);
  EXPECT_EQ(WhyNotLoaded("libx.so", nullptr), "unknown reason");
  EXPECT_EQ(WhyNotLoaded(dir.path(), "e"), "it is a folder, not a shared library");
  for (const std::string& file : {text, empty, short_one})
    EXPECT_EQ(WhyNotLoaded(file, "e"), no_module) << file;
  EXPECT_EQ(WhyNotLoaded(elf, "some error"), "some error");
  EXPECT_EQ(WhyNotLoaded(elf, nullptr), "unknown reason");
  EXPECT_EQ(WhyNotLoaded(dir.path("absent.so"), "some error"), "some error");
}

TEST(ModuleSearchTest, SymbolsAreExplainedWithoutWhatFollowsThem) {
  const auto why = [](const std::string& symbol) {
    return WhyNotLoaded("./m.so", ("./m.so: undefined symbol: " + symbol).c_str());
  };
  const std::string schema =
      "operator \"Twice\" has no schema; add OPERATOR_SCHEMA(Twice) to a source of the module";
  for (const char* const rest : {"", ", version X", "\t(m.so)", " (fatal)"})
    EXPECT_EQ(why("CAFFE2_PLEASE_ADD_OPERATOR_SCHEMA_FOR_Twice" + std::string(rest)), schema);
  const std::string link =
      "neither the program nor a library that the module needs has; link the module with the "
      "library "
      "that defines it";
  EXPECT_EQ(why("plain_c, version X"), "it uses \"plain_c\", which " + link);
  EXPECT_EQ(why("_ZN5other4callEv"), "it uses \"other::call()\", which " + link);
  EXPECT_EQ(why("_ZN5broken"), "it uses \"_ZN5broken\", which " + link) << "no mangled name";
  const std::string symbol =
      "_ZN8caffe2rt10LoadModuleERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEES7_";
  if (dlsym(RTLD_DEFAULT, symbol.c_str()) != nullptr) GTEST_SKIP() << "the program exports symbols";
  EXPECT_EQ(
      why("_ZN8caffe2rt9NewThingsEv"),
      "it uses \"caffe2rt::NewThings()\", which the program does not export; link the program "
      "with -rdynamic (CMake: ENABLE_EXPORTS) or with the shared library");
}

}  // namespace
}  // namespace caffe2rt::test::module_search_test
