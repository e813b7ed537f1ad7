#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lppool/tensor/value.h"

// Tensors kept in files, by name, in an order: a folder with the index.json that `run` writes, a folder of files that some
// other program wrote, an archive, or a single file.
namespace lppool {

struct TensorEntry {
  std::string name;                // of the tensor: from the index, else the file's path without its ending
  std::string stem;                // of the file or archive member: how others may call the same tensor
  std::filesystem::path file;      // empty: listed in the index, but no value was made
  std::string member;              // of an archive
  std::string dtype;               // as the index states it; "" unknown
  std::string kind, producer, op_type;  // from the index; "" unknown
};

struct TensorSet {
  std::vector<TensorEntry> entries;
  bool has_index = false;  // the order is that of the index, so that in which tensors were made; else by name

  // Throws kIo (missing, unreadable), kParse (a damaged index.json or archive; a file outside the folder in it).
  static TensorSet open(const std::filesystem::path& path);
};

// Nothing for an entry without a file. Throws as the readers of each file form do.
Value read_entry(const TensorEntry& entry);

// One tensor of two sets; an index of -1 where the set does not have it.
struct TensorPair {
  std::int64_t a = -1, b = -1;
};

// Which entry stands for which: by tensor name, else by file name, else by file name with every character but letters, digits,
// '.' and '-' taken as '_', else by the name inside a .pb file. In the order of the set that has an index (a's where both
// have), entries only the other set has at the end.
std::vector<TensorPair> pair_up(const TensorSet& a, const TensorSet& b);

}  // namespace lppool
