// Reads the weights of Caffe out of an HDF5 file, and writes them as a caffemodel.
//
//   caffe2-read-hdf5 LIMIT <weights.caffemodel.h5 >weights.caffemodel 2>report
//
// Not for users: caffe2_core/import/caffe/hdf5_weights.cc runs it, because libhdf5 must not parse a
// hostile file in the process of the user. The report is "ok", or why there are no weights. The
// process may read only its input, write only its outputs, and take LIMIT bytes of output.
//
// The file has a dataset for each blob, /data/LAYER/INDEX. Names of layers may have slashes. Other
// groups (/diff) are ignored.
#define H5_USE_110_API
#include <fcntl.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <linux/audit.h>
#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kWorkBytes = 512 * kMiB;  // of libhdf5, and of a piece of a dataset
constexpr uint64_t kPieceElements = 1 << 22;
constexpr int kMaxDepth = 16;  // of the groups in /data
constexpr size_t kMaxGroups = 1 << 16, kMaxBlobs = 1 << 16;
constexpr uint64_t kMaxIndex = 255;  // of a blob in its layer
constexpr int kMaxAxes = 32;         // as many as HDF5 has

[[noreturn]] void End(const std::string& report) {
  const ssize_t written = write(STDERR_FILENO, report.data(), report.size());
  _exit(written >= 0 && report == "ok" ? 0 : 1);
}

std::string NumberText(uint64_t number) {
  char text[24];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

// --- limits ---

void Limit(int resource, uint64_t value) {
  const rlimit limit = {.rlim_cur = value, .rlim_max = value};
  (void)setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

void LimitResources(uint64_t file_bytes, uint64_t output_bytes) {
  Limit(RLIMIT_AS, file_bytes + kWorkBytes);
  Limit(RLIMIT_CPU, 60 + (file_bytes + output_bytes) / (32 * kMiB));
  Limit(RLIMIT_FSIZE, output_bytes + kMiB);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_NOFILE, 16);
}

#if defined(__x86_64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr uint32_t kArchitecture = 0;
#endif

// Leaves the calls that use memory and open files; all others fail. A kernel without seccomp has the
// limits above only.
void LimitCalls() {
  constexpr uint32_t kAllowed[] = {
      SYS_read,         SYS_write,        SYS_pread64,        SYS_lseek,         SYS_fstat,
      SYS_close,        SYS_brk,          SYS_mmap,           SYS_munmap,        SYS_mremap,
      SYS_mprotect,     SYS_madvise,      SYS_futex,          SYS_exit,          SYS_exit_group,
      SYS_rt_sigreturn, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_clock_gettime, SYS_getrandom,
      SYS_getpid,       SYS_gettimeofday};
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const uint32_t call : kAllowed) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()),
                              .filter = filter.data()};
  if (kArchitecture == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

// --- the file ---

// An identifier of HDF5, closed by its own function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  const hid_t id_;
  herr_t (*const close_)(hid_t);
};

// A layer, by the path of its group below /data.
struct Blob {
  std::string path;
  std::vector<hsize_t> dims = {};
  uint64_t elements = 1;
  bool present = false;
};
using Layers = std::map<std::string, std::map<uint64_t, Blob>>;

struct Walk {
  Layers layers;
  size_t groups = 0, blobs = 0;
  uint64_t bytes = 0, limit = 0;  // of the output
};

// The shape of a dataset. Its elements must be numbers with a fraction, in this file.
Blob ReadShape(hid_t dataset, const std::string& path, Walk* walk) {
  const Handle type(H5Dget_type(dataset), H5Tclose);
  if (!type || H5Tget_class(type) != H5T_FLOAT) {
    End("dataset \"" + path + "\" has elements that are not floating-point numbers");
  }
  const Handle plist(H5Dget_create_plist(dataset), H5Pclose);
  if (!plist || H5Pget_external_count(plist) != 0 || H5Pget_layout(plist) == H5D_VIRTUAL) {
    End("dataset \"" + path + "\" has its elements in other files");
  }
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space) : -1;
  if (rank < 0 || rank > kMaxAxes || H5Sget_simple_extent_type(space) == H5S_NULL) {
    End("dataset \"" + path + "\" has no shape");
  }
  Blob blob = {
      .path = path, .dims = std::vector<hsize_t>(static_cast<size_t>(rank)), .present = true};
  if (rank > 0 && H5Sget_simple_extent_dims(space, blob.dims.data(), nullptr) != rank) {
    End("dataset \"" + path + "\" has no shape");
  }
  for (const hsize_t dim : blob.dims) {
    if (__builtin_mul_overflow(blob.elements, dim, &blob.elements)) blob.elements = UINT64_MAX / 8;
  }
  if (blob.elements > walk->limit / 4 || walk->bytes + blob.elements * 4 > walk->limit) {
    End("its datasets have more than " + NumberText(walk->limit) + " bytes, the last is \"" + path +
        "\"");
  }
  walk->bytes += blob.elements * 4;
  return blob;
}

