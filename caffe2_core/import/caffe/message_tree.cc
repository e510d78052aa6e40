#include "caffe2_core/import/caffe/message_tree.h"

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "caffe2_core/base/enforce.h"
#include "caffe2_core/base/text.h"
#include "caffe2_core/base/utf8.h"

namespace caffe2rt {
namespace {

[[noreturn]] void ThrowBadField(const CaffeField& field, const char* want) {
  if (field.message != nullptr) {
    CAFFE_THROW(PlaceText(field.place), "field ", field.name, " is a message, want ", want);
  }
  CAFFE_THROW(PlaceText(field.place), "field ", field.name, " is \"", Shortened(field.text),
              "\", want ", want);
}

const std::string& ScalarOf(const CaffeField& field, const char* want) {
  if (field.message != nullptr) ThrowBadField(field, want);
  return field.text;
}

// Hexadecimal and octal numbers are allowed in the text format.
bool ParseAnyInteger(std::string_view text, int64_t* value) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text[0] == '0') {
    base = 8;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.starts_with('-'))
    return false;
  if (negative) *value = -*value;
  return true;
}

int64_t IntegerOf(const CaffeField& field) {
  const std::string& text = ScalarOf(field, "an integer");
  int64_t value = 0;
  if (ParseAnyInteger(text, &value)) return value;
  // Some files have "1." or "2.0" in integer fields, which converters wrote.
  double number = 0;
  if (ParseNumber(text.ends_with('.') ? text + "0" : text, &number) && std::abs(number) < 1e15 &&
      number == std::trunc(number)) {
    return static_cast<int64_t>(number);
  }
  ThrowBadField(field, "an integer");
}

float FloatOf(const CaffeField& field) {
  std::string text = ScalarOf(field, "a number");
  if (text.ends_with('f') || text.ends_with('F')) {
    if (text != "inf" && text != "-inf") text.pop_back();
  }
  if (text.ends_with('.')) text += "0";
  if (text.starts_with('.')) text = "0" + text;
  if (text.starts_with("-.")) text = "-0" + text.substr(1);
  double value = 0;
  if (ParseNumber(text, &value)) return static_cast<float>(value);
  int64_t integer = 0;
  if (ParseAnyInteger(text, &integer)) return static_cast<float>(integer);
  ThrowBadField(field, "a number");
}

bool BoolOf(const CaffeField& field) {
  const std::string& text = ScalarOf(field, "true or false");
  for (const char* word : {"true", "True", "t", "1"}) {
    if (text == word) return true;
  }
  for (const char* word : {"false", "False", "f", "0"}) {
    if (text == word) return false;
  }
  ThrowBadField(field, "true or false");
}

}  // namespace

std::string PlaceText(CaffePlace place) {
  if (place.line == 0) return "";
  return MakeString("line ", place.line, ", column ", place.column, ": ");
}

CaffeField& CaffeMessage::Add(std::string name, CaffePlace place) {
  CaffeField& field = fields_.emplace_back();
  field.name = std::move(name);
  field.place = place;
  return field;
}

void CaffeMessage::Set(const std::string& name, std::string text) {
  Remove(name);
  Add(name).text = std::move(text);
}

void CaffeMessage::Remove(const std::string& name) {
  std::erase_if(fields_, [&](const CaffeField& field) { return field.name == name; });
}

CaffeMessage CaffeMessage::Copy() const {
  CaffeMessage copy;
  for (const CaffeField& field : fields_) {
    CaffeField& added = copy.Add(field.name, field.place);
    added.text = field.text;
    if (field.message != nullptr) {
      added.message = std::make_unique<CaffeMessage>(field.message->Copy());
    }
  }
  return copy;
}

const CaffeField* CaffeMessage::Find(std::string_view name) const {
  const auto found = std::find_if(fields_.rbegin(), fields_.rend(),
                                  [&](const CaffeField& field) { return field.name == name; });
  return found == fields_.rend() ? nullptr : &*found;
}

std::vector<const CaffeField*> CaffeMessage::All(std::string_view name) const {
  std::vector<const CaffeField*> found;
  for (const CaffeField& field : fields_) {
    if (field.name == name) found.push_back(&field);
  }
  return found;
}

std::string CaffeMessage::Text(std::string_view name, const std::string& missing) const {
  const CaffeField* field = Find(name);
  return field == nullptr ? missing : ScalarOf(*field, "text");
}

int64_t CaffeMessage::Integer(std::string_view name, int64_t missing) const {
  const CaffeField* field = Find(name);
  return field == nullptr ? missing : IntegerOf(*field);
}

float CaffeMessage::Float(std::string_view name, float missing) const {
  const CaffeField* field = Find(name);
  return field == nullptr ? missing : FloatOf(*field);
}

bool CaffeMessage::Bool(std::string_view name, bool missing) const {
  const CaffeField* field = Find(name);
  return field == nullptr ? missing : BoolOf(*field);
}

int CaffeMessage::Enum(std::string_view name, const std::vector<std::string>& words, int missing,
                       const std::vector<int>& numbers) const {
  const CaffeField* field = Find(name);
  if (field == nullptr) return missing;
  const std::string want = "one of " + absl::StrJoin(words, ", ");
  const std::string& text = ScalarOf(*field, want.c_str());
  for (size_t i = 0; i < words.size(); ++i) {
    const int number = numbers.empty() ? static_cast<int>(i) : numbers[i];
    if (text == words[i] || text == absl::StrCat(number)) return static_cast<int>(i);
  }
  ThrowBadField(*field, want.c_str());
}

std::vector<std::string> CaffeMessage::Texts(std::string_view name) const {
  std::vector<std::string> values;
  for (const CaffeField* field : All(name)) values.push_back(ScalarOf(*field, "text"));
  return values;
}

std::vector<int64_t> CaffeMessage::Integers(std::string_view name) const {
  std::vector<int64_t> values;
  for (const CaffeField* field : All(name)) values.push_back(IntegerOf(*field));
  return values;
}

std::vector<float> CaffeMessage::Floats(std::string_view name) const {
  std::vector<float> values;
  for (const CaffeField* field : All(name)) values.push_back(FloatOf(*field));
  return values;
}

const CaffeMessage& CaffeMessage::Message(std::string_view name) const {
  static const CaffeMessage empty;
  const CaffeField* field = Find(name);
  if (field == nullptr) return empty;
  if (field->message == nullptr) ThrowBadField(*field, "a message in braces");
  return *field->message;
}

std::vector<const CaffeMessage*> CaffeMessage::Messages(std::string_view name) const {
  std::vector<const CaffeMessage*> found;
  for (const CaffeField* field : All(name)) {
    if (field->message == nullptr) ThrowBadField(*field, "a message in braces");
    found.push_back(field->message.get());
  }
  return found;
}

}  // namespace caffe2rt
