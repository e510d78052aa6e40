#include "caffe2_core/runtime/module_links.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <random>

#include "caffe2_core/base/enforce.h"
#include "tests/support/elf_file.h"
#include "tests/support/temp_dir.h"

namespace caffe2rt::test::module_links_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A file with an ELF header and three segments: one that is loaded, with the string table, one with
// notes, and the dynamic section, which needs two libraries.
struct File {
  ElfW(Ehdr) header = {};
  ElfW(Phdr) segments[3] = {};
  ElfW(Dyn) dynamic[5] = {};
  struct {
    ElfW(Nhdr) first = {4, 4, 3};
    char first_owner[4] = "GNU";
    char first_contents[4] = {1, 2, 3, 4};
    ElfW(Nhdr) second = {9, 0, 1};
    char second_owner[12] = "caffe2rt";
  } notes;
  char strings[32] = "\0libm.so.6\0libcaffe2rt.so.0.1";

  File() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_phoff = offsetof(File, segments);
    header.e_phentsize = sizeof(ElfW(Phdr));
    header.e_phnum = 3;
    SetSegment(&segments[0], PT_LOAD, offsetof(File, strings), sizeof(strings));
    segments[0].p_vaddr = 0x1000;
    SetSegment(&segments[1], PT_NOTE, offsetof(File, notes), sizeof(notes));
    segments[1].p_align = 4;
    SetSegment(&segments[2], PT_DYNAMIC, offsetof(File, dynamic), sizeof(dynamic));
    SetDynamic(0, DT_STRTAB, 0x1000);
    SetDynamic(1, DT_STRSZ, sizeof(strings));
    SetDynamic(2, DT_NEEDED, 1);
    SetDynamic(3, DT_NEEDED, 11);
    SetDynamic(4, DT_NULL, 0);
  }
  static void SetSegment(ElfW(Phdr) * segment, unsigned type, size_t offset, size_t bytes) {
    segment->p_type = type;
    segment->p_offset = offset;
    segment->p_filesz = bytes;
  }
  void SetDynamic(int i, long tag, size_t value) {
    dynamic[i].d_tag = tag;
    dynamic[i].d_un.d_val = value;
  }
  std::string Bytes() const { return {reinterpret_cast<const char*>(this), sizeof(*this)}; }
  ModuleLinks Read() const {
    const std::string bytes = Bytes();
    return ReadModuleLinks(MemoryInput(bytes));
  }
};

TEST(ModuleLinksTest, FindsTheNoteAndTheNeededLibraries) {
  const ModuleLinks links = File().Read();
  EXPECT_TRUE(links.contains_library);
  EXPECT_THAT(links.needed, ElementsAre("libm.so.6", "libcaffe2rt.so.0.1"));
}

TEST(ModuleLinksTest, FindsNamesOfTheLibraryInTheTableOfStrings) {
  File file;
  EXPECT_TRUE(file.Read().may_use_library);
  std::strcpy(file.strings + 11, "libother.so");
  std::memset(file.strings + 23, 'x', sizeof(file.strings) - 24);
  EXPECT_FALSE(file.Read().may_use_library);
  file.SetDynamic(1, DT_STRSZ, 0);  // without a table, nothing is known
  EXPECT_TRUE(file.Read().may_use_library);
}

// Tables of more than 64 KiB are not read.
TEST(ModuleLinksTest, LargeTablesAreNotRead) {
  const auto read = [](File file, size_t bytes) {
    file.segments[1].p_filesz = bytes;
    const std::string content = file.Bytes() + std::string(80000, '\0');
    return ReadModuleLinks(MemoryInput(content)).contains_library;
  };
  EXPECT_TRUE(read({}, 60000));
  EXPECT_TRUE(read({}, 65536));
  EXPECT_FALSE(read({}, 65537));
  EXPECT_FALSE(read({}, 80000));
}

TEST(ModuleLinksTest, IgnoresNotesOfOtherOwners) {
  File file;
  file.notes.second_owner[0] = 'C';
  EXPECT_FALSE(file.Read().contains_library);
}

TEST(ModuleLinksTest, LeavesOutNamesOutOfRangeOrWithoutEnd) {
  File file;
  file.SetDynamic(2, DT_NEEDED, sizeof(file.strings));
  EXPECT_THAT(file.Read().needed, ElementsAre("libcaffe2rt.so.0.1"));
  file.SetDynamic(2, DT_NEEDED, ~size_t{0});
  EXPECT_THAT(file.Read().needed, ElementsAre("libcaffe2rt.so.0.1"));
  file.SetDynamic(1, DT_STRSZ, 15);  // ends in the second name
  file.SetDynamic(2, DT_NEEDED, 1);
  EXPECT_THAT(file.Read().needed, ElementsAre("libm.so.6"));
}

