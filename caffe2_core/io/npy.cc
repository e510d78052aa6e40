// The format: "\x93NUMPY", version (major, minor), header size (uint16; uint32 from version 2), the
// text of a Python dict, then the elements. The dict is, for example,
//   {'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }
#include "caffe2_core/io/npy.h"

#include <absl/strings/ascii.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <new>

#include "caffe2_core/base/checked_math.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/memory_budget.h"
#include "caffe2_core/io/atomic_file.h"
#include "caffe2_core/io/npy_elements.h"

namespace caffe2rt {
namespace {

using namespace std::string_view_literals;

static_assert(std::endian::native == std::endian::little, "the files are written little endian");

constexpr std::string_view kMagic = "\x93NUMPY"sv;
constexpr size_t kMaxHeaderBytes = 1 << 20;

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<int64_t> shape;
};

using internal::NpyElementType;

// Parses the header's dict, which may also be written by hand.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, const std::string& subject)
      : text_(text), subject_(subject) {}

  Header Parse() {
    Header header;
    bool descr = false, order = false, shape = false;
    Expect('{');
    while (!TakeIf('}')) {
      const std::string key = String();
      Expect(':');
      if (key == "descr") {
        SkipSpace();
        if (at_ < text_.size() && text_[at_] == '[') Fail("it is an array of records");
        header.descr = String();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = Bool();
        order = true;
      } else if (key == "shape") {
        header.shape = Shape();
        shape = true;
      } else {
        Fail("its header has the unknown key '" + key + "'");
      }
      if (!TakeIf(',')) {
        Expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) Fail("its header lacks descr, fortran_order or shape");
    return header;
  }

 private:
  [[noreturn]] void Fail(const std::string& reason) const {
    CAFFE_THROW("cannot read \"", subject_, "\" as .npy: ", reason);
  }
  void SkipSpace() {
    while (at_ < text_.size() && absl::ascii_isspace(text_[at_])) ++at_;
  }
  bool TakeIf(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void Expect(char c) {
    if (!TakeIf(c)) Fail(std::string("its header is not a dict: want '") + c + "'");
  }
  std::string String() {
    SkipSpace();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) {
      Fail("its header is not a dict with string keys");
    }
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) Fail("its header has an unterminated string");
    const std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }
  bool Bool() {
    SkipSpace();
    for (const auto& [word, value] : {std::pair("True"sv, true), std::pair("False"sv, false)}) {
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    Fail("its fortran_order is neither True nor False");
  }
  std::vector<int64_t> Shape() {
    std::vector<int64_t> shape;
    Expect('(');
    while (!TakeIf(')')) {
      shape.push_back(Integer());
      if (shape.size() > Tensor::kMaxRank) Fail(MakeString("its rank is above ", Tensor::kMaxRank));
      TakeIf('L');  // Python 2
      if (!TakeIf(',')) {
        Expect(')');
        break;
      }
    }
    return shape;
  }
  int64_t Integer() {
    SkipSpace();
    int64_t value = 0;
    const size_t begin = at_;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      value = CheckedAdd<int64_t>(CheckedMultiply<int64_t>(value, 10), text_[at_++] - '0');
    }
    if (at_ == begin) Fail("its shape has a dimension that is not a number");
    return value;
  }

  const std::string_view text_;
  const std::string& subject_;
  size_t at_ = 0;
};

const NpyElementType& TypeOf(const std::string& descr, const std::string& subject) {
  const std::string name = descr.empty() ? descr : descr.substr(1);
  const bool order = !descr.empty() && "<>|="sv.find(descr[0]) != std::string_view::npos;
  for (const NpyElementType& type : internal::NpyElementTypes()) {
    if (order && name == type.name) return type;
  }
  const char kind = name.empty() ? ' ' : name[0];
  const char* reason = kind == 'S' || kind == 'U' || kind == 'a' ? "strings of fixed width"
                       : kind == 'O'                             ? "pickled Python objects"
                       : kind == 'c'                             ? "complex numbers"
                       : kind == 'M' || kind == 'm'              ? "dates or times"
                                                                 : "of no known type";
  CAFFE_THROW("cannot read \"", subject, "\": its elements ('", descr, "') are ", reason,
              ", want bool, integers or floating point");
}

// The width in bytes of each string of a tensor of strings in a file: that of the longest string.
size_t StringWidth(const Tensor& tensor) {
  size_t width = 1;
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const std::string& text = tensor.data<std::string>()[i];
    CAFFE_ENFORCE(text.empty() || text.back() != '\0', "cannot write string ", i,
                  " as .npy: it ends with a zero byte, which NumPy drops");
    width = std::max(width, text.size());
  }
  constexpr size_t kMaxBytes = size_t{1} << 31;
  CAFFE_ENFORCE_LE(CheckedMultiply<size_t>(width, static_cast<size_t>(tensor.numel())), kMaxBytes,
                   "bytes of strings, each padded to the longest, in a .npy file");
  return width;
}

