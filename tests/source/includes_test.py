#!/usr/bin/python3
"""Holds the #include lines below src/lppool to the table in src/README.md, and printing to apps/.

usage: includes_test.py REPOSITORY. The table's last column names, for each folder, the folders it may include (all of them
further up in the table) and the third-party libraries."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()

LIBRARIES = {  # as the table calls them: how their headers' names begin
    "fmt": ("fmt/",),
    "protobuf": ("google/protobuf/", "onnx/"),
    "zlib": ("zlib.h",),
    "JSON": ("nlohmann/",),
    "Highway": ("hwy/",),
    "oneDNN": ("oneapi/",),
    "RE2": ("re2/",),
    "image libraries": ("png.h", "jpeglib.h", "tiffio.h", "webp/", "openjpeg.h"),
    "command-line libraries": ("CLI/", "spdlog/"),
}
EVERYBODY = {"fmt"}


def rows(readme):
    """(folder, names in the last column) of each row, from top to bottom."""
    for folder, allowed in re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", readme, re.M):
        yield folder, [name.strip().strip("`") for name in allowed.split(",")]


def rules(readme):
    """folder -> what it may include: folders and libraries."""
    result = {}
    for folder, names in rows(readme):
        above = set(result)
        result[folder] = {folder} | EVERYBODY
        for name in names:
            if name != "all above" and name not in above | LIBRARIES.keys():
                raise ValueError(f"row '{folder}' names '{name}', which is no folder above it and no known library")
            result[folder] |= above if name == "all above" else {name}
    return result


def included(line):
    """The folder of ours or the library that an #include line names; None for any other line and header."""
    found = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', line)
    if not found:
        return None
    header = found[1]
    if header.startswith("lppool/"):
        return header.split("/")[1]
    return next((name for name, starts in LIBRARIES.items() if header.startswith(starts)), None)


def violations(folder, text, allowed):
    return [line.strip() for line in text.splitlines() if (name := included(line)) and name not in allowed[folder]]


class Includes(unittest.TestCase):
    def setUp(self):
        self.readme = (ROOT / "src/README.md").read_text()
        self.allowed = rules(self.readme)
        self.sources = [path for path in sorted((ROOT / "src/lppool").rglob("*")) if path.suffix in (".h", ".cc", ".def")]

    def test_every_folder_has_a_row(self):
        self.assertEqual(sorted(self.allowed), sorted({path.parent.name for path in self.sources}))

    def test_sources_include_what_the_table_allows(self):
        self.assertGreater(len(self.sources), 100)
        found = []
        for path in self.sources:
            place = path.relative_to(ROOT / "src/lppool")
            found += [f"{place}: {line}" for line in violations(place.parts[0], path.read_text(), self.allowed)]
        self.assertEqual(found, [])

    def test_the_library_does_not_print(self):
        printing = re.compile(r"\bstd::(cout|cerr|clog|exit|puts|printf)\b|\bfmt::print\b|\b(printf|puts|perror)\s*\(")
        found = []
        for path in self.sources:
            code = re.sub(r"//.*", "", path.read_text())
            found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in printing.finditer(code)]
        self.assertEqual(found, [])


class Rules(unittest.TestCase):
    TABLE = "| `low` | what | fmt |\n| `middle` | what | `low`, zlib |\n| `other` | what | `low` |\n| `high` | what | all above |\n"

    def test_a_folder_may_include_itself_and_what_its_row_names(self):
        allowed = rules(self.TABLE)
        self.assertEqual(violations("middle", '#include "lppool/middle/a.h"\n#include "lppool/low/b.h"\n#include <zlib.h>', allowed), [])
        self.assertEqual(violations("high", '#include "lppool/other/a.h"\n#include <vector>', allowed), [])

    def test_anything_else_is_a_violation(self):
        line = '#include "lppool/middle/a.h"'
        self.assertEqual(violations("other", line, rules(self.TABLE)), [line])
        self.assertEqual(violations("low", "#include <zlib.h>", rules(self.TABLE)), ["#include <zlib.h>"])

    def test_a_row_names_only_folders_above_it(self):
        with self.assertRaises(ValueError):
            rules("| `low` | what | `high` |\n| `high` | what | fmt |\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