extern "C" herr_t AddLink(hid_t, const char* name, const H5L_info_t* info, void* data) {
  auto* names = static_cast<std::vector<std::string>*>(data);
  if (names->size() > kMaxBlobs) return -1;
  // Soft links and those to other files are not followed.
  if (info->type == H5L_TYPE_HARD) names->push_back(name);
  return 0;
}

std::vector<std::string> LinksOf(hid_t group, const std::string& path) {
  std::vector<std::string> names;
  if (H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, AddLink, &names) < 0) {
    End("group \"" + path + "\" cannot be read, or has too many members");
  }
  return names;
}

void ReadGroup(hid_t parent, const std::string& path, const std::string& layer, int depth,
               Walk* walk);

void ReadMember(hid_t group, const std::string& name, const std::string& path,
                const std::string& layer, int depth, Walk* walk) {
  const std::string inner = path + "/" + name;
  const Handle object(H5Oopen(group, name.c_str(), H5P_DEFAULT), H5Oclose);
  if (!object) End("\"" + inner + "\" cannot be read");
  const H5I_type_t type = H5Iget_type(object);
  if (type == H5I_GROUP) {
    return ReadGroup(object, inner, layer.empty() ? name : layer + "/" + name, depth + 1, walk);
  }
  if (type != H5I_DATASET) return;
  uint64_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size() || index > kMaxIndex ||
      layer.empty()) {
    End("dataset \"" + inner +
        "\" is not a blob of a layer, want /data/LAYER/0, /data/LAYER/1 and so on");
  }
  if (++walk->blobs > kMaxBlobs) End("it has more than " + NumberText(kMaxBlobs) + " datasets");
  walk->layers[layer][index] = ReadShape(object, inner, walk);
}

void ReadGroup(hid_t group, const std::string& path, const std::string& layer, int depth,
               Walk* walk) {
  if (depth > kMaxDepth || ++walk->groups > kMaxGroups) {
    End("group \"" + path + "\" is nested too deep, or there are too many");
  }
  for (const std::string& name : LinksOf(group, path)) {
    ReadMember(group, name, path, layer, depth, walk);
  }
}

// --- the caffemodel ---

std::string Varint(uint64_t value) {
  std::string bytes;
  for (; value > 127; value >>= 7) bytes.push_back(static_cast<char>((value & 127) | 128));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}
// The tag and the length of a field of bytes.
std::string Head(uint64_t field, uint64_t bytes) { return Varint(field << 3 | 2) + Varint(bytes); }

void Write(const void* data, size_t size) {
  const char* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = write(STDOUT_FILENO, from, size);
    if (count <= 0) End("the weights cannot be stored");
    from += count;
    size -= static_cast<size_t>(count);
  }
}
void Write(const std::string& bytes) { Write(bytes.data(), bytes.size()); }

// The fields in front of the elements of a blob.
std::string BlobHead(const Blob& blob) {
  std::string dims;
  for (const hsize_t dim : blob.dims) dims += Varint(dim);
  // What the file does not have gets a shape that fits no layer.
  if (!blob.present) dims = Varint(0);
  const std::string shape = Head(1, dims.size()) + dims;
  const std::string head = Head(7, shape.size()) + shape;
  return blob.present ? head + Head(5, blob.elements * 4) : head;
}

