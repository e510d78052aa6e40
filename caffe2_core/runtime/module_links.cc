#include "caffe2_core/runtime/module_links.h"

#include <absl/strings/str_replace.h>
#include <absl/strings/str_split.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "caffe2_core/base/enforce.h"

namespace caffe2rt {
namespace {

using Header = ElfW(Ehdr);
using Segment = ElfW(Phdr);
using Dynamic = ElfW(Dyn);
using Note = ElfW(Nhdr);

// Limits of tables that are read as a whole. Those of real libraries have a few KiB, except that the
// table of strings has the names of all exported symbols.
constexpr uint64_t kMaxTableBytes = 64 << 10;
constexpr uint64_t kMaxStringsBytes = 64 << 20;
constexpr size_t kMaxNameBytes = 4096;

constexpr std::string_view kNoteOwner{"caffe2rt", 9};    // with its NUL
constexpr std::string_view kNameOfLibrary = "caffe2rt";  // in mangled names and in those of C
constexpr std::string_view kLibraryName = "libcaffe2rt.so";
constexpr const char* kAdvice =
    "; link the module with caffe2rt::module, or with caffe2rt::module and "
    "caffe2rt::compat_headers if it includes Caffe2's headers, instead of caffe2rt::caffe2rt or "
    "caffe2rt::compat";

// The elements of a table in the file. Empty if it is out of range or too large.
template <class T>
std::vector<T> ReadTable(const RandomAccessInput& file, uint64_t offset, uint64_t bytes,
                         uint64_t limit_bytes = kMaxTableBytes) {
  const auto size = static_cast<uint64_t>(file.size());
  if (offset > size || bytes > size - offset || bytes > limit_bytes) return {};
  std::vector<T> table(bytes / sizeof(T));
  if (!table.empty()) {
    file.Read(static_cast<int64_t>(offset), table.data(), table.size() * sizeof(T));
  }
  return table;
}

std::vector<Segment> ReadSegments(const RandomAccessInput& file) {
  const std::vector<Header> headers = ReadTable<Header>(file, 0, sizeof(Header));
  if (headers.empty()) return {};
  const Header& header = headers[0];
  constexpr int kClass = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
  constexpr int kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != kClass ||
      header.e_ident[EI_DATA] != kOrder || header.e_phentsize != sizeof(Segment)) {
    return {};
  }
  return ReadTable<Segment>(file, header.e_phoff, uint64_t{header.e_phnum} * sizeof(Segment));
}

// Whether one of the notes in a segment is that of the library.
bool HasLibraryNote(const RandomAccessInput& file, const Segment& segment) {
  const std::vector<char> bytes = ReadTable<char>(file, segment.p_offset, segment.p_filesz);
  const uint64_t align = segment.p_align == 8 ? 8 : 4;
  const auto aligned = [&](uint64_t at) { return (at + align - 1) / align * align; };
  for (uint64_t at = 0; at + sizeof(Note) <= bytes.size();) {
    Note note;
    std::memcpy(&note, bytes.data() + at, sizeof(note));
    const uint64_t owner = at + sizeof(Note);
    if (note.n_namesz > bytes.size() - owner) return false;
    if (std::string_view(bytes.data() + owner, note.n_namesz) == kNoteOwner) return true;
    // The sizes have 32 bits, so that these sums do not overflow.
    at = aligned(aligned(owner + note.n_namesz) + note.n_descsz);
  }
  return false;
}

// The offset in the file of an address in the loaded module, or the largest number if no segment
// contains it.
uint64_t OffsetOf(const std::vector<Segment>& segments, uint64_t address) {
  for (const Segment& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const uint64_t distance = address - segment.p_vaddr;
    if (distance < segment.p_filesz) return segment.p_offset + distance;
  }
  return std::numeric_limits<uint64_t>::max();
}

// The text at `offset` of a table, without its NUL. Nothing if it is out of range or has no end.
std::optional<std::string> TextAt(const std::vector<char>& table, uint64_t offset) {
  if (offset >= table.size()) return std::nullopt;
  const std::string_view rest(table.data() + offset,
                              std::min<size_t>(table.size() - offset, kMaxNameBytes));
  const size_t end = rest.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(rest.substr(0, end));
}

void ReadDynamic(const RandomAccessInput& file, const std::vector<Segment>& segments,
                 const Segment& dynamic_segment, ModuleLinks* links) {
  uint64_t strings = 0, strings_bytes = 0;
  std::vector<std::pair<decltype(Dynamic::d_tag), uint64_t>> texts;
  for (const Dynamic& entry :
       ReadTable<Dynamic>(file, dynamic_segment.p_offset, dynamic_segment.p_filesz)) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) strings_bytes = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH)
      texts.emplace_back(entry.d_tag, entry.d_un.d_val);
  }
  const std::vector<char> table =
      ReadTable<char>(file, OffsetOf(segments, strings), strings_bytes, kMaxStringsBytes);
  const std::string_view names(table.data(), table.size());
  links->may_use_library = names.empty() || names.find(kNameOfLibrary) != names.npos;
  for (const auto& [tag, offset] : texts) {
    const std::optional<std::string> text = TextAt(table, offset);
    if (!text.has_value()) continue;
    if (tag == DT_NEEDED) {
      links->needed.push_back(*text);
    } else {
      std::vector<std::string>& folders = tag == DT_RPATH ? links->rpath : links->runpath;
      folders = absl::StrSplit(*text, ':', absl::SkipEmpty());
    }
  }
  if (!links->runpath.empty()) links->rpath.clear();
}

