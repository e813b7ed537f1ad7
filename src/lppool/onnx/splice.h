#pragma once

// Internal to this folder: it names protobuf.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// A model written back byte for byte. Protobuf writes fields in the order of their numbers, those it does not know
// last, and numbers in as few bytes as it can; what it read it cannot give back as it was. So changes are put between
// the bytes that were read. Nothing is copied but what is new.
namespace lppool::onnx_io {

// Bytes in parts: views of the original, and strings of its own.
class Splice {
 public:
  Splice() = default;
  Splice(Splice&&) = default;  // a copy's views would be of strings that are not its own
  Splice& operator=(Splice&&) = default;

  void keep(std::string_view part);  // must outlive the object
  void add(std::string part);
  void append(Splice other);

  std::size_t size() const { return size_; }
  const std::vector<std::string_view>& parts() const { return parts_; }

 private:
  std::vector<std::string_view> parts_;
  std::list<std::string> own_;  // a list moves no string, not even a short one, when it grows or is moved
  std::size_t size_ = 0;
};

// Which value descriptions of the main graph differ from what was read.
struct ValueInfoEdits {
  // (field of GraphProto: 11 input, 12 output, 13 value_info; place in that list)
  std::set<std::pair<int, int>> changed;
  // How many of each list were read; value_infos after that many are new. In the order of the fields above.
  int inputs = 0, outputs = 0, value_infos = 0;
};

// The bytes of `original`, in which the changed descriptions are as in `edited` and the new ones follow at the end of
// the graph. Of a changed description only the type is replaced, where it has one or none. The lengths of the graph and
// of changed descriptions are renewed, in as many bytes as they had or more. A graph in several parts, which protobuf
// merges, is changed part by part.
//
// Nothing where `original` is no model with a graph, or not the one that `edited` was read from; any bytes may be
// given.
std::optional<Splice> splice_value_infos(std::string_view original, const onnx::GraphProto& edited,
                                         const ValueInfoEdits& edits);

}  // namespace lppool::onnx_io