void WriteElements(hid_t file, const Blob& blob) {
  if (!blob.present || blob.elements == 0) return;
  const Handle dataset(H5Dopen2(file, blob.path.c_str(), H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(dataset), H5Sclose);
  const std::string failed = "dataset \"" + blob.path + "\" cannot be read";
  const hsize_t rows = blob.dims.empty() ? 1 : blob.dims[0];
  const uint64_t row = blob.elements / rows;
  const hsize_t step = std::clamp<hsize_t>(kPieceElements / row, 1, rows);
  std::vector<float> piece(step * row);
  std::vector<hsize_t> start(blob.dims.size(), 0), count = blob.dims;
  for (hsize_t i = 0; i < rows; i += step) {
    const hsize_t taken = std::min(step, rows - i);
    if (!blob.dims.empty()) {
      start[0] = i;
      count[0] = taken;
      if (H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
          0)
        End(failed);
    }
    const hsize_t elements = taken * row;
    const Handle memory(H5Screate_simple(1, &elements, nullptr), H5Sclose);
    if (H5Dread(dataset, H5T_NATIVE_FLOAT, memory, space, H5P_DEFAULT, piece.data()) < 0)
      End(failed);
    Write(piece.data(), elements * sizeof(float));
  }
}

void WriteLayer(hid_t file, const std::string& name, const std::map<uint64_t, Blob>& found) {
  std::vector<Blob> blobs(found.rbegin()->first + 1);
  for (const auto& [index, blob] : found) blobs[index] = blob;
  const std::string head = Head(1, name.size()) + name;
  uint64_t bytes = head.size();
  for (const Blob& blob : blobs) {
    const uint64_t size = BlobHead(blob).size() + (blob.present ? blob.elements * 4 : 0);
    bytes += Head(7, size).size() + size;
  }
  Write(Head(100, bytes) + head);
  for (const Blob& blob : blobs) {
    const std::string blob_head = BlobHead(blob);
    Write(Head(7, blob_head.size() + (blob.present ? blob.elements * 4 : 0)) + blob_head);
    WriteElements(file, blob);
  }
}

std::string NoDataText(hid_t file) {
  if (H5Lexists(file, "learned_net", H5P_DEFAULT) > 0 ||
      H5Lexists(file, "history", H5P_DEFAULT) > 0) {
    return "it is a solverstate of Caffe; give the .caffemodel.h5 of the same iteration";
  }
  return "it has no group /data, so that it is not weights of Caffe";
}

void Convert(void* bytes, size_t size, uint64_t limit) {
  (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const Handle file(
      H5LTopen_file_image(bytes, size, H5LT_FILE_IMAGE_DONT_COPY | H5LT_FILE_IMAGE_DONT_RELEASE),
      H5Fclose);
  if (!file) End("it cannot be opened, so that it is damaged or no HDF5 file");
  if (H5Lexists(file, "data", H5P_DEFAULT) <= 0) End(NoDataText(file));
  const Handle data(H5Gopen2(file, "data", H5P_DEFAULT), H5Gclose);
  if (!data) End("group \"/data\" cannot be read");
  Walk walk;
  walk.limit = limit;
  ReadGroup(data, "/data", "", 0, &walk);
  if (walk.layers.empty()) End("group \"/data\" has no layers with blobs");
  for (const auto& [name, blobs] : walk.layers) WriteLayer(file, name, blobs);
}

}  // namespace

int main(int argc, char** argv) {
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  (void)clearenv();  // libhdf5 would load plugins that it names
  (void)syscall(SYS_close_range, 3U, ~0U, 0U);
  uint64_t limit = 0;
  const std::string_view text = argc == 2 ? argv[1] : "";
  if (std::from_chars(text.data(), text.data() + text.size(), limit).ec != std::errc()) {
    End("usage: caffe2-read-hdf5 LIMIT <HDF5 >CAFFEMODEL 2>REPORT; caffe2 run --weights runs it");
  }
  struct stat status = {};
  if (fstat(STDIN_FILENO, &status) != 0 || status.st_size <= 0) End("it is not a regular file");
  const auto size = static_cast<size_t>(status.st_size);
  void* const bytes = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
  if (bytes == MAP_FAILED) End("it cannot be mapped");
  LimitResources(size, limit);
  LimitCalls();
  Convert(bytes, size, limit);
  End("ok");
}
