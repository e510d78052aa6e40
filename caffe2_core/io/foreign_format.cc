#include "caffe2_core/io/foreign_format.h"

#include <absl/strings/ascii.h>

namespace caffe2rt {
namespace {

using namespace std::string_view_literals;

struct Signature {
  std::string_view bytes;
  size_t at;
  const char* description;
};

// No file that this library reads has these bytes there.
constexpr Signature kSignatures[] = {
    {"version https://git-lfs.github.com/"sv, 0,
     "a Git LFS pointer, not the file itself; \"git lfs pull\" in its repository fetches the file"},
    {"\x1f\x8b"sv, 0, "a gzip archive; gunzip or tar xf unpacks it"},
    {"BZh91AY&SY"sv, 0, "a bzip2 archive; bunzip2 or tar xf unpacks it"},
    {"\xfd"
     "7zXZ\0"sv,
     0, "an xz archive; unxz or tar xf unpacks it"},
    {"\x28\xb5\x2f\xfd"sv, 0, "a zstd archive; unzstd or tar xf unpacks it"},
    {"7z\xbc\xaf\x27\x1c"sv, 0, "a 7z archive; 7z x unpacks it"},
    {"Rar!\x1a\x07"sv, 0, "a RAR archive"},
    {"ustar"sv, 257, "a tar archive; tar xf unpacks it"},
    {"TFL3"sv, 4, "a TensorFlow Lite model, which is not supported"},
    {"GGUF"sv, 0, "a GGUF model, which is not supported"},
    {"\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19."sv, 0,
     "a PyTorch file; export the model to Caffe2 with PyTorch"},
    {"\177ELF"sv, 0, "a program or shared library; --module loads modules"},
    {"%PDF-"sv, 0, "a PDF document"},
    {"GIF8"sv, 0, "a GIF image; convert it to JPEG or PNG"},
    {"WEBPVP8"sv, 8, "a WebP image; convert it to JPEG or PNG"},
    {"II*\0"sv, 0, "a TIFF image; convert it to JPEG or PNG"},
    {"MM\0*"sv, 0, "a TIFF image; convert it to JPEG or PNG"},
    {"ftyphei"sv, 4, "a HEIC image; convert it to JPEG or PNG"},
    {"ftypmif1"sv, 4, "a HEIC image; convert it to JPEG or PNG"},
    {"ftypavif"sv, 4, "an AVIF image; convert it to JPEG or PNG"},
    {"ftyp"sv, 4, "a video; extract its frames as JPEG or PNG"},
    {"\x1a\x45\xdf\xa3"sv, 0, "a video; extract its frames as JPEG or PNG"},
    {"SQLite format 3\0"sv, 0, "an SQLite database"},
    {"MATLAB 5.0 MAT-file"sv, 0, "a MATLAB file"},
};

constexpr char kPickle[] =
    "a Python pickle; convert it first (Detectron's weights: tools/convert_pkl_to_pb.py)";

bool HasBytesAt(std::string_view content, size_t at, std::string_view bytes) {
  return content.size() >= at + bytes.size() && content.substr(at, bytes.size()) == bytes;
}

// Python's pickle: protocols 2 to 5 have a header, and most begin with an empty dictionary or list,
// a tuple, a class or a frame. Those of protocol 0 are text.
bool IsPickle(std::string_view content) {
  if (content.size() > 3 && content[0] == '\x80' && content[1] >= 2 && content[1] <= 5)
    return "}](c\x95X\x8cN"sv.find(content[2]) != std::string_view::npos;
  for (const std::string_view start : {"(dp0\n"sv, "(dp1\n"sv, "(lp0\n"sv, "(lp1\n"sv,
                                       "ccopy_reg\n"sv, "cnumpy.core"sv, "(i__main__"sv}) {
    if (content.starts_with(start)) return true;
  }
  return false;
}

std::string TextFormat(std::string_view content) {
  if (content.starts_with("\xff\xfe"sv) || content.starts_with("\xfe\xff"sv))
    return "text in UTF-16; save it as UTF-8";
  if (content.starts_with("\xef\xbb\xbf"sv)) content.remove_prefix(3);
  std::string lower = absl::AsciiStrToLower(std::string(content));
  absl::StripLeadingAsciiWhitespace(&lower);
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html") ||
      lower.starts_with("<head"))
    return "an HTML page, such as the error page of a failed download; download the file again";
  if (lower.starts_with("<?xml")) return "an XML file";
  if (lower.starts_with("{") || lower.starts_with("[")) {
    std::string rest = lower.substr(1);
    absl::StripLeadingAsciiWhitespace(&rest);
    if (rest.starts_with("\"") || rest.starts_with("{") || rest.starts_with("["))
      return "a JSON file";
  }
  if (content.starts_with("#!")) return "a script";
  return "";
}

}  // namespace

std::string ForeignFormat(std::string_view beginning) {
  constexpr size_t kMostBytes = 1024;
  const std::string_view content = beginning.substr(0, kMostBytes);
  for (const Signature& signature : kSignatures) {
    if (HasBytesAt(content, signature.at, signature.bytes)) return signature.description;
  }
  if (IsPickle(content)) return kPickle;
  return TextFormat(content);
}

}  // namespace caffe2rt