// Whether the dynamic loader has loaded a library of this name or path.
bool IsLoaded(const std::string& file) {
  void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return false;
  dlclose(handle);
  return true;
}

bool IsRegularFile(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

// The path of the file that dlopen would open, or "". A name without a slash is searched for in the
// folders of the loader, except those that only its cache (/etc/ld.so.cache) lists.
std::string PathOf(const std::string& file) {
  if (file.find('/') != std::string::npos) return IsRegularFile(file) ? file : "";
  Dl_info info{};
  link_map* self = nullptr;
  Dl_serinfo sizes{};
  if (dladdr1(reinterpret_cast<void*>(&PathOf), &info, reinterpret_cast<void**>(&self),
              RTLD_DL_LINKMAP) == 0 ||
      self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &sizes) != 0) {
    return "";
  }
  std::vector<char> memory(sizes.dls_size);  // of operator new, and so aligned for Dl_serinfo
  auto* const folders = reinterpret_cast<Dl_serinfo*>(memory.data());
  folders->dls_size = sizes.dls_size;
  folders->dls_cnt = sizes.dls_cnt;
  if (dlinfo(self, RTLD_DI_SERINFO, folders) != 0) return "";
  for (unsigned i = 0; i < folders->dls_cnt; ++i) {
    std::string path = MakeString(folders->dls_serpath[i].dls_name, "/", file);
    if (IsRegularFile(path)) return path;
  }
  return "";
}

ModuleLinks LinksOf(const std::string& path) try {
  return ReadModuleLinks(FileInput(path));
} catch (const OutOfMemory&) {
  throw;
} catch (const EnforceNotMet&) {
  return {};
}

// `folders` with $ORIGIN replaced by the folder of the file `path`.
std::vector<std::string> Expanded(const std::vector<std::string>& folders,
                                  const std::string& path) {
  std::error_code ignored;
  const std::string origin = std::filesystem::absolute(path, ignored).parent_path().string();
  std::vector<std::string> expanded;
  for (const std::string& folder : folders) {
    expanded.push_back(absl::StrReplaceAll(folder, {{"${ORIGIN}", origin}, {"$ORIGIN", origin}}));
  }
  return expanded;
}

// Follows the libraries that a module needs.
class NeededLibraries {
 public:
  NeededLibraries() {
    if (const char* const folders = std::getenv("LD_LIBRARY_PATH"); folders != nullptr)
      environment_ = absl::StrSplit(folders, ':', absl::SkipEmpty());
  }