void AppendStrings(const Tensor& tensor, size_t width, std::string* bytes) {
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const std::string& text = tensor.data<std::string>()[i];
    bytes->append(text).append(width - text.size(), '\0');
  }
}

std::string DescrOf(const Tensor& tensor) {
  if (tensor.IsType<std::string>()) return MakeString("|S", StringWidth(tensor));
  for (const NpyElementType& type : internal::NpyElementTypes()) {
    if (type.meta == tensor.dtype()) {
      return MakeString(type.file_bytes == 1 ? '|' : '<', type.name);
    }
  }
  CAFFE_THROW("cannot write a tensor of type ", tensor.dtype().name(),
              " as .npy: want bool, integers, floating point or strings");
}

std::string ShapeText(const Tensor& tensor) {
  const std::string dims = absl::StrJoin(tensor.sizes(), ", ");
  return tensor.dim() == 1 ? "(" + dims + ",)" : "(" + dims + ")";
}

}  // namespace

Tensor ParseNpy(std::string_view bytes, const std::string& subject) try {
  CAFFE_ENFORCE(bytes.substr(0, kMagic.size()) == kMagic && bytes.size() >= 12, "cannot read \"",
                subject, "\" as .npy: it does not begin with the signature of .npy");
  const int major = static_cast<unsigned char>(bytes[6]);
  CAFFE_ENFORCE(major >= 1 && major <= 3, "cannot read \"", subject, "\" as .npy: version ", major,
                ", want 1 to 3");
  size_t begin = 10, size = 0;
  if (major == 1) {
    uint16_t size16;
    std::memcpy(&size16, bytes.data() + 8, sizeof(size16));
    size = size16;
  } else {
    uint32_t size32;
    std::memcpy(&size32, bytes.data() + 8, sizeof(size32));
    size = size32;
    begin = 12;
  }
  CAFFE_ENFORCE(size <= kMaxHeaderBytes && size <= bytes.size() - begin, "cannot read \"", subject,
                "\" as .npy: it is truncated in its header");
  const Header header = HeaderParser(bytes.substr(begin, size), subject).Parse();
  const NpyElementType& type = TypeOf(header.descr, subject);
  const std::string_view data = bytes.substr(begin + size);
  // Compute the size in double, because the shape in a hostile header may overflow any integer
  // type.
  double expected = static_cast<double>(type.file_bytes);
  for (const int64_t dim : header.shape) expected *= static_cast<double>(dim);
  CAFFE_ENFORCE(
      expected < 9e15 && static_cast<int64_t>(expected) == static_cast<int64_t>(data.size()),
      "cannot read \"", subject, "\" as .npy: ", data.size(),
      " bytes of data do not match an array of type ", header.descr, " and shape ",
      IntArrayRef(header.shape));
  const TransientWrites scope;
  Tensor tensor(header.shape, CPU);
  char* const to = static_cast<char*>(tensor.raw_mutable_data(type.meta));
  internal::CopyNpyElements(type, header.descr[0] == '>', header.fortran_order, header.shape, data,
                            to, subject);
  return tensor;
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

Tensor ReadNpy(const std::string& path) try {
  return ParseNpy(ReadWholeFile(path), path);
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

internal::NpyParts internal::NpyPartsOf(const Tensor& tensor) {
  CAFFE_ENFORCE(tensor.IsShaped() && tensor.dtype().IsSet(),
                "cannot write a tensor without shape or type as .npy");
  std::string header = MakeString("{'descr': '", DescrOf(tensor),
                                  "', 'fortran_order': False, 'shape': ", ShapeText(tensor), ", }");
  constexpr size_t kAlignment = 64;
  const size_t unpadded = kMagic.size() + 4 + header.size() + 1;
  header.append((kAlignment - unpadded % kAlignment) % kAlignment, ' ');
  header += '\n';
  const uint16_t header_size = static_cast<uint16_t>(header.size());
  NpyParts parts{.head = std::string(kMagic), .host = Tensor(CPU), .data = {}};
  parts.head += '\1';
  parts.head += '\0';
  parts.head.append(reinterpret_cast<const char*>(&header_size), sizeof(header_size));
  parts.head += header;
  if (tensor.numel() == 0) return parts;
  if (tensor.IsType<std::string>()) {
    AppendStrings(tensor, StringWidth(tensor), &parts.head);
    return parts;
  }
  parts.host = tensor.GetDeviceType() == CPU ? tensor : Tensor(tensor, CPU);
  parts.data = {static_cast<const char*>(parts.host.raw_data()), parts.host.nbytes()};
  return parts;
}

std::string NpyBytes(const Tensor& tensor) try {
  internal::NpyParts parts = internal::NpyPartsOf(tensor);
  return std::move(parts.head.append(parts.data));
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

void WriteNpy(const std::string& path, const Tensor& tensor) try {
  const internal::NpyParts parts = internal::NpyPartsOf(tensor);
  AtomicFile file(path);
  file.Write(parts.head);
  file.Write(parts.data);
  file.Commit();
} catch (const std::bad_alloc&) {
  ThrowOutOfMemory();
}

}  // namespace caffe2rt
