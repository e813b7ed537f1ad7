// convert: a tensor from one file form to another. Values never change.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "commands.h"
#include "validators.h"
#include "lppool/base/error.h"
#include "lppool/base/file_bytes.h"
#include "lppool/io/tensor_io.h"

namespace lppool::app {
namespace {

struct Options {
  std::string in, out, to, dtype, npy_form = "v2", name, member;
  bool compress = false;
};

TensorFileFormat out_format(const Options& options) {
  if (!options.to.empty()) return *parse_tensor_file_format(options.to);
  if (const auto format = format_of(options.out)) return *format;
  fail(ErrorKind::kUsage, "{}: its ending names no form; end it in .pb, .npy, .npz or .txt, or say --to pb|npy|npz|text",
       options.out == "-" ? "standard output" : options.out);
}

int run(const Options& options) {
  const DataType expected = dtype_option(options.dtype);
  const TensorFileFormat format = out_format(options);
  const ReadTensorOptions read{expected, options.member};

  std::vector<NamedTensor> tensors;
  if (format == TensorFileFormat::kNpz && options.member.empty()) tensors = read_all_tensors(options.in, read);
  else tensors.push_back(read_any_tensor(options.in, read));
  for (NamedTensor& t : tensors) {
    if (expected != DataType::kUndefined && t.tensor.dtype() != expected) {
      fail(ErrorKind::kParse, "{}: holds {}, expected {} as --dtype says (convert changes no values)", shown_name(options.in),
           name(t.tensor.dtype()), name(expected));
    }
    spdlog::debug("{} '{}': {} {}", shown_name(options.in), t.name, name(t.tensor.dtype()), to_string(t.tensor.shape()));
  }
  if (!options.name.empty()) {
    if (tensors.size() != 1) {
      fail(ErrorKind::kUsage, "--name names one tensor, but {} holds {}; choose one with --member", shown_name(options.in),
           tensors.size());
    }
    tensors.front().name = options.name;
  }
  write_tensors(options.out, format, tensors, {*parse_npy_form(options.npy_form), options.compress});
  return 0;
}

}  // namespace

void add_convert(const Registration& r) {
  auto options = std::make_shared<Options>();
  CLI::App* verb = r.root.add_subcommand("convert", "Convert tensors between .pb, .npy, .npz and text");
  verb->footer(
      "\nThe input is taken for what its bytes are; '-' is standard input or output. No value ever changes.\n"
      "\nExamples:\n"
      "  lppool-cli convert x.npy input_0.pb                 numpy to ONNX test data\n"
      "  lppool-cli convert output_0.pb - --to text          print a tensor\n"
      "  lppool-cli convert all.npz x.npy --member conv1     one array of an archive\n"
      "  lppool-cli convert x.npy x.pb --dtype bfloat16      the bits of a <V2 or <u2 file are bfloat16");
  verb->add_option("IN", options->in, "Tensor file to read")->required();
  verb->add_option("OUT", options->out, "File to write (replaced if it exists)")->required();
  verb->add_option("--to", options->to, "Form to write (default: by the ending of OUT)")
      ->check(CLI::IsMember({"pb", "npy", "npz", "text"}))
      ->type_name("FORM");
  verb->add_option("--dtype", options->dtype, "Element type IN holds, where .npy cannot say (bfloat16, float8e4m3fn, int4, ...)")
      ->check(dtype_check())
      ->type_name("TYPE");
  verb->add_option("--npy-bf16", options->npy_form,
                   "How .npy holds bfloat16 and other types numpy lacks: void, their bits as integers, or widened")
      ->check(CLI::IsMember({"v2", "u16", "f32"}))
      ->type_name("FORM");
  verb->add_option("--name", options->name, "Name of the tensor in OUT (default: its name in IN)")->type_name("NAME");
  verb->add_option("--member", options->member, "Array of a .npz to read, where it holds several")->type_name("NAME");
  verb->add_flag("--compress", options->compress, "Deflate the members of a .npz");
  verb->callback([r, options] { r.action = [options] { return run(*options); }; });
}

}  // namespace lppool::app
