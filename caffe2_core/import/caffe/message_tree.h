#pragma once
// A tree of the fields of a Caffe file, without a schema: forks of Caffe add fields everywhere.
//
//   CaffeMessage net = ParseCaffeText(bytes, "deploy.prototxt");
//   for (const CaffeField* layer : net.All("layer")) layer->message->Text("type", "");
//
// Scalars are kept as text; the functions that read them check their form and report the place.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace caffe2rt {

class CaffeMessage;

// A place in a text; line 0 for fields of a binary file, which have none.
struct CaffePlace {
  int64_t line = 0, column = 0;
};

struct CaffeField {
  std::string name;
  std::string text;                            // of a scalar
  std::unique_ptr<CaffeMessage> message = {};  // null for a scalar
  CaffePlace place = {};
};

// The most fields of a file: a tree takes about a hundred bytes for each.
inline constexpr int64_t kMaxCaffeFields = int64_t{1} << 22;

// Thread safe as long as nobody changes it.
class CaffeMessage {
 public:
  const std::vector<CaffeField>& fields() const { return fields_; }
  CaffeField& Add(std::string name, CaffePlace place = {});
  void Set(const std::string& name, std::string text);  // replaces all fields of the name
  void Remove(const std::string& name);
  CaffeMessage Copy() const;

  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  // The last field of the name, as protobuf reads one that is given twice; null if there is none.
  const CaffeField* Find(std::string_view name) const;
  std::vector<const CaffeField*> All(std::string_view name) const;

  // The value of a scalar, or the default if the field is missing. THROWS if it is a message or
  // not of the type; the error names the field and its place.
  std::string Text(std::string_view name, const std::string& missing = "") const;
  int64_t Integer(std::string_view name, int64_t missing) const;
  float Float(std::string_view name, float missing) const;
  bool Bool(std::string_view name, bool missing) const;
  // The position of a word in `words`, or the number that stands for it in a file: `numbers[i]` of
  // `words[i]`, or i without numbers.
  int Enum(std::string_view name, const std::vector<std::string>& words, int missing,
           const std::vector<int>& numbers = {}) const;
  // All values of a repeated field.
  std::vector<std::string> Texts(std::string_view name) const;
  std::vector<int64_t> Integers(std::string_view name) const;
  std::vector<float> Floats(std::string_view name) const;
  // The last message of the name; an empty one if there is none. THROWS if it is a scalar.
  const CaffeMessage& Message(std::string_view name) const;
  std::vector<const CaffeMessage*> Messages(std::string_view name) const;

 private:
  std::vector<CaffeField> fields_;
};

// "line 3, column 14: ", or "" if the place is not known.
std::string PlaceText(CaffePlace place);

}  // namespace caffe2rt
