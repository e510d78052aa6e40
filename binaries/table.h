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
// the table is wider than the terminal, names are shortened in the middle, then other text, but not
// below the least width of their column; before that, optional columns are left out. Only if no
// optional column is left, cells become shorter than that. Numbers are never shortened; a table of
// numbers that do not fit is wider than the terminal.

#include <string>
#include <vector>

#include "binaries/terminal.h"

namespace caffe2rt {

struct Column {
  // A number is right-aligned and complete. Names are shortened first, then text.
  enum Kind { kNumber, kName, kText };
  std::string title = {};
  Kind kind = kText;
  // 0: always shown. Other columns are left out if all their cells are empty, or if the terminal is
  // too narrow for all columns: those with the largest number first, and of equal ones the last.
  int optional = 0;
  size_t least_width = 16;  // of names and text, in columns of the terminal: shorter is unreadable
};

// The least width of a column with types and shapes, which would mean nothing if shortened.
inline constexpr size_t kLeastShapeWidth = 28;

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
  bool IsEmpty(size_t column) const;
  size_t LeastWidth(size_t column, const Layout& layout) const;
  void LeaveOutColumns(size_t width, Layout* layout) const;
  Layout LayoutFor(size_t width) const;
  std::string LineOf(const std::vector<std::string>& cells, const Layout& layout) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace caffe2rt
