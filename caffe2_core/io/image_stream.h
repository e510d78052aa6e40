#pragma once
// Splits a stream of JPEG and PNG images that follow each other, such as the frames that ffmpeg
// writes to a pipe (-f image2pipe). Each image is available as soon as its last byte has arrived.
//
//   ImageStream frames("standard input", [](char* to, size_t most) { return read(0, to, most); });
//   for (std::string bytes; frames.Next(&bytes);) DecodeImage(bytes, "a frame");

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#pragma GCC visibility push(default)
namespace caffe2rt {

// Not thread safe.
class ImageStream {
 public:
  // Reads up to `most` bytes: returns their number, 0 at the end, or -1 with errno set.
  using Reader = std::function<ssize_t(char* to, size_t most)>;

  // `subject` names the stream in errors.
  ImageStream(std::string subject, Reader read);

  // Returns the bytes of the next image, and false at the end of the stream. Waits for the image to
  // be complete, and for no byte behind it. The image itself may be damaged. THROWS if the next
  // bytes are the beginning of no image, if the stream ends within an image, or if an image has
  // more than 2 GiB; there is no next image then.
  bool Next(std::string* image);

  const std::string& subject() const { return subject_; }

 private:
  bool HasBytes(size_t count);
  void Require(size_t count);
  size_t EndOfPng();
  size_t EndOfJpeg();

  const std::string subject_;
  const Reader read_;
  std::string bytes_;    // from the beginning of the next image
  bool at_end_ = false;  // the reader has no more bytes
  int64_t images_ = 0;   // returned so far
};

}  // namespace caffe2rt
#pragma GCC visibility pop
