#pragma once
// Tables in the output of programs.
//
//   Table table({{.title = "type", .kind = Column::kName},
//                {.title = "ms", .kind = Column::kNumber}});
//   table.Add({OneLine(op.type()), "0.125"});
//   table.Add({OneLine(op.type()), "12.5"}, Style::kRed);
//   table.Print();
//
// prints
//
//   type      ms
//   Relu   0.125
//   Conv    12.5
//
// Columns are as wide as their widest cell, measured in columns of a terminal (display_width.h). If
// the table is wider than the terminal, names are shortened in the middle, then other text, and
// optional columns are left out. Numbers are never shortened; a table of numbers that do not fit is
// wider than the terminal.

#include <string>
#include <vector>

#include "binaries/terminal.h"

namespace caffe2rt {

struct Column {
  // A number is right-aligned and complete. Names are shortened first, then text.
  enum Kind { kNumber, kName, kText };
  std::string title = {};
  Kind kind = kText;
  bool optional = false;  // left out if the terminal is too narrow for all columns, the last first
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Adds a row with at most one cell for each column. A cell is one line without control characters
  // (OneLine in utf8.h).
  void Add(std::vector<std::string> cells, Style style = Style::kPlain);

  // Returns the lines, each at most `width` columns wide if that is possible and without spaces at
  // its end. The first line has the titles, unless all are empty.
  std::vector<std::string> Lines(size_t width) const;

  // Prints the table for the width of the terminal, with bold titles and the styles of the rows.
  void Print() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    Style style;
  };
  struct Layout {
    std::vector<size_t> columns;  // those that are shown
    std::vector<size_t> widths;   // of all columns
  };
  bool HasTitles() const;
  size_t WidestCell(size_t column) const;
  Layout LayoutFor(size_t width) const;
  std::string LineOf(const std::vector<std::string>& cells, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace caffe2rt
