#pragma once
// Calls of operators as rows of a table, in the text of long_calls.h: with their results, or with the message of the
// error.
//
//   ExpectResults({{"MaxPool X -> Y kernel=2", "X f 1,1,2,2 = 1,4,3,2", "Y f 1,1,1,1 = 4"}});
//   ExpectRejected({{"MaxPool X -> Y kernel=2", "X f 4", "rank of input 0 (X) of shape [4], want at least 2: got 1"}});
//
// The calls run on the CPU, also where CAFFE2_TEST_DEVICE names another device.

#include <string>
#include <vector>

namespace caffe2rt::test {

struct CallResult {
  std::string operators, inputs;
  std::string results;  // blobs with their dims and values
  double tolerance = 1e-5;
};
// Runs the operators, the last one as RunOp does, and compares types, dims and values of the results.
void ExpectResults(const std::vector<CallResult>& rows);

struct RejectedCall {
  std::string operators, inputs;
  std::string message;  // the whole text of the last operator's error, without its frames
};
void ExpectRejected(const std::vector<RejectedCall>& rows);

struct RejectedShapes {
  std::string op, inputs;
  std::string message;
};
// The same for the operator's shape inference.
void ExpectShapesRejected(const std::vector<RejectedShapes>& rows);

// What the schema infers for the outputs: "float [2, 3]; int64 ?" with ? for an unknown shape. An input of the text
// "X f ?" has an unknown shape.
struct InferredCall {
  std::string op, inputs;
  std::string shapes;
};
void ExpectInferred(const std::vector<InferredCall>& rows);

}  // namespace caffe2rt::test