TEST(ModuleLinksTest, ANoteBeginsWhereTheOneBeforeEndsAligned) {
  const struct {
    size_t align;
    unsigned name_bytes, contents_bytes;
    bool found;
  } rows[] = {
      {4, 4, 4, true},  {0, 4, 4, true}, {1, 4, 4, true},  {16, 4, 4, true},
      {8, 4, 4, false},  // it would begin at 24 instead of 20
      {4, 3, 4, true},  {4, 1, 1, true}, {4, 4, 0, false}, {4, 0, 8, true},
      {4, 0, 4, false}, {4, 8, 0, true}, {4, 5, 0, true},  {4, 4, 5, false},
  };
  for (const auto& row : rows) {
    File file;
    file.segments[1].p_align = row.align;
    file.notes.first.n_namesz = row.name_bytes;
    file.notes.first.n_descsz = row.contents_bytes;
    EXPECT_EQ(file.Read().contains_library, row.found)
        << row.align << " " << row.name_bytes << " " << row.contents_bytes;
  }
}

// The whole owner, with its NUL, must lie in the segment.
TEST(ModuleLinksTest, IgnoresANoteThatItsSegmentCutsOff) {
  constexpr size_t kBefore = 32;  // the first note, and the numbers of the second one
  for (size_t bytes = 0; bytes <= kBefore + 12; ++bytes) {
    File file;
    file.segments[1].p_filesz = bytes;
    EXPECT_EQ(file.Read().contains_library, bytes >= kBefore + 9) << bytes;
  }
  for (const unsigned name_bytes : {0u, 8u, 10u, 12u}) {
    File file;
    file.notes.second.n_namesz = name_bytes;
    EXPECT_FALSE(file.Read().contains_library) << name_bytes;
  }
}

TEST(ModuleLinksTest, ReadsTheFoldersOfEachKind) {
  File file;
  std::strcpy(file.strings + 1, ":/a::/b:");
  std::strcpy(file.strings + 11, "/c");
  file.SetDynamic(2, DT_RPATH, 1);
  file.SetDynamic(3, DT_NULL, 0);
  EXPECT_THAT(file.Read().rpath, ElementsAre("/a", "/b"));
  EXPECT_THAT(file.Read().runpath, IsEmpty());
  EXPECT_THAT(file.Read().needed, IsEmpty());
  file.SetDynamic(3, DT_RUNPATH, 11);  // the loader ignores the other kind then
  EXPECT_THAT(file.Read().rpath, IsEmpty());
  EXPECT_THAT(file.Read().runpath, ElementsAre("/c"));
  file.SetDynamic(2, DT_NULL, 0);  // what follows does not count
  EXPECT_THAT(file.Read().runpath, IsEmpty());
}

TEST(ModuleLinksTest, FindsTheTableOfStringsInTheSegmentOfItsAddress) {
  const struct {
    size_t address, segment;
    unsigned type;
    bool found;
  } rows[] = {
      {0x1000, 0x1000, PT_LOAD, true},     {0x1000, 0x1001, PT_LOAD, false},
      {0x1000, 0x1000, PT_NOTE, false},    {0x1000 + sizeof(File::strings), 0x1000, PT_LOAD, false},
      {0x800000, 0x800000, PT_LOAD, true},
  };
  for (const auto& row : rows) {
    File file;
    file.SetDynamic(0, DT_STRTAB, row.address);
    file.segments[0].p_vaddr = row.segment;
    file.segments[0].p_type = row.type;
    EXPECT_EQ(file.Read().needed.size(), row.found ? 2u : 0u) << row.address << " " << row.segment;
  }
  // The table begins within the segment: its offsets move with it.
  File file;
  file.segments[0].p_vaddr = 0xff6;
  file.segments[0].p_offset -= 10;
  file.segments[0].p_filesz += 10;
  EXPECT_THAT(file.Read().needed, ElementsAre("libm.so.6", "libcaffe2rt.so.0.1"));
}

