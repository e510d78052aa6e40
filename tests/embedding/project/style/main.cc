// Calls GlobalInit twice, as some programs do, and runs the tests of this folder.
#include "caffe2/core/init.h"
#include "test.h"

int main(int argc, char** argv) {
  caffe2::GlobalInit(&argc, &argv);
  if (!caffe2::GlobalInit(&argc, &argv) || !caffe2::GlobalInit()) return 1;
  for (const StyleTest& test : StyleTests()) {
    const int before = StyleFailures();
    try {
      test.run();
    } catch (const std::exception& error) {
      std::printf("%s threw: %s\n", test.name, error.what());
      ++StyleFailures();
    }
    std::printf("%s %s\n", StyleFailures() == before ? "ok    " : "FAILED", test.name);
  }
  google::protobuf::ShutdownProtobufLibrary();
  return StyleFailures() == 0 ? 0 : 1;
}
