// make_stripes DIR: writes the demo (nets, labels, eight images) to DIR. binaries/demo/stripes is
// its output; a test regenerates the files and compares them. make_stripes --train N DIR: draws images
// to train on, in a folder for each direction.

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

// Other images than those of the demo and its test.
void WriteTrainingImages(const std::filesystem::path& dir, int64_t images) {
  constexpr uint32_t kFirstSeed = 1000000;
  for (int direction = 0; direction < kDirections; ++direction) {
    const std::filesystem::path folder = dir / DirectionNames()[static_cast<size_t>(direction)];
    std::filesystem::create_directories(folder);
    for (int64_t i = 0; i < images; ++i) {
      const uint32_t seed = kFirstSeed + static_cast<uint32_t>(i);
      WritePng((folder / MakeString(i, ".png")).string(), DrawStripes(direction, seed));
    }
  }
}

int WriteDemo(const CommandLine& line) {
  CheckPositional(line, 1, 1, "one folder");
  const std::filesystem::path dir = line.positional()[0];
  if (line.Has("train")) {
    WriteTrainingImages(dir, line.Integer("train", 1, 1000000));
    return 0;
  }
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
  return caffe2rt::ProgramMain(
      {.name = "make_stripes",
       .purpose = "writes the demo's nets, labels and images to DIR",
       .usage = "DIR",
       .options = {{"train", "N", "", "instead: N images of each direction to train on"}},
       .notes = "example:\n  make_stripes stripes\n",
       .run = &caffe2rt::demo::WriteDemo},
      argc, argv);
}
