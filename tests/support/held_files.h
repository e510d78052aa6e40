#pragma once
// The files that this process holds open or mapped, to prove that a reader lets go of them.
//
//   ExpectThrows([&] { PackFile::Open(path); }, "damaged");
//   EXPECT_THAT(HeldFiles(path), IsEmpty());

#include <string>
#include <vector>

namespace caffe2rt::test {

// The descriptors and mappings of the file `path`, or of the files in the folder `path`:
// "descriptor 5: /tmp/x", "mapping 7f0012345000-7f0012346000: /tmp/x". Deleted files count too.
// THROWS if `path` does not exist.
std::vector<std::string> HeldFiles(const std::string& path);

}  // namespace caffe2rt::test
