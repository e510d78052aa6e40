#pragma once
// Small ELF files for tests of modules. They have no code: nothing can open them.

#include <elf.h>
#include <link.h>

#include <cstring>
#include <string>
#include <vector>

namespace caffe2rt::test {

struct ElfParts {
  std::vector<std::string> needed = {};  // shared libraries
  std::string folders = {};              // where the loader searches for them
  int64_t folders_tag = DT_RUNPATH;
  bool has_note = false;  // the note of the library (proto/library_note.h)
};

inline std::string ElfFile(const ElfParts& parts) {
  std::string strings(1, '\0');
  std::vector<ElfW(Dyn)> dynamic;
  const auto add = [&](int64_t tag, uint64_t value) {
    ElfW(Dyn)& entry = dynamic.emplace_back();
    entry.d_tag = static_cast<decltype(entry.d_tag)>(tag);
    entry.d_un.d_val = value;
  };
  const auto add_text = [&](int64_t tag, const std::string& text) {
    add(tag, strings.size());
    strings += text + '\0';
  };
  for (const std::string& name : parts.needed) add_text(DT_NEEDED, name);
  if (!parts.folders.empty()) add_text(parts.folders_tag, parts.folders);
  constexpr uint64_t kAddress = 0x10000;
  add(DT_STRTAB, kAddress);
  add(DT_STRSZ, strings.size());
  add(DT_NULL, 0);
  const ElfW(Nhdr) note = {9, 0, 1};
  std::string notes(reinterpret_cast<const char*>(&note), sizeof(note));
  notes.append(parts.has_note ? "caffe2rt" : "anothers").append(4, '\0');

  ElfW(Ehdr) header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_phoff = sizeof(header);
  header.e_phentsize = sizeof(ElfW(Phdr));
  header.e_phnum = 3;
  std::vector<ElfW(Phdr)> segments(3);
  std::string contents;
  const auto set = [&](size_t i, unsigned type, const char* data, size_t bytes) {
    segments[i].p_type = type;
    segments[i].p_offset = sizeof(header) + 3 * sizeof(ElfW(Phdr)) + contents.size();
    segments[i].p_filesz = bytes;
    segments[i].p_align = 4;
    contents.append(data, bytes);
  };
  set(0, PT_LOAD, strings.data(), strings.size());
  segments[0].p_vaddr = kAddress;
  set(1, PT_NOTE, notes.data(), notes.size());
  set(2, PT_DYNAMIC, reinterpret_cast<const char*>(dynamic.data()),
      dynamic.size() * sizeof(ElfW(Dyn)));
  return std::string(reinterpret_cast<const char*>(&header), sizeof(header))
      .append(reinterpret_cast<const char*>(segments.data()), 3 * sizeof(ElfW(Phdr)))
      .append(contents);
}

}  // namespace caffe2rt::test
