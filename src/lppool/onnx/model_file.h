#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lppool/graph/model.h"

namespace lppool {

struct LoadOptions {
  // Folders that external data may lie in beside the model's own: for stores that keep models and data as links.
  std::vector<std::filesystem::path> external_folders;
  // Keeps the file's bytes as long as the ModelFile lives, so that after annotate() it is written with all other bytes as
  // they were. Else it is serialised anew: the same model, but fields that protobuf does not know go to the end.
  bool keep_bytes = false;
};

// A model file: what it says, as a Model, and the file's own message, so that it can be written back with everything it
// held, fields of newer ONNX versions included. Tensors of the model share the storage of the message or of the mapped
// external files and keep it alive by themselves. Movable; one object is not for several threads at a time, the Model is.
class ModelFile {
 public:
  // "-" is standard input (external data are then found in the first of external_folders only).
  // Throws kIo (missing, unreadable), kParse (empty, damaged, not an ONNX model), kLimit (above 2 GiB, nested more than
  // 100 deep, more memory than allowed). A model that is well-formed but wrong is read: the checker judges it.
  static ModelFile read(const std::filesystem::path& path, const LoadOptions& options = {});
  // The same for bytes in memory. `base_dir` is where external data lie; `shown` names the model in messages.
  static ModelFile parse(std::string_view bytes, const std::filesystem::path& base_dir, const LoadOptions& options = {},
                         std::string_view shown = "model");
  // A new file that says what `model` says; tensors are stored inside it. Throws kParse where a stored tensor is faulty.
  static ModelFile from(const Model& model);

  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  // As read; later edits do not show.
  const Model& model() const;

  // States the type of a value of the main graph: replaces the type of the output, input or value_info of that name, where
  // it is another, else adds a value_info at the end of the graph. Everything else in the file stays as it is.
  void annotate(std::string_view name, const Type& type);

  // Binds `domain` (either spelling of the default one) to `version` in the model's imports and in those of its functions,
  // where they import it; a model of IR 1 or 2 without imports gets one.
  void set_opset(std::string_view domain, std::int64_t version);

  // A change to one attribute of a node: an int or float to set, or nothing: it is removed.
  struct AttributeEdit {
    std::string name;
    std::optional<Attribute> value;
  };
  // Asks `edit` for the changes to each node of the graph, its branches and the functions; all else stays as it is.
  void edit_nodes(const std::function<std::vector<AttributeEdit>(const Node&)>& edit);

  // Writes whole or not at all ("-": standard output). Throws kIo, kLimit above 2 GiB.
  void write(const std::filesystem::path& path) const;
  std::string serialize() const;

 private:
  struct Impl;
  explicit ModelFile(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace lppool
