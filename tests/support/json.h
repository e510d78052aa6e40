#pragma once
// Reads values from JSON text, for tests of output. The text is parsed, so that a test does not
// depend on its white space.
//
//   EXPECT_EQ(JsonAt(result.out, "/outputs/0/dims"), "[1,3]");
//   EXPECT_EQ(JsonAt(result.out, "/net"), R"("stripes")");

#include <cstddef>
#include <string>

namespace caffe2rt::test {

// Returns the value at a JSON pointer (RFC 6901) as JSON without white space; "" is the whole
// document. THROWS EnforceNotMet if `text` is not one JSON document or has no such value.
std::string JsonAt(const std::string& text, const std::string& pointer);

// Returns the number of elements of the array or object there.
size_t JsonSize(const std::string& text, const std::string& pointer);

}  // namespace caffe2rt::test