TEST(ModuleLinksTest, IgnoresTablesOutOfRange) {
  for (const size_t value : {sizeof(File), sizeof(File) - 1, ~size_t{0}, ~size_t{0} - 8}) {
    File file;
    file.header.e_phoff = value;
    EXPECT_FALSE(file.Read().contains_library);
    file = File();
    file.segments[1].p_offset = value;
    EXPECT_FALSE(file.Read().contains_library);
    file = File();
    file.segments[1].p_filesz = value;
    EXPECT_FALSE(file.Read().contains_library);
    file = File();
    file.segments[2].p_filesz = value;
    EXPECT_THAT(file.Read().needed, IsEmpty());
    file = File();
    file.SetDynamic(0, DT_STRTAB, value);
    EXPECT_THAT(file.Read().needed, IsEmpty());
    file = File();
    file.SetDynamic(1, DT_STRSZ, value);
    EXPECT_THAT(file.Read().needed, IsEmpty());
  }
  File file;
  file.notes.first.n_namesz = 0xffffffff;
  EXPECT_FALSE(file.Read().contains_library);
  file.notes.first.n_namesz = 4;
  file.notes.first.n_descsz = 0xffffffff;
  EXPECT_FALSE(file.Read().contains_library);
}

TEST(ModuleLinksTest, ReadsNothingFromFilesOfOtherKinds) {
  EXPECT_THAT(ReadModuleLinks(MemoryInput("")).needed, IsEmpty());
  EXPECT_THAT(ReadModuleLinks(MemoryInput("\177ELF")).needed, IsEmpty());
  File file;
  file.header.e_ident[EI_CLASS] ^= 3;
  EXPECT_FALSE(file.Read().contains_library);
}

// The address sanitizer finds accesses out of range.
TEST(ModuleLinksTest, ReadsDamagedFilesWithinTheirBounds) {
  const std::string whole = File().Bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    ReadModuleLinks(MemoryInput(std::string_view(whole).substr(0, size)));
  }
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int change = 0; change < 3; ++change) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    ReadModuleLinks(MemoryInput(damaged));
  }
}

TEST(ModuleLinksTest, RejectsAFileWithTheNoteAndIgnoresWhatItCannotRead) {
  const TempDir dir;
  const std::string module = dir.Write("module.so", File().Bytes());
  try {
    CheckModuleLinks(module);
    ADD_FAILURE() << "no error";
  } catch (const EnforceNotMet& error) {
    EXPECT_EQ(error.message(),
              "module \"" + module +
                  "\" contains a copy of the library, want a module that uses the copy of the "
                  "program; link the module with caffe2rt::module, or with caffe2rt::module and "
                  "caffe2rt::compat_headers if it includes Caffe2's headers, instead of "
                  "caffe2rt::caffe2rt or caffe2rt::compat");
  }
  EXPECT_NO_THROW(CheckModuleLinks(dir.Write("text.so", "no library")));
  EXPECT_NO_THROW(CheckModuleLinks(dir.path("missing.so")));
  EXPECT_NO_THROW(CheckModuleLinks("libcaffe2_no_such_module.so"));
  EXPECT_NO_THROW(CheckModuleLinks(dir.path()));
  EXPECT_NO_THROW(CheckModuleLinks("/dev/zero"));
}

TEST(ModuleLinksTest, RejectsAModuleThatNeedsAnotherSharedLibcaffe2rt) {
  File file;
  file.notes.second_owner[0] = 'C';
  std::memcpy(file.strings + 11, "libcaffe2rt.so.9.9", 18);
  const TempDir dir;
  const std::string module = dir.Write("module.so", file.Bytes());
  try {
    CheckModuleLinks(module);
    ADD_FAILURE() << "no error";
  } catch (const EnforceNotMet& error) {
    EXPECT_THAT(error.message(),
                testing::StartsWith("module \"" + module +
                                    "\" links \"libcaffe2rt.so.9.9\", which would be a second "
                                    "copy of the library in this program; link the module with "
                                    "caffe2rt::module,"));
  }
}

std::string ErrorOf(const std::string& module) {
  try {
    CheckModuleLinks(module);
    return "";
  } catch (const EnforceNotMet& error) {
    return error.message();
  }
}

