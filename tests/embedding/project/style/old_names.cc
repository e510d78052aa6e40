// Built with the variables of Caffe2's CMake package.
#include "caffe2/core/workspace.h"

int main() {
  caffe2::Workspace ws;
  return ws.CreateBlob("x") != nullptr ? 0 : 1;
}
