#include "tests/caffe2_core/io/wire_writer.h"

#include <algorithm>
#include <utility>

namespace caffe2rt::test {
namespace {

// Encodes the elements [begin, end) of a list: `append` writes one element without its tag.
template <class Append>
std::string EncodeRun(int field, int wire_type, size_t begin, size_t end, bool packed,
                      const Append& append) {
  std::string elements, bytes;
  for (size_t i = begin; i < end; ++i) {
    if (!packed) AppendTag(field, wire_type, &bytes);
    append(i, packed ? &elements : &bytes);
  }
  if (packed) AppendBytes(field, elements, &bytes);
  return bytes;
}

template <class Append>
std::string EncodeList(int field, int wire_type, size_t size, ListForm form, const Append& append) {
  const size_t half = size / 2;
  switch (form) {
    case ListForm::kUnpacked:
      return EncodeRun(field, wire_type, 0, size, false, append);
    case ListForm::kPacked:
      return EncodeRun(field, wire_type, 0, size, true, append);
    case ListForm::kTwoRuns:
      return EncodeRun(field, wire_type, 0, half, true, append) +
             EncodeRun(field, wire_type, half, size, true, append);
    default:
      return EncodeRun(field, wire_type, 0, half, false, append) +
             EncodeRun(field, wire_type, half, size, true, append);
  }
}

std::string EncodeFloats(const std::vector<float>& values, ListForm form) {
  return EncodeList(5, 5, values.size(), form,
                    [&](size_t i, std::string* to) { AppendFloat(values[i], to); });
}

std::string EncodeInts(const std::vector<int64_t>& values, ListForm form) {
  return EncodeList(6, 0, values.size(), form, [&](size_t i, std::string* to) {
    AppendVarint(static_cast<uint64_t>(values[i]), to);
  });
}

std::string WithName(const std::string& fields) {
  std::string bytes;
  AppendBytes(1, "values", &bytes);
  return bytes + fields;
}

class Encoder {
 public:
  explicit Encoder(Random* random) : random_(random), plain_(random->OneIn(2)) {}

  std::string Net(const NetDef& net) {
    std::vector<std::string> fields;
    if (net.has_name()) Add(1, net.name(), &fields);
    for (const OperatorDef& op : net.op()) Add(2, Operator(op), &fields);
    if (net.has_type()) Add(3, net.type(), &fields);
    return Join(&fields);
  }

 private:
  std::string Operator(const OperatorDef& op) {
    std::vector<std::string> fields;
    for (const std::string& name : op.input()) Add(1, name, &fields);
    for (const std::string& name : op.output()) Add(2, name, &fields);
    if (op.has_name()) Add(3, op.name(), &fields);
    if (Odd()) Add(4, "Overwritten", &fields);
    const size_t type_at = fields.size();
    Add(4, op.type(), &fields);
    for (const caffe2rt::Argument& argument : op.arg()) Add(5, ArgumentOf(argument), &fields);
    // The last of several values of a singular field counts, so the order must stay.
    if (!plain_ && type_at > 0 && random_->OneIn(3)) {
      std::rotate(fields.begin(), fields.begin() + static_cast<int64_t>(type_at) + 1, fields.end());
    }
    return Join(&fields);
  }

  std::string ArgumentOf(const caffe2rt::Argument& argument) {
    std::vector<std::string> fields;
    if (Odd()) Add(1, "other", &fields);
    Add(1, argument.name(), &fields);
    if (argument.has_f()) {
      std::string bytes;
      AppendTag(2, 5, &bytes);
      AppendFloat(argument.f(), &bytes);
      fields.push_back(bytes);
    }
    if (argument.has_i()) {
      std::string bytes;
      AppendTag(3, 0, &bytes);
      AppendVarint(static_cast<uint64_t>(argument.i()), &bytes, Odd() ? 1 : 0);
      fields.push_back(bytes);
    }
    if (argument.has_s()) Add(4, argument.s(), &fields);
    if (argument.floats_size() > 0) {
      fields.push_back(EncodeFloats({argument.floats().begin(), argument.floats().end()}, Form()));
    }
    if (argument.ints_size() > 0) {
      fields.push_back(EncodeInts({argument.ints().begin(), argument.ints().end()}, Form()));
    }
    for (const std::string& text : argument.strings()) Add(7, text, &fields);
    if (!plain_ && random_->OneIn(4)) {
      std::rotate(fields.begin(), fields.begin() + 1, fields.end());
    }
    return Join(&fields);
  }

  // One time in eight, unless the encoding is plain.
  bool Odd() { return !plain_ && random_->OneIn(8); }
  ListForm Form() { return static_cast<ListForm>(random_->Below(plain_ ? 2 : 4)); }

  void Add(int field, const std::string& content, std::vector<std::string>* fields) {
    std::string bytes;
    AppendBytes(field, content, &bytes, Odd() ? 1 : 0);
    fields->push_back(bytes);
  }

  std::string Unknown() {
    std::string bytes;
    if (random_->OneIn(2)) {
      AppendTag(200, 0, &bytes);
      AppendVarint(random_->Next(), &bytes);
    } else {
      AppendTag(15, 3, &bytes);  // a group with one field
      AppendBytes(2, "in a group", &bytes);
      AppendTag(15, 4, &bytes);
    }
    return bytes;
  }

  std::string Join(std::vector<std::string>* fields) {
    std::string bytes;
    for (const std::string& field : *fields) {
      if (Odd() && random_->OneIn(2)) bytes += Unknown();
      bytes += field;
    }
    return bytes;
  }

  Random* const random_;
  const bool plain_;
};

}  // namespace

std::string FloatsArgument(const std::vector<float>& values, ListForm form) {
  return WithName(EncodeFloats(values, form));
}

std::string IntsArgument(const std::vector<int64_t>& values, ListForm form) {
  return WithName(EncodeInts(values, form));
}

std::string EncodeNet(const NetDef& net, Random* random) { return Encoder(random).Net(net); }

}  // namespace caffe2rt::test