TEST(ModuleLinksTest, FindsACopyInALibraryThatTheModuleNeeds) {
  const TempDir dir;
  dir.Write("lib/libcaffe2_links_test_copy.so", ElfFile({.has_note = true}));
  const std::string direct =
      dir.Write("direct.so", ElfFile({.needed = {"libc.so.6", "libcaffe2_links_test_copy.so"},
                                      .folders = "/nowhere:$ORIGIN/lib"}));
  EXPECT_THAT(ErrorOf(direct),
              testing::StartsWith("module \"" + direct + "\" needs \"" + dir.path() +
                                  "/lib/libcaffe2_links_test_copy.so\", which contains a copy of "
                                  "the library, want one that uses the copy of the program; "));
  // Through another library, which has the folder from the module's DT_RPATH.
  dir.Write("lib/libcaffe2_links_test_between.so",
            ElfFile({.needed = {"libcaffe2_links_test_copy.so"}}));
  const std::string module =
      dir.Write("module.so", ElfFile({.needed = {"libcaffe2_links_test_between.so"},
                                      .folders = "${ORIGIN}/lib",
                                      .folders_tag = DT_RPATH}));
  EXPECT_THAT(ErrorOf(module),
              testing::HasSubstr("libcaffe2_links_test_copy.so\", which contains"));
  // A DT_RUNPATH is for the libraries of its own file only.
  const std::string other =
      dir.Write("other.so",
                ElfFile({.needed = {"libcaffe2_links_test_between.so"}, .folders = "$ORIGIN/lib"}));
  EXPECT_EQ(ErrorOf(other), "");
}

TEST(ModuleLinksTest, LibrariesThatNeedEachOtherAreReadOnce) {
  const TempDir dir;
  for (const auto& [name, needs] : {std::pair("a", "b"), std::pair("b", "a")}) {
    dir.Write(std::string("libcaffe2_links_test_") + name + ".so",
              ElfFile({.needed = {std::string("libcaffe2_links_test_") + needs + ".so"},
                       .folders = "$ORIGIN"}));
  }
  EXPECT_EQ(ErrorOf(dir.path("libcaffe2_links_test_a.so")), "");
}

TEST(ModuleLinksTest, WhatIsNoLibraryIsNeededWithoutHarm) {
  const TempDir dir;
  dir.Write("lib/libcaffe2_links_test_text.so", "no shared library, but it names caffe2rt");
  dir.Write("lib/libcaffe2_links_test_empty.so", "");
  dir.Write("lib/libcaffe2_links_test_copy.so", ElfFile({.has_note = true}));
  const std::string module =
      dir.Write("module.so",
                ElfFile({.needed = {"libcaffe2_links_test_text.so", "libcaffe2_links_test_empty.so",
                                    "libcaffe2_links_test_absent.so"},
                         .folders = "$ORIGIN/lib"}));
  EXPECT_EQ(ErrorOf(module), "");
  // Those after it are still read.
  const std::string other =
      dir.Write("other.so",
                ElfFile({.needed = {"libcaffe2_links_test_text.so", "libcaffe2_links_test_copy.so"},
                         .folders = ":$ORIGIN/lib:"}));
  EXPECT_THAT(ErrorOf(other), testing::HasSubstr("libcaffe2_links_test_copy.so\", which contains"));
}

TEST(ModuleLinksTest, TheFirstFolderThatHasALibraryCounts) {
  const TempDir dir;
  dir.Write("good/libcaffe2_links_test_lib.so", ElfFile({}));
  dir.Write("copy/libcaffe2_links_test_lib.so", ElfFile({.has_note = true}));
  std::filesystem::create_directories(dir.path("folder/libcaffe2_links_test_lib.so"));
  const auto error_with = [&](const std::string& folders) {
    return ErrorOf(dir.Write(
        "module.so", ElfFile({.needed = {"libcaffe2_links_test_lib.so"}, .folders = folders})));
  };
  EXPECT_EQ(error_with("$ORIGIN/good:$ORIGIN/copy"), "");
  EXPECT_THAT(error_with("$ORIGIN/copy:$ORIGIN/good"), testing::HasSubstr("/copy/libcaffe2"));
  EXPECT_EQ(error_with("$ORIGIN/folder:$ORIGIN/good"), "") << "a folder is no library";
  EXPECT_THAT(error_with("$ORIGIN/folder:" + dir.path("copy")), testing::HasSubstr("/copy/lib"));
  // A path is taken as it is.
  EXPECT_THAT(ErrorOf(dir.Write("path.so",
                                ElfFile({.needed = {dir.path("copy/libcaffe2_links_test_lib.so")},
                                         .folders = "$ORIGIN/good"}))),
              testing::HasSubstr("/copy/libcaffe2_links_test_lib.so\", which contains"));
}

}  // namespace
}  // namespace caffe2rt::test::module_links_test
