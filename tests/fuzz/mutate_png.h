#pragma once
// Lets damaged PNG images pass their checksums, so that the damage reaches the decoder.

#include <string>

namespace caffe2rt::test {

// Sets the CRC of each chunk (length, type, data, CRC) to that of its type and data, up to the end
// or to the first chunk that is longer than the rest of the file.
void CorrectChecksums(std::string* png);

}  // namespace caffe2rt::test
