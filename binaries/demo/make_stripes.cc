// make_stripes DIR: writes the demo (nets, labels, eight images) to DIR. binaries/demo/stripes is
// its output; a test regenerates the files and compares them.

#include <png.h>

#include <cstring>
#include <filesystem>
#include <string>

#include "binaries/demo/stripes.h"
#include "binaries/program_main.h"
#include "caffe2_core/base/enforce.h"
#include "caffe2_core/io/proto_file.h"

namespace caffe2rt::demo {
namespace {

void WritePng(const std::string& path, const StripesImage& stripes) {
  png_image image;
  std::memset(&image, 0, sizeof(image));
  image.version = PNG_IMAGE_VERSION;
  image.width = kImageSize;
  image.height = kImageSize;
  image.format = PNG_FORMAT_RGB;
  CAFFE_ENFORCE(
      png_image_write_to_file(&image, path.c_str(), 0, stripes.rgb.data(), 0, nullptr) != 0,
      "cannot write \"", path, "\": ", image.message);
}

int WriteDemo(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one folder");
  const std::filesystem::path dir = line.positional()[0];
  std::filesystem::create_directories(dir / "images");
  WriteProtoToBinaryFile(StripesInitNet(), (dir / "init_net.pb").string());
  WriteProtoToBinaryFile(StripesPredictNet(), (dir / "predict_net.pb").string());
  std::string labels;
  for (const std::string& name : DirectionNames()) labels += name + "\n";
  WriteStringToFile(labels, (dir / "labels.txt").string().c_str());
  for (int direction = 0; direction < kDirections; ++direction) {
    for (uint32_t seed = 1; seed <= 2; ++seed) {
      std::string name = DirectionNames()[static_cast<size_t>(direction)];
      name = MakeString(name.substr(0, name.find(' ')), "_", seed, ".png");
      WritePng((dir / "images" / name).string(), DrawStripes(direction, seed));
    }
  }
  return 0;
}

}  // namespace
}  // namespace caffe2rt::demo

int main(int argc, char** argv) {
  return caffe2rt::ProgramMain({.name = "make_stripes",
                                .purpose = "writes the demo's nets, labels and images to DIR",
                                .usage = "DIR",
                                .options = {},
                                .notes = "example:\n  make_stripes stripes\n",
                                .run = &caffe2rt::demo::WriteDemo},
                               argc, argv);
}
