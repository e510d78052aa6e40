#pragma once
// JSON documents for --json, built with nlohmann's ordered_json and printed on one line.
//
//   const JsonDocument document = NewJson();
//   Json& json = *document;
//   json["name"] = "conv1";
//   json["score"] = JsonNumber(0.1f);
//   PrintJson(json);                      // {"name": "conv1", "score": 0.1}

#include <memory>
#include <nlohmann/json_fwd.hpp>

namespace caffe2rt {

using Json = nlohmann::ordered_json;

// Frees a document without allocating memory. nlohmann's destructor allocates a list of all
// elements, and if the memory limit is reached then, it terminates the program.
struct FreeJson {
  void operator()(Json* json) const noexcept;
};
using JsonDocument = std::unique_ptr<Json, FreeJson>;
JsonDocument NewJson();

// The number that PrintJson prints with as few digits as identify the float: 0.1 for 0.1f, not
// 0.10000000149011612.
double JsonNumber(float value);

// Prints `json` and a line feed to the standard output. The text is ASCII: other characters and
// control characters are escaped, and bytes that are not UTF-8 become U+FFFD. Floating-point
// numbers have as few digits as identify them; those that JSON cannot represent become the strings
// "NaN", "Infinity" and "-Infinity". Nothing depends on the process's locale.
void PrintJson(const Json& json);

// The same without the line feed, for a part of a document that the caller prints piece by piece.
void PrintJsonPart(const Json& json);

}  // namespace caffe2rt
