#pragma once
// Builds JSON text piece by piece and adds commas and escapes.
//
//   JsonWriter json;
//   json.BeginObject().Key("name").Value("conv1");
//   json.Key("dims").BeginArray().Value(1).Value(3).EndArray().EndObject();
//   std::cout << json.text() << "\n";
//
// Bytes that are not UTF-8 become U+FFFD. Numbers that JSON cannot represent (NaN, infinity) become
// null.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

class JsonWriter {
 public:
  JsonWriter& BeginObject() { return Open('{'); }
  JsonWriter& EndObject() { return Close('}'); }
  JsonWriter& BeginArray() { return Open('['); }
  JsonWriter& EndArray() { return Close(']'); }
  JsonWriter& Key(std::string_view key);
  JsonWriter& Value(std::string_view text);
  JsonWriter& Value(const char* text) { return Value(std::string_view(text)); }
  JsonWriter& Value(const std::string& text) { return Value(std::string_view(text)); }
  JsonWriter& Value(bool value);
  JsonWriter& Value(double value);
  JsonWriter& Value(float value);
  JsonWriter& Value(int64_t value);
  JsonWriter& Value(int value) { return Value(static_cast<int64_t>(value)); }
  JsonWriter& Value(uint64_t value);
  template <class T>
  JsonWriter& List(const T& values) {
    BeginArray();
    for (const auto& value : values) Value(value);
    return EndArray();
  }
  const std::string& text() const { return text_; }

 private:
  JsonWriter& Open(char bracket);
  JsonWriter& Close(char bracket);
  void Separate();
  void AppendEscaped(std::string_view text);

  std::string text_;
  bool first_ = true;  // the next element is the first of its object or array
  bool after_key_ = false;
};

}  // namespace caffe2rt