  // Calls visit(name, path, links) for each library that is not loaded. The path of one that is not
  // found is "".
  template <class Visit>
  void ForEach(const std::string& path, const ModuleLinks& links, const Visit& visit) {
    std::deque<File> files = {{path, links, {}}};
    for (; !files.empty() && seen_.size() < kMaxLibraries; files.pop_front()) {
      const File& file = files.front();
      std::vector<std::string> rpath = Expanded(file.links.rpath, file.path);
      rpath.insert(rpath.end(), file.inherited.begin(), file.inherited.end());
      const std::vector<std::string> runpath = Expanded(file.links.runpath, file.path);
      // The libraries of a file with a DT_RUNPATH are not searched for in the DT_RPATH of others.
      const std::vector<std::string> first = runpath.empty() ? rpath : std::vector<std::string>();
      for (const std::string& name : file.links.needed) {
        if (!seen_.insert(name).second || IsLoaded(name)) continue;
        const std::string found = Find(name, first, runpath);
        ModuleLinks found_links = found.empty() ? ModuleLinks() : LinksOf(found);
        visit(name, found, found_links);
        if (!found.empty()) files.push_back({found, std::move(found_links), rpath});
      }
    }
  }

 private:
  static constexpr size_t kMaxLibraries = 500;

  struct File {
    std::string path;
    ModuleLinks links;
    std::vector<std::string> inherited;  // the rpath of those that need it
  };

  std::string Find(const std::string& name, const std::vector<std::string>& rpath,
                   const std::vector<std::string>& runpath) const {
    if (name.find('/') != std::string::npos) return IsRegularFile(name) ? name : "";
    for (const auto* folders : {&rpath, &environment_, &runpath}) {
      for (const std::string& folder : *folders) {
        std::string path = MakeString(folder, "/", name);
        if (IsRegularFile(path)) return path;
      }
    }
    return PathOf(name);
  }

  std::vector<std::string> environment_;
  std::set<std::string> seen_;
};

}  // namespace

ModuleLinks ReadModuleLinks(const RandomAccessInput& file) {
  ModuleLinks links;
  const std::vector<Segment> segments = ReadSegments(file);
  for (const Segment& segment : segments) {
    if (segment.p_type == PT_NOTE && HasLibraryNote(file, segment)) links.contains_library = true;
  }
  const auto dynamic = std::find_if(segments.begin(), segments.end(), [](const Segment& segment) {
    return segment.p_type == PT_DYNAMIC;
  });
  if (dynamic != segments.end()) ReadDynamic(file, segments, *dynamic, &links);
  return links;
}

void CheckModuleLinks(const std::string& file) {
  if (IsLoaded(file)) return;
  const std::string path = PathOf(file);
  if (path.empty()) return;
  const ModuleLinks links = LinksOf(path);
  CAFFE_ENFORCE(!links.contains_library, "module \"", file,
                "\" contains a copy of the library, want a module that uses the copy of the "
                "program",
                kAdvice);
  NeededLibraries().ForEach(
      path, links,
      [&](const std::string& name, const std::string& found, const ModuleLinks& found_links) {
        CAFFE_ENFORCE(!name.starts_with(kLibraryName), "module \"", file, "\" links \"", name,
                      "\", which would be a second copy of the library in this program", kAdvice);
        CAFFE_ENFORCE(
            !found_links.contains_library, "module \"", file, "\" needs \"", found,
            "\", which contains a copy of the library, want one that uses the copy of the "
            "program; link it as a module",
            kAdvice);
      });
}

bool MayUseLibrary(const std::string& file) {
  const std::string path = PathOf(file);
  if (path.empty()) return true;
  const ModuleLinks links = LinksOf(path);
  bool may = links.may_use_library;
  if (may) return true;
  NeededLibraries().ForEach(
      path, links, [&may](const std::string&, const std::string&, const ModuleLinks& needed) {
        may = may || needed.may_use_library;
      });
  return may;
}

}  // namespace caffe2rt
