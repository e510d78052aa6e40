#pragma once
// Records from image files with labels.
//
//   ImageList list = ListClassFolders("flowers");    // flowers/daisy/1.jpg, flowers/rose/2.png, ...
//   ImageRecords(list.files, {.raw = true, .side = 256}, database.Acceptor());

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "caffe2_core/training/record.h"

#pragma GCC visibility push(default)
namespace caffe2rt {

struct LabelledFile {
  std::string name;  // relative to the folder; part of the key
  std::string path;
  int32_t label = 0;
};

struct ImageList {
  std::vector<LabelledFile> files;
  std::vector<std::string> classes;  // names by label; empty for a list file
  std::vector<std::string> skipped;  // files that are no images by the end of their name
};

// A folder with a folder for each class: labels are the numbers of the classes' names in
// alphabetical (byte) order. Files are in the order of their names; files beside the folders, folders in
// them and names that begin with "." do not count. THROWS if there is no class or a class has no image.
ImageList ListClassFolders(const std::string& folder);

// A list of "relative/path.jpg label" lines, as make_image_db took. Paths are relative to `folder`;
// empty lines do not count. THROWS, naming the line, if one has no label.
ImageList ReadImageList(const std::string& list_file, const std::string& folder);

struct ImageRecordOptions {
  // Store decoded pixels instead of the bytes of the file.
  bool raw = false;
  // Of decoded images, in pixels: the length of the shorter side after resizing or, with `warp`, of
  // both sides. 0: the image's own.
  int side = 256;
  bool warp = false;
  bool grey = false;  // decoded images have one channel
  // Called with the name of a file that cannot be read and the error; the file is left out. If null,
  // the error is thrown.
  std::function<void(const std::string& name, const std::string& error)> on_error;
};

// Passes a record for each image, in the order of the list: the key is its number in eight digits,
// "_" and the file's name; the data are a STRING [1] with the bytes of the file or, raw, BYTE
// [height, width, 3] in the order blue, green, red ([height, width] if grey), resized bilinearly;
// the label is an int32 [1]. (That is what make_image_db wrote.) Every file is decoded, on all
// threads of the pool, so that a damaged one is found now: the error names it.
void ImageRecords(const std::vector<LabelledFile>& files, const ImageRecordOptions& options,
                  const RecordAcceptor& accept);

}  // namespace caffe2rt
#pragma GCC visibility pop
